//! Markov-modulated Poisson process: arrivals at the rate of the state that a Markov chain is in.
//!
//! The chain stays in state i for an exponential time of the given mean, then moves to state j with
//! probability p(i, j). It begins in a state drawn from the long run, so that the process is
//! stationary from its start. (Fischer and Meier-Hellstern, "The Markov-Modulated Poisson Process
//! (MMPP) Cookbook", 1993.)

use rand_distr::{Distribution as _, Exp1};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// The most states of a chain.
pub(crate) const MOST_STATES: usize = 256;

/// The most changes of state for one arrival, on average: each costs as much as an arrival.
const MOST_JUMPS: f64 = 1e6;

/// A state of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Arrivals per second; 0 for silence.
    pub per_second: f64,
    /// The mean time that the chain stays, in seconds; above 0.
    pub sojourn_secs: f64,
    /// The probability of each state to be the next one; that of itself is 0.
    pub next: Vec<f64>,
}

/// A chain of states, checked: from each state every other is reached, and there are arrivals in
/// one at least.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    states: Vec<State>,
    /// The share of time in each state.
    shares: Vec<f64>,
}

impl Chain {
    /// The chain of `states`, or what is wrong with them. States count from 1 in messages.
    pub fn new(states: Vec<State>) -> Result<Chain, String> {
        let count = states.len();
        if !(1..=MOST_STATES).contains(&count) {
            return Err(format!(
                "there are {count} states; give between 1 and {MOST_STATES}"
            ));
        }
        for (at, state) in states.iter().enumerate() {
            let refuse = |what: String| Err(format!("state {}: {what}", at + 1));
            if !(state.per_second >= 0.0 && state.per_second.is_finite()) {
                return refuse(format!(
                    "the rate must be 0 or more, not {}",
                    state.per_second
                ));
            }
            // Below a picosecond and above a million years nothing would follow.
            if !(1e-12..=3e13).contains(&state.sojourn_secs) {
                return refuse(format!(
                    "the mean stay must be between 1e-12 and 3e13 seconds, not {}",
                    state.sojourn_secs
                ));
            }
            if state.next.len() != count {
                let given = state.next.len();
                return refuse(format!(
                    "there are {count} states, but {given} probabilities"
                ));
            }
            if count == 1 {
                continue;
            }
            if state.next.iter().any(|p| !(0.0..=1.0).contains(p)) || state.next[at] != 0.0 {
                return refuse(
                    "probabilities lie between 0 and 1, and that of staying is 0".to_owned(),
                );
            }
            let sum: f64 = state.next.iter().sum();
            if (sum - 1.0).abs() > 1e-9 {
                return refuse(format!("the probabilities add up to {sum}; make that 1"));
            }
        }
        if states.iter().all(|state| state.per_second == 0.0) {
            return Err("no state has arrivals; give one a rate above 0".to_owned());
        }
        if let Some((from, to)) = unreachable_pair(&states) {
            return Err(format!(
                "from state {} the chain never comes to state {}; give it a way",
                from + 1,
                to + 1
            ));
        }
        let shares = shares(&states);
        let chain = Chain { states, shares };
        let stays = chain.states.iter().map(|state| state.sojourn_secs);
        let jumps: f64 = chain
            .shares
            .iter()
            .zip(stays)
            .map(|(p, stay)| p / stay)
            .sum();
        if jumps > MOST_JUMPS * chain.mean_rate() {
            return Err(format!(
                "the chain changes its state {:.0e} times for each arrival; {MOST_JUMPS:.0e} is \
                 the most",
                jumps / chain.mean_rate()
            ));
        }
        Ok(chain)
    }

    /// The chain of two states that follow one another: rates per second and mean stays in seconds.
    pub fn two(per_second: [f64; 2], sojourn_secs: [f64; 2]) -> Result<Chain, String> {
        let state = |at: usize, next: [f64; 2]| State {
            per_second: per_second[at],
            sojourn_secs: sojourn_secs[at],
            next: next.to_vec(),
        };
        Chain::new(vec![state(0, [0.0, 1.0]), state(1, [1.0, 0.0])])
    }

    /// The states.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The share of time that the chain spends in each state.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Arrivals per second in the long run.
    pub fn mean_rate(&self) -> f64 {
        let rates = self.states.iter().map(|state| state.per_second);
        self.shares
            .iter()
            .zip(rates)
            .map(|(p, rate)| p * rate)
            .sum()
    }
}

/// A state and another that is never reached from it.
fn unreachable_pair(states: &[State]) -> Option<(usize, usize)> {
    (0..states.len()).find_map(|from| {
        let mut seen = vec![false; states.len()];
        let mut to_visit = vec![from];
        while let Some(at) = to_visit.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                let reached = states[at].next.iter().enumerate();
                to_visit.extend(reached.filter(|(_, p)| **p > 0.0).map(|(to, _)| to));
            }
        }
        seen.iter().position(|seen| !seen).map(|to| (from, to))
    })
}

/// The share of time in each state of an irreducible chain: the stationary law of the jumps,
/// weighted by the stays. Elimination from the last state (Grassmann, Taksar and Heyman 1985)
/// subtracts nothing, so nothing cancels.
fn shares(states: &[State]) -> Vec<f64> {
    let count = states.len();
    let mut p: Vec<Vec<f64>> = states.iter().map(|state| state.next.clone()).collect();
    for last in (1..count).rev() {
        let out: f64 = p[last][..last].iter().sum();
        let row: Vec<f64> = p[last][..last].to_vec();
        for from in &mut p[..last] {
            from[last] /= out;
            let weight = from[last];
            for (to, share) in from.iter_mut().zip(&row) {
                *to += weight * share;
            }
        }
    }
    let mut visits = vec![1.0_f64];
    for at in 1..count {
        let into = p.iter().map(|row| row[at]);
        visits.push(visits.iter().zip(into).map(|(n, p)| n * p).sum());
    }
    let times: Vec<f64> = visits
        .iter()
        .zip(states)
        .map(|(visits, state)| visits * state.sojourn_secs)
        .collect();
    let sum: f64 = times.iter().sum();
    times.iter().map(|time| time / sum).collect()
}

/// The process. Ends at [`Time::MAX`].
#[derive(Debug)]
pub struct Modulated {
    chain: Chain,
    state: usize,
    /// The present instant in seconds: when the state was entered or the last arrival came.
    now_secs: f64,
    until_secs: f64,
    start: Time,
    chain_rng: Rng,
    gaps_rng: Rng,
}

/// Seconds after which 2⁶⁴ picoseconds are over.
const END_SECS: f64 = 18_446_744.0;

impl Modulated {
    /// The process that starts at `start`; `seed` and `entity` name its random streams as in
    /// [`Rng::new`].
    pub fn new(start: Time, chain: Chain, seed: u64, entity: &str) -> Modulated {
        let mut chain_rng = Rng::new(seed, &format!("{entity}:chain"));
        let state = pick(chain.shares(), &mut chain_rng);
        let stay: f64 = Exp1.sample(&mut chain_rng);
        Modulated {
            until_secs: stay * chain.states[state].sojourn_secs,
            chain,
            state,
            now_secs: 0.0,
            start,
            chain_rng,
            gaps_rng: Rng::new(seed, &format!("{entity}:gaps")),
        }
    }
}

impl Iterator for Modulated {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        // An exponential gap that is cut off by a change of state is drawn anew: it has no memory.
        while self.now_secs < END_SECS {
            let gap: f64 = Exp1.sample(&mut self.gaps_rng);
            let at_secs = self.now_secs + gap / self.chain.states[self.state].per_second;
            if at_secs < self.until_secs {
                self.now_secs = at_secs;
                let at = self.start.saturating_add(Span::from_secs_f64(at_secs));
                return (at < Time::MAX).then_some(at);
            }
            self.now_secs = self.until_secs;
            if self.chain.states.len() > 1 {
                self.state = pick(&self.chain.states[self.state].next, &mut self.chain_rng);
            }
            let stay: f64 = Exp1.sample(&mut self.chain_rng);
            self.until_secs += stay * self.chain.states[self.state].sojourn_secs;
        }
        None
    }
}

/// One of several, by their probabilities.
fn pick(probabilities: &[f64], rng: &mut Rng) -> usize {
    let mut left = rng.unit();
    for (at, p) in probabilities.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return at;
        }
    }
    // The sum falls short of 1 by rounding: the last that can be.
    probabilities.iter().rposition(|p| *p > 0.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_each_state_is_that_of_the_long_run() {
        let state = |sojourn_secs, next: [f64; 3]| State {
            per_second: 1.0,
            sojourn_secs,
            next: next.to_vec(),
        };
        let chain = Chain::new(vec![
            state(1.0, [0.0, 0.5, 0.5]),
            state(2.0, [1.0, 0.0, 0.0]),
            state(4.0, [0.25, 0.75, 0.0]),
        ])
        .unwrap();
        // Visits 8 : 7 : 4, from v₂ = v₁/2 + 3v₃/4 and v₃ = v₁/2; times 8 : 14 : 16.
        for (share, wanted) in chain.shares().iter().zip([8.0, 14.0, 16.0]) {
            assert!((share - wanted / 38.0).abs() < 1e-15, "{share}");
        }
    }

    #[test]
    fn arrivals_come_at_the_mean_rate() {
        let chain = Chain::two([2000.0, 100.0], [0.01, 0.03]).unwrap();
        let rate = chain.mean_rate();
        assert!((rate - 575.0).abs() < 1e-9);
        let process = Modulated::new(Time::ZERO, chain, 1, "rate");
        let count = process.take_while(|at| *at < Time::from_secs(400)).count() as f64;
        // IDC: 1 + 2 (1900² · 3/16) · 0.0075 s / 575 pps = 18.7; so the standard deviation is 0.9
        // %.
        assert!((count / (rate * 400.0) - 1.0).abs() < 0.036, "{count}");
    }

    #[test]
    fn says_what_is_wrong_with_the_states() {
        let error = |rates, stays| Chain::two(rates, stays).unwrap_err();
        assert!(error([0.0, 0.0], [1.0, 1.0]).contains("no state has arrivals"));
        assert!(error([1.0, -1.0], [1.0, 1.0]).starts_with("state 2: the rate"));
        assert!(error([1.0, f64::NAN], [1.0, 1.0]).starts_with("state 2: the rate"));
        assert!(error([1.0, 1.0], [0.0, 1.0]).starts_with("state 1: the mean stay"));
        assert!(error([1e-9, 1e-9], [1e-3, 1e-3]).contains("changes its state"));
        assert!(Chain::new(Vec::new()).is_err());
        let state = |next: [f64; 3]| State {
            per_second: 1.0,
            sojourn_secs: 1.0,
            next: next.to_vec(),
        };
        let trap = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]].map(state);
        assert_eq!(
            Chain::new(trap.to_vec()).unwrap_err(),
            "from state 1 the chain never comes to state 3; give it a way"
        );
        let short = [[0.0, 0.9, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]].map(state);
        assert!(
            Chain::new(short.to_vec())
                .unwrap_err()
                .contains("add up to 0.9")
        );
    }

    #[test]
    fn one_seed_gives_one_schedule_and_a_single_state_is_poisson() {
        let one = || {
            Chain::new(vec![State {
                per_second: 1000.0,
                sojourn_secs: 1.0,
                next: vec![0.0],
            }])
            .unwrap()
        };
        let schedule = |seed| -> Vec<Time> {
            Modulated::new(Time::ZERO, one(), seed, "one")
                .take(10_000)
                .collect()
        };
        assert_eq!(schedule(1), schedule(1));
        assert_ne!(schedule(1), schedule(2));
        assert!(schedule(1).is_sorted());
        let last = schedule(1)[9999].as_secs_f64();
        assert!((last - 10.0).abs() < 0.4, "{last}");
    }
}
