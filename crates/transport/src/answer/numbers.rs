//! The summary by engine, point, entity and metric, for plots and sentences.

use crate::points::TransportOutcome;
use crate::run_tables::ALL_FLOWS;
use std::collections::BTreeMap;
use std::rc::Rc;
use trammel_core::label::Label;
use trammel_core::time::Time;
use trammel_scenario::File;
use trammel_scenario::sweep::Point;
use trammel_scenario::topology::Topology;

/// The model that knows no congestion control: the link in equal parts. Flows are not to come out
/// so; it is a yardstick.
pub(super) const EQUAL_PARTS: &str = "capacity";

/// A mean over the repeats with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) mean: f64,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) n: u32,
}

impl Number {
    /// Two numbers of which nobody knows how far repeats lie apart are told apart from this
    /// relative difference on.
    const APART: f64 = 0.05;
    /// As many repeats without an interval are all the same: there is no chance in them.
    const SURE: u32 = trammel_stats::interval::LEAST_REPEATS as u32;

    /// The same in a unit of which `scale` make one.
    pub(super) fn scaled(self, scale: f64) -> Number {
        let scaled = |(low, high)| (low * scale, high * scale);
        Number {
            mean: self.mean * scale,
            interval: self.interval.map(scaled),
            n: self.n,
        }
    }

    /// Where the true mean is, as far as is known.
    fn ends(self) -> Option<(f64, f64)> {
        let sure = (self.n >= Number::SURE).then_some((self.mean, self.mean));
        self.interval.or(sure)
    }

    /// Whether the two are clearly not the same: their intervals do not meet.
    pub(super) fn differs_from(self, other: Number) -> bool {
        let apart = (self.mean - other.mean).abs();
        match self.ends().zip(other.ends()) {
            Some((a, b)) => a.1 < b.0 || b.1 < a.0,
            None => apart > Number::APART * self.mean.abs().max(other.mean.abs()),
        }
    }
}

/// Engine, point, model (empty but of predictions), entity and metric.
type Key = (Label, String, String, String, String);

/// Every number of a summary, as one engine has it; the numbers of models are there for each.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    all: Rc<BTreeMap<Key, Number>>,
    /// The models, in the order of the predictions.
    pub(super) models: Vec<String>,
    /// The links that flows share, of each point's scenario.
    pub(super) bottlenecks: Vec<String>,
    is_late: bool,
    /// Whose runs there are: what is nearest to real packets first.
    pub(super) labels: Vec<Label>,
    /// Whose runs these numbers are of.
    pub(super) label: Label,
}

impl Numbers {
    pub(super) fn of(file: &File, outcome: &TransportOutcome) -> Numbers {
        let mut models: Vec<String> = Vec::new();
        for row in outcome.predictions.rows() {
            let model = row.text("model");
            if models.iter().all(|known| known != model) {
                models.push(model.to_owned());
            }
        }
        let rows = outcome.summary.rows().filter_map(|row| {
            let text = |name| row.text(name).to_owned();
            let number = Number {
                mean: row.float("mean")?,
                interval: row.float("ci_low").zip(row.float("ci_high")),
                n: row.int("n").unwrap_or(1) as u32,
            };
            let label = Label::of_engine(row.text("engine"))?;
            Some((
                (
                    label,
                    text("point"),
                    text("model"),
                    text("entity"),
                    text("metric"),
                ),
                number,
            ))
        });
        let all: BTreeMap<Key, Number> = rows.collect();
        let labels = [Label::Measured, Label::LinuxVt, Label::Simulated];
        let has_runs_of = |label: &Label| all.keys().any(|key| key.0 == *label);
        let labels: Vec<Label> = labels.into_iter().filter(has_runs_of).collect();
        let is_late = file
            .points
            .iter()
            .any(|point| point.scenario.warmup > Time::ZERO);
        Numbers {
            all: Rc::new(all),
            models,
            bottlenecks: bottlenecks(file),
            is_late,
            label: labels.first().copied().unwrap_or(Label::Simulated),
            labels,
        }
    }

    /// How many repeats the intervals are of, as they were made: `30`, or `2 to 30`; nothing where
    /// no number has an interval.
    pub(super) fn repeats(&self) -> Option<String> {
        let with_interval = self.all.values().filter(|number| number.interval.is_some());
        let n = with_interval.map(|number| number.n);
        let (least, most) = (n.clone().min()?, n.max()?);
        Some(match least {
            _ if least == most => most.to_string(),
            _ => format!("{least} to {most}"),
        })
    }

    /// Numbers of the simulator by point, entity and metric, as tests write them.
    #[cfg(test)]
    pub(super) fn simulated<'a>(
        file: &File,
        rows: impl IntoIterator<Item = (&'a str, &'a str, &'a str, f64)>,
    ) -> Numbers {
        let rows = rows.into_iter().map(|(point, entity, metric, mean)| {
            let [point, model, entity, metric] = [point, "", entity, metric].map(str::to_owned);
            let (interval, n) = (None, 1);
            let number = Number { mean, interval, n };
            ((Label::Simulated, point, model, entity, metric), number)
        });
        Numbers {
            all: Rc::new(rows.collect()),
            models: Vec::new(),
            bottlenecks: bottlenecks(file),
            is_late: false,
            labels: vec![Label::Simulated],
            label: Label::Simulated,
        }
    }

    /// The same numbers as `label` has them.
    pub(super) fn by(&self, label: Label) -> Numbers {
        Numbers {
            label,
            ..self.clone()
        }
    }

    /// Whether there is a run of `point`.
    pub(super) fn has(&self, point: &str) -> bool {
        let [point, model, entity, metric] = [point, "", "", ""].map(str::to_owned);
        let first = (self.label, point, model, entity, metric);
        let next = self.all.range(&first..).next();
        next.is_some_and(|(key, _)| (key.0, &key.1) == (first.0, &first.1))
    }

    /// A number of a run.
    pub(super) fn get(&self, point: &str, entity: &str, metric: &str) -> Option<Number> {
        self.find(self.label, point, "", entity, metric)
    }

    /// A number of `model`.
    pub(super) fn of_model(
        &self,
        point: &str,
        model: &str,
        entity: &str,
        metric: &str,
    ) -> Option<Number> {
        self.find(Label::Predicted, point, model, entity, metric)
    }

    fn find(
        &self,
        label: Label,
        point: &str,
        model: &str,
        entity: &str,
        metric: &str,
    ) -> Option<Number> {
        let [point, model, entity, metric] = [point, model, entity, metric].map(str::to_owned);
        self.all
            .get(&(label, point, model, entity, metric))
            .copied()
    }

    /// A number after the warm-up, where there is one.
    pub(super) fn steady(&self, point: &str, entity: &str, metric: &str) -> Option<Number> {
        let late = format!("late_{metric}");
        let late = self.get(point, entity, &late).filter(|_| self.is_late);
        late.or_else(|| self.get(point, entity, metric))
    }

    /// A number of all flows, after the warm-up where there is one.
    pub(super) fn of_all(&self, point: &str, metric: &str) -> Option<Number> {
        self.steady(point, ALL_FLOWS, metric)
    }

    /// What the flows of `point` get together. A flow alone counts over the time in which it had
    /// something to send, as in the tables of flows.
    pub(super) fn together(&self, point: &Point, metric: &str) -> Option<Number> {
        let own = match &point.scenario.flows[..] {
            [only] => self.steady(&point.id, &only.name, metric),
            _ => None,
        };
        own.or_else(|| self.of_all(&point.id, metric))
    }

    /// A number of the bottleneck, after the warm-up where there is one.
    pub(super) fn of_bottleneck(&self, point: &str, metric: &str) -> Option<Number> {
        self.steady(point, self.bottlenecks.first()?, metric)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_where_their_intervals_do_not_meet() {
        let number = |mean: f64, half: f64| Number {
            mean,
            interval: Some((mean - half, mean + half)),
            n: 5,
        };
        assert!(number(57.0, 2.0).differs_from(number(52.0, 2.0)));
        assert!(!number(57.0, 3.0).differs_from(number(52.0, 3.0)));
        let once = |mean: f64| Number {
            mean,
            interval: None,
            n: 1,
        };
        assert!(!once(57.0).differs_from(once(56.0)) && once(57.0).differs_from(once(40.0)));
        let alike = |mean: f64| Number { n: 5, ..once(mean) };
        assert!(alike(57.0).differs_from(alike(56.9)), "no chance in either");
    }
}
