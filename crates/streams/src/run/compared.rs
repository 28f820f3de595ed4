//! `comparison`: each metric of each stream, every engine beside the others, with errors; means
//! where there are repeats.
//!
//! Errors are relative to what was measured; where nothing was, the prediction's is relative to the
//! simulation. The column `reference` says which.

use super::outcome::{Ran, StreamsOutcome};
use super::summary::Means;
use trammel_core::label::Label;
use trammel_stats::stats::relative_error;

/// The metrics, by the names of their columns, and the units of these.
pub const METRICS: &[(&str, &str)] = &[
    ("packet_rate_pps", "pps"),
    ("payload_bps", "bps"),
    ("lost", "1"),
    ("loss_burst_mean_pkts", "pkts"),
    ("delay_min_us", "us"),
    ("delay_mean_us", "us"),
    ("delay_p50_us", "us"),
    ("delay_p90_us", "us"),
    ("delay_p99_us", "us"),
    ("delay_p999_us", "us"),
    ("delay_max_us", "us"),
    ("jitter_mean_us", "us"),
    ("jitter_rfc3550_us", "us"),
    ("pdv_p99_us", "us"),
    ("ipdv_sd_us", "us"),
    ("reordered_pkts", "pkts"),
    ("duplicate_pkts", "pkts"),
];

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The place of its point.
    pub point: usize,
    /// The place of its stream.
    pub stream: usize,
    /// The name of the metric's column.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// By theory.
    pub predicted: Option<f64>,
    /// In virtual time.
    pub simulated: Option<f64>,
    /// Of real packets.
    pub measured: Option<f64>,
}

impl Compared {
    /// What errors are relative to: its name and its value.
    pub fn reference(&self) -> Option<(&'static str, f64)> {
        let of = |name, value: Option<f64>| Some((name, value?));
        let simulated = self.simulated.filter(|_| self.predicted.is_some());
        of("measured", self.measured).or(of("simulated", simulated))
    }

    /// What the engine of `label` says.
    pub(super) fn by(&self, label: Label) -> Option<f64> {
        match label {
            Label::Measured => self.measured,
            Label::Simulated => self.simulated,
            _ => self.predicted,
        }
    }

    /// The relative error of the prediction and of the simulation.
    pub fn errors(&self) -> (Option<f64>, Option<f64>) {
        let Some((name, reference)) = self.reference() else {
            return (None, None);
        };
        let error = |value: Option<f64>| relative_error(value?, reference);
        let simulated = self.simulated.filter(|_| name != "simulated");
        (error(self.predicted), error(simulated))
    }
}

/// Every row, in the order of points, streams and metrics.
pub fn all(outcome: &StreamsOutcome<'_>) -> Vec<Compared> {
    let mut rows = Vec::new();
    for (point, ran) in outcome.ran.iter().enumerate() {
        let streams = outcome.file.points[point].scenario.streams.len();
        let means = [Means::of(&ran.simulated), Means::of(&ran.measured)];
        for stream in 0..streams {
            rows.extend(of(outcome, (point, ran), &means, stream));
        }
    }
    rows
}

fn of<'a>(
    outcome: &'a StreamsOutcome<'_>,
    (point, ran): (usize, &'a Ran),
    [simulated, measured]: &'a [Means; 2],
    stream: usize,
) -> impl Iterator<Item = Compared> + 'a {
    METRICS.iter().filter_map(move |(metric, unit)| {
        let name = &outcome.file.points[point].scenario.streams[stream].name;
        let row = Compared {
            point,
            stream,
            metric,
            unit,
            predicted: predicted(outcome, (point, ran), stream, metric),
            simulated: simulated.of_stream(name, metric),
            measured: measured.of_stream(name, metric),
        };
        let is_known = row.predicted.is_some() || row.simulated.is_some() || row.measured.is_some();
        is_known.then_some(row)
    })
}

fn predicted(
    outcome: &StreamsOutcome<'_>,
    (point, ran): (usize, &Ran),
    stream: usize,
    metric: &str,
) -> Option<f64> {
    let predicted = ran.predicted.as_ref()?;
    let passage = predicted.passages.get(stream)?;
    let source = &outcome.file.points[point].scenario.streams[stream].source;
    let offered = source.predicted();
    let kept = passage.lost.map(|lost| 1.0 - lost);
    let us = |secs: Option<f64>| secs.map(|secs| secs * 1e6);
    match metric {
        "packet_rate_pps" => Some(offered.mean_rate? * kept?),
        "payload_bps" => Some(offered.mean_bps()? * kept?),
        "lost" => passage.lost,
        "delay_min_us" => us(passage.delay_min_s),
        "delay_mean_us" => us(passage.delay_mean_s),
        "jitter_mean_us" | "jitter_rfc3550_us" => us(passage.jitter_s),
        _ => None,
    }
}
