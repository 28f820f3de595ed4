//! Lengthens packets to a length.
//!
//! # What it does
//! Without a length, packets get as many bytes as the annotation `EXTRA_LENGTH` says that they
//! lack, up to 64 KB. The annotation is zero afterwards.
//!
//! # Example
//! ```click
//! // Frames of at least 60 bytes, filled with zeroes.
//! FromDump(a.pcap, STOP true) -> Pad(60) -> Queue -> ToDevice(eth0)
//! ```

use crate::args::kinds::UINT;
use crate::args::packet_length::{MOST, within_most};
use crate::args::{Args, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::anno;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Pad", "lengthens packets", || Box::<Pad>::default())
    .live()
    .params(&[
        positional(
            "LENGTH",
            UINT,
            "0",
            "the fewest bytes that packets shall have; 0 for what the annotation says",
        ),
        flag(
            "ZERO",
            "true",
            "whether what is added is zero; it always is",
        ),
    ])
    .ops("work(14)");

#[derive(Debug, Default)]
struct Pad {
    length: usize,
}

impl Element for Pad {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.length = within_most("LENGTH", args.uint("LENGTH"))?;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let missing = match self.length {
                // What an annotation says may come from outside.
                0 => (packet.anno_u32(anno::EXTRA_LENGTH) as usize).min(MOST),
                length => length.saturating_sub(packet.len()),
            };
            if missing > 0 {
                packet.put(missing);
            }
            packet.set_anno_u32(anno::EXTRA_LENGTH, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::anno;

    #[test]
    fn short_packets_become_longer_and_long_ones_stay() {
        let mut probe = Probe::new("Pad(4)", 1);
        assert_eq!(probe.send(b"ab"), [(0, b"ab\0\0".to_vec())]);
        assert_eq!(probe.send(b"abcde"), [(0, b"abcde".to_vec())]);
    }

    #[test]
    fn the_annotation_says_how_much_is_missing() {
        let mut probe = Probe::new("Pad", 1);
        let left = probe.send_with(b"ab", |packet| packet.set_anno_u32(anno::EXTRA_LENGTH, 1));
        assert_eq!(left, [(0, b"ab\0".to_vec())]);
        let left = probe.send_with(b"ab", |packet| {
            packet.set_anno_u32(anno::EXTRA_LENGTH, u32::MAX);
        });
        assert_eq!(left[0].1.len(), 2 + crate::args::packet_length::MOST);
    }
}
