//! Sends packets to the output of their colour.
//!
//! # What it does
//! A packet painted N leaves by output N, or ends here where there is none; one painted 255 leaves
//! by all.
//!
//! # Example
//! ```click
//! // Colour 0 leaves by output 0, colour 1 by output 1.
//! Idle -> Paint(1) -> s :: PaintSwitch; s[0] -> Discard; s[1] -> Queue -> ToDevice(eth0)
//! ```

use super::shared::copies::to_all;
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("PaintSwitch", "chooses the output by colour", || {
    Box::<PaintSwitch>::default()
})
.ports("1/-", "h/h")
.params(&[positional(
    "ANNO",
    Kind::Anno { size: 1 },
    "PAINT",
    "the annotation that holds the colour",
)])
.ops("work(100)");

#[derive(Debug, Default)]
struct PaintSwitch {
    anno: usize,
}

impl Element for PaintSwitch {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.anno = usize::from(args.anno("ANNO").offset);
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for packet in batch.drain() {
            match ctx.pool()[&packet].annotations()[self.anno] {
                255 => to_all(ctx, packet, |_| true),
                color => ctx.reject(usize::from(color), packet, Reason::NoPort),
            }
        }
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_last_colour_means_all() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> Paint(255) -> s :: PaintSwitch -> a :: Counter \
             -> Discard; \
             s [1] -> b :: Counter -> Paint(9) -> PaintSwitch -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("3".into(), "3".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
