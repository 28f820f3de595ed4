//! What was judged as tables, as text, as JSON and as a report.

use crate::suite::Suite;
use crate::verdict::{Finding, Judged, Verdict};
use serde_json::json;
use std::fmt::Write;
use trammel_core::label::Label;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_report::{Answer, Block, Highlight, Note, NoteKind, Report, Section, TableView};
use trammel_stats::table::CellType::Text;
use trammel_stats::table::{Cell, Table};

/// The verdicts, one a row.
pub fn verdicts(judged: &[Judged<'_>]) -> Table {
    let columns = [
        ("case", Text),
        ("verdict", Text),
        ("title", Text),
        ("source", Text),
        ("reason", Text),
    ];
    let mut table = Table::with("verdicts", &columns);
    for one in judged {
        let row = vec![
            Cell::from(one.case.name.as_str()),
            one.verdict.word().into(),
            one.case.title.as_str().into(),
            one.case.source.as_str().into(),
            one.verdict.reason().into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    table
}

/// The conditions of all cases, one a row.
pub fn conditions(judged: &[Judged<'_>]) -> Table {
    let columns = [
        ("case", Text),
        ("condition", Text),
        ("observed", Text),
        ("bound", Text),
        ("holds", Text),
    ];
    let mut table = Table::with("conditions", &columns);
    for one in judged {
        for finding in &one.findings {
            let row = vec![
                Cell::from(one.case.name.as_str()),
                finding.says.as_str().into(),
                finding.observed.as_str().into(),
                finding.bound.as_str().into(),
                holds(finding).into(),
            ];
            table.push(row).expect("the row has a cell for each column");
        }
    }
    table
}

fn holds(finding: &Finding) -> &'static str {
    match finding.holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

/// How many came to each verdict: `20 pass, 1 fail, 1 departs`.
pub fn count(judged: &[Judged<'_>]) -> String {
    let words = [
        "pass",
        "fail",
        "departs",
        "not applicable",
        "not observable",
    ];
    let counts = words.map(|word| {
        let of = judged.iter().filter(|one| one.verdict.word() == word);
        (of.count(), word)
    });
    let told = counts
        .iter()
        .filter(|(n, word)| *n > 0 || *word == "fail" || *word == "pass");
    let told: Vec<_> = told.map(|(n, word)| format!("{n} {word}")).collect();
    told.join(", ")
}

/// Whether a case failed.
pub fn has_failed(judged: &[Judged<'_>]) -> bool {
    judged.iter().any(|one| one.verdict == Verdict::Fail)
}

/// The verdicts for a person, with the conditions of each case where `all`, else of those that did
/// not pass.
pub fn to_text(subject: &str, suite: &Suite, judged: &[Judged<'_>], all: bool) -> String {
    let mut text = format!("{subject} by {}\n\n", suite.source);
    let width = judged.iter().map(|one| one.case.name.len()).max();
    let width = width.unwrap_or_default();
    for one in judged {
        let (name, word) = (&one.case.name, one.verdict.word());
        let word = if one.verdict == Verdict::Fail {
            "FAIL"
        } else {
            word
        };
        let line = format!("{name:width$}  {word:14}  {}", one.case.title);
        text += line.trim_end();
        text.push('\n');
        if !one.verdict.reason().is_empty() {
            writeln!(text, "    {}", one.verdict.reason()).expect("a string takes any text");
        }
        let shown = |finding: &&Finding| all || finding.holds == Some(false);
        for finding in one.findings.iter().filter(shown) {
            let mark = match finding.holds {
                Some(true) => "ok",
                Some(false) => "no",
                None => "?",
            };
            let bound = match finding.bound.as_str() {
                "" => String::new(),
                bound => format!(" (must be {bound})"),
            };
            writeln!(
                text,
                "    {mark:2} {}: {}{bound}",
                finding.says, finding.observed
            )
            .expect("a string takes any text");
        }
    }
    writeln!(text, "\n{}", count(judged)).expect("a string takes any text");
    text
}

/// What was judged, as JSON.
pub fn to_json(subject: &str, suite: &Suite, judged: &[Judged<'_>]) -> serde_json::Value {
    let case = |one: &Judged<'_>| {
        let checks = one.findings.iter().map(|finding| {
            json!({
                "says": finding.says,
                "observed": finding.observed,
                "bound": finding.bound,
                "holds": finding.holds,
            })
        });
        json!({
            "case": one.case.name,
            "number": one.case.number(),
            "title": one.case.title,
            "source": one.case.source,
            "quote": one.case.quote,
            "verdict": one.verdict.word(),
            "reason": one.verdict.reason(),
            "checks": checks.collect::<Vec<_>>(),
        })
    };
    json!({
        "suite": suite.name,
        "source": suite.source,
        "subject": subject,
        "cases": judged.iter().map(case).collect::<Vec<_>>(),
    })
}

/// The report of `judged`.
pub fn render(subject: &str, suite: &Suite, judged: &[Judged<'_>], label: Label) -> Report {
    let of = |word: &str| {
        judged
            .iter()
            .filter(|one| one.verdict.word() == word)
            .count()
    };
    let judgeable = judged.len() - of("not applicable") - of("not observable");
    let highlights =
        ["fail", "departs", "not applicable", "not observable"].map(|word| Highlight {
            name: word.to_owned(),
            value: of(word).to_string(),
            label: Some(label),
            ..Highlight::default()
        });
    let mut sections = vec![Section {
        heading: "Verdicts".to_owned(),
        text: String::new(),
        blocks: vec![Block::Table(TableView {
            title: "Cases".to_owned(),
            table: verdicts(judged),
            is_open: true,
        })],
    }];
    sections.extend(judged.iter().map(|one| section(one, label)));
    Report {
        title: format!("Conformance of {subject}: {}", suite.name),
        question: format!("Does {subject} conform to {}?", suite.source),
        answer: Answer {
            number: format!("{} of {judgeable}", of("pass")),
            sentence: format!(
                "cases pass that apply to {subject} and can be observed; {} fail.",
                of("fail")
            ),
            label: Some(label),
        },
        highlights: highlights.into(),
        sections,
        ..Report::default()
    }
}

/// The reports of several subjects as one.
pub fn together(mut reports: Vec<Report>) -> Report {
    if reports.len() < 2 {
        return reports.pop().unwrap_or_default();
    }
    let titles: Vec<_> = reports.iter().map(|one| one.title.clone()).collect();
    let mut report = Report {
        title: "Conformance".to_owned(),
        question: "Which of them conform?".to_owned(),
        answer: Answer {
            number: String::new(),
            sentence: titles.join("; "),
            label: None,
        },
        ..Report::default()
    };
    for one in reports {
        let name = one.title.clone();
        report.highlights.push(Highlight {
            name: name.clone(),
            value: one.answer.number.clone(),
            label: one.answer.label,
            ..Highlight::default()
        });
        report
            .sections
            .extend(one.sections.into_iter().map(|mut section| {
                section.heading = format!("{name}: {}", section.heading);
                // Figures have names of their own in a page.
                for block in &mut section.blocks {
                    if let Block::Figure(figure) = block {
                        figure.id = format!("{}-{}", figure.id, report.highlights.len());
                    }
                }
                section
            }));
    }
    report
}

fn section(one: &Judged<'_>, label: Label) -> Section {
    let mut blocks = Vec::new();
    if !one.verdict.reason().is_empty() {
        blocks.push(Block::Note(Note {
            kind: NoteKind::Info,
            text: one.verdict.reason().to_owned(),
        }));
    }
    if !one.findings.is_empty() {
        blocks.push(Block::Table(TableView {
            title: "Conditions".to_owned(),
            table: conditions(std::slice::from_ref(one)),
            is_open: true,
        }));
    }
    blocks.extend(figure(one, label).map(Block::Figure));
    Section {
        heading: format!("{}: {}", one.case.name, one.verdict.word()),
        text: format!(
            "{}\n\n{}: “{}”",
            one.case.title, one.case.source, one.case.quote
        ),
        blocks,
    }
}

/// Window and segments in flight over time.
fn figure(one: &Judged<'_>, label: Label) -> Option<Figure> {
    let seen = &one.seen.series;
    if seen.times.len() < 2 {
        return None;
    }
    let id = format!("window-{}", one.case.name);
    let (x, y) = (Axis::linear("time", "s"), Axis::linear("segments", ""));
    let mut figure = Figure::new(&id, "Congestion window", x, y.from_zero());
    for (name, variable) in [("window", "cwnd_pkts"), ("in flight", "in_flight_pkts")] {
        let Some(column) = seen.columns.get(variable) else {
            continue;
        };
        let points = seen.times.iter().copied().zip(column.iter().copied());
        let points = points.filter(|(_, value)| !value.is_nan()).collect();
        figure = figure.with(Series::new(name, Mark::Step, thin(points)).labelled(label));
    }
    (!figure.series.is_empty()).then_some(figure)
}

/// At most some hundred points, evenly.
fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    const MOST: usize = 600;
    let step = points.len().div_ceil(MOST).max(1);
    points.into_iter().step_by(step).collect()
}
