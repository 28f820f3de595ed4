//! The report of a file: question, answer with its number, comparison, plots, tables, provenance.
//!
//! What is plotted follows the shape of the file: a matrix of variants is a heat map, a swept
//! number an axis, swept names a plot of goodput against delay, and a few points are shown over
//! time.

mod agreement;
mod along;
mod axis;
mod capacity;
mod cloud;
mod completions;
mod events;
mod experience;
mod experience_along;
mod finding;
mod goal;
mod inside;
mod lead;
mod matrix;
mod named;
mod numbers;
mod prediction;
mod rank;
mod round_trips;
mod share;
mod shown;
mod side_by_side;
mod sweep;
mod takers;
mod without_flows;
mod words;

use super::points::TransportOutcome;
use axis::Shape;
use numbers::Numbers;
pub(super) use shown::{shown_points, shown_repeats};
use trammel_report::{Answer, Block, Note, NoteKind, Provenance, Report, Section, TableView};
use trammel_scenario::File;

/// The report of what came of `file`.
pub fn report(file: &File, outcome: &TransportOutcome, provenance: Provenance) -> Report {
    let scenario = &file.points[0].scenario;
    let numbers = Numbers::of(file, outcome);
    let shape = Shape::of(file);
    let mut sections = vec![Section {
        heading: "Results".to_owned(),
        text: String::new(),
        blocks: warnings(outcome),
    }];
    let results = &mut sections[0].blocks;
    if let Shape::Matrix(matrix) = &shape {
        // Of no run at all the map is empty, and says so.
        let labels = numbers.labels.iter().copied();
        let labels = labels.chain(numbers.labels.is_empty().then_some(numbers.label));
        for label in labels {
            results.extend(matrix::heat_maps(file, &numbers.by(label), matrix));
        }
    }
    if let Shape::Sweep(sweep) = &shape {
        results.extend(experience_along::figures(file, &numbers, sweep));
        results.extend(sweep::figures(file, &numbers, sweep));
    }
    results.extend(side_by_side::comparison(file, outcome, &numbers));
    sections.extend(experience::section(file, &numbers));
    sections.extend(completions::section(file, outcome));
    sections.extend(inside::sections(file, outcome));
    let tables = outcome.tables().map(|table| {
        let title = table.name().to_owned();
        Block::Table(TableView {
            title,
            table: table.clone(),
            is_open: false,
        })
    });
    sections.push(Section {
        heading: "Tables".to_owned(),
        text: String::new(),
        blocks: tables.collect(),
    });
    sections.retain(|section| !section.blocks.is_empty());
    let title = if scenario.title.is_empty() {
        file.name.clone()
    } else {
        scenario.title.clone()
    };
    Report {
        title,
        question: scenario.question.clone().unwrap_or_default(),
        answer: lead::answer(file, outcome, &numbers, &shape),
        highlights: lead::highlights(file, &numbers),
        sections,
        provenance,
    }
}

/// The answer of what came of `file` in a sentence.
pub fn answer(file: &File, outcome: &TransportOutcome) -> Answer {
    let numbers = Numbers::of(file, outcome);
    lead::answer(file, outcome, &numbers, &Shape::of(file))
}

/// What a reader must know first.
fn warnings(outcome: &TransportOutcome) -> Vec<Block> {
    const MOST: usize = 8;
    let mut texts: Vec<String> = Vec::new();
    let (all, made) = outcome.runs;
    if outcome.is_interrupted {
        texts.push(format!(
            "The run was interrupted: {made} of {all} runs are in this report."
        ));
    }
    for failure in outcome.failures.iter().take(MOST) {
        let (point, seed) = (&failure.point, failure.seed);
        texts.push(format!(
            "Point `{point}` with seed {seed} failed: {}.",
            failure.why
        ));
    }
    let more = outcome.failures.len().saturating_sub(MOST);
    if more > 0 {
        texts.push(format!("{more} more runs failed."));
    }
    texts.extend(outcome.notes.iter().take(MOST).cloned());
    let more = outcome.notes.len().saturating_sub(MOST);
    if more > 0 {
        texts.push(format!(
            "The terminal shows {more} more notes of this kind."
        ));
    }
    let note = |kind, text| Block::Note(Note { kind, text });
    let going_on = outcome.is_going_on.then(|| {
        let text = format!("The run goes on: {made} of {all} runs are in this report.");
        note(NoteKind::Info, text)
    });
    let texts = texts.into_iter();
    let warnings = texts.map(|text| note(NoteKind::Warning, text));
    going_on.into_iter().chain(warnings).collect()
}
