//! Joins our cells with the printed numbers: the `comparison` table, and how many came out how.

use super::Paper;
use super::cell::{Cell, mean};
use super::expected::Expected;
use super::experiment::Done;
use super::verdict::{Cause, VerdictOutcome, judge};
use trammel_core::label::Label;
use trammel_stats::stats::{Moments, relative_error};
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::Table;

/// One printed number with one of ours.
#[derive(Clone, Debug)]
pub struct Joined<'a> {
    /// The printed number.
    pub expected: &'a Expected,
    /// The experiment that gave ours, by its place; nothing where none did.
    pub experiment: Option<usize>,
    /// Ours, over the repeats.
    pub ours: Option<Ours>,
    /// What came of comparing, where the verdict is about this experiment.
    pub outcome: Option<VerdictOutcome>,
}

/// A number of ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ours {
    /// The mean over the repeats.
    pub mean: f64,
    /// Student's interval at 95 %, where there are repeats.
    pub interval: Option<(f64, f64)>,
    /// The repeats.
    pub n: usize,
}

impl Ours {
    fn of(cell: &Cell) -> Option<Ours> {
        let mean = mean(&cell.values)?;
        let interval = cell
            .values
            .iter()
            .copied()
            .collect::<Moments>()
            .confidence(0.95);
        let interval = interval.map(|interval| (interval.low, interval.high));
        Some(Ours {
            mean,
            interval,
            n: cell.values.len(),
        })
    }
}

/// Every printed number with each of ours, in the order of `expected.csv`, then of the experiments.
pub fn join<'a>(paper: &'a Paper, done: &[Done]) -> Vec<Joined<'a>> {
    let mut all = Vec::new();
    for expected in &paper.expected {
        let before = all.len();
        let mut is_judged = false;
        for one in done {
            let here = |cell: &&Cell| {
                (&cell.table, &cell.row, &cell.column)
                    == (&expected.table, &expected.row, &expected.column)
            };
            let cell = one.cells.iter().find(here);
            let Some((judges, ours)) =
                cell.and_then(|cell| Some((cell.is_judged, Ours::of(cell)?)))
            else {
                continue;
            };
            is_judged |= judges;
            let outcome = judges.then(|| {
                judge(
                    Some(ours.mean),
                    &expected.printed,
                    expected.tolerance,
                    expected.verdict,
                )
            });
            all.push(Joined {
                expected,
                experiment: Some(one.at),
                ours: Some(ours),
                outcome,
            });
        }
        if !is_judged {
            let (printed, tolerance) = (&expected.printed, expected.tolerance);
            let outcome = Some(judge(None, printed, tolerance, expected.verdict));
            all.insert(
                before,
                Joined {
                    expected,
                    experiment: None,
                    ours: None,
                    outcome,
                },
            );
        }
    }
    all
}

/// The `comparison` table.
pub fn table(paper: &Paper, joined: &[Joined<'_>]) -> Table {
    let columns = [
        ("table", Text),
        ("row", Text),
        ("column", Text),
        ("unit", Text),
        ("hypothesis", Text),
        ("predicted", Float),
        ("simulated", Float),
        ("linux_vt", Float),
        ("fitted", Float),
        ("modelled", Float),
        ("measured", Float),
        ("ci_low", Float),
        ("ci_high", Float),
        ("n", Int),
        ("published", Float),
        ("error", Float),
        ("tolerance", Float),
        ("verdict", Text),
        ("cause", Text),
        ("outcome", Text),
        ("source", Text),
        ("reason", Text),
    ];
    let mut table = Table::with("comparison", &columns);
    for one in joined {
        let expected = one.expected;
        let experiment = one.experiment.map(|at| &paper.spec.experiments[at]);
        let ours = |label| {
            let is_it = experiment.is_some_and(|experiment| experiment.label == label);
            one.ours.filter(|_| is_it).map(|ours| ours.mean)
        };
        let interval = one.ours.and_then(|ours| ours.interval);
        let hypothesis = experiment.map_or("", |experiment| match experiment.hypothesis.as_str() {
            "" => "as described",
            hypothesis => hypothesis,
        });
        let is_judged = one.outcome.is_some();
        let row = vec![
            expected.table.as_str().into(),
            expected.row.as_str().into(),
            expected.column.as_str().into(),
            expected.unit.as_str().into(),
            hypothesis.into(),
            ours(Label::Predicted).into(),
            ours(Label::Simulated).into(),
            ours(Label::LinuxVt).into(),
            ours(Label::Fitted).into(),
            ours(Label::Modelled).into(),
            ours(Label::Measured).into(),
            interval.map(|interval| interval.0).into(),
            interval.map(|interval| interval.1).into(),
            one.ours.map(|ours| ours.n).into(),
            expected.value.into(),
            one.ours
                .and_then(|ours| relative_error(ours.mean, expected.value))
                .into(),
            expected.tolerance.into(),
            if is_judged {
                expected.verdict.word()
            } else {
                ""
            }
            .into(),
            if is_judged { expected.cause.word() } else { "" }.into(),
            one.outcome
                .map_or("shown beside", VerdictOutcome::words)
                .into(),
            paper
                .source_of(&expected.table)
                .unwrap_or("published")
                .into(),
            expected.reason.as_str().into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    table
}

/// How many printed numbers came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// They match, and no constant was chosen for it.
    pub matching: usize,
    /// They match by a constant that was fitted.
    pub fitted: usize,
    /// They differ for a known cause.
    pub known: usize,
    /// They differ for an inferred cause.
    pub inferred: usize,
    /// They differ, and no cause was found.
    pub unexplained: usize,
    /// They came out otherwise than recorded.
    pub changed: usize,
    /// No experiment gave a number.
    pub not_run: usize,
    /// None can here: what they are of is missing.
    pub inapplicable: usize,
}

impl Count {
    /// Counts `joined`.
    pub fn of<'a>(joined: impl Iterator<Item = &'a Joined<'a>>) -> Count {
        let mut count = Count::default();
        for one in joined {
            let place = match (one.outcome, one.expected.cause) {
                (None, _) => continue,
                (Some(VerdictOutcome::NotRun), _) => &mut count.not_run,
                (Some(VerdictOutcome::Inapplicable), _) | (Some(_), Cause::Lacking) => {
                    &mut count.inapplicable
                }
                (Some(VerdictOutcome::AsRecorded), Cause::Unaided) => &mut count.matching,
                (Some(VerdictOutcome::AsRecorded), Cause::Fitted) => &mut count.fitted,
                (Some(VerdictOutcome::AsRecorded), Cause::Known) => &mut count.known,
                (Some(VerdictOutcome::AsRecorded), Cause::Inferred) => &mut count.inferred,
                (Some(VerdictOutcome::AsRecorded), Cause::Unexplained) => &mut count.unexplained,
                (Some(_), _) => &mut count.changed,
            };
            *place += 1;
        }
        count
    }

    /// Those that differ, as recorded.
    pub fn differing(&self) -> usize {
        self.known + self.inferred + self.unexplained
    }

    /// All printed numbers that are compared.
    pub fn all(&self) -> usize {
        let judged = self.matching + self.fitted + self.differing() + self.changed;
        judged + self.not_run + self.inapplicable
    }

    /// All of it in one line.
    pub fn line(&self) -> String {
        let parts = [
            (self.matching, "match"),
            (self.fitted, "match by a fitted constant"),
            (self.known, "differ for a known cause"),
            (self.inferred, "differ for an inferred cause"),
            (self.unexplained, "differ without a cause found"),
            (self.changed, "came out otherwise than recorded"),
            (self.not_run, "were not run"),
            (self.inapplicable, "are inapplicable"),
        ];
        let parts = parts.iter().filter(|(n, _)| *n > 0);
        let parts: Vec<_> = parts.map(|(n, what)| format!("{n} {what}")).collect();
        format!("of {} printed numbers {}", self.all(), parts.join(", "))
    }
}
