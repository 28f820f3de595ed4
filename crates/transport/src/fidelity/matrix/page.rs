//! A matrix as a report: what was reached, errors by variant and regime as colours, all flows
//! against each other, the worst.

use super::Made;
use super::cells::{Regime, VARIANTS};
use super::judge::FlowRow;
use trammel_core::label::Label;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_report::heat_map::{Colours, HeatMap};
use trammel_report::{Answer, Block, Highlight, Note, NoteKind, Report, Section, TableView};
use trammel_stats::stats::percentile;
use trammel_stats::table::{Table, format_float};

/// Rows of the worst that a page shows before it is asked for more.
const WORST: usize = 15;

/// The report of `made`.
pub fn render(made: &Made, seed: u64) -> Report {
    let judged = &made.judged;
    let met = judged
        .targets
        .iter()
        .filter(|target| target.is_met())
        .count();
    let error = &judged.targets[0];
    let (all, done) = made.outcome.runs;
    let part = if done < all {
        format!(" After {done} of {all} runs.")
    } else {
        String::new()
    };
    let highlights = judged.targets[1..].iter().map(|target| Highlight {
        name: target.what.to_owned(),
        value: said(target.reached, 1.0),
        label: Some(Label::Simulated),
        note: format!(
            "{} {}",
            if target.is_least {
                "at least"
            } else {
                "at most"
            },
            target.bound
        ),
        ..Highlight::default()
    });
    let mut targets = vec![view("Targets", judged.of_targets(), true)];
    targets.extend(made.outcome.failures.iter().take(8).map(|failure| {
        Block::Note(Note {
            kind: NoteKind::Warning,
            text: format!(
                "`{}` with seed {} failed: {}",
                failure.point, failure.seed, failure.why
            ),
        })
    }));
    let all_flows = judged.of_flows();
    let mut worst = Table::new("worst", all_flows.columns().to_vec());
    for row in all_flows.rows().take(WORST) {
        let cells = row.cells().to_vec();
        worst
            .push(cells)
            .expect("the row has a cell for each column");
    }
    let mut tables: Vec<Block> = judged
        .tables()
        .into_iter()
        .skip(1)
        .map(|table| {
            let title = table.name().to_owned();
            view(&title, table, false)
        })
        .collect();
    tables.extend(
        made.outcome
            .tables()
            .map(|table| view(table.name(), table.clone(), false)),
    );
    Report {
        title: "Fidelity".to_owned(),
        question: "How close is the simulator to the real kernel, over all kinds of \
                   paths?"
            .to_owned(),
        answer: Answer {
            number: format!("{} %", said(error.reached, 100.0)),
            sentence: format!(
                "is the median error of a flow's goodput against the kernel's, over {} flows in {} \
                 cells of seed {seed}; {met} of {} targets are met.{part}",
                error.of,
                made.cells.len(),
                judged.targets.len()
            ),
            label: Some(Label::Simulated),
        },
        highlights: highlights.collect(),
        sections: vec![
            Section {
                heading: "Targets".to_owned(),
                text: format!(
                    "Over flows that compete or that the kernel keeps below nine tenths of the \
                     link: where a link is full, any model is right. {}",
                    itself(&judged.own)
                ),
                blocks: targets,
            },
            Section {
                heading: "Where the errors are".to_owned(),
                text: String::new(),
                blocks: BY_REGIME
                    .iter()
                    .map(|shown| Block::HeatMap(by_regime(made, shown)))
                    .chain([Block::Figure(against(made))])
                    .collect(),
            },
            Section {
                heading: "The worst".to_owned(),
                text: "Beside each error are that of the null model (a full link, shared equally) \
                       and the spread of the kernel's own phases, relative to their mean. Folder \
                       `cells` has the scenarios, for `trammel run` and `trammel \
                       diverge`."
                    .to_owned(),
                blocks: vec![view("Worst flows", worst, true)],
            },
            Section {
                heading: "Tables".to_owned(),
                text: String::new(),
                blocks: tables,
            },
        ],
        ..Report::default()
    }
}

fn view(title: &str, table: Table, is_open: bool) -> Block {
    Block::Table(TableView {
        title: title.to_owned(),
        table,
        is_open,
    })
}

/// A number of three digits; a dash where there is none.
fn said(number: Option<f64>, times: f64) -> String {
    number.map_or_else(|| "–".to_owned(), |number| format_float(number * times, 3))
}

/// How far the kernel is from itself.
pub fn itself(own: &[f64]) -> String {
    let at = |of: f64| said(percentile(own, of), 100.0);
    format!(
        "The kernel against itself: two phases of such a flow, other starts and other losses, are \
         {} % apart at the median and {} % at the 90th percentile (pairs of single phases; errors \
         are of means over all).",
        at(50.0),
        at(90.0)
    )
}

/// What is shown by variant and regime.
struct Shown {
    id: &'static str,
    title: &'static str,
    /// What a flow's number is.
    what: &'static str,
    number: fn(&FlowRow) -> f64,
    label: Label,
}

const BY_REGIME: [Shown; 3] = [
    Shown {
        id: "errors",
        title: "Goodput error by variant and regime",
        what: "the simulator's error, relative to the kernel's goodput",
        number: |row| row.error().abs(),
        label: Label::Simulated,
    },
    Shown {
        id: "null-errors",
        title: "The null model's error",
        what: "the error of a full link, shared equally",
        number: |row| row.null_error().abs(),
        label: Label::Predicted,
    },
    Shown {
        id: "own",
        title: "The kernel's own spread",
        what: "the spread of the kernel's phases, relative to their mean",
        number: |row| row.spread,
        label: Label::LinuxVt,
    },
];

/// Medians over flows by variant and regime.
fn by_regime(made: &Made, shown: &Shown) -> HeatMap {
    let value = |variant: &str, regime: Regime| {
        let all = made.judged.those(variant, regime).map(shown.number);
        percentile(&all.collect::<Vec<_>>(), 50.0).map(|median| 100.0 * median)
    };
    let is_changing = made.cells.iter().any(|cell| cell.regime.is_changing());
    let regimes: Vec<Regime> = Regime::ALL
        .into_iter()
        .filter(|regime| regime.is_changing() == is_changing)
        .collect();
    HeatMap {
        id: shown.id.to_owned(),
        title: shown.title.to_owned(),
        caption: format!(
            "The median over flows of {}, in percent; empty where no flow was drawn.",
            shown.what
        ),
        row_title: "variant".to_owned(),
        column_title: "regime".to_owned(),
        rows: VARIANTS.iter().map(|name| (*name).to_owned()).collect(),
        columns: regimes
            .iter()
            .map(|regime| regime.words().to_owned())
            .collect(),
        value_title: "%".to_owned(),
        values: VARIANTS
            .iter()
            .map(|variant| {
                regimes
                    .iter()
                    .map(|regime| value(variant, *regime))
                    .collect()
            })
            .collect(),
        intervals: Vec::new(),
        colours: Colours::Sequential(0.0, 30.0),
        label: Some(shown.label),
    }
}

/// Every flow: the kernel's goodput and the simulator's.
fn against(made: &Made) -> Figure {
    let axis = |title: &str| Axis::log(title, "Mbit/s");
    let mut figure = Figure::new(
        "against",
        "Goodput of each flow",
        axis("goodput in the kernel"),
        axis("simulated goodput"),
    )
    .wide();
    for (colour, regime) in Regime::ALL.into_iter().enumerate() {
        let those = made.judged.flows.iter().filter(|row| row.regime == regime);
        let points: Vec<_> = those
            .filter(|row| row.kernel > 0.0 && row.simulated > 0.0)
            .map(|row| (row.kernel, row.simulated))
            .collect();
        if !points.is_empty() {
            figure = figure.with(
                Series::new(regime.words(), Mark::Points, points)
                    .coloured(colour)
                    .labelled(Label::Simulated),
            );
        }
    }
    figure
}
