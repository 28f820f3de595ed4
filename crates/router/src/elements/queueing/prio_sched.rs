//! Pulls from the first input that has a packet.
//!
//! # What it does
//! Input 0 goes first: others are asked only while those before them have nothing. Inputs whose
//! upstream says that it is empty are passed over.
//!
//! # Example
//! ```click
//! // The second queue is asked only while the first is empty.
//! FromDevice(eth0) -> Queue -> [0] s :: PrioSched; FromDevice(eth1) -> Queue -> [1] s;
//! s -> Unqueue -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "PrioSched",
    "pulls from the first input that has a packet",
    || Box::<PrioSched>::default(),
)
.aliases(&["SimplePrioSched"])
.ports("-/1", "l/l")
.ops("work(40 * calls)");

#[derive(Debug, Default)]
struct PrioSched {
    signals: Vec<Signal>,
}

impl Element for PrioSched {
    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.signals = (0..ctx.inputs())
            .map(|input| ctx.upstream_signal(input, None))
            .collect();
        Ok(())
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let mut left = max;
        for (input, signal) in self.signals.iter().enumerate() {
            if left > 0 && ctx.is_active(signal) {
                left -= ctx.pull(input, left, into);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_first_input_goes_first_and_an_idle_one_lets_the_reader_sleep() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 5, ACTIVE false) -> Queue -> p :: PrioSched
             -> u :: Unqueue -> c :: Counter -> Discard; Idle -> [1] p;",
        );
        run.run(0.1);
        assert_eq!(run.read("u.scheduled"), "false");
        run.write("i.active", "true").unwrap();
        run.run(0.1);
        assert_eq!(run.read("c.count"), "5");
    }
}
