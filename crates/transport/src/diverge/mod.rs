//! Where the simulator and the real kernel part: one run of each over the same path and losses, the
//! segments of one sender held against each other.
//!
//! ```text
//! kernel ── captures ──> events ─┐
//!             └ which packets the path lost ─> losses        walk ─> the first segment that differs ─> mechanism ─> show
//! simulator, with those losses ────────────> events ─┘
//! ```
//! The kernel runs first: its netem draws what is lost, and the simulator then loses the same
//! packets, by their numbers on the link.

mod events;
mod losses;
mod mechanism;
pub mod show;
mod state;
mod walk;

pub use events::Event;
pub use mechanism::Finding;
pub use state::State;
pub use walk::Parting;

use crate::{instrument, measure, simulate};
use anyhow::{Context, bail};
use losses::Taps;
use trammel_core::time::{Span, Time};
use trammel_core::units::TxTime;
use trammel_netsim::ids::FlowId;
use trammel_netsim::pcapng::write_segments;
use trammel_report::run_folder::RunFolder;
use trammel_scenario::check::told;
use trammel_scenario::model::{Scenario, Tracing};
use trammel_scenario::path::Line;
use trammel_scenario::topology::Topology;

/// Captures that are kept of a part of a run before the parting, and behind it.
const BEFORE: Span = Span::from_secs(1);
const BEHIND: usize = 20;
/// What is always taken for the same instant, beside [`SLACK_PACKETS`] on the slowest line: the
/// kernel's ticks are as long.
const TICK: Span = Span::from_ms(1);
/// Packets by which a token bucket may be ahead of a wire, and behind it.
const SLACK_PACKETS: u64 = 4;
/// Packets that the kernel's token bucket holds where the scenario has a wire.
const BUCKET_PACKETS: u64 = 2;

/// What is compared.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Both run it.
    pub scenario: Scenario,
    /// Which of its flows is looked at.
    pub flow: usize,
    /// Segments within so long of each other are sent at the same time; by default,
    /// [`usual_tolerance`].
    pub tolerance: Option<Span>,
    /// Until when; by default, the scenario's end.
    pub until: Option<Span>,
    /// The seed of both.
    pub seed: u64,
}

/// How often the kernel's receivers read: as often as a guest can.
const READ_NS: i64 = 1_000_000;

/// One side's view of the flow.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Segments at its sender, in the order in which they passed.
    pub events: Vec<Event>,
    /// Its sender over time.
    pub states: Vec<State>,
}

impl Side {
    /// Events from the sender's start on, which was at an instant of the run, and its states by the
    /// run's time.
    fn new((events, start): (Vec<Event>, Time), mut states: Vec<State>) -> Side {
        states.retain(|state| state.at >= start);
        for state in &mut states {
            state.at = Time::ZERO + state.at.saturating_since(start);
        }
        Side { events, states }
    }
}

/// What came of a comparison. Sides are the simulator and the kernel, in this order.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The flow's name and its variant.
    pub flow: (String, String),
    /// Which kernel.
    pub kernel: String,
    /// What was seen.
    pub sides: [Side; 2],
    /// Segments with data that both sent alike before.
    pub alike: usize,
    /// Until when they were compared.
    pub until: Time,
    /// What was taken for the same instant.
    pub tolerance: Span,
    /// Packets that the path lost at random, in both.
    pub lost: usize,
    /// Where they part.
    pub parting: Option<(Parting, Finding)>,
}

/// The lines of a scenario.
fn lines_mut(scenario: &mut Scenario) -> Vec<&mut Line> {
    match &mut scenario.topology {
        Topology::Path(path) => vec![&mut path.line],
        Topology::Graph(graph) => graph.links.iter_mut().map(|link| &mut link.line).collect(),
    }
}

/// A millisecond, and four packets on the slowest line: the kernel's ticks and its token bucket are
/// as coarse.
pub fn usual_tolerance(scenario: &Scenario) -> Span {
    let packets = |line: &Line| {
        let bytes = SLACK_PACKETS * u64::from(line.mtu + line.overhead);
        TxTime::new(line.rate).of(bytes)
    };
    TICK + scenario
        .topology
        .lines()
        .map(packets)
        .max()
        .unwrap_or_default()
}

/// What both sides of [`compare`] are called in words.
const SIDES: [&str; 2] = ["the simulator", "the kernel"];
/// What both sides of [`between`] are.
pub(crate) const KERNELS: [&str; 2] = ["the old kernel", "the new kernel"];
/// Two kernels do the same at the same instant of virtual time; so much apart is no rounding.
pub(crate) const KERNELS_TOLERANCE: Span = Span::from_us(10);

/// What a kernel's sender did.
struct Measured {
    side: Side,
    /// When the flow began, from the run's start.
    start: Time,
    /// Packets that the path lost at random, by link.
    lost: Vec<(String, Vec<f64>)>,
}

/// Runs `scenario` in a guest of `kernel` and looks at one flow.
fn measured(
    kernel: &instrument::Ready,
    scenario: &Scenario,
    seed: u64,
    flow: usize,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<Measured> {
    let mut job = measure::job(scenario, seed)?;
    let taps = Taps::add(&mut job, flow);
    // What is not read takes up memory, by which the kernel's receiver grows its window and answers
    // every segment for longer or shorter.
    job.job.read_ns = READ_NS;
    let answer = measure::ask(&kernel.machine, scenario, &job, interrupted)?;
    if let Some(missed) = answer.captures.iter().find(|one| one.missed > 0) {
        bail!(
            "{} packets were not captured; shorten the run with `--until`",
            missed.missed
        );
    }
    let lost = taps.lost(&answer);
    let captured = events::of_capture(taps.sender(&answer), flow);
    let start = captured.1;
    let side = Side::new(captured, state::of_samples(&answer.flows[flow]));
    Ok(Measured { side, start, lost })
}

/// Runs both kernels with the same seed and finds where their senders part. Nothing stands for the
/// simulator: what the path loses at random is each kernel's own, by the same seed.
pub(crate) fn between(
    wish: &Wish,
    kernels: [&instrument::Ready; 2],
    interrupted: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<Compared> {
    let mut scenario = wish.scenario.clone();
    if let Some(until) = wish.until {
        scenario.duration = scenario.duration.min(until);
    }
    scenario.warmup = Time::ZERO;
    scenario.trace = Tracing::Ack;
    let Some(flow) = scenario.flows.get(wish.flow) else {
        bail!("there is no flow to compare; flows of workloads have no names");
    };
    let named = (flow.name.clone(), flow.variant.name.clone());
    let setting = mechanism::Setting::of(flow).of_kernels();
    let run = |kernel| measured(kernel, &scenario, wish.seed, wish.flow, interrupted);
    let (old, new) = (run(kernels[0])?, run(kernels[1])?);
    let until = Time::ZERO + scenario.end().saturating_since(old.start.max(new.start));
    let count = old.lost.iter().map(|(_, numbers)| numbers.len()).sum();
    let sides = [old.side, new.side];
    let tolerance = wish.tolerance.unwrap_or(KERNELS_TOLERANCE);
    let (alike, parting) = walk::walk([&sides[0].events, &sides[1].events], tolerance, until);
    let parting = parting.map(|parting| {
        let finding = mechanism::find(&sides, KERNELS, &parting, &setting, tolerance);
        (parting, finding)
    });
    Ok(Compared {
        flow: named,
        kernel: kernels[1].about.clone(),
        sides,
        alike,
        until,
        tolerance,
        lost: count,
        parting,
    })
}

/// Runs both and finds where they part.
pub fn compare(wish: &Wish, interrupted: &(dyn Fn() -> bool + Sync)) -> anyhow::Result<Compared> {
    let mut scenario = wish.scenario.clone();
    if let Some(until) = wish.until {
        scenario.duration = scenario.duration.min(until);
    }
    scenario.warmup = Time::ZERO;
    scenario.trace = Tracing::Ack;
    for line in lines_mut(&mut scenario) {
        // What the kernel's bucket has where the scenario has a wire: by its two packets after each
        // idle time, the simulator would fall behind.
        line.burst
            .get_or_insert(BUCKET_PACKETS * u64::from(line.mtu + line.overhead));
        // Two that are late each by its own are not alike for long.
        line.processing = Some(Span::ZERO);
    }
    let faults = [measure::refusals(&scenario), losses::refusals(&scenario)].concat();
    if !faults.is_empty() {
        bail!(told(&faults));
    }
    let Some(flow) = scenario.flows.get(wish.flow) else {
        bail!("there is no flow to compare; flows of workloads have no names");
    };
    let named = (flow.name.clone(), flow.variant.name.clone());
    let setting = mechanism::Setting::of(flow);
    let kernel = instrument::Ready::of(&scenario, interrupted)?;
    let theirs = measured(&kernel, &scenario, wish.seed, wish.flow, interrupted)?;
    let count = theirs.lost.iter().map(|(_, numbers)| numbers.len()).sum();
    losses::impose(&mut scenario, &theirs.lost);
    // Times count from the flow's start.
    let until = Time::ZERO + scenario.end().saturating_since(theirs.start);
    let (passed, trace) = simulate::sender(&scenario, wish.seed, FlowId::new(wish.flow))?;
    let simulated = Side::new(
        events::of_simulated(&passed),
        trace.iter().map(State::of).collect(),
    );
    let sides = [simulated, theirs.side];
    let tolerance = wish.tolerance.unwrap_or_else(|| usual_tolerance(&scenario));
    let (alike, parting) = walk::walk([&sides[0].events, &sides[1].events], tolerance, until);
    let parting = parting.map(|parting| {
        let finding = mechanism::find(&sides, SIDES, &parting, &setting, tolerance);
        (parting, finding)
    });
    Ok(Compared {
        flow: named,
        kernel: kernel.about,
        sides,
        alike,
        until,
        tolerance,
        lost: count,
        parting,
    })
}

/// Writes both captures into `folder`, from a second before the parting to some segments behind it.
pub fn save(compared: &Compared, folder: &mut RunFolder) -> anyhow::Result<()> {
    let at = compared.parting.as_ref().map(|(parting, _)| parting.at);
    for (side, name) in compared.sides.iter().zip(["simulator", "kernel"]) {
        let (from, end) = match at {
            Some(at) => {
                let behind = side.events.iter().filter(|event| event.at > at).nth(BEHIND);
                (at.saturating_sub(BEFORE), behind.map(|event| event.at))
            }
            None => (Time::ZERO, None),
        };
        let kept = side
            .events
            .iter()
            .filter(|event| event.at >= from && end.is_none_or(|end| event.at <= end));
        let path = folder.file(&format!("{name}.pcapng"))?;
        let file = std::fs::File::create(&path).with_context(|| format!("`{}`", path.display()))?;
        let file = std::io::BufWriter::new(file);
        let segments = kept.map(|event| (event.at, event.is_sent, event.segment));
        write_segments(name, segments, Box::new(file))?;
    }
    Ok(())
}
