//! The report of a routing run: one answer, the topology, bounds beside what was simulated, tables.

use crate::answer::answer;
use crate::layout;
use crate::outcome::Outcome;
use trammel_core::label::Label;
use trammel_report::comparison::Comparison;
use trammel_report::graph::Graph;
use trammel_report::provenance::{provenance, subject};
use trammel_report::run_folder::RunInfo;
use trammel_report::{Block, Choice, Report, Section, TableView};
use trammel_stats::table::{Cell, Row, Table, format_float};

/// Points whose topologies are drawn.
const MOST_DRAWN: usize = 12;

/// The whole report.
pub(crate) fn report(outcome: &Outcome<'_>, info: &RunInfo) -> Report {
    let first = outcome.file.first();
    let title = match first.title.as_str() {
        "" => outcome.file.name.clone(),
        title => title.to_owned(),
    };
    let question = first.question.clone();
    let question = question.unwrap_or_else(|| {
        "How long until the routers agree again, and what is lost meanwhile?".to_owned()
    });
    let mut blocks = outcome.status.blocks();
    blocks.extend(drawings(outcome));
    let network = Section {
        heading: "The network".to_owned(),
        text: "PW-OSPF runs on every router. A probe goes from each subnet of hosts to each other \
               one every 100 ms."
            .to_owned(),
        blocks,
    };
    let events = Section {
        heading: "After each event".to_owned(),
        text: "`predict` is the longest that convergence, a black hole or a loop can last after \
               one change at a time; `simulate` is what happened in virtual time, `measure` \
               what happened on this machine."
            .to_owned(),
        blocks: side_by_side(&outcome.tables)
            .map(Block::Comparison)
            .into_iter()
            .collect(),
    };
    let view = |table: &Table| {
        Block::Table(TableView {
            title: table.name().to_owned(),
            table: table.clone(),
            is_open: table.name() == "events",
        })
    };
    let shown = outcome
        .tables
        .iter()
        .filter(|table| table.name() != "comparison");
    let tables = Section {
        heading: "Tables".to_owned(),
        text: "`lost_pkts` are probes lost though a working path was there, `cut_off_pkts` those \
               without one, `swallowed_pkts` control packets that a broken link or router \
               swallowed."
            .to_owned(),
        blocks: shown.map(view).collect(),
    };
    let mut sections = vec![network, events, tables];
    // One engine alone has nothing beside it; its events are a table.
    sections.retain(|section| !section.blocks.is_empty());
    Report {
        title,
        question,
        answer: outcome.status.preliminary(answer(outcome)),
        highlights: Vec::new(),
        sections,
        provenance: provenance(info, subject(info)),
    }
}

/// The topology of each point, where there are several to choose from.
fn drawings(outcome: &Outcome<'_>) -> Vec<Block> {
    let points = outcome.file.points.iter().take(MOST_DRAWN).enumerate();
    let drawn = points.map(|(number, point)| {
        let id = match outcome.file.points.len() {
            1 => "topology".to_owned(),
            _ => format!("topology-{}", number + 1),
        };
        (point.id.clone(), layout::graph(&point.scenario, &id))
    });
    let mut drawn: Vec<(String, Graph)> = drawn.collect();
    if drawn.len() == 1 {
        return drawn.drain(..).map(|(_, one)| Block::Graph(one)).collect();
    }
    let options = drawn
        .into_iter()
        .map(|(id, graph)| (id, vec![Block::Graph(graph)]));
    vec![Block::Choice(Choice {
        name: "point".to_owned(),
        options: options.collect(),
    })]
}

/// The bounds in the table `comparison` that do not hold, in words.
pub(crate) fn broken(table: &Table) -> Vec<String> {
    let rows = table.rows();
    let is_broken = |row: &Row<'_>| row.get("is_within") == Some(&Cell::Bool(false));
    let words = |row: Row<'_>| {
        let bound = row.float("predicted").unwrap_or(0.0);
        let beyond = |column: &&str| row.float(column).is_some_and(|value| value > bound);
        let engines = ["simulated", "measured"].into_iter().filter(beyond);
        let number = |name: &str| format_float(row.float(name).unwrap_or(0.0), 4);
        let values: Vec<String> = engines
            .map(|engine| format!("{} s ({engine})", number(engine)))
            .collect();
        format!(
            "{}, {}: the {} takes {}, beyond the bound of {} s",
            row.text("point"),
            row.text("event"),
            row.text("metric"),
            values.join(" and "),
            number("predicted"),
        )
    };
    rows.filter(is_broken).map(words).collect()
}

/// The table `comparison` as one; nothing where one of the engines did not run.
fn side_by_side(tables: &[Table]) -> Option<Comparison> {
    let table = tables.iter().find(|table| table.name() == "comparison")?;
    let names = table.columns().iter().map(|column| column.name.as_str());
    let names: Vec<&str> = names
        .filter(|name| !name.ends_with("_error") && *name != "is_within")
        .collect();
    let shown = table.select(&names).ok()?;
    let mut comparison = Comparison::from_table("Bounds beside what happened", &shown);
    // That a bound is above what happened is no error of it.
    for source in &mut comparison.sources {
        source.is_bound |= source.label == Label::Predicted;
    }
    let bounded = table.rows().filter(|row| row.float("predicted").is_some());
    let (all, broken) = (bounded.count(), broken(table).len());
    comparison.caption = match broken {
        _ if all == 0 => String::new(),
        0 => format!("All {all} bounds hold."),
        broken => format!("{broken} of {all} bounds do not hold."),
    };
    Some(comparison)
}
