//! One round of a sweep: batches on workers until none is left and all have ended.

use super::{Load, Plan, Spent};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use trammel_core::rng::Rng;

/// Runs that one process makes.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    pub(super) runs: Vec<usize>,
    pub(super) expected_s: f64,
}

/// A batch that was lost with its worker, and the place of the run at hand.
type Lost = (usize, usize);

/// Whole nanoseconds, so that events have one order everywhere.
type Nanos = u64;

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / 1e9
}

impl Load {
    fn note(&mut self, requests: usize, waited: Nanos) {
        self.requests += requests;
        self.longest_wait_s = self.longest_wait_s.max(seconds(waited));
    }
}

impl Spent {
    /// Adds what one worker spent on a batch.
    fn add(&mut self, more: &Spent) {
        self.computing += more.computing;
        self.starting += more.starting;
        self.store += more.store;
        self.engine += more.engine;
    }
}

/// What a worker does.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// It looks for a batch.
    Idle,
    /// It has begun the run at this place of the batch.
    Started { batch: usize, at: usize },
}

/// Workers and a store between rounds.
pub(super) struct Round<'a> {
    plan: &'a Plan,
    times: &'a [f64],
    /// Now.
    pub(super) now_s: f64,
    /// When each worker is lost.
    lost_at: Vec<Nanos>,
    /// When each is free, or back after a loss.
    free_at: Vec<Nanos>,
    chance: Rng,
    /// When the store and the engine have time for one more.
    reads_free: Nanos,
    writes_free: Nanos,
    engine_free: Nanos,
    pub(super) spent: Spent,
    pub(super) reads: Load,
    pub(super) writes: Load,
    pub(super) losses: usize,
}

impl<'a> Round<'a> {
    /// Workers that begin after `wait_s`, in which one machine looks into the store.
    pub(super) fn new(plan: &'a Plan, times: &'a [f64], wait_s: f64) -> Round<'a> {
        let mut round = Round {
            plan,
            times,
            now_s: 0.0,
            lost_at: Vec::new(),
            free_at: vec![0; plan.workers],
            chance: Rng::new(plan.seed, "loss"),
            reads_free: 0,
            writes_free: 0,
            engine_free: 0,
            spent: Spent::default(),
            reads: Load::default(),
            writes: Load::default(),
            losses: 0,
        };
        round.wait_alone(wait_s);
        let begin = nanos(wait_s);
        round.lost_at = (0..plan.workers).map(|_| round.next_loss(begin)).collect();
        round
    }

    /// All workers wait for one machine.
    pub(super) fn wait_alone(&mut self, seconds: f64) {
        self.now_s += seconds;
        self.spent.gathering += seconds * self.plan.workers as f64;
    }

    fn next_loss(&mut self, from: Nanos) -> Nanos {
        const HOUR_S: f64 = 3600.0;
        if self.plan.losses_per_h <= 0.0 {
            return Nanos::MAX;
        }
        let hours = -(1.0 - self.chance.unit()).ln() / self.plan.losses_per_h;
        from.saturating_add(nanos(hours * HOUR_S))
    }

    /// Carries out all batches; gives those that were lost.
    pub(super) fn carry_out(&mut self, batches: &[Batch]) -> Vec<Lost> {
        let begin = nanos(self.now_s);
        self.engine_free = self.engine_free.max(begin);
        let (mut lost, mut next, mut over) = (Vec::new(), 0, begin);
        let mut events = BinaryHeap::new();
        for worker in 0..self.plan.workers {
            let free = self.free_at[worker].max(begin);
            self.spent.away += seconds(free - begin);
            events.push(Reverse((free, worker)));
        }
        let mut doing = vec![Doing::Idle; self.plan.workers];
        // What each worker spends until its next event, and since when.
        let mut spending = vec![(begin, Spent::default()); self.plan.workers];
        while let Some(Reverse((now, worker))) = events.pop() {
            let (since, spent) = std::mem::take(&mut spending[worker]);
            if self.lost_at[worker] <= now {
                let at = self.lost_at[worker].clamp(since.min(now), now);
                if let Doing::Started { batch, at: run } = doing[worker] {
                    self.spent.lost += seconds(at - since);
                    lost.push((batch, run));
                    over = over.max(at);
                }
                self.losses += 1;
                let back = at + nanos(self.plan.replace_s);
                self.spent.away += seconds(back - at);
                self.lost_at[worker] = self.next_loss(back);
                doing[worker] = Doing::Idle;
                spending[worker].0 = back;
                events.push(Reverse((back, worker)));
                continue;
            }
            self.spent.add(&spent);
            let mut spends = Spent::default();
            let end = match doing[worker] {
                Doing::Idle if next < batches.len() => {
                    let start = now.max(self.engine_free);
                    self.engine_free = start + nanos(1.0 / self.plan.starts_per_s);
                    let list_s = self.plan.list_s * self.plan.expected_s.len() as f64;
                    let started = start + nanos(self.plan.start_s + list_s);
                    let batch = next;
                    next += 1;
                    let answered = self.read(started, batches[batch].runs.len());
                    spends.engine = seconds(start - now);
                    spends.starting = seconds(started - start);
                    spends.store = seconds(answered - started);
                    doing[worker] = Doing::Started { batch, at: 0 };
                    self.compute(&batches[batch], 0, answered, &mut spends)
                }
                Doing::Idle => {
                    self.free_at[worker] = now;
                    continue;
                }
                Doing::Started { batch, at } => {
                    let stored = self.write(now);
                    spends.store = seconds(stored - now);
                    if at + 1 < batches[batch].runs.len() {
                        doing[worker] = Doing::Started { batch, at: at + 1 };
                        self.compute(&batches[batch], at + 1, stored, &mut spends)
                    } else {
                        over = over.max(stored);
                        doing[worker] = Doing::Idle;
                        stored
                    }
                }
            };
            spending[worker] = (now, spends);
            events.push(Reverse((end, worker)));
        }
        for &free in &self.free_at {
            // One that is not back yet is away in the next round.
            self.spent.away -= seconds(free.saturating_sub(over));
            self.spent.tail += seconds(over.saturating_sub(free));
        }
        self.now_s = over as f64 / 1e9;
        lost
    }

    /// When the run at a place of a batch is computed that begins at `now`.
    fn compute(&self, batch: &Batch, at: usize, now: Nanos, spends: &mut Spent) -> Nanos {
        let computed = now + nanos(self.times[batch.runs[at]]);
        spends.computing = seconds(computed - now);
        computed
    }

    /// When the store has answered reads of so many runs, which are asked for at `now`.
    fn read(&mut self, now: Nanos, runs: usize) -> Nanos {
        let store = &self.plan.store;
        let begin = now.max(self.reads_free);
        self.reads.note(runs, begin - now);
        self.reads_free = begin + nanos(runs as f64 / store.reads_per_s);
        let trips = runs.div_ceil(store.at_once) - 1;
        let answered = self
            .reads_free
            .max(begin + nanos(trips as f64 * store.latency_s));
        answered + nanos(store.latency_s)
    }

    /// When the store has taken a run that comes at `now`.
    fn write(&mut self, now: Nanos) -> Nanos {
        let store = &self.plan.store;
        let begin = now.max(self.writes_free);
        self.writes.note(1, begin - now);
        self.writes_free = begin + nanos(1.0 / store.writes_per_s);
        self.writes_free + nanos(store.latency_s)
    }
}
