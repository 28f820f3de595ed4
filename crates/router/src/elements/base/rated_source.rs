//! Generates packets at a rate.
//!
//! # What it does
//! A bucket of tokens fills at the rate, so the average holds however late the task runs. At a push
//! output a task makes what the bucket allows; at a pull output packets are given as they are asked
//! for.
//!
//! # Example
//! ```click
//! // 1000 packets a second of 60 bytes for ten seconds, and then the end.
//! RatedSource(LENGTH 60, RATE 1000, LIMIT 10000, STOP true) -> Queue -> ToDevice(eth0)
//! ```

use crate::args::kinds::{INT, UINT};
use crate::args::numbers::{parse_bool, parse_int};
use crate::args::packet_length::{MOST, within_most};
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use trammel_packet::batch::{CAPACITY, Packets};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("RatedSource", "generates packets at a rate", || {
    Box::<RatedSource>::default()
})
.ports("0/1", "a/a")
.params(&[
    positional(
        "DATA",
        Kind::Data,
        "\"Trammel: sixty-nine bytes that mean nothing at all but fill the wire.\"",
        "the bytes of each packet",
    ),
    positional("RATE", UINT, "10", "packets a second"),
    positional("LIMIT", INT, "-1", "packets in all; -1 is no limit"),
    positional("ACTIVE", Kind::Bool, "true", "whether it makes packets"),
    keyword(
        "LENGTH",
        INT,
        "",
        "bytes of each packet: `DATA` is cut or repeated",
    ),
    keyword("DATASIZE", INT, "", "as `LENGTH`"),
    flag(
        "STOP",
        "false",
        "whether it stops the driver after the last packet",
    ),
    keyword(
        "BANDWIDTH",
        Kind::Bandwidth,
        "0",
        "bytes a second, in place of `RATE`",
    ),
])
.ops("copy(length); work(85)");

#[derive(Debug, Default)]
struct RatedSource {
    data: Vec<u8>,
    /// Where the length was given, `data` is what is repeated.
    length: Option<usize>,
    packet: Vec<u8>,
    rate: u64,
    burst: u64,
    limit: i64,
    count: i64,
    active: bool,
    stops: bool,
    /// Packets that may go, in billionths.
    tokens: u64,
    /// When tokens were added last; before the first time there has been all the time for a full
    /// bucket.
    filled: Option<Timestamp>,
    task: Option<TaskId>,
    timer: Option<TimerId>,
    pushes: bool,
}

/// A packet in units of `tokens`.
const PACKET: u64 = 1_000_000_000;

fn burst_of(rate: u64) -> u64 {
    if rate < 200 { 2 } else { rate / 100 }
}

impl RatedSource {
    fn make_packet(&mut self) {
        self.packet = match self.length {
            None => self.data.clone(),
            Some(_) if self.data.is_empty() => Vec::new(),
            Some(length) => self.data.iter().copied().cycle().take(length).collect(),
        };
    }

    fn is_over(&self, ctx: &mut Ctx) -> bool {
        let is_over = self.limit >= 0 && self.count >= self.limit;
        if is_over && self.stops {
            ctx.stop();
        }
        is_over
    }

    /// Makes up to `max` packets, as far as tokens and limit allow.
    fn make(&mut self, ctx: &mut Ctx, max: usize, into: &mut Packets) {
        let now = ctx.now();
        let most = u128::from(self.burst) * u128::from(PACKET);
        self.tokens = match self.filled {
            Some(then) => {
                let passed = (now - then).0.max(0) as u128;
                most.min(passed * u128::from(self.rate) + u128::from(self.tokens)) as u64
            }
            None => most as u64,
        };
        self.filled = Some(now);
        let mut left = max.min(into.room());
        if self.limit >= 0 {
            left = left.min(usize::try_from(self.limit - self.count).unwrap_or(0));
        }
        while left > 0 && self.tokens >= PACKET {
            let Some(packet) = ctx.pool().alloc_with(&self.packet) else {
                return;
            };
            ctx.pool()[&packet].set_timestamp(now);
            into.push(packet);
            self.tokens -= PACKET;
            self.count += 1;
            left -= 1;
        }
    }

    /// Sets the timer to when the next packet is due.
    fn wait(&self, ctx: &mut Ctx, timer: TimerId) {
        if self.rate > 0 && ctx.timer_at(timer).is_none() {
            let wait = (PACKET - self.tokens.min(PACKET)).div_ceil(self.rate);
            ctx.set_timer_after(timer, Timestamp(wait as i64));
        }
    }

    fn restart(&mut self, ctx: &mut Ctx) {
        self.tokens = PACKET;
        if let Some(task) = self.task.filter(|_| self.active) {
            ctx.schedule(task);
        }
    }
}

impl Element for RatedSource {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.data = args.data("DATA").to_vec();
        let length = args.opt_int("LENGTH").or(args.opt_int("DATASIZE"));
        self.length = match length.and_then(|length| u64::try_from(length).ok()) {
            Some(length) => Some(within_most("LENGTH", length)?),
            None => None,
        };
        self.make_packet();
        self.rate = args.uint("RATE");
        self.burst = burst_of(self.rate);
        let bandwidth = args.bandwidth("BANDWIDTH");
        if bandwidth > 0 {
            self.rate = bandwidth / self.packet.len().max(1) as u64;
            self.burst = burst_of(self.rate);
            if let Some(length) = self.length {
                self.burst = self.burst.max(2 * length as u64);
            }
        }
        self.limit = args.int("LIMIT");
        self.active = args.bool("ACTIVE");
        self.stops = args.bool("STOP");
        self.pushes = setup.outputs[0] == Mode::Push;
        self.tokens = PACKET;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.timer = Some(ctx.new_timer(0));
        if self.pushes {
            let task = ctx.new_task(0);
            ctx.schedule(task);
            self.task = Some(task);
        }
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if let Some(task) = self.task {
            ctx.schedule(task);
        }
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        if !self.active || self.is_over(ctx) {
            return false;
        }
        let mut batch = ctx.batch();
        self.make(ctx, CAPACITY, &mut batch);
        let made = batch.len();
        ctx.emit_all(0, batch);
        match (self.task, self.timer) {
            (Some(task), _) if made > 0 => ctx.schedule(task),
            (_, Some(timer)) => self.wait(ctx, timer),
            _ => {}
        }
        made > 0
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        if self.active && !self.is_over(ctx) {
            let before = into.len();
            self.make(ctx, max, into);
            // Who pulls is not told; virtual time passes to when there is a packet.
            if let Some(timer) = self.timer.filter(|_| into.len() == before) {
                self.wait(ctx, timer);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("data", "rw%."),
            Handler::new("rate", "rw"),
            Handler::new("limit", "rw."),
            Handler::new("active", "rwc"),
            Handler::new("count", "r"),
            Handler::new("reset", "wb"),
            Handler::new("length", "rw"),
            Handler::new("datasize", "rwD"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "data" => String::from_utf8_lossy(&self.data).into_owned(),
            "rate" => self.rate.to_string(),
            "limit" => self.limit.max(-1).to_string(),
            "active" => self.active.to_string(),
            "count" => self.count.to_string(),
            _ => self
                .length
                .map_or("-1".to_owned(), |length| length.to_string()),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let wrong = || "syntax error".to_owned();
        let number =
            |least: i64| parse_int(value.trim(), least, i64::from(i32::MAX)).map_err(|_| wrong());
        match name {
            "data" => {
                (self.data, self.length) = (value.as_bytes().to_vec(), None);
                self.make_packet();
            }
            "rate" => {
                self.rate = number(0)?.unsigned_abs();
                self.burst = burst_of(self.rate);
                if let Some(task) = self.task.filter(|_| self.active) {
                    ctx.schedule(task);
                }
            }
            "limit" => self.limit = number(i64::from(i32::MIN))?,
            "active" => {
                self.active = parse_bool(value.trim()).map_err(|_| wrong())?;
                self.restart(ctx);
            }
            "reset" => {
                self.count = 0;
                self.restart(ctx);
            }
            _ => {
                let length = number(i64::from(i32::MIN))?;
                if length > MOST as i64 {
                    return Err(format!("out of range, bound {MOST}"));
                }
                self.length = usize::try_from(length).ok();
                self.make_packet();
            }
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.packet.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_rate_is_kept() {
        let mut run = loaded("RatedSource(RATE 1000) -> c :: Counter -> Discard");
        run.run(2.0);
        let count: i64 = run.read("c.count").parse().expect("a number");
        // With those that a full bucket had.
        assert!((2009..=2012).contains(&count), "{count}");
        // Who pulls never sleeps, and a pull takes nanoseconds. A reset leaves one in the bucket.
        let mut run =
            loaded("s :: RatedSource(RATE 10000000) -> PullNull -> c :: Counter -> Discard");
        run.run(1e-6);
        run.write("s.reset", "").expect("it can be reset");
        run.write("c.reset", "").expect("it can be reset");
        run.run(1e-5);
        let count: i64 = run.read("c.count").parse().expect("a number");
        assert!((95..=110).contains(&count), "{count}");
    }

    #[test]
    fn it_begins_with_a_full_bucket() {
        for (rate, burst) in [(1, "2"), (199, "2"), (1000, "10")] {
            let text = format!("RatedSource(RATE {rate}) -> c :: Counter -> Discard");
            let mut run = loaded(&text);
            run.run(1e-4);
            assert_eq!(run.read("c.count"), burst, "{rate}");
        }
    }

    #[test]
    fn who_pulls_gets_the_rate_in_virtual_time() {
        let mut run = loaded("RatedSource(RATE 50) -> Unqueue -> c :: Counter -> Discard");
        run.run(2.0);
        let count: i64 = run.read("c.count").parse().expect("a number");
        assert!((99..=102).contains(&count), "{count}");
    }

    #[test]
    fn a_bandwidth_is_a_rate_and_the_limit_stops() {
        let mut run = loaded(
            "s :: RatedSource(LENGTH 100, BANDWIDTH 10000, LIMIT 20, STOP true) -> c :: Counter \
             -> Discard",
        );
        assert_eq!(run.run(10.0), crate::engine::driver::Progress::Stopped);
        assert_eq!(
            (run.read("s.rate"), run.read("c.byte_count")),
            ("100".into(), "2000".into())
        );
    }

    #[test]
    fn no_packet_is_longer_than_ip_has_them() {
        let said = crate::load::testing::errors("RatedSource(LENGTH 65536) -> Discard");
        assert!(said.contains("LENGTH: out of range, bound 65535"), "{said}");
        let mut run = loaded("s :: RatedSource(LENGTH 65535) -> Discard");
        assert!(run.write("s.length", "65536").is_err());
    }
}
