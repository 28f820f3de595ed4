//! Captures: what is written is read again, by us and by tcpdump and tshark; what is broken is
//! told.

use proptest::prelude::*;
use std::io::{Cursor, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use trammel_packet::capture::link::LinkType;
use trammel_packet::capture::{Error, Frame, Order, Reader, Sink, pcap, pcapng};
use trammel_packet::timestamp::Timestamp;

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(data);
        Ok(data.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn sink(&self, is_gz: bool) -> Sink {
        if is_gz {
            Sink::gz(self.clone())
        } else {
            Sink::plain(self.clone())
        }
    }
    fn take(self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Kept {
    timestamp: Timestamp,
    interface: u32,
    link: LinkType,
    wire_len: u32,
    data: Vec<u8>,
    comment: String,
}

impl Kept {
    fn frame(&self) -> Frame<'_> {
        Frame {
            timestamp: self.timestamp,
            interface: self.interface,
            link: self.link,
            wire_len: self.wire_len,
            data: &self.data,
            comment: &self.comment,
        }
    }
}

fn read(file: Vec<u8>) -> (Vec<Kept>, Option<Error>) {
    let mut kept = Vec::new();
    let mut reader = match Reader::new(Cursor::new(file)) {
        Ok(reader) => reader,
        Err(error) => return (kept, Some(error)),
    };
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => kept.push(Kept {
                timestamp: frame.timestamp,
                interface: frame.interface,
                link: frame.link,
                wire_len: frame.wire_len,
                data: frame.data.to_vec(),
                comment: frame.comment.to_owned(),
            }),
            Ok(None) => return (kept, None),
            Err(error) => return (kept, Some(error)),
        }
    }
}

const LINKS: [LinkType; 6] = [
    LinkType::EN10MB,
    LinkType::RAW,
    LinkType::LINUX_SLL,
    LinkType::LINUX_SLL2,
    LinkType::NULL,
    LinkType::LOOP,
];

fn frames() -> impl Strategy<Value = Vec<Kept>> {
    let data = prop::collection::vec(any::<u8>(), 0..80);
    let frame = (
        0_i64..4_000_000_000,
        0_i64..1_000_000_000,
        0_u32..2,
        data,
        0_u32..2000,
        "[a-zäß\n ]{0,12}",
    );
    prop::collection::vec(frame, 0..8).prop_map(|all| {
        all.into_iter()
            .map(|(s, ns, interface, data, more, comment)| Kept {
                timestamp: Timestamp::new(s, ns),
                interface,
                link: LINKS[interface as usize],
                wire_len: data.len() as u32 + more,
                data,
                comment,
            })
            .collect()
    })
}

fn write_pcap(frames: &[Kept], options: pcap::Options, is_gz: bool) -> Vec<u8> {
    let out = Shared::default();
    let mut writer = pcap::Writer::new(out.sink(is_gz), options).unwrap();
    for frame in frames {
        writer
            .write(frame.timestamp, frame.wire_len, &frame.data)
            .unwrap();
    }
    writer.finish().unwrap();
    out.take()
}

fn write_pcapng(frames: &[Kept], order: Order, is_gz: bool) -> Vec<u8> {
    let out = Shared::default();
    let mut writer = pcapng::Writer::new(out.sink(is_gz), order).unwrap();
    for (n, link) in LINKS.into_iter().enumerate() {
        assert_eq!(
            writer.interface(&format!("if{n}"), link, 0).unwrap(),
            n as u32
        );
    }
    for frame in frames {
        writer.write(&frame.frame()).unwrap();
    }
    writer.finish().unwrap();
    out.take()
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Little), Just(Order::Big)]
}

proptest! {
    #[test]
    fn pcap_is_read_as_it_was_written(
        mut frames in frames(), order in order(), is_nanosecond: bool, is_gz: bool,
        link in 0_usize..6,
    ) {
        let options = pcap::Options {
            link: LINKS[link], order, is_nanosecond, ..Default::default()
        };
        let file = write_pcap(&frames, options, is_gz);
        for frame in &mut frames {
            (frame.interface, frame.link, frame.comment) = (0, LINKS[link], String::new());
            if !is_nanosecond {
                frame.timestamp.0 -= frame.timestamp.0 % 1000;
            }
        }
        let (kept, error) = read(file);
        prop_assert!(error.is_none(), "{:?}", error);
        prop_assert_eq!(kept, frames);
    }

    #[test]
    fn pcapng_is_read_as_it_was_written(frames in frames(), order in order(), is_gz: bool) {
        let (kept, error) = read(write_pcapng(&frames, order, is_gz));
        prop_assert!(error.is_none(), "{:?}", error);
        prop_assert_eq!(kept, frames);
    }

    /// Files that are cut anywhere: every frame before the cut comes out, then an error or the end.
    #[test]
    fn a_file_that_is_cut_short(
        frames in frames(), order in order(), ng: bool, cut: prop::sample::Index
    ) {
        let options = pcap::Options { order, ..Default::default() };
        let mut file =
            if ng {
                write_pcapng(&frames, order, false)
            } else {
                write_pcap(&frames, options, false)
            };
        let whole = read(file.clone()).0;
        let len = cut.index(file.len());
        file.truncate(len);
        let (kept, error) = read(file);
        prop_assert_eq!(&kept[..], &whole[..kept.len()]);
        if let Some(Error::Malformed { offset, .. }) = error {
            prop_assert!(offset <= len as u64);
        }
    }

    #[test]
    fn a_file_with_wrong_bytes(
        frames in frames(), order in order(), ng: bool, wrong: Vec<(prop::sample::Index, u8)>,
        is_gz: bool,
    ) {
        let options = pcap::Options { order, ..Default::default() };
        let mut file =
            if ng {
                write_pcapng(&frames, order, is_gz)
            } else {
                write_pcap(&frames, options, is_gz)
            };
        for (at, byte) in wrong {
            let at = at.index(file.len());
            file[at] = byte;
        }
        read(file);
    }

    #[test]
    fn any_bytes(mut file: Vec<u8>, front in 0..6) {
        let front: &[u8] = match front {
            0 => &[0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0],
            1 => &[0xA1, 0xB2, 0x3C, 0x4D, 0, 2, 0, 4],
            2 => &[0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0],
            3 => &[0x0A, 0x0D, 0x0D, 0x0A, 0, 0, 0, 28, 0x1A, 0x2B, 0x3C, 0x4D, 0, 1, 0, 0],
            4 => &[0x1F, 0x8B, 8, 0],
            _ => &[],
        };
        file.splice(0..0, front.iter().copied());
        read(file);
    }
}

#[test]
fn errors_say_where_and_what() {
    let frames = [Kept {
        timestamp: Timestamp::new(1, 2),
        interface: 0,
        link: LinkType::EN10MB,
        wire_len: 4,
        data: vec![1, 2, 3, 4],
        comment: String::new(),
    }];
    let mut file = write_pcap(&frames, pcap::Options::default(), false);
    // The record claims 4 GiB.
    file[32..36].fill(0xFF);
    let (_, error) = read(file);
    let text = error.unwrap().to_string();
    assert_eq!(
        text,
        "at byte 24: a record of 4294967295 bytes is longer than 16777216"
    );
    let (_, error) = read(b"GIF89a".to_vec());
    assert_eq!(
        error.unwrap().to_string(),
        "at byte 0: neither pcap nor pcapng begins with GIF8"
    );
    let mut file = write_pcapng(&frames, Order::Little, false);
    let len = file.len();
    file.truncate(len - 3);
    let (_, error) = read(file);
    let (at, end) = (len - 36, len - 3);
    let text = format!("at byte {at}: the file ends at byte {end} within this record");
    assert_eq!(error.unwrap().to_string(), text);
}

#[test]
fn a_comment_longer_than_an_option_is_cut_between_characters() {
    let of = |comment: String| Kept {
        timestamp: Timestamp::new(1, 2),
        interface: 0,
        link: LINKS[0],
        wire_len: 0,
        data: Vec::new(),
        comment,
    };
    let file = write_pcapng(&[of("ß".repeat(40_000))], Order::Little, false);
    let (kept, error) = read(file);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(kept, [of("ß".repeat(32_767))]);
}

#[test]
fn simple_packets_fill_their_block_and_have_no_time() {
    let mut file = write_pcapng(&[], Order::Little, false);
    let start = file.len();
    for word in [3_u32, 20, 3, 0x00C0_B0A0, 20] {
        file.extend(word.to_le_bytes());
    }
    let (kept, error) = read(file.clone());
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        (&kept[0].data[..], kept[0].wire_len),
        (&[0xA0, 0xB0, 0xC0][..], 3)
    );
    assert!(kept[0].timestamp.is_zero());
    // No room for a single byte.
    file.truncate(start);
    for word in [3_u32, 12, 12] {
        file.extend(word.to_le_bytes());
    }
    assert!(read(file).1.is_some());
}

#[test]
fn the_network_header_is_found_behind_each_link() {
    let ip = [0x45, 0, 0, 0];
    let tagged = [&[0; 12][..], &[0x88, 0xA8, 0, 1, 0x81, 0, 0, 2, 8, 0], &ip].concat();
    assert_eq!(LinkType::EN10MB.network(&tagged), Some((0x0800, 22)));
    assert_eq!(LinkType::EN10MB.network(&tagged[..21]), None);
    assert_eq!(LinkType::RAW.network(&ip), Some((0x0800, 0)));
    assert_eq!(LinkType::NULL.network(&[2, 0, 0, 0]), Some((0x0800, 4)));
    assert_eq!(LinkType::LOOP.network(&[0, 0, 0, 24]), Some((0x86DD, 4)));
    let cooked = [&[0; 14][..], &[0x86, 0xDD]].concat();
    assert_eq!(LinkType::LINUX_SLL.network(&cooked), Some((0x86DD, 16)));
    let cooked = [&[0x08, 0][..], &[0; 18]].concat();
    assert_eq!(LinkType::LINUX_SLL2.network(&cooked), Some((0x0800, 20)));
}

/// What `program` prints of `file` on its standard input; nothing where it is not installed.
fn other(program: &str, arguments: &[&str], file: &[u8]) -> Option<String> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: {program} is not installed");
        return None;
    };
    child.stdin.take().unwrap().write_all(file).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn tcpdump_and_tshark_read_what_is_written() {
    let mut data = Vec::new();
    etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(1000, 2000)
        .write(&mut data, b"hello")
        .unwrap();
    let frames = [Kept {
        timestamp: Timestamp::new(1_600_000_000, 123_456_789),
        interface: 0,
        link: LinkType::EN10MB,
        wire_len: 1000,
        data,
        comment: "dropped here".to_owned(),
    }];
    for order in [Order::Little, Order::Big] {
        let options = pcap::Options {
            order,
            ..Default::default()
        };
        let file = write_pcap(&frames, options, false);
        let arguments = ["-n", "-tt", "--nano", "-r", "-"];
        if let Some(text) = other("tcpdump", &arguments, &file) {
            let line = "1600000000.123456789 IP 10.0.0.1.1000 > 10.0.0.2.2000: UDP, length 5";
            assert_eq!(text.trim(), line);
        }
        let file = write_pcapng(&frames, order, false);
        let fields = [
            "frame.time_epoch",
            "frame.len",
            "frame.comment",
            "udp.dstport",
            "frame.interface_name",
        ];
        let mut arguments = vec!["-r", "-", "-T", "fields"];
        arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
        if let Some(text) = other("tshark", &arguments, &file) {
            assert_eq!(
                text.trim(),
                "1600000000.123456789\t1000\tdropped here\t2000\tif0"
            );
        }
    }
}

#[test]
fn a_frame_was_no_shorter_on_the_wire_than_what_was_kept_of_it() {
    let file = Shared::default();
    let mut writer = pcap::Writer::new(file.sink(false), pcap::Options::default()).unwrap();
    writer.write(Timestamp::ZERO, 4, b"kept").unwrap();
    writer.finish().unwrap();
    let mut file = file.take();
    // The last word of the record's header.
    file[36] = 3;
    assert_eq!(read(file).0[0].wire_len, 4);
}

/// A pcap file of one record, whose head may have more bytes after the four numbers.
fn of_one_record(magic: u32, link: u32, more: &[u8], data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [magic, 4 << 16 | 2, 0, 0, 65535, link] {
        file.extend(word.to_le_bytes());
    }
    for word in [7, 8, data.len() as u32, 90] {
        file.extend(word.to_le_bytes());
    }
    file.extend(more);
    file.extend(data);
    file
}

#[test]
fn raw_ip_of_other_systems_is_raw_ip() {
    for link in [12, 14, 101] {
        let (kept, error) = read(of_one_record(0xA1B2_C3D4, link, &[], &[0x45; 20]));
        assert!(error.is_none(), "{error:?}");
        assert_eq!(kept[0].link, LinkType::RAW, "{link}");
    }
}

#[test]
fn a_section_says_what_wrote_it() {
    for (order, said) in [(Order::Little, "trammel, simulated"), (Order::Big, "αβγ")] {
        let out = Shared::default();
        let writer = pcapng::Writer::by(said, out.sink(false), order).unwrap();
        writer.finish().unwrap();
        let reader = Reader::new(Cursor::new(out.take())).unwrap();
        assert_eq!(reader.application(), said);
    }
}

#[test]
fn modified_captures_have_longer_heads() {
    let more = [3, 0, 0, 0, 8, 0, 4, 0];
    let (kept, error) = read(of_one_record(0xA1B2_CD34, 1, &more, b"a frame"));
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        (kept[0].data.as_slice(), kept[0].wire_len),
        (&b"a frame"[..], 90)
    );
    assert_eq!(kept[0].timestamp, Timestamp::new(7, 8000));
}
