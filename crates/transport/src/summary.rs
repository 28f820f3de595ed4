//! `summary`: every metric of every entity at every point, over the repeats: mean and interval.
//!
//! An interval lies where the metric can, and `ci_method` says how it was made
//! (`trammel_stats::interval`).

use super::point_run::PointRun;
use super::possible::Possible;
use super::run_tables::{ALL_FLOWS, RunTables};
use super::workloads;
use std::collections::{BTreeMap, BTreeSet};
use trammel_core::label::Label;
use trammel_scenario::File;
use trammel_scenario::columns::{KEYS, cells_of, leading, metric_of, support, swept};
use trammel_stats::interval::LEVEL;
use trammel_stats::interval::Support;
use trammel_stats::stats::Moments;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Column, Row, Table};

/// One of the tables of a run.
type Pick = fn(&RunTables) -> &Table;

/// The columns of a summary, after those that say which point it is of.
pub const COLUMNS: &[(&str, CellType)] = &[
    ("model", Text),
    ("entity", Text),
    ("metric", Text),
    ("unit", Text),
    ("mean", Float),
    ("ci_low", Float),
    ("ci_high", Float),
    ("ci_method", Text),
    ("n", Int),
];

/// The summary of the runs and of the predictions.
pub fn summary(file: &File, runs: &[PointRun<'_>], predicted: &Table) -> Table {
    let mut columns = leading(&file.points);
    columns.extend(
        COLUMNS
            .iter()
            .filter(|(name, _)| columns.iter().all(|c| c.name != *name))
            .map(|(name, cell_type)| Column::new(*name, *cell_type))
            .collect::<Vec<_>>(),
    );
    let mut table = Table::new("summary", columns);
    let (swept, labels) = (swept(&file.points), labels(runs));
    let mut runs_at: BTreeMap<(usize, Label), Vec<&RunTables>> = BTreeMap::new();
    for run in runs {
        let of = runs_at.entry((run.at, run.label)).or_default();
        of.push(run.tables);
    }
    let mut models_at: BTreeMap<&str, Vec<Row<'_>>> = BTreeMap::new();
    for row in predicted.rows() {
        models_at.entry(row.text("point")).or_default().push(row);
    }
    for (at, point) in file.points.iter().enumerate() {
        let flows = point.scenario.flows.len();
        let possible = Possible::of(&point.scenario);
        let mut lead = vec![Cell::from("simulate"), Cell::from(point.id.as_str())];
        lead.extend(cells_of(&point.swept, &swept));
        let tables: [(Pick, &str); 7] = [
            (|run| &run.flows, "flow"),
            (|run| &run.links, "link"),
            (|run| &run.devices, "port"),
            (|run| &run.workloads, "workload"),
            (|run| &run.streams, "stream"),
            (|run| &run.apps, "app"),
            (|run| &run.groups, ""),
        ];
        for label in labels.iter().copied() {
            lead[0] = Cell::from(label.engine());
            let of_point = runs_at.get(&(at, label)).map_or(&[][..], Vec::as_slice);
            for (pick, entity) in tables {
                let tables = of_point.iter().map(|run| pick(run));
                let name = |row: Row<'_>| match entity {
                    "" => ALL_FLOWS.to_owned(),
                    "workload" => workloads::entity(row.text(entity), row.text("flow_size")),
                    _ => row.text(entity).to_owned(),
                };
                for ((entity, column), moments) in moments(tables, name) {
                    let of = Of {
                        moments: &moments,
                        support: support(&column.name, flows),
                        ends: possible.ends(&entity, &column),
                    };
                    push(&mut table, &lead, "", &entity, &column, of);
                }
            }
        }
        for row in models_at.remove(point.id.as_str()).into_iter().flatten() {
            lead[0] = Cell::from("predict");
            let numbers = predicted
                .columns()
                .iter()
                .filter(|column| is_metric(column));
            // Swept parameters are no findings.
            let numbers = numbers.filter(|column| {
                trammel_scenario::columns::PREDICTIONS
                    .iter()
                    .any(|(name, _)| *name == column.name)
            });
            for column in numbers {
                if let Some(value) = row.float(&column.name) {
                    let moments = Moments::from_iter([value]);
                    push(
                        &mut table,
                        &lead,
                        row.text("model"),
                        row.text("flow"),
                        column,
                        Of::new(&moments, Support::Real),
                    );
                }
            }
        }
    }
    table
}

/// Whose runs there are.
fn labels(runs: &[PointRun<'_>]) -> BTreeSet<Label> {
    runs.iter().map(|run| run.label).collect()
}

/// The numbers of a metric, and where they can lie.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a> {
    moments: &'a Moments,
    support: Support,
    /// The ends of what is possible in this scenario.
    ends: (f64, f64),
}

impl<'a> Of<'a> {
    /// Numbers of which nothing is known but that they lie in `support`.
    pub fn new(moments: &'a Moments, support: Support) -> Of<'a> {
        Of {
            moments,
            support,
            ends: support.ends(),
        }
    }
}

/// Adds a row: the cells of `lead`, which say which point it is of, and those of [`COLUMNS`].
pub fn push(
    table: &mut Table,
    lead: &[Cell],
    model: &str,
    entity: &str,
    column: &Column,
    of: Of<'_>,
) {
    let (metric, unit) = metric_of(column);
    let moments = of.moments;
    let interval = moments.interval_between(of.support, of.ends, LEVEL);
    let mut row = lead.to_vec();
    row.extend([
        Cell::from(model),
        entity.into(),
        metric.into(),
        unit.into(),
        moments.mean().into(),
        interval.map(|(interval, _)| interval.low).into(),
        interval.map(|(interval, _)| interval.high).into(),
        interval.map_or("", |(_, method)| method.name()).into(),
        moments.count().into(),
    ]);
    table
        .push(row)
        .expect("the row has the columns of the summary");
}

fn is_metric(column: &Column) -> bool {
    matches!(column.cell_type, Float | Int) && !KEYS.contains(&column.name.as_str())
}

/// The numbers of each entity and metric over the runs, a table each, in the order of rows and
/// columns; `name` is what the entity of a row is called.
pub fn moments<'a>(
    runs: impl Iterator<Item = &'a Table>,
    name: impl Fn(Row<'_>) -> String,
) -> Vec<((String, Column), Moments)> {
    let mut places: BTreeMap<(String, usize), usize> = BTreeMap::new();
    let mut all: Vec<((String, Column), Moments)> = Vec::new();
    for table in runs {
        let columns: Vec<_> = table
            .columns()
            .iter()
            .enumerate()
            .filter(|(_, column)| is_metric(column))
            .collect();
        for row in table.rows() {
            let name = name(row);
            for (at, column) in &columns {
                let Some(value) = row.cells()[*at].float().filter(|value| value.is_finite()) else {
                    continue;
                };
                let place = *places.entry((name.clone(), *at)).or_insert_with(|| {
                    all.push(((name.clone(), (*column).clone()), Moments::new()));
                    all.len() - 1
                });
                all[place].1.push(value);
            }
        }
    }
    all
}
