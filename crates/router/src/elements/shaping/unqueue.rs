//! Pulls packets and pushes them.
//!
//! # What it does
//! Pulls up to `BURST` packets a turn from its input as fast as it can, sleeps while everything
//! upstream says that it is empty, and pushes what it pulled.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Queue -> Unqueue(32) -> Counter -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::{parse_bool, parse_int};
use crate::args::{Args, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::CAPACITY;

/// The class.
pub static ENTRY: Entry = Entry::new("Unqueue", "pulls packets and pushes them", || {
    Box::<Unqueue>::default()
})
.aliases(&["Unqueue2"])
.ports("1/1", "l/h")
.params(&[
    positional(
        "BURST",
        INT,
        "1",
        "the most packets of a turn; below 0 is no limit",
    ),
    flag("ACTIVE", "true", "whether it pulls"),
    keyword("LIMIT", INT, "-1", "packets in all; below 0 is no limit"),
])
.ops("work(60 * calls)");

/// Packets of one turn where the burst has no limit: what waits for delivery stays bounded.
const LONGEST_TURN: usize = 32 * CAPACITY;

#[derive(Debug, Default)]
struct Unqueue {
    burst: i64,
    limit: i64,
    count: u64,
    active: bool,
    input: Option<(TaskId, Signal)>,
}

impl Unqueue {
    fn left(&self) -> u64 {
        match u64::try_from(self.limit) {
            Ok(limit) => limit.saturating_sub(self.count),
            Err(_) => u64::MAX,
        }
    }

    fn set_burst(&mut self, burst: i64) {
        self.burst = if burst < 0 {
            i64::from(i32::MAX)
        } else {
            burst
        };
    }
}

impl Element for Unqueue {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.set_burst(args.int("BURST"));
        self.active = args.bool("ACTIVE");
        self.limit = args.int("LIMIT");
        if self.burst == 0 {
            let text = "BURST size 0, no packets will be pulled";
            setup.warnings.push(text.to_owned());
        }
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let task = ctx.new_task(0);
        let signal = ctx.upstream_signal(0, Some(task));
        if self.active {
            ctx.schedule(task);
        }
        self.input = Some((task, signal));
        Ok(())
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let Some((task, signal)) = &self.input else {
            return false;
        };
        let left = self.left();
        if !self.active || left == 0 {
            return false;
        }
        let burst = usize::try_from(left.min(self.burst as u64)).unwrap_or(usize::MAX);
        let (burst, mut done) = (burst.min(LONGEST_TURN), 0);
        while done < burst {
            let wanted = (burst - done).min(CAPACITY);
            let mut batch = ctx.batch();
            let count = ctx.pull(0, wanted, &mut batch);
            ctx.emit_all(0, batch);
            done += count;
            if count < wanted {
                break;
            }
        }
        self.count += done as u64;
        if done == burst || ctx.is_active(signal) {
            ctx.schedule(*task);
        }
        done > 0
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("active", "rwx"),
            Handler::new("count", "r"),
            Handler::new("burst", "rw"),
            Handler::new("limit", "rw"),
            Handler::new("reset", "wb"),
            Handler::new("reset_counts", "wbU"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "active" => self.active.to_string(),
            "count" => self.count.to_string(),
            "burst" => self.burst.to_string(),
            _ => self.limit.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let number = || {
            parse_int(value, i64::from(i32::MIN), i64::from(i32::MAX))
                .map_err(|_| "syntax error".to_owned())
        };
        match name {
            "active" => self.active = parse_bool(value).map_err(|_| "syntax error".to_owned())?,
            "burst" => self.set_burst(number()?),
            "limit" => self.limit = number()?,
            _ => self.count = 0,
        }
        if let Some((task, _)) = &self.input
            && self.active
            && self.left() > 0
        {
            ctx.schedule(*task);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn stops_at_its_limit_until_it_is_reset() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 100, BURST 100) -> q :: Queue -> u :: Unqueue(50, LIMIT 40)
             -> c :: Counter -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("u.count"), run.read("c.count")),
            ("40".into(), "40".into())
        );
        run.write("u.reset", "").unwrap();
        run.run(0.1);
        assert_eq!(
            (run.read("u.count"), run.read("q.length")),
            ("40".into(), "20".into())
        );
        run.write("u.limit", "-1").unwrap();
        run.write("u.active", "true").unwrap();
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("100".into(), 0)
        );
    }

    #[test]
    fn an_endless_burst_takes_what_there_is_and_lets_others_run() {
        let mut run = loaded(
            "InfiniteSource(ACTIVE true, LIMIT 3000) -> u :: Unqueue(-1) -> c :: Counter \
             -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.read("u.burst")),
            ("3000".into(), "2147483647".into())
        );
    }
}
