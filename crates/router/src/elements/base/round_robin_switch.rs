//! Sends packets to its outputs in turn.
//!
//! # What it does
//! The first packet leaves by output 0, the next by output 1, and so on.
//!
//! # Example
//! ```click
//! // Packets in turn to two processors of them.
//! FromDevice(eth0) -> r :: RoundRobinSwitch; r[0] -> Queue -> ToDevice(eth1); r[1] -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "RoundRobinSwitch",
    "sends packets to its outputs in turn",
    || Box::<RoundRobinSwitch>::default(),
)
.ports("1/1-", "h/h")
.ops("work(85)");

#[derive(Debug, Default)]
struct RoundRobinSwitch {
    next: usize,
}

impl Element for RoundRobinSwitch {
    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for packet in batch.drain() {
            ctx.emit(self.next, packet);
            self.next += 1;
            if self.next >= ctx.outputs() {
                self.next = 0;
            }
        }
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn outputs_take_turns() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 5, BURST 5, STOP true) -> s :: RoundRobinSwitch -> a :: Counter \
             -> Discard; \
             s [1] -> b :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("3".into(), "2".into())
        );
    }
}
