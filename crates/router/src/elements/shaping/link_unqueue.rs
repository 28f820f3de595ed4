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
    /// Of these, when the last bit of the last one arrives.
    until: Timestamp,
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
            let begin = (there + self.latency).max(self.until);
            let sending_ns = bytes * (1_000_000_000 / STEP) / self.bandwidth;
            return begin + Timestamp(sending_ns as i64);
        }
        let sending_us = bytes * (1_000_000 / STEP) / self.bandwidth;
        from + Timestamp(sending_us as i64 * 1000)
    }

    fn clear(&mut self, ctx: &mut Ctx) {
        for (packet, _) in self.line.drain(..) {
            ctx.pool().free(packet);
        }
        self.until = Timestamp::default();
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
        while pulled < LONGEST_TURN && self.line.back().is_none_or(|(_, at)| *at <= horizon) {
            let Some(packet) = ctx.pull_one(0) else {
                self.is_back_to_back = false;
                break;
            };
            let from = match self.line.back() {
                Some((_, last)) if self.is_back_to_back && !self.is_timed => *last,
                _ => horizon,
            };
            let at = self.arrival(ctx, &packet, from);
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
                if is_active {
                    next = next.min(*last - self.latency);
                }
                if next <= now {
                    ctx.schedule(*task);
                } else {
                    ctx.set_timer(*timer, next);
                }
            }
            _ if is_active => ctx.schedule(*task),
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
        if let Some((task, timer, _)) = &self.driver {
            ctx.unset_timer(*timer);
            ctx.schedule(*task);
        }
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
    fn a_bandwidth_has_a_least() {
        let text = errors("InfiniteSource -> LinkUnqueue(1, 99Bps) -> Discard");
        assert!(
            text.contains("bandwidth too small, minimum 100Bps"),
            "{text}"
        );
    }
}
