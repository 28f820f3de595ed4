//! Lets packets be pulled a time after their timestamps.
//!
//! # What it does
//! A packet with timestamp T, which is the time of its pull where it has none, is given from T +
//! `DELAY` on, and its timestamp is the time when it leaves. One packet waits here at a time, the
//! others stay upstream. While it waits those that pull are told that there is nothing.
//!
//! # Example
//! ```click
//! // Each packet leaves 20 ms after its time stamp, and not before it is asked for.
//! FromDevice(eth0) -> SetTimestamp -> Queue -> DelayShaper(20ms) -> ToDevice(eth1)
//! ```

use crate::args::times::{parse_timestamp, unparse_interval};
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::{self, NotifierId, Provided, Signal};
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("DelayShaper", "delays packets that are pulled", || {
    Box::<DelayShaper>::default()
})
.ports("1/1", "l/l")
.params(&[mandatory(
    "DELAY",
    Kind::Timestamp,
    "time from a packet's timestamp to its leaving",
)])
.ops("work(115)");

#[derive(Debug, Default)]
struct DelayShaper {
    delay: Timestamp,
    /// A packet and when it may leave.
    held: Option<(Handle, Timestamp)>,
    notifier: Option<NotifierId>,
    upstream: Option<(TimerId, Signal)>,
}

impl DelayShaper {
    fn tell(&self, ctx: &mut Ctx, wakes: bool) {
        match self.notifier {
            Some(notifier) if wakes => ctx.wake(notifier),
            Some(notifier) => ctx.sleep(notifier),
            None => {}
        }
    }
}

impl Element for DelayShaper {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.delay = args.timestamp("DELAY");
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.notifier = Some(ctx.new_notifier("empty"));
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if let Some(notifier) = self.notifier {
            let timer = ctx.new_timer(0);
            self.upstream = Some((timer, ctx.relayed_signal(0, notifier)));
        }
        Ok(())
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        match self.notifier {
            Some(notifier) if kind == notify::Kind::Empty => Provided::ContinueWake(notifier),
            _ => Provided::None,
        }
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        self.tell(ctx, true);
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let Some((timer, signal)) = &self.upstream else {
            return;
        };
        let now = ctx.now();
        for _ in 0..max {
            let held = self.held.take().or_else(|| {
                let packet = ctx.pull_one(0)?;
                let from = match ctx.pool()[&packet].timestamp() {
                    unset if unset.secs() == 0 => now,
                    set => set,
                };
                Some((packet, Timestamp(from.0.saturating_add(self.delay.0))))
            });
            let Some((packet, at)) = held else {
                if !ctx.is_active(signal) {
                    self.tell(ctx, false);
                }
                return;
            };
            if at > now {
                self.held = Some((packet, at));
                ctx.set_timer(*timer, at);
                self.tell(ctx, false);
                return;
            }
            ctx.pool()[&packet].set_timestamp(now);
            into.push(packet);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("delay", "rw.")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(unparse_interval(self.delay))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let wrong = |_| "delay must be a timestamp".to_owned();
        self.delay = parse_timestamp(value.trim()).map_err(wrong)?;
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        if let Some((packet, _)) = self.held.take() {
            ctx.pool().free(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn packets_are_given_after_the_delay_and_the_reader_sleeps_until_then() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3) -> SetTimestamp -> q :: Queue -> d :: DelayShaper(0.1)
             -> u :: Unqueue -> c :: Counter -> Discard;",
        );
        run.run(0.09);
        assert_eq!(
            (
                run.read("c.count"),
                run.read("u.scheduled"),
                run.read("q.length")
            ),
            ("0".into(), "false".into(), "2".into())
        );
        run.run(0.02);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("3".into(), 0)
        );
    }

    #[test]
    fn who_slept_is_woken_by_what_comes_upstream() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 1) -> Queue -> DelayShaper(0.01) -> u :: Unqueue \
             -> c :: Counter
             -> Discard;",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("c.count"), run.read("u.scheduled")),
            ("1".into(), "false".into())
        );
        run.write("i.reset", "").expect("a button");
        run.run(1.0);
        assert_eq!(run.read("c.count"), "2");
    }
}
