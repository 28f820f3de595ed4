//! What the users of applications get: of each the numbers that its kind is judged by, at one point
//! or at a few side by side.

use super::axis::{Shape, value, varying};
use super::finding::{Finding, Metric, Of, Used};
use super::numbers::{Number, Numbers};
use super::sweep::left_out;
use super::words::{Kind, capital, conditions, list};
use super::{along, rank};
use trammel_report::{Block, Section, TableView};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;
use trammel_stats::table::CellType::Text;
use trammel_stats::table::{Cell, Column, Table};

/// Points that a sentence names one by one.
const MOST_POINTS: usize = 4;
/// What ends a clause about a number that is the same at all points.
const THROUGHOUT: &str = " throughout";

/// Points that the table has room for.
const MOST_COLUMNS: usize = 6;
/// What the table shows of an application, where it has that.
const SHOWN: &[Asked] = &[
    ("startup", Kind::Seconds, "time to the first picture"),
    (
        "stalled",
        Kind::Percent,
        "time in which the picture stands still",
    ),
    ("bitrate", Kind::Rate, "bit rate"),
    ("switches", Kind::Plain, "changes of quality"),
    ("time_p50", Kind::Seconds, "median time"),
    ("time_p95", Kind::Seconds, "95th percentile of the time"),
    ("time_p99", Kind::Seconds, "99th percentile of the time"),
    ("time_p999", Kind::Seconds, "99.9th percentile of the time"),
    ("delay_p50", Kind::Micros, "median delay"),
    ("delay_p95", Kind::Micros, "95th percentile of the delay"),
    ("delay_p99", Kind::Micros, "99th percentile of the delay"),
    ("loss", Kind::Percent, "lost"),
    ("overdue", Kind::Percent, "too late or lost"),
    ("mos", Kind::Plain, "opinion score, 1 to 4.5"),
];

/// What one asks of a kind: the metric, how its number is written, and what stands before it.
pub(super) type Asked = (&'static str, Kind, &'static str);

/// What one asks of a kind, the most important first; `{}` is the application's name.
fn asked(kind: &str) -> &'static [Asked] {
    match kind {
        "video" => &[
            ("stalled", Kind::Percent, "stalled time of {}"),
            ("bitrate", Kind::Rate, "its bit rate"),
        ],
        "web" => &[
            ("time_p50", Kind::Seconds, "median load time of {}"),
            ("time_p95", Kind::Seconds, "its 95th percentile"),
        ],
        "call" => &[
            ("stalled", Kind::Percent, "frozen time of {}"),
            ("bitrate", Kind::Rate, "its bit rate"),
            ("delay_p95", Kind::Micros, "95th percentile of its delay"),
        ],
        "game" => &[
            (
                "delay_p95",
                Kind::Micros,
                "95th percentile of the delay of {}",
            ),
            ("overdue", Kind::Percent, "its share of late updates"),
        ],
        "voice" => &[("mos", Kind::Plain, "opinion score of {}")],
        "rpc" => &[
            (
                "time_p99",
                Kind::Seconds,
                "99th percentile of the latency of {}",
            ),
            ("time_p999", Kind::Seconds, "its 99.9th"),
        ],
        _ => &[],
    }
}

/// What the first application of the file is judged by.
fn metric(kind: &str) -> Option<Metric> {
    let (name, kind, _) = *asked(kind).first()?;
    Some(Metric {
        words: match name {
            "stalled" => "time in which the picture stands still",
            "time_p50" => "median load time",
            "time_p99" => "99th percentile of the latency",
            "mos" => "opinion score",
            _ => "95th percentile of the delay",
        },
        kind,
        more_is_better: name == "mos",
        of: Of::App,
        name,
    })
}

/// What application `at` is judged by before all else.
pub(super) fn judged_by(point: &Point, at: usize) -> Option<Asked> {
    asked(kind_of(point, at)).first().copied()
}

/// The kind of an application by its proper name.
fn kind_of(point: &Point, at: usize) -> &'static str {
    let family = trammel_scenario::registry::Family::App;
    let app = &point.scenario.apps[at];
    app.kind.about(family).map_or("", |about| about.name)
}

pub(super) fn find(file: &File, numbers: &Numbers, shape: &Shape) -> Option<Finding> {
    let points: Vec<&Point> = file
        .points
        .iter()
        .filter(|point| numbers.has(&point.id))
        .collect();
    let first = points.first()?;
    if points.len() > MOST_POINTS {
        let metric = metric(kind_of(first, 0))?;
        return rank::find(file, numbers, &[metric])
            .or_else(|| along::find(file, numbers, shape, metric));
    }
    let varying = varying(file);
    let (mut sentences, mut used, mut shown) = (Vec::new(), Vec::new(), String::new());
    for (at, app) in first.scenario.apps.iter().enumerate() {
        let mut clauses = Vec::new();
        for (name, kind, words) in asked(kind_of(first, at)) {
            let number = |point: &&Point| {
                let number = numbers.get(&point.id, &app.name, name)?;
                Some((number, conditions(point, &varying)))
            };
            let all: Vec<_> = points.iter().filter_map(number).collect();
            let Some(mut said) = say(*kind, &all) else {
                continue;
            };
            let has_none = |point: &&&Point| numbers.get(&point.id, &app.name, name).is_none();
            let without = points.iter().filter(has_none);
            let without: Vec<String> = without.map(|point| conditions(point, &varying)).collect();
            if !without.is_empty() {
                let said_of_others = said.trim_end_matches(THROUGHOUT);
                said = format!("{said_of_others}, there is none {}", list(&without));
            }
            let said_is_constant = said.ends_with(THROUGHOUT);
            let words = words.replace("{}", &format!("`{}`", app.name));
            clauses.push(format!("{words} {said}"));
            let is_main = clauses.len() == 1;
            if is_main {
                used.extend(points.iter().map(|point| Used::new(point, &app.name, name)));
            }
            if is_main && shown.is_empty() {
                let means = all.iter().map(|(number, _)| kind.mean(*number));
                shown = means.collect::<Vec<_>>().join(" → ");
            }
            // The first number in which points differ is enough; the table below has the rest.
            if points.len() > 1 && !said_is_constant {
                break;
            }
        }
        if let Some(first) = clauses.first_mut() {
            *first = capital(first);
            sentences.push(clauses.join(", "));
        }
    }
    if sentences.is_empty() {
        return None;
    }
    let number = if points.len() <= 2 {
        shown
    } else {
        String::new()
    };
    Some(Finding::new(number, format!("{}.", sentences.join(". "))).resting_on(used))
}

/// The numbers of every application side by side: a row each, a column a point.
pub(super) fn section(file: &File, numbers: &Numbers) -> Option<Section> {
    let points = file.points.iter().filter(|point| numbers.has(&point.id));
    let points: Vec<&Point> = points.collect();
    let left_out = left_out(points.len(), MOST_COLUMNS);
    let points = &points[..points.len().min(MOST_COLUMNS)];
    let first = points.first()?;
    let varying = varying(file);
    let mut columns = vec![Column::new("application", Text), Column::new("of it", Text)];
    columns.extend(points.iter().enumerate().map(|(n, point)| {
        let all: Vec<String> = varying.iter().map(|at| value(point, *at)).collect();
        let name = match (all.join(", "), n) {
            (all, _) if !all.is_empty() => format!("`{all}`"),
            (_, 0) => "mean".to_owned(),
            _ => format!("`{}`", point.id),
        };
        Column::new(name, Text)
    }));
    let mut table = Table::new("experience", columns);
    for (at, app) in first.scenario.apps.iter().enumerate() {
        for (name, kind, words) in SHOWN {
            let number = |point: &&Point| numbers.get(&point.id, &app.name, name);
            let all: Vec<_> = points.iter().map(number).collect();
            if all.iter().all(Option::is_none) {
                continue;
            }
            let said = |number: &Option<Number>| number.map_or(String::new(), |n| kind.mean(n));
            let mut row = vec![Cell::from(app.name.as_str())];
            let is_reaction = *name == "time_p50" && kind_of(first, at) == "game";
            let words = if is_reaction {
                "median reaction time"
            } else {
                words
            };
            row.push(words.into());
            row.extend(all.iter().map(|number| Cell::from(said(number))));
            table
                .push(row)
                .expect("the row has the columns of the table");
        }
    }
    (!table.is_empty()).then(|| Section {
        heading: "Applications".to_owned(),
        text: format!(
            "What the users get, all users of an application together: means over the repeats. \
             {left_out}Intervals are in the table `summary`."
        ),
        blocks: vec![Block::Table(TableView {
            title: "What users get".to_owned(),
            table,
            is_open: true,
        })],
    })
}

/// `is 3 %`, or `is 3 % with droptail and 0 % with cake`.
fn say(kind: Kind, all: &[(Number, String)]) -> Option<String> {
    match all {
        [] => None,
        [(number, condition)] if condition.is_empty() => {
            Some(format!("is {}", kind.with_interval(*number)))
        }
        _ => {
            let (first, rest) = all.split_first()?;
            let differs = rest.iter().any(|(number, _)| number.differs_from(first.0));
            let parts = all.iter().map(|(number, condition)| {
                let mean = kind.mean(*number);
                format!("{mean} {condition}").trim_end().to_owned()
            });
            let unclear = if differs {
                ""
            } else {
                " (no clear difference)"
            };
            let parts: Vec<String> = parts.collect();
            let same = kind.mean(first.0);
            if all.iter().all(|(number, _)| kind.mean(*number) == same) {
                return Some(format!("is {same}{THROUGHOUT}"));
            }
            Some(format!("is {}{unclear}", list(&parts)))
        }
    }
}
