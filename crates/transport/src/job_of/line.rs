//! A line of a scenario as two wires with a router between them: its rate and queue before the
//! first, its delay and losses before the second; and the same on the way back.

use super::layout::{Layout, Row};
use super::nanoseconds::ns;
use super::queue::{self, ETHERNET_HEADER};
use super::refusal::refused;
use super::scenario_job::JobLink;
use crate::network_of::BuiltLink;
use std::collections::BTreeSet;
use trammel_core::rng::Rng;
use trammel_core::schedule::RateSchedule;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_io::qdisc::{Kind, Loss, Netem, Tbf};
use trammel_kernel::job::{Change, Host, Way};
use trammel_netsim::ids::LinkId;
use trammel_netsim::link::Conditions;
use trammel_queues::loss::netem;
use trammel_scenario::check::Fault;
use trammel_scenario::course::Course;
use trammel_scenario::path::{Direction, Jitter, Line};
use trammel_scenario::registry::Family;
use trammel_stats::dist::Distribution;

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
    /// What of the schedule's delays is not the line's own.
    pub(super) elsewhere: Span,
    pub(super) limit_packets: u32,
    /// Packets that the way back holds; without it, its queue is as that of the data direction.
    pub(super) back_packets: Option<u32>,
}

impl Placed<'_> {
    /// Adds the line between two hosts, or notes what stands against it.
    pub(super) fn add(self, layout: &mut Layout<'_>, ends: [usize; 2]) -> Row {
        layout.faults.extend(self.refused());
        let end = layout.scenario.end();
        // A schedule that is none was told of where the scenario was checked.
        let courses = [Direction::Data, Direction::Ack].map(|way| {
            let course = self.line.course(way, self.delay, self.elsewhere, end);
            course.unwrap_or_default()
        });
        let queue = self.queue(layout, &courses[0]);
        let home = self.queue_back(layout, &courses[1]);
        let there = self.spoil(layout, Direction::Data, &courses[0]);
        let back = self.spoil(layout, Direction::Ack, &courses[1]);
        let [schedule, home_schedule] = courses.map(|course| course.rate);
        let first = |schedule: &Option<RateSchedule>, rate: Rate| {
            schedule.as_ref().map_or(rate, |all| all.at(Time::ZERO))
        };
        let rate = first(&schedule, self.line.rate);
        let home_rate = first(&home_schedule, self.line.ack_rate);
        let (has_spoil, has_back_spoil) = (there.queue.is_some(), back.queue.is_some());
        let is_fifo = matches!(queue.inner, None | Some(Kind::Pfifo { .. }));
        let middle = layout.host(Host::default());
        let mtu = self.line.mtu;
        let mut row = layout.wire([ends[0], middle], mtu, [queue, back]);
        row.join(&layout.wire([middle, ends[1]], mtu, [there, home]));
        let [first, second] = [row.wires[0], row.wires[1]];
        let is_home_bucket = self.line.burst.is_some() && home_schedule.is_none();
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
                rate: home_rate,
                schedule: home_schedule,
                is_forward: false,
                burst_bytes: is_home_bucket.then(|| self.burst()),
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
        for (key, trace) in [("trace", &line.trace), ("ack_trace", &line.ack_trace)] {
            if trace.is_some() {
                let why = "the kernel has no queue with delivery opportunities";
                add(key, "a trace cannot be measured", why);
            }
        }
        if line.reorder.is_some() && (line.jitter.is_some() || line.changes_more()) {
            let why =
                "the kernel's netem would have packets overtake others that are not held back";
            add(
                "reorder",
                "reordering with jitter or other delays cannot be measured",
                why,
            );
        }
        if line.overhead < ETHERNET_HEADER {
            let why = "the kernel counts 14 bytes of Ethernet beside each packet";
            add("overhead", "fewer than 14 bytes cannot be measured", why);
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
    fn queue(self, layout: &mut Layout<'_>, course: &Course) -> Way {
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
        self.bucket_of(course, self.line.rate, limit, inner, layout.scenario.end())
    }

    /// A bucket with `inner` in it, which changes as the course of its direction says.
    fn bucket_of(self, course: &Course, rate: Rate, limit: u32, inner: Kind, end: Time) -> Way {
        let first = course.rate.as_ref().map_or(rate, |all| all.at(Time::ZERO));
        Way {
            queue: Some(Kind::Tbf(self.bucket(first, limit))),
            inner: Some(inner),
            changes: self.rates(course, limit, end),
            police: queue::police(self.line),
            is_watched: true,
        }
    }

    /// The changes of a bucket over a course.
    fn rates(self, course: &Course, limit: u32, end: Time) -> Vec<(i64, Change)> {
        let Some(rates) = &course.rate else {
            return Vec::new();
        };
        let is_cut = |at: Time| course.cut.as_ref().is_some_and(|cut| cut.at(at));
        let mut instants: BTreeSet<Time> = rates.changes(end).map(|(_, at, _)| at).collect();
        if let Some(cut) = &course.cut {
            instants.extend(cut.changes(end).map(|(_, at, _)| at));
        }
        let mut before = (rates.at(Time::ZERO), is_cut(Time::ZERO));
        let mut all = Vec::new();
        for at in instants {
            let now = (rates.at(at), is_cut(at));
            if now == before {
                continue;
            }
            let mut add = |change| all.push((ns(at.since_start()), change));
            let bucket = self.bucket(now.0, limit);
            match now {
                // A bucket that holds no packet takes none in.
                (_, true) => {
                    let none = Tbf { burst: 1, ..bucket };
                    add(Change::Options(Kind::Tbf(none)));
                    add(Change::Empty);
                }
                (rate, false) if rate.as_bps() == 0 => {
                    let one = Tbf {
                        burst: self.line.mtu + self.line.overhead,
                        ..bucket
                    };
                    add(Change::Options(Kind::Tbf(one)));
                }
                (_, false) => {
                    add(Change::Options(Kind::Tbf(bucket)));
                    if before.0.as_bps() == 0 {
                        add(Change::Look);
                    }
                }
            }
            before = now;
        }
        all
    }

    /// What queues the way back.
    fn queue_back(self, layout: &Layout<'_>, course: &Course) -> Way {
        let inner = match self.back_packets {
            Some(limit) => Kind::Pfifo { limit },
            // A fault of it is noted of the data direction.
            None => match queue::of(self.line, self.limit_packets) {
                Ok(inner) => inner,
                Err(_) => return Way::default(),
            },
        };
        let limit = self.limit_packets;
        let way = self.bucket_of(
            course,
            self.line.ack_rate,
            limit,
            inner,
            layout.scenario.end(),
        );
        Way {
            police: match self.back_packets {
                Some(_) => None,
                None => queue::police(self.line),
            },
            ..way
        }
    }

    /// What delays and loses packets behind the queue of a direction.
    fn spoil(self, layout: &mut Layout<'_>, way: Direction, course: &Course) -> Way {
        let line = self.line;
        let name = match way {
            Direction::Ack => format!("{}:back", self.name),
            Direction::Data | Direction::Both => self.name.to_owned(),
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
        let (jitter, table) = if way == Direction::Data {
            self.jitter(layout)
        } else {
            (Jittered::none(), Vec::new())
        };
        let grants = line.grants;
        let grants = grants.filter(|one| one.direction == way || one.direction == Direction::Both);
        let is_plain = self.delay == Span::ZERO && jitter.is_none() && loss == Loss::None;
        let is_steady = course.conditions.is_none() && line.delay_limit.is_none();
        if is_plain && is_steady && grants.is_none() {
            return Way::default();
        }
        // That of the simulated link, so that losses of netem's kind are the same ones.
        let seed = netem::seed(&mut Rng::new(layout.seed, &format!("link:{name}:loss")));
        let falls = course.conditions.as_ref().is_some_and(|steps| {
            steps.steps().iter().any(|(_, one)| {
                one.delay != self.delay || one.jitter.is_some_and(|most| most > Span::ZERO)
            })
        });
        let first = Netem {
            // The kernel's jitter is around the delay, the scenario's beyond it.
            delay_ns: ns(self.delay).cast_unsigned() + jitter.centre_ns,
            jitter_ns: jitter.deviation_ns,
            table,
            keeps_order: (!jitter.is_none() || falls) && !line.overtakes && line.reorder.is_none(),
            limit: line.delay_limit.unwrap_or(ON_THE_WAY),
            loss,
            slot: grants.map(|grants| (ns(grants.every).cast_unsigned(), grants.packets)),
            seed,
        };
        let with = |base: &Netem, number: u64, conditions: Conditions| {
            let most = conditions.jitter;
            let delay_ns = ns(conditions.delay).cast_unsigned();
            let jitter = most.map_or(jitter, Jittered::uniform);
            Netem {
                delay_ns: delay_ns + jitter.centre_ns,
                jitter_ns: jitter.deviation_ns,
                loss: conditions.loss.map_or(base.loss, Loss::Independent),
                slot: None,
                seed: seed.wrapping_add(number),
                ..base.clone()
            }
        };
        let mut way = Way {
            queue: Some(Kind::Netem(first.clone())),
            ..Way::default()
        };
        if let Some(steps) = &course.conditions {
            let start = Netem {
                slot: first.slot,
                ..with(&first, 0, steps.at(Time::ZERO))
            };
            way.queue = Some(Kind::Netem(start));
            let changes = steps
                .changes(layout.scenario.end())
                .map(|(number, at, conditions)| {
                    let netem = with(&first, number, conditions);
                    (ns(at.since_start()), Change::Options(Kind::Netem(netem)))
                });
            way.changes = changes.collect();
        }
        way
    }

    /// The jitter of the data direction, with the kernel's table of its law.
    fn jitter(self, layout: &mut Layout<'_>) -> (Jittered, Vec<i16>) {
        let line = self.line;
        if let Some(reorder) = line.reorder {
            let (share, delay) = (reorder.probability, reorder.delay.as_secs_f64());
            return tabled(|part| if part >= 1.0 - share { delay } else { 0.0 });
        }
        match &line.jitter {
            None => (Jittered::none(), Vec::new()),
            Some(Jitter::Uniform(most)) => (Jittered::uniform(*most), Vec::new()),
            Some(Jitter::Drawn(law)) => match law.distribution() {
                Ok(law) => tabled(|part| quantile(&*law, part)),
                Err(why) => {
                    let place = format!("{}.jitter", self.place);
                    let what = "this jitter cannot be measured";
                    layout.faults.push(refused(&place, what, &why));
                    (Jittered::none(), Vec::new())
                }
            },
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

/// Jitter as the kernel has it: around a delay.
#[derive(Clone, Copy, Debug)]
struct Jittered {
    centre_ns: u64,
    deviation_ns: u64,
}

impl Jittered {
    fn none() -> Jittered {
        Jittered {
            centre_ns: 0,
            deviation_ns: 0,
        }
    }

    fn uniform(most: Span) -> Jittered {
        let half = ns(most / 2).cast_unsigned();
        Jittered {
            centre_ns: half,
            deviation_ns: half,
        }
    }

    fn is_none(self) -> bool {
        self.deviation_ns == 0
    }
}

/// Entries of a table of jitter: the most that the kernel takes.
const ENTRIES: usize = 16_384;
/// An entry of this much is a deviation of `jitter_ns` (`NETEM_DIST_SCALE`).
const SCALE: f64 = 8192.0;
/// The largest `jitter_ns`: the kernel has it in 32 bits.
const LARGEST_DEVIATION_NS: f64 = 2e9;

/// The kernel's table of a law whose value, in seconds, is `quantile` of the part of values below.
fn tabled(quantile: impl Fn(f64) -> f64) -> (Jittered, Vec<i16>) {
    let part = |entry: usize| (entry as f64 + 0.5) / ENTRIES as f64;
    let most_ns = 2.0 * LARGEST_DEVIATION_NS * f64::from(i16::MAX) / SCALE;
    let values: Vec<f64> = (0..ENTRIES)
        .map(|entry| (quantile(part(entry)) * 1e9).clamp(0.0, most_ns))
        .collect();
    let (low, high) = (values[0], values[ENTRIES - 1]);
    let centre = f64::midpoint(low, high).round();
    let deviation = ((high - centre) * SCALE / f64::from(i16::MAX))
        .ceil()
        .max(1.0);
    let entry = |value: &f64| ((value - centre) / deviation * SCALE).round() as i16;
    let jitter = Jittered {
        centre_ns: centre as u64,
        deviation_ns: deviation as u64,
    };
    (jitter, values.iter().map(entry).collect())
}

/// The value that `part` of a law's values are at most: by halving, since laws know only the
/// opposite.
fn quantile(law: &dyn Distribution, part: f64) -> f64 {
    // Longer than any jitter of use.
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if law.cdf(middle) >= part {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_the_values_of_its_law() {
        let (jitter, table) = tabled(|part| 0.010 * part * part);
        assert_eq!(table.len(), ENTRIES);
        let value = |entry: i16| {
            jitter.centre_ns as f64 + jitter.deviation_ns as f64 * f64::from(entry) / SCALE
        };
        let mean = table.iter().map(|entry| value(*entry)).sum::<f64>() / ENTRIES as f64;
        // A third of 10 ms, in nanoseconds.
        assert!((mean - 3_333_333.0).abs() < 300.0, "{mean}");
        assert!(
            table
                .iter()
                .all(|entry| (-200.0..10_000_200.0).contains(&value(*entry)))
        );
        // Two values: one packet in ten is held back.
        let (jitter, table) = tabled(|part| if part >= 0.9 { 0.005 } else { 0.0 });
        let late = table.iter().filter(|entry| **entry > 0).count();
        assert!(late.abs_diff(ENTRIES / 10) <= 1, "{late}");
        assert!(jitter.deviation_ns > 0);
    }
}
