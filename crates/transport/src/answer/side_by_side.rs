//! Engines compared: goodput and share of every flow, by the simulator, the models and the
//! literature.

use super::axis;
use super::numbers::EQUAL_PARTS;
use super::numbers::Numbers;
use super::words::{INTERVALS, placed};
use crate::points::TransportOutcome;
use crate::run_tables::ALL_FLOWS;
use std::collections::BTreeMap;
use trammel_core::label::Label;
use trammel_report::comparison::{BOUNDS, Comparison, Estimate, Row, Source};
use trammel_report::units::spoken;
use trammel_report::{Block, Note, NoteKind};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;

/// Rows that a person still reads.
const MOST_ROWS: usize = 120;

/// A row's keys: point, entity, metric.
type Key = [String; 3];

pub(super) fn comparison(
    file: &File,
    outcome: &TransportOutcome,
    numbers: &Numbers,
) -> Option<Block> {
    let table = &outcome.comparison;
    if table.is_empty() {
        return None;
    }
    let mut models: Vec<String> = Vec::new();
    for row in table.rows() {
        let model = row.text("model");
        if !model.is_empty() && !models.iter().any(|known| known == model) {
            models.push(model.to_owned());
        }
    }
    let has_numbers = |name: &str| table.floats(name).is_ok_and(|numbers| !numbers.is_empty());
    let mut sources: Vec<Source> = models
        .iter()
        .map(|name| match name.as_str() {
            EQUAL_PARTS => Source::new(Label::Predicted, "fair share").bound(),
            name => Source::new(Label::Predicted, name),
        })
        .collect();
    let others = [
        Label::Simulated,
        Label::LinuxVt,
        Label::Measured,
        Label::Published,
    ];
    let others: Vec<Label> = others
        .into_iter()
        .filter(|label| has_numbers(label.key()))
        .collect();
    sources.extend(others.iter().map(|label| Source::new(*label, "")));
    let swept: Vec<&str> = file.columns();
    let swept: Vec<&str> = swept
        .into_iter()
        .filter(|name| table.column(name).is_ok())
        .collect();
    let intervals = intervals(outcome);
    let mut rows: Vec<(Key, Row)> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let points: BTreeMap<&str, &Point> = (file.points.iter())
        .map(|point| (point.id.as_str(), point))
        .collect();
    let has_one_flow = file
        .points
        .iter()
        .all(|point| point.scenario.flows.len() == 1);
    let compared = table.rows().filter(|row| {
        // A person looks at what the flows get; the rest is in the table.
        let is_sum = row.text("entity") == ALL_FLOWS && row.text("model").is_empty();
        let metric = row.text("metric");
        // One flow has all there is.
        if has_one_flow && metric.ends_with("share") {
            return false;
        }
        !(metric.ends_with("cwnd_mean") || is_sum && row.float("published").is_none())
    });
    for row in compared {
        let text = |name: &str| row.text(name).to_owned();
        let key = [text("point"), text("entity"), text("metric")];
        let place = match places.get(&key) {
            Some(place) => *place,
            None => {
                let point = points.get(key[0].as_str()).copied();
                let cells = swept.iter().map(|name| {
                    // As the file has it: `1 Mbit/s` is not 1000000.
                    let place =
                        |point: &Point| point.swept.iter().position(|swept| swept.column == *name);
                    match point.and_then(|point| Some((point, place(point)?))) {
                        Some((point, at)) => placed(point, at),
                        None => row.get(name).map(ToString::to_string).unwrap_or_default(),
                    }
                });
                let keys = cells
                    .chain([key[1].clone(), spoken(key[2].trim_start_matches("late_"))])
                    .collect();
                let values = vec![None; sources.len()];
                let (unit, verdict) = (text("unit"), None);
                rows.push((
                    key.clone(),
                    Row {
                        keys,
                        unit,
                        values,
                        verdict,
                    },
                ));
                places.insert(key.clone(), rows.len() - 1);
                rows.len() - 1
            }
        };
        let values = &mut rows[place].1.values;
        if let Some(model) = models.iter().position(|model| model == row.text("model")) {
            values[model] = row.float("predicted").map(Estimate::from);
        }
        for (n, label) in others.iter().enumerate() {
            let interval = intervals.get(&(*label, key.clone())).copied();
            let value = row
                .float(label.key())
                .map(|value| Estimate { value, interval });
            values[models.len() + n] = value;
        }
    }
    if rows.is_empty() {
        return None;
    }
    if rows.len() > MOST_ROWS {
        let text = format!(
            "{} comparisons are too many for this page: see `comparison.csv`.",
            rows.len()
        );
        let has_models = !models.is_empty();
        return has_models.then_some(Block::Note(Note {
            kind: NoteKind::Info,
            text,
        }));
    }
    let of = |label: Label| sources.iter().position(|source| source.label == label);
    // As the errors of `comparison` have it.
    let truths = [
        Label::Published,
        Label::LinuxVt,
        Label::Measured,
        Label::Simulated,
    ];
    // Of two laws neither is the other's truth.
    let is_one_law = file
        .points
        .iter()
        .all(|point| point.scenario.other_laws().is_empty());
    let is_truth = |label: &Label| is_one_law || *label == Label::Published;
    let reference = truths.into_iter().filter(is_truth).find_map(of);
    let reference = reference.filter(|_| sources.len() > 1);
    let keys = swept.iter().map(|name| {
        let place = file.points[0]
            .swept
            .iter()
            .position(|swept| swept.column == *name);
        place.map_or_else(String::new, |at| axis::name(&file.points[0], at).0)
    });
    let keys = keys
        .chain(["flow".to_owned(), "metric".to_owned()])
        .collect();
    let late = table
        .rows()
        .any(|row| row.text("metric").starts_with("late_"));
    let caption = if late {
        "After the warm-up. "
    } else {
        "Shares and sums cover the whole run; a flow's own goodput covers the time in which it had \
         data to send.  "
    };
    let spread = |n| {
        format!(
            "Grey numbers: 95 % confidence interval of the mean over {n} repeats ({INTERVALS})."
        )
    };
    let spread = numbers.repeats().map_or_else(String::new, spread);
    Some(Block::Comparison(Comparison {
        title: "Engines compared".to_owned(),
        caption: format!("{caption}{spread}"),
        keys,
        sources,
        reference,
        bounds: BOUNDS,
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    }))
}

/// The intervals of what has repeats.
fn intervals(outcome: &TransportOutcome) -> BTreeMap<(Label, Key), (f64, f64)> {
    let rows = outcome
        .summary
        .rows()
        .filter(|row| row.text("model").is_empty());
    let rows = rows.filter_map(|row| {
        let key = ["point", "entity", "metric"].map(|name| row.text(name).to_owned());
        let label = Label::of_engine(row.text("engine"))?;
        Some(((label, key), row.float("ci_low").zip(row.float("ci_high"))?))
    });
    rows.collect()
}
