//! What the page of an estimate says first: how many packets a second, what limits them, and a
//! chart over frame sizes.

use std::path::Path;
use trammel_core::label::Label;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_report::{Answer, Block};
use trammel_stats::table::{Row, Table, format_float};

/// Functions that one chart shows.
const MOST_FUNCTIONS: usize = 8;

/// The rows of each function as it is, its estimates before what was measured; `what_if` and
/// corrections are left to the table.
fn groups(functions: &Table) -> Vec<(&str, Label, Vec<Row<'_>>)> {
    let mut all: Vec<(&str, Label, Vec<Row<'_>>)> = Vec::new();
    for row in functions
        .rows()
        .filter(|row| row.text("what_if").is_empty())
    {
        let (name, label) = (row.text("function"), label(row));
        match all.iter_mut().find(|one| (one.0, one.1) == (name, label)) {
            Some(known) => known.2.push(row),
            None => all.push((name, label, vec![row])),
        }
    }
    all
}

/// How a rate is known: on a machine whose constants are fitted, by these.
fn label(row: Row<'_>) -> Label {
    match row.text("engine") {
        "measure" => Label::Measured,
        _ if row.text("origin") == Label::Fitted.key() => Label::Fitted,
        _ => Label::Predicted,
    }
}

/// The rate in Mpps, and its ends where the processor limits it.
fn rate(row: Row<'_>) -> Option<(f64, Option<(f64, f64)>)> {
    let mpps = row.float("rate_mpps")?;
    let of_cpu = row.text("bound_by") == "cpu";
    let cycles = |name| row.float(name).filter(|cycles| *cycles > 0.0 && of_cpu);
    let ends = cycles("cost_cycles").and_then(|centre| {
        let (low, high) = (cycles("low_cycles")?, cycles("high_cycles")?);
        Some((mpps * centre / high, mpps * centre / low))
    });
    Some((mpps, ends))
}

/// The answer: the rate of the smallest and the largest frames of the first function.
pub(super) fn answer(functions: &Table) -> Answer {
    let groups = groups(functions);
    let Some((name, label, rows)) = groups.first() else {
        return Answer::default();
    };
    let file = Path::new(name).file_name().and_then(|name| name.to_str());
    let name = file.unwrap_or(name);
    let said = |row: &Row<'_>| {
        let (mpps, ends) = rate(*row)?;
        let ends = ends.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", format_float(low, 2), format_float(high, 2))
        });
        let (frame, bound) = (row.int("frame_bytes")?, row.text("bound_by"));
        let rate = format_float(mpps, 3);
        Some((
            format!("{rate} Mpps"),
            format!("{rate} Mpps{ends} of {frame} bytes, limited by the {bound}"),
        ))
    };
    let Some((number, first)) = rows.first().and_then(said) else {
        return Answer::default();
    };
    let last = rows.last().filter(|_| rows.len() > 1).and_then(said);
    let last = last.map_or(String::new(), |(_, last)| format!(", and {last}"));
    let more = match groups.iter().filter(|one| one.1 == *label).count() {
        0 | 1 => String::new(),
        _ => " The other functions are in the chart and in the table.".to_owned(),
    };
    let machine = rows[0].text("machine");
    Answer {
        number,
        sentence: format!("On {machine}, `{name}` forwards {first}{last}.{more}"),
        label: Some(*label),
    }
}

/// The rates over frame sizes.
pub(super) fn chart(functions: &Table) -> Option<Block> {
    let groups = groups(functions);
    let (x, y) = (
        Axis::linear("frame", "bytes"),
        Axis::linear("rate", "Mpps").from_zero(),
    );
    let mut figure = Figure::new("rate", "Rate by frame size", x, y);
    let mut names: Vec<&str> = Vec::new();
    for (name, label, rows) in &groups {
        let colour = names
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
        if colour >= MOST_FUNCTIONS {
            break;
        }
        let points = rows
            .iter()
            .filter_map(|row| Some((row.float("frame_bytes")?, rate(*row)?)));
        let points: Vec<_> = points.collect();
        let band: Option<Vec<_>> = points.iter().map(|(_, (_, ends))| *ends).collect();
        let line = points
            .iter()
            .map(|(frame, (mpps, _))| (*frame, *mpps))
            .collect();
        let series = Series::new(*name, Mark::LinePoints, line)
            .labelled(*label)
            .coloured(colour);
        figure.series.push(match band {
            Some(band) => series.banded(band),
            None => series,
        });
    }
    let has_line = groups.iter().any(|(_, _, rows)| rows.len() > 1);
    has_line.then_some(Block::Figure(figure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_stats::table::{Cell, CellType};

    fn functions(rows: &[(&str, i128, f64, &str)]) -> Table {
        let columns = [
            ("engine", CellType::Text),
            ("machine", CellType::Text),
            ("origin", CellType::Text),
            ("function", CellType::Text),
            ("what_if", CellType::Text),
            ("frame_bytes", CellType::Int),
            ("cost_cycles", CellType::Float),
            ("low_cycles", CellType::Float),
            ("high_cycles", CellType::Float),
            ("rate_mpps", CellType::Float),
            ("bound_by", CellType::Text),
        ];
        let mut table = Table::with("functions", &columns);
        for (engine, frame, mpps, bound) in rows {
            let text = |text: &str| Cell::from(text);
            let cells = vec![
                text(engine),
                text("m"),
                text("data-sheet"),
                text("/a/f.click"),
                text(""),
                Cell::Int(*frame),
                Cell::Float(200.0),
                Cell::Float(160.0),
                Cell::Float(250.0),
                Cell::Float(*mpps),
                text(bound),
            ];
            table.push(cells).unwrap();
        }
        table
    }

    #[test]
    fn the_answer_says_rate_interval_limit_and_machine() {
        let table = functions(&[
            ("predict", 64, 10.0, "cpu"),
            ("predict", 1518, 0.8127, "link"),
            ("measure", 64, 9.0, ""),
        ]);
        let answer = answer(&table);
        assert_eq!(
            (answer.number.as_str(), answer.label),
            ("10 Mpps", Some(Label::Predicted))
        );
        assert_eq!(
            answer.sentence,
            "On m, `f.click` forwards 10 Mpps (8 to 12) of 64 bytes, limited by the cpu, and 0.813 \
             Mpps of 1518 bytes, limited by the link."
        );
        let Some(Block::Figure(figure)) = chart(&table) else {
            panic!("there is a chart");
        };
        let labels: Vec<_> = figure.series.iter().map(|series| series.label).collect();
        assert_eq!(labels, [Some(Label::Predicted), Some(Label::Measured)]);
    }

    #[test]
    fn without_a_rate_nothing_is_said() {
        assert_eq!(answer(&functions(&[])).sentence, "");
        assert!(chart(&functions(&[])).is_none());
    }
}
