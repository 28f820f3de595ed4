//! Timing of graphs as if nobody shared the processor's core.
//!
//! Who shares a core, on this machine or under it, slows a graph by half for seconds, and work that
//! waits for memory by less than work that does not. So graphs are timed in rounds, which spread
//! the runs of each over the whole time, and after each of them one that does nothing is run: a run
//! counts where that was as fast as ever both before and after it. Of a graph without such a run
//! those that were slowed count, by as much less.

use super::Error;
use crate::bench::{Bench, Refused};
use crate::measure::{Clock, least_ticks};
use crate::samples;
use crate::traffic::Traffic;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Packets of a run: some slices.
const PACKETS: u64 = 1 << 15;
/// Rounds that are enough where half of the runs were undisturbed, and otherwise.
const ROUNDS: usize = 5;
const MOST_ROUNDS: usize = 20;
/// How often a round comes to the graphs that all estimates stand on.
const OFTEN: usize = 4;
/// By how much the graph that does nothing may differ from its least for a moment to count as
/// undisturbed.
const UNDISTURBED: f64 = 1.05;
/// Runs of the graph that does nothing, at first.
const REFERENCES: usize = 20;

/// A cost in cycles a packet and how much runs of it differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    pub(super) cycles: f64,
    pub(super) spread: f64,
}

/// Who is asked and told meanwhile.
pub(super) struct Watch<'a> {
    /// Whether the user wants it to end.
    pub(super) is_over: &'a dyn Fn() -> bool,
    /// Hears how far it is, 0 to 1.
    pub(super) progress: &'a dyn Fn(f64),
}

/// A run of a graph, in cycles a packet, and what the graph that does nothing took before and after
/// it.
#[derive(Clone, Copy, Debug)]
struct Run {
    cycles: f64,
    before: f64,
    after: f64,
}

/// A graph and its runs.
struct Graph {
    bench: Rc<Bench>,
    traffic: Traffic,
    is_often: bool,
    runs: Vec<Run>,
}

/// The graphs that are timed, and the one that does nothing.
pub(super) struct Reference {
    pub(super) bench: Bench,
    pub(super) traffic: Traffic,
    pub(super) clock: Clock,
    /// Cycles a packet when nothing slowed it, and in its last run.
    least: f64,
    last: f64,
    benches: BTreeMap<String, Rc<Bench>>,
    graphs: Vec<Graph>,
}

impl Reference {
    /// No graph is timed yet but the one that does nothing.
    pub(super) fn new() -> Result<Reference, Error> {
        let mut reference = Reference {
            bench: bench("FromDevice(in) -> Discard;")?,
            traffic: traffic(64, 32),
            clock: Clock::measure(),
            least: f64::INFINITY,
            last: f64::INFINITY,
            benches: BTreeMap::new(),
            graphs: Vec::new(),
        };
        for _ in 0..REFERENCES {
            reference.again()?;
        }
        Ok(reference)
    }

    /// The workbench of a graph, one for all that ask for it.
    pub(super) fn bench(&mut self, text: &str) -> Result<Rc<Bench>, Error> {
        if let Some(known) = self.benches.get(text) {
            return Ok(Rc::clone(known));
        }
        let made = Rc::new(bench(text)?);
        self.benches.insert(text.to_owned(), Rc::clone(&made));
        Ok(made)
    }

    /// Has a graph timed in each round, once whoever asks for it; gives its number.
    pub(super) fn add(&mut self, bench: &Rc<Bench>, traffic: &Traffic) -> usize {
        let is_same = |graph: &Graph| Rc::ptr_eq(&graph.bench, bench) && graph.traffic == *traffic;
        if let Some(known) = self.graphs.iter().position(is_same) {
            return known;
        }
        self.graphs.push(Graph {
            bench: Rc::clone(bench),
            traffic: traffic.clone(),
            is_often: false,
            runs: Vec::new(),
        });
        self.graphs.len() - 1
    }

    /// The same, several times a round.
    pub(super) fn add_often(&mut self, bench: &Rc<Bench>, traffic: &Traffic) -> usize {
        let at = self.add(bench, traffic);
        self.graphs[at].is_often = true;
        at
    }

    /// Times all graphs in as many rounds as the time suffices for. The first is ended within a
    /// fifth more.
    pub(super) fn time(&mut self, budget: Duration, watch: &Watch<'_>) -> Result<(), Error> {
        let started = Instant::now();
        let (often, others): (Vec<usize>, Vec<usize>) =
            (0..self.graphs.len()).partition(|at| self.graphs[*at].is_often);
        let part = others.len().div_ceil(OFTEN).max(1);
        for round in 0..MOST_ROUNDS {
            for at in others
                .chunks(part)
                .flat_map(|part| often.iter().chain(part))
            {
                if (watch.is_over)() {
                    return Err(Error::Interrupted);
                }
                let spent = started.elapsed().as_secs_f64() / budget.as_secs_f64();
                if spent > if round == 0 { 1.2 } else { 1.0 } {
                    return Ok(());
                }
                (watch.progress)(spent.min(1.0));
                self.run(*at)?;
            }
            let (made, slowed) = self.made();
            if round + 1 >= ROUNDS && 2 * slowed <= made {
                break;
            }
        }
        Ok(())
    }

    fn run(&mut self, at: usize) -> Result<(), Error> {
        let before = self.last;
        let graph = &self.graphs[at];
        let cycles = self.cycles(&graph.bench, &graph.traffic)?;
        let after = self.again()?;
        self.graphs[at].runs.push(Run {
            cycles,
            before,
            after,
        });
        Ok(())
    }

    /// What a graph took; nothing where there was no time for it.
    pub(super) fn timed(&self, at: usize) -> Option<Timed> {
        timed(&self.graphs[at].runs, self.least)
    }

    /// The least that the graph that does nothing took, in cycles a packet.
    pub(super) fn least(&self) -> f64 {
        self.least
    }

    /// Runs of graphs, and how many of them were slowed.
    pub(super) fn made(&self) -> (usize, usize) {
        let runs = || self.graphs.iter().flat_map(|graph| &graph.runs);
        let slowed = runs().filter(|run| !run.is_undisturbed(self.least));
        (runs().count(), slowed.count())
    }

    fn again(&mut self) -> Result<f64, Error> {
        self.last = self.cycles(&self.bench, &self.traffic)?;
        self.least = self.least.min(self.last);
        Ok(self.last)
    }

    /// Cycles a packet of the least slice of a run, whoever slows it.
    pub(super) fn cycles(&self, bench: &Bench, traffic: &Traffic) -> Result<f64, Error> {
        let ticks = least_ticks(bench, traffic, PACKETS).map_err(wrong)?;
        Ok(ticks * self.clock.cycles_a_tick)
    }
}

impl Run {
    fn is_undisturbed(&self, least: f64) -> bool {
        self.before.max(self.after) <= UNDISTURBED * least
    }

    /// What it would have taken had it been slowed like the graph that does nothing.
    fn unslowed(&self, least: f64) -> f64 {
        self.cycles * least / f64::midpoint(self.before, self.after)
    }
}

/// The least run that was undisturbed, as everywhere; without any the middle, since the pace errs
/// to either side.
fn timed(runs: &[Run], least: f64) -> Option<Timed> {
    let undisturbed = runs.iter().filter(|run| run.is_undisturbed(least));
    let mut all: Vec<f64> = undisturbed.map(|run| run.cycles).collect();
    let has_least = !all.is_empty();
    if !has_least {
        all = runs.iter().map(|run| run.unslowed(least)).collect();
    }
    all.sort_by(f64::total_cmp);
    let (first, middle) = (*all.first()?, *all.get(all.len() / 2)?);
    Some(Timed {
        cycles: if has_least { first } else { middle },
        spread: (middle - first) / 2.0,
    })
}

/// A configuration on the workbench, with plain frames.
pub(super) fn bench(text: &str) -> Result<Bench, Error> {
    Bench::new(text, "calibration", &[], &[samples::plain()]).map_err(wrong)
}

/// What is wrong with a graph of ours.
pub(super) fn wrong(refused: Refused) -> Error {
    Error::Unsupported(match refused {
        Refused::Configuration(said) => said.click(),
        Refused::Other(text) => text,
    })
}

/// Batches of one to so many packets, in no order: as a router with little to do has them, whose
/// loops end unforeseen.
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
        let run = |cycles, before, after| Run {
            cycles,
            before,
            after,
        };
        assert!(timed(&[], 1.0).is_none());
        let slowed = [
            run(120.0, 1.4, 1.6),
            run(150.0, 1.5, 1.5),
            run(90.0, 1.0, 1.1),
        ];
        let of = |runs: &[Run]| timed(runs, 1.0).expect("there are runs").cycles;
        assert!((of(&slowed) - 90.0 / 1.05).abs() < 1e-9);
        let mut runs = slowed.to_vec();
        runs.extend([run(101.0, 1.02, 1.0), run(99.0, 1.01, 1.0)]);
        let timed = timed(&runs, 1.0).expect("there are runs");
        assert_eq!((timed.cycles, timed.spread), (99.0, 1.0));
    }

    #[test]
    fn every_graph_is_timed_in_every_round_and_the_usual_ones_more_often() {
        let mut reference = Reference::new().expect("it runs");
        let text = "FromDevice(in) -> Counter -> Discard;";
        let bench = reference.bench(text).expect("it is right");
        let often = reference.add_often(&bench, &traffic(64, 32));
        let sizes = 100..100 + OFTEN;
        let others: Vec<usize> = sizes
            .map(|frame| reference.add(&bench, &traffic(frame, 32)))
            .collect();
        let again = reference.bench(text).expect("it is right");
        assert_eq!(reference.add(&again, &traffic(100, 32)), others[0]);
        let watch = Watch {
            is_over: &|| false,
            progress: &|_| {},
        };
        reference
            .time(Duration::from_secs(600), &watch)
            .expect("it runs");
        let rounds = reference.graphs[others[0]].runs.len();
        assert!((ROUNDS..=MOST_ROUNDS).contains(&rounds), "{rounds}");
        assert!(
            others
                .iter()
                .all(|at| reference.graphs[*at].runs.len() == rounds)
        );
        assert_eq!(reference.graphs[often].runs.len(), OFTEN * rounds);
        assert!(
            reference
                .timed(often)
                .is_some_and(|timed| timed.cycles > 0.0)
        );
        let ended = Watch {
            is_over: &|| true,
            progress: &|_| {},
        };
        let end = reference.time(Duration::from_secs(600), &ended);
        assert!(matches!(end, Err(Error::Interrupted)));
    }
}
