//! What is told of flows, as data: a metric is a row for people and a column of the table.

use trammel_stats::table::{Cell, CellType, Table, format_float};
use trammel_traffic::decode::{FlowReport, Report, Summary, TotalReport};
use trammel_traffic::record::{Instants, Protocol};

/// A metric: its column, what a person reads, and its value.
pub type Metric = (&'static str, &'static str, fn(&Summary) -> Option<f64>);

/// The metrics that count something: whole numbers, of one type in every table.
const COUNTS: [&str; 10] = [
    "pkts",
    "payload_bytes",
    "negative_delays_pkts",
    "lost_pkts",
    "loss_bursts",
    "loss_burst_max_pkts",
    "reordered_pkts",
    "reorder_extent_max_pkts",
    "duplicate_pkts",
    "too_late_pkts",
];

const NS_PER_US: f64 = 1e3;
/// Digits that people see.
const DIGITS: usize = 6;

fn us(ns: i64) -> f64 {
    ns as f64 / NS_PER_US
}

/// All of them, in their order.
const METRICS: &[Metric] = &[
    ("pkts", "packets", |s| Some(s.pkts as f64)),
    ("payload_bytes", "bytes of payload", |s| {
        Some(s.bytes as f64)
    }),
    ("duration_s", "duration, s", |s| Some(s.duration_s)),
    ("packet_rate_pps", "packets a second", |s| s.packet_rate_pps),
    ("payload_bps", "bits of payload a second", |s| {
        s.bit_rate_bps
    }),
    ("delay_min_us", "delay, least, us", |s| {
        Some(us(s.delay?.min_ns))
    }),
    ("delay_mean_us", "delay, mean, us", |s| {
        Some(s.delay?.mean_ns / NS_PER_US)
    }),
    ("delay_mean_low_us", "  95 % interval, from", |s| {
        Some(s.delay?.mean_interval_ns?.low / NS_PER_US)
    }),
    ("delay_mean_high_us", "  95 % interval, to", |s| {
        Some(s.delay?.mean_interval_ns?.high / NS_PER_US)
    }),
    ("delay_sd_us", "delay, deviation, us", |s| {
        Some(s.delay?.sd_ns / NS_PER_US)
    }),
    ("delay_p50_us", "delay, p50, us", |s| {
        Some(us(s.delay?.quantiles.p50_ns))
    }),
    ("delay_p90_us", "delay, p90, us", |s| {
        Some(us(s.delay?.quantiles.p90_ns))
    }),
    ("delay_p99_us", "delay, p99, us", |s| {
        Some(us(s.delay?.quantiles.p99_ns))
    }),
    ("delay_p999_us", "delay, p99.9, us", |s| {
        Some(us(s.delay?.quantiles.p999_ns))
    }),
    ("delay_max_us", "delay, greatest, us", |s| {
        Some(us(s.delay?.max_ns))
    }),
    ("negative_delays_pkts", "delays below 0", |s| {
        Some(s.delay?.negative_pkts as f64)
    }),
    ("jitter_mean_us", "jitter, mean |D|, us", |s| {
        Some(s.jitter.mean_ns? / NS_PER_US)
    }),
    ("jitter_rfc3550_us", "jitter, RFC 3550, us", |s| {
        Some(s.jitter.rfc3550_last_ns? / NS_PER_US)
    }),
    ("pdv_p99_us", "PDV, p99, us", |s| {
        Some(us(s.pdv?.quantiles.p99_ns))
    }),
    ("ipdv_sd_us", "IPDV, deviation, us", |s| {
        Some(s.ipdv?.sd_ns / NS_PER_US)
    }),
    ("lost_pkts", "lost", |s| Some(s.loss.lost_pkts as f64)),
    ("lost", "lost, share", |s| Some(s.loss.lost_fraction)),
    ("loss_bursts", "bursts of losses", |s| {
        Some(s.loss.bursts as f64)
    }),
    ("loss_burst_mean_pkts", "mean burst of losses", |s| {
        s.loss.burst_mean_pkts
    }),
    ("loss_burst_max_pkts", "longest burst of losses", |s| {
        Some(s.loss.burst_max_pkts as f64)
    }),
    ("reordered_pkts", "reordered", |s| {
        Some(s.reordering.reordered_pkts as f64)
    }),
    ("reorder_extent_max_pkts", "  greatest extent", |s| {
        Some(s.reordering.extent_max_pkts as f64)
    }),
    ("duplicate_pkts", "duplicates", |s| {
        Some(s.duplicate_pkts as f64)
    }),
    ("too_late_pkts", "too late to be told apart", |s| {
        Some(s.too_late_pkts as f64)
    }),
];

/// The metric of the column `name` of a summary.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|(column, ..)| *column == name)
}

/// What the column of the metric `name` holds.
fn kind(name: &str) -> CellType {
    if COUNTS.contains(&name) {
        CellType::Int
    } else {
        CellType::Float
    }
}

/// The columns of all metrics.
pub(crate) fn metric_columns() -> impl Iterator<Item = (&'static str, CellType)> {
    METRICS.iter().map(|(name, ..)| (*name, kind(name)))
}

/// All metrics, as people read them.
pub fn named(summary: &Summary) -> impl Iterator<Item = (&'static str, Option<f64>)> {
    METRICS.iter().map(|(_, title, of)| (*title, of(summary)))
}

/// The cells of all metrics.
pub fn cells(summary: &Summary) -> impl Iterator<Item = Cell> {
    METRICS.iter().map(|(name, _, of)| match kind(name) {
        CellType::Int => of(summary).map(|count| count as i64).into(),
        _ => of(summary).into(),
    })
}

/// Flows of which people see a column each.
const MOST_SHOWN: usize = 4;

/// What a log's two instants are called.
pub fn instants(instants: Instants) -> &'static str {
    match instants {
        Instants::DueSent => "due to sent",
        Instants::DueLeft => "due to left",
        Instants::SentReceived => "sent to received",
        Instants::SentReturned => "sent to returned",
    }
}

/// The tables `flows`, `totals` and `intervals` of a report; see [`super::clocks`] for the others.
pub fn tables(report: &Report) -> Vec<Table> {
    tables_of(std::slice::from_ref(report))
}

/// The same of several reports, whose sessions are numbered one behind the other.
pub fn tables_of(reports: &[Report]) -> Vec<Table> {
    let (mut all, mut sessions) = (Vec::<Table>::new(), 0);
    for report in reports {
        let more = tables_from(report, sessions);
        sessions += report.sessions.len().max(1);
        if all.is_empty() {
            all = more;
            continue;
        }
        for (table, more) in all.iter_mut().zip(more) {
            table.append(more).expect("tables of one kind");
        }
    }
    all
}

/// The tables of a report whose first session is number `session`.
fn tables_from(report: &Report, session: usize) -> Vec<Table> {
    let numbers = ["session", "flow"].map(|name| (name, CellType::Int));
    let words = ["name", "protocol", "from", "to", "instants"].map(|name| (name, CellType::Text));
    let columns: Vec<_> = (numbers.into_iter().chain(words))
        .chain(metric_columns())
        .collect();
    let mut flows = Table::with("flows", &columns);
    for flow in &report.flows {
        let mut row = vec![
            Cell::from(session + flow.session),
            Cell::from(u64::from(flow.number)),
        ];
        row.extend(describe(report, flow).map(Cell::Text));
        row.extend(cells(&flow.summary));
        flows.push(row).expect("the row has a cell for each column");
    }
    let columns: Vec<_> = [("instants", CellType::Text), ("flows", CellType::Int)]
        .into_iter()
        .chain(metric_columns())
        .collect();
    let mut totals = Table::with("totals", &columns);
    for total in &report.totals {
        let mut row = vec![
            Cell::Text(instants(total.instants).to_owned()),
            Cell::from(total.flows),
        ];
        row.extend(cells(&total.summary));
        totals
            .push(row)
            .expect("the row has a cell for each column");
    }
    vec![flows, totals, intervals_from(report, session)]
}

/// What a flow is beside its numbers: name, protocol, ends and instants.
pub fn describe(report: &Report, flow: &FlowReport) -> [String; 5] {
    let known = flow.flow.as_ref();
    let address = |address: Option<std::net::SocketAddr>| {
        address.map_or(String::new(), |address| address.to_string())
    };
    let of = report.sessions.get(flow.session);
    [
        known.map_or(String::new(), |flow| flow.name.clone()),
        known.map_or(String::new(), |flow| match flow.protocol {
            Protocol::Unknown => String::new(),
            told => format!("{told:?}").to_lowercase(),
        }),
        address(known.and_then(|flow| flow.from)),
        address(known.and_then(|flow| flow.to)),
        of.map_or("", |session| instants(session.instants))
            .to_owned(),
    ]
}

/// The table `intervals`: a row an interval of a flow; times from the first interval on.
pub fn intervals(report: &Report) -> Table {
    intervals_from(report, 0)
}

fn intervals_from(report: &Report, session: usize) -> Table {
    let mut table = Table::with(
        "intervals",
        &[
            ("session", CellType::Int),
            ("flow", CellType::Int),
            ("start_s", CellType::Float),
            ("pkts", CellType::Int),
            ("payload_bps", CellType::Float),
            ("packet_rate_pps", CellType::Float),
            ("delay_mean_us", CellType::Float),
            ("jitter_mean_us", CellType::Float),
            ("lost_pkts", CellType::Int),
        ],
    );
    let start = report.flows.iter().flat_map(|flow| &flow.series);
    let start = start.map(|one| one.start_ns).min().unwrap_or(0);
    for flow in &report.flows {
        for one in &flow.series {
            let mean = |ns: Option<f64>| Cell::from(ns.map(|ns| ns / NS_PER_US));
            let row = vec![
                Cell::from(session + flow.session),
                Cell::from(u64::from(flow.number)),
                Cell::Float(one.start_ns.saturating_sub(start) as f64 / 1e9),
                Cell::from(one.pkts),
                Cell::Float(one.bit_rate_bps),
                Cell::Float(one.packet_rate_pps),
                mean(one.delay_mean_ns),
                mean(one.jitter_mean_ns),
                Cell::from(one.lost_pkts),
            ];
            table.push(row).expect("the row has a cell for each column");
        }
    }
    table
}

/// The report for people: a row a metric, a column a flow where they are few, and the total.
pub fn text(report: &Report) -> String {
    let shown = if report.flows.len() <= MOST_SHOWN {
        report.flows.as_slice()
    } else {
        &[]
    };
    let is_total = |total: &&TotalReport| total.flows > 1 || shown.is_empty();
    let totals: Vec<&TotalReport> = report.totals.iter().filter(is_total).collect();
    let mut columns = vec![String::new()];
    for flow in shown {
        let ([name, ..], number) = (describe(report, flow), flow.number);
        columns.push(if name.is_empty() {
            format!("flow {number}")
        } else {
            format!("{number} {name}")
        });
    }
    columns.extend(totals.iter().map(|total| format!("{} flows", total.flows)));
    let mut lines = vec![columns];
    let of_sessions = |at: usize| report.sessions.get(at).map_or("", |s| instants(s.instants));
    let kinds = (shown.iter().map(|flow| of_sessions(flow.session)))
        .chain(totals.iter().map(|total| instants(total.instants)));
    lines.push(
        std::iter::once("instants")
            .chain(kinds)
            .map(str::to_owned)
            .collect(),
    );
    for (_, title, of) in METRICS {
        let summaries = (shown.iter().map(|flow| &flow.summary))
            .chain(totals.iter().map(|total| &total.summary));
        let values: Vec<String> = summaries
            .map(|summary| of(summary).map_or(String::new(), number))
            .collect();
        if values.iter().any(|value| !value.is_empty()) {
            lines.push(std::iter::once((*title).to_owned()).chain(values).collect());
        }
    }
    aligned(&lines)
}

/// Whole numbers as they are, others with as many digits as people read.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value}")
    } else {
        format_float(value, DIGITS)
    }
}

/// Columns one below the other: the first to the left, the others to the right.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (at, (value, width)) in line.iter().zip(&widths).enumerate() {
            row += &match at {
                0 => format!("{value:<width$}"),
                _ => format!("  {value:>width$}"),
            };
        }
        text += row.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Decoded;
    use std::collections::BTreeMap;
    use trammel_traffic::decode::{Decoder, Options};

    #[test]
    fn a_column_has_one_type_in_all_tables() {
        let decoded = Decoded {
            report: Decoder::new(Options::default()).finish(),
            clocks: Vec::new(),
            warnings: Vec::new(),
        };
        let streams: Vec<_> = crate::run::runs::stream_columns().collect();
        let tables = decoded.tables();
        let tables = tables.iter();
        let mut types = BTreeMap::new();
        let columns = tables.flat_map(|table| {
            let columns = table.columns().iter();
            columns.map(|column| (column.name.clone(), column.cell_type))
        });
        let streams = streams
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), *kind));
        for (name, kind) in columns.chain(streams).collect::<Vec<_>>() {
            let known = *types.entry(name.clone()).or_insert(kind);
            assert_eq!(known, kind, "{name}");
        }
        assert_eq!(types["session"], CellType::Int);
        assert_eq!(types["lost_pkts"], CellType::Int);
        assert!(COUNTS.iter().all(|name| metric(name).is_some()));
    }
}
