//! The columns of the tables that the engines fill, and how rows of a point become rows of a file.
//!
//! A run knows its own rows only; `engine`, `point` and the swept parameters are put before them
//! when the points of a file come together. Columns in which no row has a value are left out then.

use crate::sweep::{Point, Swept};
use trammel_stats::interval::Support;
use trammel_stats::table::CellType::{self, Float, Int, Text};
use trammel_stats::table::{Cell, Column, Table};

/// Columns of a run's rows: names and types.
pub type Columns = &'static [(&'static str, CellType)];

/// `flows`: one flow of one run.
pub const FLOWS: Columns = &[
    ("flow", Text),
    ("variant", Text),
    ("start_s", Float),
    ("active_s", Float),
    ("goodput_mbps", Float),
    ("throughput_mbps", Float),
    ("share", Float),
    ("retransmissions_pkts", Int),
    ("timeouts", Int),
    ("recoveries", Int),
    ("tail_loss_probes", Int),
    ("undos", Int),
    ("ecn_reductions", Int),
    ("sent_pkts", Int),
    ("delivered_bytes", Int),
    ("rtt_min_us", Float),
    ("rtt_mean_us", Float),
    ("rtt_p5_us", Float),
    ("rtt_p50_us", Float),
    ("rtt_p95_us", Float),
    ("rtt_p99_us", Float),
    ("cwnd_mean_pkts", Float),
    ("cwnd_max_pkts", Int),
    ("completion_s", Float),
    ("convergence_s", Float),
    ("harm", Float),
    ("receive_window_limited", Float),
    ("send_buffer_limited", Float),
    ("cwnd_clamp_limited", Float),
    ("late_goodput_mbps", Float),
    ("late_throughput_mbps", Float),
    ("late_share", Float),
    ("late_retransmissions_pkts", Int),
    ("late_timeouts", Int),
    ("late_rtt_mean_us", Float),
    ("late_rtt_p50_us", Float),
    ("late_rtt_p95_us", Float),
    ("late_cwnd_mean_pkts", Float),
];

/// `links`: one link of one run.
pub const LINKS: Columns = &[
    ("link", Text),
    ("throughput_mbps", Float),
    ("utilisation", Float),
    ("arrived_pkts", Int),
    ("sent_pkts", Int),
    ("queue_mean_pkts", Float),
    ("queue_p95_pkts", Float),
    ("queue_peak_pkts", Int),
    ("queue_delay_mean_us", Float),
    ("drops_overflow_pkts", Int),
    ("drops_early_pkts", Int),
    ("drops_random_pkts", Int),
    ("marks_pkts", Int),
    ("loss", Float),
    ("recovery_s", Float),
    ("late_throughput_mbps", Float),
    ("late_utilisation", Float),
    ("late_queue_mean_pkts", Float),
    ("late_queue_delay_mean_us", Float),
    ("late_drops_overflow_pkts", Int),
    ("late_loss", Float),
];

/// `devices`: one port of a device in one run.
pub const DEVICES: Columns = &[
    ("port", Text),
    ("link", Text),
    ("received_pkts", Int),
    ("drops_receipt_pkts", Int),
    ("to_cpu_pkts", Int),
    ("drops_cpu_pkts", Int),
    ("sent_pkts", Int),
    ("drops_queue_pkts", Int),
    ("queued_pkts", Int),
    ("transit_mean_us", Float),
    ("transit_max_us", Float),
];

/// `streams`: one stream of datagrams of one run.
pub const STREAMS: Columns = &[
    ("stream", Text),
    ("sent_pkts", Int),
    ("received_pkts", Int),
    ("lost_pkts", Int),
    ("loss", Float),
    ("reordered_pkts", Int),
    ("goodput_mbps", Float),
    ("delay_min_us", Float),
    ("delay_mean_us", Float),
    ("delay_p50_us", Float),
    ("delay_p95_us", Float),
    ("delay_p99_us", Float),
    ("jitter_us", Float),
    ("late_goodput_mbps", Float),
];

/// `workloads`: what one workload has completed in one run, of one range of sizes or of all.
pub const WORKLOADS: Columns = &[
    ("workload", Text),
    ("variant", Text),
    ("flow_size", Text),
    ("goodput_mbps", Float),
    ("retransmissions_pkts", Int),
    ("completions", Int),
    ("unfinished", Int),
    ("fct_mean_s", Float),
    ("fct_p50_s", Float),
    ("fct_p95_s", Float),
    ("fct_p99_s", Float),
    ("slowdown_mean", Float),
    ("slowdown_p50", Float),
    ("slowdown_p95", Float),
    ("slowdown_p99", Float),
    ("late_goodput_mbps", Float),
];

/// `apps`: what the users of one application got in one run.
pub const APPS: Columns = &[
    ("app", Text),
    ("kind", Text),
    ("variant", Text),
    ("done", Int),
    ("unfinished", Int),
    ("startup_s", Float),
    ("stalled", Float),
    ("stalls", Int),
    ("bitrate_mbps", Float),
    ("switches", Int),
    ("time_mean_s", Float),
    ("time_p50_s", Float),
    ("time_p95_s", Float),
    ("time_p99_s", Float),
    ("time_p999_s", Float),
    ("delay_mean_us", Float),
    ("delay_p50_us", Float),
    ("delay_p95_us", Float),
    ("delay_p99_us", Float),
    ("delay_p999_us", Float),
    ("loss", Float),
    ("overdue", Float),
    ("mos", Float),
];

/// `groups`: all flows of one run together.
pub const GROUPS: Columns = &[
    ("flows", Int),
    ("goodput_mbps", Float),
    ("jain", Float),
    ("friendliness_ratio", Float),
    ("convergence_s", Float),
    ("latency_unloaded_us", Float),
    ("latency_loaded_mean_us", Float),
    ("latency_loaded_p95_us", Float),
    ("latency_increase_us", Float),
    ("late_goodput_mbps", Float),
    ("late_jain", Float),
    ("late_friendliness_ratio", Float),
];

/// `predictions`: what one model says of one flow at one point.
pub const PREDICTIONS: Columns = &[
    ("model", Text),
    ("flow", Text),
    ("variant", Text),
    ("goodput_mbps", Float),
    ("share", Float),
    ("cwnd_mean_pkts", Float),
    ("queue_delay_mean_us", Float),
    ("note", Text),
];

/// Columns that say which row it is rather than what was found.
pub const KEYS: &[&str] = &[
    "engine",
    "point",
    "repeat",
    "seed",
    "flow",
    "variant",
    "link",
    "workload",
    "flow_size",
    "stream",
    "app",
    "kind",
];

/// Where the numbers of `column` can lie; `flows` is how many flows an index of fairness is of.
pub fn support(column: &str, flows: usize) -> Support {
    match column.strip_prefix("late_").unwrap_or(column) {
        "share" | "utilisation" | "loss" | "stalled" | "overdue" => Support::Within(0.0, 1.0),
        // The least and the greatest score of ITU-T G.107, Annex B.
        "mos" => Support::Within(1.0, 4.5),
        limited if limited.ends_with("_limited") => Support::Within(0.0, 1.0),
        "jain" => Support::Within(1.0 / flows.max(1) as f64, 1.0),
        // Beside others a flow may do better than alone.
        "harm" => Support::Within(f64::NEG_INFINITY, 1.0),
        _ => Support::Positive,
    }
}

/// An empty table of `columns`.
pub fn table(name: &str, columns: Columns) -> Table {
    Table::with(name, columns)
}

/// The columns before a run's own, for a file whose points are `points`.
pub fn leading(points: &[Point]) -> Vec<Column> {
    let mut columns = vec![Column::new("engine", Text), Column::new("point", Text)];
    columns.extend(swept(points));
    columns
}

/// The columns before those of one run: [`leading`] with repeat and seed.
pub fn leading_run(points: &[Point]) -> Vec<Column> {
    let mut columns = leading(points);
    columns.extend([Column::new("repeat", Int), Column::new("seed", Int)]);
    columns
}

/// A column for each swept parameter: numbers where every value is one.
pub fn swept(points: &[Point]) -> Vec<Column> {
    let all: Vec<&[Swept]> = points.iter().map(|point| point.swept.as_slice()).collect();
    swept_columns(&all)
}

/// The same of points of any kind, each by its swept parameters.
pub fn swept_columns(points: &[&[Swept]]) -> Vec<Column> {
    let Some(first) = points.first() else {
        return Vec::new();
    };
    let columns = first.iter().enumerate().map(|(n, swept)| {
        let is_number = points.iter().all(|point| point[n].number.is_some());
        Column::new(swept.column.clone(), if is_number { Float } else { Text })
    });
    columns.collect()
}

/// The cells of a point's swept parameters, as its columns want them.
pub fn cells_of(point: &[Swept], columns: &[Column]) -> Vec<Cell> {
    let cells = point
        .iter()
        .zip(columns)
        .map(|(swept, column)| match column.cell_type {
            Float => Cell::from(swept.number),
            _ => Cell::from(swept.text.as_str()),
        });
    cells.collect()
}

/// Puts the rows of the runs together, each after its leading cells; columns without any value go.
pub fn gather<'a>(
    name: &str,
    leading: &[Column],
    columns: Columns,
    runs: impl Iterator<Item = (Vec<Cell>, &'a Table)>,
) -> Table {
    without_empty_columns(&gather_all(name, leading, columns, runs))
}

/// As [`gather`], with all columns.
pub fn gather_all<'a>(
    name: &str,
    leading: &[Column],
    columns: Columns,
    runs: impl Iterator<Item = (Vec<Cell>, &'a Table)>,
) -> Table {
    let own = columns
        .iter()
        .map(|(name, cell_type)| Column::new(*name, *cell_type));
    let mut all = leading.to_vec();
    all.extend(own.filter(|column| leading.iter().all(|other| other.name != column.name)));
    // A swept parameter that has the name of a metric hides it, rather than two columns of one
    // name.
    let shown: Vec<bool> = columns
        .iter()
        .map(|(name, _)| leading.iter().all(|other| other.name != *name))
        .collect();
    let mut table = Table::new(name, all);
    for (cells, rows) in runs {
        for row in rows.rows() {
            let own = row.cells().iter().zip(&shown).filter(|(_, shown)| **shown);
            let cells = cells.iter().chain(own.map(|(cell, _)| cell)).cloned();
            table
                .push(cells.collect())
                .expect("a run's rows have the columns of their table");
        }
    }
    table
}

/// The table without the columns in which no row has a value.
pub fn without_empty_columns(table: &Table) -> Table {
    if table.is_empty() {
        return table.clone();
    }
    let has_value = |at: usize| table.rows().any(|row| row.cells()[at] != Cell::Empty);
    let names = table.columns().iter().enumerate();
    let names: Vec<&str> = names
        .filter(|(at, _)| has_value(*at))
        .map(|(_, column)| column.name.as_str())
        .collect();
    table.select(&names).expect("the names are the table's own")
}

/// A metric's name without its unit, and the unit as it is printed.
pub fn metric_of(column: &Column) -> (String, &'static str) {
    let unit = column.unit();
    (column.title().replace(' ', "_"), unit.unwrap_or("1"))
}
