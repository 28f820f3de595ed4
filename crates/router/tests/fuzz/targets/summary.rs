//! Whatever a summary dump holds, text or binary, it is read to its end; every packet of it can be
//! written by every field, and no packet is lost.

use super::input::Input;
use trammel_packet::pool::Pool;
use trammel_router::summary::fields::{self, Fields};
use trammel_router::summary::reader::{Options, Reader};
use trammel_router::summary::writer::{self, Writer, write_line};

/// Packets that are looked at: a line of two bytes makes one.
const MOST_PACKETS: usize = 100;

pub(crate) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let options = Options {
        checksum: input.u8() & 1 != 0,
        ..Options::default()
    };
    let mut from = input.0;
    let mut pool = Pool::new(8, 8);
    let mut reader = Reader::new(options);
    if !reader.begin(&mut from).expect("memory can be read") {
        return;
    }
    let names: Vec<&str> = fields::all().collect();
    let (every, unknown) = Fields::parse(&names.join(" "));
    assert!(unknown.is_empty());
    let binary: Vec<&str> = names
        .into_iter()
        .filter(|name| *name != "payload")
        .collect();
    let binary = Fields::parse(&binary.join(" ")).0;
    let form = writer::Options {
        is_binary: true,
        bad_packets: true,
        ..writer::Options::default()
    };
    let writer = Writer::new(binary, form).expect("all fields have a binary form");
    let mut out = Vec::new();
    for _ in 0..MOST_PACKETS {
        let Some(packet) = reader.next(&mut from, &mut pool).expect("there is room") else {
            break;
        };
        out.clear();
        write_line(&pool[&packet], &every, &mut out);
        assert!(!out.is_empty());
        writer.packet(&pool[&packet], &mut out);
        pool.free(packet);
    }
    assert_eq!(pool.in_use(), 0);
    reader.take_complaints();
}
