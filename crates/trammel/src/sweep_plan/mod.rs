//! A sweep on many workers, simulated: batches, workers, a store with limits, and losses.
//!
//! ```text
//! check ─> rounds: hand out ─> start ─> look in the store ─> compute, put ┐ ─> gather
//!   ^one machine reads     │     ^idle     └──── next batch <─────────────┘
//!                          └ what lost workers left is handed out in the next round
//! ```
//! It is the loop of the executors (`python/trammel/executors/_hand_out.py`) with numbers in place
//! of machines. The store serves reads and writes at a rate each, in order of arrival, and each
//! takes its latency. The time of all workers is divided among what they did, so that what limits
//! the sweep is the largest part that is not computing.

mod round;

use round::{Batch, Round};
use trammel_core::rng::Rng;

/// Runs are begun so often at most, as the executors do.
const TRIES: u32 = 3;

/// What there is to do and with what.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The expected seconds of each run.
    pub(crate) expected_s: Vec<f64>,
    /// How far times are off: the standard deviation of a run's time over its mean.
    pub(crate) spread: f64,
    /// Workers, each with one core.
    pub(crate) workers: usize,
    /// Tasks that the engine starts in a second.
    pub(crate) starts_per_s: f64,
    /// From a task's start to its first run, but for what follows.
    pub(crate) start_s: f64,
    /// The time in which a process lists a run of the scenario; it lists all of them.
    pub(crate) list_s: f64,
    /// The store.
    pub(crate) store: Limits,
    /// How often a worker is lost in an hour of its time.
    pub(crate) losses_per_h: f64,
    /// From a loss until another worker is in its place.
    pub(crate) replace_s: f64,
    /// The seed.
    pub(crate) seed: u64,
}

/// What a store takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Reads in a second.
    pub(crate) reads_per_s: f64,
    /// Writes in a second.
    pub(crate) writes_per_s: f64,
    /// The time of a request that does not wait.
    pub(crate) latency_s: f64,
    /// Reads that a process has on their way at once.
    pub(crate) at_once: usize,
}

impl Limits {
    /// The time in which one machine reads `runs`, alone.
    fn read_alone_s(&self, runs: usize) -> f64 {
        let of_latency = (runs as f64 / self.at_once as f64).ceil() * self.latency_s;
        of_latency.max(runs as f64 / self.reads_per_s)
    }
}

/// Where the time of workers went, in worker-seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// Computing what was stored.
    pub(crate) computing: f64,
    /// Computing what was lost with a worker.
    pub(crate) lost: f64,
    /// Starting processes and listing runs.
    pub(crate) starting: f64,
    /// Waiting for the store to answer.
    pub(crate) store: f64,
    /// Idle while batches wait to be started.
    pub(crate) engine: f64,
    /// Away after a loss.
    pub(crate) away: f64,
    /// Idle at the end of a round, when no batch is left.
    pub(crate) tail: f64,
    /// Idle while one machine looks what is missing, and gathers.
    pub(crate) gathering: f64,
}

impl Spent {
    /// Each part with its name and what would make it smaller.
    pub(crate) fn parts(&self) -> [(&'static str, f64, &'static str); 8] {
        [
            ("computing", self.computing, "more workers"),
            (
                "lost",
                self.lost,
                "shorter batches or workers that are lost less often",
            ),
            (
                "starting",
                self.starting,
                "longer batches, or a scenario of fewer runs a file",
            ),
            (
                "store",
                self.store,
                "a store that takes more requests, or fewer workers",
            ),
            (
                "engine",
                self.engine,
                "longer batches, or an engine that starts tasks faster",
            ),
            (
                "away",
                self.away,
                "workers that are lost less often or replaced sooner",
            ),
            ("tail", self.tail, "shorter batches or fewer workers"),
            (
                "gathering",
                self.gathering,
                "gathering where the store is near, or parts of the sweep",
            ),
        ]
    }
}

/// What comes of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// From the first look into the store to the tables.
    pub(crate) makespan_s: f64,
    /// The work of all runs, once, over the workers.
    pub(crate) ideal_s: f64,
    /// Where the time of workers went.
    pub(crate) spent: Spent,
    /// Reads of the store, and the share of the time in which it was busy with them.
    pub(crate) reads: Load,
    /// Writes.
    pub(crate) writes: Load,
    /// Batches that were handed out.
    pub(crate) batches: usize,
    /// Rounds.
    pub(crate) rounds: usize,
    /// Workers that were lost.
    pub(crate) losses: usize,
    /// Runs that were begun more than once.
    pub(crate) again: usize,
    /// Runs that were begun as often as they may be, and are missing.
    pub(crate) missing: usize,
}

/// What a store bore.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    /// Requests.
    pub(crate) requests: usize,
    /// The share of the makespan in which they fill the store's limit.
    pub(crate) busy: f64,
    /// The longest time that one waited for its turn.
    pub(crate) longest_wait_s: f64,
}

impl Outcome {
    /// The share of workers' time that computed what was kept.
    pub(crate) fn efficiency(&self) -> f64 {
        self.ideal_s / self.makespan_s
    }

    /// What limits the sweep: the largest part of workers' time, computing aside unless it is
    /// nearly all, and what to do.
    pub(crate) fn bottleneck(&self) -> (&'static str, &'static str) {
        const NEARLY_ALL: f64 = 0.9;
        let parts = self.spent.parts();
        let all: f64 = parts.iter().map(|part| part.1).sum();
        let from = usize::from(parts[0].1 < NEARLY_ALL * all);
        let largest = parts[from..].iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let (name, _, mend) = largest.expect("there are parts");
        (name, mend)
    }
}

/// The seconds of a batch, by the rule of the executors.
fn batch_s(work_s: f64, workers: usize) -> f64 {
    const SHARES: f64 = 16.0;
    (work_s / (workers as f64 * SHARES)).clamp(1.0, 20.0)
}

/// The runs `left` in batches, the longest first.
fn batches(left: &[usize], expected_s: &[f64], workers: usize) -> Vec<Batch> {
    let work_s: f64 = left.iter().map(|&run| expected_s[run]).sum();
    let most = batch_s(work_s, workers);
    let mut all: Vec<Batch> = Vec::new();
    let mut room = -1.0;
    for &run in left {
        if expected_s[run] > room {
            all.push(Batch::default());
            room = most;
        }
        let batch = all.last_mut().expect("one was begun");
        batch.runs.push(run);
        batch.expected_s += expected_s[run];
        room -= expected_s[run];
    }
    all.sort_by(|a, b| b.expected_s.total_cmp(&a.expected_s));
    all
}

/// The times that runs really take: of a lognormal distribution around what is expected.
fn real_times(plan: &Plan) -> Vec<f64> {
    let mut chance = Rng::new(plan.seed, "run");
    let variance = plan.spread.mul_add(plan.spread, 1.0).ln();
    let times = plan.expected_s.iter().map(|expected| {
        let (one, two) = (1.0 - chance.unit(), chance.unit());
        let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos();
        expected * (normal * variance.sqrt() - variance / 2.0).exp()
    });
    times.collect()
}

/// Simulates `plan`.
pub(crate) fn simulate(plan: &Plan) -> Outcome {
    let runs = plan.expected_s.len();
    let times = real_times(plan);
    let alone_s = plan.store.read_alone_s(runs);
    let mut round = Round::new(plan, &times, alone_s);
    let mut begun = vec![0u32; runs];
    let mut left: Vec<usize> = (0..runs).collect();
    let (mut batch_count, mut rounds) = (0, 0);
    while !left.is_empty() {
        rounds += 1;
        let cut = batches(&left, &plan.expected_s, plan.workers);
        batch_count += cut.len();
        let lost = round.carry_out(&cut);
        left.clear();
        let mut lost_reads = 0;
        for (batch, from) in lost {
            // The run at hand was begun, those behind it were not.
            let missing = &cut[batch].runs[from..];
            begun[missing[0]] += 1;
            left.extend(missing.iter().filter(|run| begun[**run] < TRIES));
            lost_reads += cut[batch].runs.len();
        }
        left.sort_unstable();
        // What a lost process has stored is looked for.
        round.wait_alone(plan.store.read_alone_s(lost_reads));
        round.reads.requests += lost_reads;
    }
    round.wait_alone(alone_s);
    let makespan_s = round.now_s;
    let mut reads = round.reads;
    reads.requests += 2 * runs;
    let mut writes = round.writes;
    reads.busy = reads.requests as f64 / plan.store.reads_per_s / makespan_s;
    writes.busy = writes.requests as f64 / plan.store.writes_per_s / makespan_s;
    Outcome {
        makespan_s,
        ideal_s: times.iter().sum::<f64>() / plan.workers as f64,
        spent: round.spent,
        reads,
        writes,
        batches: batch_count,
        rounds,
        losses: round.losses,
        again: begun.iter().filter(|times| **times > 0).count(),
        missing: begun.iter().filter(|times| **times >= TRIES).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            expected_s: vec![1.0; 1000],
            spread: 0.0,
            workers: 10,
            starts_per_s: 1e9,
            start_s: 0.0,
            list_s: 0.0,
            store: Limits {
                reads_per_s: 1e9,
                writes_per_s: 1e9,
                latency_s: 0.0,
                at_once: 64,
            },
            losses_per_h: 0.0,
            replace_s: 60.0,
            seed: 1,
        }
    }

    fn near(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-3, "{got}, not {want}");
    }

    #[test]
    fn nothing_in_the_way_takes_the_ideal_time() {
        // Batches of six, sixteen for each worker.
        let outcome = simulate(&Plan {
            expected_s: vec![1.0; 960],
            ..plan()
        });
        near(outcome.makespan_s, 96.0);
        near(outcome.efficiency(), 1.0);
        assert_eq!(outcome.bottleneck().0, "computing");
        assert_eq!((outcome.writes.requests, outcome.rounds), (960, 1));
    }

    #[test]
    fn the_time_of_workers_is_divided_without_rest() {
        let outcome = simulate(&Plan {
            spread: 0.5,
            start_s: 0.3,
            starts_per_s: 5.0,
            losses_per_h: 30.0,
            store: Limits {
                reads_per_s: 500.0,
                writes_per_s: 9.0,
                latency_s: 0.05,
                at_once: 64,
            },
            ..plan()
        });
        let spent: f64 = outcome.spent.parts().iter().map(|part| part.1).sum();
        near(spent, outcome.makespan_s * 10.0);
        assert!(outcome.losses > 0 && outcome.again > 0 && outcome.missing == 0);
        near(outcome.spent.computing / 10.0, outcome.ideal_s);
    }

    #[test]
    fn what_is_scarce_is_named() {
        let store = Limits {
            writes_per_s: 2.0,
            ..plan().store
        };
        let of = |plan: &Plan| simulate(plan).bottleneck().0;
        let slow = Plan { store, ..plan() };
        assert_eq!(of(&slow), "store");
        // A thousand writes at two a second.
        assert!(simulate(&slow).makespan_s >= 500.0);
        assert_eq!(
            of(&Plan {
                starts_per_s: 0.2,
                ..plan()
            }),
            "engine"
        );
        assert_eq!(
            of(&Plan {
                list_s: 0.01,
                ..plan()
            }),
            "starting"
        );
        assert_eq!(
            of(&Plan {
                losses_per_h: 200.0,
                replace_s: 300.0,
                ..plan()
            }),
            "away"
        );
        assert_eq!(
            of(&Plan {
                expected_s: vec![1.0; 11],
                ..plan()
            }),
            "tail"
        );
        let far = Limits {
            latency_s: 8.0,
            ..plan().store
        };
        assert_eq!(
            of(&Plan {
                store: Limits { at_once: 1, ..far },
                ..plan()
            }),
            "gathering"
        );
    }

    #[test]
    fn a_seed_gives_one_outcome() {
        let plan = Plan {
            spread: 1.0,
            losses_per_h: 20.0,
            ..plan()
        };
        let of = |seed| {
            format!(
                "{:?}",
                simulate(&Plan {
                    seed,
                    ..plan.clone()
                })
            )
        };
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }

    #[test]
    fn real_times_have_the_mean_that_is_expected() {
        let plan = Plan {
            expected_s: vec![2.0; 100_000],
            spread: 0.7,
            ..plan()
        };
        let times = real_times(&plan);
        let mean = times.iter().sum::<f64>() / 1e5;
        assert!((mean - 2.0).abs() < 0.02, "{mean}");
    }
}
