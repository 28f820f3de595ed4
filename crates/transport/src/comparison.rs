//! `comparison`: every metric that two sources know, side by side with its errors.
//!
//! The errors are relative to the published number; where nothing is published, to what the real
//! kernel does; where that is not known either, to the simulated number. Where the kernel runs
//! another law than the simulator (`kernel_variant`), their numbers stand side by side and neither
//! is the other's error. With a warm-up, models are compared with what came after it, since they
//! describe the steady state.

use super::workloads;
use std::collections::BTreeMap;
use trammel_core::label::Label;
use trammel_core::time::Time;
use trammel_scenario::File;
use trammel_scenario::columns::{cells_of, metric_of, swept};
use trammel_stats::stats::relative_error;
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::{Cell, CellType, Column, Table};

/// A number that a paper prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The point's name.
    pub point: String,
    /// The flow, link, stream or `all flows`.
    pub entity: String,
    /// The metric, as in `summary`.
    pub metric: String,
    /// The number, in the metric's unit.
    pub value: f64,
}

/// Metrics that models predict.
const PREDICTED: &[&str] = &["goodput_mbps", "share", "cwnd_mean_pkts"];
/// Metrics shown where there is nothing to compare them with.
const ALWAYS: &[&str] = &["goodput", "share", "late_goodput", "late_share"];
/// Metrics of workloads that are always shown.
const OF_WORKLOADS: &[&str] = &["fct_p50", "fct_p99", "slowdown_p50", "slowdown_p99"];
/// And those of applications.
const OF_APPS: &[&str] = &[
    "startup",
    "stalled",
    "bitrate",
    "time_p50",
    "time_p95",
    "time_p99",
    "time_p999",
    "delay_p50",
    "delay_p95",
    "delay_p99",
    "overdue",
    "mos",
];

/// Compares what `summary` and `predicted` hold of `file`.
pub fn comparison(
    file: &File,
    summary: &Table,
    predicted: &Table,
    published: &[Published],
) -> Table {
    let mut columns = vec![Column::new("point", Text)];
    columns.extend(swept(&file.points));
    let own: [(&str, CellType); 12] = [
        ("entity", Text),
        ("metric", Text),
        ("unit", Text),
        ("model", Text),
        ("predicted", Float),
        ("simulated", Float),
        ("linux_vt", Float),
        ("measured", Float),
        ("published", Float),
        ("predicted_error", Float),
        ("simulated_error", Float),
        ("linux_vt_error", Float),
    ];
    columns.extend(own.map(|(name, cell_type)| Column::new(name, cell_type)));
    let mut table = Table::new("comparison", columns);
    let [simulated, linux_vt, measured] =
        [Label::Simulated, Label::LinuxVt, Label::Measured].map(|label| of_label(summary, label));
    let mut keys_of: BTreeMap<String, Vec<(String, String, String)>> = BTreeMap::new();
    for (point, key) in keys(summary) {
        keys_of.entry(point).or_default().push(key);
    }
    let published: BTreeMap<(&str, &str, &str), f64> = (published.iter().rev())
        .map(|one| ((&*one.point, &*one.entity, &*one.metric), one.value))
        .collect();
    let mut models_of = models(predicted);
    let swept = swept(&file.points);
    for point in &file.points {
        let mut lead = vec![Cell::from(point.id.as_str())];
        lead.extend(cells_of(&point.swept, &swept));
        let has_runs = [&simulated, &linux_vt, &measured]
            .iter()
            .any(|all| !all.is_empty());
        let late = point.scenario.warmup > Time::ZERO && has_runs;
        let is_one_law = point.scenario.other_laws().is_empty();
        let models = models_of.remove(&point.id).unwrap_or_default();
        for (entity, metric, unit) in keys_of.get(&point.id).into_iter().flatten() {
            let key = (point.id.as_str(), entity.as_str(), metric.as_str());
            let number = simulated.get(&key).copied();
            let (real, on_host) = (linux_vt.get(&key).copied(), measured.get(&key).copied());
            let printed = published.get(&key).copied();
            // Predictions are held against what comes after the warm-up, where there is one.
            let predicted = match (late, metric.strip_prefix("late_")) {
                (true, of_whole) => of_whole,
                (false, _) => Some(metric.as_str()),
            };
            let of_models = predicted.and_then(|metric| {
                let key = (entity.clone(), metric.to_owned());
                models.get(&key)
            });
            let of_models = of_models.map_or(&[][..], Vec::as_slice);
            let is_main = ALWAYS.contains(&metric.as_str()) && metric.starts_with("late_") == late;
            let is_app = point.scenario.apps.iter().any(|app| app.name == *entity);
            let is_of_app = is_app && OF_APPS.contains(&metric.as_str());
            let is_main = is_main || is_of_workload(entity, metric) || is_of_app;
            if of_models.is_empty() && printed.is_none() && !is_main {
                continue;
            }
            let none = [("", None)];
            let rows = of_models.iter();
            let rows = rows.map(|(model, value)| (model.as_str(), Some(*value)));
            let rows: Vec<_> = if of_models.is_empty() {
                none.to_vec()
            } else {
                rows.collect()
            };
            for (model, predicted) in rows {
                // What another law does is no truth of this one.
                let of_kernel = real.or(on_host).filter(|_| is_one_law);
                let truth = printed.or(of_kernel);
                let reference = truth.or(number);
                let error = |value: Option<f64>| relative_error(value?, reference?);
                let mut row = lead.clone();
                row.extend([
                    Cell::from(entity.as_str()),
                    metric.as_str().into(),
                    unit.as_str().into(),
                    model.into(),
                    predicted.into(),
                    number.into(),
                    real.into(),
                    on_host.into(),
                    printed.into(),
                    error(predicted).into(),
                    truth
                        .and_then(|truth| relative_error(number?, truth))
                        .into(),
                    printed.and_then(|_| error(real)).into(),
                ]);
                table
                    .push(row)
                    .expect("the row has the columns of the comparison");
            }
        }
    }
    trammel_scenario::columns::without_empty_columns(&table)
}

/// Whether it is what one asks of a workload first; ranges of sizes are left to their table.
fn is_of_workload(entity: &str, metric: &str) -> bool {
    OF_WORKLOADS.contains(&metric) && !workloads::is_range(entity)
}

/// Point with entity, metric and unit of every row of the summary once, in its order.
fn keys(summary: &Table) -> Vec<(String, (String, String, String))> {
    let mut seen = std::collections::BTreeSet::new();
    let mut keys = Vec::new();
    for row in summary.rows() {
        let text = |name| row.text(name).to_owned();
        let predicted = row.text("engine") == "predict";
        let key = (
            text("point"),
            (text("entity"), text("metric"), text("unit")),
        );
        // What only a model knows is compared under the simulated metric's name.
        if !predicted && seen.insert(key.clone()) {
            keys.push(key);
        }
    }
    if keys.is_empty() {
        // Nothing was simulated: the predictions stand alone.
        for row in summary.rows() {
            let text = |name| row.text(name).to_owned();
            let key = (
                text("point"),
                (text("entity"), text("metric"), text("unit")),
            );
            if seen.insert(key.clone()) {
                keys.push(key);
            }
        }
    }
    keys
}

/// The means of what has `label`, by point, entity and metric.
fn of_label(summary: &Table, label: Label) -> BTreeMap<(&str, &str, &str), f64> {
    let rows = summary
        .rows()
        .filter(|row| row.text("engine") == label.engine());
    let rows = rows.filter_map(|row| {
        Some((
            (row.text("point"), row.text("entity"), row.text("metric")),
            row.float("mean")?,
        ))
    });
    rows.collect()
}

/// Each model's value, by flow and metric.
type OfModels = BTreeMap<(String, String), Vec<(String, f64)>>;

/// The predictions at each point, under the simulated metric's name.
fn models(predicted: &Table) -> BTreeMap<String, OfModels> {
    let mut all: BTreeMap<String, OfModels> = BTreeMap::new();
    for row in predicted.rows() {
        for name in PREDICTED {
            let Ok(at) = predicted.column(name) else {
                continue;
            };
            let Some(value) = row.float(name) else {
                continue;
            };
            let (metric, _) = metric_of(&predicted.columns()[at]);
            let text = |name| row.text(name).to_owned();
            let of_point = all.entry(text("point")).or_default();
            let of_flow = of_point.entry((text("flow"), metric)).or_default();
            of_flow.push((text("model"), value));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_scenario::flow::Flow;
    use trammel_scenario::model::Scenario;

    /// The numbers of column `name` where `flow` has 20 Mbit/s in the simulator and 10 in the
    /// kernel.
    fn numbers(flow: Flow, name: &str) -> Vec<f64> {
        let file = File::of(Scenario::dumbbell().flow(flow.name("flow"))).unwrap();
        let columns = ["engine", "point", "entity", "metric", "unit"];
        let mut columns: Vec<_> = columns.map(|name| (name, Text)).into();
        columns.push(("mean", Float));
        let mut summary = Table::with("summary", &columns);
        for (label, mean) in [(Label::Simulated, 20.0), (Label::LinuxVt, 10.0)] {
            let texts = [label.engine(), "base", "flow", "goodput", "Mbit/s"];
            let cells = texts.iter().map(|text| Cell::from(*text));
            summary.push(cells.chain([mean.into()]).collect()).unwrap();
        }
        let columns = ["point", "model", "flow"].map(|name| (name, Text));
        let predicted = Table::with("predictions", &columns);
        let table = comparison(&file, &summary, &predicted, &[]);
        assert_eq!(table.rows().count(), 1);
        // A column without a number is left out.
        table.floats(name).unwrap_or_default()
    }

    #[test]
    fn another_law_in_the_kernel_is_no_error_of_the_simulator_s() {
        let with = |own: &str| {
            let mut flow = Flow::new("reno");
            flow.kernel_variant = Some(own.to_owned());
            flow
        };
        assert_eq!(numbers(Flow::new("reno"), "simulated_error"), [1.0]);
        assert_eq!(numbers(with("reno"), "simulated_error"), [1.0]);
        assert!(numbers(with("cubic"), "simulated_error").is_empty());
        // The numbers stand side by side all the same.
        assert_eq!(numbers(with("cubic"), "linux_vt"), [10.0]);
        assert_eq!(numbers(with("cubic"), "simulated"), [20.0]);
    }
}
