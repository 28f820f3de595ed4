//! What makes a problem of placement impossible before any search, each with its place in the file.

use super::headroom;
use super::model::{Chain, Interval, Kind, Problem};

/// One fault, at a dotted place such as `chain.1.demand`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it is.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to do.
    pub help: String,
}

impl Fault {
    /// The fault with these words.
    pub fn new(
        place: impl Into<String>,
        what: impl Into<String>,
        why: impl Into<String>,
        help: impl Into<String>,
    ) -> Fault {
        Fault {
            place: place.into(),
            what: what.into(),
            why: why.into(),
            help: help.into(),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {}: {}; {}",
            self.place, self.what, self.why, self.help
        )
    }
}

/// Servers that a problem may have: enough for a large site, few enough for the search.
pub const MOST_SERVERS: u64 = 10_000;

/// Replicas that a chain may have.
pub const MOST_REPLICAS: u32 = 1_000;

/// Every fault of `problem` that can be told without a search.
pub fn faults(problem: &Problem) -> Vec<Fault> {
    let mut all = Vec::new();
    if problem.kinds.is_empty() {
        all.push(Fault::new(
            "",
            "there is no server",
            "chains need a place",
            "add a `[[server]]`",
        ));
    }
    if problem.chains.is_empty() {
        all.push(Fault::new(
            "",
            "there is no chain",
            "nothing to place",
            "add a `[[chain]]`",
        ));
    }
    let servers: u64 = problem.kinds.iter().map(|kind| u64::from(kind.count)).sum();
    if servers > MOST_SERVERS {
        all.push(Fault::new(
            "server",
            format!("{servers} servers are too many"),
            format!("the limit is {MOST_SERVERS}"),
            "divide them among several files",
        ));
    }
    for (n, kind) in problem.kinds.iter().enumerate() {
        of_kind(&format!("server.{n}"), kind, &mut all);
    }
    for (n, chain) in problem.chains.iter().enumerate() {
        of_chain(&format!("chain.{n}"), chain, problem, &mut all);
    }
    let kinds = problem.kinds.iter().map(|kind| kind.name.as_str());
    twice("server", kinds, &mut all);
    let chains = problem.chains.iter().map(|chain| chain.name.as_str());
    twice("chain", chains, &mut all);
    if all.is_empty() {
        server_names(problem, &mut all);
    }
    all
}

/// Notes a number that is not above zero.
fn positive(place: &str, key: &str, value: f64, all: &mut Vec<Fault>) {
    if value.is_nan() || value <= 0.0 || value.is_infinite() {
        all.push(Fault::new(
            format!("{place}.{key}"),
            format!("`{key}` cannot be {value}"),
            "must be more than zero",
            "give a positive number",
        ));
    }
}

fn not_negative(place: &str, key: &str, value: f64, all: &mut Vec<Fault>) {
    if value.is_nan() || value < 0.0 || value.is_infinite() {
        all.push(Fault::new(
            format!("{place}.{key}"),
            format!("`{key}` cannot be {value}"),
            "must not be negative",
            "give zero or a positive number",
        ));
    }
}

fn of_kind(place: &str, kind: &Kind, all: &mut Vec<Fault>) {
    if kind.count == 0 {
        all.push(Fault::new(
            format!("{place}.count"),
            format!("server `{}` has a count of 0", kind.name),
            "there would be none",
            "give at least 1, or leave the server out",
        ));
    }
    positive(place, "clock", kind.clock_hz, all);
    not_negative(place, "dram_latency", kind.dram_latency_s, all);
    not_negative(place, "pcie_overhead", kind.pcie_overhead_bytes, all);
    if kind.parallel_misses.is_nan() || kind.parallel_misses < 1.0 {
        all.push(Fault::new(
            format!("{place}.parallel_misses"),
            format!("`parallel_misses` cannot be {}", kind.parallel_misses),
            "a core has at least one miss in flight",
            "give 1 or more",
        ));
    }
    if kind.nodes.iter().all(|node| node.cores == 0) {
        all.push(Fault::new(
            format!("{place}.cores"),
            format!("server `{}` has no cores", kind.name),
            "it could take no chain",
            "give at least 1",
        ));
    }
    if !kind.nodes.iter().any(super::model::Node::has_port) {
        all.push(Fault::new(
            place,
            format!("server `{}` has no port", kind.name),
            "no packet could reach it",
            "add a `[[server.port]]` with a `rate`",
        ));
    }
    for node in &kind.nodes {
        not_negative(place, "llc", node.llc_bytes, all);
        not_negative(place, "dram_accesses_per_s", node.dram_per_s, all);
        not_negative(place, "memory", node.memory_bytes, all);
        not_negative(place, "port", node.link_bps, all);
        not_negative(place, "port", node.pcie_bps, all);
    }
}

fn of_chain(place: &str, chain: &Chain, problem: &Problem, all: &mut Vec<Fault>) {
    positive(place, "demand", chain.demand_pps, all);
    if !(64..=65_535).contains(&chain.frame_bytes) {
        all.push(Fault::new(
            format!("{place}.frame"),
            format!("`frame` cannot be {} bytes", chain.frame_bytes),
            "an Ethernet frame has 64 bytes or more, 65535 at most",
            "give its size with the check sequence",
        ));
    }
    if chain.max_replicas == 0 || chain.max_replicas > MOST_REPLICAS {
        all.push(Fault::new(
            format!("{place}.max_replicas"),
            format!("`max_replicas` cannot be {}", chain.max_replicas),
            format!("must be from 1 to {MOST_REPLICAS}"),
            "",
        ));
    }
    match chain.utilisation {
        Some(part) if !(part > 0.0 && part <= 1.0) => all.push(Fault::new(
            format!("{place}.utilisation"),
            format!("`utilisation` cannot be {part}"),
            "must be above 0 and at most 1",
            "leave it out, and burst and ring decide",
        )),
        None if chain.planned_utilisation().is_none() => all.push(Fault::new(
            format!("{place}.ring"),
            format!(
                "a ring of {} loses bursts of {} at any load",
                chain.ring,
                chain.burst()
            ),
            format!("a loss of {} needs a larger one", headroom::LOSS_TARGET),
            format!(
                "give at least {} descriptors",
                headroom::least_ring(chain.burst())
            ),
        )),
        _ => {}
    }
    if chain.work.len() != problem.kinds.len() {
        all.push(Fault::new(
            place,
            format!("chain `{}` lacks its cost on some servers", chain.name),
            format!("{} of {} kinds", chain.work.len(), problem.kinds.len()),
            "give one for each kind",
        ));
    }
    for work in &chain.work {
        of_interval(place, &chain.name, work.cycles, all);
        not_negative(place, "memory", work.memory_bytes, all);
        for table in &work.tables {
            not_negative(place, "accesses", table.accesses, all);
            not_negative(place, "hot", table.hot_bytes, all);
        }
    }
    if let Some(other) = chain
        .apart
        .iter()
        .find(|other| **other >= problem.chains.len())
    {
        all.push(Fault::new(
            format!("{place}.apart"),
            format!("there is no chain with index {other}"),
            format!("there are {}", problem.chains.len()),
            "",
        ));
    }
}

fn of_interval(place: &str, name: &str, cycles: Interval, all: &mut Vec<Fault>) {
    let Interval { low, centre, high } = cycles;
    if !(low >= 0.0 && low <= centre && centre <= high && high.is_finite() && high > 0.0) {
        all.push(Fault::new(
            format!("{place}.functions"),
            format!("the cycles of chain `{name}` cannot be {low} to {high} around {centre}"),
            "must be low, centre, high in this order, more than zero",
            "",
        ));
    }
}

fn twice<'a>(noun: &str, names: impl Iterator<Item = &'a str>, all: &mut Vec<Fault>) {
    let mut seen = std::collections::BTreeSet::new();
    for (n, name) in names.enumerate() {
        if !seen.insert(name) {
            all.push(Fault::new(
                format!("{noun}.{n}.name"),
                format!("two {noun}s are called `{name}`"),
                "the second",
                "give each a name of its own",
            ));
        }
    }
}

/// `edge` with a count of 2 makes `edge-0`, which another server may be called.
fn server_names(problem: &Problem, all: &mut Vec<Fault>) {
    let mut seen = std::collections::BTreeSet::new();
    for server in problem.servers() {
        if !seen.insert(server.name.clone()) {
            all.push(Fault::new(
                format!("server.{}.name", server.kind),
                format!("two servers are called `{}`", server.name),
                "several of a kind are numbered",
                "give one another name",
            ));
        }
    }
}
