//! Pulls and ends a packet at each interval.
//!
//! # What it does
//! Intervals follow one another without drift.
//!
//! # Example
//! ```click
//! // Ten packets a second are taken from the queue.
//! RatedSource(RATE 100) -> Queue(10) -> TimedSink(0.1)
//! ```

use crate::args::times::{parse_timestamp, unparse_interval};
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("TimedSink", "ends packets at intervals", || {
    Box::<TimedSink>::default()
})
.ports("1/0", "l/l")
.params(&[positional(
    "INTERVAL",
    Kind::Timestamp,
    "0.5",
    "the time between packets",
)])
.ops("work(120)");

#[derive(Debug, Default)]
struct TimedSink {
    interval: Timestamp,
    timer: Option<TimerId>,
}

impl Element for TimedSink {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.interval = args.timestamp("INTERVAL");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let timer = ctx.new_timer(0);
        ctx.set_timer_after(timer, self.interval);
        self.timer = Some(timer);
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if let Some(packet) = ctx.pull_one(0) {
            ctx.drop(packet, Reason::Discarded);
        }
        if let Some(timer) = self.timer {
            ctx.set_timer_again(timer, self.interval);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("interval", "rw.")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(unparse_interval(self.interval))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let interval = parse_timestamp(value.trim()).ok();
        let interval = interval.filter(|time| time.0 > 0);
        self.interval = interval.ok_or("bad interval")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn one_packet_an_interval_is_pulled() {
        let mut run = loaded("InfiniteSource -> c :: Counter -> TimedSink(0.1)");
        run.run(1.05);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("10".into(), 0)
        );
    }
}
