//! Loading a configuration into simulated time, and running it.

use super::costs::Costs;
use super::host::SimulatedHost;
use super::offer::Offer;
use super::port::{Port, Settings};
use super::report::Report;
use crate::diagnostic::Diagnostics;
use crate::engine::Ctx;
use crate::engine::Options;
use crate::engine::clock::VIRTUAL_START;
use crate::engine::core_clock::{CoreClock, Meter, Speed};
use crate::engine::driver::Progress;
use crate::engine::simulated_core::SimulatedCore;
use crate::host::Host;
use crate::lang;
use crate::load::load;
use crate::memory::MemoryHost;
use trammel_core::time::Time;
use trammel_packet::timestamp::Timestamp;

/// Rounds of tasks between two questions whether to go on.
const ROUNDS: u64 = 64;

/// Batches that may be delivered in one turn of a task, a fifth of a second of this machine: what
/// is under way then is caught in a loop.
const MOST_STEPS: u64 = 1 << 22;

/// The machine that the router runs on.
#[derive(Debug)]
pub struct Machine {
    /// The core's cycles a second.
    pub hz: f64,
    /// What elements cost.
    pub costs: Costs,
    /// What a look at descriptors costs, in cycles.
    pub look_cycles: f64,
    /// Its ports.
    pub ports: Vec<Settings>,
    /// Whose files the configuration reads, and where it prints; in memory unless given.
    pub files: Option<Box<dyn Host>>,
}

/// Why a router is not simulated.
#[derive(Debug)]
pub enum Refusal {
    /// The configuration is wrong.
    Configuration(Diagnostics),
    /// The machine is: what, and what to do.
    Machine(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Configuration(said) => f.write_str(said.click().trim_end()),
            Refusal::Machine(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Refusal {}

/// A router in simulated time.
#[derive(Debug)]
pub struct Simulation {
    router: Ctx,
    ports: Vec<Port>,
    clock: CoreClock,
    start: Timestamp,
    speed: Speed,
    /// What was remarked on the configuration.
    warnings: Diagnostics,
}

impl Simulation {
    /// Loads the configuration `text`, called `name` in messages, on `machine`. `seed` is that of
    /// all random numbers of the elements.
    pub fn load(
        text: &str,
        name: &str,
        language: &lang::Options<'_>,
        machine: Machine,
        seed: u64,
    ) -> Result<Simulation, Refusal> {
        let wrong = |text: String| Refusal::Machine(text);
        let speed = Speed::from_hz(machine.hz).ok_or_else(|| {
            wrong(format!(
                "a core of {} Hz: give a clock rate from 1e3 to 1e12",
                machine.hz
            ))
        })?;
        for (at, port) in machine.ports.iter().enumerate() {
            if let Some(fault) = port.fault() {
                return Err(wrong(fault));
            }
            if machine.ports[..at]
                .iter()
                .any(|other| other.name == port.name)
            {
                return Err(wrong(format!("there are two ports `{}`", port.name)));
            }
        }
        let look = machine.look_cycles;
        if !(0.0..=1e12).contains(&look) {
            return Err(wrong(format!(
                "a look costs {look} cycles; it must be from 0 to 1e12"
            )));
        }
        let (clock, start) = (CoreClock::new(), VIRTUAL_START);
        let meter = Meter::new(clock.clone(), speed);
        let port = |settings| Port::new(settings, meter.clone(), start, seed);
        let ports: Vec<Port> = machine.ports.into_iter().map(port).collect();
        let host = SimulatedHost {
            clock: clock.clone(),
            start,
            ports: ports.clone(),
            files: machine.files.unwrap_or_else(|| Box::new(MemoryHost::new())),
        };
        let options = Options {
            virtual_time: Some(start),
            seed,
            ends_at_loop: true,
            most_steps: MOST_STEPS,
            ..Options::default()
        };
        let loaded = load(text, name, language, Box::new(host), options);
        let (mut router, warnings) =
            loaded.map_err(|refused| Refusal::Configuration(refused.said))?;
        let costs = machine.costs.of(&router).map_err(wrong)?;
        router.simulate(SimulatedCore::new(meter, costs, look), start);
        Ok(Simulation {
            router,
            ports,
            clock,
            start,
            speed,
            warnings,
        })
    }

    /// What was remarked on the configuration.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Why what has happened so far says nothing: packets go round without end.
    pub fn fault(&self) -> Option<String> {
        self.router.loop_fault()
    }

    /// The port called `name`.
    pub fn port(&self, name: &str) -> Option<&Port> {
        self.ports.iter().find(|port| port.name() == name)
    }

    /// All ports, in the order in which they were given.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Has frames come to the port called `name`; whether there is one.
    pub fn offer(&self, name: &str, offer: Offer) -> bool {
        let port = self.port(name);
        if let Some(port) = port {
            port.offer(offer);
        }
        port.is_some()
    }

    /// The core's time since the start.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The core's speed.
    pub fn speed(&self) -> Speed {
        self.speed
    }

    /// The router: its elements, their counters and handlers.
    pub fn router(&mut self) -> &mut Ctx {
        &mut self.router
    }

    /// Runs whatever begins by `until`; what has begun is finished, so the core's time may be later
    /// afterwards. Where nothing is left to do before, time ends when the last frame is out, and
    /// says so by `Idle`.
    pub fn run_until(&mut self, until: Time) -> Progress {
        let (_, last) = self.end_of(until);
        let progress = self.router.run_until(Some(last));
        self.end(progress, until);
        progress
    }

    /// The same for as long as `goes_on`, which is asked every few thousand tasks: some
    /// milliseconds of this machine. None where it was ended before `until`.
    pub fn run_while(
        &mut self,
        until: Time,
        mut goes_on: impl FnMut() -> bool,
    ) -> Option<Progress> {
        let (end, last) = self.end_of(until);
        while goes_on() {
            let progress = self.router.run_rounds(Some(last), ROUNDS);
            let is_over = progress != Progress::Running || self.router.looped().is_some();
            if is_over || self.clock.now() >= end {
                self.end(progress, until);
                return Some(progress);
            }
        }
        None
    }

    /// `until` in whole nanoseconds and as a time of day. Rounded up: what begins at `until` is
    /// run, or who asks for `next_at` would ask for ever.
    fn end_of(&self, until: Time) -> (Time, Timestamp) {
        let ns = until.as_ps().div_ceil(1000);
        let last = self.start + Timestamp(i64::try_from(ns).unwrap_or(i64::MAX));
        (Time::from_ps(ns.saturating_mul(1000)), last)
    }

    /// Time ends when the last frame is out where nothing is left to do.
    fn end(&self, progress: Progress, until: Time) {
        if progress == Progress::Idle {
            let out = self.ports.iter().filter_map(Port::all_out).max();
            self.clock.leap(out.unwrap_or(Time::ZERO).min(until));
        }
    }

    /// When the core will do something next: now, while it has tasks to run; none where it never
    /// will.
    pub fn next_at(&mut self) -> Option<Time> {
        self.router.core_next()
    }

    /// What has happened by now.
    pub fn report(&self) -> Report {
        Report::of(&self.router, &self.ports, self.clock.now())
    }
}
