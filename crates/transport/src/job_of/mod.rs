//! From a scenario and a seed to the job of a kernel's guest: the same path of namespaces, virtual
//! wires and the kernel's own queues.
//!
//! ```text
//! sender ─ wire ─ router ── wire ──── middle ── wire ── router ─ wire ─ receiver
//!                   └ rate, queue       └ delay, loss, jitter
//! ```
//! Queues and losses stand in routers, never at a sender's own end: there the kernel tells a sender
//! of its own drops and holds back what it queues (TSQ). Flows whose stacks are alike share a pair
//! of hosts. What a guest cannot express is a fault at its key.

mod graph;
mod hosts;
mod layout;
mod line;
mod nanoseconds;
mod path;
mod queue;
mod refusal;
mod scenario_job;
mod variant;
mod workloads;

pub use scenario_job::{JobLink, JobWorkload, ScenarioJob};

use crate::captures_of_kernel::Taps;
use layout::Layout;
use nanoseconds::ns;
use refusal::refused;
use trammel_core::schedule::RateSchedule;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_scenario::check::Fault;
use trammel_scenario::model::{Scenario, Tracing};
use trammel_scenario::topology::Topology;

/// Instants at which flows and queues are looked at, about; fewer where there are many flows.
const LOOKS: u64 = 2000;
/// Looks at all flows together at most.
const MOST_LOOKS: u64 = 200_000;
/// Flows of a guest at most.
const MOST_FLOWS: usize = 50_000;
/// From one sample to the next where every ACK was asked for: a tick of the kernel.
const TICK: Span = Span::from_ms(1);

/// Makes the job of one run with `seed`, or says all that stands against it.
pub(crate) fn job_of(scenario: &Scenario, seed: u64) -> Result<ScenarioJob, Vec<Fault>> {
    let mut faults = Vec::new();
    for (at, stream) in scenario.streams.iter().enumerate() {
        faults.push(refused(
            &format!("stream.{at}"),
            &format!("stream `{}` cannot be measured", stream.name),
            "a guest runs TCP flows only",
        ));
    }
    for (at, app) in scenario.apps.iter().enumerate() {
        faults.push(refused(
            &format!("app.{at}"),
            &format!("application `{}` cannot be measured", app.name),
            "a guest runs only flows that are known beforehand, and what an application sends \
             follows from what it gets",
        ));
    }
    let mut layout = Layout::new(scenario, seed);
    let ways = match &scenario.topology {
        Topology::Path(path) => path::lay(&mut layout, path),
        Topology::Graph(graph) => graph::lay(&mut layout, graph),
    };
    let mut attached = hosts::attach(&mut layout, &ways).into_iter();
    let mut flows = Vec::with_capacity(scenario.flows.len());
    for (flow, of) in scenario.flows.iter().zip(&mut attached) {
        layout.job.flows.push(of.flow(flow));
        flows.push(of.described.built);
    }
    let attached: Vec<_> = attached.collect();
    let workloads = workloads::add(&mut layout, &attached);
    if layout.job.flows.len() > MOST_FLOWS {
        let what = format!("{} flows cannot be measured", layout.job.flows.len());
        let why = format!("each has a port of its own, of which a guest has {MOST_FLOWS}");
        layout.faults.push(refused("duration", &what, &why));
    }
    let parameters = variant::parameters(scenario, &mut layout.faults);
    let Layout {
        mut job,
        links,
        faults: of_layout,
        notes,
        ..
    } = layout;
    faults.extend(of_layout);
    if !faults.is_empty() {
        return Err(faults);
    }
    job.parameters = parameters;
    job.seed = seed;
    job.duration_ns = ns(scenario.duration);
    job.warmup_ns = (scenario.warmup > Time::ZERO).then(|| ns(scenario.warmup.since_start()));
    (job.sample_ns, job.queue_ns) = rhythm(scenario);
    job.read_ns = between_readings(&links);
    job.sysctls = hosts::of_all(scenario);
    let job = ScenarioJob {
        job,
        flows,
        workloads,
        links,
        notes,
    };
    match Taps::of(&job, scenario).faults() {
        faults if faults.is_empty() => Ok(job),
        faults => Err(faults),
    }
}

/// How often flows and queues are looked at. Whole seconds are among the instants where they are
/// bins of a run, as in [`observe`](super::observe).
fn rhythm(scenario: &Scenario) -> (i64, i64) {
    let bin = super::observe::bin(scenario.duration);
    let bins = (ns(scenario.duration) / ns(bin)).max(1) as u64;
    let flows = scenario.flows.len().max(1) as u64;
    let looks = LOOKS.min(MOST_LOOKS / flows).max(1);
    let step = ns(bin) / (looks / bins).clamp(1, 1000) as i64;
    match scenario.trace {
        Tracing::Off => (step, step),
        Tracing::Ack => (ns(TICK).min(step), step),
        // A whole part of the interval, so that its instants are among those looked at.
        Tracing::Every(interval) => {
            let interval = u64_of(ns(interval));
            let least = interval.div_ceil(u64_of(step));
            let parts = (least..2 * least).find(|parts| interval.is_multiple_of(*parts));
            let part = (interval / parts.unwrap_or(1)).cast_signed();
            (part.max(1), part.max(1))
        }
    }
}

/// A span, which is never negative.
fn u64_of(ns: i64) -> u64 {
    ns.max(1).cast_unsigned()
}

/// How often receivers read: when the fastest link can have brought so many bytes that the window
/// is still far.
fn between_readings(links: &[JobLink]) -> i64 {
    const BYTES: u64 = 2 << 20;
    const LONGEST: Span = Span::from_ms(100);
    let steps = links
        .iter()
        .flat_map(|link| link.link.schedule.iter().flat_map(RateSchedule::steps));
    let steps = steps.map(|(_, rate)| *rate);
    let rates = links.iter().map(|link| link.link.rate).chain(steps);
    let fastest = rates.map(Rate::as_bps).max().unwrap_or(1).max(1);
    ns(Span::from_secs_f64(BYTES as f64 * 8.0 / fastest as f64).min(LONGEST))
}
