//! The report of a forwarding run: one answer, rates over frame sizes by engine, the comparison,
//! what costs what.

use super::comparison::{self, Compared};
use super::outcome::{Cell, ForwardingOutcome};
use trammel_core::label::Label;
use trammel_report::comparison::{BOUNDS, Comparison, Estimate, Row, Source};
use trammel_report::dots::{DotPlot, DotSeries};
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_report::provenance::provenance;
use trammel_report::run_folder::RunInfo;
use trammel_report::{Answer, Block, Highlight, Note, NoteKind, Report, Section, TableView};
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::{Cell as Value, Table};

/// Figures of one kind in a report, at most; the tables have the rest.
const MOST_FIGURES: usize = 12;
/// Functions and points in one figure, at most.
const MOST_SYSTEMS: usize = 6;
/// Functions in a figure whose predictions have bands, at most: more bands cover one another.
const MOST_BANDED: usize = 2;

/// The engines in the order of columns and colours.
const ENGINES: [Label; 3] = [Label::Predicted, Label::Simulated, Label::Measured];
/// How each comes to its numbers, for legends.
const WAYS: [&str; 3] = ["operations by machine", "virtual clock", "rings in memory"];
/// The same of a NetFPGA card.
const WAYS_OF_CARDS: [&str; 3] = ["formula of the board", "model of the board", "live card"];
/// The metrics that are laid side by side; those at given loads have a section of their own.
const SIDE_BY_SIDE: [&str; 2] = ["throughput", "cost"];
/// The colour of the links' line, which no function has.
const LINK_COLOUR: usize = 6;

/// The relative errors of a prediction and of a simulation.
type Errors = (Option<f64>, Option<f64>);

/// A function at a point: its cells and its rows of the comparison.
struct Part<'a> {
    name: String,
    cells: &'a [Cell],
    rows: Vec<&'a Compared>,
}

/// The whole report.
pub(super) fn report(outcome: &ForwardingOutcome<'_>, info: &RunInfo) -> Report {
    let tables = &outcome.tables;
    let compared = comparison::all(outcome);
    let parts = parts(outcome, &compared);
    let first = outcome.file.first();
    let title = match first.title.as_str() {
        "" => outcome.file.name.clone(),
        title => title.to_owned(),
    };
    let question = first
        .question
        .clone()
        .unwrap_or_else(|| "What does it forward on that machine, and what limits it?".to_owned());
    let mut sections = vec![throughput(outcome, &compared, &parts)];
    sections.extend(trials(tables));
    sections.extend(shares(&parts));
    let views = tables.iter().filter(|table| !table.is_empty());
    let views = views.map(|table| {
        Block::Table(TableView {
            title: table.name().to_owned(),
            table: table.clone(),
            is_open: false,
        })
    });
    sections.push(Section {
        heading: "Tables".to_owned(),
        text: String::new(),
        blocks: views.collect(),
    });
    let seeds: Vec<String> = info.seeds.iter().map(u64::to_string).collect();
    let mut facts = vec![
        ("scenario".to_owned(), info.scenario.clone()),
        ("seeds".to_owned(), seeds.join(", ")),
    ];
    let mut seen = Vec::new();
    for machine in outcome.machines.iter().flatten() {
        let name = machine.full_name();
        if !seen.contains(&name) {
            facts.push((
                "modelled machine".to_owned(),
                format!(
                    "{name}: {}; {} ({})",
                    machine.title,
                    machine.origin.key(),
                    machine.source
                ),
            ));
            seen.push(name);
        }
    }
    Report {
        title,
        question,
        answer: outcome.status.preliminary(answer(outcome, &compared)),
        highlights: highlights(&compared),
        sections,
        provenance: provenance(info, facts),
    }
}

fn parts<'a>(outcome: &'a ForwardingOutcome<'_>, compared: &'a [Compared]) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    let chunks = outcome
        .cells
        .chunk_by(|a, b| (a.point, a.function) == (b.point, b.function));
    let mut start = 0;
    for cells in chunks {
        let end = start + cells.len();
        let rows: Vec<&Compared> = compared
            .iter()
            .filter(|one| (start..end).contains(&one.cell))
            .collect();
        let (point, tested) = cells[0].of(outcome.file);
        let name = if point.swept.is_empty() {
            tested.name.clone()
        } else {
            format!("{}, {}", tested.name, point.id.replace(',', ", "))
        };
        parts.push(Part { name, cells, rows });
        start = end;
    }
    parts
}

/// What an engine says in a row.
fn of_engine(one: &Compared, label: Label) -> Option<f64> {
    match label {
        Label::Predicted => one.predicted,
        Label::Simulated => one.simulated,
        Label::Measured => one.measured,
        Label::Published => one.published,
        _ => None,
    }
}

fn throughput(
    outcome: &ForwardingOutcome<'_>,
    compared: &[Compared],
    parts: &[Part<'_>],
) -> Section {
    let mut blocks = outcome.status.blocks();
    let is_swept = parts.iter().any(|part| part.cells.len() > 1);
    if is_swept {
        let drawn: Vec<&Part> = parts.iter().filter(|part| !part.rows.is_empty()).collect();
        let figures = drawn.chunks(MOST_SYSTEMS).take(MOST_FIGURES).enumerate();
        blocks.extend(figures.map(|(n, parts)| Block::Figure(figure(n, parts))));
        let most = MOST_FIGURES * MOST_SYSTEMS;
        if drawn.len() > most {
            blocks.push(Block::Note(Note {
                kind: NoteKind::Info,
                text: format!(
                    "The first {most} of {} functions and points are drawn; the tables have all.",
                    drawn.len()
                ),
            }));
        }
    } else if parts.len() > 1 {
        blocks.push(Block::Dots(dots(parts)));
    }
    let (cards, programs): (Vec<_>, Vec<_>) = compared
        .iter()
        .partition(|one| outcome.cells[one.cell].of(outcome.file).1.card().is_some());
    for (is_card, rows) in [(false, programs), (true, cards.clone())] {
        if !rows.is_empty() {
            blocks.push(Block::Comparison(side_by_side(outcome, &rows, is_card)));
        }
    }
    let of_cards = " Of a NetFPGA card, `predict` is a formula of the board, `simulate` its model \
                    in virtual time, `measure` the live card on this machine.";
    let text = "Rates are zero-loss throughputs. `predict` is a sum over operations with its \
                uncertainty, `simulate` the same costs on a virtual clock with rings and links, \
                `measure` the function itself on rings in memory.";
    Section {
        heading: "Throughput".to_owned(),
        text: text.to_owned() + if cards.is_empty() { "" } else { of_cards },
        blocks,
    }
}

/// Rates over frame sizes: a colour for each function, dashes for each engine, and what the links
/// carry.
fn figure(n: usize, parts: &[&Part<'_>]) -> Figure {
    let cells = || parts.iter().flat_map(|part| part.cells);
    let mut sizes: Vec<f64> = cells().map(|cell| cell.frame.into()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let title = match parts {
        [only] => only.name.as_str(),
        _ => "Rates over frame sizes",
    };
    let mut figure = Figure::new(
        &format!("throughput-{n}"),
        title,
        Axis::swept("frame", "bytes", &sizes),
        Axis::linear("rate", "Mpps").from_zero(),
    );
    for (colour, part) in parts.iter().enumerate() {
        for mut series in lines(part, parts.len() == 1) {
            if parts.len() > MOST_BANDED {
                series.band.clear();
            }
            figure = figure.with(series.coloured(colour));
        }
    }
    let mut links: Vec<Vec<(f64, f64)>> = Vec::new();
    for part in parts {
        let cells = part.cells.iter().filter(|cell| cell.line.is_finite());
        let link: Vec<(f64, f64)> = cells
            .map(|cell| (f64::from(cell.frame), cell.line / 1e6))
            .collect();
        if !link.is_empty() && !links.contains(&link) {
            links.push(link);
        }
    }
    for link in links {
        let series = Series::new("what the links carry", Mark::Line, link).coloured(LINK_COLOUR);
        figure = figure.with(series.labelled(Label::Modelled));
    }
    if parts.len() > 1 {
        figure = figure.wide();
    }
    if figure.series.iter().all(|one| one.band.is_empty()) {
        return figure;
    }
    figure.captioned(
        "A band is the uncertainty of a prediction: from the best case, in which accesses to \
         memory overlap, to the worst, in which none do.",
    )
}

/// The rates of a function over frame sizes, a line an engine. Alone in its figure, its lines are
/// named by how they come about.
fn lines(part: &Part<'_>, is_alone: bool) -> Vec<Series> {
    let rows = part.rows.iter().filter(|one| one.metric == "throughput");
    let rows: Vec<(f64, &Compared)> = rows
        .filter_map(|one| {
            let first = part.rows.first()?.cell;
            let cell = part.cells.get(one.cell - first)?;
            Some((f64::from(cell.frame), *one))
        })
        .collect();
    let is_card = part.cells.iter().any(|cell| cell.card.predicted.is_some());
    let ways = if is_card { WAYS_OF_CARDS } else { WAYS };
    let mut lines = Vec::new();
    for (way, label) in ways.into_iter().zip(ENGINES) {
        let points: Vec<(f64, f64)> = rows
            .iter()
            .filter_map(|(frame, one)| Some((*frame, of_engine(one, label)?)))
            .collect();
        if points.is_empty() {
            continue;
        }
        let name = if is_alone { way } else { &part.name };
        let mut series = Series::new(name, Mark::LinePoints, points).labelled(label);
        let band: Vec<(f64, f64)> = rows.iter().filter_map(|(_, one)| one.interval).collect();
        if label == Label::Predicted && band.len() == series.points.len() {
            series = series.banded(band);
        }
        lines.push(series);
    }
    lines
}

/// Rates at one frame size: a row a function.
fn dots(parts: &[Part<'_>]) -> DotPlot {
    let rates: Vec<Option<&Compared>> = parts
        .iter()
        .map(|part| {
            let mut rows = part.rows.iter();
            rows.find(|one| one.metric == "throughput").copied()
        })
        .collect();
    let frame = parts.first().map_or(0, |part| part.cells[0].frame);
    let series = ENGINES.into_iter().map(|label| DotSeries {
        name: String::new(),
        label,
        values: rates
            .iter()
            .map(|one| one.and_then(|one| of_engine(one, label)))
            .collect(),
    });
    DotPlot {
        id: "throughput".to_owned(),
        title: format!("Rates at {frame} bytes"),
        unit: "Mpps".to_owned(),
        rows: parts.iter().map(|part| part.name.clone()).collect(),
        series: series
            .filter(|series| series.values.iter().any(Option::is_some))
            .collect(),
    }
}

fn side_by_side(
    outcome: &ForwardingOutcome<'_>,
    compared: &[&Compared],
    is_card: bool,
) -> Comparison {
    let labels = ENGINES.into_iter().chain([Label::Published]);
    let labels: Vec<Label> = labels
        .filter(|label| compared.iter().any(|one| of_engine(one, *label).is_some()))
        .collect();
    let has_points = outcome.file.points.len() > 1;
    let row = |one: &&Compared| {
        let cell = &outcome.cells[one.cell];
        let (point, tested) = cell.of(outcome.file);
        let mut keys = vec![
            tested.name.clone(),
            format!("{} B", cell.frame),
            one.metric.replace('_', " "),
        ];
        if has_points {
            keys.insert(0, point.id.clone());
        }
        let value = |label: &Label| {
            let value = of_engine(one, *label)?;
            let interval = one.interval.filter(|_| *label == Label::Predicted);
            Some(Estimate { value, interval })
        };
        Row {
            keys,
            unit: one.unit.to_owned(),
            values: labels.iter().map(value).collect(),
            verdict: None,
        }
    };
    let mut keys = vec!["function", "frame", "metric"];
    if has_points {
        keys.insert(0, "point");
    }
    let place = |label: Label| labels.iter().position(|one| *one == label);
    let measured = place(Label::Measured).filter(|_| !is_card);
    let reference = measured.or(place(Label::Published)).or(
        // Alone it would be compared with itself.
        place(Label::Simulated).filter(|_| labels.len() > 1),
    );
    let caption = match reference.map(|at| labels[at]) {
        Some(label) => format!("Errors are relative to what is {}.", label.words()),
        None => String::new(),
    };
    Comparison {
        title: "Side by side".to_owned(),
        caption,
        keys: keys.into_iter().map(str::to_owned).collect(),
        sources: labels.iter().map(|label| Source::new(*label, "")).collect(),
        reference,
        bounds: BOUNDS,
        rows: compared
            .iter()
            .filter(|one| SIDE_BY_SIDE.contains(&one.metric.as_str()))
            .map(row)
            .collect(),
    }
}

/// Latency, loss and recovery at shares of the throughput.
fn trials(tables: &[Table]) -> Option<Section> {
    let trials = tables.iter().find(|table| table.name() == "trials")?;
    let at_loads = trials.filter(|row| row.float("load").is_some());
    if at_loads.is_empty() {
        return None;
    }
    let names = [
        "engine",
        "function",
        "frame_bytes",
        "test",
        "load",
        "intended_fps",
        "loss",
        "latency_p50_us",
        "latency_p99_us",
        "recovery_loss_us",
        "recovery_delay_us",
        "windows",
        "spread",
    ];
    let has = |name: &&str| at_loads.columns().iter().any(|column| column.name == *name);
    let names: Vec<&str> = names.into_iter().filter(has).collect();
    let table = at_loads.select(&names).ok()?;
    Some(Section {
        heading: "Latency, loss and recovery".to_owned(),
        text:
            "At shares of the throughput that each engine found for itself. Simulated latency is \
               from the last bit in to the first bit out; measured on rings in memory it is from \
               the instant a frame was due to the instant at which the output ring has its batch, \
               without device and interrupt, as the median of several windows. Recovery begins \
               when the load drops from 110 % to 55 %. It is the time until the last loss, and \
               until a frame takes at most twice the median at the lower load."
                .to_owned(),
        blocks: vec![Block::Table(TableView {
            title: "At shares of the throughput".to_owned(),
            table,
            is_open: true,
        })],
    })
}

/// Which element costs what, at the first frame size.
fn shares(parts: &[Part<'_>]) -> Option<Section> {
    let mut blocks = Vec::new();
    for part in parts.iter().take(MOST_FIGURES) {
        let Some(at) = part.cells.first().and_then(|cell| cell.predicted.as_ref()) else {
            continue;
        };
        let cost = |row: &trammel_cost::estimate::Row| row.core + row.memory.centre;
        let all: f64 = at.estimate.rows.iter().map(cost).sum();
        let mut rows: Vec<_> = at.estimate.rows.iter().collect();
        rows.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        let mut table = Table::with(
            "elements",
            &[
                ("element", Text),
                ("class", Text),
                ("visits", Float),
                ("core_cycles", Float),
                ("memory_cycles", Float),
                ("share", Float),
            ],
        );
        for row in rows {
            let cells = vec![
                Value::from(row.name.as_str()),
                Value::from(row.class.as_str()),
                Value::Float(row.visits),
                Value::Float(row.core),
                Value::Float(row.memory.centre),
                Value::Float(cost(row) / all.max(f64::MIN_POSITIVE)),
            ];
            table
                .push(cells)
                .expect("the row has a cell for each column");
        }
        blocks.push(Block::Table(TableView {
            title: format!("{} at {} bytes", part.name, at.frame),
            table,
            is_open: parts.len() == 1,
        }));
    }
    (!blocks.is_empty()).then(|| Section {
        heading: "What costs what".to_owned(),
        text: "Predicted cycles per packet by element, the most expensive first.".to_owned(),
        blocks,
    })
}

/// What limits the rate of a cell, in words.
fn limit(cell: &Cell) -> Option<String> {
    let what = match (&cell.predicted, &cell.simulated) {
        (Some(at), _) => Some(at.estimate.rate().what),
        (None, Some(sought)) => Some(sought.bound_by),
        (None, None) => cell.card.predicted.map(|one| one.bound_by),
    };
    what.map(|what| match what {
        "cpu" => "the processor".to_owned(),
        "mac" => "the gap of its MAC".to_owned(),
        other => format!("the {other}"),
    })
}

/// The same function at the other end of what is swept: its last point and largest frame.
fn farthest(outcome: &ForwardingOutcome<'_>, compared: &[Compared], first: &Compared) -> String {
    let cell_of = |one: &Compared| &outcome.cells[one.cell];
    let near = cell_of(first);
    let same = compared
        .iter()
        .filter(|one| one.metric == "throughput" && cell_of(one).function == near.function);
    let Some(last) = same.max_by_key(|one| (cell_of(one).point, cell_of(one).frame)) else {
        return String::new();
    };
    let far = cell_of(last);
    let rate = last.measured.or(last.predicted).or(last.simulated);
    let (Some(mpps), true) = (rate, last.cell != first.cell) else {
        return String::new();
    };
    let frame = if far.frame == near.frame {
        String::new()
    } else {
        format!(" with {} bytes", far.frame)
    };
    let point = if far.point == near.point {
        String::new()
    } else {
        format!(" with {}", far.of(outcome.file).0.id)
    };
    let limit = limit(far).map_or(String::new(), |what| format!("; {what} limits it"));
    format!(" It is {mpps:.2} Mpps{frame}{point}{limit}.")
}

/// The smallest frames of the first function, in a sentence.
fn answer(outcome: &ForwardingOutcome<'_>, compared: &[Compared]) -> Answer {
    let rates = compared.iter().filter(|one| one.metric == "throughput");
    let least = rates.min_by_key(|one| {
        let cell = &outcome.cells[one.cell];
        (cell.point, cell.function, cell.frame)
    });
    let Some(one) = least else {
        return Answer::default();
    };
    let cell = &outcome.cells[one.cell];
    let (_, tested) = cell.of(outcome.file);
    let [predicted, simulated, measured] =
        ENGINES.map(|label| of_engine(one, label).map(|mpps| format!("{mpps:.2} Mpps")));
    let error = |error: Option<f64>| match error {
        Some(error) => format!(" ({:+.1} %)", 100.0 * error),
        None => String::new(),
    };
    let (of_prediction, of_simulation) = one.errors();
    // What is measured of a card is this machine, which none of the others is.
    let live = measured.clone().filter(|_| one.is_elsewhere);
    let measured = measured.filter(|_| !one.is_elsewhere);
    let lead = match (&measured, &predicted, &simulated) {
        (Some(text), ..) => (text, "is measured to forward", Label::Measured),
        (None, Some(text), _) => (text, "is predicted to forward", Label::Predicted),
        (None, None, Some(text)) => (text, "forwards, as simulated,", Label::Simulated),
        (None, None, None) => match &live {
            Some(text) => (
                text,
                "is measured to forward, live on this machine,",
                Label::Measured,
            ),
            None => return Answer::default(),
        },
    };
    let mut parts = Vec::new();
    if let Some(text) = predicted.as_ref().filter(|_| lead.2 != Label::Predicted) {
        parts.push(format!("predicted are {text}{}", error(of_prediction)));
    }
    if let Some(text) = simulated.as_ref().filter(|_| lead.2 != Label::Simulated) {
        parts.push(format!("simulated are {text}{}", error(of_simulation)));
    }
    if let Some(text) = live.as_ref().filter(|_| lead.2 != Label::Measured) {
        parts.push(format!("measured live on this machine are {text}"));
    }
    let limit = limit(cell).map_or(String::new(), |what| format!("; {what} limits it"));
    let others = if parts.is_empty() {
        String::new()
    } else {
        format!("; {}", parts.join(", "))
    };
    Answer {
        number: lead.0.clone(),
        sentence: format!(
            "With frames of {} bytes `{}` {} {}{others}{limit}.{}",
            cell.frame,
            tested.name,
            lead.1,
            lead.0,
            farthest(outcome, compared, one)
        ),
        label: Some(lead.2),
    }
}

/// How far the engines are from what was measured, over all rows of throughput.
fn highlights(compared: &[Compared]) -> Vec<Highlight> {
    let rates = compared
        .iter()
        .filter(|one| one.metric == "throughput" && one.measured.is_some() && !one.is_elsewhere);
    let rates: Vec<Errors> = rates.map(Compared::errors).collect();
    let of = |name: &str, label, pick: fn(&Errors) -> Option<f64>| {
        let mut sizes: Vec<f64> = rates.iter().filter_map(pick).map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        let worst = sizes.last()?;
        Some(Highlight {
            name: name.to_owned(),
            value: format!("{:.1}", 100.0 * sizes[(sizes.len() - 1) / 2]),
            unit: "%".to_owned(),
            label: Some(label),
            note: format!("median of {}; at worst {:.1} %", sizes.len(), 100.0 * worst),
        })
    };
    let all = [
        of("error of the prediction", Label::Predicted, |e| e.0),
        of("error of the simulation", Label::Simulated, |e| e.1),
    ];
    all.into_iter().flatten().collect()
}
