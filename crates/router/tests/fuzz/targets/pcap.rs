//! Whatever a capture holds — pcap, pcapng, gzip — it is read or refused, and what was read can be
//! written and read again.

use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};
use trammel_packet::capture::link::LinkType;
use trammel_packet::capture::{Error, Frame, Order, Reader, Sink, pcap, pcapng};
use trammel_packet::timestamp::Timestamp;

/// Frames that are kept to be written again: gzip may hold a thousand times its own bytes.
const MOST_FRAMES: usize = 200;

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
    fn of(frame: &Frame<'_>) -> Kept {
        Kept {
            timestamp: frame.timestamp,
            interface: frame.interface,
            link: frame.link,
            wire_len: frame.wire_len,
            data: frame.data.to_vec(),
            // A longer line does not fit into an option.
            comment: frame
                .comment
                .chars()
                .take(usize::from(u16::MAX) / 4)
                .collect(),
        }
    }
}

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
    fn take(self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn read(file: Vec<u8>) -> Result<Vec<Kept>, Error> {
    let size = file.len() as u64;
    let is_plain = !file.starts_with(&[0x1F, 0x8B]);
    let mut reader = Reader::new(Cursor::new(file))?;
    let mut kept = Vec::new();
    while let Ok(Some(frame)) = reader.next_frame() {
        if kept.len() < MOST_FRAMES {
            kept.push(Kept::of(&frame));
        }
    }
    assert!(
        !is_plain || reader.offset() <= size,
        "it reads what there is"
    );
    Ok(kept)
}

pub(crate) fn run(bytes: &[u8]) {
    let Ok(kept) = read(bytes.to_vec()) else {
        return;
    };
    let file = Shared::default();
    let order = [Order::Little, Order::Big][bytes.len() % 2];
    let mut writer = pcapng::Writer::new(Sink::plain(file.clone()), order).unwrap();
    // An interface of a later section may be of another kind than its number in the first was.
    let mut wanted = Vec::new();
    for frame in &kept {
        let link = frame.link;
        let found = wanted.iter().position(|known| *known == link);
        let interface = found.unwrap_or_else(|| {
            wanted.push(link);
            writer.interface("eth0", link, 0).unwrap() as usize
        });
        let frame = Frame {
            timestamp: frame.timestamp,
            interface: interface as u32,
            link,
            wire_len: frame.wire_len,
            data: &frame.data,
            comment: &frame.comment,
        };
        writer.write(&frame).unwrap();
    }
    writer.finish().unwrap();
    let again = read(file.take()).expect("what is written is a capture");
    assert_eq!(kept.len(), again.len());
    for (mut a, b) in kept.iter().cloned().zip(again) {
        a.interface = b.interface;
        // What is written has no times before 1970.
        a.timestamp = a.timestamp.max(Timestamp::ZERO);
        assert_eq!(a, b);
    }

    let Some(first) = kept.first() else { return };
    let file = Shared::default();
    let options = pcap::Options {
        link: first.link,
        order,
        ..pcap::Options::default()
    };
    let mut writer = pcap::Writer::new(Sink::gz(file.clone()), options).unwrap();
    for frame in &kept {
        writer
            .write(frame.timestamp, frame.wire_len, &frame.data)
            .unwrap();
    }
    writer.finish().unwrap();
    let again = read(file.take()).expect("what is written is a capture");
    assert_eq!(kept.len(), again.len());
    for (a, b) in kept.iter().zip(&again) {
        let kept = a.data.len().min(options.snap_len as usize);
        assert_eq!(a.data[..kept], b.data);
        assert_eq!(a.timestamp.subsec_ns(), b.timestamp.subsec_ns());
        assert_eq!(a.timestamp.secs() as u32, b.timestamp.secs() as u32);
    }
}
