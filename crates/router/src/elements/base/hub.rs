//! Sends packets to all outputs but the one they came by.
//!
//! # What it does
//! A packet of input N leaves by every output other than N.
//!
//! # Example
//! ```click
//! // What comes by one port leaves by the two others.
//! h :: Hub;
//! FromDevice(eth0) -> [0] h; FromDevice(eth1) -> [1] h; RatedSource(RATE 1) -> [2] h;
//! h[0] -> Queue -> ToDevice(eth0); h[1] -> Queue -> ToDevice(eth1); h[2] -> Discard
//! ```

use super::shared::copies::to_all;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("Hub", "sends packets to all other ports", || {
    Box::<Hub>::default()
})
.ports("-/=", "h/h")
.flow("#/[^#]")
.ops("copy((outputs - 2) * frame); work(200 * outputs - 300)");

#[derive(Debug, Default)]
struct Hub;

impl Element for Hub {
    fn push(&mut self, ctx: &mut Ctx, input: usize, mut batch: Batch) {
        for packet in batch.drain() {
            to_all(ctx, packet, |output| output != input);
        }
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn packets_do_not_come_back() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> h :: Hub -> a :: Counter -> Discard; \
             Idle -> [1] h [1] -> b :: Counter -> Discard; Idle -> [2] h [2] -> Discard; \
             InfiniteSource(LIMIT 1) -> Hub -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("0".into(), "3".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
