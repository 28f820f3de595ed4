//! Gathers packets until there are some, or some time has passed.
//!
//! # What it does
//! Holds packets back until `BURST` of them wait or the first has waited for `TIMER` milliseconds,
//! and then sends them together: those behind it work on whole batches, at the price of that delay.
//!
//! # Example
//! ```click
//! // Batches of 32, or what comes within a millisecond.
//! FromDevice(eth0) -> MinBatch(32, 1) -> Strip(14) -> CheckIPHeader -> Discard
//! ```

use crate::args::kinds::UINT;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Batch;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("MinBatch", "gathers packets into batches", || {
    Box::<MinBatch>::default()
})
.references(&["Barbette et al. 2015, Fast userspace packet processing"])
.ports("1/1", "h/h")
.params(&[
    positional("BURST", UINT, "32", "packets that are sent together"),
    positional(
        "TIMER",
        UINT,
        "0",
        "milliseconds that a packet may wait; 0: until the next look at the time",
    ),
])
.ops("work(20 * calls)");

/// The most packets that are held back.
const MOST: u64 = 65_536;

#[derive(Debug, Default)]
struct MinBatch {
    burst: usize,
    after: Timestamp,
    waiting: Vec<Batch>,
    count: usize,
    timer: Option<TimerId>,
}

impl MinBatch {
    fn send(&mut self, ctx: &mut Ctx) {
        self.count = 0;
        for batch in self.waiting.drain(..) {
            ctx.emit_all(0, batch);
        }
        if let Some(timer) = self.timer {
            ctx.unset_timer(timer);
        }
    }
}

impl Element for MinBatch {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        if args.uint("BURST") > MOST {
            return Err(Diagnostics::of("BURST out of range, bound 65536"));
        }
        self.burst = args.uint("BURST") as usize;
        self.after = Timestamp(args.uint("TIMER") as i64 * 1_000_000);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.timer = Some(ctx.new_timer(0));
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        if self.waiting.is_empty()
            && let Some(timer) = self.timer
        {
            ctx.set_timer_after(timer, self.after);
        }
        self.count += batch.len();
        // Batches are filled up, so that few packets a call do not become few packets a batch.
        if let Some(last) = self.waiting.last_mut() {
            while !last.is_full()
                && let Some(packet) = batch.pop()
            {
                last.push(packet);
            }
        }
        if batch.is_empty() {
            ctx.recycle(batch);
        } else {
            self.waiting.push(batch);
        }
        if self.count >= self.burst {
            self.send(ctx);
        }
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        self.send(ctx);
    }

    fn stored(&self) -> Option<usize> {
        Some(self.count)
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        for mut batch in self.waiting.drain(..) {
            ctx.drop_all(&mut batch, Reason::Discarded);
            ctx.recycle(batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn packets_wait_for_others_or_for_the_time() {
        let mut run =
            loaded("TimedSource(0.001) -> x :: MinBatch(4, 1000) -> c :: Counter -> Discard");
        run.run(0.0105);
        let count: u64 = run.read("c.count").parse().expect("a number");
        assert_eq!(count % 4, 0);
        assert!(count >= 8, "{count}");
        let mut run =
            loaded("TimedSource(1, LIMIT 1) -> MinBatch(4, 3) -> c :: Counter -> Discard");
        run.run(1.002);
        assert_eq!(run.read("c.count"), "0");
        run.run(0.01);
        assert_eq!(run.read("c.count"), "1");
    }

    #[test]
    fn packets_keep_their_order_and_none_is_left() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 10, BURST 3) -> MinBatch(64, 100000) -> c :: Counter -> Discard",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("0".into(), 10)
        );
        run.ctx.cleanup();
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
