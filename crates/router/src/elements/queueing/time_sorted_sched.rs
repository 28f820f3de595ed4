//! Merges streams by the timestamps of their packets.
//!
//! # What it does
//! Each pull gives the earliest packet of all inputs. Up to `BUFFER` packets of each input wait
//! here, so that an input need not be sorted strictly. With `STOP` the driver stops when all inputs
//! have ended, as those upstream tell. The handler `well_ordered` says whether all packets left in
//! order.
//!
//! # Handlers
//! - `well_ordered`: whether all packets left in the order of time
//!
//! # Example
//! ```click
//! // Two captures become one, in the order of time.
//! FromDump(a.pcap) -> [0] t :: TimeSortedSched(STOP true) -> ToDump(b.pcap);
//! FromDump(c.pcap) -> [1] t
//! ```

use crate::args::kinds::INT;
use crate::args::{Args, flag, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::{self, NotifierId, Provided, Signal};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use trammel_packet::batch::Packets;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("TimeSortedSched", "merges streams by timestamp", || {
    Box::<TimeSortedSched>::default()
})
.ports("-/1", "l/l")
.params(&[
    flag(
        "STOP",
        "false",
        "whether the driver stops when all inputs have ended",
    ),
    keyword("BUFFER", INT, "1", "packets of each input that wait here"),
])
.ops("work(195)");

#[derive(Debug)]
struct Input {
    signal: Signal,
    /// Packets of it that may yet wait.
    room: usize,
}

/// A packet that waits. Of two the earlier is the greater, of equally early ones that which came
/// first.
#[derive(Debug)]
struct Waiting {
    at: Timestamp,
    number: u64,
    input: usize,
    packet: Handle,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.number == other.number
    }
}

impl Eq for Waiting {}

#[derive(Debug, Default)]
struct TimeSortedSched {
    stops: bool,
    buffer: usize,
    inputs: Vec<Input>,
    /// Inputs with room.
    open: Vec<usize>,
    waiting: BinaryHeap<Waiting>,
    /// Packets that have come.
    count: u64,
    /// The timestamp of the packet given last.
    last: Timestamp,
    is_disordered: bool,
    notifier: Option<NotifierId>,
}

impl TimeSortedSched {
    /// Pulls until no input has both packets and room; says whether any upstream was active.
    fn fill(&mut self, ctx: &mut Ctx) -> bool {
        let mut any = false;
        for at in (0..self.open.len()).rev() {
            let number = self.open[at];
            let input = &mut self.inputs[number];
            if !ctx.is_active(&input.signal) {
                continue;
            }
            any = true;
            while input.room > 0 {
                let Some(packet) = ctx.pull_one(number) else {
                    break;
                };
                self.waiting.push(Waiting {
                    at: ctx.pool()[&packet].timestamp(),
                    number: self.count,
                    input: number,
                    packet,
                });
                self.count += 1;
                input.room -= 1;
            }
            if input.room == 0 {
                self.open.swap_remove(at);
            }
        }
        any
    }
}

impl Element for TimeSortedSched {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.stops = args.bool("STOP");
        let buffer = usize::try_from(args.int("BUFFER")).ok();
        let Some(buffer) = buffer.filter(|buffer| *buffer > 0) else {
            return Err(Diagnostics::of("BUFFER must be at least 1"));
        };
        self.buffer = buffer;
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.notifier = Some(ctx.new_notifier("empty"));
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if let Some(notifier) = self.notifier {
            self.inputs = (0..ctx.inputs())
                .map(|input| Input {
                    signal: ctx.relayed_signal(input, notifier),
                    room: self.buffer,
                })
                .collect();
        }
        self.open = (0..self.inputs.len()).collect();
        Ok(())
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        match self.notifier {
            Some(notifier) if kind == notify::Kind::Empty => Provided::ContinueWake(notifier),
            _ => Provided::None,
        }
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        for given in 0..max {
            let any = self.fill(ctx);
            let Some(first) = self.waiting.pop() else {
                // Who was given something asks again and is told then.
                if given == 0 {
                    if let Some(notifier) = self.notifier {
                        ctx.set_notifier(notifier, any);
                    }
                    if self.stops && !any {
                        ctx.stop();
                    }
                }
                return;
            };
            if !first.at.is_zero() {
                self.is_disordered |= first.at < self.last;
                self.last = first.at;
            }
            let input = &mut self.inputs[first.input];
            input.room += 1;
            if input.room == 1 {
                self.open.push(first.input);
            }
            into.push(first.packet);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("well_ordered", "rx")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok((!self.is_disordered).to_string())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        for waiting in self.waiting.drain() {
            ctx.pool().free(waiting.packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::driver::Progress;
    use crate::load::testing::{errors, loaded};

    /// Two sources, of which `late` gives times 7 and 3, the other 5.
    fn config(options: &str) -> String {
        format!(
            "a :: InfiniteSource(LIMIT 1) -> SetTimestamp(7) -> qa :: Queue;
             b :: InfiniteSource(LIMIT 1) -> SetTimestamp(5) -> qb :: Queue;
             c :: InfiniteSource(LIMIT 1, ACTIVE false) -> SetTimestamp(3) -> qa;
             qa -> t :: TimeSortedSched({options}); qb -> [1] t;
             t -> u :: Unqueue(ACTIVE false) -> n :: Counter -> Discard;"
        )
    }

    #[test]
    fn the_earliest_goes_first_where_it_waits_here() {
        for (options, ordered) in [("STOP true", "false"), ("STOP true, BUFFER 2", "true")] {
            let mut run = loaded(&config(options));
            run.run(0.1);
            run.write("c.active", "true").expect("a truth");
            run.run(0.1);
            run.write("u.active", "true").expect("a truth");
            assert_eq!(run.run(0.1), Progress::Stopped);
            assert_eq!(
                (run.read("n.count"), run.read("t.well_ordered")),
                ("3".into(), ordered.into())
            );
            assert_eq!(run.ctx.pool().in_use(), 0);
        }
    }

    #[test]
    fn the_reader_sleeps_until_something_comes() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 1) -> NotifierQueue -> t :: TimeSortedSched -> u :: Unqueue
             -> n :: Counter -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("n.count"), run.read("u.scheduled")),
            ("1".into(), "false".into())
        );
        run.write("i.reset", "").expect("a button");
        run.run(0.1);
        assert_eq!(run.read("n.count"), "2");
    }

    #[test]
    fn a_buffer_holds_something() {
        let text = errors("Idle -> TimeSortedSched(BUFFER 0) -> Discard");
        assert!(text.contains("BUFFER must be at least 1"), "{text}");
    }
}
