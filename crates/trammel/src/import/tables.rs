//! The tables of a folder, from those of its files: with engine, point and repeat before each row,
//! and the summary over the repeats.

use super::point::Point;
use anyhow::bail;
use std::borrow::Cow;
use std::collections::BTreeMap;
use trammel_core::label::Label;
use trammel_formats::Imported;
use trammel_scenario::columns::support;
use trammel_stats::stats::Moments;
use trammel_stats::table::CellType::{self, Float, Int, Text};
use trammel_stats::table::{Cell, Column, Row, Table};
use trammel_transport::summary::{COLUMNS, Of, moments, push};

/// Tables by their names, and the column that says what a row is of.
const ENTITIES: [(&str, &str); 6] = [
    ("flows", "flow"),
    ("links", "link"),
    ("streams", "stream"),
    ("pings", "ping"),
    ("queues", "queue"),
    ("groups", ""),
];
/// What rows of `groups` are of, in summaries of simulated runs as well.
const ALL_FLOWS: &str = "all flows";
/// Digits on the terminal.
const SHOWN_DIGITS: usize = 6;

/// The column that says what a row of the table `name` is of.
pub(super) fn entity_column(name: &str) -> &'static str {
    let found = ENTITIES.iter().find(|(table, _)| *table == name);
    found.map_or("", |(_, column)| column)
}

/// `imported` with `names` in place of its flows', links' and streams' own, in the order of its
/// tables.
pub(super) fn named(mut imported: Imported, names: &[String]) -> anyhow::Result<Imported> {
    if names.is_empty() {
        return Ok(imported);
    }
    let known: Vec<String> = imported.runs.first().map_or_else(Vec::new, |run| {
        let tables = run.tables.iter().filter(|table| !table.is_empty());
        let own = tables.filter(|table| !entity_column(table.name()).is_empty());
        own.flat_map(|table| {
            let column = entity_column(table.name());
            table.rows().map(move |row| row.text(column).to_owned())
        })
        .collect()
    });
    if names.len() > known.len() {
        bail!(
            "`--name` gives {} names, but the file has {} flows, links and streams: {}; give one \
             name for each, or fewer",
            names.len(),
            known.len(),
            known.join(", ")
        );
    }
    let kept = known.get(names.len()..).unwrap_or_default();
    let all: Vec<&String> = names.iter().chain(kept).collect();
    if let Some(twice) =
        (1..all.len()).find(|at| names.contains(all[*at]) && all[..*at].contains(&all[*at]))
    {
        bail!(
            "`--name` makes two flows `{}`; give each a name of its own",
            all[twice].escape_debug()
        );
    }
    // Repeats have other ports, and the same order.
    for run in &mut imported.runs {
        let mut left = names.iter();
        let mut renames: BTreeMap<String, &String> = BTreeMap::new();
        for table in &mut run.tables {
            let column = entity_column(table.name());
            let Ok(at) = table.column(column) else {
                continue;
            };
            let mut renamed = Table::new(table.name(), table.columns().to_vec());
            for row in table.rows() {
                let mut cells = row.cells().to_vec();
                if let Some(name) = left.next() {
                    renames.insert(row.text(column).to_owned(), name);
                    cells[at] = name.as_str().into();
                }
                renamed
                    .push(cells)
                    .expect("the row has the table's own columns");
            }
            *table = renamed;
        }
        // All at once: a new name may be another's old one.
        for trace in &mut run.traces {
            if let Some(name) = renames.get(&trace.entity) {
                trace.entity.clone_from(name);
            }
        }
    }
    Ok(imported)
}

/// The tables of all points, and their summary.
pub(super) fn all(points: &[Point]) -> Vec<Table> {
    let mut names: Vec<&str> = Vec::new();
    for run in points.iter().flat_map(|point| &point.imported.runs) {
        for table in &run.tables {
            if !names.contains(&table.name()) {
                names.push(table.name());
            }
        }
    }
    let mut tables: Vec<Table> = names
        .iter()
        .filter(|name| **name != "summary")
        .map(|name| gathered(name, points))
        .collect();
    tables.push(summary(points));
    tables
}

/// The type that holds what both hold, since formats may differ in what a column is.
fn wider(one: CellType, other: CellType) -> CellType {
    match (one, other) {
        _ if one == other => one,
        (Int, Float) | (Float, Int) => Float,
        _ => Text,
    }
}

/// `cell` in a column of type `of`.
fn as_type(cell: Cell, of: CellType) -> Cell {
    match (cell, of) {
        (Cell::Int(number), Float) => Cell::Float(number as f64),
        (cell @ (Cell::Int(_) | Cell::Float(_)), Text) => cell.to_string().into(),
        (cell, _) => cell,
    }
}

/// The rows of the tables `name` of all runs.
fn gathered(name: &str, points: &[Point]) -> Table {
    let mut own: Vec<Column> = Vec::new();
    for run in points.iter().flat_map(|point| &point.imported.runs) {
        for column in run.table(name).iter().flat_map(|table| table.columns()) {
            match own.iter_mut().find(|known| known.name == column.name) {
                Some(known) => known.cell_type = wider(known.cell_type, column.cell_type),
                None => own.push(column.clone()),
            }
        }
    }
    let leading = [("engine", Text), ("point", Text), ("repeat", Int)];
    let leading = leading.map(|(name, of)| Column::new(name, of));
    let columns = leading.iter().chain(&own).cloned().collect();
    let mut table = Table::new(name, columns);
    for point in points {
        for (repeat, run) in point.imported.runs.iter().enumerate() {
            for row in run.table(name).into_iter().flat_map(Table::rows) {
                let mut cells = vec![
                    Cell::from(point.imported.label.engine()),
                    point.name.as_str().into(),
                    repeat.into(),
                ];
                let cell = |column: &Column| {
                    let cell = row.get(&column.name).cloned().unwrap_or_default();
                    as_type(cell, column.cell_type)
                };
                cells.extend(own.iter().map(cell));
                table
                    .push(cells)
                    .expect("the cells are of their columns' types");
            }
        }
    }
    table
}

/// What is known of every point: metrics of flows, and results of testers.
fn summary(points: &[Point]) -> Table {
    let metrics = metrics(points);
    match testers(points) {
        None => metrics,
        Some(results) if metrics.is_empty() => results,
        Some(results) => joined(&metrics, &results),
    }
}

/// Results of testers of devices, which come as a summary.
fn testers(points: &[Point]) -> Option<Table> {
    let runs = points.iter().flat_map(|point| &point.imported.runs);
    let mut ready = runs.filter_map(|run| run.table("summary")).cloned();
    let mut first = ready.next()?;
    for table in ready {
        if let Err(why) = first.append(table) {
            trammel_ground::say(&format!("warning: {why}"));
        }
    }
    Some(first)
}

/// The rows of both, with the columns of both: what of `more` is not in `one` comes before the
/// numbers, since names that rows are matched by come first.
fn joined(one: &Table, more: &Table) -> Table {
    let mut columns = one.columns().to_vec();
    let is_new = |column: &&Column| one.column(&column.name).is_err();
    let own: Vec<Column> = more.columns().iter().filter(is_new).cloned().collect();
    let at = one.column("mean").unwrap_or(columns.len());
    columns.splice(at..at, own);
    let mut table = Table::new("summary", columns.clone());
    for row in one.rows().chain(more.rows()) {
        let cell = |column: &Column| row.get(&column.name).cloned().unwrap_or_default();
        let cells = columns.iter().map(cell).collect();
        table
            .push(cells)
            .expect("columns of one name are of one type in all summaries");
    }
    table
}

/// Every metric of every entity of every point, over the repeats.
fn metrics(points: &[Point]) -> Table {
    let mut columns = vec![Column::new("engine", Text), Column::new("point", Text)];
    columns.extend(COLUMNS.iter().map(|(name, of)| Column::new(*name, *of)));
    let mut table = Table::new("summary", columns);
    for point in points {
        let label: Label = point.imported.label;
        let lead = [Cell::from(label.engine()), Cell::from(point.name.as_str())];
        for (name, column) in ENTITIES {
            let runs = point.imported.runs.iter().filter_map(|run| run.table(name));
            let flows = runs.clone().map(Table::len).max().unwrap_or(0);
            let called = |row: Row<'_>| match column {
                "" => ALL_FLOWS.to_owned(),
                column => row.text(column).to_owned(),
            };
            for ((entity, column), moments) in moments(runs, called) {
                let of: &Moments = &moments;
                let of = Of::new(of, support(&column.name, flows));
                push(&mut table, &lead, "", &entity, &column, of);
            }
        }
    }
    table
}

/// The tables that a person looks at: of the summary, the rows that stand nowhere else.
pub(super) fn shown(tables: &[Table]) -> Vec<Cow<'_, Table>> {
    // Testers' rows alone have a label of their own.
    let is_tester_s = |row: Row<'_>| !row.text("label").is_empty();
    let all = tables.iter().map(|table| match table.name() {
        "summary" if tables.len() > 1 => Cow::Owned(table.filter(is_tester_s)),
        _ => Cow::Borrowed(table),
    });
    all.filter(|table| !table.is_empty()).collect()
}

/// A table as text: each row a column, since there are few rows and many columns.
pub(super) fn text(table: &Table) -> String {
    if table.name() == "summary" {
        return table.to_string();
    }
    let column = entity_column(table.name());
    let mut names = vec![String::new()];
    for row in table.rows() {
        let entity = match column {
            "" => ALL_FLOWS,
            column => row.text(column),
        };
        let point = row.text("point");
        let repeat = row.int("repeat").unwrap_or(0);
        let mut name = entity.to_owned();
        if point != "base" {
            name = format!("{point}: {name}");
        }
        if repeat > 0 {
            name = format!("{name}, repeat {repeat}");
        }
        let mut title = name.clone();
        let mut number = 2;
        while names.contains(&title) {
            title = format!("{name} ({number})");
            number += 1;
        }
        names.push(title);
    }
    let columns = names.iter().map(|name| Column::new(name.as_str(), Text));
    let mut shown = Table::new(table.name(), columns.collect());
    let skipped = ["engine", "point", "repeat", column];
    for (at, of) in table.columns().iter().enumerate() {
        if skipped.contains(&of.name.as_str()) {
            continue;
        }
        let mut cells = vec![Cell::from(of.name.as_str())];
        cells.extend(table.rows().map(|row| match &row.cells()[at] {
            Cell::Float(value) => trammel_stats::table::format_float(*value, SHOWN_DIGITS).into(),
            Cell::Empty => Cell::Empty,
            other => other.to_string().into(),
        }));
        shown
            .push(cells)
            .expect("the row has a cell for each row of the table");
    }
    shown.to_string()
}
