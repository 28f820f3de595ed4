//! Truncates packets.
//!
//! # What it does
//! What is cut off is added to the annotation `EXTRA_LENGTH`, which Pad and the dumps know, unless
//! the keyword says otherwise.
//!
//! # Handlers
//! - `nbytes`: the most bytes of a packet
//!
//! # Example
//! ```click
//! // The first 96 bytes of each packet are kept.
//! FromDevice(eth0) -> Truncate(96) -> ToDump(b.pcap)
//! ```

use crate::args::kinds::UINT;
use crate::args::numbers::parse_uint;
use crate::args::{Args, flag, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::anno;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Truncate", "truncates packets", || {
    Box::<Truncate>::default()
})
.live()
.params(&[
    mandatory("LENGTH", UINT, "the most bytes that are left"),
    flag(
        "EXTRA_LENGTH",
        "true",
        "whether the annotation counts what is cut off",
    ),
])
.ops("work(18)");

#[derive(Debug, Default)]
struct Truncate {
    length: usize,
    counts: bool,
}

impl Element for Truncate {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.length = args.uint("LENGTH") as usize;
        self.counts = args.bool("EXTRA_LENGTH");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let cut = packet.len().saturating_sub(self.length);
            if cut > 0 && self.counts {
                let extra = packet.anno_u32(anno::EXTRA_LENGTH);
                packet.set_anno_u32(anno::EXTRA_LENGTH, extra.wrapping_add(cut as u32));
            }
            packet.take(cut);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("nbytes", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.length.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let length = parse_uint(value.trim(), u64::from(u32::MAX));
        self.length = length.map_err(|why| why.to_string())? as usize;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::anno;

    #[test]
    fn what_is_cut_off_is_counted() {
        let mut probe = Probe::new("Truncate(3)", 1);
        let prepare = |packet: &mut trammel_packet::packet::Packet| {
            packet.set_anno_u32(anno::EXTRA_LENGTH, 5);
        };
        let mut seen = Vec::new();
        probe.send_and_look(b"abcde", prepare, |_, packet| {
            seen.push((packet.data().to_vec(), packet.anno_u32(anno::EXTRA_LENGTH)));
        });
        assert_eq!(seen, [(b"abc".to_vec(), 7)]);
    }
}
