//! Pulls packets, holds each until its time, and pushes it.
//!
//! # What it does
//! A packet with timestamp T, which is the time of its pull where it has none, leaves at T +
//! `DELAY` and has that timestamp then. Packets leave in their order: one waits at a time, the
//! others stay upstream.
//!
//! # Example
//! ```click
//! // Each packet leaves 20 ms after its time stamp.
//! FromDevice(eth0) -> SetTimestamp -> Queue -> DelayUnqueue(20ms) -> Discard
//! ```

use crate::args::times::{parse_timestamp, unparse_interval};
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("DelayUnqueue", "pulls, delays and pushes packets", || {
    Box::<DelayUnqueue>::default()
})
.ports("1/1", "l/h")
.params(&[mandatory(
    "DELAY",
    Kind::Timestamp,
    "time from a packet's timestamp to its leaving",
)])
.ops("work(115)");

#[derive(Debug, Default)]
struct DelayUnqueue {
    delay: Timestamp,
    held: Option<Handle>,
    driver: Option<(TaskId, TimerId, Signal)>,
}

impl Element for DelayUnqueue {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.delay = args.timestamp("DELAY");
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
        let now = ctx.now();
        let mut ready = ctx.batch();
        let mut goes_on = true;
        while ready.room() > 0 {
            let held = self.held.take();
            let is_new = held.is_none();
            let Some(packet) = held.or_else(|| ctx.pull_one(0)) else {
                goes_on = ctx.is_active(signal);
                break;
            };
            let one = &mut ctx.pool()[&packet];
            if is_new {
                delay(one, now, self.delay);
            }
            let at = one.timestamp();
            if at > now {
                self.held = Some(packet);
                ctx.set_timer(*timer, at);
                goes_on = false;
                break;
            }
            ready.push(packet);
        }
        let count = ready.len();
        ctx.emit_all(0, ready);
        if goes_on {
            ctx.schedule(*task);
        }
        count > 0
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("delay", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(unparse_interval(self.delay))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.delay = parse_timestamp(value.trim()).map_err(|_| "syntax error".to_owned())?;
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        if let Some(packet) = self.held.take() {
            ctx.pool().free(packet);
        }
    }
}

/// Moves a packet's timestamp, which is `now` where it has none, by `delay`.
fn delay(packet: &mut trammel_packet::packet::Packet, now: Timestamp, delay: Timestamp) {
    let from = match packet.timestamp() {
        unset if unset.secs() == 0 => now,
        set => set,
    };
    packet.set_timestamp(Timestamp(from.0.saturating_add(delay.0)));
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn packets_leave_after_the_delay() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3) -> SetTimestamp -> Queue -> d :: DelayUnqueue(0.1) \
             -> c :: Counter
             -> Discard;",
        );
        run.run(0.0999);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("0".into(), 3)
        );
        run.run(0.001);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("3".into(), 0)
        );
    }

    #[test]
    fn the_delay_may_change() {
        let mut run =
            loaded("InfiniteSource(LIMIT 3) -> d :: DelayUnqueue(5) -> c :: Counter -> Discard;");
        run.write("d.delay", "0.25").expect("a time");
        assert_eq!(run.read("d.delay"), "250ms");
        run.run(0.3);
        assert_eq!(run.read("c.count"), "1");
        assert!(run.write("d.delay", "soon").is_err());
    }
}
