//! Many environments that step together, over the cores.

use crate::environment::{Environment, Error, Plan};
use rayon::prelude::*;
use std::sync::Arc;

/// What came of a step of all, in the order of the environments.
#[derive(Clone, Debug, Default)]
pub struct Stepped {
    /// What agents see: environment by environment, agent by agent.
    pub observations: Vec<f32>,
    /// Every feature, in the same order.
    pub features: Vec<f64>,
    /// Rewards, in the same order.
    pub rewards: Vec<f64>,
    /// For each environment, whether its episode ended by itself.
    pub terminated: Vec<bool>,
    /// Whether the time was over.
    pub truncated: Vec<bool>,
    /// The time in its episode, s.
    pub times: Vec<f64>,
}

/// Many environments of one plan.
#[derive(Debug)]
pub struct Many {
    all: Vec<Environment>,
    pool: Option<rayon::ThreadPool>,
}

impl Many {
    /// `count` environments over `threads` threads; one thread is the caller's own.
    ///
    /// # Errors
    ///
    /// If the plan contradicts itself, there is no environment, or no thread can be started.
    pub fn new(plan: Plan, count: usize, threads: usize) -> Result<Many, Error> {
        if count == 0 {
            return Err(Error::Plan("there is no environment".to_owned()));
        }
        let plan = Arc::new(plan);
        let all = (0..count).map(|_| Environment::new(Arc::clone(&plan)));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let threads = threads.min(count);
        let pool = (threads > 1).then(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build()
        });
        let pool = pool.transpose();
        let pool = pool.map_err(|why| Error::Plan(format!("no threads can be started: {why}")))?;
        Ok(Many { all, pool })
    }

    /// The environments.
    pub fn all(&self) -> &[Environment] {
        &self.all
    }

    /// Does `act` with each environment and its number.
    fn each(
        &mut self,
        act: impl Fn(usize, &mut Environment) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let all = &mut self.all;
        match &self.pool {
            None => {
                let mut all = all.iter_mut().enumerate();
                all.try_for_each(|(at, one)| act(at, one))
            }
            Some(pool) => pool.install(|| {
                let all = all.par_iter_mut().enumerate();
                // Steps are of unlike length, so each is taken by itself.
                all.with_max_len(1).try_for_each(|(at, one)| act(at, one))
            }),
        }
    }

    /// Begins an episode in each: that of its seed, or the next.
    ///
    /// # Errors
    ///
    /// If a scenario cannot be built.
    pub fn reset(&mut self, seeds: &[Option<u64>]) -> Result<(), Error> {
        self.each(|at, one| one.reset(seeds.get(at).copied().flatten()))
    }

    /// Steps each with its actions. Where an episode is over, the next begins instead, and the
    /// reward of that is 0: gymnasium's `NEXT_STEP`.
    ///
    /// # Errors
    ///
    /// As for [`Environment::step`].
    pub fn step(&mut self, actions: &[f32]) -> Result<Vec<bool>, Error> {
        let each = actions.len() / self.all.len();
        let begins: Vec<bool> = self.all.iter().map(|one| one.state().is_over()).collect();
        self.each(|at, one| {
            if begins[at] {
                one.reset(None)
            } else {
                one.step(&actions[at * each..][..each])
            }
        })?;
        Ok(begins)
    }

    /// Steps the first alone, which begins no other episode.
    ///
    /// # Errors
    ///
    /// As for [`Environment::step`].
    pub fn step_first(&mut self, actions: &[f32]) -> Result<(), Error> {
        self.all[0].step(actions)
    }

    /// Fills in what came of the last call; `begins` says which episodes began by it.
    pub fn tell(&self, begins: &[bool], into: &mut Stepped) {
        into.clear();
        for (at, one) in self.all.iter().enumerate() {
            let is_new = begins.get(at).copied().unwrap_or(true);
            for agent in 0..one.plan().agents.len() {
                into.observations.extend(one.observation(agent));
                into.features.extend(one.features(agent));
                into.rewards
                    .push(if is_new { 0.0 } else { one.reward(agent) });
            }
            let state = one.state();
            into.terminated.push(state.is_terminated);
            into.truncated.push(state.is_truncated);
            into.times.push(one.now().as_secs_f64());
        }
    }
}

impl Stepped {
    /// Forgets all, and keeps the room.
    fn clear(&mut self) {
        self.observations.clear();
        self.features.clear();
        self.rewards.clear();
        self.terminated.clear();
        self.truncated.clear();
        self.times.clear();
    }
}
