//! The summary by point, entity and metric, for plots and sentences; and numbers as words.

use crate::engine::points::Outcome;
use crate::engine::summary::ALL_FLOWS;
use crate::report::label::Label;
use crate::scenario::File;
use crate::scenario::topology::Topology;
use std::collections::BTreeMap;
use trammel_core::table::format_float;
use trammel_core::time::Time;

/// A mean over the repeats with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) mean: f64,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) n: u32,
}

impl Number {
    /// The same in a unit of which `scale` make one.
    pub(super) fn scaled(self, scale: f64) -> Number {
        let scaled = |(low, high)| (low * scale, high * scale);
        Number {
            mean: self.mean * scale,
            interval: self.interval.map(scaled),
            n: self.n,
        }
    }
}

/// Point, model (empty for the simulator), entity and metric.
type Key = (String, String, String, String);

/// Every number of a summary.
#[derive(Debug)]
pub(super) struct Numbers {
    all: BTreeMap<Key, Number>,
    /// The models, in the order of the predictions.
    pub(super) models: Vec<String>,
    /// The links that flows share, of each point's scenario.
    pub(super) bottlenecks: Vec<String>,
    is_late: bool,
    /// Whose runs the numbers are of that no model gave: the simulator's, or the real kernel's where nothing was simulated.
    pub(super) label: Label,
}

impl Numbers {
    pub(super) fn of(file: &File, outcome: &Outcome) -> Numbers {
        let mut models: Vec<String> = Vec::new();
        for row in outcome.predictions.rows() {
            let model = row.text("model");
            if models.iter().all(|known| known != model) {
                models.push(model.to_owned());
            }
        }
        let has_runs_of = |label: &Label| {
            outcome
                .flows
                .rows()
                .chain(outcome.links.rows())
                .any(|row| row.text("engine") == label.engine())
        };
        let label = [Label::Simulated, Label::LinuxVt, Label::Measured]
            .into_iter()
            .find(has_runs_of)
            .unwrap_or(Label::Simulated);
        let is_told = |engine: &str| {
            [label, Label::Predicted]
                .iter()
                .any(|label| label.engine() == engine)
        };
        let rows = outcome
            .summary
            .rows()
            .filter(|row| is_told(row.text("engine")));
        let rows = rows.filter_map(|row| {
            let text = |name| row.text(name).to_owned();
            let number = Number {
                mean: row.float("mean")?,
                interval: row.float("ci_low").zip(row.float("ci_high")),
                n: row.int("n").unwrap_or(1) as u32,
            };
            Some((
                (text("point"), text("model"), text("entity"), text("metric")),
                number,
            ))
        });
        let all = rows.collect();
        let is_late = file
            .points
            .iter()
            .any(|point| point.scenario.warmup > Time::ZERO);
        Numbers {
            all,
            models,
            bottlenecks: bottlenecks(file),
            is_late,
            label,
        }
    }

    /// Whether anything of `point` was simulated.
    pub(super) fn has(&self, point: &str) -> bool {
        let mut all = self.all.keys();
        all.any(|(of, model, _, _)| of == point && model.is_empty())
    }

    /// A simulated number.
    pub(super) fn get(&self, point: &str, entity: &str, metric: &str) -> Option<Number> {
        self.of_model(point, "", entity, metric)
    }

    /// A number of `model`.
    pub(super) fn of_model(
        &self,
        point: &str,
        model: &str,
        entity: &str,
        metric: &str,
    ) -> Option<Number> {
        let key = [point, model, entity, metric].map(str::to_owned);
        let [point, model, entity, metric] = key;
        self.all.get(&(point, model, entity, metric)).copied()
    }

    /// A simulated number after the warm-up, where there is one.
    pub(super) fn steady(&self, point: &str, entity: &str, metric: &str) -> Option<Number> {
        let late = format!("late_{metric}");
        let late = self.get(point, entity, &late).filter(|_| self.is_late);
        late.or_else(|| self.get(point, entity, metric))
    }

    /// A simulated number of all flows, after the warm-up where there is one.
    pub(super) fn of_all(&self, point: &str, metric: &str) -> Option<Number> {
        self.steady(point, ALL_FLOWS, metric)
    }
}

/// The bottleneck of a path; in a network, the links of the least rate.
fn bottlenecks(file: &File) -> Vec<String> {
    const MOST: usize = 4;
    match &file.points[0].scenario.topology {
        Topology::Path(_) => vec!["bottleneck".to_owned()],
        Topology::Graph(graph) => {
            let least = graph.links.iter().map(|link| link.line.rate).min();
            let links = graph
                .links
                .iter()
                .filter(|link| Some(link.line.rate) == least);
            links.map(|link| link.name.clone()).take(MOST).collect()
        }
    }
}

/// A fraction in percent: two digits, more near both ends.
pub(super) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let from_end = percent.min(100.0 - percent).abs();
    let digits = if from_end < 0.005 {
        0
    } else if from_end < 0.1 {
        2
    } else {
        usize::from(from_end < 1.0)
    };
    format!("{percent:.digits$} %")
}

/// A number with three significant digits.
pub(super) fn three(value: f64) -> String {
    format_float(value, 3)
}

/// Microseconds in the unit that fits: `12.3 ms`.
pub(super) fn micros(us: f64) -> (String, &'static str) {
    match us {
        us if us >= 1e6 => (three(us / 1e6), "s"),
        us if us >= 1e3 => (three(us / 1e3), "ms"),
        us => (three(us), "µs"),
    }
}

/// Megabits a second in the unit that fits.
pub(super) fn rate(mbps: f64) -> (String, &'static str) {
    match mbps {
        mbps if mbps >= 1e3 => (three(mbps / 1e3), "Gbit/s"),
        mbps if mbps >= 1.0 || mbps == 0.0 => (three(mbps), "Mbit/s"),
        mbps => (three(mbps * 1e3), "kbit/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_need_to_be() {
        assert_eq!(percent(0.5), "50 %");
        assert_eq!(percent(0.9963), "99.6 %");
        assert_eq!(percent(0.0004), "0.04 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.999_999), "100 %");
        assert_eq!(rate(943.21), ("943".to_owned(), "Mbit/s"));
        assert_eq!(rate(0.02), ("20".to_owned(), "kbit/s"));
        assert_eq!(micros(41_234.0), ("41.2".to_owned(), "ms"));
    }
}
