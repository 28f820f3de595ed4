//! Adds a GRE header.
//!
//! # What it does
//! `KEY` is a number or `ANNO`, for that of each packet's annotation `KEY_ANNO`. The checksum
//! covers header and payload. What comes below, such as `IPEncap(gre, …)`, is another element's.
//!
//! # Example
//! ```click
//! // A tunnel with a key for IPv4.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> GREEncap(0x0800, KEY 7)
//!     -> IPEncap(47, 10.0.0.1, 10.0.0.2) -> Discard
//! ```
//!
//! # References
//! RFC 2784, RFC 2890.

use crate::args::annotations::AnnoField;
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::checksum;
use trammel_packet::headers::gre::{CHECKSUM, KEY, SEQUENCE};
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("GREEncap", "adds a GRE header", || {
    Box::<GreEncap>::default()
})
.references(&["RFC 2784", "RFC 2890"])
.params(&[
    positional(
        "PROTOCOL",
        Kind::EtherType,
        "0x0800",
        "what it carries, as an Ethernet type",
    ),
    keyword(
        "KEY",
        Kind::Word,
        "",
        "the key, or `ANNO`; without it there is none",
    ),
    flag("CHECKSUM", "false", "whether there is a checksum"),
    flag(
        "SEQUENCE",
        "false",
        "whether there is a sequence number, from 0",
    ),
    keyword(
        "KEY_ANNO",
        Kind::Anno { size: 4 },
        "AGGREGATE",
        "the annotation of keys",
    ),
])
.ops("deparse(8); summed * checksum(frame - 14); work(35)");

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Key {
    #[default]
    None,
    Fixed(u32),
    Annotation,
}

#[derive(Debug, Default)]
struct GreEncap {
    protocol: u16,
    key: Key,
    has_checksum: bool,
    has_sequence: bool,
    sequence: u32,
    annotation: AnnoField,
}

/// A key as its annotation keeps it.
pub(super) fn key_of(packet: &Packet, field: AnnoField) -> u32 {
    let at = usize::from(field.offset);
    let bytes = packet.annotations()[at..].first_chunk();
    bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

impl Element for GreEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.protocol = args.uint("PROTOCOL") as u16;
        self.has_checksum = args.bool("CHECKSUM");
        self.has_sequence = args.bool("SEQUENCE");
        self.annotation = args.anno("KEY_ANNO");
        self.key = match args.text("KEY") {
            "" => Key::None,
            "ANNO" => Key::Annotation,
            text => Key::Fixed(parse_uint(text, u64::from(u32::MAX)).map_err(|why| {
                let mut said = Diagnostics::new();
                said.error(None, format!("KEY: {why}"));
                said
            })? as u32),
        };
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("summed", f64::from(u8::from(self.has_checksum)))]
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let mut flags = 0;
            // The fields are written from the last to the first.
            if self.has_sequence {
                packet.push(4).copy_from_slice(&self.sequence.to_be_bytes());
                self.sequence = self.sequence.wrapping_add(1);
                flags |= SEQUENCE;
            }
            let key = match self.key {
                Key::None => None,
                Key::Fixed(key) => Some(key),
                Key::Annotation => Some(key_of(packet, self.annotation)),
            };
            if let Some(key) = key {
                packet.push(4).copy_from_slice(&key.to_be_bytes());
                flags |= KEY;
            }
            if self.has_checksum {
                packet.push(4).fill(0);
                flags |= CHECKSUM;
            }
            let front = packet.push(4);
            front[..2].copy_from_slice(&flags.to_be_bytes());
            front[2..].copy_from_slice(&self.protocol.to_be_bytes());
            if self.has_checksum {
                let data = packet.data_mut();
                let sum = checksum(data);
                data[4..6].copy_from_slice(&sum.to_be_bytes());
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("sequence", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.sequence.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;
    use trammel_packet::anno;
    use trammel_packet::headers::checksum::checksum;

    #[test]
    fn the_header_has_the_fields_that_were_asked_for() {
        let mut plain = Probe::new("GREEncap", 1);
        assert_eq!(plain.send(b"ab"), [(0, b"\x00\x00\x08\x00ab".to_vec())]);
        let mut full = Probe::new(
            "GREEncap(0x86dd, KEY ANNO, CHECKSUM true, SEQUENCE true)",
            1,
        );
        for sequence in 0..2 {
            let left = full.send_with(b"ab", |packet| packet.set_anno_u32(anno::AGGREGATE, 77));
            let data = &left[0].1;
            assert_eq!(data[..4], *b"\xB0\x00\x86\xDD");
            assert_eq!(checksum(data), 0);
            assert_eq!(data[8..], [0, 0, 0, 77, 0, 0, 0, sequence, b'a', b'b']);
        }
        let said = errors("Idle -> GREEncap(KEY 4294967296) -> Idle;");
        assert!(said.contains("KEY"), "{said}");
    }
}
