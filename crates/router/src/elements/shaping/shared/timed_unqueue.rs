//! Pulling some packets an interval and pushing them.

use crate::args::kinds::INT;
use crate::args::{Args, Kind, Param, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::CAPACITY;
use trammel_packet::timestamp::Timestamp;

/// The arguments, with a burst of so many packets unless told otherwise.
pub(crate) const fn params(burst: &'static str) -> [Param; 2] {
    [
        mandatory(
            "INTERVAL",
            Kind::SecondsIn(3),
            "time between turns, to the millisecond",
        ),
        positional("BURST", INT, burst, "the most packets of a turn"),
    ]
}

/// Pulls up to a burst of packets an interval.
#[derive(Debug, Default)]
pub(crate) struct TimedUnqueue {
    interval: Timestamp,
    burst: usize,
    /// What is left of a burst that is too long for one turn.
    left: usize,
    driver: Option<(TaskId, TimerId, Signal)>,
    /// Whether the timer was ever set and not given up since: turns keep their distance then.
    is_steady: bool,
}

impl TimedUnqueue {
    /// One, as a class makes it.
    pub(crate) fn element() -> Box<dyn Element> {
        Box::<TimedUnqueue>::default()
    }
}

impl Element for TimedUnqueue {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let burst = usize::try_from(args.int("BURST")).ok();
        let Some(burst) = burst.filter(|burst| *burst > 0) else {
            return Err(Diagnostics::of("bad BURST"));
        };
        self.burst = burst;
        self.interval = Timestamp(args.uint("INTERVAL") as i64 * 1_000_000);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let task = ctx.new_task(0);
        ctx.schedule(task);
        let timer = ctx.new_timer(0);
        self.driver = Some((task, timer, ctx.upstream_signal(0, Some(task))));
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if let Some((task, ..)) = &self.driver {
            ctx.schedule(*task);
        }
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let Some((task, timer, signal)) = &self.driver else {
            return false;
        };
        // A packet came upstream, but it is not yet time.
        if ctx.timer_at(*timer).is_some() {
            return false;
        }
        if self.left == 0 {
            self.left = self.burst;
        }
        let (mut done, most) = (0, self.left.min(ctx.most_burst()));
        let mut is_dry = false;
        while done < most && !is_dry {
            let wanted = (most - done).min(CAPACITY);
            let mut batch = ctx.batch();
            let count = ctx.pull(0, wanted, &mut batch);
            ctx.emit_all(0, batch);
            done += count;
            is_dry = count < wanted;
        }
        self.left = if is_dry { 0 } else { self.left - done };
        if self.left > 0 {
            ctx.schedule(*task);
            return true;
        }
        if done == 0 && !ctx.is_active(signal) {
            self.is_steady = false;
            return false;
        }
        if self.is_steady {
            ctx.set_timer_again(*timer, self.interval);
        } else {
            ctx.set_timer_after(*timer, self.interval);
        }
        self.is_steady = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn a_burst_leaves_each_interval() {
        let mut run = loaded(
            "InfiniteSource -> TimedUnqueue(0.1, 3) -> a :: Counter -> Discard;
             InfiniteSource -> Burster(0.1) -> b :: Counter -> Discard;
             InfiniteSource -> TimedUnqueue(0.1) -> c :: Counter -> Discard;",
        );
        run.run(0.95);
        let counts = ["a.count", "b.count", "c.count"].map(|counter| run.read(counter));
        assert_eq!(counts, ["30", "80", "10"]);
    }

    #[test]
    fn an_idle_one_sleeps_and_sends_what_comes_at_once() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 2, ACTIVE false) -> NotifierQueue -> u :: TimedUnqueue(1)
             -> c :: Counter -> Discard;",
        );
        run.run(5.0);
        run.write("i.active", "true").expect("a truth");
        run.run(0.5);
        assert_eq!(run.read("c.count"), "1");
        run.run(1.0);
        assert_eq!(run.read("c.count"), "2");
    }

    #[test]
    fn a_burst_is_positive() {
        let text = errors("InfiniteSource -> TimedUnqueue(1, 0) -> Discard");
        assert!(text.contains("bad BURST"), "{text}");
    }
}
