//! Metrics of the first run beside those of another: how far apart, and whether within a bound.

use super::align::{Aligned, align};
use super::engines::{AND, label_of};
use super::references::Pair;
use super::run::{KEYS, Key, Run};
use super::sides::{Side, sides};
use crate::Answer;
use crate::comparison::Estimate;
use std::collections::{BTreeMap, BTreeSet};
use trammel_core::label::Label;
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::{Cell, Column, Table, format_float, round_to};

/// Digits of a number on the terminal.
const SHOWN_DIGITS: usize = 6;

/// A metric of the first run beside that of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Engine, point, model, entity, metric and unit.
    pub key: [String; 6],
    /// The place of the first run's side.
    pub(super) reference: usize,
    /// The other's place among the sides.
    pub(super) side: usize,
    /// The first run's number.
    pub first: f64,
    /// The other's; nothing where it has none.
    pub other: Option<f64>,
}

impl Difference {
    /// How far the other is from the first, as a share of the first.
    pub fn share(&self) -> f64 {
        match self.other {
            Some(other) if other == self.first => 0.0,
            Some(other) => (other - self.first).abs() / self.first.abs(),
            None => f64::INFINITY,
        }
    }

    /// Whether both are zero: that what did not happen did not happen elsewhere is no agreement.
    fn is_zero(&self) -> bool {
        self.first == 0.0 && self.other == Some(0.0)
    }
}

/// Each metric of the first run beside those of the other runs, by the same engine.
pub(super) fn differences(sides: &[Side], rows: &[Aligned]) -> Vec<Difference> {
    let mut pairs: BTreeMap<&str, Vec<Pair>> = BTreeMap::new();
    let mut all = Vec::new();
    for (key, values) in rows {
        if label_of(&key[0]).is_none() {
            continue;
        }
        let pairs = pairs.entry(&key[0]);
        let pairs = pairs.or_insert_with_key(|engine| Pair::all(sides, rows, engine));
        // Programs of different kinds know different things.
        let is_crossed = key[0].contains(AND);
        for pair in pairs.iter() {
            let other = values[pair.side].filter(|_| !pair.is_lacking);
            let Some(first) = values[pair.reference] else {
                continue;
            };
            if is_crossed && other.is_none() {
                continue;
            }
            all.push(Difference {
                key: key.clone(),
                reference: pair.reference,
                side: pair.side,
                first: first.value,
                other: other.map(|other| other.value),
            });
        }
    }
    all
}

/// What a person at a terminal, or a script, learns of `runs`.
#[derive(Debug)]
pub struct Verdict {
    /// Metrics that both runs of a pair have, and that are not zero in both.
    pub compared: usize,
    /// Metrics that are zero in both runs of a pair.
    pub zeros: usize,
    /// Metrics that lie further apart than the bound, the furthest first; those that a run lacks
    /// are the last.
    pub apart: Vec<Difference>,
    /// The names of the sides.
    titles: Vec<String>,
    /// The runs and their points, where these have metrics in common but no point.
    unmatched: Vec<(String, BTreeSet<String>)>,
}

/// Which metrics of `runs` lie within `bound` of the first run's.
pub fn judge(runs: &[Run], bound: f64) -> Verdict {
    let sides = sides(runs);
    // What was published is shown beside the runs, and is no run.
    let is_run = |side: usize| sides[side].label != Some(Label::Published);
    let rows = align(runs, &sides);
    let all = differences(&sides, &rows);
    let all: Vec<_> = all.into_iter().filter(|one| is_run(one.side)).collect();
    let both = all.iter().filter(|one| one.other.is_some());
    let (zeros, compared): (Vec<_>, Vec<_>) = both.partition(|one| one.is_zero());
    let (zeros, compared) = (zeros.len(), compared.len());
    let mut apart: Vec<_> = all.into_iter().filter(|one| one.share() > bound).collect();
    apart.sort_by(|one, other| {
        let lacks = one.other.is_none().cmp(&other.other.is_none());
        lacks.then_with(|| other.share().total_cmp(&one.share()))
    });
    Verdict {
        compared,
        zeros,
        apart,
        unmatched: unmatched(runs, &sides, &rows),
        titles: sides.into_iter().map(|side| side.title).collect(),
    }
}

/// Each run with its points, where no point of one is that of another though their metrics are.
fn unmatched(runs: &[Run], sides: &[Side], rows: &[Aligned]) -> Vec<(String, BTreeSet<String>)> {
    let of_run = |at: usize| {
        let is_of = move |side: usize| sides[side].run == Some(at);
        let has_number = move |values: &[Option<Estimate>]| {
            let mut numbers = values.iter().enumerate();
            numbers.any(|(side, value)| is_of(side) && value.is_some())
        };
        rows.iter().filter(move |(_, values)| has_number(values))
    };
    let metrics = |at: usize| -> BTreeSet<Key> {
        let without_point = of_run(at).map(|(key, _)| {
            let mut key = key.clone();
            key[1].clear();
            key
        });
        without_point.collect()
    };
    let points = |at: usize| of_run(at).map(|(key, _)| key[1].clone()).collect();
    let first = metrics(0);
    let all = 0..runs.len();
    if !all
        .clone()
        .skip(1)
        .any(|at| !metrics(at).is_disjoint(&first))
    {
        return Vec::new();
    }
    all.map(|at| (runs[at].name.clone(), points(at))).collect()
}

impl Verdict {
    /// Whether the runs have no number in common.
    pub fn is_empty(&self) -> bool {
        self.compared + self.zeros == 0
    }

    /// Why the verdict [is empty](Verdict::is_empty), and what to do.
    pub fn why_nothing(&self) -> String {
        const MOST: usize = 4;
        if self.unmatched.is_empty() {
            return "no number of one run has the point, the entity and the metric of a number of \
                    another; compare runs of the same subject, whose flows and links have the same \
                    names"
                .to_owned();
        }
        let runs = self.unmatched.iter().map(|(run, points)| {
            let names: Vec<_> = points
                .iter()
                .take(MOST)
                .map(|one| format!("`{one}`"))
                .collect();
            let more = match points.len().saturating_sub(MOST) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("`{run}` has {}{more}", names.join(", "))
        });
        let runs: Vec<_> = runs.collect();
        format!(
            "the runs have metrics in common, but no point: {}; compare runs that sweep the same \
             parameters, or whose points have the same names",
            runs.join("; ")
        )
    }

    /// The `most` metrics that lie furthest apart, a line each.
    pub fn table(&self, most: usize) -> Table {
        let mut columns: Vec<Column> = KEYS.iter().map(|key| Column::new(*key, Text)).collect();
        for (name, kind) in [
            ("run", Text),
            ("first", Float),
            ("this", Float),
            ("difference_percent", Float),
        ] {
            columns.push(Column::new(name, kind));
        }
        let mut table = Table::new("apart", columns);
        for one in self.apart.iter().take(most) {
            let percent = one.other.map(|other| {
                let percent = (other - one.first) / one.first.abs() * 100.0;
                (percent * 10.0).round() / 10.0
            });
            let cells = one.key.iter().map(|text| Cell::from(text.as_str()));
            let cells = cells.chain([
                self.titles[one.side].as_str().into(),
                round_to(one.first, SHOWN_DIGITS).into(),
                one.other.map(|other| round_to(other, SHOWN_DIGITS)).into(),
                percent.filter(|percent| percent.is_finite()).into(),
            ]);
            table
                .push(cells.collect())
                .expect("the row has a cell for each column");
        }
        table
    }
}

/// How many metrics of later runs lie within the bound of the first run's.
pub(super) fn answer(runs: &[Run], sides: &[Side], all: &[Difference], bound: f64) -> Answer {
    // What was published is no run.
    let both = all.iter().filter(|one| one.other.is_some());
    let both = both.filter(|one| sides[one.side].run.is_some());
    let (zeros, both): (Vec<_>, Vec<_>) = both.partition(|one| one.is_zero());
    let near = both.iter().filter(|one| one.share() <= bound).count();
    let reference = reference_name(runs, sides, all);
    let (zeros, all) = (zeros.len(), both.len());
    if all == 0 {
        let sentence = match zeros {
            0 => "The runs have no metric of a point in common, so nothing is compared.".to_owned(),
            _ => format!("All that the runs have in common is 0 in both ({zeros} metrics)."),
        };
        return Answer {
            sentence,
            ..Answer::default()
        };
    }
    let bound = format_float(bound * 100.0, 4);
    let more = match zeros {
        0 => String::new(),
        1 => " One more is 0 in both.".to_owned(),
        _ => format!(" {zeros} more are 0 in both."),
    };
    let place = first_of(runs, sides, reference);
    Answer {
        number: format!("{near} of {all}"),
        sentence: format!(
            "{near} of {all} metrics are within {bound} % of those of {reference}{place}.{more}"
        ),
        label: None,
    }
}

/// What the others are compared with: a side, or where there are several, the first run.
pub(super) fn reference_name<'a>(
    runs: &'a [Run],
    sides: &'a [Side],
    all: &[Difference],
) -> &'a str {
    let places: BTreeSet<usize> = all.iter().map(|one| one.reference).collect();
    match (places.first(), places.len()) {
        (Some(only), 1) => &sides[*only].title,
        _ => runs.first().map_or("", |run| &run.name),
    }
}

/// That the reference is one of several points of the first run.
fn first_of(runs: &[Run], sides: &[Side], reference: &str) -> String {
    let points = sides
        .iter()
        .filter(|side| side.run == Some(0) && side.system.is_empty() && side.name != runs[0].name);
    let points: BTreeSet<&str> = points.map(|side| side.name.as_str()).collect();
    if points.len() > 1 && points.contains(reference) {
        format!(", the first of {} points of {}", points.len(), runs[0].name)
    } else {
        String::new()
    }
}
