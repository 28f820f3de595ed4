//! Whatever a log holds, it is read up to its last whole block and decoded; what was read can be
//! written and read again.
//!
//! A fuzzer seldom finds a right checksum: the input is read as it is, and with the checksums of
//! its blocks made right.

use trammel_core::time::Span;
use trammel_traffic::decode::{Options, decode};
use trammel_traffic::log::block::HEAD_BYTES;
use trammel_traffic::log::crc::crc32c;
use trammel_traffic::log::{Ending, Entry, Reader, Writer, survey};

pub(crate) fn run(bytes: &[u8]) {
    check(bytes);
    check(&mended(bytes));
}

/// With right checksums, as far as the lengths lead.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    let mut at = 0;
    while let Some((head, rest)) = file[at..].split_first_chunk_mut::<HEAD_BYTES>() {
        let length = u32::from_be_bytes(*head[8..].first_chunk().unwrap()) as usize;
        let Some(body) = rest.get(..length) else {
            break;
        };
        let checksum = crc32c(&[&head[..12], body]);
        head[12..].copy_from_slice(&checksum.to_be_bytes());
        at += HEAD_BYTES + length;
    }
    file
}

fn check(file: &[u8]) {
    let mut reader = Reader::new(file);
    let entries: Vec<Entry> = reader
        .by_ref()
        .map(|entry| entry.expect("memory can be read"))
        .collect();
    let good = reader.good_bytes();
    assert!(good <= file.len() as u64);
    let is_whole = reader.ending() == Some(Ending::Whole);
    assert_eq!(is_whole, good == file.len() as u64);
    let good = &file[..good as usize];
    assert_eq!(survey(good).unwrap().ending, Ending::Whole);

    let mut again = Vec::new();
    let mut writer = Writer::new(&mut again);
    for entry in &entries {
        match entry {
            Entry::Session(session) => writer.session(session),
            Entry::Flow(flow) => writer.flow(flow),
            Entry::Sent { flow, packets } => writer.sent(*flow, *packets),
            Entry::Record(record) => writer.record(record),
        }
        .expect("what was read can be written");
    }
    drop(writer);
    assert!(
        Reader::new(&*again)
            .map(Result::unwrap)
            .eq(entries.iter().cloned())
    );

    let options = Options {
        // All limits are met soon.
        interval: Span::from_ns(u64::from(file.first().copied().unwrap_or(0))),
        window: file.len() % 64,
        most_flows: 8,
        most_intervals: 100,
        ..Options::default()
    };
    let report = decode(Reader::new(file), options).unwrap();
    let records = entries
        .iter()
        .filter(|entry| matches!(entry, Entry::Record(_)))
        .count();
    let counted: u64 = report.totals.iter().map(|total| total.summary.pkts).sum();
    assert_eq!(counted + report.unaccounted_records, records as u64);
}
