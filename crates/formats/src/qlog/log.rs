//! What one trace says, gathered while it is read: sums, and samples that are thinned evenly.
//!
//! Windows are counted in packets: of as many bytes as the log's own bytes and packets in flight
//! say, else of the largest packet that was sent.

use crate::imported::Trace;
use crate::rows::{Rows, finite, maybe};
use trammel_qlog::{Body, Metrics};
use trammel_stats::table::Cell;
use trammel_stats::table::CellType::{self, Float, Int, Text};

/// Samples that are kept; beyond, every second one goes.
const MOST_SAMPLES: usize = 8192;
/// Bytes of a packet where nobody says (RFC 9000 §14.1).
const PACKET: f64 = 1200.0;

/// The columns of the flows.
pub(super) const FLOWS: &[(&str, CellType)] = &[
    ("flow", Text),
    ("active_s", Float),
    ("throughput_mbps", Float),
    ("sent_pkts", Int),
    ("lost_pkts", Int),
    ("loss", Float),
    ("recoveries", Int),
    ("timeouts", Int),
    ("rtt_min_us", Float),
    ("rtt_mean_us", Float),
    ("cwnd_mean_pkts", Float),
    ("cwnd_max_pkts", Float),
    ("packet_bytes", Float),
];

const SAMPLES: &[(&str, CellType)] = &[
    ("time_s", Float),
    ("cwnd_pkts", Float),
    ("ssthresh_pkts", Float),
    ("srtt_us", Float),
    ("rtt_us", Float),
    ("in_flight_pkts", Float),
    ("pacing_bps", Float),
    ("state", Text),
];

/// What is known at an instant.
#[derive(Clone, Debug, Default)]
struct Sample {
    time_ms: f64,
    metrics: Metrics,
    state: String,
}

/// What a log says, gathered while it is read.
#[derive(Debug, Default)]
pub(super) struct Log {
    now: Sample,
    samples: Vec<Sample>,
    stride: u64,
    looks: u64,
    first_ms: Option<f64>,
    last_ms: f64,
    /// Events that are earlier than the one before them, and when that was.
    late: u64,
    before_ms: Option<f64>,
    sent: u64,
    sent_bytes: u64,
    lost: u64,
    largest: u64,
    recoveries: u64,
    timeouts: u64,
    /// Round trips: their sum and number, the least.
    rtt: (f64, u64, Option<f64>),
    /// The latest round trip, until a sample has it.
    unseen_rtt: Option<f64>,
    /// The window over time: bytes times milliseconds, milliseconds, the last instant, the largest.
    window: (f64, f64, Option<f64>, f64),
    per_packet: Option<f64>,
}

impl Log {
    pub(super) fn take(&mut self, time_ms: f64, body: Body) {
        if !time_ms.is_finite() {
            return;
        }
        let first = self.first_ms.unwrap_or(time_ms);
        self.late += u64::from(self.before_ms.is_some_and(|before| time_ms < before));
        self.before_ms = Some(time_ms);
        self.last_ms = match self.first_ms {
            Some(_) => self.last_ms.max(time_ms),
            None => time_ms,
        };
        self.first_ms = Some(first.min(time_ms));
        match body {
            Body::Metrics(new) => self.metrics(time_ms, &new),
            Body::State { new, .. } => {
                let is_recovery = |name: &str| name.contains("recovery");
                let is_timeout = |name: &str| name.contains("timeout") || name.contains("rto");
                if is_timeout(&new) {
                    self.timeouts += 1;
                } else if is_recovery(&new) && !is_recovery(&self.now.state) {
                    self.recoveries += 1;
                }
                self.now.state = new.chars().take(64).collect();
                self.look(time_ms);
            }
            Body::Sent(packet) => {
                self.sent += 1;
                let length = packet.length.unwrap_or(0).min(1 << 16);
                self.sent_bytes += length;
                self.largest = self.largest.max(length);
            }
            Body::Lost(_) => self.lost += 1,
            Body::Received(_) | Body::Other(_) => {}
        }
    }

    fn metrics(&mut self, time_ms: f64, new: &Metrics) {
        let positive = |value: Option<f64>| value.filter(|value| *value >= 0.0 && *value < 1e15);
        // Before the first sample, some stacks say that a round trip takes no time.
        let round_trip = |value: Option<f64>| positive(value).filter(|rtt| *rtt > 0.0);
        if let Some(rtt) = round_trip(new.latest_rtt).filter(|_| !self.is_told_again(new)) {
            self.rtt.0 += rtt;
            self.rtt.1 += 1;
            self.rtt.2 = Some(self.rtt.2.map_or(rtt, |least| least.min(rtt)));
            self.unseen_rtt = Some(rtt);
        }
        if let Some(least) = round_trip(new.min_rtt) {
            self.rtt.2 = Some(self.rtt.2.map_or(least, |known| known.min(least)));
        }
        self.hold_window_until(time_ms);
        let held = &mut self.now.metrics;
        let fields: [(&mut Option<f64>, Option<f64>); 8] = [
            (&mut held.congestion_window, new.congestion_window),
            (&mut held.ssthresh, new.ssthresh),
            (&mut held.smoothed_rtt, round_trip(new.smoothed_rtt)),
            (&mut held.latest_rtt, round_trip(new.latest_rtt)),
            (&mut held.rtt_variance, new.rtt_variance),
            (&mut held.bytes_in_flight, new.bytes_in_flight),
            (&mut held.packets_in_flight, new.packets_in_flight),
            (&mut held.pacing_rate, new.pacing_rate),
        ];
        for (field, value) in fields {
            if let Some(value) = positive(value) {
                *field = Some(value);
            }
        }
        if let Some(bytes) = self.now.metrics.congestion_window {
            self.window.2.get_or_insert(time_ms);
            self.window.3 = self.window.3.max(bytes);
        }
        if let (Some(bytes), Some(packets)) = (new.bytes_in_flight, new.packets_in_flight)
            && packets >= 1.0
            && (1.0..1e5).contains(&(bytes / packets))
        {
            let each = bytes / packets;
            self.per_packet = Some(self.per_packet.map_or(each, |known| known.max(each)));
        }
        self.look(time_ms);
    }

    /// Whether the latest round trip is that of an event before. Stacks that write all values at
    /// each event copy it; a new one of the same length moves the smoothed value or its variance.
    fn is_told_again(&self, new: &Metrics) -> bool {
        let held = &self.now.metrics;
        let is_same = |new: Option<f64>, held: Option<f64>| new.is_none() || new == held;
        let alone = Metrics {
            latest_rtt: new.latest_rtt,
            ..Metrics::default()
        };
        *new != alone
            && new.latest_rtt == held.latest_rtt
            && is_same(new.smoothed_rtt, held.smoothed_rtt)
            && is_same(new.rtt_variance, held.rtt_variance)
    }

    /// Counts the window as it is up to `time_ms`. An event that is late takes nothing back.
    fn hold_window_until(&mut self, time_ms: f64) {
        let bytes = self.now.metrics.congestion_window;
        if let (Some(bytes), Some(before)) = (bytes, &mut self.window.2) {
            let passed = (time_ms - *before).max(0.0);
            self.window.0 += bytes * passed;
            self.window.1 += passed;
            *before = before.max(time_ms);
        }
    }

    fn look(&mut self, time_ms: f64) {
        self.looks += 1;
        if !self.looks.is_multiple_of(self.stride + 1) {
            return;
        }
        if self.samples.len() >= MOST_SAMPLES {
            let mut n = 0_usize;
            self.samples.retain(|_| {
                n += 1;
                n % 2 == 1
            });
            self.stride = self.stride * 2 + 1;
        }
        let mut sample = Sample {
            time_ms,
            ..self.now.clone()
        };
        // A round trip is a sample once, other values hold until the next.
        sample.metrics.latest_rtt = self.unseen_rtt.take();
        self.samples.push(sample);
    }

    /// Whether it has any event.
    pub(super) fn has_events(&self) -> bool {
        self.first_ms.is_some()
    }

    /// Whether nothing is known of windows and round trips.
    pub(super) fn has_no_metrics(&self) -> bool {
        self.samples.is_empty()
    }

    /// How many events are earlier than the one before them.
    pub(super) fn late(&self) -> u64 {
        self.late
    }

    /// Adds the row of the flow `name` to `flows`, and gives its samples.
    pub(super) fn put(mut self, name: &str, flows: &mut Rows) -> Option<Trace> {
        // The last window holds to the end of the log.
        self.hold_window_until(self.last_ms);
        let first = self.first_ms.unwrap_or(self.last_ms);
        let packet = self.per_packet.unwrap_or(match self.largest {
            0 => PACKET,
            bytes => bytes as f64,
        });
        let pkts = |bytes: Option<f64>| maybe(bytes.map(|bytes| bytes / packet));
        let active = (self.last_ms - first) / 1e3;
        let us = |ms: Option<f64>| maybe(ms.map(|ms| ms * 1e3));
        let (sum, count, least) = self.rtt;
        let (area, time, _, largest) = self.window;
        let known = |count: u64| (self.sent > 0).then_some(count);
        let throughput = (self.sent_bytes > 0).then(|| self.sent_bytes as f64 * 8e-6 / active);
        flows.push(&[
            ("flow", name.into()),
            ("active_s", finite(active)),
            ("throughput_mbps", maybe(throughput)),
            ("sent_pkts", known(self.sent).into()),
            ("lost_pkts", known(self.lost).into()),
            ("loss", finite(self.lost as f64 / self.sent as f64)),
            ("recoveries", self.recoveries.into()),
            ("timeouts", self.timeouts.into()),
            ("rtt_min_us", us(least)),
            ("rtt_mean_us", us((count > 0).then(|| sum / count as f64))),
            ("cwnd_mean_pkts", pkts((time > 0.0).then(|| area / time))),
            ("cwnd_max_pkts", pkts((largest > 0.0).then_some(largest))),
            ("packet_bytes", finite(packet)),
        ]);
        self.samples
            .sort_by(|one, other| one.time_ms.total_cmp(&other.time_ms));
        let mut samples = Rows::new("flow", SAMPLES);
        for one in &self.samples {
            let metrics = &one.metrics;
            let in_flight = match metrics.packets_in_flight {
                Some(packets) => finite(packets),
                None => pkts(metrics.bytes_in_flight),
            };
            let state = match one.state.as_str() {
                "" => Cell::Empty,
                state => state.into(),
            };
            samples.push(&[
                ("time_s", finite((one.time_ms - first) / 1e3)),
                ("cwnd_pkts", pkts(metrics.congestion_window)),
                ("ssthresh_pkts", pkts(metrics.ssthresh)),
                ("srtt_us", us(metrics.smoothed_rtt)),
                ("rtt_us", us(metrics.latest_rtt)),
                ("in_flight_pkts", in_flight),
                ("pacing_bps", maybe(metrics.pacing_rate)),
                ("state", state),
            ]);
        }
        Some(Trace {
            entity: name.to_owned(),
            samples: samples.finish()?,
        })
    }
}
