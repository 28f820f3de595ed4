//! What a bottleneck is like: rate, queue, loss, jitter, reordering, changes.

use super::plugin::Plugin;
use trammel_core::entry::Value;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_queues::aqm;

/// How late packets leave a queue of fewer packets than that where nothing else is said: there each
/// packet meets another, and in step to the picosecond always with the same result.
const SHORT_QUEUE_PKTS: u32 = 3;
const SHORT_QUEUE_LATE: Span = Span::from_us(1);

/// What `[path]` and `[[link]]` have in common: how one line treats packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Rate in data direction; the mean rate where a trace sets it.
    pub rate: Rate,
    /// Rate of the way back.
    pub ack_rate: Rate,
    /// Bytes counted beside each IP packet.
    pub overhead: u32,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// The queue before it.
    pub queue: Queue,
    /// Depth of a token bucket in bytes; without it, packets take their time on the wire.
    pub burst: Option<u64>,
    /// How late packets leave the queue at most: what processing and timers add. Without it,
    /// nothing, but before a queue in which each packet meets another.
    pub processing: Option<Span>,
    /// Losses that no queue causes.
    pub loss: Option<Loss>,
    /// Extra delay of each packet.
    pub jitter: Option<Jitter>,
    /// Packets held back.
    pub reorder: Option<Reorder>,
    /// Whether packets overtake each other where their delays say so.
    pub overtakes: bool,
    /// Changes during the run, in the order of time.
    pub schedule: Vec<Change>,
    /// The schedule starts anew after this time.
    pub schedule_period: Option<Span>,
    /// What holds between two changes.
    pub between: Between,
    /// Packets leave the line in bursts.
    pub grants: Option<Grants>,
    /// Packets on their way behind the queue at most.
    pub delay_limit: Option<u32>,
    /// Delivery opportunities in place of a rate.
    pub trace: Option<Trace>,
    /// The same of the way back.
    pub ack_trace: Option<Trace>,
}

impl Line {
    /// Whether it is a token bucket in data direction: a rate that changes has packets on the wire
    /// all the same.
    pub fn is_bucket(&self) -> bool {
        self.burst.is_some() && !self.changes_rate(Direction::Data) && self.trace.is_none()
    }

    /// Whether the schedule changes the rate of a direction, or takes the link down.
    pub fn changes_rate(&self, way: Direction) -> bool {
        let mut changes = self.schedule.iter().filter(|change| change.is_of(way));
        changes.any(|change| change.rate.is_some() || change.state.is_some())
    }

    /// Whether the schedule changes more than the rate of the data direction.
    pub fn changes_more(&self) -> bool {
        self.schedule.iter().any(|change| {
            change.direction != Direction::Data
                || change.delay.is_some()
                || change.loss.is_some()
                || change.jitter.is_some()
                || change.state.is_some()
        })
    }

    /// The fastest rate of the data direction.
    pub fn fastest(&self) -> Rate {
        let of_data = |change: &&Change| change.is_of(Direction::Data);
        let rates = self.schedule.iter().filter(of_data);
        let rates = rates.filter_map(|change| change.rate);
        rates.chain([self.rate]).max().unwrap_or(self.rate)
    }

    /// How late packets leave a queue of `limit_packets` packets at most.
    pub fn late(&self, limit_packets: u32) -> Span {
        self.processing
            .unwrap_or(if limit_packets < SHORT_QUEUE_PKTS {
                SHORT_QUEUE_LATE
            } else {
                Span::ZERO
            })
    }

    /// A line of `rate` in both directions with a droptail queue of one bdp.
    pub fn new(rate: Rate) -> Line {
        Line {
            rate,
            ack_rate: rate,
            overhead: 14,
            mtu: 1500,
            queue: Queue::default(),
            burst: None,
            processing: None,
            loss: None,
            jitter: None,
            reorder: None,
            overtakes: false,
            schedule: Vec::new(),
            schedule_period: None,
            between: Between::Steps,
            grants: None,
            delay_limit: None,
            trace: None,
            ack_trace: None,
        }
    }

    /// The limit of the queue in packets, for a path whose unloaded round trip is `rtt`.
    pub fn queue_packets(&self, rtt: Span) -> u32 {
        match self.queue.limit {
            Limit::Packets(n) => n,
            Limit::Bytes(n) => (n / u64::from(self.mtu)).max(1) as u32,
            // The bdp itself is not rounded first: half of 7.8 packets is 3.
            Limit::Bdp(times) => {
                let bits = self.rate.as_bps() as f64 * rtt.as_secs_f64() * times;
                (bits / 8.0 / f64::from(self.mtu)).floor().max(1.0) as u32
            }
        }
    }
}

/// `[path]`: one bottleneck between all senders and all receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// How the bottleneck treats packets.
    pub line: Line,
    /// Unloaded round trip of the whole path.
    pub rtt: Span,
    /// A link of its own for every host.
    pub access: Option<Access>,
    /// The bottleneck is a wireless cell.
    pub wifi: Option<Wifi>,
}

/// A queue, its law and its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// The law.
    pub discipline: Plugin,
    /// The limit.
    pub limit: Limit,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::new("droptail")
    }
}

impl Queue {
    /// The discipline `name` with its own limit, else one bdp.
    pub fn new(name: &str) -> Queue {
        Queue {
            discipline: name.into(),
            limit: Limit::usual(name),
        }
    }
    /// Sets the limit.
    pub fn limit(mut self, limit: Limit) -> Queue {
        self.limit = limit;
        self
    }
    /// Sets a parameter of the discipline.
    pub fn param(mut self, key: &str, value: Value) -> Queue {
        self.discipline = self.discipline.with(key, value);
        self
    }
    /// Marks in place of drops, where the discipline can.
    pub fn ecn(self) -> Queue {
        self.param("ecn", Value::Bool(true))
    }
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(u64),
    /// Bandwidth-delay products of the path.
    Bdp(f64),
}

impl Limit {
    /// The limit of the discipline `name` where none is given: as Linux has it for those that keep
    /// the delay short by themselves, else one bdp.
    pub fn usual(name: &str) -> Limit {
        let own = aqm::find(name).and_then(|entry| entry.limit_pkts);
        own.map_or(Limit::Bdp(1.0), Limit::Packets)
    }
}

/// Losses that no queue causes.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The law.
    pub model: Plugin,
    /// Whose packets are lost.
    pub direction: Direction,
}

/// A direction of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From senders to receivers.
    Data,
    /// From receivers to senders.
    Ack,
    /// Both, each with a model of its own.
    Both,
}

/// Extra delay of each packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Jitter {
    /// Uniform from zero to this.
    Uniform(Span),
    /// Seconds drawn from a distribution.
    Drawn(Plugin),
}

/// Packets held back so that later ones overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Fraction of packets held back.
    pub probability: f64,
    /// For how long.
    pub delay: Span,
}

/// Bursts in which packets leave a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grants {
    /// From a packet, or from the grant before, to the grant.
    pub every: Span,
    /// Packets of a grant.
    pub packets: u32,
    /// Whose packets.
    pub direction: Direction,
}

/// One change of a line; what it does not name stays as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// Of which direction.
    pub direction: Direction,
    /// The new rate; none for zero, which is an outage.
    pub rate: Option<Rate>,
    /// The new one-way delay of the path.
    pub delay: Option<Span>,
    /// The new probability of loss.
    pub loss: Option<f64>,
    /// The most of an extra delay, drawn uniformly.
    pub jitter: Option<Span>,
    /// Whether the link goes down, or up again.
    pub state: Option<LinkState>,
}

impl Change {
    /// A change at `at` that changes nothing yet.
    pub fn new(at: Time, direction: Direction) -> Change {
        Change {
            at,
            direction,
            rate: None,
            delay: None,
            loss: None,
            jitter: None,
            state: None,
        }
    }

    /// The rate of the data direction becomes `rate` at `at`.
    pub fn of_rate(at: Time, rate: Rate) -> Change {
        Change {
            rate: Some(rate),
            ..Change::new(at, Direction::Data)
        }
    }

    /// Whether it changes something that `other` changes too.
    pub(crate) fn overlaps(&self, other: &Change) -> bool {
        let has_state = |one: &Change| one.state.is_some() || one.rate.is_some();
        (self.delay.is_some() && other.delay.is_some())
            || (self.loss.is_some() && other.loss.is_some())
            || (self.jitter.is_some() && other.jitter.is_some())
            || (has_state(self) && has_state(other))
    }

    /// Whether it is of `way`, [`Direction::Both`] for either.
    pub(crate) fn is_of(&self, way: Direction) -> bool {
        self.direction == way || self.direction == Direction::Both || way == Direction::Both
    }
}

/// Whether a link carries packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It does.
    Up,
    /// It does not, and its queue keeps what waits and takes what comes.
    Held,
    /// It does not; what waits, what is being sent and what comes is dropped.
    Cut,
}

/// What holds between two rows of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The row before.
    Steps,
    /// Values on the straight line to the next row, in steps of 10 ms.
    Linear,
}

/// A mahimahi trace: at each of these milliseconds a packet of 1504 bytes may leave; then it
/// repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The file, as the scenario names it.
    pub file: String,
    /// Milliseconds of the delivery opportunities, never falling; the last one is the period.
    pub opportunities_ms: Vec<u64>,
}

impl Trace {
    /// Bytes of one delivery opportunity (mahimahi, `PACKET_SIZE`).
    pub const BYTES: u64 = 1504;

    /// Reads the text of a trace file, or says what is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<Trace, String> {
        let mut opportunities_ms = Vec::new();
        for (n, line) in text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty())
        {
            let at: u64 = line.trim().parse().map_err(|_| {
                format!(
                    "line {} of `{file}` is no whole number of milliseconds",
                    n + 1
                )
            })?;
            if opportunities_ms.last().is_some_and(|last| at < *last) {
                return Err(format!("line {} of `{file}` goes back in time", n + 1));
            }
            opportunities_ms.push(at);
        }
        if opportunities_ms.last().is_none_or(|last| *last == 0) {
            return Err(format!("`{file}` has no delivery opportunity after 0 ms"));
        }
        Ok(Trace {
            file: file.to_owned(),
            opportunities_ms,
        })
    }

    /// The mean rate over a period.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities_ms.len() as u64 * Trace::BYTES * 8;
        let period_ms = self.opportunities_ms.last().copied().unwrap_or(1).max(1);
        Rate::from_bps(bits * 1000 / period_ms)
    }
}

/// A link of its own for every host of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Rate of each.
    pub rate: Rate,
    /// One-way delay of each.
    pub delay: Span,
}

impl Access {
    /// The line of each, of a host on `path`.
    pub fn line(&self, path: &Path) -> Line {
        let mut line = Line::new(self.rate);
        line.mtu = path.line.mtu;
        line.overhead = path.line.overhead;
        line.processing = path.line.processing;
        line
    }
}

/// An 802.11 cell as the bottleneck.
#[derive(Clone, Debug, PartialEq)]
pub struct Wifi {
    /// The physical layer; `802.11g` is the only one.
    pub standard: String,
    /// Power at the receiver, dBm.
    pub received_power_dbm: f64,
    /// Distance in metres, which gives the power in its place.
    pub distance_m: Option<f64>,
    /// Stations that contend for the channel.
    pub stations: u32,
}

impl Wifi {
    /// The fastest mode of 802.11g (IEEE 802.11-2020, clause 18).
    pub(crate) const FASTEST: Rate = Rate::from_bps(54_000_000);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discipline_that_keeps_the_delay_short_has_its_own_limit() {
        assert_eq!(Queue::new("codel").limit, Limit::Packets(1000));
        assert_eq!(Queue::new("fq_codel").limit, Limit::Packets(10_240));
        assert_eq!(Queue::new("pie").limit, Limit::Packets(1000));
        assert_eq!(Queue::new("red").limit, Limit::Bdp(1.0));
    }

    #[test]
    fn a_queue_of_one_bdp_is_rounded_down_and_never_empty() {
        let line = Line::new(Rate::from_bps(1_000_000_000));
        // 1 Gbit/s × 10 ms / 8 / 1500 B = 833.3
        assert_eq!(line.queue_packets(Span::from_ms(10)), 833);
        let slow = Line::new(Rate::from_bps(64_000));
        assert_eq!(slow.queue_packets(Span::from_ms(10)), 1);
    }

    #[test]
    fn a_mahimahi_trace_has_a_mean_rate() {
        // Two packets in 4 ms: 2 × 1504 × 8 bit / 4 ms.
        let trace = Trace::parse("t", "2\n4\n").unwrap();
        assert_eq!(trace.mean_rate(), Rate::from_bps(6_016_000));
        assert!(Trace::parse("t", "4\n2\n").is_err());
        assert!(Trace::parse("t", "").is_err());
    }
}
