//! A stream of datagrams: a source with its plan, and a sink that counts loss, delay and jitter.

use crate::packet::Packet;
use trammel_core::dist::Distribution;
use trammel_core::histogram::Histogram;
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// What a stream is made of.
pub struct StreamSpec {
    /// Its name in tables and traces.
    pub name: String,
    /// When each datagram leaves: an absolute plan.
    pub plan: Box<dyn Iterator<Item = Time> + Send>,
    /// Payload of each datagram, bytes.
    pub size: Box<dyn Distribution>,
    /// When it stops.
    pub stop: Time,
    /// Links from source to sink.
    pub route: Vec<usize>,
    /// Bytes that links count beyond the payload: headers and lower layers.
    pub overhead_bytes: u32,
    /// Largest payload of a datagram, bytes.
    pub max_payload: u32,
    /// Seed of the stream's own random streams.
    pub seed: u64,
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
    rng: Rng,
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
    last_transit: Option<u64>,
    highest: u32,
}

impl Stream {
    pub(crate) fn new(spec: StreamSpec) -> Stream {
        let rng = Rng::new(spec.seed, &format!("stream:{}:size", spec.name));
        Stream {
            spec,
            rng,
            sent_pkts: 0,
            sent_bytes: 0,
            received_pkts: 0,
            received_bytes: 0,
            reordered_pkts: 0,
            delay: Histogram::of_times(),
            jitter_ps: 0.0,
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
        self.spec.plan.next().filter(|time| *time < self.spec.stop)
    }

    /// The datagram that leaves at `now`.
    pub(crate) fn emit(&mut self, index: u32, now: Time) -> Packet {
        let size = self.spec.size.sample(&mut self.rng).round().max(1.0);
        let payload = (size as u32).clamp(1, self.spec.max_payload);
        let number = self.sent_pkts as u32;
        self.sent_pkts += 1;
        self.sent_bytes += u64::from(payload);
        Packet::datagram(
            index,
            number,
            payload,
            payload + self.spec.overhead_bytes,
            now,
        )
    }

    /// A datagram arrives at `now`.
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) {
        self.received_pkts += 1;
        self.received_bytes += u64::from(packet.segment.len);
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
