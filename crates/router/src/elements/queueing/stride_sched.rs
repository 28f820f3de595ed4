//! Pulls from its inputs in proportion to their tickets.
//!
//! # What it does
//! Each pull asks the inputs in the order of stride scheduling until one gives a packet. An input
//! that was asked has had its turn, whether it gave one or not; one whose upstream says that it is
//! empty is passed over, which is a turn too.
//!
//! # Example
//! ```click
//! // The first queue is asked three times as often as the second.
//! FromDevice(eth0) -> Queue -> [0] s :: StrideSched(3, 1); FromDevice(eth1) -> Queue -> [1] s;
//! s -> Unqueue -> Discard
//! ```
//!
//! # References
//! Waldspurger and Weihl 1995, *Stride Scheduling*.

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::rates::strides::{PARAMS, Strides};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("StrideSched", "pulls from inputs by their shares", || {
    Box::<StrideSched>::default()
})
.ports("1-/1", "l/l")
.references(&["Waldspurger and Weihl 1995, Stride Scheduling"])
.params(PARAMS)
.restless()
.ops("work(120)");

#[derive(Debug, Default)]
struct StrideSched {
    strides: Strides,
    signals: Vec<Signal>,
}

impl Element for StrideSched {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let count = setup.inputs.len();
        self.strides.configure(setup, args.rest(), count, "input")
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.signals = (0..ctx.inputs())
            .map(|input| ctx.upstream_signal(input, None))
            .collect();
        Ok(())
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let signals = &self.signals;
        for _ in 0..max {
            let gave = self
                .strides
                .turn(|input| ctx.is_active(&signals[input]) && ctx.pull(input, 1, into) > 0);
            if !gave {
                return;
            }
        }
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
    use crate::load::testing::{errors, loaded};

    #[test]
    fn inputs_give_in_proportion_to_their_tickets() {
        let mut run = loaded(
            "InfiniteSource -> a :: Counter -> s :: StrideSched(4, 2, 1, 0) \
             -> u :: Unqueue(LIMIT 700)
             -> Discard;
             InfiniteSource -> b :: Counter -> [1] s; InfiniteSource -> c :: Counter -> [2] s;
             InfiniteSource -> d :: Counter -> [3] s;",
        );
        run.run(0.001);
        let counts = ["a.count", "b.count", "c.count", "d.count"].map(|counter| run.read(counter));
        assert_eq!(counts, ["400", "200", "100", "0"]);
        assert_eq!(
            (run.read("s.config"), run.read("s.tickets1")),
            ("4, 2, 1, 0".into(), "2".into())
        );
        run.write("s.tickets0", "0").expect("a number");
        run.write("s.tickets3", "2").expect("a number");
        run.write("u.reset", "").expect("a button");
        run.run(0.001);
        let number = |text: String| text.parse::<i64>().expect("a number");
        assert_eq!(run.read("a.count"), "400");
        let (b, d) = (
            number(run.read("b.count")) - 200,
            number(run.read("d.count")),
        );
        assert!((b - d).abs() <= 4 && (278..=282).contains(&b), "{b} {d}");
    }

    #[test]
    fn there_is_one_number_a_port() {
        let text = errors("Idle -> StrideSched(1, 2) -> Discard");
        assert!(
            text.contains("need 1 arguments, one per input port"),
            "{text}"
        );
        let text = errors("Idle -> StrideSched(-1) -> Discard");
        assert!(
            text.contains("argument 0 (number of tickets) must be >= 0"),
            "{text}"
        );
    }
}
