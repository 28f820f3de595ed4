//! The curves of imported runs: those of simulated runs, from the samples that there are.

use super::page::is_inferred_by;
use super::point::Point;
use trammel_core::label::Label;
use trammel_formats::{Run, Trace};
use trammel_report::Block;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_stats::table::Table;

/// Flows of one plot at most.
const MOST_FLOWS: usize = 8;
/// Instants of a curve that is made of counters.
const STEPS: f64 = 100.0;

/// A curve: its figure's id and title, its axis and unit, the column and what it is multiplied by.
struct Kind {
    id: &'static str,
    title: &'static str,
    axis: (&'static str, &'static str),
    column: &'static str,
    scale: f64,
    mark: Mark,
}

const KINDS: [Kind; 10] = [
    Kind {
        id: "cwnd",
        title: "Congestion window",
        axis: ("cwnd", "packets"),
        column: "cwnd_pkts",
        scale: 1.0,
        mark: Mark::Step,
    },
    Kind {
        id: "rate",
        title: "Goodput",
        axis: ("goodput", "Mbit/s"),
        column: "goodput_mbps",
        scale: 1.0,
        mark: Mark::Line,
    },
    Kind {
        id: "rtt",
        title: "Smoothed round trip",
        axis: ("smoothed round trip", "ms"),
        column: "srtt_us",
        scale: 1e-3,
        mark: Mark::Line,
    },
    Kind {
        id: "rtt-samples",
        title: "Round trips",
        axis: ("round trip", "ms"),
        column: "rtt_us",
        scale: 1e-3,
        mark: Mark::Points,
    },
    Kind {
        id: "flight",
        title: "In flight",
        axis: ("in flight", "packets"),
        column: "in_flight_pkts",
        scale: 1.0,
        mark: Mark::Step,
    },
    Kind {
        id: "queue",
        title: "Queue",
        axis: ("queue", "packets"),
        column: "queue_pkts",
        scale: 1.0,
        mark: Mark::Step,
    },
    Kind {
        id: "queue-delay",
        title: "Queueing delay",
        axis: ("queueing delay", "ms"),
        column: "queue_delay_us",
        scale: 1e-3,
        mark: Mark::Line,
    },
    Kind {
        id: "throughput",
        title: "Throughput",
        axis: ("throughput", "Mbit/s"),
        column: "throughput_mbps",
        scale: 1.0,
        mark: Mark::Line,
    },
    Kind {
        id: "capacity",
        title: "Capacity",
        axis: ("capacity", "Mbit/s"),
        column: "capacity_mbps",
        scale: 1.0,
        mark: Mark::Step,
    },
    Kind {
        id: "retransmissions",
        title: "Retransmissions",
        axis: ("retransmissions so far", "packets"),
        column: "retransmissions_pkts",
        scale: 1.0,
        mark: Mark::Step,
    },
];

/// The samples of a flow, and what is known of them.
struct Curve<'a> {
    name: String,
    label: Label,
    trace: &'a Trace,
    run: &'a Run,
}

impl Curve<'_> {
    /// The label of what `kind` shows; none of what is inferred.
    fn label(&self, kind: &Kind) -> Option<Label> {
        let column = match kind.id {
            "cwnd" | "flight" => "cwnd_label",
            "rtt" | "rtt-samples" => "rtt_label",
            _ => return Some(self.label),
        };
        let rows = self.run.table("flows").into_iter().flat_map(Table::rows);
        let mut own = rows.filter(|row| row.text("flow") == self.trace.entity);
        let is_inferred = own.any(|row| is_inferred_by(row.text(column)));
        // What is in flight at the sender was seen there.
        let is_seen = kind.id == "flight" && self.label_of_rtt() == "measured";
        (is_seen || !is_inferred).then_some(self.label)
    }

    fn label_of_rtt(&self) -> &str {
        let mut rows = self.run.table("flows").into_iter().flat_map(Table::rows);
        let own = rows.find(|row| row.text("flow") == self.trace.entity);
        own.map_or("", |row| row.text("rtt_label"))
    }
}

/// The plots of the first repeat of each point, and a sentence on what they leave out.
pub(super) fn blocks(points: &[Point]) -> (Vec<Block>, Option<String>) {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for point in points {
        let first = point.imported.runs.first();
        for (run, trace) in first
            .into_iter()
            .flat_map(|run| run.traces.iter().map(move |one| (run, one)))
        {
            let name = match points.len() {
                1 => trace.entity.clone(),
                _ => format!("{}: {}", point.name, trace.entity),
            };
            curves.push(Curve {
                name,
                label: point.imported.label,
                trace,
                run,
            });
        }
    }
    let all = curves.len();
    curves.truncate(MOST_FLOWS);
    let left_out = (all > MOST_FLOWS).then(|| {
        format!("The first {MOST_FLOWS} of {all} are shown; `traces/` has the samples of all.")
    });
    let figures = KINDS.iter().filter_map(|kind| {
        let y = Axis::linear(kind.axis.0, kind.axis.1).from_zero();
        let x = Axis::linear("time", "s");
        let mut figure = Figure::new(kind.id, kind.title, x, y).grouped("time");
        for (colour, curve) in curves.iter().enumerate() {
            let points = points_of(kind, curve.trace);
            if points.len() > 1 {
                let mut series = Series::new(curve.name.as_str(), kind.mark, points);
                series.label = curve.label(kind);
                figure = figure.with(series.coloured(colour));
            }
        }
        if figure.series.iter().any(|one| one.label.is_none()) {
            figure.title += ", inferred";
        }
        let is_flat = |one: &Series| one.points.iter().all(|(_, y)| *y == 0.0);
        (!figure.series.iter().all(is_flat)).then_some(Block::Figure(figure))
    });
    (figures.collect(), left_out)
}

fn points_of(kind: &Kind, trace: &Trace) -> Vec<(f64, f64)> {
    let rows = trace.samples.rows();
    let points: Vec<(f64, f64)> = rows
        .filter_map(|row| Some((row.float("time_s")?, row.float(kind.column)? * kind.scale)))
        .collect();
    if points.is_empty() && kind.id == "rate" {
        return goodput(trace);
    }
    points
}

/// Payload acknowledged between samples at least a bin apart, as a rate.
fn goodput(trace: &Trace) -> Vec<(f64, f64)> {
    let rows = trace.samples.rows();
    let counts: Vec<(f64, f64)> = rows
        .filter_map(|row| Some((row.float("time_s")?, row.float("acked_bytes")?)))
        .collect();
    let (Some(first), Some(last)) = (counts.first(), counts.last()) else {
        return Vec::new();
    };
    let bin = (last.0 - first.0) / STEPS;
    let mut before = *first;
    let mut points = Vec::new();
    for one in &counts {
        let passed = one.0 - before.0;
        if passed >= bin && passed > 0.0 {
            points.push((one.0, (one.1 - before.1).max(0.0) * 8e-6 / passed));
            before = *one;
        }
    }
    points
}
