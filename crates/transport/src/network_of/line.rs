//! A line of a scenario as two of the simulator's links: the data direction and the way back.

use super::built::BuiltLink;
use anyhow::{Context, anyhow};
use trammel_core::entry::Value;
use trammel_core::schedule::{DeliverySchedule, Steps};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::ids::LinkId;
use trammel_netsim::link::{Conditions, GrantSpec, LinkSpec, Queue};
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
    /// How much sooner packets come out, there and back, to a device that takes them in itself.
    pub(super) early: [Span; 2],
    /// What of the schedule's delays is not the line's own.
    pub(super) elsewhere: Span,
    /// When the run ends.
    pub(super) end: Time,
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
        let (name, schedule) = (spec.name.clone(), spec.schedule.clone());
        let burst_bytes = spec.burst_bytes.filter(|_| schedule.is_none());
        let (rate, deliveries) = (
            spec.rate.unwrap_or(self.line.ack_rate),
            spec.deliveries.clone(),
        );
        let back = network.add_link(spec);
        links.push(BuiltLink {
            index: back,
            name,
            rate,
            schedule,
            is_forward: false,
            burst_bytes,
            deliveries,
            is_medium: false,
        });
        Ok((there, back))
    }

    fn forward(self) -> anyhow::Result<LinkSpec> {
        let line = self.line;
        let mut spec = LinkSpec::wire(self.name, self.delay.saturating_sub(self.early[0]));
        spec.seed = self.seed;
        spec.rate = Some(line.rate);
        spec.burst_bytes = line.burst.map(|bytes| bytes.min(most_bytes(line.rate)));
        spec.departure_jitter = line.late(self.limit_packets);
        spec.queue = queue(line, self.limit_packets)?;
        spoil(&mut spec, line)?;
        self.change(&mut spec, Direction::Data, self.early[0])?;
        spec.deliveries = line.trace.as_ref().map(deliveries).transpose()?;
        Ok(spec)
    }

    /// Has the link change as the line's schedule says.
    fn change(self, spec: &mut LinkSpec, way: Direction, early: Span) -> anyhow::Result<()> {
        let elsewhere = self.elsewhere.saturating_add(early);
        let course = self.line.course(way, spec.delay, elsewhere, self.end)?;
        (spec.schedule, spec.cut) = (course.rate, course.cut);
        if let Some(schedule) = &spec.schedule {
            spec.rate = Some(schedule.at(Time::ZERO));
        }
        let loses = |course: &Steps<Conditions>| course.at(Time::ZERO).loss.is_some();
        if course.conditions.as_ref().is_some_and(loses) && spec.loss.is_none() {
            let model = Plugin::new("netem").with("probability", Value::Float(0.0));
            spec.loss = Some(model.loss_model().map_err(|why| anyhow!(why))?);
        }
        spec.conditions = course.conditions;
        spec.overtakes = self.line.overtakes;
        spec.delay_limit = self.line.delay_limit;
        let grants = self.line.grants;
        let grants = grants.filter(|one| one.direction == way || one.direction == Direction::Both);
        spec.grants = grants.map(|grants| GrantSpec {
            every: grants.every,
            packets: grants.packets,
        });
        Ok(())
    }

    fn backward(self) -> anyhow::Result<LinkSpec> {
        let line = self.line;
        let delay = self.delay.saturating_sub(self.early[1]);
        let mut spec = LinkSpec::wire(&format!("{}:back", self.name), delay);
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
        self.change(&mut spec, Direction::Ack, self.early[1])?;
        spec.deliveries = line.ack_trace.as_ref().map(deliveries).transpose()?;
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

fn deliveries(trace: &Trace) -> anyhow::Result<DeliverySchedule> {
    let lines: Vec<_> = trace
        .opportunities_ms
        .iter()
        .map(ToString::to_string)
        .collect();
    DeliverySchedule::parse(&lines.join("\n")).with_context(|| format!("`{}`", trace.file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_netsim::link::Link;
    use trammel_netsim::packet::Packet;
    use trammel_scenario::topology::Topology;
    use trammel_scenario::{File, preset, schedule_file};

    /// The packets of a log's seconds, sent half a second after each, when no gap is open.
    #[test]
    fn a_leo_log_s_delays_are_reproduced_to_the_microsecond() {
        let text = "[path]\npreset = 'leo'\n[[flow]]\nvariant = 'reno'\n";
        let file = File::parse("leo", text, std::path::Path::new(".")).unwrap();
        let Topology::Path(path) = &file.points[0].scenario.topology else {
            unreachable!("a preset is a path")
        };
        let placed = Placed {
            name: "bottleneck",
            line: &path.line,
            delay: path.rtt / 2,
            early: [Span::ZERO; 2],
            elsewhere: Span::ZERO,
            end: Time::MAX,
            limit_packets: 500,
            back_queue: BackQueue::Host,
            seed: 1,
        };
        let log = preset::find("leo").and_then(|preset| preset.file.as_deref());
        let rows = schedule_file::parse(log.expect("it has a log")).unwrap();
        assert_eq!(rows.len(), 600);
        let sending = Span::from_secs_f64(1000.0 * 8.0 / 180e6);
        let home = Span::from_secs_f64(1000.0 * 8.0 / 20e6);
        for (spec, sending) in [
            (placed.forward().unwrap(), sending),
            (placed.backward().unwrap(), home),
        ] {
            let mut link = Link::new(spec);
            // The log repeats: its second time is as its first.
            for round in [0, 600] {
                for row in &rows {
                    let sent = row.at + Span::from_ms(500) + Span::from_secs(round);
                    link.accept(sent, &Packet::datagram(0, 0, 1000, 1000, sent));
                    let mut packet = Packet::default();
                    let arrived = loop {
                        let now = link.next();
                        if link.advance(now, &mut packet) {
                            break now;
                        }
                    };
                    let delay = arrived - sent - sending;
                    let said = row.data.delay.expect("each row has one");
                    let apart = delay.saturating_sub(said).max(said.saturating_sub(delay));
                    assert!(apart < Span::from_ns(10), "{}: {delay} {said}", row.at);
                }
            }
        }
    }
}
