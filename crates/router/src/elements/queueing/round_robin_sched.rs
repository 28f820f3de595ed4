//! Pulls from its inputs in turn.
//!
//! # What it does
//! Each packet comes from the input after the one before. Inputs that have nothing, or whose
//! upstream says that it is empty, are passed over.
//!
//! # Example
//! ```click
//! // The queues are asked in turn.
//! FromDevice(eth0) -> Queue -> [0] s :: RoundRobinSched; FromDevice(eth1) -> Queue -> [1] s;
//! s -> Unqueue -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("RoundRobinSched", "pulls from its inputs in turn", || {
    Box::<RoundRobinSched>::default()
})
.aliases(&["SimpleRoundRobinSched"])
.ports("-/1", "l/l")
.ops("work(60)");

#[derive(Debug, Default)]
struct RoundRobinSched {
    signals: Vec<Signal>,
    /// The input whose turn it is.
    next: usize,
}

impl Element for RoundRobinSched {
    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.signals = (0..ctx.inputs())
            .map(|input| ctx.upstream_signal(input, None))
            .collect();
        Ok(())
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let (inputs, mut left, mut in_vain) = (self.signals.len(), max, 0);
        while left > 0 && in_vain < inputs {
            let input = self.next;
            self.next = (input + 1) % inputs;
            if ctx.is_active(&self.signals[input]) && ctx.pull(input, 1, into) > 0 {
                (left, in_vain) = (left - 1, 0);
            } else {
                in_vain += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn every_input_gets_its_turn() {
        let mut run = loaded(
            "InfiniteSource -> a :: Counter -> r :: RoundRobinSched -> Unqueue(LIMIT 9) -> Discard;
             InfiniteSource -> b :: Counter -> [1] r; Idle -> [2] r;",
        );
        run.run(0.001);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("5".into(), "4".into())
        );
    }
}
