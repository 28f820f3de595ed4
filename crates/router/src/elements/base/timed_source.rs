//! Generates a packet at each interval.
//!
//! # What it does
//! Intervals follow one another without drift. After `LIMIT` packets it is silent and, with `STOP`,
//! stops the driver.
//!
//! # Example
//! ```click
//! // A packet each half second.
//! TimedSource(0.5, "hello") -> Print -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::{parse_bool, parse_int};
use crate::args::times::{parse_timestamp, unparse_interval};
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("TimedSource", "generates packets at intervals", || {
    Box::<TimedSource>::default()
})
.ports("0/1", "h/h")
.params(&[
    positional(
        "INTERVAL",
        Kind::Timestamp,
        "0.5",
        "the time between packets",
    ),
    positional(
        "DATA",
        Kind::Data,
        "\"Trammel: sixty-nine bytes that mean nothing at all but fill the wire.\"",
        "the bytes of each packet",
    ),
    keyword("LIMIT", INT, "-1", "packets in all; -1 is no limit"),
    flag("ACTIVE", "true", "whether it makes packets"),
    flag(
        "STOP",
        "false",
        "whether it stops the driver after the last packet",
    ),
    keyword(
        "HEADROOM",
        INT,
        "28",
        "accepted; the pool says how much room packets have",
    ),
])
.ops("copy(length); work(170)");

#[derive(Debug, Default)]
struct TimedSource {
    interval: Timestamp,
    data: Vec<u8>,
    limit: i64,
    count: i64,
    active: bool,
    stops: bool,
    headroom: i64,
    timer: Option<TimerId>,
}

impl TimedSource {
    fn wake(&self, ctx: &mut Ctx) {
        if let Some(timer) = self.timer
            && self.active
            && ctx.timer_at(timer).is_none()
        {
            let now = ctx.now();
            ctx.set_timer(timer, now);
        }
    }
}

impl Element for TimedSource {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.interval = args.timestamp("INTERVAL");
        self.data = args.data("DATA").to_vec();
        self.limit = args.int("LIMIT");
        self.active = args.bool("ACTIVE");
        self.stops = args.bool("STOP");
        self.headroom = args.int("HEADROOM");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let timer = ctx.new_timer(0);
        if self.active {
            ctx.set_timer_after(timer, self.interval);
        }
        self.timer = Some(timer);
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if !self.active {
            return;
        }
        if self.limit >= 0 && self.count >= self.limit {
            if self.stops {
                ctx.stop();
            }
            return;
        }
        let now = ctx.now();
        if let Some(packet) = ctx.pool().alloc_with(&self.data) {
            ctx.pool()[&packet].set_timestamp(now);
            ctx.emit(0, packet);
        }
        self.count += 1;
        if let Some(timer) = self.timer {
            ctx.set_timer_again(timer, self.interval);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("data", "rw%."),
            Handler::new("limit", "rw."),
            Handler::new("interval", "rw."),
            Handler::new("active", "rwc."),
            Handler::new("count", "r"),
            Handler::new("headroom", "rw."),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "data" => String::from_utf8_lossy(&self.data).into_owned(),
            "limit" => self.limit.to_string(),
            "interval" => unparse_interval(self.interval),
            "active" => self.active.to_string(),
            "count" => self.count.to_string(),
            _ => self.headroom.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let number = || parse_int(value.trim(), i64::from(i32::MIN), i64::from(i32::MAX));
        match name {
            "data" => self.data = value.as_bytes().to_vec(),
            "limit" => self.limit = number().map_err(|_| "syntax error")?,
            "headroom" => self.headroom = number().map_err(|_| "bad headroom")?,
            "interval" => {
                let interval = parse_timestamp(value.trim()).ok();
                let interval = interval.filter(|time| time.0 > 0);
                self.interval = interval.ok_or("bad interval")?;
            }
            "active" => {
                self.active = parse_bool(value.trim()).map_err(|_| "bad active")?;
                self.wake(ctx);
            }
            _ => {
                self.count = 0;
                self.wake(ctx);
            }
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.data.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn packets_come_at_intervals_and_the_driver_stops() {
        let mut run =
            loaded("s :: TimedSource(0.2, abc, LIMIT 4, STOP true) -> c :: Counter -> Discard");
        run.run(0.5);
        assert_eq!(
            (run.read("c.count"), run.read("s.interval")),
            ("2".into(), "200ms".into())
        );
        assert_eq!(run.run(5.0), crate::engine::driver::Progress::Stopped);
        assert_eq!(run.read("c.byte_count"), "12");
        assert_eq!(run.write("s.interval", "0"), Err("bad interval".into()));
    }
}
