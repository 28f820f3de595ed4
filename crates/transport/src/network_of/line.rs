//! A line of a scenario as two of the simulator's links: the data direction and the way back.

use super::built::BuiltLink;
use anyhow::{Context, anyhow};
use trammel_core::entry::Value;
use trammel_core::schedule::{DeliverySchedule, RateSchedule};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::ids::LinkId;
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_queues::loss::LossModel;
use trammel_scenario::named::link_facts;
use trammel_scenario::path::{Direction, Jitter, Limit, Line, Trace};
use trammel_scenario::plugin::Plugin;
use trammel_scenario::registry::Family;
use trammel_stats::arrivals::Spans;

/// Packets that the way back holds where `[path]` does not say: the length of Linux's own queue.
pub(crate) const BACK_QUEUE_PKTS: u32 = 1000;

/// How the queue of the way back is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackQueue {
    /// As the queue of the data direction.
    Same,
    /// Drop-tail, of the usual length of a host's.
    Host,
}

/// A line and where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) name: &'a str,
    pub(super) line: &'a Line,
    /// One-way propagation delay.
    pub(super) delay: Span,
    pub(super) limit_packets: u32,
    pub(super) back_queue: BackQueue,
    pub(super) seed: u64,
}

impl Placed<'_> {
    /// Adds the line in both directions; returns the indices there and back.
    pub(super) fn add(
        self,
        network: &mut Network,
        links: &mut Vec<BuiltLink>,
    ) -> anyhow::Result<(LinkId, LinkId)> {
        let spec = self.forward()?;
        let (rate, schedule) = (spec.rate.unwrap_or(self.line.rate), spec.schedule.clone());
        let burst_bytes = spec.burst_bytes.filter(|_| self.line.is_bucket());
        let deliveries = spec.deliveries.clone();
        let there = network.add_link(spec);
        links.push(BuiltLink {
            index: there,
            name: self.name.to_owned(),
            rate,
            schedule,
            is_forward: true,
            burst_bytes,
            deliveries,
            is_medium: false,
        });
        let spec = self.backward()?;
        let (name, burst_bytes) = (spec.name.clone(), spec.burst_bytes);
        let back = network.add_link(spec);
        links.push(BuiltLink {
            index: back,
            name,
            rate: self.line.ack_rate,
            schedule: None,
            is_forward: false,
            burst_bytes,
            deliveries: None,
            is_medium: false,
        });
        Ok((there, back))
    }

    fn forward(self) -> anyhow::Result<LinkSpec> {
        let line = self.line;
        let mut spec = LinkSpec::wire(self.name, self.delay);
        spec.seed = self.seed;
        spec.rate = Some(line.rate);
        spec.burst_bytes = line.burst.map(|bytes| bytes.min(most_bytes(line.rate)));
        spec.departure_jitter = line.late(self.limit_packets);
        spec.queue = queue(line, self.limit_packets)?;
        spoil(&mut spec, line)?;
        spec.schedule = schedule(line)?;
        if let Some(schedule) = &spec.schedule {
            spec.rate = Some(schedule.at(Time::ZERO));
        }
        spec.deliveries = line.trace.as_ref().map(deliveries).transpose()?;
        Ok(spec)
    }

    fn backward(self) -> anyhow::Result<LinkSpec> {
        let line = self.line;
        let mut spec = LinkSpec::wire(&format!("{}:back", self.name), self.delay);
        spec.seed = self.seed;
        spec.rate = Some(line.ack_rate);
        spec.burst_bytes = line.burst.map(|bytes| bytes.min(most_bytes(line.ack_rate)));
        spec.departure_jitter = match self.back_queue {
            BackQueue::Same => line.late(self.limit_packets),
            BackQueue::Host => line.late(self.limit_packets.max(BACK_QUEUE_PKTS)),
        };
        spec.queue = match self.back_queue {
            BackQueue::Same => queue(line, self.limit_packets)?,
            BackQueue::Host => Queue::DropTail {
                packets: self.limit_packets.max(BACK_QUEUE_PKTS),
                bytes: most_bytes(line.ack_rate),
            },
        };
        spec.loss = loss(line, Direction::Ack)?;
        Ok(spec)
    }
}

/// What a line may hold at most, in its queue or token bucket: as much as it sends in a million
/// seconds, which no run lasts, so that instants stay within time.
fn most_bytes(rate: Rate) -> u64 {
    const LONGEST_S: u64 = 1_000_000;
    (rate.as_bps() / 8).max(1).saturating_mul(LONGEST_S)
}

/// Loses, delays and reorders packets of the data direction as the line says.
pub(super) fn spoil(spec: &mut LinkSpec, line: &Line) -> anyhow::Result<()> {
    spec.loss = loss(line, Direction::Data)?;
    spec.jitter = line.jitter.as_ref().map(jitter).transpose()?;
    spec.reorder = line
        .reorder
        .map(|reorder| (reorder.probability, reorder.delay));
    Ok(())
}

/// The queue before a line, of `limit_packets` packets.
pub(super) fn queue(line: &Line, limit_packets: u32) -> anyhow::Result<Queue> {
    let discipline = &line.queue.discipline;
    let about = discipline
        .about(Family::Discipline)
        .map_err(|why| anyhow!(why))?;
    // The simulator has a faster way for this one.
    if about.name == "droptail" {
        return Ok(match line.queue.limit {
            Limit::Bytes(bytes) => Queue::DropTail {
                packets: u32::MAX,
                bytes: bytes.min(most_bytes(line.rate.min(line.ack_rate))),
            },
            Limit::Packets(_) | Limit::Bdp(_) => Queue::DropTail {
                packets: limit_packets,
                bytes: most_bytes(line.rate.min(line.ack_rate)),
            },
        });
    }
    let facts = link_facts(line, limit_packets);
    discipline
        .discipline(&facts)
        .map(Queue::Discipline)
        .map_err(|why| anyhow!(why))
}

fn loss(line: &Line, way: Direction) -> anyhow::Result<Option<Box<dyn LossModel>>> {
    let wanted = line.loss.as_ref();
    let wanted = wanted.filter(|loss| loss.direction == way || loss.direction == Direction::Both);
    wanted
        .map(|loss| loss.model.loss_model().map_err(|why| anyhow!(why)))
        .transpose()
}

fn jitter(jitter: &Jitter) -> anyhow::Result<Spans> {
    let law = match jitter {
        Jitter::Drawn(law) => law.clone(),
        Jitter::Uniform(most) => Plugin::new("uniform")
            .with("min", Value::Float(0.0))
            .with("max", Value::Float(most.as_secs_f64())),
    };
    law.distribution()
        .map(Spans::seconds)
        .map_err(|why| anyhow!(why))
}

/// The rate of a line over time, where it changes.
pub(crate) fn schedule(line: &Line) -> anyhow::Result<Option<RateSchedule>> {
    if line.schedule.is_empty() {
        return Ok(None);
    }
    let mut steps: Vec<_> = line
        .schedule
        .iter()
        .map(|change| (change.at, change.rate))
        .collect();
    if steps[0].0 > Time::ZERO {
        steps.insert(0, (Time::ZERO, line.rate));
    }
    Ok(Some(RateSchedule::new(steps, line.schedule_period)?))
}

fn deliveries(trace: &Trace) -> anyhow::Result<DeliverySchedule> {
    let lines: Vec<_> = trace
        .opportunities_ms
        .iter()
        .map(ToString::to_string)
        .collect();
    DeliverySchedule::parse(&lines.join("\n")).with_context(|| format!("`{}`", trace.file))
}
