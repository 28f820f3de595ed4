//! The format byte by byte, what comes back, and what becomes of damage.

use super::block::{HEAD_BYTES, MOST_BODY_BYTES, MOST_RECORDS, RECORD_BYTES};
use super::*;
use crate::record::{MOST_BYTES, MOST_FLOWS, MOST_SEQUENCE, Protocol};
use proptest::prelude::*;
use std::io::{self, Write};

fn session() -> Session {
    Session {
        instants: Instants::SentReceived,
        date_ns: 0x0102_0304_0506_0708,
        host: "a".into(),
        clock: "tai".into(),
        program: "trammel 1".into(),
        seed: 0x1112_1314_1516_1718,
    }
}

fn flow() -> LoggedFlow {
    LoggedFlow {
        number: 0x21_2223,
        protocol: Protocol::Ethernet,
        from: Some("192.0.2.1:4660".parse().unwrap()),
        to: Some("[2001:db8::1]:22136".parse().unwrap()),
        name: "é".into(),
    }
}

fn record(sequence: u64, start_ns: i64, end_ns: i64) -> Record {
    Record {
        flow: 0x31_3233,
        sequence,
        bytes: 0x41_4243,
        start_ns,
        end_ns,
    }
}

fn written(entries: &[Entry]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file);
    for entry in entries {
        match entry {
            Entry::Session(session) => writer.session(session).unwrap(),
            Entry::Flow(flow) => writer.flow(flow).unwrap(),
            Entry::Sent { flow, packets } => writer.sent(*flow, *packets).unwrap(),
            Entry::Record(record) => writer.record(record).unwrap(),
        }
    }
    writer.flush().unwrap();
    drop(writer);
    file
}

fn read(file: &[u8]) -> (Vec<Entry>, Ending) {
    let mut reader = Reader::new(file);
    let entries = reader.by_ref().map(Result::unwrap).collect();
    assert!(reader.next().is_none());
    (entries, reader.ending().unwrap())
}

/// With the checksum of a block at `at` made right for what it says now.
fn mend(file: &mut [u8], at: usize) {
    let length = u32::from_be_bytes(file[at + 8..at + 12].try_into().unwrap()) as usize;
    let (head, body) = file[at..].split_at_mut(HEAD_BYTES);
    let checksum = crc::crc32c(&[&head[..12], &body[..length]]);
    head[12..].copy_from_slice(&checksum.to_be_bytes());
}

#[rustfmt::skip]
const BYTES: &[u8] = &[
    b'T', b'L', b'O', b'G', 1, 1, 0, 1, 0, 0, 0, 33, 0xf7, 0x56, 0x1d, 0x8e,
    2,
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
    1, b'a', 3, b't', b'a', b'i', 9, b't', b'r', b'a', b'm', b'm', b'e', b'l', b' ', b'1',

    b'T', b'L', b'O', b'G', 1, 2, 0, 1, 0, 0, 0, 41, 0x02, 0xae, 0x77, 0xad,
    0x21, 0x22, 0x23, 6,
    4, 192, 0, 2, 1, 0x12, 0x34,
    6, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x56, 0x78, 0, 0, 0, 0, 0, 0, 0,
    0,
    2, 0xc3, 0xa9,

    b'T', b'L', b'O', b'G', 1, 3, 0, 2, 0, 0, 0, 64, 0x84, 0x68, 0x4b, 0x0a,
    0, 0, 0, 0x51, 0x52, 0x53, 0x54, 0x55,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x62, 0x63, 0x64, 0x65, 0x31, 0x32, 0x33, 0x41, 0x42,
    0x43, 0,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0x03, 0xe9, 0, 0, 0, 0, 7, 0x31, 0x32, 0x33,
    0x41, 0x42, 0x43, 0,
];

fn entries() -> Vec<Entry> {
    vec![
        Entry::Session(session()),
        Entry::Flow(flow()),
        Entry::Record(record(0x61_6263_6465, 0x51_5253_5455, -2)),
        Entry::Record(record(7, 0x51_5253_5454, 999)),
    ]
}

#[test]
fn the_format_is_these_bytes() {
    assert_eq!(written(&entries()), BYTES);
    assert_eq!(read(BYTES), (entries(), Ending::Whole));
}

#[test]
fn a_full_block_takes_24_bytes_a_packet() {
    let records: Vec<Entry> = (0..=MOST_RECORDS as u64)
        .map(|n| Entry::Record(record(n, n as i64, n as i64 + 5)))
        .collect();
    let file = written(&records);
    let alone = HEAD_BYTES + 16 + RECORD_BYTES;
    assert_eq!(file.len(), HEAD_BYTES + MOST_BODY_BYTES + alone);
    assert_eq!(read(&file), (records, Ending::Whole));
}

#[test]
fn instants_far_apart_begin_another_block() {
    let half = 1_i64 << 47;
    let times = [0, half - 1, -half, half, i64::MAX, i64::MIN, i64::MIN + 1];
    let records: Vec<Entry> = times
        .iter()
        .flat_map(|start| times.map(|end| Entry::Record(record(0, *start, end))))
        .collect();
    assert_eq!(read(&written(&records)), (records, Ending::Whole));
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_written() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file);
    for bad in [
        Record {
            flow: MOST_FLOWS,
            ..record(0, 0, 0)
        },
        Record {
            bytes: MOST_BYTES,
            ..record(0, 0, 0)
        },
        record(MOST_SEQUENCE, 0, 0),
    ] {
        assert!(matches!(writer.record(&bad), Err(Error::Number { .. })));
    }
    let long = "x".repeat(256);
    let bad = LoggedFlow {
        name: long.clone(),
        ..flow()
    };
    assert!(matches!(
        writer.flow(&bad),
        Err(Error::Text { bytes: 256, .. })
    ));
    let bad = Session {
        clock: long,
        ..session()
    };
    let error = writer.session(&bad).unwrap_err().to_string();
    assert!(error.contains("a clock's name of 256 bytes"), "{error}");
    drop(writer);
    assert!(file.is_empty());
}

#[test]
fn a_crash_loses_at_most_the_last_block_and_the_log_goes_on() {
    let whole = written(&entries());
    for cut in 0..whole.len() {
        let survey = survey(&whole[..cut]).unwrap();
        let ends = [0, 49, 106, whole.len() as u64];
        let good = *ends.iter().rfind(|end| **end <= cut as u64).unwrap();
        assert_eq!(survey.good_bytes, good, "cut at {cut}");
        let is_whole = good == cut as u64;
        let wanted = if is_whole {
            Ending::Whole
        } else {
            Ending::Cut { at: good }
        };
        assert_eq!(survey.ending, wanted, "cut at {cut}");
        let mut mended = whole[..survey.good_bytes as usize].to_vec();
        Writer::new(&mut mended).session(&session()).unwrap();
        let (read, ending) = read(&mended);
        assert_eq!(
            (read.last(), ending),
            (Some(&Entry::Session(session())), Ending::Whole)
        );
    }
}

#[test]
fn every_flipped_bit_is_found_at_its_block() {
    for bit in 0..BYTES.len() * 8 {
        let mut file = BYTES.to_vec();
        file[bit / 8] ^= 1 << (bit % 8);
        let survey = survey(&*file).unwrap();
        let block = [106, 49, 0].into_iter().find(|at| *at <= bit / 8).unwrap();
        assert_eq!(survey.good_bytes, block as u64, "bit {bit}");
        assert_ne!(survey.ending, Ending::Whole, "bit {bit}");
    }
}

#[test]
fn a_right_checksum_does_not_make_nonsense_good() {
    let at = 106;
    for (place, value, wanted) in [
        (at, b'X', Ending::Foreign { at: 106 }),
        (
            at + 4,
            9,
            Ending::Version {
                at: 106,
                version: 9,
            },
        ),
        (at + 5, 4, Ending::Malformed { at: 106 }),
        (at + 7, 1, Ending::Malformed { at: 106 }),
        (at + HEAD_BYTES, 0x7f, Ending::Whole),
        (at + HEAD_BYTES + 16 + 23, 1, Ending::Malformed { at: 106 }),
    ] {
        let mut file = BYTES.to_vec();
        file[place] = value;
        mend(&mut file, at);
        assert_eq!(read(&file).1, wanted, "byte {place} = {value}");
    }
    // A base from which offsets overflow.
    let mut file = BYTES.to_vec();
    file[at + HEAD_BYTES..at + HEAD_BYTES + 8].copy_from_slice(&i64::MAX.to_be_bytes());
    mend(&mut file, at);
    assert_eq!(read(&file).1, Ending::Malformed { at: 106 });
    for (place, value) in [
        (HEAD_BYTES, 0),
        (HEAD_BYTES + 17, 2),
        (HEAD_BYTES + 18, 0xff),
    ] {
        let mut file = BYTES.to_vec();
        file[place] = value;
        mend(&mut file, 0);
        assert_eq!(
            read(&file),
            (vec![], Ending::Malformed { at: 0 }),
            "byte {place}"
        );
    }
}

/// Takes so many bytes and then none.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_and_the_writer_goes_no_further() {
    let mut writer = Writer::new(Full(60));
    writer.session(&session()).unwrap();
    assert!(matches!(writer.flow(&flow()), Err(Error::Io(_))));
    assert!(matches!(writer.session(&session()), Err(Error::Broken)));
}

fn any_record() -> impl Strategy<Value = Entry> {
    let instant = prop_oneof![
        any::<i64>(),
        0..1_000_000_000_i64,
        Just(i64::MAX),
        Just(i64::MIN)
    ];
    (
        0..MOST_FLOWS,
        0..MOST_SEQUENCE,
        0..MOST_BYTES,
        instant.clone(),
        instant,
    )
        .prop_map(|(flow, sequence, bytes, start_ns, end_ns)| {
            Entry::Record(Record {
                flow,
                sequence,
                bytes,
                start_ns,
                end_ns,
            })
        })
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let address = prop::option::of(any::<std::net::SocketAddr>());
    prop_oneof![
        8 => any_record(),
        1 => (any::<i64>(), any::<u64>(), ".{0,20}", ".{0,20}").prop_map(
            |(date_ns, seed, host, clock)| Entry::Session(Session {
                date_ns, seed, host, clock, instants: Instants::DueSent, program: String::new(),
            })
        ),
        1 => (0..MOST_FLOWS, any::<u64>())
            .prop_map(|(flow, packets)| Entry::Sent { flow, packets }),
        1 => (0..MOST_FLOWS, address.clone(), address, ".{0,20}").prop_map(
            |(number, from, to, name)| Entry::Flow(LoggedFlow {
                number, from, to, name, protocol: Protocol::Sctp,
            })
        ),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(entries in prop::collection::vec(any_entry(), 0..60)) {
        prop_assert_eq!(read(&written(&entries)), (entries, Ending::Whole));
    }

    #[test]
    fn damage_never_panics_nor_invents(
        entries in prop::collection::vec(any_entry(), 1..30),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        mends in any::<bool>(),
    ) {
        let mut file = written(&entries);
        for (place, value) in &changes {
            let place = place.index(file.len());
            file[place] = *value;
        }
        let length = u32::from_be_bytes(file[8..12].try_into().unwrap()) as usize;
        if mends && length <= file.len() - HEAD_BYTES {
            mend(&mut file, 0);
        }
        file.truncate(cut.index(file.len() + 1));
        let mut reader = Reader::new(&*file);
        let mut got = Vec::new();
        for entry in &mut reader {
            got.push(entry.unwrap());
        }
        let good = reader.good_bytes() as usize;
        prop_assert!(good <= file.len());
        prop_assert!(reader.body.capacity() <= 2 * MOST_BODY_BYTES);
        prop_assert_eq!(reader.ending() == Some(Ending::Whole), good == file.len());
        prop_assert_eq!(read(&file[..good]), (got, Ending::Whole));
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        begins_well in any::<bool>(),
    ) {
        let mut file = bytes;
        if begins_well && file.len() >= 5 {
            file[..5].copy_from_slice(b"TLOG\x01");
        }
        read(&file);
    }
}
