//! What of a path emulators have words for: two ways, each with a rate, a delay, losses, a queue.

use trammel_core::entry::{About, Params};
use trammel_core::time::Span;
use trammel_core::units::Rate;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Direction, Jitter, Limit, Path, Trace};
use trammel_scenario::registry::Family;
use trammel_scenario::topology::Topology;

/// What counts beside an IP packet on an Ethernet interface.
pub(crate) const ETHERNET_HEADER: u32 = 14;

/// Packets of a queue that is never full.
pub(crate) const DEEP_PKTS: u32 = 100_000;

/// Losses that emulators know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Losses {
    /// Each packet by itself.
    Independent(f64),
    /// Two states: to the bad one, back, and what is lost in the good and in the bad one.
    Gilbert(f64, f64, f64, f64),
}

/// How packets of one direction are treated.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) rate: Rate,
    /// A Mahimahi trace in place of the rate.
    pub(crate) trace: Option<Trace>,
    pub(crate) delay: Span,
    /// The most that is added to the delay, drawn uniformly.
    pub(crate) jitter: Option<Span>,
    pub(crate) losses: Option<Losses>,
    /// From grant to grant, and packets of each.
    pub(crate) grants: Option<(Span, u32)>,
    /// The queue's law with its settings; none of the way back, which drops nothing.
    pub(crate) law: Option<(&'static About, Params)>,
    pub(crate) limit: Limit,
    pub(crate) limit_packets: u32,
    /// Of a token bucket, in bytes.
    pub(crate) burst: Option<u64>,
    /// Packets behind the queue at most.
    pub(crate) delay_limit: Option<u32>,
}

/// A path as emulators see it.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) data: Way,
    pub(crate) back: Way,
    /// Bytes beside each IP packet.
    pub(crate) overhead: u32,
    pub(crate) mtu: u32,
    /// Whether packets overtake each other.
    pub(crate) overtakes: bool,
    /// What no emulator here does.
    pub(crate) left_out: Vec<String>,
}

impl Shape {
    /// The shape of the path of `scenario`.
    pub(crate) fn of(scenario: &Scenario) -> Result<Shape, String> {
        let Topology::Path(path) = &scenario.topology else {
            return Err(
                "it is a network of several links, and emulators get one path; give a scenario \
                 whose only link is that of `[path]`"
                    .to_owned(),
            );
        };
        if path.wifi.is_some() {
            return Err(
                "its bottleneck is a wireless cell, which no emulator here has; give a path with \
                 `rate`"
                    .to_owned(),
            );
        }
        let limit_packets = scenario.queue_packets().first().copied().unwrap_or(1);
        let line = &path.line;
        let mut left_out = left_out(path);
        let law = &line.queue.discipline;
        let law = (
            law.about(Family::Discipline)?,
            law.params(Family::Discipline)?,
        );
        let jitter = match &line.jitter {
            None => None,
            Some(Jitter::Uniform(most)) => Some(*most),
            Some(Jitter::Drawn(law)) => {
                left_out.push(format!(
                    "jitter by `{}`: give a time, which is the most of a uniform one",
                    law.name
                ));
                None
            }
        };
        let losses = |way| losses(path, way, &mut Vec::new());
        let grants = |way: Direction| {
            let grants = line.grants.as_ref()?;
            let is_of = grants.direction == way || grants.direction == Direction::Both;
            is_of.then_some((grants.every, grants.packets))
        };
        let delay = Span::from_ps(path.rtt.as_ps() / 2);
        let data = Way {
            rate: line.rate,
            trace: line.trace.clone(),
            delay,
            jitter,
            losses: losses(Direction::Data),
            grants: grants(Direction::Data),
            law: Some(law),
            limit: line.queue.limit,
            limit_packets,
            burst: line.burst,
            delay_limit: line.delay_limit,
        };
        let back = Way {
            rate: line.ack_rate,
            trace: line.ack_trace.clone(),
            delay: Span::from_ps(path.rtt.as_ps() - delay.as_ps()),
            jitter: None,
            losses: losses(Direction::Ack),
            grants: grants(Direction::Ack),
            law: None,
            limit: Limit::Packets(DEEP_PKTS),
            limit_packets: DEEP_PKTS,
            burst: None,
            delay_limit: None,
        };
        let mut unknown = Vec::new();
        self::losses(path, Direction::Both, &mut unknown);
        left_out.extend(unknown);
        Ok(Shape {
            data,
            back,
            overhead: line.overhead,
            mtu: line.mtu,
            overtakes: line.overtakes,
            left_out,
        })
    }
}

/// The losses of a direction; what nobody knows is said in `unknown`.
fn losses(path: &Path, way: Direction, unknown: &mut Vec<String>) -> Option<Losses> {
    let loss = path.line.loss.as_ref()?;
    let is_of = loss.direction == way || Direction::Both == loss.direction;
    if !is_of && way != Direction::Both {
        return None;
    }
    let params = loss.model.params(Family::Loss).ok()?;
    match loss.model.about(Family::Loss).ok()?.name {
        "bernoulli" | "netem" => Some(Losses::Independent(params.float("probability"))),
        "gilbert-elliott" => Some(Losses::Gilbert(
            params.float("p"),
            params.float("r"),
            params.float("loss_good"),
            params.float("loss_bad"),
        )),
        name => {
            unknown.push(format!("losses by `{name}`: emulators lose at random"));
            None
        }
    }
}

/// What no emulator here does of a path.
fn left_out(path: &Path) -> Vec<String> {
    let line = &path.line;
    let all = [
        (
            !line.schedule.is_empty(),
            "`schedule`: the path stays as it is at the start",
        ),
        (
            line.reorder.is_some(),
            "`reorder` as a table: netem's `reorder` sends ahead, it does not hold back",
        ),
        (
            path.access.is_some(),
            "`access`: its delay is within the round trip, its rate is nowhere",
        ),
        (
            line.processing.is_some(),
            "`processing`: this machine has its own",
        ),
    ];
    let all = all.into_iter().filter(|(is_there, _)| *is_there);
    all.map(|(_, what)| what.to_owned()).collect()
}
