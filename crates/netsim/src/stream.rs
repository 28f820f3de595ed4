//! A stream of datagrams: a source with its plan, and a sink that counts loss, delay and jitter.

use crate::apps::Party;
use crate::ids::{LinkId, StreamId, UserId};
use crate::packet::Packet;
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_stats::dist::Distribution;
use trammel_stats::histogram::Histogram;

/// A datagram of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it leaves.
    pub at: Time,
    /// Bytes of its payload.
    pub payload_bytes: u32,
    /// Bytes that links count: with headers and lower layers.
    pub wire_bytes: u32,
}

/// Datagrams in the order of their times.
pub type Plan = Box<dyn Iterator<Item = Departure> + Send>;

/// Datagrams at `times` whose payloads follow `law`, from 1 to `max_payload` bytes, each with
/// `overhead_bytes` of headers and lower layers.
pub fn sized(
    times: impl Iterator<Item = Time> + Send + 'static,
    law: Box<dyn Distribution>,
    mut rng: Rng,
    max_payload: u32,
    overhead_bytes: u32,
) -> Plan {
    Box::new(times.map(move |at| {
        let size = law.sample(&mut rng).round().max(1.0);
        let payload_bytes = (size as u32).clamp(1, max_payload);
        Departure {
            at,
            payload_bytes,
            wire_bytes: payload_bytes + overhead_bytes,
        }
    }))
}

/// What a stream is made of.
pub struct StreamSpec {
    /// Its name in tables and traces.
    pub name: String,
    /// The datagrams: an absolute plan.
    pub plan: Plan,
    /// When it stops.
    pub stop: Time,
    /// Links from source to sink.
    pub route: Vec<LinkId>,
    /// Whether what arrives is kept for [`take_arrivals`](crate::network::Network::take_arrivals).
    pub keeps_arrivals: bool,
}

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its place in the stream, from 0.
    pub number: u32,
    /// Bytes of its payload.
    pub payload_bytes: u32,
    /// When it was sent.
    pub sent: Time,
    /// When it arrived.
    pub arrived: Time,
}

impl std::fmt::Debug for StreamSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamSpec")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A stream at work.
#[derive(Debug)]
pub struct Stream {
    pub(crate) spec: StreamSpec,
    /// The user of an application whose datagrams they are, and who gets them.
    pub(crate) user: Option<(UserId, Party)>,
    /// The one that leaves next.
    next: Option<Departure>,
    pub(crate) arrivals: Vec<Arrival>,
    /// Datagrams sent.
    pub sent_pkts: u64,
    /// Payload bytes sent.
    pub sent_bytes: u64,
    /// Datagrams received.
    pub received_pkts: u64,
    /// Payload bytes received.
    pub received_bytes: u64,
    /// Datagrams that came after a later one.
    pub reordered_pkts: u64,
    /// One-way delay, ps.
    pub delay: Histogram,
    /// Interarrival jitter of RFC 3550 §6.4.1, ps.
    pub jitter_ps: f64,
    /// When the last datagram arrived.
    pub last_arrival: Time,
    last_transit: Option<u64>,
    highest: u32,
}

impl Stream {
    pub(crate) fn new(spec: StreamSpec) -> Stream {
        Stream::with_delays(spec, Histogram::of_times())
    }

    /// The datagrams of an application, to end `to` of `user`; what they are worth the application
    /// says itself.
    pub(crate) fn of_app(spec: StreamSpec, user: UserId, to: Party) -> Stream {
        Stream {
            user: Some((user, to)),
            // As small as one can be: nothing is recorded.
            ..Stream::with_delays(spec, Histogram::new(1, 2, 1))
        }
    }

    fn with_delays(spec: StreamSpec, delay: Histogram) -> Stream {
        Stream {
            spec,
            user: None,
            next: None,
            arrivals: Vec::new(),
            sent_pkts: 0,
            sent_bytes: 0,
            received_pkts: 0,
            received_bytes: 0,
            reordered_pkts: 0,
            delay,
            jitter_ps: 0.0,
            last_arrival: Time::ZERO,
            last_transit: None,
            highest: 0,
        }
    }

    /// The stream's name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// When the next datagram is planned, if there is one before the stream stops.
    pub(crate) fn next_departure(&mut self) -> Option<Time> {
        let stop = self.spec.stop;
        self.next = self.spec.plan.next().filter(|next| next.at < stop);
        self.next.map(|next| next.at)
    }

    /// The datagram that leaves at `now`.
    pub(crate) fn emit(&mut self, index: StreamId, now: Time) -> Packet {
        let next = self.next.take();
        let next = next.expect("a departure was planned before it is due");
        self.send(index, now, (next.payload_bytes, next.wire_bytes))
    }

    /// A datagram of so many bytes of payload, and so many that links count, leaves at `now`.
    pub(crate) fn send(
        &mut self,
        index: StreamId,
        now: Time,
        (payload_bytes, wire_bytes): (u32, u32),
    ) -> Packet {
        let number = self.sent_pkts as u32;
        self.sent_pkts += 1;
        self.sent_bytes += u64::from(payload_bytes);
        let stream = index.index() as u32;
        Packet::datagram(stream, number, payload_bytes, wire_bytes, now)
    }

    /// A datagram arrives at `now`.
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) {
        self.last_arrival = now;
        self.received_pkts += 1;
        self.received_bytes += u64::from(packet.segment.len);
        if self.user.is_some() {
            return;
        }
        if self.spec.keeps_arrivals {
            self.arrivals.push(Arrival {
                number: packet.segment.seq,
                payload_bytes: packet.segment.len,
                sent: packet.sent(),
                arrived: now,
            });
        }
        if packet.segment.seq < self.highest {
            self.reordered_pkts += 1;
        }
        self.highest = self.highest.max(packet.segment.seq);
        let transit = (now - packet.sent()).as_ps();
        self.delay.record(transit);
        //= rfc3550 §6.4.1
        //# J(i) = J(i-1) + (|D(i-1,i)| - J(i-1))/16
        if let Some(last) = self.last_transit {
            self.jitter_ps += (transit.abs_diff(last) as f64 - self.jitter_ps) / 16.0;
        }
        self.last_transit = Some(transit);
    }
}
