//! Pulls from its inputs in turn, so that each gets the same share of bytes.
//!
//! # What it does
//! In each round an input may give as many bytes as its deficit allows, which grows by `QUANTUM` a
//! round and is forgotten when the input has nothing. A packet that must wait for the next round
//! waits here.
//!
//! # Example
//! ```click
//! // Two queues share a link by bytes.
//! FromDevice(eth0) -> Queue -> [0] s :: DRRSched; FromDevice(eth1) -> Queue -> [1] s;
//! s -> BandwidthShaper(1000000) -> Unqueue -> Discard
//! ```
//!
//! # References
//! Shreedhar and Varghese, "Efficient Fair Queuing using Deficit Round Robin", SIGCOMM 1995.

use crate::args::kinds::INT;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::{self, NotifierId, Provided, Signal};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;
use trammel_packet::pool::Handle;

/// The class.
pub static ENTRY: Entry = Entry::new("DRRSched", "pulls the same share from each input", || {
    Box::<DrrSched>::default()
})
.ports("-/1", "l/l")
.references(&["Shreedhar and Varghese, SIGCOMM 1995"])
.params(&[positional("QUANTUM", INT, "500", "bytes a round")])
.ops("work(60)");

#[derive(Debug)]
struct Input {
    signal: Signal,
    deficit: usize,
    /// A packet that was too long for this round.
    held: Option<Handle>,
}

#[derive(Debug, Default)]
struct DrrSched {
    quantum: usize,
    inputs: Vec<Input>,
    /// The input whose turn it is.
    turn: usize,
    notifier: Option<NotifierId>,
}

impl DrrSched {
    /// The next packet, in at most one round; otherwise whether there may be one in the next.
    fn next(&mut self, ctx: &mut Ctx) -> Result<Handle, bool> {
        let mut any = false;
        for _ in 0..self.inputs.len() {
            let input = &mut self.inputs[self.turn];
            let is_active = input.held.is_some() || ctx.is_active(&input.signal);
            any |= is_active;
            let packet = match input.held.take() {
                None if is_active => ctx.pull_one(self.turn),
                held => held,
            };
            match packet {
                None => input.deficit = 0,
                Some(packet) => match input.deficit.checked_sub(ctx.pool()[&packet].len()) {
                    Some(rest) => {
                        input.deficit = rest;
                        return Ok(packet);
                    }
                    None => input.held = Some(packet),
                },
            }
            self.turn = (self.turn + 1) % self.inputs.len();
            let next = &mut self.inputs[self.turn];
            next.deficit = next.deficit.saturating_add(self.quantum);
        }
        Err(any)
    }
}

impl Element for DrrSched {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let quantum = usize::try_from(args.int("QUANTUM")).ok();
        let Some(quantum) = quantum.filter(|quantum| *quantum > 0) else {
            return Err(Diagnostics::of("bad QUANTUM"));
        };
        self.quantum = quantum;
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
                    deficit: 0,
                    held: None,
                })
                .collect();
        }
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
            match self.next(ctx) {
                Ok(packet) => into.push(packet),
                Err(any) => {
                    // Who was given something asks again and is told then.
                    if let Some(notifier) = self.notifier.filter(|_| given == 0) {
                        ctx.set_notifier(notifier, any);
                    }
                    return;
                }
            }
        }
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        for packet in self.inputs.iter_mut().filter_map(|input| input.held.take()) {
            ctx.pool().free(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn bytes_are_shared_alike_whatever_the_packets_lengths() {
        let mut run = loaded(
            "InfiniteSource(LENGTH 1000) -> a :: Counter -> d :: DRRSched -> Unqueue(LIMIT 1100) \
             -> Discard;
             InfiniteSource(LENGTH 100) -> b :: Counter -> [1] d; Idle -> [2] d;",
        );
        run.run(0.001);
        let number = |text: String| text.parse::<i64>().expect("a number");
        let (a, b) = (
            number(run.read("a.byte_count")),
            number(run.read("b.byte_count")),
        );
        assert!((a - b).abs() <= 2000 && a > 90_000, "{a} {b}");
    }

    #[test]
    fn it_sleeps_when_all_are_empty_and_keeps_nothing() {
        let mut run = loaded(
            "i :: InfiniteSource(LENGTH 1200, LIMIT 2) -> NotifierQueue -> d :: DRRSched \
             -> u :: Unqueue
             -> c :: Counter -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.read("u.scheduled")),
            ("2".into(), "false".into())
        );
        run.write("i.reset", "").expect("a button");
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("4".into(), 0)
        );
    }

    #[test]
    fn a_quantum_is_positive() {
        let text = errors("Idle -> DRRSched(0) -> Discard");
        assert!(text.contains("bad QUANTUM"), "{text}");
    }
}
