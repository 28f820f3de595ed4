//! What holds of every number, whatever the scenario: nothing is more than possible, and no
//! statistic lies outside of what it is of.

use trammel::scenario::File;
use trammel::scenario::columns::support;
use trammel::scenario::model::Scenario;
use trammel::scenario::path::Line;
use trammel::scenario::topology::Topology;
use trammel::transport::network_of::{BuiltLink, network_of};
use trammel::transport::points::TransportOutcome;
use trammel::transport::possible::Possible;
use trammel_core::schedule::RateSchedule;
use trammel_core::time::{Span, Time};
use trammel_netsim::trace::Pace;
use trammel_stats::table::{CellType, Column, Row, Table};

/// A bucket of a histogram is so wide at most.
const BUCKET: f64 = 1.002;

pub(crate) fn hold(file: &File, outcome: &TransportOutcome) {
    for table in outcome.tables() {
        parts_of_a_whole(table);
    }
    for row in outcome.flows.rows() {
        rising(
            row,
            &[
                "rtt_min_us",
                "rtt_p5_us",
                "rtt_p50_us",
                "rtt_p95_us",
                "rtt_p99_us",
            ],
        );
    }
    for row in outcome.streams.rows() {
        rising(
            row,
            &[
                "delay_min_us",
                "delay_p50_us",
                "delay_p95_us",
                "delay_p99_us",
            ],
        );
    }
    for row in outcome.workloads.rows() {
        rising(row, &["fct_p50_s", "fct_p95_s", "fct_p99_s"]);
        rising(row, &["slowdown_p50", "slowdown_p95", "slowdown_p99"]);
    }
    for point in &file.points {
        let scenario = &point.scenario;
        if outcome.groups.is_empty() && outcome.workloads.is_empty() && outcome.streams.is_empty() {
            continue;
        }
        for repeat in 0..scenario.repeat {
            let run = Run {
                outcome,
                point: &point.id,
                repeat: i64::from(repeat),
            };
            run.shares_sum_to_one();
            run.percentiles_lie_within_those_of_the_flows();
            run.nothing_beats_the_links(scenario, scenario.seed + u64::from(repeat));
        }
    }
    intervals_lie_where_the_metric_can(file, outcome);
}

fn rising(row: Row<'_>, columns: &[&str]) {
    let values: Vec<f64> = columns
        .iter()
        .filter_map(|column| row.float(column))
        .collect();
    for pair in values.windows(2) {
        assert!(pair[0] <= pair[1] * BUCKET, "{columns:?}: {values:?}");
    }
}

fn parts_of_a_whole(table: &Table) {
    for column in table.columns() {
        let name = column.name.trim_start_matches("late_");
        let is_part =
            matches!(name, "share" | "utilisation" | "loss") || name.ends_with("_limited");
        if !is_part {
            continue;
        }
        for value in table.floats(&column.name).unwrap() {
            assert!(
                (0.0..=1.0).contains(&value),
                "{}.{name}: {value}",
                table.name()
            );
        }
    }
    for row in table.rows().filter(|_| table.name() == "groups") {
        let least = 1.0 / row.float("flows").unwrap();
        for jain in ["jain", "late_jain"]
            .iter()
            .filter_map(|name| row.float(name))
        {
            assert!(
                jain >= least - 1e-9 && jain <= 1.0 + 1e-9,
                "Jain's index {jain} of 1 in {}",
                1.0 / least
            );
        }
    }
}

/// One run of the simulator.
struct Run<'a> {
    outcome: &'a TransportOutcome,
    point: &'a str,
    repeat: i64,
}

impl Run<'_> {
    fn rows<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = Row<'a>> {
        table
            .rows()
            .filter(|row| row.text("point") == self.point && row.int("repeat") == Some(self.repeat))
    }

    fn shares_sum_to_one(&self) {
        for column in ["share", "late_share"] {
            let shares: Vec<f64> = self
                .rows(&self.outcome.flows)
                .filter_map(|row| row.float(column))
                .collect();
            let sum: f64 = shares.iter().sum();
            assert!(
                shares.is_empty() || (sum - 1.0).abs() < 1e-6,
                "{column}: {shares:?}"
            );
        }
    }

    /// A quantile of all lies between the least and the greatest of the flows' own.
    fn percentiles_lie_within_those_of_the_flows(&self) {
        let of_flows = self.rows(&self.outcome.flows);
        let ends = of_flows.filter_map(|row| row.float("rtt_p95_us"));
        let ends = ends.fold(None, |ends: Option<(f64, f64)>, p95| {
            Some(ends.map_or((p95, p95), |(low, high)| (low.min(p95), high.max(p95))))
        });
        for row in self.rows(&self.outcome.groups) {
            let Some((p95, (low, high))) = row.float("latency_loaded_p95_us").zip(ends) else {
                continue;
            };
            let is_within = p95 * BUCKET >= low && p95 <= high * BUCKET;
            assert!(is_within, "p95 of all {p95}, of flows {low} to {high}");
        }
    }

    /// What all flows, workloads and streams got together is no more than the links could carry,
    /// whatever the window.
    fn nothing_beats_the_links(&self, scenario: &Scenario, seed: u64) {
        let built = network_of(scenario, seed, Pace::Off).unwrap();
        for (prefix, from) in [("", Time::ZERO), ("late_", scenario.warmup)] {
            let of = |table: &Table, column: &str| -> f64 {
                let rows = self.rows(table);
                rows.filter_map(|row| row.float(&format!("{prefix}{column}")))
                    .sum()
            };
            let window = (scenario.end() - from).as_secs_f64();
            let most = most_mbps(scenario, &built.links, from) * 1.000_001;
            let (flows, workloads) = (
                of(&self.outcome.groups, "goodput_mbps"),
                of(&self.outcome.workloads, "goodput_mbps"),
            );
            let got = flows + workloads;
            assert!(got <= most, "{prefix}goodput {got} of {most} in {window} s");
        }
        // Each flow over the time in which it had something to send: the fastest that any link ever
        // is.
        let fastest = fastest_mbps(scenario, &built.links);
        for row in self.rows(&self.outcome.flows) {
            let (Some(goodput), Some(active)) = (row.float("goodput_mbps"), row.float("active_s"))
            else {
                continue;
            };
            let most = fastest(active) * 1.000_001;
            assert!(
                goodput <= most,
                "a flow gets {goodput} of {most} in {active} s"
            );
        }
    }
}

/// Whether the network has one bottleneck in data direction, or many links.
fn counts(scenario: &Scenario, link: &BuiltLink) -> bool {
    match &scenario.topology {
        // Behind an access link of its own, a receiver may get what waited there.
        Topology::Path(path) => path.access.is_some() || link.name == "bottleneck",
        Topology::Graph(_) => true,
    }
}

/// Bits that a link can carry in a window, its bucket and a packet at its edge included. What waits
/// before it at the window's start comes in the window as well, but leaves through it.
fn bits(link: &BuiltLink, from: Time, to: Time) -> f64 {
    // A packet for each opportunity, the largest that there is.
    let by_trace = link.deliveries.as_ref();
    let by_trace = by_trace.map(|trace| trace.between(from, to) as f64 * 65_535.0 * 8.0);
    let burst = link.burst_bytes.unwrap_or_default() as f64 * 8.0;
    by_trace.unwrap_or_else(|| link.capacity_bits(from, to)) + burst + 70_000.0 * 8.0
}

/// The most that all can get together from `from` on, Mbit/s: what links let through a way's time
/// earlier comes in the window too.
fn most_mbps(scenario: &Scenario, links: &[BuiltLink], from: Time) -> f64 {
    let counted = links.iter().filter(|link| counts(scenario, link));
    let earlier = from.saturating_sub(longest_way(scenario));
    let bits: f64 = counted
        .map(|link| bits(link, earlier, scenario.end()))
        .sum();
    bits / 1e6 / (scenario.end() - from).as_secs_f64()
}

/// The longest that a packet is on its way behind the last link with a rate; where chance delays
/// it, as long as the run.
fn longest_way(scenario: &Scenario) -> Span {
    let is_drawn = |line: &Line| line.jitter.is_some() || line.reorder.is_some();
    let flows = scenario.flows.iter().filter_map(|flow| flow.rtt);
    match &scenario.topology {
        Topology::Path(path) if is_drawn(&path.line) => scenario.duration,
        Topology::Path(path) => flows.chain([path.rtt]).max().unwrap_or(path.rtt),
        Topology::Graph(graph) if graph.links.iter().any(|link| is_drawn(&link.line)) => {
            scenario.duration
        }
        Topology::Graph(graph) => {
            let delays = graph.links.iter().map(|link| link.delay);
            delays.sum()
        }
    }
}

/// The most that a flow of so many seconds can get, Mbit/s.
fn fastest_mbps<'a>(scenario: &'a Scenario, links: &'a [BuiltLink]) -> impl Fn(f64) -> f64 + 'a {
    let counted = links.iter().filter(|link| counts(scenario, link));
    let rates = counted.map(|link| {
        let steps = link.schedule.iter().flat_map(RateSchedule::steps);
        let rates = steps.map(|(_, rate)| rate.as_bps() as f64);
        let fastest = rates.fold(link.rate.as_bps() as f64, f64::max);
        let extra = link.burst_bytes.unwrap_or_default() as f64 * 8.0 + 70_000.0 * 8.0;
        // A trace may deliver all at once.
        let is_bounded = link.deliveries.is_none();
        (if is_bounded { fastest } else { f64::INFINITY }, extra)
    });
    let rates: Vec<(f64, f64)> = rates.collect();
    move |seconds| {
        let most = rates
            .iter()
            .map(|(rate, extra)| rate + extra / seconds.max(1e-9));
        most.fold(0.0, f64::max) / 1e6
    }
}

fn intervals_lie_where_the_metric_can(file: &File, outcome: &TransportOutcome) {
    for row in outcome.summary.rows() {
        let (Some(low), Some(high)) = (row.float("ci_low"), row.float("ci_high")) else {
            assert_eq!(row.text("ci_method"), "");
            continue;
        };
        let (mean, metric) = (row.float("mean").unwrap(), row.text("metric"));
        let point = file
            .points
            .iter()
            .find(|point| point.id == row.text("point"));
        let scenario = &point.unwrap().scenario;
        let flows = scenario.flows.len();
        let column = Column::new(metric, CellType::Float);
        let possible = Possible::of(scenario).ends(row.text("entity"), &column);
        let (least, most) = support(metric, flows).ends();
        // Tables have nine digits.
        let room = 1e-8 * mean.abs();
        assert!(
            low <= mean + room && mean <= high + room,
            "{metric}: {mean} in {low} to {high}"
        );
        assert!(
            least <= low + room && high <= most + room,
            "{metric}: {low} to {high}"
        );
        // Where a mean itself passes what is possible, as a measured one may, the interval ends at
        // it.
        let (least, most) = (possible.0.min(mean), possible.1.max(mean));
        assert!(
            least <= low + room && high <= most + room,
            "{metric}: {low} to {high} of {possible:?}"
        );
        assert!(!row.text("ci_method").is_empty(), "the method is named");
    }
}
