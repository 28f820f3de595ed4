//! The report of a traffic run: one answer, the engines side by side, what was offered, delay over
//! a sweep.

use super::answer::answer;
use super::compared;
use super::outcome::StreamsOutcome;
use trammel_core::label::Label;
use trammel_report::comparison::Comparison;
use trammel_report::provenance::{provenance, subject};
use trammel_report::run_folder::RunInfo;
use trammel_report::units;
use trammel_report::{Block, Report, Section, TableView};
use trammel_stats::table::Table;

/// The whole report.
pub(super) fn report(outcome: &StreamsOutcome<'_>, info: &RunInfo) -> Report {
    let tables = &outcome.tables;
    let first = outcome.file.first();
    let title = match first.title.as_str() {
        "" => outcome.file.name.clone(),
        title => title.to_owned(),
    };
    let question = first
        .question
        .clone()
        .unwrap_or_else(|| "What becomes of these streams over this path?".to_owned());
    let mut blocks = outcome.status.blocks();
    let all = compared::all(outcome);
    blocks.extend(super::charts::blocks(outcome, &all));
    blocks.extend(side_by_side(tables).map(Block::Comparison));
    let text = "`predict` is queueing theory, where it has a model; `simulate` the streams in \
                virtual time; `measure` real packets between network namespaces, through a path in \
                user space. The same decoder accounts for simulated and real packets.";
    let compared = Section {
        heading: "Over the path".to_owned(),
        text: text.to_owned(),
        blocks,
    };
    let views = tables.iter().filter(|table| !table.is_empty());
    let views = views.map(|table| {
        Block::Table(TableView {
            title: table.name().to_owned(),
            table: table.clone(),
            is_open: table.name() == "offered",
        })
    });
    let views = Section {
        heading: "Tables".to_owned(),
        text: "`offered` has each stream's predicted moments, their form, and the moments of a \
               sample of the stream."
            .to_owned(),
        blocks: views.collect(),
    };
    Report {
        title,
        question,
        answer: outcome.status.preliminary(answer(outcome, &all)),
        highlights: Vec::new(),
        sections: vec![compared, views],
        provenance: provenance(info, subject(info)),
    }
}

/// The table `comparison` as one, its columns of errors and of references left to the page's own.
fn side_by_side(tables: &[Table]) -> Option<Comparison> {
    let table = tables.iter().find(|table| table.name() == "comparison")?;
    if table.is_empty() {
        return None;
    }
    let names = table.columns().iter().map(|column| column.name.as_str());
    let names: Vec<&str> = names
        .filter(|name| *name != "reference" && !name.ends_with("_error"))
        .collect();
    let shown = table.select(&names).ok()?;
    let mut comparison = Comparison::from_table("Side by side", &shown);
    if let Some(at) = comparison.keys.iter().position(|key| key == "metric") {
        for row in &mut comparison.rows {
            row.keys[at] = units::spoken(&row.keys[at]);
        }
    }
    let place = |wanted: Label| {
        let mut sources = comparison.sources.iter();
        sources.position(|source| source.label == wanted)
    };
    if comparison.reference.is_none() && comparison.sources.len() > 1 {
        comparison.reference = place(Label::Simulated);
    }
    if let Some(at) = comparison.reference {
        let label = comparison.sources[at].label;
        comparison.caption = format!("Errors are relative to what is {}.", label.words());
    }
    Some(comparison)
}
