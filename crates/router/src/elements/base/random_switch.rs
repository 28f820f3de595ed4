//! Sends packets to outputs at random.
//!
//! # What it does
//! Each output is as likely as any other.
//!
//! # Example
//! ```click
//! // Each packet leaves by an output that is drawn.
//! FromDevice(eth0) -> r :: RandomSwitch; r[0] -> Discard; r[1] -> Queue -> ToDevice(eth1)
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("RandomSwitch", "sends packets to outputs at random", || {
    Box::<RandomSwitch>::default()
})
.ports("1/1-", "h/h")
.ops("random(); work(90)");

#[derive(Debug, Default)]
struct RandomSwitch;

impl Element for RandomSwitch {
    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        let outputs = ctx.outputs() as u64;
        for packet in batch.drain() {
            let output = ctx.draw(outputs) as usize;
            ctx.emit(output, packet);
        }
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn outputs_are_as_likely_as_each_other() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 10000, BURST 32, STOP true) -> s :: RandomSwitch -> a :: Counter \
             -> Discard; \
             s [1] -> b :: Counter -> Discard",
        );
        run.run(1.0);
        let a: u32 = run.read("a.count").parse().expect("a number");
        // Five standard deviations of 10,000 fair draws.
        assert!((4750..=5250).contains(&a), "{a}");
    }
}
