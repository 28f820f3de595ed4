//! Passes packets of one colour.
//!
//! # What it does
//! Packets of another colour go to output 1 where there is one, and end here otherwise.
//!
//! # Example
//! ```click
//! // Those of colour 1 go on; others leave by output 1.
//! Idle -> Paint(1) -> c :: CheckPaint(1) -> Discard; c[1] -> Print(other) -> Discard
//! ```

use crate::args::kinds::U8;
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckPaint", "passes packets of one colour", || {
    Box::<CheckPaint>::default()
})
.ports("1/1-2", "a/ah")
.params(&[
    mandatory("COLOR", U8, "the colour, 0 to 255"),
    positional(
        "ANNO",
        Kind::Anno { size: 1 },
        "PAINT",
        "the annotation that holds it",
    ),
])
.ops("work(20)");

#[derive(Debug, Default)]
struct CheckPaint {
    color: u8,
    anno: usize,
}

impl Element for CheckPaint {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.color = args.uint("COLOR") as u8;
        self.anno = usize::from(args.anno("ANNO").offset);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|packet| {
            if ctx.pool()[&packet].annotations()[self.anno] == self.color {
                return Some(packet);
            }
            ctx.reject(1, packet, Reason::Filtered);
            None
        });
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
    fn other_colours_go_elsewhere() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> Paint(1) -> p :: CheckPaint(2) -> a :: Counter \
             -> Discard; \
             p [1] -> b :: Counter -> CheckPaint(2) -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("0".into(), "3".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
