//! The study as a report: the answer, the targets, windows drawn over each other, every finding.

use super::Study;
use super::finding::{Finding, Metric, Spread};
use super::plan::Case;
use super::runs::Sides;
use super::tables;
use super::trace::Stamp;
use trammel_core::label::Label;
use trammel_report::comparison::{BOUNDS, Comparison, Estimate, Row, Source};
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_report::{Answer, Block, Highlight, Note, NoteKind, Report, Section, TableView};
use trammel_stats::table::Table;

/// Every how manieth stamp is drawn: a tenth of a second of `e2`.
const DRAWN: usize = 10;

/// The report of `study`, with curves of the runs `made`.
pub fn render(study: &Study<'_>, made: &[(&Case, Sides)]) -> Report {
    let main: Vec<_> = study
        .targets
        .iter()
        .filter(|target| target.is_main)
        .collect();
    let met = main.iter().filter(|target| target.is_met()).count();
    let misses = study
        .findings
        .iter()
        .filter(|finding| finding.is_miss())
        .count();
    let checks = study
        .findings
        .iter()
        .filter(|finding| finding.is_target)
        .count();
    // After an interrupt there may be nothing to take a median of.
    let mut skills = main.iter().filter(|target| target.of > 0);
    let skill = skills.find(|target| target.what.contains("skill"));
    let highlight = |name: &str, value: String, note: &str| Highlight {
        name: name.to_owned(),
        value,
        label: Some(Label::Simulated),
        note: note.to_owned(),
        ..Highlight::default()
    };
    Report {
        title: "Fidelity to Linux 6.12".to_owned(),
        question: "How close is the simulator's TCP to the real kernel's?".to_owned(),
        answer: Answer {
            number: format!("{} of {checks}", checks - misses),
            sentence: format!(
                "checks against the kernel are within their bounds; {met} of {} targets are met.",
                main.len()
            ),
            label: Some(Label::Simulated),
        },
        highlights: skill
            .map(|skill| {
                highlight(
                    "median skill",
                    format!("{:.2}", skill.reached),
                    "1 is perfect, 0 the null model",
                )
            })
            .into_iter()
            .collect(),
        sections: vec![
            targets(study),
            windows(made),
            means(study.findings),
            all(study),
        ],
        ..Report::default()
    }
}

fn view(title: &str, table: Table, is_open: bool) -> Block {
    Block::Table(TableView {
        title: title.to_owned(),
        table,
        is_open,
    })
}

fn targets(study: &Study<'_>) -> Section {
    let mut blocks = vec![
        view("Targets", tables::of_targets(study.targets), true),
        view(
            "Misses and their mechanisms",
            tables::of_misses(study.findings, study.mechanisms),
            true,
        ),
    ];
    let mut warn = |keys: &[String], what: &str| {
        if !keys.is_empty() {
            blocks.push(Block::Note(Note {
                kind: NoteKind::Warning,
                text: format!("{what}: {}", keys.join(", ")),
            }));
        }
    };
    warn(&study.gaps.unexplained, "Misses without a mechanism");
    warn(&study.gaps.stale, "Mechanisms without their miss");
    Section {
        heading: "Targets".to_owned(),
        text: "Of the variants that count, two may miss a target. A target of several metrics is \
               met by a variant only where each flow is within each bound."
            .to_owned(),
        blocks,
    }
}

/// Windows over time, the kernel's and ours, for each variant of `e2`.
fn windows(made: &[(&Case, Sides)]) -> Section {
    let points = |trace: &[Stamp]| -> Vec<(f64, f64)> {
        let drawn = trace.iter().step_by(DRAWN);
        drawn.map(|stamp| (stamp.time_s, stamp.cwnd_pkts)).collect()
    };
    let mut blocks = Vec::new();
    for (case, sides) in made.iter().filter(|(case, _)| case.set == "e2") {
        let variant = &case.variant;
        let axes = (Axis::linear("time", "s"), Axis::linear("cwnd", "packets"));
        let line = |name: &str, trace: &[Stamp], label, colour| {
            let series = Series::new(name, Mark::Line, points(trace));
            series.labelled(label).coloured(colour)
        };
        let figure = Figure::new(&format!("e2-{variant}"), variant, axes.0, axes.1)
            .with(line("kernel", &sides.kernel[0][0].trace, Label::LinuxVt, 0))
            .with(line(
                "simulated",
                &sides.ours[0][0].trace,
                Label::Simulated,
                1,
            ))
            .grouped("e2");
        blocks.push(Block::Figure(figure));
    }
    Section {
        heading: "Windows, one flow without random loss".to_owned(),
        text: "100 Mbit/s, 50 ms, FIFO of 417 packets; one realisation of each.".to_owned(),
        blocks,
    }
}

/// Goodput of every ensemble, with intervals.
fn means(findings: &[Finding]) -> Section {
    let estimate = |spread: &Spread| Estimate {
        value: spread.mean,
        interval: spread
            .half_ci
            .map(|half| (spread.mean - half, spread.mean + half)),
    };
    let row = |finding: &Finding| Row {
        keys: vec![
            finding.set.to_owned(),
            finding.variant.clone(),
            finding.cc.clone(),
        ],
        unit: finding.metric.unit().to_owned(),
        values: vec![
            Some(finding.null.into()),
            Some(estimate(&finding.ours)),
            Some(estimate(&finding.kernel)),
        ],
        verdict: None,
    };
    let goodput = |finding: &&Finding| finding.metric == Metric::Goodput && finding.ours.count > 1;
    let source = |label, name: &str| Source::new(label, name);
    Section {
        heading: "Means over seeds and phases".to_owned(),
        text: String::new(),
        blocks: vec![Block::Comparison(Comparison {
            title: "Goodput".to_owned(),
            caption: "With 95 % intervals; the predicted column is the null model.".to_owned(),
            keys: ["set", "run", "flow"].map(str::to_owned).to_vec(),
            sources: vec![
                source(Label::Predicted, "null model"),
                source(Label::Simulated, ""),
                source(Label::LinuxVt, ""),
            ],
            reference: Some(2),
            bounds: BOUNDS,
            rows: findings.iter().filter(goodput).map(row).collect(),
        })],
    }
}

fn all(study: &Study<'_>) -> Section {
    let findings = tables::of_findings(study.findings);
    let by_set = findings.group_by(&["set"]).expect("a column of the table");
    Section {
        heading: "Every finding".to_owned(),
        text: String::new(),
        blocks: by_set
            .into_iter()
            .map(|(set, table)| view(&set[0].to_string(), table, false))
            .collect(),
    }
}
