//! Removes the radiotap header from 802.11 frames.
//!
//! # What it does
//! Rate, signal, noise, errors and what became of a sent frame turn into annotations, and a
//! checksum at the end goes. Frames without a whole header of version 0 pass as they are.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> RadiotapDecap -> FilterPhyErr -> PrintWifi -> Discard
//! ```

use super::shared::wifi::{self, BAD, FAILED, Field, SENT};
use crate::args::flag;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("RadiotapDecap", "removes a radiotap header", || {
    Box::<RadiotapDecap>::default()
})
.references(&["radiotap.org"])
.params(&[flag("DEBUG", "false", "has no effect")])
.ops("parse(24); work(60)");

/// Bytes of the fields in their order, and on what multiple of bytes each begins.
const FIELDS: [(usize, usize); 22] = [
    (8, 8),
    (1, 1),
    (1, 1),
    (4, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (8, 4),
    (3, 1),
    (8, 4),
    (12, 2),
];
/// The numbers of those that are read.
const FLAGS: usize = 1;
const RATE: usize = 2;
const SIGNAL_DBM: usize = 5;
const NOISE_DBM: usize = 6;
const SIGNAL_DB: usize = 12;
const NOISE_DB: usize = 13;
const RX_FLAGS: usize = 14;
const TX_FLAGS: usize = 15;
const RETRIES: usize = 17;
/// A further word of present fields follows.
const MORE_WORDS: u32 = 1 << 31;

/// A header: its bytes, and where each field stands that is there.
fn fields(data: &[u8]) -> Option<(usize, [Option<usize>; FIELDS.len()])> {
    let [0, _, low, high, ..] = *data else {
        return None;
    };
    let len = usize::from(u16::from_le_bytes([low, high]));
    let header = data.get(..len)?;
    let word = |at: usize| -> Option<u32> {
        let bytes = header.get(at..at + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let present = word(4)?;
    let mut at = 8;
    let mut last = present;
    while last & MORE_WORDS != 0 {
        last = word(at)?;
        at += 4;
    }
    let mut places = [None; FIELDS.len()];
    for (number, (bytes, align)) in FIELDS.into_iter().enumerate() {
        if present & 1 << number != 0 {
            at = at.next_multiple_of(align);
            places[number] = Some(at);
            at += bytes;
        }
    }
    (at <= len).then_some((len, places))
}

fn change(packet: &mut Packet) {
    let Some((len, places)) = fields(packet.data()) else {
        return;
    };
    let data = packet.data();
    let byte = |number: usize| places[number].map(|at| data[at]);
    let word =
        |number: usize| places[number].map(|at| u16::from_le_bytes([data[at], data[at + 1]]));
    let mut told = 0;
    if word(RX_FLAGS).is_some_and(|flags| flags & 2 != 0) {
        told |= BAD;
    }
    if let Some(flags) = word(TX_FLAGS) {
        told |= if flags & 1 != 0 { SENT | FAILED } else { SENT };
    }
    let flags = byte(FLAGS).unwrap_or(0);
    let values = [
        (Field::Rate, byte(RATE)),
        (Field::Signal, byte(SIGNAL_DB).or(byte(SIGNAL_DBM))),
        (Field::Noise, byte(NOISE_DB).or(byte(NOISE_DBM))),
        (Field::Retries, byte(RETRIES)),
        (Field::Padded, Some(u8::from(flags & 0x20 != 0))),
    ];
    wifi::set_extra(packet, [0; wifi::EXTRA_LEN]);
    wifi::mark(packet);
    wifi::set_flags(packet, told);
    for (field, value) in values {
        wifi::set_field(packet, field, value.unwrap_or(0));
    }
    packet.pull(len);
    if flags & 0x10 != 0 {
        packet.take(4);
    }
    packet.set_mac_header(0);
}

impl Element for RadiotapDecap {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            change(&mut ctx.pool()[handle]);
        }
    }
}

#[derive(Debug, Default)]
struct RadiotapDecap;

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{self, BAD, Field};
    use crate::probe::Probe;

    #[test]
    fn fields_become_annotations() {
        // Time, flags (a checksum follows), rate, channel, signal, noise, flags of reception; two
        // words of fields.
        let mut header = vec![0, 0, 0, 0, 0x6F, 0x40, 0, 0x80, 0, 0, 0, 0];
        header.extend([0; 4]);
        header.extend([9; 8]);
        header.extend([0x10, 22, 0x6C, 9, 0, 0, 0xC8, 0xA1, 2, 0]);
        header[2] = header.len() as u8;
        let frame = [&header[..], b"frameFCS!"].concat();
        let mut probe = Probe::new("RadiotapDecap", 1);
        let mut seen = [0; 3];
        probe.send_and_look(
            &frame,
            |_| (),
            |_, packet| {
                assert_eq!(packet.data(), b"frame");
                assert_eq!(wifi::told(packet), BAD);
                seen = [Field::Rate, Field::Signal, Field::Noise].map(|f| wifi::field(packet, f));
            },
        );
        assert_eq!(seen, [22, 0xC8, 0xA1]);
        for len in 0..header.len() {
            assert_eq!(probe.send(&frame[..len]), [(0, frame[..len].to_vec())]);
        }
        assert_eq!(probe.send(&frame[1..]), [(0, frame[1..].to_vec())]);
    }

    #[test]
    fn what_encap_puts_on_comes_off() {
        let frame = Probe::new("RadiotapEncap", 1).send(b"frame")[0].1.clone();
        let mut told = 0;
        Probe::new("RadiotapDecap", 1).send_and_look(
            &frame,
            |_| (),
            |_, packet| {
                assert_eq!(packet.data(), b"frame");
                told = wifi::told(packet);
            },
        );
        assert_eq!(told, wifi::SENT);
    }
}
