//! Generates packets of random bytes as fast as it may.
//!
//! # What it does
//! Each packet has the time it was made at. It waits while a queue behind it is full.
//!
//! # Handlers
//! - `count`: packets made
//! - `length`, `limit`, `burst`, `active`: as the arguments
//! - `reset`: counts anew, and makes `LIMIT` packets again
//!
//! # Example
//! ```click
//! RandomSource(64, LIMIT 1000, STOP true) -> UDPIPEncap(10.0.0.1, 1, 10.0.0.2, 2) -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::{parse_bool, parse_int};
use crate::args::{Args, Kind, Param, flag, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use trammel_packet::batch::{CAPACITY, Packets};

/// The class.
pub static ENTRY: Entry = Entry::new("RandomSource", "generates packets of random bytes", || {
    Box::<RandomSource>::default()
})
.ports("0/1", "a/a")
.params(&[
    mandatory("LENGTH", Kind::UInt { max: MOST }, "bytes of each packet"),
    number("LIMIT", "-1", "packets in all; below 0 is no limit"),
    number("BURST", "1", "packets of a turn"),
    positional("ACTIVE", Kind::Bool, "true", "whether it makes packets"),
    flag(
        "STOP",
        "false",
        "whether it stops the driver after the last packet",
    ),
    flag("TIMESTAMP", "true", "whether packets carry the time"),
])
.ops("copy(length); work(500)");

/// The longest packet.
const MOST: u64 = 65_535;

const fn number(name: &'static str, default: &'static str, help: &'static str) -> Param {
    positional(name, INT, default, help)
}

#[derive(Debug, Default)]
struct RandomSource {
    length: usize,
    limit: i64,
    burst: usize,
    count: i64,
    active: bool,
    stops: bool,
    stamps: bool,
    pushes: bool,
    turn: Option<(TaskId, Signal)>,
}

impl RandomSource {
    fn left(&self) -> usize {
        match self.limit {
            limit if limit < 0 => usize::MAX,
            limit => usize::try_from(limit - self.count).unwrap_or(0),
        }
    }

    fn make(&mut self, ctx: &mut Ctx, count: usize, into: &mut Packets) {
        let now = ctx.now();
        for _ in 0..count.min(into.room()) {
            let mut bytes = Vec::with_capacity(self.length + 8);
            while bytes.len() < self.length {
                bytes.extend(ctx.rng().below(u64::MAX).to_le_bytes());
            }
            let Some(packet) = ctx.pool().alloc_with(&bytes[..self.length]) else {
                break;
            };
            if self.stamps {
                ctx.pool()[&packet].set_timestamp(now);
            }
            into.push(packet);
            self.count += 1;
        }
    }

    fn wake(&self, ctx: &mut Ctx) {
        if let Some((task, _)) = &self.turn
            && self.active
        {
            ctx.schedule(*task);
        }
    }
}

impl Element for RandomSource {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.length = args.uint("LENGTH") as usize;
        self.limit = args.int("LIMIT");
        self.burst = args.int("BURST").max(1) as usize;
        self.active = args.bool("ACTIVE");
        self.stops = args.bool("STOP");
        self.stamps = args.bool("TIMESTAMP");
        self.pushes = setup.outputs[0] == Mode::Push;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if self.pushes {
            let task = ctx.new_task(0);
            let room = ctx.downstream_signal(0, Some(task));
            self.turn = Some((task, room));
            self.wake(ctx);
        }
        Ok(())
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let Some((task, room)) = &self.turn else {
            return false;
        };
        let task = *task;
        if !self.active || !ctx.is_active(room) {
            return false;
        }
        if self.left() == 0 {
            if self.stops {
                ctx.stop();
            }
            return false;
        }
        let mut wanted = self.burst.min(self.left()).min(ctx.most_burst());
        let before = self.count;
        while wanted > 0 {
            let mut batch = ctx.batch();
            self.make(ctx, wanted.min(CAPACITY), &mut batch);
            let made = batch.len();
            ctx.emit_all(0, batch);
            if made == 0 {
                break;
            }
            wanted -= made;
        }
        ctx.schedule(task);
        self.count > before
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        if !self.active {
            return;
        }
        if self.left() == 0 {
            if self.stops {
                ctx.stop();
            }
            return;
        }
        self.make(ctx, max.min(self.left()), into);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("count", "r"),
            Handler::new("length", "rw."),
            Handler::new("limit", "rw."),
            Handler::new("burst", "rw."),
            Handler::new("active", "rwc"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "count" => self.count.to_string(),
            "length" => self.length.to_string(),
            "limit" => self.limit.to_string(),
            "burst" => self.burst.to_string(),
            _ => self.active.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let number = |most| parse_int(value, -1, most).map_err(|why| why.to_string());
        match name {
            "length" => self.length = number(MOST as i64)?.max(0) as usize,
            "limit" => self.limit = number(i64::from(i32::MAX))?,
            "burst" => self.burst = number(i64::from(i32::MAX))?.max(1) as usize,
            "active" => self.active = parse_bool(value).map_err(|why| why.to_string())?,
            _ => self.count = 0,
        }
        self.wake(ctx);
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.length as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::driver::Progress;
    use crate::load::testing::loaded;

    #[test]
    fn packets_differ_and_the_driver_stops_after_the_last() {
        for way in ["", "-> Unqueue"] {
            let mut run = loaded(&format!(
                "s :: RandomSource(20, LIMIT 40, BURST 7, STOP true) -> c :: Counter {way} \
                 -> Print(MAXLENGTH 20, TIMESTAMP false) -> Discard"
            ));
            assert_eq!(run.run(1.0), Progress::Stopped);
            assert_eq!(
                (run.read("c.count"), run.read("c.byte_count")),
                ("40".into(), "800".into())
            );
            let said = run.host.memory().said.clone();
            let lines: std::collections::BTreeSet<&str> = said.lines().collect();
            assert_eq!(lines.len(), 40);
        }
    }
}
