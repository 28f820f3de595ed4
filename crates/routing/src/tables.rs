//! The tables of a routing run: `events`, `bounds`, `routers`, `networks`, `comparison`.

use crate::outcome::Outcome;
use crate::run::{EVENTS, ROUTERS, Run};
use trammel_core::Span;
use trammel_scenario::columns::{cells_of, swept_columns, without_empty_columns};
use trammel_scenario::routing::Point;
use trammel_scenario::sweep::Swept;
use trammel_stats::stats::relative_error;
use trammel_stats::table::CellType::{Bool, Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Column, Table, format_float};

/// What engines are compared by, with its column among the events; packets between runs only.
const COMPARED: [(&str, &str); 6] = [
    ("convergence", "converged_s"),
    ("black hole", "black_hole_s"),
    ("loop", "loop_s"),
    ("probes lost", "lost_pkts"),
    ("HELLOs", "hello_pkts"),
    ("LSUs", "lsu_pkts"),
];
/// The columns that a bound is for.
const BOUNDED: [&str; 3] = ["converged_s", "black_hole_s", "loop_s"];

/// All of them, without the columns in which nothing stands.
pub(crate) fn all(outcome: &Outcome<'_>) -> Vec<Table> {
    let lead = Lead::new(outcome);
    let all = [
        events(outcome, &lead),
        bounds(outcome, &lead),
        comparison(outcome, &lead),
        routers(outcome, &lead),
        networks(outcome, &lead),
    ];
    let filled = all.iter().filter(|table| !table.is_empty());
    filled.map(without_empty_columns).collect()
}

/// The columns that every table begins with: point and swept parameters.
struct Lead {
    swept: Vec<Column>,
}

impl Lead {
    fn new(outcome: &Outcome<'_>) -> Lead {
        let points = outcome.file.points.iter();
        let points: Vec<&[Swept]> = points.map(|point| point.swept.as_slice()).collect();
        Lead {
            swept: swept_columns(&points),
        }
    }

    fn table(&self, name: &str, has_engine: bool, own: &[(&str, CellType)]) -> Table {
        let engine = has_engine.then(|| Column::new("engine", Text));
        let mut columns: Vec<Column> = engine.into_iter().collect();
        columns.push(Column::new("point", Text));
        // Where a swept parameter has the name of a column, its own has the whole key.
        columns.extend(self.swept.iter().map(|swept| {
            let is_taken = own.iter().any(|(name, _)| *name == swept.name);
            let name = if is_taken {
                format!("swept_{}", swept.name)
            } else {
                swept.name.clone()
            };
            Column::new(name, swept.cell_type)
        }));
        columns.extend(own.iter().map(|(name, kind)| Column::new(*name, *kind)));
        Table::new(name, columns)
    }

    fn push(
        &self,
        table: &mut Table,
        engine: Option<&str>,
        point: &Point,
        own: impl IntoIterator<Item = Cell>,
    ) {
        let mut cells: Vec<Cell> = engine.map(Cell::from).into_iter().collect();
        cells.push(Cell::from(point.id.as_str()));
        cells.extend(cells_of(&point.swept, &self.swept));
        cells.extend(own);
        table
            .push(cells)
            .expect("the row has a cell for each column");
    }

    /// The rows of each run's table.
    fn gather<'a>(
        &self,
        mut table: Table,
        outcome: &'a Outcome<'_>,
        of: impl Fn(&'a Run) -> &'a Table,
    ) -> Table {
        for (point, ran) in outcome.points() {
            for (engine, run) in ran.runs() {
                for row in of(run).rows() {
                    self.push(&mut table, Some(engine), point, row.cells().iter().cloned());
                }
            }
        }
        table
    }
}

fn events(outcome: &Outcome<'_>, lead: &Lead) -> Table {
    let table = lead.table("events", true, &EVENTS);
    lead.gather(table, outcome, |run| &run.events)
}

fn routers(outcome: &Outcome<'_>, lead: &Lead) -> Table {
    let table = lead.table("routers", true, &ROUTERS);
    lead.gather(table, outcome, |run| &run.routers)
}

/// What is predicted of each event.
fn bounds(outcome: &Outcome<'_>, lead: &Lead) -> Table {
    let mut table = lead.table(
        "bounds",
        false,
        &[
            ("event", Text),
            ("at_s", Float),
            ("noticed_after_s", Float),
            ("bound_s", Float),
        ],
    );
    for (point, ran) in outcome.points() {
        for one in ran.predicted.iter().flatten() {
            let cells = [
                one.cause.as_str().into(),
                one.at.as_secs_f64().into(),
                one.least.as_secs_f64().into(),
                one.bound.as_secs_f64().into(),
            ];
            lead.push(&mut table, None, point, cells);
        }
    }
    table
}

/// Bounds beside what was simulated and measured. Errors are relative to what was measured; where
/// nothing was, the bound's is relative to the simulation.
fn comparison(outcome: &Outcome<'_>, lead: &Lead) -> Table {
    let mut table = lead.table(
        "comparison",
        false,
        &[
            ("event", Text),
            ("metric", Text),
            ("unit", Text),
            ("predicted", Float),
            ("simulated", Float),
            ("measured", Float),
            ("predict_error", Float),
            ("simulate_error", Float),
            ("is_within", Bool),
        ],
    );
    for (point, ran) in outcome.points() {
        let predicted = ran.predicted.as_deref();
        let engines = ran.runs().count() + usize::from(predicted.is_some());
        let Some((_, first)) = ran.runs().next().filter(|_| engines > 1) else {
            continue;
        };
        for (at, row) in first.events.rows().enumerate() {
            let bound = predicted.and_then(|all| all.get(at)).map(|one| one.bound);
            let value = |run: &Option<Run>, column| {
                let row = run.as_ref()?.events.rows().nth(at)?;
                row.float(column)
            };
            for (metric, column) in COMPARED {
                let is_bounded = BOUNDED.contains(&column);
                let bound = bound.filter(|_| is_bounded).map(Span::as_secs_f64);
                let (simulated, measured) =
                    (value(&ran.simulated, column), value(&ran.measured, column));
                if !is_bounded && (simulated.is_none() || measured.is_none()) {
                    continue;
                }
                let reference = measured.or(simulated);
                // What did not happen has no error.
                let reference = reference.filter(|value| *value > 0.0);
                let error = |value: Option<f64>| relative_error(value?, reference?);
                let all = [simulated, measured].into_iter().flatten();
                let is_within = bound.map(|bound| all.into_iter().all(|value| value <= bound));
                let unit = if is_bounded { "s" } else { "packets" };
                let instant = format_float(row.float("at_s").unwrap_or(0.0), 4);
                let cells = [
                    format!("{} at {instant} s", row.text("event")).into(),
                    metric.into(),
                    unit.into(),
                    bound.into(),
                    simulated.into(),
                    measured.into(),
                    error(bound).into(),
                    error(simulated.filter(|_| measured.is_some())).into(),
                    is_within.into(),
                ];
                lead.push(&mut table, None, point, cells);
            }
        }
    }
    table
}

/// A row for each point: its size, how packets were forwarded, sums over the run.
fn networks(outcome: &Outcome<'_>, lead: &Lead) -> Table {
    let sums = [
        "probes_pkts",
        "lost_pkts",
        "looped_pkts",
        "cut_off_pkts",
        "hello_pkts",
        "hello_bytes",
        "lsu_pkts",
        "lsu_bytes",
        "other_pkts",
        "other_bytes",
        "swallowed_pkts",
        "spf_runs",
    ];
    let mut own = vec![
        ("data_plane", Text),
        ("routers", Int),
        ("subnets", Int),
        ("duration_s", Float),
    ];
    own.extend(sums.map(|name| (name, Int)));
    let mut table = lead.table("networks", true, &own);
    for (point, ran) in outcome.points() {
        let scenario = &point.scenario;
        let size = |data_plane: &str| {
            vec![
                Cell::from(data_plane),
                scenario.topology.routers.len().into(),
                scenario.topology.subnets.len().into(),
                scenario.duration.as_secs_f64().into(),
            ]
        };
        let nothing = ran.runs().next().is_none();
        let empty = nothing.then_some(("predict", None));
        let runs = ran.runs().map(|(engine, run)| (engine, Some(run)));
        for (engine, run) in runs.chain(empty) {
            let mut cells = size(match engine {
                "measure" => "live",
                _ => scenario.data_plane.name(),
            });
            cells.extend(sums.map(|name| Cell::from(run.map(|run| run.total(name)))));
            lead.push(&mut table, Some(engine), point, cells);
        }
    }
    table
}
