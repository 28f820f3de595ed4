//! Emulates a serial link: pulls packets, holds them while they are on the line, and pushes them.
//!
//! # What it does
//! A packet is sent when the one before it is: its bits, those of the annotation EXTRA_LENGTH
//! included, take their time at `BANDWIDTH`, and `LATENCY` after its last bit was sent it leaves,
//! with that time as its timestamp. It pulls only when the line is free to send, so that a queue
//! upstream fills as a link's would.
//!
//! With `TIMED`, which Click does not have, each packet is taken to have been there at its
//! timestamp: its first bit is sent then, or when the line is free, and times of sending are in
//! nanoseconds. So a router that is woken late by less than the latency delays nothing, and a line
//! that was idle is not taken for a busy one. Without it, and in Click, a packet that comes to an
//! idle line before the queue was found empty is sent from the end of the one before it, too early.
//!
//! # Handlers
//! - `size`: packets on the link
//! - `to_latency`: the latency from now on; what is on the link keeps its own, and nothing that
//!   comes later overtakes it. With `TIMED` only; `latency` clears the link, as in Click
//! - `to_bandwidth`: the same of the bandwidth; at 0 nothing is sent
//!
//! # Example
//! ```click
//! // A link of 10 Mbit/s and 20 ms.
//! FromDevice(eth0) -> Queue(100) -> LinkUnqueue(20ms, 10Mbps) -> Discard
//! ```

use crate::args::times::{parse_bandwidth, parse_timestamp, unparse_interval};
use crate::args::{Args, Kind, flag, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use std::collections::VecDeque;
use trammel_packet::anno;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("LinkUnqueue", "emulates a link", || {
    Box::<LinkUnqueue>::default()
})
.ports("1/1", "l/h")
.params(&[
    mandatory(
        "LATENCY",
        Kind::Timestamp,
        "time from the last bit's sending to its arrival",
    ),
    mandatory(
        "BANDWIDTH",
        Kind::Bandwidth,
        "rate at which bits are sent; counts in steps of 100 bytes a second",
    ),
    flag(
        "TIMED",
        "false",
        "whether packets were there at their timestamps",
    ),
])
.ops("work(230)");

/// Bandwidths count in steps of so many bytes a second.
const STEP: u64 = 100;
/// Packets of one turn: what waits for delivery stays bounded.
const LONGEST_TURN: usize = 1024;

#[derive(Debug, Default)]
struct LinkUnqueue {
    latency: Timestamp,
    /// In steps.
    bandwidth: u64,
    /// Packets on the line, and when they arrive.
    line: VecDeque<(Handle, Timestamp)>,
    /// Whether packets were there at their timestamps.
    is_timed: bool,
    /// Of these, when the last bit of the last one arrives, and when it was sent.
    until: Timestamp,
    sent: Timestamp,
    /// Whether nothing is sent.
    is_down: bool,
    /// Whether the line has not been free since the last packet on it.
    is_back_to_back: bool,
    driver: Option<(TaskId, TimerId, Signal)>,
}

fn steps(bandwidth: u64) -> Result<u64, &'static str> {
    match bandwidth / STEP {
        0 => Err("bandwidth too small, minimum 100Bps"),
        steps => Ok(steps),
    }
}

impl LinkUnqueue {
    /// When a packet arrives whose first bit would, if it took no time, arrive at `from`.
    fn arrival(&self, ctx: &mut Ctx, packet: &Handle, from: Timestamp) -> Timestamp {
        let packet = &ctx.pool()[packet];
        let bytes = packet.len() as u64 + u64::from(packet.anno_u32(anno::EXTRA_LENGTH));
        if self.is_timed {
            // A stamp of the future would hold the line for others.
            let there = packet.timestamp().min(from - self.latency);
            let sending_ns = bytes * (1_000_000_000 / STEP) / self.bandwidth;
            return there.max(self.sent) + Timestamp(sending_ns as i64) + self.latency;
        }
        let sending_us = bytes * (1_000_000 / STEP) / self.bandwidth;
        from + Timestamp(sending_us as i64 * 1000)
    }

    fn clear(&mut self, ctx: &mut Ctx) {
        for (packet, _) in self.line.drain(..) {
            ctx.pool().free(packet);
        }
        (self.until, self.sent) = (Timestamp::default(), Timestamp::default());
    }

    /// Whether the line has sent all that is on it.
    fn is_free(&self, now: Timestamp) -> bool {
        if self.is_timed {
            return !self.is_down && self.sent <= now;
        }
        let horizon = now + self.latency;
        self.line.back().is_none_or(|(_, at)| *at <= horizon)
    }

    /// Has the line look what there is to do.
    fn look(&self, ctx: &mut Ctx) {
        if let Some((task, timer, _)) = &self.driver {
            ctx.unset_timer(*timer);
            ctx.schedule(*task);
        }
    }
}

impl Element for LinkUnqueue {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.latency = args.timestamp("LATENCY");
        self.bandwidth = steps(args.bandwidth("BANDWIDTH")).map_err(Diagnostics::of)?;
        self.is_timed = args.bool("TIMED");
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
        let now = ctx.now();
        let horizon = now + self.latency;
        let mut pulled = 0;
        while pulled < LONGEST_TURN && self.is_free(now) {
            let Some(packet) = ctx.pull_one(0) else {
                self.is_back_to_back = false;
                break;
            };
            let from = match self.line.back() {
                Some((_, last)) if self.is_back_to_back && !self.is_timed => *last,
                _ => horizon,
            };
            let at = self.arrival(ctx, &packet, from);
            self.sent = at - self.latency;
            // Where the latency has fallen, nothing overtakes.
            let at = if self.is_timed {
                at.max(self.until)
            } else {
                at
            };
            self.until = at;
            ctx.pool()[&packet].set_timestamp(at);
            self.line.push_back((packet, at));
            self.is_back_to_back = true;
            pulled += 1;
        }
        let mut worked = pulled > 0;
        while self.line.front().is_some_and(|(_, at)| *at <= now) {
            if let Some((packet, _)) = self.line.pop_front() {
                ctx.emit(0, packet);
                worked = true;
            }
        }
        let Some((task, timer, signal)) = &self.driver else {
            return worked;
        };
        let is_active = ctx.is_active(signal);
        match (self.line.front(), self.line.back()) {
            (Some((_, first)), Some((_, last))) => {
                let mut next = *first;
                if is_active && !self.is_down {
                    let free = if self.is_timed {
                        self.sent
                    } else {
                        *last - self.latency
                    };
                    next = next.min(free);
                }
                if next <= now {
                    ctx.schedule(*task);
                } else {
                    ctx.set_timer(*timer, next);
                }
            }
            _ if is_active && !self.is_down => ctx.schedule(*task),
            _ => {}
        }
        worked
    }

    fn stored(&self) -> Option<usize> {
        Some(self.line.len())
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("latency", "rw."),
            Handler::new("bandwidth", "rw."),
            Handler::new("to_latency", "w"),
            Handler::new("to_bandwidth", "w"),
            Handler::new("size", "r"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "latency" => unparse_interval(self.latency),
            "bandwidth" => (self.bandwidth * STEP).to_string(),
            _ => self.line.len().to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        match name {
            "to_latency" | "to_bandwidth" if !self.is_timed => {
                return Err(format!("`{name}` is for a line that is TIMED"));
            }
            "to_latency" => {
                let wrong = |_| "latency must be a timestamp".to_owned();
                self.latency = parse_timestamp(value.trim()).map_err(wrong)?;
                self.look(ctx);
                return Ok(());
            }
            "to_bandwidth" => {
                let wrong = |_| "invalid bandwidth".to_owned();
                let bandwidth = parse_bandwidth(value.trim()).map_err(wrong)?;
                if bandwidth == 0 {
                    self.is_down = true;
                    return Ok(());
                }
                self.bandwidth = steps(bandwidth)?;
                if self.is_down {
                    // What waits was not sent meanwhile.
                    self.sent = self.sent.max(ctx.now());
                    self.is_down = false;
                }
                self.look(ctx);
                return Ok(());
            }
            "latency" => {
                let wrong = |_| "latency must be a timestamp".to_owned();
                self.latency = parse_timestamp(value.trim()).map_err(wrong)?;
            }
            "bandwidth" => {
                let wrong = |_| "invalid bandwidth".to_owned();
                self.bandwidth = steps(parse_bandwidth(value.trim()).map_err(wrong)?)?;
            }
            _ => {}
        }
        self.clear(ctx);
        self.look(ctx);
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.clear(ctx);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn packets_arrive_after_sending_and_latency() {
        // 100 bytes at 10 kB/s take 10 ms.
        let mut run = loaded(
            "InfiniteSource(LENGTH 100, LIMIT 10) -> Queue -> l :: LinkUnqueue(50ms, 10kBps)
             -> c :: Counter -> Discard;",
        );
        run.run(0.059);
        assert_eq!(
            (run.read("c.count"), run.read("l.size")),
            ("0".into(), "6".into())
        );
        run.run(0.002);
        assert_eq!(run.read("c.count"), "1");
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("10".into(), 0)
        );
    }

    #[test]
    fn the_line_is_cleared_where_it_changes() {
        let mut run = loaded(
            "InfiniteSource(LENGTH 100, LIMIT 3) -> Queue -> l :: LinkUnqueue(1, 10kBps)
             -> c :: Counter -> Discard;",
        );
        run.run(0.5);
        assert_eq!(run.read("l.size"), "3");
        run.write("l.bandwidth", "2000").expect("a bandwidth");
        assert_eq!(
            (run.read("l.size"), run.read("l.bandwidth")),
            ("0".into(), "2000".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
        assert!(run.write("l.bandwidth", "1").is_err());
    }

    #[test]
    fn a_line_that_was_idle_is_not_taken_for_a_busy_one() {
        // A packet every 20 ms keeps the line for 10: each takes as long as the others.
        let steps = |timed: bool| {
            let mut run = loaded(&format!(
                "RatedSource(LENGTH 100, RATE 50) -> SetTimestamp -> Queue
                 -> LinkUnqueue(50ms, 10kBps, TIMED {timed}) -> c :: Counter -> Discard;"
            ));
            let mut before = 0;
            let mut steps = Vec::new();
            for _ in 0..20 {
                run.run(0.02);
                let count: u32 = run.read("c.count").parse().expect("a number");
                steps.push(count - before);
                before = count;
            }
            steps
        };
        // The source begins with a burst; then each step has its packet.
        let timed: Vec<u32> = steps(true).into_iter().skip_while(|n| *n == 0).collect();
        assert!(
            timed.len() >= 15 && timed[1..].iter().all(|n| *n == 1),
            "{timed:?}"
        );
    }

    #[test]
    fn a_timed_line_changes_without_being_cleared() {
        // 100 bytes at 10 kB/s take 10 ms; a packet each 20 ms.
        let mut run = loaded(
            "RatedSource(LENGTH 100, RATE 50, LIMIT 100) -> SetTimestamp -> Queue
             -> l :: LinkUnqueue(50ms, 10kBps, TIMED true) -> c :: Counter -> Discard;",
        );
        run.run(0.5);
        let before: u32 = run.read("c.count").parse().expect("a number");
        run.write("l.to_bandwidth", "0").expect("an outage");
        run.run(0.5);
        let after: u32 = run.read("c.count").parse().expect("a number");
        // What was on the line arrives: at most what 50 ms and a packet's time hold.
        assert!((1..=6).contains(&(after - before)), "{before} {after}");
        assert_eq!(run.read("l.size"), "0");
        run.write("l.to_bandwidth", "10kBps").expect("a bandwidth");
        run.write("l.to_latency", "0.01").expect("a latency");
        // Twenty-five have waited, 10 ms each.
        run.run(2.0);
        assert_eq!(run.read("c.count"), "100");
        assert!(run.write("l.to_latency", "x").is_err());
        let mut other = loaded("Idle -> Queue -> l :: LinkUnqueue(50ms, 10kBps) -> Discard;");
        assert!(other.write("l.to_latency", "0.01").is_err());
    }

    #[test]
    fn a_bandwidth_has_a_least() {
        let text = errors("InfiniteSource -> LinkUnqueue(1, 99Bps) -> Discard");
        assert!(
            text.contains("bandwidth too small, minimum 100Bps"),
            "{text}"
        );
    }
}
