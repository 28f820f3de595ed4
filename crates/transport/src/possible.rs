//! What a scenario makes possible: no time is longer than the run, nothing gets more than the links
//! carry, nothing comes sooner than light takes.
//!
//! Intervals of means end there (`trammel_stats::interval`). What a sender puts on its own wire has
//! no such end: what the queue drops counts.

use super::run_tables::ALL_FLOWS;
use std::collections::BTreeMap;
use trammel_core::time::Span;
use trammel_scenario::columns::metric_of;
use trammel_scenario::flow::Flow;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Direction, Limit, Line};
use trammel_scenario::topology::{Graph, Topology};
use trammel_stats::table::Column;

/// Round trips are sampled in whole microseconds.
const SAMPLE_US: f64 = 1.0;

/// The ends of what is possible in a scenario.
#[derive(Debug)]
pub struct Possible<'a> {
    scenario: &'a Scenario,
    /// Unloaded round trips of the flows, us.
    rtts: BTreeMap<&'a str, f64>,
}

impl<'a> Possible<'a> {
    /// Those of `scenario`.
    pub fn of(scenario: &'a Scenario) -> Possible<'a> {
        let rtts = scenario.flows.iter().filter_map(|flow| {
            // Where delays change, none of them is the least.
            let changes = |line: &Line| line.schedule.iter().any(|one| one.delay.is_some());
            let rtt = if scenario.topology.lines().any(changes) {
                Span::ZERO
            } else {
                rtt_of(&scenario.topology, flow)?
            };
            Some((flow.name.as_str(), rtt.as_secs_f64() * 1e6))
        });
        let rtts = rtts.collect();
        Possible { scenario, rtts }
    }

    /// The least and the most that a column of `entity` can be.
    pub fn ends(&self, entity: &str, column: &Column) -> (f64, f64) {
        let (metric, _) = metric_of(column);
        let metric = metric.strip_prefix("late_").unwrap_or(&metric);
        let is_flow = self.rtts.contains_key(entity);
        let up_to = |most: Option<f64>| (0.0, most.unwrap_or(f64::INFINITY));
        match metric {
            "start" | "active" | "completion" | "convergence" | "recovery" => self.lasts(),
            fct if fct.starts_with("fct_") => self.lasts(),
            "startup" => self.lasts(),
            time if time.starts_with("time_") => self.lasts(),
            "goodput" if entity == ALL_FLOWS => up_to(self.all_mbps()),
            "goodput" => up_to(self.fastest_mbps()),
            "throughput" if !is_flow => up_to(self.link_mbps(entity)),
            "queue_mean" | "queue_p95" | "queue_peak" => up_to(self.queue_packets(entity)),
            rtt if rtt.starts_with("rtt_") => at_least(self.rtts.get(entity).copied()),
            latency if latency.starts_with("latency_") && latency != "latency_increase" => {
                at_least(self.rtts.values().copied().reduce(f64::min))
            }
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    fn lasts(&self) -> (f64, f64) {
        (0.0, self.scenario.duration.as_secs_f64())
    }

    /// What all flows can get together over the run; nothing where no rate says so.
    fn all_mbps(&self) -> Option<f64> {
        let topology = &self.scenario.topology;
        // Flows on different links of a network add up.
        let lines = topology.lines().map(|line| self.line_mbps(topology, line));
        lines.sum()
    }

    /// What one of them can get while it is active: a token bucket may be emptied within any
    /// window.
    fn fastest_mbps(&self) -> Option<f64> {
        let topology = &self.scenario.topology;
        let lines = topology.lines().map(|line| {
            let rate = self.line_mbps(topology, line)?;
            line.burst.is_none().then_some(rate)
        });
        lines.reduce(|a, b| Some(a?.max(b?))).flatten()
    }

    fn link_mbps(&self, name: &str) -> Option<f64> {
        let (topology, forward) = (&self.scenario.topology, name.strip_suffix(":back"));
        let line = match topology {
            Topology::Path(path) => (forward.unwrap_or(name) == "bottleneck").then_some(&path.line),
            Topology::Graph(graph) => {
                let name = forward.unwrap_or(name);
                let link = graph.links.iter().find(|link| link.name == name);
                link.map(|link| &link.line)
            }
        }?;
        if forward.is_some() {
            let is_steady = !line.changes_rate(Direction::Ack) && line.ack_trace.is_none();
            let is_wire = line.burst.is_none() && line.trace.is_none();
            let back = is_wire && is_steady && !is_cell(topology);
            return back.then(|| line.ack_rate.as_bps() as f64 / 1e6);
        }
        self.line_mbps(topology, line)
    }

    /// The fastest that a line ever is, with what its token bucket adds over the run's shorter
    /// window.
    fn line_mbps(&self, topology: &Topology, line: &Line) -> Option<f64> {
        if line.trace.is_some() || is_cell(topology) {
            return None;
        }
        let fastest = line.fastest().as_bps() as f64;
        let window = self.scenario.end().saturating_since(self.scenario.warmup);
        let bucket = line.burst.unwrap_or_default() as f64 * 8.0 / window.as_secs_f64();
        Some((fastest + bucket) / 1e6)
    }

    /// The limit of a path's queue, where packets are what it counts.
    fn queue_packets(&self, link: &str) -> Option<f64> {
        let Topology::Path(path) = &self.scenario.topology else {
            return None;
        };
        let counts_packets = !matches!(path.line.queue.limit, Limit::Bytes(_));
        let is_it = link == "bottleneck" && counts_packets && path.wifi.is_none();
        is_it.then(|| f64::from(path.line.queue_packets(path.rtt)))
    }
}

/// No less than an unloaded round trip, in us.
fn at_least(rtt: Option<f64>) -> (f64, f64) {
    let least = rtt.map_or(0.0, |rtt| (rtt.floor() - SAMPLE_US).max(0.0));
    (least, f64::INFINITY)
}

/// Whether the bottleneck is a wireless cell, whose rate changes with each frame.
fn is_cell(topology: &Topology) -> bool {
    matches!(topology, Topology::Path(path) if path.wifi.is_some())
}

/// The unloaded round trip of a flow.
fn rtt_of(topology: &Topology, flow: &Flow) -> Option<Span> {
    match topology {
        Topology::Path(path) => Some(flow.rtt.unwrap_or(path.rtt)),
        Topology::Graph(graph) => {
            let (from, to) = (flow.from.as_deref()?, flow.to.as_deref()?);
            let there = delay_of(graph, from, to)?;
            Some(there.saturating_add(delay_of(graph, to, from)?))
        }
    }
}

fn delay_of(graph: &Graph, from: &str, to: &str) -> Option<Span> {
    let steps = graph.route(from, to)?;
    let delays = steps.iter().map(|step| graph.links[step.link].delay);
    Some(delays.sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_scenario::File;
    use trammel_stats::table::CellType::Float;

    fn ends(text: &str, entity: &str, column: &str) -> (f64, f64) {
        let file = File::parse("a.toml", text, std::path::Path::new(".")).unwrap();
        let possible = Possible::of(&file.points[0].scenario);
        possible.ends(entity, &Column::new(column, Float))
    }

    #[test]
    fn ends_come_from_the_run_the_links_and_the_ways() {
        let text = "duration = '10 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n\
                    ack_rate = '1 Mbit/s'\n\
            queue = { limit = '20 packets' }\n[[flow]]\nname = 'a'\nvariant = 'reno'\n\
            [[flow]]\nname = 'b'\nvariant = 'reno'\nrtt = '60 ms'\n";
        let of = |entity: &str, column: &str| ends(text, entity, column);
        assert_eq!(of("a", "active_s"), (0.0, 10.0));
        assert_eq!(of(ALL_FLOWS, "late_goodput_mbps"), (0.0, 10.0));
        assert_eq!(of("a", "goodput_mbps"), (0.0, 10.0));
        assert_eq!(of("a", "throughput_mbps").1, f64::INFINITY);
        assert_eq!(of("bottleneck", "throughput_mbps"), (0.0, 10.0));
        assert_eq!(of("bottleneck:back", "throughput_mbps"), (0.0, 1.0));
        assert_eq!(of("bottleneck", "queue_mean_pkts"), (0.0, 20.0));
        assert_eq!(of("b", "rtt_min_us").0, 59_999.0);
        assert_eq!(of(ALL_FLOWS, "latency_loaded_mean_us").0, 39_999.0);
    }

    #[test]
    fn in_a_network_flows_add_up_and_a_bucket_adds_its_depth() {
        let text = "duration = '8 s'\nwarmup = '4 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n\
                    burst = '500000 B'\n\
            [topology]\npreset = 'parking-lot'\nhops = 2\n[[flow]]\nname = 'a'\nvariant = 'reno'\n\
            from = 'long-source'\nto = 'long-sink'\n";
        let (_, all) = ends(text, ALL_FLOWS, "goodput_mbps");
        assert!(all >= 22.0, "two buckets of 11 Mbit/s over 4 s: {all}");
        assert_eq!(ends(text, "a", "goodput_mbps").1, f64::INFINITY);
        assert!((ends(text, "a", "rtt_min_us").0 - 40_000.0).abs() < 10.0);
    }
}
