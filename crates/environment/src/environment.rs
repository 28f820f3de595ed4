//! A scenario that is run from decision to decision.
//!
//! Time stands still while the agents decide. What they decide holds from the next ACK of their
//! flow on, since that is when a sender acts.

use crate::act::Act;
use crate::agent::{Agent, Seat, Shared, locked};
use crate::feature::{Feature, Known};
use crate::watched::Watched;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_netsim::flow::MakeCc;
use trammel_netsim::ids::FlowId;
use trammel_netsim::trace::Pace;
use trammel_scenario::model::Scenario;
use trammel_tcp::cc::{self, CongestionControl};
use trammel_transport::network_of::{Built, BuiltLink, network_of};

/// When agents decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// All of them, whenever so much time has passed.
    Time(Span),
    /// At each ACK of the one agent's flow.
    Ack,
}

/// What is run, and what agents see and do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Each episode has one of these, drawn by its seed.
    pub points: Vec<Scenario>,
    /// The numbers of the flows that agents have.
    pub agents: Vec<usize>,
    /// What an agent sees.
    pub observe: Vec<Feature>,
    /// What it decides.
    pub act: Act,
    /// When.
    pub every: Every,
    /// Its reward: a weighted sum.
    pub reward: Vec<(Feature, f64)>,
}

/// Why there is no episode.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plan contradicts itself or its scenarios.
    #[error("{0}")]
    Plan(String),
    /// The scenario cannot be built.
    #[error("{0:#}")]
    Scenario(anyhow::Error),
    /// A step without an episode.
    #[error("there is no episode; call `reset` first")]
    NoEpisode,
}

impl Plan {
    /// Whether it can be run.
    fn check(&self) -> Result<(), Error> {
        let refuse = |text: String| Err(Error::Plan(text));
        let Some(flows) = self.points.iter().map(|point| point.flows.len()).min() else {
            return refuse("there is no scenario".to_owned());
        };
        if self.agents.is_empty() {
            return refuse("there is no agent".to_owned());
        }
        if let Some(beyond) = self.agents.iter().find(|agent| **agent >= flows) {
            return refuse(format!(
                "there is no flow {beyond}; the scenario has {flows}"
            ));
        }
        let mut sorted = self.agents.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < self.agents.len() {
            return refuse("a flow has two agents".to_owned());
        }
        match self.every {
            Every::Ack if self.agents.len() > 1 => {
                refuse("at each ACK one agent decides; give a time for several".to_owned())
            }
            Every::Time(span) if span < Span::from_us(1) => {
                refuse("an interval is at least 1 µs".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// How an episode stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// All flows of agents have delivered what they had.
    pub is_terminated: bool,
    /// The scenario's time is over.
    pub is_truncated: bool,
}

impl State {
    /// Whether the episode is over.
    pub fn is_over(self) -> bool {
        self.is_terminated || self.is_truncated
    }
}

/// An episode under way.
#[derive(Debug)]
struct Episode {
    built: Built,
    seats: Vec<Shared>,
    /// For each agent, the places of the links with a rate that its data crosses.
    ways: Vec<Vec<usize>>,
    end: Time,
    /// When the agents decided last.
    decided: Time,
    /// The grid of decisions.
    next: Time,
}

/// A scenario that is run from decision to decision.
#[derive(Debug)]
pub struct Environment {
    plan: Arc<Plan>,
    episode: Option<Episode>,
    /// The seed, and the episodes since it was given.
    seed: (u64, u64),
    state: State,
    known: Vec<Known>,
}

/// Builds `scenario` for one run with `seed`, agents in the seats.
fn open(plan: &Plan, seed: u64) -> Result<Episode, Error> {
    // A plan with one point spends no randomness on it.
    let points = plan.points.len() as u64;
    let point = match points {
        1 => 0,
        many => Rng::new(seed, "environment:point").below(many),
    };
    let scenario = &plan.points[point as usize];
    let mut built = network_of(scenario, seed, Pace::Off).map_err(Error::Scenario)?;
    let mut seats = Vec::with_capacity(plan.agents.len());
    let mut ways = Vec::with_capacity(plan.agents.len());
    for agent in &plan.agents {
        let seat = Seat::new(plan.act, built.flows[*agent].rtt);
        let seat = Arc::new(Mutex::new(seat));
        let flow = FlowId::new(*agent);
        let own = built.network.set_control(flow, taking(&seat));
        if plan.act == Act::Nothing {
            drop(built.network.set_control(flow, watching(own, &seat)));
        }
        seats.push(seat);
        let place = |link| built.links.iter().position(|one| one.index == link);
        ways.push(built.network.flow_route(flow).filter_map(place).collect());
    }
    Ok(Episode {
        built,
        seats,
        ways,
        end: scenario.end(),
        decided: Time::ZERO,
        next: Time::ZERO,
    })
}

/// Makes the sender's control the agent's, and the receiver's one that does nothing.
fn taking(seat: &Shared) -> MakeCc {
    let (seat, is_taken) = (Arc::clone(seat), AtomicBool::new(false));
    Box::new(move || -> Box<dyn CongestionControl> {
        if is_taken.swap(true, Ordering::Relaxed) {
            let reno = cc::find("reno").expect("a variant that is built in");
            (reno.build)(&trammel_core::entry::Params::defaults(&reno.about))
        } else {
            Box::new(Agent(Arc::clone(&seat)))
        }
    })
}

/// Makes the controls that `own` makes, the sender's watched.
fn watching(own: MakeCc, seat: &Shared) -> MakeCc {
    let (seat, is_taken) = (Arc::clone(seat), AtomicBool::new(false));
    Box::new(move || -> Box<dyn CongestionControl> {
        if is_taken.swap(true, Ordering::Relaxed) {
            own()
        } else {
            Box::new(Watched::new(own(), Arc::clone(&seat)))
        }
    })
}

impl Episode {
    /// Runs to the next decision.
    fn run(&mut self, every: Every) {
        let network = &mut self.built.network;
        match every {
            Every::Time(span) => {
                self.next = self.next.saturating_add(span).min(self.end);
                network.run_until(self.next);
            }
            Every::Ack => {
                while locked(&self.seats[0]).acks == 0 {
                    if network.run_some(self.end, 1) {
                        break;
                    }
                }
            }
        }
    }

    /// Whether an agent's flow has got an ACK.
    fn is_awake(&self) -> bool {
        self.seats.iter().any(|seat| locked(seat).ever > 0)
    }

    /// What each sender learnt since the last decision.
    fn learn(&mut self, every: Every, known: &mut Vec<Known>) {
        let now = self.built.network.now();
        let length = now.saturating_since(self.decided);
        let bps = |link: &BuiltLink| match length.as_secs_f64() {
            0.0 => link.rate.as_bps() as f64,
            seconds => link.capacity_bits(self.decided, now) / seconds,
        };
        let is_ack = every == Every::Ack;
        known.clear();
        for (seat, way) in self.seats.iter().zip(&self.ways) {
            let links = way.iter().map(|at| bps(&self.built.links[*at]));
            let narrowest = links.fold(f64::INFINITY, f64::min);
            known.push(locked(seat).take(now.as_us(), length, is_ack, narrowest));
        }
        self.decided = now;
    }

    fn state(&mut self, agents: &[usize]) -> State {
        let network = &mut self.built.network;
        let mut flows = agents.iter().map(|agent| FlowId::new(*agent));
        State {
            is_terminated: flows.all(|flow| network.flow(flow).completed.is_some()),
            is_truncated: network.now() >= self.end,
        }
    }
}

impl Environment {
    /// An environment without an episode.
    ///
    /// # Errors
    ///
    /// If the plan contradicts itself or its scenarios.
    pub fn new(plan: Arc<Plan>) -> Result<Environment, Error> {
        plan.check()?;
        let first = plan.points.first().map_or(1, |point| point.seed);
        Ok(Environment {
            plan,
            episode: None,
            seed: (first, 0),
            state: State::default(),
            known: Vec::new(),
        })
    }

    /// Begins the episode of `seed`, or, without one, the next of the last seed that was given,
    /// the scenario's own at first. Runs until an agent's flow has got its first ACK, or the time
    /// is over.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be built.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(), Error> {
        if let Some(seed) = seed {
            self.seed = (seed, 0);
        }
        let (first, number) = self.seed;
        self.seed.1 += 1;
        // The first is that of a run with the seed.
        let seed = match number {
            0 => first,
            later => Rng::new(first, &format!("environment:episode:{later}")).below(1 << 63),
        };
        let mut episode = open(&self.plan, seed)?;
        loop {
            episode.run(self.plan.every);
            let is_over = episode.built.network.now() >= episode.end;
            if is_over || episode.is_awake() {
                break;
            }
        }
        episode.learn(self.plan.every, &mut self.known);
        self.state = episode.state(&self.plan.agents);
        self.episode = Some(episode);
        Ok(())
    }

    /// The agents decide `actions`, one each, and the scenario runs to their next decision. An
    /// episode that is over stays as it is.
    ///
    /// # Errors
    ///
    /// Without an episode, or with another number of actions than agents.
    pub fn step(&mut self, actions: &[f32]) -> Result<(), Error> {
        let episode = self.episode.as_mut().ok_or(Error::NoEpisode)?;
        if actions.len() != episode.seats.len() {
            let (got, want) = (actions.len(), episode.seats.len());
            return Err(Error::Plan(format!("{got} actions for {want} agents")));
        }
        if self.state.is_over() {
            return Ok(());
        }
        for (seat, action) in episode.seats.iter().zip(actions) {
            locked(seat).decide(f64::from(*action));
        }
        episode.run(self.plan.every);
        episode.learn(self.plan.every, &mut self.known);
        self.state = episode.state(&self.plan.agents);
        Ok(())
    }

    /// How the episode stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The time in the episode.
    pub fn now(&self) -> Time {
        let episode = self.episode.as_ref();
        episode.map_or(Time::ZERO, |episode| episode.built.network.now())
    }

    /// What it was made of.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What agent number `agent` sees.
    pub fn observation(&self, agent: usize) -> impl Iterator<Item = f32> {
        let known = self.known.get(agent).copied().unwrap_or_default();
        let observe = self.plan.observe.iter();
        observe.map(move |feature| feature.of(&known) as f32)
    }

    /// The value of every feature for agent number `agent`, in their order.
    pub fn features(&self, agent: usize) -> impl Iterator<Item = f64> {
        let known = self.known.get(agent).copied().unwrap_or_default();
        Feature::ALL.iter().map(move |feature| feature.of(&known))
    }

    /// The reward of agent number `agent` for the last step.
    pub fn reward(&self, agent: usize) -> f64 {
        let known = self.known.get(agent).copied().unwrap_or_default();
        let terms = self.plan.reward.iter();
        terms
            .map(|(feature, weight)| weight * feature.of(&known))
            .sum()
    }
}
