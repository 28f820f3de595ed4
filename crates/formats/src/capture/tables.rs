//! The tables and samples of a capture.

use super::connection::{Connection, Place};
use super::flow::{Flow, Sample};
use super::packet::End;
use super::round_trips::RoundTrips;
use super::{Capture, OTHER_CAPTURE};
use crate::error::ImportError;
use crate::imported::{Run, Trace};
use crate::rows::{Rows, finite, maybe};
use core::net::IpAddr;
use std::collections::BTreeMap;
use trammel_stats::stats::jain;
use trammel_stats::table::CellType::{self, Float, Int, Text};
use trammel_stats::table::{Cell, Table};

/// A direction with less than this part of the largest one's payload is none of the flows that
/// are studied: the control connection of a tester, the requests of a download.
const SMALL: u64 = 1000;
/// Flows whose samples are kept, those with the most payload.
const MOST_TRACES: usize = 32;

/// Columns of `flows`: those of simulated flows where they mean the same, then those of captures.
const FLOWS: &[(&str, CellType)] = &[
    ("flow", Text),
    ("from", Text),
    ("to", Text),
    ("start_s", Float),
    ("active_s", Float),
    ("goodput_mbps", Float),
    ("throughput_mbps", Float),
    ("share", Float),
    ("retransmissions_pkts", Int),
    ("timeouts", Int),
    ("sent_pkts", Int),
    ("delivered_bytes", Int),
    ("rtt_min_us", Float),
    ("rtt_mean_us", Float),
    ("rtt_p5_us", Float),
    ("rtt_p50_us", Float),
    ("rtt_p95_us", Float),
    ("rtt_p99_us", Float),
    ("cwnd_mean_pkts", Float),
    ("cwnd_max_pkts", Float),
    ("completion_s", Float),
    ("receive_window_limited", Float),
    ("loss", Float),
    ("lost_pkts", Int),
    ("spurious_pkts", Int),
    ("reordered_pkts", Int),
    ("duplicate_acks", Int),
    ("sack_acks", Int),
    ("marks_pkts", Int),
    ("ecn_capable_pkts", Int),
    ("ecn_echo_acks", Int),
    ("in_flight_mean_pkts", Float),
    ("in_flight_max_pkts", Float),
    ("handshake_rtt_us", Float),
    ("rtt_samples", Int),
    ("mss_bytes", Int),
    ("window_scale", Int),
    ("sack", Text),
    ("ecn", Text),
    ("captured_at", Text),
    ("rtt_label", Text),
    ("cwnd_label", Text),
];

/// Columns of `groups`.
const GROUPS: &[(&str, CellType)] = &[
    ("flows", Int),
    ("goodput_mbps", Float),
    ("jain", Float),
    ("latency_loaded_mean_us", Float),
];

/// Columns of a flow's samples.
const SAMPLES: &[(&str, CellType)] = &[
    ("time_s", Float),
    ("cwnd_pkts", Float),
    ("srtt_us", Float),
    ("rtt_us", Float),
    ("in_flight_pkts", Float),
    ("retransmissions_pkts", Int),
    ("acked_bytes", Int),
    ("receive_window_bytes", Int),
];

/// A direction of a connection.
struct Side<'a> {
    connection: &'a Connection,
    from: usize,
    flow: &'a Flow,
    place: Place,
}

impl Side<'_> {
    fn name(&self) -> String {
        let ends = self.connection.ends;
        format!("{}-{}", end(ends[self.from]), end(ends[1 - self.from]))
    }

    fn round_trips(&self) -> &RoundTrips {
        match self.place {
            Place::Sender => &self.flow.beyond,
            // Without timestamps nobody knows the way back to the sender.
            _ => &self.flow.around,
        }
    }

    /// Whether round trips are the sender's own.
    fn rtt_label(&self) -> &'static str {
        match self.place {
            Place::Sender => "measured",
            _ => "inferred",
        }
    }

    /// What the window is: what a sender that spaces its data used of it, which may be less.
    fn cwnd_label(&self) -> &'static str {
        if self.flow.is_paced() {
            "used"
        } else {
            "inferred"
        }
    }

    fn is_far(&self) -> bool {
        self.place != Place::Sender && self.flow.far.mean().is_some()
    }

    fn pkts(&self, bytes: f64) -> f64 {
        bytes / self.flow.segment_bytes() as f64
    }

    fn active_s(&self) -> f64 {
        let flow = self.flow;
        let until = flow.last_news_ns.or(flow.last_data_ns);
        let until = until.unwrap_or(self.connection.start_ns);
        until.saturating_sub(self.connection.start_ns).max(0) as f64 / 1e9
    }

    fn lost_pkts(&self) -> u64 {
        let spurious = self.flow.counts.spurious_pkts;
        self.flow.retransmissions().saturating_sub(spurious)
    }
}

fn end((address, port): End) -> String {
    match address {
        IpAddr::V4(address) => format!("{address}:{port}"),
        IpAddr::V6(address) => format!("[{address}]:{port}"),
    }
}

/// Fills the tables and samples of `run`; says where the packets were seen.
pub(super) fn fill(
    run: &mut Run,
    notes: &mut Vec<String>,
    capture: &Capture,
) -> Result<String, ImportError> {
    let sides = capture.connections.iter().flat_map(|connection| {
        let side = move |from: usize| Side {
            connection,
            from,
            flow: &connection.flows[from],
            place: connection.place(from),
        };
        [side(0), side(1)]
    });
    let mut sides: Vec<Side<'_>> = sides
        .filter(|side| side.flow.first_data_ns.is_some())
        .collect();
    let Some(most) = sides.iter().map(|side| side.flow.delivered_bytes()).max() else {
        let segments = "its TCP segments carry no payload";
        return Err(ImportError::nothing(segments, OTHER_CAPTURE));
    };
    let all = sides.len();
    sides.retain(|side| side.flow.delivered_bytes() >= most.div_ceil(SMALL));
    if sides.len() < all {
        notes.push(format!(
            "{} directions with less than a thousandth of the largest flow's payload are left out.",
            all - sides.len()
        ));
    }
    if sides.iter().any(|side| side.flow.counts.acks == 0) {
        notes.push(
            "Of some flows no acknowledgement was seen: they have neither round trips nor windows."
                .to_owned(),
        );
    }
    let inferred = sides.iter().find_map(|side| side.flow.inferred_payload);
    if let Some(bytes) = inferred {
        notes.push(format!(
            "Of some flows no handshake was seen: larger packets count as segments of {bytes} \
             bytes, which is inferred."
        ));
    }
    let first_ns = capture.first_ns.unwrap_or_default();
    let total: u64 = sides.iter().map(|side| side.flow.delivered_bytes()).sum();
    let mut flows = Rows::new("flows", FLOWS);
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for side in &sides {
        // The same two ends may have had several connections.
        let own = side.name();
        let times = names.entry(own.clone()).or_default();
        *times += 1;
        let name = match *times {
            1 => own,
            n => format!("{own} ({n})"),
        };
        flows.push(&row(side, &name, first_ns, total));
    }
    let flows = flows.finish();
    let called: Vec<String> = flows
        .iter()
        .flat_map(Table::rows)
        .map(|row| row.text("flow").to_owned())
        .collect();
    run.tables.extend(flows);
    run.tables.extend(group(&sides, capture, first_ns));
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.sort_by_key(|at| core::cmp::Reverse(sides[*at].flow.delivered_bytes()));
    order.truncate(MOST_TRACES);
    order.sort_unstable();
    for at in order {
        if let Some(samples) = samples(&sides[at], first_ns) {
            let entity = called[at].clone();
            run.traces.push(Trace { entity, samples });
        }
    }
    Ok(by(&sides))
}

fn by(sides: &[Side<'_>]) -> String {
    let at = |place: Place| sides.iter().any(|side| side.place == place);
    let places: Vec<&str> = [Place::Sender, Place::Receiver, Place::Between]
        .into_iter()
        .filter(|place| at(*place))
        .map(|place| match place {
            Place::Sender => "at the sender",
            Place::Receiver => "at the receiver",
            Place::Between => "between the ends",
        })
        .collect();
    format!("packets seen {}", places.join(" and "))
}

type Cells = Vec<(&'static str, Cell)>;

fn row(side: &Side<'_>, name: &str, first_ns: i64, total: u64) -> Cells {
    let (flow, connection, counts) = (side.flow, side.connection, &side.flow.counts);
    let (from, to) = (connection.ends[side.from], connection.ends[1 - side.from]);
    let active = side.active_s();
    let bytes = flow.delivered_bytes();
    let mbps = |bytes: u64| finite(bytes as f64 * 8e-6 / active);
    let rtt = side.round_trips();
    let quantile = |fraction| maybe(rtt.quantile_us(fraction));
    let window = if side.is_far() { &flow.far } else { &flow.near };
    let is_seen = side.place == Place::Sender || side.is_far();
    let windowed = |value: Option<f64>| maybe(value.filter(|_| is_seen));
    let pkts = |bytes: f64| side.pkts(bytes);
    let largest = window.largest().map(|bytes| bytes as f64);
    let sent = counts.sent_pkts + flow.lost_before();
    let scales = connection.scales;
    let has_scale = scales.iter().all(Option::is_some);
    let is_ecn = connection.is_ecn;
    let yes = |is: bool| Cell::from(if is { "yes" } else { "no" });
    vec![
        ("flow", name.into()),
        ("from", end(from).into()),
        ("to", end(to).into()),
        (
            "start_s",
            finite(connection.start_ns.saturating_sub(first_ns) as f64 / 1e9),
        ),
        ("active_s", finite(active)),
        ("goodput_mbps", mbps(bytes)),
        ("throughput_mbps", mbps(counts.ip_bytes)),
        ("share", finite(bytes as f64 / total.max(1) as f64)),
        ("retransmissions_pkts", flow.retransmissions().into()),
        ("timeouts", counts.timeouts.into()),
        ("sent_pkts", sent.into()),
        ("delivered_bytes", bytes.into()),
        ("rtt_min_us", maybe(rtt.min_us())),
        ("rtt_mean_us", maybe(rtt.mean_us())),
        ("rtt_p5_us", quantile(0.05)),
        ("rtt_p50_us", quantile(0.5)),
        ("rtt_p95_us", quantile(0.95)),
        ("rtt_p99_us", quantile(0.99)),
        ("cwnd_mean_pkts", windowed(window.mean().map(pkts))),
        (
            "cwnd_max_pkts",
            largest
                .filter(|_| is_seen)
                .map(|bytes| pkts(bytes).round())
                .into(),
        ),
        ("completion_s", flow.is_complete().then_some(active).into()),
        ("receive_window_limited", maybe(flow.limited())),
        ("loss", finite(side.lost_pkts() as f64 / sent.max(1) as f64)),
        ("lost_pkts", side.lost_pkts().into()),
        ("spurious_pkts", counts.spurious_pkts.into()),
        ("reordered_pkts", counts.reordered_pkts.into()),
        ("duplicate_acks", counts.duplicate_acks.into()),
        ("sack_acks", counts.sacks.into()),
        ("marks_pkts", counts.marks_pkts.into()),
        ("ecn_capable_pkts", counts.ecn_capable_pkts.into()),
        ("ecn_echo_acks", counts.ecn_echoes.into()),
        (
            "in_flight_mean_pkts",
            windowed(window.flight_mean().map(pkts)),
        ),
        ("in_flight_max_pkts", windowed(largest.map(pkts))),
        ("handshake_rtt_us", maybe(connection.handshake_us())),
        ("rtt_samples", rtt.count().into()),
        ("mss_bytes", flow.mss.map(u64::from).into()),
        (
            // That of the receiver's windows.
            "window_scale",
            scales[1 - side.from]
                .filter(|_| has_scale)
                .map(u64::from)
                .into(),
        ),
        (
            "sack",
            if flow.mss.is_some() {
                yes(connection.has_sack.iter().all(|has| *has))
            } else {
                Cell::Empty
            },
        ),
        (
            "ecn",
            if flow.mss.is_some() {
                yes(is_ecn)
            } else {
                Cell::Empty
            },
        ),
        ("captured_at", side.place.name().into()),
        (
            "rtt_label",
            if rtt.is_empty() {
                Cell::Empty
            } else {
                side.rtt_label().into()
            },
        ),
        (
            "cwnd_label",
            if is_seen && window.mean().is_some() {
                side.cwnd_label().into()
            } else {
                Cell::Empty
            },
        ),
    ]
}

fn group(sides: &[Side<'_>], capture: &Capture, first_ns: i64) -> Option<Table> {
    let seconds = capture.last_ns.saturating_sub(first_ns).max(0) as f64 / 1e9;
    let bytes: Vec<f64> = sides
        .iter()
        .map(|side| side.flow.delivered_bytes() as f64)
        .collect();
    let (sum, count) = sides.iter().fold((0.0, 0.0), |(sum, count), side| {
        let rtt = side.round_trips();
        let weight = rtt.count() as f64;
        (sum + rtt.mean_us().unwrap_or(0.0) * weight, count + weight)
    });
    let mut rows = Rows::new("groups", GROUPS);
    rows.push(&[
        ("flows", sides.len().into()),
        (
            "goodput_mbps",
            finite(bytes.iter().sum::<f64>() * 8e-6 / seconds),
        ),
        ("jain", maybe(jain(&bytes).filter(|_| bytes.len() > 1))),
        ("latency_loaded_mean_us", finite(sum / count)),
    ]);
    rows.finish()
}

fn samples(side: &Side<'_>, first_ns: i64) -> Option<Table> {
    let mut rows = Rows::new("flow", SAMPLES);
    let is_seen = side.place == Place::Sender || side.is_far();
    let pkts = |bytes: Option<u64>| {
        let bytes = bytes.filter(|_| is_seen);
        maybe(bytes.map(|bytes| side.pkts(bytes as f64)))
    };
    let is_around = side.place != Place::Sender;
    for one in &side.flow.samples {
        let Sample { at_ns, .. } = *one;
        let (last, smoothed) = if is_around { one.around } else { one.beyond };
        let (window, flight) = if side.is_far() {
            (one.far_window, one.far_flight)
        } else {
            (one.window, Some(one.flight))
        };
        rows.push(&[
            (
                "time_s",
                finite(at_ns.saturating_sub(first_ns) as f64 / 1e9),
            ),
            ("cwnd_pkts", pkts(window)),
            ("srtt_us", maybe(smoothed)),
            ("rtt_us", maybe(last)),
            ("in_flight_pkts", pkts(flight)),
            ("retransmissions_pkts", one.retransmissions.into()),
            ("acked_bytes", one.acked_bytes.into()),
            ("receive_window_bytes", one.receive_window.into()),
        ]);
    }
    rows.finish()
}
