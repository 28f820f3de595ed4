//! Sends packets to its outputs in proportion to their tickets.
//!
//! # What it does
//! Each packet leaves by the output that stride scheduling says is next; where no output has
//! tickets it ends here.
//!
//! # Example
//! ```click
//! // Three packets of four leave by output 0.
//! FromDevice(eth0) -> s :: StrideSwitch(3, 1); s[0] -> Discard; s[1] -> Queue -> ToDevice(eth1)
//! ```
//!
//! # References
//! Waldspurger and Weihl 1995, *Stride Scheduling*.

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::rates::strides::{PARAMS, Strides};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "StrideSwitch",
    "distributes packets by the outputs' shares",
    || Box::<StrideSwitch>::default(),
)
.ports("1/1-", "h/h")
.references(&["Waldspurger and Weihl 1995, Stride Scheduling"])
.params(PARAMS)
.restless()
.ops("work(10 * outputs + 110)");

#[derive(Debug, Default)]
struct StrideSwitch {
    strides: Strides,
}

impl Element for StrideSwitch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let count = setup.outputs.len();
        self.strides.configure(setup, args.rest(), count, "output")
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for packet in batch.drain() {
            let mut to = None;
            self.strides.turn(|output| {
                to = Some(output);
                true
            });
            match to {
                Some(output) => ctx.emit(output, packet),
                None => ctx.drop(packet, Reason::Inactive),
            }
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        self.strides.handlers()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.strides.read(name))
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        self.strides.write(name, value)
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn outputs_get_in_proportion_to_their_tickets() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 40) -> s :: StrideSwitch(3, 1) -> a :: Counter -> Discard;
             s [1] -> b :: Counter -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("30".into(), "10".into())
        );
        run.write("s.config", "0, 0").expect("numbers");
        run.write("i.reset", "").expect("a button");
        run.run(0.1);
        assert_eq!(
            (run.read("a.count"), run.ctx.pool().in_use()),
            ("30".into(), 0)
        );
    }
}
