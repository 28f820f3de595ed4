//! Bypasses other elements.
//!
//! # What it does
//! While it is active, packets of input 0 leave by output 1, and what comes back by input 1 leaves
//! by output 0; otherwise they go straight on.
//!
//! # Example
//! ```click
//! // While it is active, packets do not pass the element between its second ports.
//! RatedSource(RATE 10) -> b :: Bypass -> Discard; b[1] -> Print(slow) -> [1] b;
//! Script(wait 1s, write b.active true, wait 1s, stop)
//! ```

use crate::args::numbers::parse_bool;
use crate::args::{Args, Kind, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use std::any::Any;
use trammel_packet::batch::{Batch, Packets};

/// The class.
pub static ENTRY: Entry = Entry::new("Bypass", "bypasses elements", || Box::<Bypass>::default())
    .ports("1-2/1-2", "a/a")
    .flow("xy/[xy]x")
    .params(&[
        positional(
            "ACTIVE",
            Kind::Bool,
            "false",
            "whether packets are led round",
        ),
        flag("INLINE", "false", "accepted; it is always in line here"),
    ])
    .ops("work(10 * calls)");

#[derive(Debug, Default)]
struct Bypass {
    active: bool,
    /// Answers for it while it asks an element that asks it in turn.
    stand_in: Option<Box<Bypass>>,
}

impl Element for Bypass {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.active = args.bool("ACTIVE");
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, input: usize, batch: Batch) {
        let around = self.active && input == 0 && ctx.outputs() > 1;
        ctx.emit_all(usize::from(around), batch);
    }

    fn pull(&mut self, ctx: &mut Ctx, output: usize, max: usize, into: &mut Packets) {
        if !(self.active && output == 0 && ctx.inputs() > 1) {
            ctx.pull(0, max, into);
            return;
        }
        let mut stand_in = self.stand_in.take().unwrap_or_default();
        stand_in.active = true;
        let back = ctx.pull_past(stand_in, 1, max, into);
        let back = back.map(|back| back as Box<dyn Any>);
        self.stand_in = back.and_then(|back| back.downcast().ok());
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("active", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.active.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.active = parse_bool(value.trim()).map_err(|_| "syntax error".to_owned())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn packets_are_led_round_when_pushed_and_when_pulled() {
        for null in ["PushNull", "PullNull"] {
            let mut run = loaded(&format!(
                "InfiniteSource(LIMIT 4) -> {null} -> Counter(COUNT_CALL 3 b.active true) \
                 -> b :: Bypass \
                 -> a :: Counter -> Discard; b [1] -> c :: Counter -> [1] b"
            ));
            run.run(0.1);
            assert_eq!(run.read("a.count"), "4");
            let around = if null == "PushNull" { "2" } else { "1" };
            assert_eq!(run.read("c.count"), around, "{null}");
            assert_eq!(run.ctx.pool().in_use(), 0);
        }
    }
}
