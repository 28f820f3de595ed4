//! Copies bytes of packets on one way into packets on another.
//!
//! # What it does
//! Ranges of bytes of the last packet of input 0 are written over the same ranges of every packet
//! of input 1.
//!
//! # Example
//! ```click
//! // The Ethernet header of the last packet of input 0 is put onto those of input 1.
//! FromDevice(eth0) -> [0] c :: Clipboard(0/14); RatedSource(LENGTH 60) -> [1] c;
//! c[0] -> Discard; c[1] -> Queue -> ToDevice(eth0)
//! ```

use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::{Batch, Packets};

/// The class.
pub static ENTRY: Entry = Entry::new("Clipboard", "copies bytes between packets", || {
    Box::<Clipboard>::default()
})
.ports("2/2", "a/a")
.flow("#/#")
.live()
.params(&[param(
    "RANGES",
    Need::Rest,
    Kind::Raw,
    "",
    "`offset/length`, any number of times",
)])
.ops("copy(length); work(25)");

#[derive(Debug, Default)]
struct Clipboard {
    /// Offset and length.
    ranges: Vec<(usize, usize)>,
    /// The bytes of all ranges.
    held: Vec<u8>,
    /// Where the last range ends.
    end: usize,
}

impl Clipboard {
    fn pass(&mut self, ctx: &mut Ctx, port: usize, batch: &Packets) {
        for packet in batch {
            let data = ctx.pool()[packet].data_mut();
            // Differs from Click: a packet too short to be copied from leaves what is held.
            if data.len() < self.end {
                continue;
            }
            let mut held = self.held.as_mut_slice();
            for (offset, length) in &self.ranges {
                let (here, rest) = held.split_at_mut(*length);
                let there = &mut data[*offset..offset + length];
                if port == 0 {
                    here.copy_from_slice(there);
                } else {
                    there.copy_from_slice(here);
                }
                held = rest;
            }
        }
    }
}

impl Element for Clipboard {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let (mut ranges, mut end, mut bytes) = (Vec::new(), 0, 0);
        for (at, text) in args.rest().iter().enumerate() {
            let Some((offset, length)) = text
                .split_once('/')
                .filter(|(a, b)| !a.is_empty() && !b.is_empty())
            else {
                let text = format!("range {at}: expected '/' between offset and length");
                return Err(Diagnostics::of(text));
            };
            let number = |text: &str| parse_uint(text, MOST).ok().map(|n| n as usize);
            let (Some(offset), Some(length)) = (number(offset), number(length)) else {
                let text = format!("range {at}: invalid offset or length");
                return Err(Diagnostics::of(text));
            };
            ranges.push((offset, length));
            bytes += length;
            end = end.max(offset + length);
        }
        (self.ranges, self.end, self.held) = (ranges, end, vec![0; bytes]);
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        self.pass(ctx, port, &batch);
        ctx.emit_all(port, batch);
    }

    fn pull(&mut self, ctx: &mut Ctx, port: usize, max: usize, into: &mut Packets) {
        let mut batch = ctx.batch();
        ctx.pull(port, max.min(into.room()), &mut batch);
        self.pass(ctx, port, &batch);
        for packet in batch.drain() {
            into.push(packet);
        }
        ctx.recycle(batch);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.held.len() as f64)]
    }
}

/// No packet is longer.
const MOST: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn bytes_go_from_one_way_to_the_other() {
        let mut run = loaded(
            "c :: Clipboard(0/1, 2/1); TimedSource(0.001, \"abc\", LIMIT 1) -> c -> Discard; \
             TimedSource(0.002, \"xyzw\", LIMIT 1) -> [1] c [1] -> Print(CONTENTS ASCII) \
             -> Discard; \
             TimedSource(0.003, \"xy\", LIMIT 1) -> [1] c",
        );
        run.run(0.1);
        assert_eq!(run.host.memory().said, "   4 |  aycw\n   2 |  xy\n");
        assert!(
            errors("Idle -> c :: Clipboard(3) -> Idle; Idle -> [1] c [1] -> Idle")
                .contains("range 0: expected '/' between offset and length")
        );
    }
}
