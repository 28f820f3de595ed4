//! The tables of a traffic run: `offered`, `paths`, `streams`, `summary`, `comparison`.

use super::outcome::StreamsOutcome;
use super::{compared, runs, summary};
use trammel_scenario::columns::{cells_of, swept_columns, without_empty_columns};
use trammel_scenario::model::Engine;
use trammel_scenario::sweep::Swept;
use trammel_scenario::traffic::Point;
use trammel_stats::stats::relative_error;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Column, Table};
use trammel_transport::summary as over_repeats;

/// All of them, without the columns in which nothing stands.
pub fn all(outcome: &StreamsOutcome<'_>) -> Vec<Table> {
    let lead = Lead::new(outcome);
    [
        offered(outcome, &lead),
        paths(outcome, &lead),
        streams(outcome, &lead),
        summary_of(outcome, &lead),
        comparison(outcome, &lead),
    ]
    .iter()
    .map(without_empty_columns)
    .collect()
}

/// The columns that every table begins with: point and swept parameters.
struct Lead {
    swept: Vec<Column>,
}

impl Lead {
    fn new(outcome: &StreamsOutcome<'_>) -> Lead {
        let points = outcome.file.points.iter();
        let points: Vec<&[Swept]> = points.map(|point| point.swept.as_slice()).collect();
        Lead {
            swept: swept_columns(&points),
        }
    }

    fn table(&self, name: &str, own: &[(&str, CellType)]) -> Table {
        let mut columns = vec![Column::new("point", Text)];
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

    fn cells(&self, point: &Point) -> Vec<Cell> {
        let mut cells = vec![Cell::from(point.id.as_str())];
        cells.extend(cells_of(&point.swept, &self.swept));
        cells
    }
}

fn push(table: &mut Table, mut lead: Vec<Cell>, own: impl IntoIterator<Item = Cell>) {
    lead.extend(own);
    table
        .push(lead)
        .expect("the row has a cell for each column");
}

fn offered(outcome: &StreamsOutcome<'_>, lead: &Lead) -> Table {
    let mut table = lead.table(
        "offered",
        &[
            ("stream", Text),
            ("seed", Int),
            ("quantity", Text),
            ("unit", Text),
            ("predicted", Float),
            ("form", Text),
            ("sample", Float),
            ("sample_std_error", Float),
            ("error", Float),
        ],
    );
    for (point, ran) in outcome.file.points.iter().zip(&outcome.ran) {
        let Some(predicted) = &ran.predicted else {
            continue;
        };
        for (stream, moments) in point.scenario.streams.iter().zip(&predicted.moments) {
            for one in moments {
                let error = one
                    .predicted
                    .zip(one.sample)
                    .and_then(|(predicted, sample)| relative_error(predicted, sample));
                push(
                    &mut table,
                    lead.cells(point),
                    [
                        Cell::from(stream.name.as_str()),
                        stream.seed.into(),
                        one.quantity.into(),
                        one.unit.into(),
                        one.predicted.into(),
                        one.form.into(),
                        one.sample.into(),
                        one.std_error.into(),
                        error.into(),
                    ],
                );
            }
        }
    }
    table
}

fn paths(outcome: &StreamsOutcome<'_>, lead: &Lead) -> Table {
    let about = [
        ("engine", Text),
        ("repeat", Int),
        ("model", Text),
        ("form", Text),
    ];
    let columns: Vec<_> = about.into_iter().chain(runs::COUNTS).collect();
    let mut table = lead.table("paths", &columns);
    for (point, ran) in outcome.file.points.iter().zip(&outcome.ran) {
        if let Some(predicted) = &ran.predicted {
            let of = &predicted.queueing;
            push(
                &mut table,
                lead.cells(point),
                [
                    Engine::Predict.name().into(),
                    Cell::Empty,
                    of.model.into(),
                    of.form.into(),
                    of.load.into(),
                    of.load.map(|load| load.min(1.0)).into(),
                    of.wait_s.map(|wait| wait * 1e6).into(),
                    of.dropped.into(),
                    of.lost.into(),
                    Cell::Empty,
                ],
            );
        }
        for (engine, runs) in ran.by_engine() {
            for (repeat, run) in runs {
                for row in run.path.rows() {
                    let about = [
                        engine.name().into(),
                        Cell::from(*repeat),
                        Cell::Empty,
                        Cell::Empty,
                    ];
                    let cells = about.into_iter().chain(row.cells().iter().cloned());
                    push(&mut table, lead.cells(point), cells);
                }
            }
        }
    }
    table
}

fn streams(outcome: &StreamsOutcome<'_>, lead: &Lead) -> Table {
    let about = [("engine", Text), ("repeat", Int)];
    let columns: Vec<_> = about.into_iter().chain(runs::stream_columns()).collect();
    let mut table = lead.table("streams", &columns);
    for (point, ran) in outcome.file.points.iter().zip(&outcome.ran) {
        for (engine, runs) in ran.by_engine() {
            for (repeat, run) in runs {
                for row in run.streams.rows() {
                    let about = [Cell::from(engine.name()), (*repeat).into()];
                    let cells = about.into_iter().chain(row.cells().iter().cloned());
                    push(&mut table, lead.cells(point), cells);
                }
            }
        }
    }
    table
}

fn summary_of(outcome: &StreamsOutcome<'_>, lead: &Lead) -> Table {
    let columns: Vec<_> = std::iter::once(("engine", Text))
        .chain(over_repeats::COLUMNS.iter().copied())
        .collect();
    let mut table = lead.table("summary", &columns);
    let points = &outcome.file.points;
    summary::fill(&mut table, outcome, |at| lead.cells(&points[at]));
    table
}

fn comparison(outcome: &StreamsOutcome<'_>, lead: &Lead) -> Table {
    let mut table = lead.table(
        "comparison",
        &[
            ("stream", Text),
            ("metric", Text),
            ("unit", Text),
            ("predicted", Float),
            ("simulated", Float),
            ("measured", Float),
            ("reference", Text),
            ("predicted_error", Float),
            ("simulated_error", Float),
        ],
    );
    for one in compared::all(outcome) {
        let point = &outcome.file.points[one.point];
        let (predicted, simulated) = one.errors();
        push(
            &mut table,
            lead.cells(point),
            [
                Cell::from(point.scenario.streams[one.stream].name.as_str()),
                one.metric.into(),
                one.unit.into(),
                one.predicted.into(),
                one.simulated.into(),
                one.measured.into(),
                one.reference().map_or("", |(name, _)| name).into(),
                predicted.into(),
                simulated.into(),
            ],
        );
    }
    table
}
