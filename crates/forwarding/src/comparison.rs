//! `comparison`: each metric of each function and frame size, every engine beside the others, with
//! errors.
//!
//! Errors are relative to what was measured; where nothing was, to what was printed; where that is
//! not either, the prediction's is relative to the simulation. The column `reference` says which.

use super::outcome::{Cell as Found, ForwardingOutcome};
use super::row::{Row, us};
use trammel_scenario::forwarding::{Metric, Test};
use trammel_stats::stats::relative_error;
use trammel_workbench::estimate::At;

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
    /// What was measured is this machine, and the others are not.
    pub(super) is_elsewhere: bool,
    pub(super) published: Option<f64>,
}

impl Compared {
    /// What errors are relative to: its name and its value.
    pub(super) fn reference(&self) -> Option<(&'static str, f64)> {
        let of = |name, value: Option<f64>| Some((name, value?));
        of("measured", self.measured.filter(|_| !self.is_elsewhere))
            .or(of("published", self.published))
            .or(of(
                "simulated",
                self.simulated.filter(|_| self.predicted.is_some()),
            ))
    }

    /// Whether any engine says something.
    fn is_known(&self) -> bool {
        self.predicted.is_some() || self.simulated.is_some() || self.measured.is_some()
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
pub(super) fn all(outcome: &ForwardingOutcome<'_>) -> Vec<Compared> {
    let cells = outcome.cells.iter().enumerate();
    cells.flat_map(|(n, cell)| of(outcome, n, cell)).collect()
}

fn of(outcome: &ForwardingOutcome<'_>, n: usize, cell: &Found) -> Vec<Compared> {
    let (point, tested) = cell.of(outcome.file);
    let printed = |metric: Metric| {
        let mut all = point.scenario.published.iter();
        let is_it = |one: &&trammel_scenario::forwarding::Published| {
            one.metric == metric
                && one.frame == cell.frame
                && one
                    .function
                    .as_ref()
                    .is_none_or(|name| *name == tested.name)
        };
        all.find(is_it).map(|one| one.value)
    };
    if tested.card().is_some() {
        let mut rows = vec![of_card(n, cell, printed(Metric::Throughput))];
        rows.extend(at_loads(n, cell, false));
        rows.retain(Compared::is_known);
        return rows;
    }
    let (predicted, simulated, measured) = (&cell.predicted, &cell.simulated, &cell.measured);
    let mut rows = vec![
        Compared {
            cell: n,
            metric: "throughput".to_owned(),
            unit: "Mpps",
            predicted: predicted.as_ref().map(|at| at.estimate.rate().pps / 1e6),
            interval: predicted.as_ref().and_then(|at| {
                let (low, high) = at.estimate.cycles.ends()?;
                Some((rate(at, high) / 1e6, rate(at, low) / 1e6))
            }),
            simulated: simulated.as_ref().map(|sought| sought.pps / 1e6),
            measured: measured
                .as_ref()
                .map(|found| found.pps)
                .filter(|pps| *pps <= cell.line)
                .map(|pps| pps / 1e6),
            is_elsewhere: false,
            published: printed(Metric::Throughput),
        },
        Compared {
            cell: n,
            metric: "cost".to_owned(),
            unit: "cycles",
            predicted: predicted.as_ref().map(|at| at.estimate.cycles.centre),
            interval: predicted.as_ref().and_then(|at| at.estimate.cycles.ends()),
            // Where links limit, batches are small and the core spends on calls what it has left.
            simulated: simulated
                .as_ref()
                .filter(|sought| sought.bound_by == "cpu")
                .map(|sought| sought.cycles),
            measured: measured.as_ref().map(|found| found.cycles),
            is_elsewhere: false,
            published: printed(Metric::Cycles),
        },
    ];
    rows.extend(at_loads(n, cell, point.scenario.rate.is_finite()));
    rows.retain(Compared::is_known);
    rows
}

/// What engines say of a card's throughput.
fn of_card(n: usize, cell: &Found, published: Option<f64>) -> Compared {
    let card = &cell.card;
    Compared {
        cell: n,
        metric: "throughput".to_owned(),
        unit: "Mpps",
        predicted: card.predicted.map(|one| one.pps / 1e6),
        interval: None,
        simulated: card.simulated.as_ref().map(|found| found.pps / 1e6),
        measured: card.measured.as_ref().map(|found| found.pps / 1e6),
        is_elsewhere: true,
        published,
    }
}

/// What is compared of a trial: its name, its unit, and where it stands in a row.
pub(super) type Asked = (&'static str, &'static str, fn(&Row) -> Option<f64>);

/// What is compared of a test.
pub(super) fn asked(test: Test) -> &'static [Asked] {
    match test {
        Test::Throughput => &[],
        Test::Latency => &[
            ("latency_p50_at", "us", |row| row.p50.map(us)),
            ("latency_p99_at", "us", |row| row.p99.map(us)),
        ],
        Test::FrameLoss => &[("loss_at", "1", |row| Some(row.loss))],
        Test::Recovery => &[
            ("recovery_loss_from", "us", |row| {
                row.recovery.map(|found| us(found.last_loss))
            }),
            ("recovery_delay_from", "us", |row| {
                row.recovery.and_then(|found| found.delay).map(us)
            }),
        ],
    }
}

/// What trials at shares of the maximum came to. Rings in memory have no link, so where the
/// simulated device has one what was measured does not stand beside it.
fn at_loads(n: usize, cell: &Found, has_link: bool) -> Vec<Compared> {
    let [(_, simulated), (_, measured)] = cell.trials();
    let is_at = |a: &Row, b: &Row| a.test == b.test && a.share == b.share;
    let alone = measured
        .iter()
        .filter(|row| !simulated.iter().any(|other| is_at(row, other)));
    let all = simulated.iter().chain(alone);
    let mut rows = Vec::new();
    for row in all {
        let Some(share) = row.share else { continue };
        let of = |rows: &[Row], value: fn(&Row) -> Option<f64>| {
            rows.iter().find(|other| is_at(row, other)).and_then(value)
        };
        for (name, unit, value) in asked(row.test) {
            let simulated = of(simulated, *value);
            // What is beyond the rate is lost, in the long run; each engine is at shares of its own
            // rate.
            let rate = cell.predicted.as_ref().map(|at| at.estimate.rate().pps);
            let rate = rate.or(cell.card.predicted.map(|one| one.pps));
            let lost = rate.map(|pps| (1.0 - pps / (share * pps).min(cell.line)).max(0.0));
            rows.push(Compared {
                cell: n,
                metric: format!("{name}_{}", percent(share)),
                unit,
                predicted: match row.test {
                    Test::FrameLoss => lost.filter(|_| simulated.is_some()),
                    // Frames that do not meet each other.
                    Test::Latency if share <= 1.0 => {
                        cell.card.predicted.and_then(|one| one.latency).map(us)
                    }
                    _ => None,
                },
                interval: None,
                simulated,
                measured: of(measured, *value).filter(|_| !has_link || simulated.is_none()),
                is_elsewhere: cell.card.measured.is_some(),
                published: None,
            });
        }
    }
    rows
}
