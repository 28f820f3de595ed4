//! What a rule has found: the number, the sentence, and the numbers of the summary that it rests
//! on.

use super::numbers::Numbers;
use super::words::Kind;
use trammel_core::label::Label;
use trammel_scenario::sweep::Point;
use trammel_stats::stats::relative_error;

/// A number of the summary that a sentence rests on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Used {
    point: String,
    entity: String,
    metric: String,
}

impl Used {
    pub(super) fn new(point: &Point, entity: &str, metric: &str) -> Used {
        Used {
            point: point.id.clone(),
            entity: entity.to_owned(),
            metric: metric.to_owned(),
        }
    }
}

/// What a rule has found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// Shown large; may be empty.
    pub(super) number: String,
    pub(super) sentence: String,
    pub(super) used: Vec<Used>,
}

impl Finding {
    pub(super) fn new(number: impl Into<String>, sentence: impl Into<String>) -> Finding {
        Finding {
            number: number.into(),
            sentence: sentence.into(),
            used: Vec::new(),
        }
    }

    /// This finding, which rests on `used`.
    pub(super) fn resting_on(mut self, used: impl IntoIterator<Item = Used>) -> Finding {
        self.used.extend(used);
        self
    }

    /// What the simulator says to the same, and how far off it is: for the end of a sentence about
    /// what was measured.
    pub(super) fn beside(&self, numbers: &Numbers, simulated: Option<&Finding>) -> String {
        let theirs = numbers.by(Label::Simulated);
        let errors = self.used.iter().filter_map(|used| {
            let of = |numbers: &Numbers| {
                let found = numbers.steady(&used.point, &used.entity, &used.metric);
                Some(found?.mean)
            };
            relative_error(of(&theirs)?, of(numbers)?)
        });
        let worst = errors.reduce(|a, b| if b.abs() > a.abs() { b } else { a });
        let Some(worst) = worst else {
            return String::new();
        };
        let most = if self.used.len() > 1 { "at most " } else { "" };
        let number = simulated.map(|found| found.number.as_str());
        let number = number.filter(|number| !number.is_empty());
        let said = number.map_or(String::new(), |number| format!(" {number},"));
        format!(" Simulated:{said} {most}{} off.", signed_percent(worst))
    }
}

/// `+3 %`, `−12 %`.
fn signed_percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let sign = if percent < 0.0 { "−" } else { "+" };
    let digits = usize::from(percent.abs() < 1.0);
    format!("{sign}{:.digits$} %", percent.abs())
}

/// A metric: what of the summary it is, how it is said, and which end of it is good.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric {
    /// Its words: `goodput`.
    pub(super) words: &'static str,
    pub(super) kind: Kind,
    /// Whether more is better.
    pub(super) more_is_better: bool,
    /// Whose number it is.
    pub(super) of: Of,
    /// Its name in the summary.
    pub(super) name: &'static str,
}

/// Whose number a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The only flow's, or that of all flows.
    Flows,
    /// That of the flow with the greatest number.
    LastFlow,
    /// That of the flow that starts last.
    NewestFlow,
    Bottleneck,
    /// The first workload's that has it.
    Workload,
    /// The first stream's.
    Stream,
    /// The first application's.
    App,
}

impl Metric {
    pub(super) const GOODPUT: Metric = Metric {
        words: "goodput",
        kind: Kind::Rate,
        more_is_better: true,
        of: Of::Flows,
        name: "goodput",
    };
    pub(super) const FAIRNESS: Metric = Metric {
        words: "Jain's index",
        kind: Kind::Plain,
        more_is_better: true,
        of: Of::Flows,
        name: "jain",
    };
    pub(super) const DELAY: Metric = Metric {
        words: "queueing delay",
        kind: Kind::Micros,
        more_is_better: false,
        of: Of::Bottleneck,
        name: "queue_delay_mean",
    };
    pub(super) const RECOVERY: Metric = Metric {
        words: "time to use an increased rate",
        kind: Kind::Seconds,
        more_is_better: false,
        of: Of::Bottleneck,
        name: "recovery",
    };
    pub(super) const UTILISATION: Metric = Metric {
        words: "use of the bottleneck",
        kind: Kind::Percent,
        more_is_better: true,
        of: Of::Bottleneck,
        name: "utilisation",
    };
    pub(super) const CONVERGENCE: Metric = Metric {
        words: "time until the last flow has its fair share",
        kind: Kind::Seconds,
        more_is_better: false,
        of: Of::NewestFlow,
        name: "convergence",
    };
    pub(super) const COMPLETION: Metric = Metric {
        words: "time until all is transferred",
        kind: Kind::Seconds,
        more_is_better: false,
        of: Of::LastFlow,
        name: "completion",
    };
    pub(super) const SLOWDOWN: Metric = Metric {
        words: "slowdown of the slowest 1 % of flows",
        kind: Kind::Times,
        more_is_better: false,
        of: Of::Workload,
        name: "slowdown_p99",
    };
    pub(super) const CARRIED: Metric = Metric {
        words: "goodput of the first workload",
        kind: Kind::Rate,
        more_is_better: true,
        of: Of::Workload,
        name: "goodput",
    };
    pub(super) const LOSS: Metric = Metric {
        words: "loss",
        kind: Kind::Percent,
        more_is_better: false,
        of: Of::Stream,
        name: "loss",
    };
    pub(super) const LINK_LOSS: Metric = Metric {
        words: "loss at the bottleneck",
        kind: Kind::Percent,
        more_is_better: false,
        of: Of::Bottleneck,
        name: "loss",
    };

    /// Whose number it is at `point`.
    pub(super) fn entity(self, numbers: &Numbers, point: &Point) -> Option<String> {
        let scenario = &point.scenario;
        match self.of {
            // A flow alone counts over the time in which it had something to send.
            Of::Flows => match &scenario.flows[..] {
                [] => None,
                [only] if self.name == "goodput" => Some(only.name.clone()),
                _ => Some(crate::run_tables::ALL_FLOWS.to_owned()),
            },
            Of::LastFlow => {
                let mean = |name: &str| numbers.get(&point.id, name, self.name).map(|n| n.mean);
                let flows = scenario.flows.iter().map(|flow| &flow.name);
                let with_one = flows.filter_map(|name| Some((name, mean(name)?)));
                let last = with_one.max_by(|a, b| a.1.total_cmp(&b.1));
                last.map(|(name, _)| name.clone())
            }
            Of::NewestFlow => {
                let newest = scenario.flows.iter().max_by_key(|flow| flow.start);
                newest.map(|flow| flow.name.clone())
            }
            Of::Bottleneck => numbers.bottlenecks.first().cloned(),
            Of::Workload => {
                let has = |name: &&String| numbers.get(&point.id, name, self.name).is_some();
                let mut names = scenario.workloads.iter().map(|one| &one.name);
                names.find(has).cloned()
            }
            Of::Stream => scenario.streams.first().map(|one| one.name.clone()),
            Of::App => scenario.apps.first().map(|one| one.name.clone()),
        }
    }

    /// The number at `point`, and what of the summary it is.
    pub(super) fn at(
        self,
        numbers: &Numbers,
        point: &Point,
    ) -> Option<(super::numbers::Number, Used)> {
        let entity = self.entity(numbers, point)?;
        let number = numbers.steady(&point.id, &entity, self.name)?;
        Some((number, Used::new(point, &entity, self.name)))
    }

    /// `highest` or `lowest`, whichever is good.
    pub(super) fn best(self) -> &'static str {
        if self.more_is_better {
            "highest"
        } else {
            "lowest"
        }
    }

    pub(super) fn worst(self) -> &'static str {
        if self.more_is_better {
            "lowest"
        } else {
            "highest"
        }
    }
}
