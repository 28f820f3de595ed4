//! The answer: the longest convergence of the run, and what was lost meanwhile.

use crate::outcome::{Outcome, Ran};
use trammel_core::label::Label;
use trammel_report::Answer;
use trammel_scenario::routing::Point;
use trammel_stats::table::{Row, format_float};

/// Digits of numbers in sentences.
const DIGITS: usize = 3;

/// The answer of all points.
pub(crate) fn answer(outcome: &Outcome<'_>) -> Answer {
    happened(outcome)
        .or_else(|| predicted(outcome))
        .unwrap_or_default()
}

/// An event: its point, what came of it, its place among the events, its row.
type Event<'a> = (&'a Point, &'a Ran, usize, Row<'a>);

/// The slowest event of all points: its row, and the bound where one is predicted.
fn slowest<'a>(outcome: &'a Outcome<'_>) -> Option<Event<'a>> {
    let all = outcome.points().flat_map(|(point, ran)| {
        let rows = ran
            .best()
            .into_iter()
            .flat_map(|(_, run)| run.events.rows());
        rows.enumerate().map(move |(at, row)| (point, ran, at, row))
    });
    let time = |row: &Row<'_>| row.float("converged_s").unwrap_or(0.0);
    let mut slowest: Option<Event<'a>> = None;
    for one in all {
        if slowest
            .as_ref()
            .is_none_or(|(.., row)| time(row) < time(&one.3))
        {
            slowest = Some(one);
        }
    }
    slowest
}

fn happened(outcome: &Outcome<'_>) -> Option<Answer> {
    let (point, ran, at, row) = slowest(outcome)?;
    let (label, run) = ran.best()?;
    let seconds = |column: &str| format_float(row.float(column).unwrap_or(0.0), DIGITS);
    let bound = ran.predicted.as_ref().and_then(|all| all.get(at));
    let bound = bound.map_or(String::new(), |one| {
        let bound = format_float(one.bound.as_secs_f64(), DIGITS);
        format!("; the bound is {bound} s")
    });
    let place = if outcome.file.points.len() > 1 {
        format!(" ({})", point.id)
    } else {
        String::new()
    };
    let elsewhere = elsewhere(outcome, point);
    let when = match row.text("event") {
        "start" => "the start".to_owned(),
        event => format!("“{event}” at {} s", seconds_of(&row)),
    };
    let open: usize = run
        .events
        .rows()
        .filter(|row| row.float("restored_s").is_none())
        .count();
    let open = match open {
        0 => String::new(),
        n => format!(" After {n} of the events some packets are lost to the end of their time."),
    };
    let (sent, lost) = (run.total("probes_pkts"), run.total("lost_pkts"));
    let lost_words = match lost {
        0 => "no probe is lost where a path is there".to_owned(),
        lost => format!(
            "{lost} of {sent} probes ({} %) are lost though a path is there",
            format_float(100.0 * lost as f64 / sent.max(1) as f64, 2)
        ),
    };
    Some(Answer {
        number: format!("{} s", seconds("converged_s")),
        sentence: format!(
            "Convergence takes longest after {when}{place}: {} s{bound}{elsewhere}. Over the \
             run {lost_words}.{open}",
            seconds("converged_s")
        ),
        label: Some(label),
    })
}

/// The longest convergence at the points other than `here`, where these are few.
fn elsewhere(outcome: &Outcome<'_>, here: &Point) -> String {
    const MOST: usize = 4;
    let others = outcome.points().filter(|(point, _)| point.id != here.id);
    let others = others.filter_map(|(point, ran)| {
        let (_, run) = ran.best()?;
        let all = run.events.rows().filter_map(|row| row.float("converged_s"));
        let longest = format_float(all.reduce(f64::max)?, DIGITS);
        Some(format!("{longest} s ({})", point.id))
    });
    let others: Vec<String> = others.collect();
    if others.is_empty() || others.len() > MOST {
        return String::new();
    }
    format!("; elsewhere {}", others.join(", "))
}

/// The instant of an event, in seconds.
fn seconds_of(row: &Row<'_>) -> String {
    format_float(row.float("at_s").unwrap_or(0.0), 9)
}

fn predicted(outcome: &Outcome<'_>) -> Option<Answer> {
    let all = outcome.points();
    let all = all.flat_map(|(_, ran)| ran.predicted.iter().flatten());
    let worst = all.max_by_key(|one| one.bound)?;
    let bound = format_float(worst.bound.as_secs_f64(), DIGITS);
    Some(Answer {
        number: format!("{bound} s"),
        sentence: format!(
            "After “{}” no black hole or loop lasts longer than {bound} s.",
            worst.cause
        ),
        label: Some(Label::Predicted),
    })
}
