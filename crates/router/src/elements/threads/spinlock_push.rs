//! Stands where a lock is held while packets go on.
//!
//! # What it does
//! Packets pass as they are. Nothing is locked here: elements that packets can reach from one
//! another without a queue run on one thread.
//!
//! # Example
//! ```click
//! SpinlockInfo(lock); FromDevice(eth0) -> SpinlockPush(lock) -> Counter -> Discard
//! ```

use crate::args::{Kind, positional};
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::{Batch, Packets};

/// The class.
pub static ENTRY: Entry = Entry::new("SpinlockPush", "passes packets unchanged", || {
    Box::<SpinlockPush>::default()
})
.aliases(&["PathSpinlock"])
.ports("-/=", "a/a")
.flow("#/#")
.params(&[positional("LOCK", Kind::Word, "", "the lock's name")])
.ops("work(0)");

#[derive(Debug, Default)]
struct SpinlockPush;

impl Element for SpinlockPush {
    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        ctx.emit_all(port, batch);
    }

    fn pull(&mut self, ctx: &mut Ctx, port: usize, max: usize, into: &mut Packets) {
        ctx.pull(port, max, into);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn each_input_leads_to_its_output() {
        let mut run = loaded(
            "SpinlockInfo(l); s :: SpinlockPush(l); \
             InfiniteSource(LIMIT 3, STOP true) -> SpinlockAcquire(l) -> SpinlockRelease(l) \
             -> [1] s; \
             Idle -> s -> Discard; s[1] -> c :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(run.read("c.count"), "3");
    }
}
