//! Timing of graphs as if nobody shared the processor's core.
//!
//! Who shares a core, on this machine or under it, slows a graph by half for seconds, and work that waits for memory by
//! less than work that does not. So between graphs one that does nothing is run: a graph counts where that one was as fast
//! as ever both before and after it. Where that is long in coming, what is slowed counts too, by as much less.

use super::Error;
use crate::forwarding::bench::{Bench, Refused};
use crate::forwarding::measure::{Clock, least_ticks};
use crate::forwarding::samples;
use crate::forwarding::traffic::Traffic;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Packets of a run: some slices.
const PACKETS: u64 = 1 << 16;
/// Runs of each graph at most.
pub(super) const RUNS: usize = 5;
/// By how much the graph that does nothing may differ from its least for a moment to count as undisturbed.
const UNDISTURBED: f64 = 1.05;
/// Runs of the graph that does nothing, at first, at least.
const REFERENCES: usize = 20;

/// A cost in cycles a packet and how much runs of it differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    pub(super) cycles: f64,
    pub(super) spread: f64,
}

/// The graph that does nothing.
pub(super) struct Reference {
    pub(super) bench: Bench,
    pub(super) traffic: Traffic,
    pub(super) clock: Clock,
    /// Cycles a packet when nothing slowed it.
    least: Cell<f64>,
    /// Time that may yet be spent on waiting for an undisturbed moment.
    patience: Cell<Duration>,
    /// Graphs that were timed, and those that counted although they were slowed.
    timed: Cell<(u32, u32)>,
    /// Runs of each graph.
    runs: Cell<usize>,
}

impl Reference {
    /// As many runs of each graph, up to [`RUNS`], as fit `graphs` of them into `budget`; half as long is waited at most.
    pub(super) fn new(graphs: usize, budget: Duration) -> Result<Reference, Error> {
        let reference = Reference {
            bench: bench("FromDevice(in) -> Discard;")?,
            traffic: traffic(64, 32),
            clock: Clock::measure(),
            least: Cell::new(f64::INFINITY),
            patience: Cell::new(budget / 2),
            timed: Cell::default(),
            runs: Cell::new(1),
        };
        let started = Instant::now();
        let mut made = 0;
        while made < REFERENCES || started.elapsed() < budget / 20 {
            reference.again()?;
            made += 1;
        }
        let each = started.elapsed().as_secs_f64() / f64::from(made as u32);
        // Between graphs the one that does nothing is run.
        let fit = budget.as_secs_f64() / (each * 2.0 * graphs as f64);
        reference.runs.set((fit as usize).clamp(1, RUNS));
        Ok(reference)
    }

    /// The least that it took, in cycles a packet. What was timed while it was taken for more was slowed unnoticed.
    pub(super) fn least(&self) -> f64 {
        self.least.get()
    }

    /// Graphs that were timed, and how many of them counted although they were slowed.
    pub(super) fn timed(&self) -> (u32, u32) {
        self.timed.get()
    }

    /// One run of each graph from now on, and no waiting for a better moment: every graph is better than some of them well.
    pub(super) fn hurry(&self) {
        self.runs.set(1);
        self.patience.set(Duration::ZERO);
    }

    fn again(&self) -> Result<f64, Error> {
        let found = self.cycles(&self.bench, &self.traffic)?;
        self.least.set(self.least.get().min(found));
        Ok(found)
    }

    fn is_undisturbed(&self, found: f64) -> bool {
        found <= UNDISTURBED * self.least.get()
    }

    /// Cycles a packet of the graph that does nothing, in an undisturbed moment where patience lasts for one.
    fn at_rest(&self) -> Result<f64, Error> {
        let started = Instant::now();
        let patience = self.patience.get();
        let mut found = self.again()?;
        while !self.is_undisturbed(found) && started.elapsed() < patience {
            found = self.again()?;
        }
        self.patience
            .set(patience.saturating_sub(started.elapsed()));
        Ok(found)
    }

    /// Cycles a packet of the least slice of a run.
    fn cycles(&self, bench: &Bench, traffic: &Traffic) -> Result<f64, Error> {
        let ticks = least_ticks(bench, traffic, PACKETS).map_err(wrong)?;
        Ok(ticks * self.clock.cycles_a_tick)
    }

    /// Times graphs in turn, each as if nothing had slowed the machine.
    pub(super) fn time(&self, benches: &[(&Bench, Traffic)]) -> Result<Vec<Timed>, Error> {
        self.time_often(self.runs.get(), benches)
    }

    /// The same, in so many runs of each.
    pub(super) fn time_often(
        &self,
        runs: usize,
        benches: &[(&Bench, Traffic)],
    ) -> Result<Vec<Timed>, Error> {
        let mut all = vec![Runs::default(); benches.len()];
        let mut before = self.at_rest()?;
        for _ in 0..runs {
            for ((bench, traffic), all) in benches.iter().zip(&mut all) {
                loop {
                    let found = self.cycles(bench, traffic)?;
                    let after = self.again()?;
                    let pace = f64::midpoint(before, after) / self.least.get();
                    let counts = self.is_undisturbed(before) && self.is_undisturbed(after);
                    before = after;
                    if counts || self.patience.get().is_zero() {
                        let (timed, slowed) = self.timed.get();
                        self.timed.set((timed + 1, slowed + u32::from(!counts)));
                        all.add(found, pace, counts);
                        break;
                    }
                    before = self.at_rest()?;
                }
            }
        }
        Ok(all.into_iter().map(Runs::timed).collect())
    }
}

/// Runs of one graph, in cycles a packet.
#[derive(Clone, Debug, Default)]
struct Runs {
    undisturbed: Vec<f64>,
    /// As they would have been had they been slowed like the graph that does nothing.
    slowed: Vec<f64>,
}

impl Runs {
    fn add(&mut self, cycles: f64, pace: f64, counts: bool) {
        if counts {
            self.undisturbed.push(cycles);
        } else {
            self.slowed.push(cycles / pace);
        }
    }

    /// The least that was undisturbed, as everywhere; without any the middle, since the pace errs to either side.
    fn timed(mut self) -> Timed {
        let has_least = !self.undisturbed.is_empty();
        let all = if has_least {
            &mut self.undisturbed
        } else {
            &mut self.slowed
        };
        all.sort_by(f64::total_cmp);
        let (first, middle) = (all[0], all[all.len() / 2]);
        Timed {
            cycles: if has_least { first } else { middle },
            spread: (middle - first) / 2.0,
        }
    }
}

/// A configuration on the workbench, with plain frames.
pub(super) fn bench(text: &str) -> Result<Bench, Error> {
    Bench::new(text, "calibration", &[], &[samples::plain()]).map_err(wrong)
}

/// What is wrong with a graph of ours.
pub(super) fn wrong(refused: Refused) -> Error {
    Error::Lacks(match refused {
        Refused::Configuration(said) => said.click(),
        Refused::Other(text) => text,
    })
}

/// Batches of one to so many packets, in no order: as a router with little to do has them, whose loops end unforeseen.
const SMALL_BATCH: usize = 7;
/// Packets of such a batch on average.
pub(super) const SMALL_MEAN: f64 = (1 + SMALL_BATCH) as f64 / 2.0;

/// The same traffic in small batches.
pub(super) fn in_small_batches(traffic: &Traffic) -> Traffic {
    Traffic {
        burst: SMALL_BATCH,
        is_uneven: true,
        ..traffic.clone()
    }
}

/// Plain traffic.
pub(super) fn traffic(frame: usize, burst: usize) -> Traffic {
    Traffic {
        frame,
        burst,
        ..Traffic::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_slowed_counts_only_where_nothing_else_does() {
        let mut runs = Runs::default();
        runs.add(120.0, 1.5, false);
        runs.add(150.0, 1.5, false);
        runs.add(90.0, 1.0, false);
        assert_eq!(runs.clone().timed().cycles, 90.0);
        runs.add(101.0, 1.02, true);
        runs.add(99.0, 1.01, true);
        let timed = runs.timed();
        assert_eq!((timed.cycles, timed.spread), (99.0, 1.0));
    }
}
