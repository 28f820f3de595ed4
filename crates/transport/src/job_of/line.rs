//! A line of a scenario as two wires with a router between them: its rate and queue before the
//! first, its delay and losses before the second; and the same on the way back.

use super::layout::{Layout, Row};
use super::nanoseconds::ns;
use super::queue::{self, ETHERNET_HEADER};
use super::refusal::refused;
use super::scenario_job::JobLink;
use crate::network_of::{BuiltLink, schedule};
use trammel_core::rng::Rng;
use trammel_core::schedule::RateSchedule;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_io::qdisc::{Kind, Loss, Netem, Tbf};
use trammel_kernel::job::{Host, Way};
use trammel_netsim::ids::LinkId;
use trammel_queues::loss::netem;
use trammel_scenario::check::Fault;
use trammel_scenario::path::{Direction, Jitter, Line};
use trammel_scenario::registry::Family;

/// Packets on their way at most: no path holds more.
const ON_THE_WAY: u32 = 100_000_000;

/// A line and where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) name: &'a str,
    /// Where the scenario gives it.
    pub(super) place: &'a str,
    pub(super) line: &'a Line,
    pub(super) delay: Span,
    pub(super) limit_packets: u32,
    /// Packets that the way back holds; without it, its queue is as that of the data direction.
    pub(super) back_packets: Option<u32>,
}

impl Placed<'_> {
    /// Adds the line between two hosts, or notes what stands against it.
    pub(super) fn add(self, layout: &mut Layout<'_>, ends: [usize; 2]) -> Row {
        layout.faults.extend(self.refused());
        let (queue, home) = (self.queue(layout), self.queue_back(layout));
        let [there, back] = [Direction::Data, Direction::Ack].map(|way| self.spoil(layout, way));
        let schedule = schedule(self.line).ok().flatten();
        let rate = schedule
            .as_ref()
            .map_or(self.line.rate, |all| all.at(Time::ZERO));
        let (has_spoil, has_back_spoil) = (there.queue.is_some(), back.queue.is_some());
        let is_fifo = matches!(queue.inner, None | Some(Kind::Pfifo { .. }));
        let middle = layout.host(Host::default());
        let mtu = self.line.mtu;
        let mut row = layout.wire([ends[0], middle], mtu, [queue, back]);
        row.join(&layout.wire([middle, ends[1]], mtu, [there, home]));
        let [first, second] = [row.wires[0], row.wires[1]];
        layout.links.push(JobLink {
            link: BuiltLink {
                index: LinkId::new(0),
                name: self.name.to_owned(),
                rate,
                schedule,
                is_forward: true,
                burst_bytes: self.line.is_bucket().then(|| self.burst()),
                deliveries: None,
                is_medium: false,
            },
            queue: (first, 0),
            spoil: has_spoil.then_some((second, 0)),
            is_fifo,
        });
        layout.links.push(JobLink {
            link: BuiltLink {
                index: LinkId::new(0),
                name: format!("{}:back", self.name),
                rate: self.line.ack_rate,
                schedule: None,
                is_forward: false,
                burst_bytes: self.line.burst.is_some().then(|| self.burst()),
                deliveries: None,
                is_medium: false,
            },
            queue: (second, 1),
            spoil: has_back_spoil.then_some((first, 1)),
            is_fifo: is_fifo || self.back_packets.is_some(),
        });
        row
    }

    /// What of the line no queue of the kernel is.
    fn refused(self) -> Vec<Fault> {
        let line = self.line;
        let place = |key: &str| format!("{}.{key}", self.place);
        let mut faults = Vec::new();
        let mut add =
            |key: &str, what: &str, why: &str| faults.push(refused(&place(key), what, why));
        if line.trace.is_some() {
            let why = "the kernel has no queue with delivery opportunities";
            add("trace", "a trace cannot be measured", why);
        }
        if line.reorder.is_some() {
            let why = "the kernel's netem advances packets, while this delays them";
            add("reorder", "reordering cannot be measured", why);
        }
        if line.overhead < ETHERNET_HEADER {
            let why = "the kernel counts 14 bytes of Ethernet beside each packet";
            add("overhead", "fewer than 14 bytes cannot be measured", why);
        }
        if matches!(line.jitter, Some(Jitter::Drawn(_))) {
            let why = "the kernel's netem draws uniformly, or from its own tables";
            add("jitter", "jitter by a distribution cannot be measured", why);
        }
        faults
    }

    /// Bytes that the kernel's bucket holds. One that holds no packet would never let one go, and
    /// one that holds a single one loses what a timer is late: 0.4 % at 100 Mbit/s.
    fn burst(self) -> u64 {
        let one = u64::from(self.line.mtu + self.line.overhead);
        self.line.burst.unwrap_or(2 * one).max(one)
    }

    /// A token bucket at `rate`; `limit` packets or bytes, as its queue counts.
    fn bucket(self, rate: Rate, limit: u32) -> Tbf {
        Tbf {
            rate: (rate.as_bps() / 8).max(1),
            burst: u32::try_from(self.burst()).unwrap_or(u32::MAX),
            overhead: self.line.overhead,
            limit,
        }
    }

    /// What queues data: a bucket, with the discipline in it.
    fn queue(self, layout: &mut Layout<'_>) -> Way {
        let inner = match queue::of(self.line, self.limit_packets) {
            Ok(inner) => inner,
            Err((key, why)) => {
                let key = if key.is_empty() {
                    "queue".to_owned()
                } else {
                    format!("queue.{key}")
                };
                let what = "this queue cannot be measured";
                layout
                    .faults
                    .push(refused(&format!("{}.{key}", self.place), what, &why));
                return Way::default();
            }
        };
        // The kernel passes a bucket's limit on to a simple queue in it.
        let limit = match inner {
            Kind::Pfifo { limit } | Kind::Bfifo { limit } => limit,
            _ => u32::MAX,
        };
        let schedule = schedule(self.line).ok().flatten();
        let first = schedule
            .as_ref()
            .map_or(self.line.rate, |all| all.at(Time::ZERO));
        let changes = schedule.map_or_else(Vec::new, |all| changes(&all, layout.scenario.end()));
        let changes = changes
            .into_iter()
            .map(|(at, rate)| (ns(at.since_start()), self.bucket(rate, limit)));
        Way {
            queue: Some(Kind::Tbf(self.bucket(first, limit))),
            inner: Some(inner),
            changes: changes.collect(),
            is_watched: true,
        }
    }

    /// What queues the way back.
    fn queue_back(self, layout: &mut Layout<'_>) -> Way {
        let inner = match self.back_packets {
            Some(limit) => Kind::Pfifo { limit },
            // A fault of it is noted of the data direction.
            None => match queue::of(self.line, self.limit_packets) {
                Ok(inner) => inner,
                Err(_) => return Way::default(),
            },
        };
        let _ = layout;
        Way {
            queue: Some(Kind::Tbf(
                self.bucket(self.line.ack_rate, self.limit_packets),
            )),
            inner: Some(inner),
            is_watched: true,
            ..Way::default()
        }
    }

    /// What delays and loses packets behind the queue of a direction.
    fn spoil(self, layout: &mut Layout<'_>, way: Direction) -> Way {
        let name = match way {
            Direction::Ack => format!("{}:back", self.name),
            Direction::Data | Direction::Both => self.name.to_owned(),
        };
        let jitter = match self.line.jitter {
            Some(Jitter::Uniform(most)) if way == Direction::Data => most,
            _ => Span::ZERO,
        };
        let loss = self.loss(way).unwrap_or_else(|(key, why)| {
            let place = format!("{}.loss{key}", self.place);
            let what = "this loss cannot be measured";
            // Once, although both directions may have it.
            if layout.faults.iter().all(|fault| fault.place != place) {
                layout.faults.push(refused(&place, what, &why));
            }
            Loss::None
        });
        if self.delay == Span::ZERO && jitter == Span::ZERO && loss == Loss::None {
            return Way::default();
        }
        Way {
            queue: Some(Kind::Netem(Netem {
                // The kernel's jitter is around the delay, the scenario's beyond it.
                delay_ns: ns(self.delay + jitter / 2).cast_unsigned(),
                jitter_ns: ns(jitter / 2).cast_unsigned(),
                keeps_order: jitter > Span::ZERO,
                limit: ON_THE_WAY,
                loss,
                // That of the simulated link, so that losses of netem's kind are the same ones.
                seed: netem::seed(&mut Rng::new(layout.seed, &format!("link:{name}:loss"))),
            })),
            ..Way::default()
        }
    }

    fn loss(self, way: Direction) -> Result<Loss, (&'static str, String)> {
        let wanted = self.line.loss.as_ref();
        let Some(loss) =
            wanted.filter(|loss| loss.direction == way || loss.direction == Direction::Both)
        else {
            return Ok(Loss::None);
        };
        let params = loss.model.params(Family::Loss).map_err(|why| ("", why))?;
        let about = loss.model.about(Family::Loss).map_err(|why| ("", why))?;
        match about.name {
            "bernoulli" | "netem" => Ok(Loss::Independent(params.float("probability"))),
            "gilbert-elliott" => Ok(Loss::GilbertElliott(
                ["p", "r", "loss_bad", "loss_good"].map(|key| params.float(key)),
            )),
            name => {
                let why = format!(
                    "the kernel's netem has no loss that is `{name}`; it has `bernoulli`, `netem` \
                     and `gilbert-elliott`"
                );
                Err(("", why))
            }
        }
    }
}

/// The changes of a rate after the start and before `end`.
fn changes(schedule: &RateSchedule, end: Time) -> Vec<(Time, Rate)> {
    let mut all = Vec::new();
    let mut at = Time::ZERO;
    while let Some((next, rate)) = schedule.next_change(at).filter(|(next, _)| *next < end) {
        all.push((next, rate));
        at = next;
    }
    all
}
