//! Pulling at a rate and pushing: a token bucket decides when.

use super::rate_bucket::{RateBucket, Unit};
use crate::args::Args;
use crate::args::numbers::parse_bool;
use crate::args::times::unparse_bandwidth;
use crate::diagnostic::Diagnostics;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::CAPACITY;

/// What it runs by.
#[derive(Debug)]
struct Driver {
    task: TaskId,
    timer: TimerId,
    signal: Signal,
}

/// What its runs came to.
#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    empty_runs: u64,
    pushes: u64,
    failed_pulls: u64,
}

/// Pulls packets at a rate in packets or in bytes.
#[derive(Debug)]
pub(crate) struct RatedUnqueue {
    unit: Unit,
    bucket: RateBucket,
    active: bool,
    tally: Tally,
    driver: Option<Driver>,
}

impl RatedUnqueue {
    /// One that counts `unit`, as a class makes it.
    pub(crate) fn element(unit: Unit) -> Box<dyn Element> {
        Box::new(RatedUnqueue {
            unit,
            bucket: RateBucket::default(),
            active: true,
            tally: Tally::default(),
            driver: None,
        })
    }
}

/// A rate as the handlers of these elements print it.
pub(crate) fn rate_text(unit: Unit, rate: u32) -> String {
    match unit {
        Unit::Packets => rate.to_string(),
        Unit::Bytes => unparse_bandwidth(u64::from(rate)),
    }
}

impl Element for RatedUnqueue {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.bucket.configure(self.unit, args)
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let task = ctx.new_task(0);
        let signal = ctx.upstream_signal(0, Some(task));
        ctx.schedule(task);
        self.driver = Some(Driver {
            task,
            timer: ctx.new_timer(0),
            signal,
        });
        Ok(())
    }

    fn reconfigured(&mut self, ctx: &mut Ctx) {
        // A wait that was set for the old rate may be too long.
        self.run_timer(ctx, 0);
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if let Some(driver) = &self.driver {
            ctx.schedule(driver.task);
        }
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        self.tally.runs += 1;
        let Some(driver) = self.driver.as_ref().filter(|_| self.active) else {
            return false;
        };
        let now = ctx.now();
        self.bucket.refill(now);
        if self.bucket.passes(self.unit) == 0 {
            if let Some(wait) = self.bucket.wait(self.unit) {
                ctx.set_timer(driver.timer, now + wait);
            }
            self.tally.empty_runs += 1;
            return false;
        }
        let mut batch = ctx.batch();
        let mut is_dry = false;
        while !is_dry && batch.room() > 0 {
            let wanted = (self.bucket.passes(self.unit) as usize).min(CAPACITY);
            let before = batch.len();
            let count = ctx.pull(0, wanted, &mut batch);
            is_dry = count < wanted || count == 0;
            for packet in batch.iter().skip(before) {
                let bytes = ctx.pool()[packet].len();
                self.bucket.take(self.unit, bytes);
            }
        }
        let count = batch.len();
        ctx.emit_all(0, batch);
        self.tally.pushes += count as u64;
        if count == 0 {
            self.tally.failed_pulls += 1;
            if !ctx.is_active(&driver.signal) {
                return false;
            }
            self.tally.empty_runs += 1;
        }
        ctx.schedule(driver.task);
        count > 0
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("calls", "r"),
            Handler::new("rate", "rw").of_argument(0, "RATE"),
            Handler::new("active", "rwx"),
            Handler::new("config", "rw"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "calls" => format!(
                "{} calls to run_task()\n{} empty runs\n{} pushes\n{} failed pulls\n",
                self.tally.runs, self.tally.empty_runs, self.tally.pushes, self.tally.failed_pulls
            ),
            "active" => self.active.to_string(),
            _ => rate_text(self.unit, self.bucket.rate()),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.active = parse_bool(value.trim()).map_err(|_| "syntax error".to_owned())?;
        self.run_timer(ctx, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn packets_pass_at_the_rate_after_the_first_burst() {
        let mut run = loaded(
            "InfiniteSource -> Queue(100) -> u :: RatedUnqueue(50, BURST_SIZE 10) -> c :: Counter
             -> Discard;",
        );
        run.run(1.0);
        let count: u32 = run.read("c.count").parse().expect("a number");
        assert!((59..=60).contains(&count), "{count}");
        run.write("u.rate", "0").expect("a rate");
        run.write("c.reset", "").expect("a button");
        run.run(1.0);
        assert_eq!(
            (run.read("c.count"), run.read("u.rate")),
            ("0".into(), "0".into())
        );
        run.write("u.rate", "100").expect("a rate");
        run.run(1.0);
        let count: u32 = run.read("c.count").parse().expect("a number");
        assert!((99..=111).contains(&count), "{count}");
    }

    #[test]
    fn bytes_pass_at_the_rate() {
        let mut run = loaded(
            "InfiniteSource(LENGTH 1000) -> Queue(100)
             -> u :: BandwidthRatedUnqueue(100kBps, BURST_BYTES 1000) -> c :: Counter -> Discard;",
        );
        run.run(2.0);
        let bytes: u32 = run.read("c.byte_count").parse().expect("a number");
        assert!((199_000..=202_000).contains(&bytes), "{bytes}");
        assert_eq!(run.read("u.rate"), "800.4kbps");
    }

    #[test]
    fn it_sleeps_where_nothing_waits_and_while_it_is_off() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 3) -> q :: NotifierQueue -> u :: RatedUnqueue(1000)
             -> c :: Counter -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.read("u.scheduled")),
            ("3".into(), "false".into())
        );
        run.write("u.active", "false").expect("a truth");
        run.write("i.reset", "").expect("a button");
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.read("q.length")),
            ("3".into(), "3".into())
        );
        run.write("u.active", "true").expect("a truth");
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("6".into(), 0)
        );
    }

    #[test]
    fn a_burst_is_given_one_way_only() {
        let text = errors("Idle -> RatedUnqueue(1, BURST_SIZE 2, BURST_DURATION 1) -> Discard");
        let wanted = "cannot specify both BURST_DURATION and BURST_SIZE";
        assert!(text.contains(wanted), "{text}");
    }
}
