//! `comparison`: each metric of each function and frame size, every engine beside the others, with errors.
//!
//! Errors are relative to what was measured; where nothing was, to what was printed; where that is not either, the
//! prediction's is relative to the simulation. The column `reference` says which.

use super::{Cell as Found, Outcome};
use crate::forwarding::estimate::At;
use crate::scenario::forwarding::{Metric, Test};
use trammel_core::stats::relative_error;

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compared {
    /// The place of the cell among the outcome's.
    pub(super) cell: usize,
    /// Its name in tables: `throughput`, `loss_at_110`.
    pub(super) metric: String,
    /// Its unit.
    pub(super) unit: &'static str,
    pub(super) predicted: Option<f64>,
    /// The ends of the prediction's interval.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) simulated: Option<f64>,
    pub(super) measured: Option<f64>,
    pub(super) published: Option<f64>,
}

impl Compared {
    /// What errors are relative to: its name and its value.
    pub(super) fn reference(&self) -> Option<(&'static str, f64)> {
        let of = |name, value: Option<f64>| Some((name, value?));
        of("measured", self.measured)
            .or(of("published", self.published))
            .or(of(
                "simulated",
                self.simulated.filter(|_| self.predicted.is_some()),
            ))
    }

    /// The relative error of the prediction and of the simulation.
    pub(super) fn errors(&self) -> (Option<f64>, Option<f64>) {
        let Some((name, reference)) = self.reference() else {
            return (None, None);
        };
        let error = |value: Option<f64>| relative_error(value?, reference);
        let simulated = self.simulated.filter(|_| name != "simulated");
        (error(self.predicted), error(simulated))
    }
}

/// A share in percent, without the noise of binary fractions.
pub(super) fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

/// Frames a second of a prediction with the links in, from cycles of the processor.
fn rate(at: &At, cycles: f64) -> f64 {
    let own = at.estimate.cpu_pps() * at.estimate.cycles.centre / cycles;
    let others = at
        .estimate
        .limits
        .iter()
        .filter(|limit| limit.what != "cpu");
    others.fold(own, |least, limit| least.min(limit.pps))
}

/// Every row, in the order of points, functions, sizes and metrics.
pub(super) fn all(outcome: &Outcome<'_>) -> Vec<Compared> {
    let cells = outcome.cells.iter().enumerate();
    cells.flat_map(|(n, cell)| of(outcome, n, cell)).collect()
}

fn of(outcome: &Outcome<'_>, n: usize, cell: &Found) -> Vec<Compared> {
    let (point, tested) = cell.of(outcome.file);
    let printed = |metric: Metric| {
        let mut all = point.scenario.published.iter();
        let is_it = |one: &&crate::scenario::forwarding::Published| {
            one.metric == metric
                && one.frame == cell.frame
                && one
                    .function
                    .as_ref()
                    .is_none_or(|name| *name == tested.name)
        };
        all.find(is_it).map(|one| one.value)
    };
    let (predicted, simulated, measured) = (&cell.predicted, &cell.simulated, &cell.measured);
    let mut rows = vec![
        Compared {
            cell: n,
            metric: "throughput".to_owned(),
            unit: "Mpps",
            predicted: predicted.as_ref().map(|at| at.estimate.rate().pps / 1e6),
            interval: predicted.as_ref().map(|at| {
                let cycles = &at.estimate.cycles;
                (rate(at, cycles.high) / 1e6, rate(at, cycles.low) / 1e6)
            }),
            simulated: simulated.as_ref().map(|sought| sought.pps / 1e6),
            measured: measured
                .as_ref()
                .map(|found| found.pps)
                .filter(|pps| *pps <= cell.line)
                .map(|pps| pps / 1e6),
            published: printed(Metric::Throughput),
        },
        Compared {
            cell: n,
            metric: "cost".to_owned(),
            unit: "cycles",
            predicted: predicted.as_ref().map(|at| at.estimate.cycles.centre),
            interval: predicted.as_ref().map(|at| {
                let cycles = &at.estimate.cycles;
                (cycles.low, cycles.high)
            }),
            // Where links limit, batches are small and the core spends on calls what it has left.
            simulated: simulated
                .as_ref()
                .filter(|sought| sought.bound_by == "cpu")
                .map(|sought| sought.cycles),
            measured: measured.as_ref().map(|found| found.cycles),
            published: printed(Metric::Cycles),
        },
    ];
    if let Some(sought) = simulated {
        for row in &sought.trials {
            let Some(share) = row.share else { continue };
            let percent = percent(share);
            let latency = row.outcome.latency.as_ref();
            let simulated = |metric: String, unit, value: Option<f64>| Compared {
                cell: n,
                metric,
                unit,
                predicted: None,
                interval: None,
                simulated: value,
                measured: None,
                published: None,
            };
            if row.test == Test::Latency {
                for (name, quantile) in [("p50", 0.5), ("p99", 0.99)] {
                    let us = latency.and_then(|histogram| histogram.quantile(quantile));
                    let us = us.map(|ps| ps as f64 / 1e6);
                    rows.push(simulated(format!("latency_{name}_at_{percent}"), "us", us));
                }
            } else {
                let mut one = simulated(
                    format!("loss_at_{percent}"),
                    "1",
                    Some(row.outcome.loss_ratio()),
                );
                // What is beyond the rate is lost, in the long run.
                one.predicted = predicted
                    .as_ref()
                    .map(|at| (1.0 - at.estimate.rate().pps / row.intended).max(0.0));
                rows.push(one);
            }
        }
    }
    let is_known = |row: &Compared| {
        row.predicted.is_some() || row.simulated.is_some() || row.measured.is_some()
    };
    rows.retain(is_known);
    rows
}
