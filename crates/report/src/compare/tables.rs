//! Metrics of runs that have tables but no `summary` of metrics: networks of routers, placements,
//! estimates.
//!
//! Each number of a row is a metric of what the row's labels name. Labels stand left of the first
//! number with a fraction; those are used, from the left, that tell the rows of a run apart, so
//! that what is one in each run (a machine, a single function) may differ between runs.

use super::points::text;
use super::run::Run;
use std::collections::{BTreeMap, BTreeSet};
use trammel_core::label::Label;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, Column, Row, Table};

/// Columns of what a row is of in every table.
const OF_RUN: [&str; 2] = ["engine", "point"];

/// Whether `summary` has a metric a row.
pub(super) fn has_metrics(summary: &Table) -> bool {
    ["metric", "mean"].iter().all(|name| has(summary, name))
}

/// Gives each run a `summary` of the numbers of its tables; the run at `n` has `tables[n]`.
pub(super) fn fill(runs: &mut [Run], tables: &[Vec<Table>]) {
    let mut keys: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for table in tables.iter().flatten() {
        keys.entry(table.name()).or_insert_with(|| {
            let same = tables.iter().flatten();
            let same: Vec<&Table> = same.filter(|one| one.name() == table.name()).collect();
            labels(&same)
        });
    }
    for (run, tables) in runs.iter_mut().zip(tables) {
        let mut summary = Table::with(
            "summary",
            &[
                ("engine", Text),
                ("point", Text),
                ("entity", Text),
                ("metric", Text),
                ("unit", Text),
                ("mean", Float),
            ],
        );
        // Beside tables of engines, one of no engine is made of them.
        let has_engines = tables.iter().any(|table| has(table, "engine"));
        for table in tables {
            let is_own = has(table, "engine") || !has_engines;
            if is_own && table.name() != "comparison" {
                add(&mut summary, table, &keys[table.name()]);
            }
        }
        run.summary = (!summary.is_empty()).then_some(summary);
    }
}

fn has(table: &Table, name: &str) -> bool {
    table.columns().iter().any(|column| column.name == name)
}

/// The labels that tell the rows of each of `tables` apart, which are of one name.
fn labels<'a>(tables: &[&'a Table]) -> Vec<&'a str> {
    let mut labels: Vec<&str> = Vec::new();
    let Some(first) = tables.first() else {
        return labels;
    };
    let columns = first.columns().iter();
    let candidates = columns.take_while(|column| column.cell_type != Float);
    let candidates = candidates.map(|column| column.name.as_str());
    for name in candidates.filter(|name| !OF_RUN.contains(name)) {
        if tables.iter().all(|table| is_unique(table, &labels)) {
            break;
        }
        let has_several = |table: &&Table| {
            let values = table.rows().map(|row| text(row, name));
            values.collect::<BTreeSet<_>>().len() > 1
        };
        if tables.iter().any(has_several) {
            labels.push(name);
        }
    }
    labels
}

/// Whether no two rows have the same `labels`.
fn is_unique(table: &Table, labels: &[&str]) -> bool {
    let names = OF_RUN.iter().chain(labels);
    let key = |row: Row<'_>| {
        names
            .clone()
            .map(|name| text(row, name))
            .collect::<Vec<_>>()
    };
    let keys: BTreeSet<_> = table.rows().map(key).collect();
    keys.len() == table.len()
}

/// Adds a row for each number of `table`.
fn add(summary: &mut Table, table: &Table, labels: &[&str]) {
    let is_number = |column: &&Column| {
        let name = column.name.as_str();
        let is_label = labels.contains(&name) || OF_RUN.contains(&name) || name == "seed";
        [Int, Float].contains(&column.cell_type) && !is_label
    };
    let numbers: Vec<&Column> = table.columns().iter().filter(is_number).collect();
    let mut seen: BTreeMap<[String; 3], usize> = BTreeMap::new();
    for row in table.rows() {
        let engine = match text(row, "engine") {
            none if none.is_empty() => Label::Predicted.engine().to_owned(),
            engine => engine,
        };
        let values = labels.iter().map(|name| text(row, name));
        let values: Vec<String> = values.filter(|value| !value.is_empty()).collect();
        let mut entity = match values.as_slice() {
            [] => table.name().to_owned(),
            values => format!("{}: {}", table.name(), values.join(", ")),
        };
        let point = text(row, "point");
        // Rows that nothing tells apart are matched by their order.
        let times = seen
            .entry([engine.clone(), point.clone(), entity.clone()])
            .or_default();
        *times += 1;
        if *times > 1 {
            entity = format!("{entity} ({times})");
        }
        for column in &numbers {
            let Some(value) = row.float(&column.name) else {
                continue;
            };
            let cells = [
                engine.as_str().into(),
                point.as_str().into(),
                entity.as_str().into(),
                column.title().as_str().into(),
                column.unit().unwrap_or_default().into(),
                Cell::from(value),
            ];
            summary
                .push(cells.into())
                .expect("the row has a cell for each column");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::judge;

    /// Functions by frame size on a machine, with a rate each.
    fn functions(machine: &str, rates: &[(u64, f64)]) -> Table {
        let columns = [
            ("engine", Text),
            ("machine", Text),
            ("frame_bytes", Int),
            ("rate_mpps", Float),
            ("accesses", Int),
        ];
        let mut table = Table::with("functions", &columns);
        for (frame, rate) in rates {
            let cells = ["predict".into(), machine.into(), (*frame).into()];
            let cells = cells.into_iter().chain([(*rate).into(), 3_u64.into()]);
            table.push(cells.collect()).unwrap();
        }
        table
    }

    #[test]
    fn estimates_on_two_machines_are_compared_by_frame_size() {
        let mut runs = ["one", "two"].map(|name| Run::in_memory(name, None));
        let tables = [
            vec![functions("a", &[(64, 20.0), (1518, 10.0)])],
            vec![functions("b", &[(64, 20.0), (1518, 5.0)])],
        ];
        fill(&mut runs, &tables);
        let verdict = judge(&runs, 0.05);
        assert_eq!((verdict.compared, verdict.apart.len()), (4, 1));
        let key = &verdict.apart[0].key;
        assert_eq!(
            (&*key[3], &*key[4], &*key[5]),
            ("functions: 1518", "rate mpps", "")
        );
    }

    #[test]
    fn tables_without_an_engine_are_computed_and_equal_rows_are_matched_in_order() {
        let columns = [("server", Text), ("busy_%", Float), ("seed", Int)];
        let mut cores = Table::with("cores", &columns);
        for busy in [50.0, 60.0] {
            let cells = vec!["edge".into(), busy.into(), 1_u64.into()];
            cores.push(cells).unwrap();
        }
        let mut runs = ["one", "two"].map(|name| Run::in_memory(name, None));
        fill(&mut runs, &[vec![cores.clone()], vec![cores]]);
        let verdict = judge(&runs, 0.0);
        assert_eq!((verdict.compared, verdict.apart.len()), (2, 0));
    }
}
