//! Copies packets of one colour to output 1.
//!
//! # What it does
//! Every packet passes to output 0; those painted with the colour are sent to output 1 as well.
//!
//! # Example
//! ```click
//! // A packet that would leave by the interface it came by is copied to output 1: its sender is
//! // told so.
//! Idle -> Paint(1) -> t :: PaintTee(1) -> Queue -> ToDevice(eth0);
//! t[1] -> ICMPError(10.0.0.1, redirect, host) -> Discard
//! ```

use crate::args::kinds::U8;
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("PaintTee", "copies packets of one colour", || {
    Box::<PaintTee>::default()
})
.ports("1/2", "a/ah")
.params(&[
    mandatory("COLOR", U8, "the colour, 0 to 255"),
    positional(
        "ANNO",
        Kind::Anno { size: 1 },
        "PAINT",
        "the annotation that holds it",
    ),
])
.ops("work(15)");

#[derive(Debug, Default)]
struct PaintTee {
    color: u8,
    anno: usize,
}

impl Element for PaintTee {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.color = args.uint("COLOR") as u8;
        self.anno = usize::from(args.anno("ANNO").offset);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for packet in batch.iter() {
            if ctx.pool()[packet].annotations()[self.anno] == self.color
                && let Some(copy) = ctx.pool().duplicate(packet)
            {
                ctx.emit(1, copy);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("color", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.color.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let color = parse_uint(value.trim(), 255).map_err(|_| "syntax error".to_owned())?;
        self.color = color as u8;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn packets_of_the_colour_are_copied() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> Paint(2) -> p :: PaintTee(2) -> a :: Counter \
             -> Discard; \
             p [1] -> b :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("3".into(), "3".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
