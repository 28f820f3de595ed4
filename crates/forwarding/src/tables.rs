//! The tables of a forwarding run: `functions`, `trials`, `comparison`, `summary`.

use super::card::FORMULA;
use super::comparison::{self, Compared};
use super::outcome::{Cell as Found, ForwardingOutcome};
use super::row::{Row, us};
use super::search::Sought;
use trammel_cost::estimate::line_bits;
use trammel_scenario::columns::{cells_of, swept_columns, without_empty_columns};
use trammel_scenario::forwarding::Test;
use trammel_scenario::forwarding::keys::TESTS;
use trammel_scenario::sweep::Swept;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Column, Table};
use trammel_workbench::estimate::At;
use trammel_workbench::measure::Measured;

/// Every table.
pub(super) fn all(outcome: &ForwardingOutcome<'_>) -> Vec<Table> {
    let compared = comparison::all(outcome);
    vec![
        functions(outcome),
        trials(outcome),
        comparison(outcome, &compared),
        summary(outcome, &compared),
    ]
}

/// What rows of a table begin with.
struct Lead {
    swept: Vec<Column>,
}

impl Lead {
    fn of(outcome: &ForwardingOutcome<'_>) -> Lead {
        let points = outcome.file.points.iter();
        let points: Vec<&[Swept]> = points.map(|point| point.swept.as_slice()).collect();
        Lead {
            swept: swept_columns(&points),
        }
    }

    /// A table whose rows say engine (where they are one engine's), point, swept parameters,
    /// function and frame size.
    fn table(&self, name: &str, has_engine: bool, own: &[(&str, CellType)]) -> Table {
        let mut columns = Vec::new();
        if has_engine {
            columns.push(Column::new("engine", Text));
        }
        columns.push(Column::new("point", Text));
        columns.extend(self.swept.clone());
        columns.push(Column::new("function", Text));
        columns.push(Column::new("frame_bytes", Int));
        let own = own.iter().map(|(name, kind)| Column::new(*name, *kind));
        // A swept parameter that has the name of a column hides it, rather than two of one name.
        let own: Vec<Column> = own
            .filter(|column| columns.iter().all(|other| other.name != column.name))
            .collect();
        columns.extend(own);
        Table::new(name, columns)
    }

    fn cells(
        &self,
        outcome: &ForwardingOutcome<'_>,
        engine: Option<&str>,
        cell: &Found,
    ) -> Vec<Cell> {
        let (point, tested) = cell.of(outcome.file);
        let mut cells: Vec<Cell> = engine.map(Cell::from).into_iter().collect();
        cells.push(Cell::from(point.id.as_str()));
        cells.extend(cells_of(&point.swept, &self.swept));
        cells.push(Cell::from(tested.name.as_str()));
        cells.push(Cell::Int(i128::from(cell.frame)));
        cells
    }
}

/// Adds a row: what it begins with, and its own cells by the names of `own` that the table has.
fn push(table: &mut Table, lead: Vec<Cell>, own: &[(&str, CellType)], cells: Vec<Cell>) {
    let first = lead.len();
    let mut row = lead;
    for ((name, _), cell) in own.iter().zip(cells) {
        let is_there = table.columns()[first..].iter().any(|c| c.name == *name);
        if is_there {
            row.push(cell);
        }
    }
    table.push(row).expect("the columns are those of the table");
}

const FUNCTIONS: &[(&str, CellType)] = &[
    ("machine", Text),
    ("origin", Text),
    ("cost_cycles", Float),
    ("low_cycles", Float),
    ("high_cycles", Float),
    ("accesses", Float),
    ("memory_accesses", Float),
    ("rate_mpps", Float),
    ("line_gbps", Float),
    ("bound_by", Text),
    ("next_limit", Text),
    ("next_limit_ratio", Float),
    ("spread", Float),
    ("disturbance", Float),
    ("clock_ghz", Float),
    ("packets_pkts", Int),
    ("formula", Text),
];

/// A row for each function, frame size and engine.
fn functions(outcome: &ForwardingOutcome<'_>) -> Table {
    let lead = Lead::of(outcome);
    let mut table = lead.table("functions", true, FUNCTIONS);
    for cell in &outcome.cells {
        let frame = f64::from(cell.frame);
        if let Some(card) = cell.of(outcome.file).1.card() {
            for (engine, own) in of_card(&card.model, cell) {
                let lead = lead.cells(outcome, Some(engine), cell);
                push(&mut table, lead, FUNCTIONS, own);
            }
            continue;
        }
        let machine = outcome.machines[cell.point].as_ref();
        let (name, origin) = machine.map_or((String::new(), ""), |machine| {
            (machine.full_name(), machine.origin.key())
        });
        let of = |engine| lead.cells(outcome, Some(engine), cell);
        if let Some(at) = &cell.predicted {
            let own = predicted(&name, origin, at, frame);
            push(&mut table, of("predict"), FUNCTIONS, own);
        }
        if let (Some(sought), Some(machine)) = (&cell.simulated, machine) {
            let own = simulated(&name, origin, sought, frame, machine.clock_hz);
            push(&mut table, of("simulate"), FUNCTIONS, own);
        }
        if let Some(measured) = &cell.measured {
            push(&mut table, of("measure"), FUNCTIONS, here(measured, frame));
        }
    }
    without_empty_columns(&table)
}

/// What engines say of a card, in the columns of programs.
fn of_card(model: &str, cell: &Found) -> Vec<(&'static str, Vec<Cell>)> {
    let here = trammel_workbench::calibrate::file::HOST;
    let row = |machine: &str, origin: &str, pps: f64, bound_by: &str, formula: Cell| {
        let mut cells = vec![Cell::Empty; FUNCTIONS.len()];
        cells[0] = Cell::from(machine);
        cells[1] = Cell::from(origin);
        cells[7] = Cell::Float(pps / 1e6);
        cells[8] = Cell::Float(line_bits(pps, f64::from(cell.frame)) / 1e9);
        cells[9] = Cell::from(bound_by);
        cells[16] = formula;
        cells
    };
    let card = &cell.card;
    let predicted = card.predicted.map(|one| {
        let formula = Cell::from(FORMULA);
        (
            "predict",
            row(model, "modelled", one.pps, one.bound_by, formula),
        )
    });
    let simulated = card.simulated.as_ref().map(|one| {
        (
            "simulate",
            row(model, "modelled", one.pps, one.bound_by, Cell::Empty),
        )
    });
    let measured = card.measured.as_ref().map(|one| {
        (
            "measure",
            row(here, "measured", one.pps, one.bound_by, Cell::Empty),
        )
    });
    predicted
        .into_iter()
        .chain(simulated)
        .chain(measured)
        .collect()
}

fn predicted(name: &str, origin: &str, at: &At, frame: f64) -> Vec<Cell> {
    let (found, limit) = (&at.estimate, at.estimate.rate());
    let next = found.limits.get(1);
    vec![
        Cell::from(name),
        Cell::from(origin),
        Cell::Float(found.cycles.centre),
        Cell::from(found.cycles.ends().map(|(low, _)| low)),
        Cell::from(found.cycles.ends().map(|(_, high)| high)),
        Cell::Float(found.accesses),
        Cell::Float(found.memory_accesses),
        Cell::Float(limit.pps / 1e6),
        Cell::Float(line_bits(limit.pps, frame) / 1e9),
        Cell::from(limit.what),
        next.map_or(Cell::Empty, |next| Cell::from(next.what)),
        next.map_or(Cell::Empty, |next| Cell::Float(next.pps / limit.pps)),
        Cell::Empty,
        Cell::Empty,
        Cell::Empty,
        Cell::Empty,
        Cell::from(found.formula.to_string().as_str()),
    ]
}

fn simulated(name: &str, origin: &str, sought: &Sought, frame: f64, hz: f64) -> Vec<Cell> {
    let mut cells = vec![Cell::Empty; FUNCTIONS.len()];
    cells[0] = Cell::from(name);
    cells[1] = Cell::from(origin);
    cells[2] = Cell::Float(sought.cycles);
    cells[7] = Cell::Float(sought.pps / 1e6);
    cells[8] = Cell::Float(line_bits(sought.pps, frame) / 1e9);
    cells[9] = Cell::from(sought.bound_by);
    cells[14] = Cell::Float(hz / 1e9);
    cells
}

fn here(measured: &Measured, frame: f64) -> Vec<Cell> {
    let mut cells = vec![Cell::Empty; FUNCTIONS.len()];
    cells[0] = Cell::from(trammel_workbench::calibrate::file::HOST);
    cells[1] = Cell::from("measured");
    cells[2] = Cell::Float(measured.cycles);
    cells[3] = Cell::Float(measured.cycles);
    cells[4] = Cell::Float(measured.cycles * (1.0 + measured.spread));
    cells[7] = Cell::Float(measured.pps / 1e6);
    cells[8] = Cell::Float(line_bits(measured.pps, frame) / 1e9);
    cells[9] = Cell::from("cpu");
    cells[12] = Cell::Float(measured.spread);
    cells[13] = Cell::Float(measured.disturbance);
    cells[14] = Cell::Float(measured.clock_hz / 1e9);
    cells[15] = Cell::Int(i128::from(measured.packets));
    cells
}

const TRIALS: &[(&str, CellType)] = &[
    ("test", Text),
    ("load", Float),
    ("intended_fps", Float),
    ("duration_s", Float),
    ("offered_pkts", Int),
    ("forwarded_pkts", Int),
    ("loss", Float),
    ("latency_p50_us", Float),
    ("latency_p99_us", Float),
    ("recovery_loss_us", Float),
    ("recovery_delay_us", Float),
    ("passed", CellType::Bool),
    ("windows", Int),
    ("spread", Float),
];

/// A row for each trial of the simulated device and of this machine.
pub(super) fn trials(outcome: &ForwardingOutcome<'_>) -> Table {
    let lead = Lead::of(outcome);
    let mut table = lead.table("trials", true, TRIALS);
    for cell in &outcome.cells {
        for (engine, rows) in cell.trials() {
            for row in rows {
                let lead = lead.cells(outcome, Some(engine), cell);
                push(&mut table, lead, TRIALS, trial(row));
            }
        }
    }
    without_empty_columns(&table)
}

/// The word of a test.
pub(super) fn word(test: Test) -> &'static str {
    TESTS[test as usize]
}

fn trial(row: &Row) -> Vec<Cell> {
    let delay = row.recovery.and_then(|found| found.delay);
    vec![
        Cell::from(word(row.test)),
        Cell::from(row.share),
        Cell::Float(row.intended),
        Cell::Float(row.effective.as_secs_f64()),
        Cell::Int(i128::from(row.offered)),
        Cell::Int(i128::from(row.forwarded)),
        Cell::Float(row.loss),
        Cell::from(row.p50.map(us)),
        Cell::from(row.p99.map(us)),
        Cell::from(row.recovery.map(|found| us(found.last_loss))),
        Cell::from(delay.map(us)),
        Cell::Bool(row.passed),
        row.windows
            .map_or(Cell::Empty, |all| Cell::Int(all.kept as i128)),
        Cell::from(row.windows.and_then(|all| all.spread)),
    ]
}

const COMPARISON: &[(&str, CellType)] = &[
    ("metric", Text),
    ("unit", Text),
    ("predicted", Float),
    ("predicted_low", Float),
    ("predicted_high", Float),
    ("simulated", Float),
    ("measured", Float),
    ("published", Float),
    ("reference", Text),
    ("predicted_error", Float),
    ("simulated_error", Float),
];

fn comparison(outcome: &ForwardingOutcome<'_>, compared: &[Compared]) -> Table {
    let lead = Lead::of(outcome);
    let mut table = lead.table("comparison", false, COMPARISON);
    for one in compared {
        let (predicted_error, simulated_error) = one.errors();
        let reference = one
            .reference()
            .filter(|_| predicted_error.is_some() || simulated_error.is_some());
        let own = vec![
            Cell::from(one.metric.as_str()),
            Cell::from(one.unit),
            Cell::from(one.predicted),
            Cell::from(one.interval.map(|(low, _)| low)),
            Cell::from(one.interval.map(|(_, high)| high)),
            Cell::from(one.simulated),
            Cell::from(one.measured),
            Cell::from(one.published),
            reference.map_or(Cell::Empty, |(name, _)| Cell::from(name)),
            Cell::from(predicted_error),
            Cell::from(simulated_error),
        ];
        let lead = lead.cells(outcome, None, &outcome.cells[one.cell]);
        push(&mut table, lead, COMPARISON, own);
    }
    without_empty_columns(&table)
}

const SUMMARY: &[(&str, CellType)] = &[
    ("entity", Text),
    ("metric", Text),
    ("unit", Text),
    ("mean", Float),
    ("n", Int),
];

/// Each metric of each engine by itself; one run each, so there is no interval.
fn summary(outcome: &ForwardingOutcome<'_>, compared: &[Compared]) -> Table {
    let lead = Lead::of(outcome);
    let mut table = lead.table("summary", true, SUMMARY);
    for one in compared {
        let cell = &outcome.cells[one.cell];
        let (_, tested) = cell.of(outcome.file);
        let engines = [
            ("predict", one.predicted),
            ("simulate", one.simulated),
            ("measure", one.measured),
        ];
        for (engine, value) in engines {
            let Some(value) = value else { continue };
            let own = vec![
                Cell::from(tested.name.as_str()),
                Cell::from(one.metric.as_str()),
                Cell::from(one.unit),
                Cell::Float(value),
                Cell::Int(1),
            ];
            push(
                &mut table,
                lead.cells(outcome, Some(engine), cell),
                SUMMARY,
                own,
            );
        }
    }
    table
}
