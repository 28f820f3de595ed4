//! The run folder of a decode: the tables, the figures and the page that shows them.
//!
//! Of many flows the page has those of the most bytes and all together; the tables have every flow.

use super::decode::{DecodeJob, Decoded};
use super::figures::{MOST_DRAWN, by_bytes, figures, flow_name};
use super::kinds::{KINDS, Kind};
use super::{clocks, metrics};
use std::collections::BTreeMap;
use std::path::PathBuf;
use trammel_core::label::Label;
use trammel_ground::machine;
use trammel_report::provenance::provenance;
use trammel_report::run_folder::{RunFolder, RunInfo};
use trammel_report::{Answer, Block, Highlight, Note, NoteKind, Report, Section, TableView};
use trammel_stats::table::{Cell, CellType, Table, format_float};
use trammel_traffic::decode::{Summary, TotalReport};

/// Flows in the page's table.
const MOST_ROWS: usize = 20;
/// Digits that people see.
const DIGITS: usize = 4;

/// Writes all into the folder. Returns the answer and where the folder is.
pub fn write(
    mut folder: RunFolder,
    decoded: &Decoded,
    job: &DecodeJob,
) -> anyhow::Result<(String, PathBuf)> {
    for table in decoded.tables() {
        folder.write_table(&table)?;
    }
    let logs: Vec<_> = (job.logs.iter().map(|log| log.display().to_string())).collect();
    let mut seeds: Vec<u64> = (decoded.report.sessions.iter())
        .map(|session| session.seed)
        .collect();
    seeds.sort_unstable();
    seeds.dedup();
    let info = RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: logs.join(" "),
        seeds,
        machine: machine::facts(),
        started: machine::now(),
        wall_s: BTreeMap::new(),
        ..RunInfo::default()
    };
    let mut page = page(decoded);
    page.provenance = provenance(&info, vec![("logs".to_owned(), info.scenario.clone())]);
    folder.write_page(&page)?;
    let path = folder.finish(&info)?;
    Ok((page.answer.sentence, path))
}

/// The page, but for where it is from.
fn page(decoded: &Decoded) -> Report {
    let report = &decoded.report;
    let of = |kind: &'static Kind| {
        let total = report
            .totals
            .iter()
            .find(|total| total.instants == kind.instants);
        total.map(|total| (kind, total))
    };
    let kinds: Vec<(&Kind, &TotalReport)> = KINDS.iter().filter_map(of).collect();
    let totals: Vec<&TotalReport> = kinds.iter().map(|(_, total)| *total).collect();
    let mut sections: Vec<Section> = Vec::new();
    if !decoded.warnings.is_empty() {
        let warning = |text: &String| {
            let kind = NoteKind::Warning;
            Block::Note(Note {
                kind,
                text: text.clone(),
            })
        };
        sections.push(Section {
            heading: "Warnings".to_owned(),
            blocks: decoded.warnings.iter().map(warning).collect(),
            ..Section::default()
        });
    }
    sections.extend(
        kinds
            .iter()
            .map(|(kind, total)| section(decoded, kind, total)),
    );
    sections.push(numbers(&totals));
    sections.push(measured(decoded));
    Report {
        title: "Traffic, packet by packet".to_owned(),
        question: "What became of every packet?".to_owned(),
        answer: (kinds.first()).map_or_else(Answer::default, |(kind, total)| answer(kind, total)),
        highlights: (kinds.first()).map_or_else(Vec::new, |(kind, total)| highlights(kind, total)),
        sections,
        ..Report::default()
    }
}

/// A time with a unit that suits it.
fn time(ns: f64) -> (String, String) {
    let (divisor, unit) = match ns.abs() {
        1e9.. => (1e9, "s"),
        1e6.. => (1e6, "ms"),
        _ => (1e3, "µs"),
    };
    (format_float(ns / divisor, DIGITS), unit.to_owned())
}

fn told(ns: f64) -> String {
    let (value, unit) = time(ns);
    format!("{value} {unit}")
}

fn answer(kind: &Kind, total: &TotalReport) -> Answer {
    let Summary { loss, delay, .. } = &total.summary;
    let first_copies = delay.map_or(0, |delay| delay.pkts);
    let word = kind.delay;
    let flows = match total.flows {
        1 => "one flow".to_owned(),
        many => format!("{many} flows"),
    };
    let delay = delay.map_or(String::new(), |delay| {
        format!(
            "; {word} {} in the median, {} at 99 %",
            told(delay.quantiles.p50_ns as f64),
            told(delay.quantiles.p99_ns as f64)
        )
    });
    let verb = kind.did;
    Answer {
        number: format!("{} %", format_float(loss.lost_fraction * 100.0, DIGITS)),
        sentence: format!(
            "{} of {} packets of {flows} are lost, {} {verb}{delay}",
            loss.lost_pkts, loss.expected_pkts, first_copies
        ),
        label: Some(Label::Measured),
    }
}

fn highlights(kind: &Kind, total: &TotalReport) -> Vec<Highlight> {
    let Summary {
        delay,
        jitter,
        packet_rate_pps,
        bit_rate_bps,
        ..
    } = &total.summary;
    let word = kind.delay;
    let one = |name: &str, (value, unit): (String, String), note: &str| Highlight {
        name: name.to_owned(),
        value,
        unit,
        label: Some(Label::Measured),
        note: note.to_owned(),
    };
    let number = |value: f64, unit: &str| (format_float(value, DIGITS), unit.to_owned());
    let rate = bit_rate_bps.map(|bps| one("payload", number(bps / 1e6, "Mbit/s"), "in the mean"));
    let packets = packet_rate_pps.map(|pps| one("packets", number(pps, "/s"), "in the mean"));
    let mean = delay.map(|delay| one(word, time(delay.mean_ns), "in the mean"));
    let p999 = delay.map(|delay| one(word, time(delay.quantiles.p999_ns as f64), "p99.9"));
    let jitter = jitter
        .mean_ns
        .map(|ns| one("jitter", time(ns), "mean |D| of neighbours"));
    [rate, packets, mean, p999, jitter]
        .into_iter()
        .flatten()
        .collect()
}

/// The figures of all flows with the same instants, and the flows of the most bytes.
fn section(decoded: &Decoded, kind: &Kind, total: &TotalReport) -> Section {
    let report = &decoded.report;
    let flows = by_bytes(report, total.instants);
    let mut text = kind.meaning.to_owned();
    if flows.len() > MOST_DRAWN {
        text += &format!(
            " Of {} flows the figures show the {MOST_DRAWN} with the most bytes, and all together; \
             `flows.csv` has every flow.",
            flows.len()
        );
    }
    let mut blocks: Vec<Block> = figures(report, total, &flows, kind)
        .into_iter()
        .map(Block::Figure)
        .collect();
    use CellType::{Float, Int, Text};
    let mut table = Table::with(
        "flows",
        &[
            ("flow", Text),
            ("protocol", Text),
            ("from", Text),
            ("to", Text),
            ("pkts", Int),
            ("payload_mbps", Float),
            ("lost_percent", Float),
            ("delay_mean_us", Float),
            ("delay_p99_us", Float),
            ("jitter_mean_us", Float),
            ("reordered_pkts", Int),
        ],
    );
    for flow in flows.iter().take(MOST_ROWS) {
        let [.., protocol, from, to, _] = metrics::describe(report, flow);
        let summary = &flow.summary;
        let delay = summary.delay;
        let row: Vec<Cell> = vec![
            flow_name(report, flow).into(),
            protocol.into(),
            from.into(),
            to.into(),
            summary.pkts.into(),
            summary.bit_rate_bps.map(|bps| bps / 1e6).into(),
            (summary.loss.lost_fraction * 100.0).into(),
            delay.map(|delay| delay.mean_ns / 1e3).into(),
            delay
                .map(|delay| delay.quantiles.p99_ns as f64 / 1e3)
                .into(),
            summary.jitter.mean_ns.map(|ns| ns / 1e3).into(),
            summary.reordering.reordered_pkts.into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    blocks.push(Block::Table(TableView {
        title: match flows.len() {
            many if many > MOST_ROWS => format!("The {MOST_ROWS} of {many} flows with most bytes"),
            _ => "Flows, by their bytes".to_owned(),
        },
        table,
        is_open: true,
    }));
    let (first, rest) = kind.delay.split_at(1);
    Section {
        heading: format!(
            "{}{rest}: {}",
            first.to_uppercase(),
            metrics::instants(total.instants)
        ),
        text,
        blocks,
    }
}

/// All metrics of the totals.
fn numbers(totals: &[&TotalReport]) -> Section {
    let titles: Vec<String> = (totals.iter())
        .map(|total| {
            let flows = match total.flows {
                1 => "1 flow".to_owned(),
                many => format!("{many} flows"),
            };
            format!("{} ({flows})", metrics::instants(total.instants))
        })
        .collect();
    let columns: Vec<_> = std::iter::once(("metric", CellType::Text))
        .chain(titles.iter().map(|title| (title.as_str(), CellType::Float)))
        .collect();
    let mut table = Table::with("totals", &columns);
    let mut values: Vec<_> = (totals.iter())
        .map(|total| metrics::named(&total.summary))
        .collect();
    while let Some(rows) = values
        .iter_mut()
        .map(Iterator::next)
        .collect::<Option<Vec<_>>>()
        .filter(|rows| !rows.is_empty())
    {
        let mut row: Vec<Cell> = vec![rows[0].0.trim().into()];
        row.extend(rows.iter().map(|(_, value)| Cell::from(*value)));
        table.push(row).expect("the row has a cell for each column");
    }
    Section {
        heading: "All numbers".to_owned(),
        text: "Of all flows together: means are over packets; losses and reordering are counted \
               within each flow and summed up. `flows.csv` has the same numbers of every flow, \
               `intervals.csv` the series."
            .to_owned(),
        blocks: vec![Block::Table(TableView {
            title: "Totals".to_owned(),
            table,
            is_open: true,
        })],
    }
}

/// What was measured and by which clock.
fn measured(decoded: &Decoded) -> Section {
    let mut blocks = vec![Block::Table(TableView {
        title: "Sessions of the logs".to_owned(),
        table: clocks::sessions(decoded),
        is_open: decoded.report.sessions.len() <= MOST_ROWS,
    })];
    if !decoded.clocks.is_empty() {
        blocks.push(Block::Table(TableView {
            title: "Clocks of two hosts".to_owned(),
            table: clocks::table(&decoded.clocks),
            is_open: true,
        }));
    }
    Section {
        heading: "By which clock".to_owned(),
        text: "A one-way delay is the difference of two clocks. Queues only add to delays, so the \
               minimum delays over short intervals follow the clocks (Moon, Skelly and Towsley \
               1999): their slope is the drift. With flows in both directions, half the difference \
               of the minimum delays is the offset, and half their sum bounds its error; with \
               flows in one direction the offset cannot be separated from the minimum \
               delay."
            .to_owned(),
        blocks,
    }
}
