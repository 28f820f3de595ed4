//! Whether a placement is sound, told from the model alone: it shares nothing with the search but
//! the table of `headroom`.
//!
//! It adds up what each node must give, finds the shares of the last-level cache by bisection of
//! its own, and says everything that is wrong. Tests corrupt sound placements in every way and see
//! each refused.

use super::headroom;
use super::model::{Cache, Placed, Placement, Problem, WIRE_OVERHEAD_BYTES};

/// What a sum may differ by from another order of adding.
const TOLERANCE: f64 = 1e-6;

/// Everything that is wrong with `placement`, empty where it is sound.
pub fn check(problem: &Problem, placement: &Placement) -> Vec<String> {
    let servers = problem.servers();
    let mut wrong = Vec::new();
    for placed in &placement.placed {
        let Some(server) = servers.get(placed.server) else {
            wrong.push(format!("there is no server {}", placed.server));
            continue;
        };
        let nodes = problem.kinds[server.kind].nodes.len();
        if placed.chain >= problem.chains.len() {
            wrong.push(format!("there is no chain {}", placed.chain));
        } else if placed.node >= nodes || placed.port_node >= nodes {
            let server = &server.name;
            wrong.push(format!(
                "`{server}` has no node {} or {}",
                placed.node, placed.port_node
            ));
        }
    }
    if !wrong.is_empty() {
        return wrong;
    }
    for chain in 0..problem.chains.len() {
        demand(problem, placement, chain, &mut wrong);
    }
    for (index, server) in servers.iter().enumerate() {
        let here: Vec<&Placed> = placement
            .placed
            .iter()
            .filter(|p| p.server == index)
            .collect();
        apart(problem, &server.name, &here, &mut wrong);
        for node in 0..problem.kinds[server.kind].nodes.len() {
            resources(problem, server.kind, &server.name, node, &here, &mut wrong);
        }
    }
    wrong
}

fn exceeds(used: f64, has: f64) -> bool {
    used.is_nan() || used > has * (1.0 + TOLERANCE)
}

/// The replicas carry the demand in equal parts, and are as many as allowed.
fn demand(problem: &Problem, placement: &Placement, index: usize, wrong: &mut Vec<String>) {
    let chain = &problem.chains[index];
    let name = &chain.name;
    let replicas: Vec<&Placed> = placement
        .placed
        .iter()
        .filter(|p| p.chain == index)
        .collect();
    let carried: f64 = replicas.iter().map(|placed| placed.pps).sum();
    let off = (carried - chain.demand_pps).abs();
    if off.is_nan() || off > TOLERANCE * chain.demand_pps {
        wrong.push(format!(
            "`{name}` asks for {} packets/s and gets {carried}",
            chain.demand_pps
        ));
    }
    if replicas.len() > chain.max_replicas as usize {
        let (has, most) = (replicas.len(), chain.max_replicas);
        wrong.push(format!("`{name}` has {has} replicas, {most} are allowed"));
    }
    let equal = chain.demand_pps / replicas.len() as f64;
    for placed in &replicas {
        let off = (placed.pps - equal).abs();
        if off.is_nan() || off > TOLERANCE * equal {
            wrong.push(format!(
                "replica {} of `{name}` is not of equal size",
                placed.replica
            ));
        }
        if chain.same_node_as_port && placed.node != placed.port_node {
            wrong.push(format!(
                "replica {} of `{name}` is not where its ports are",
                placed.replica
            ));
        }
    }
    let mut numbers: Vec<u32> = replicas.iter().map(|placed| placed.replica).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() != replicas.len() {
        wrong.push(format!("two replicas of `{name}` have the same number"));
    }
}

fn apart(problem: &Problem, server: &str, here: &[&Placed], wrong: &mut Vec<String>) {
    for (n, a) in here.iter().enumerate() {
        for b in &here[n + 1..] {
            let (a, b) = (&problem.chains[a.chain], &problem.chains[b.chain]);
            let has = |of: &super::model::Chain, other: &super::model::Chain| {
                of.apart
                    .iter()
                    .any(|at| problem.chains[*at].name == other.name)
            };
            if has(a, b) || has(b, a) {
                wrong.push(format!("`{}` and `{}` meet on `{server}`", a.name, b.name));
            }
        }
    }
}

/// What one node gives is no more than it has.
fn resources(
    problem: &Problem,
    kind_index: usize,
    server: &str,
    node_index: usize,
    here: &[&Placed],
    wrong: &mut Vec<String>,
) {
    let kind = &problem.kinds[kind_index];
    let node = &kind.nodes[node_index];
    let inside: Vec<&&Placed> = here.iter().filter(|p| p.node == node_index).collect();
    let kept_for = characteristic_time(problem, kind_index, node.llc_bytes, &inside);
    let (mut dram, mut hot, mut memory) = (0.0, 0.0, 0.0);
    let mut taken = std::collections::BTreeSet::new();
    for placed in &inside {
        let chain = &problem.chains[placed.chain];
        let work = &chain.work[kind_index];
        let (mut misses, mut accesses) = (0.0, 0.0);
        for table in &work.tables {
            let rate = table.accesses * placed.pps;
            let missed = match kept_for {
                Some(time) if rate > 0.0 && table.hot_bytes > 0.0 => {
                    (-rate * time / (table.hot_bytes / 64.0)).exp()
                }
                _ => 0.0,
            };
            misses += table.accesses * missed;
            accesses += table.accesses;
            hot += table.hot_bytes;
        }
        let mut remote = 0.0;
        if placed.node != placed.port_node {
            remote = f64::from(chain.frame_bytes.div_ceil(64));
        }
        let counted = if problem.cache == Cache::Ignored {
            accesses
        } else {
            misses
        };
        dram += placed.pps * (counted + remote);
        memory += work.memory_bytes;
        let cycles = work.cycles.high + (misses + remote) * kind.dram_latency_s * kind.clock_hz;
        let full = chain
            .utilisation
            .or(headroom::utilisation(chain.arrivals, chain.ring))
            .unwrap_or(0.0);
        let name = &chain.name;
        let busy = placed.pps * cycles / kind.clock_hz;
        if exceeds(busy, full * placed.cores.len() as f64) {
            let cores = placed.cores.len();
            wrong.push(format!(
                "replica {} of `{name}` has too few cores: {cores}",
                placed.replica
            ));
        }
        for core in &placed.cores {
            if *core >= node.cores || !taken.insert(*core) {
                wrong.push(format!(
                    "core {core} of node {node_index} of `{server}` is not free for `{name}`"
                ));
            }
        }
    }
    let (mut link, mut bus) = (0.0, 0.0);
    for placed in here.iter().filter(|p| p.port_node == node_index) {
        let frame = f64::from(problem.chains[placed.chain].frame_bytes);
        link += placed.pps * 8.0 * (frame + WIRE_OVERHEAD_BYTES);
        bus += placed.pps * 8.0 * (frame + kind.pcie_overhead_bytes);
    }
    let mut sums = vec![
        ("memory accesses", dram, node.dram_per_s),
        ("memory", memory, node.memory_bytes),
        ("link", link, node.link_bps),
        ("PCIe", bus, node.pcie_bps),
    ];
    if problem.cache == Cache::Reserved {
        sums.push(("last-level cache", hot, node.llc_bytes));
    }
    for (what, used, has) in sums {
        if exceeds(used, has) {
            wrong.push(format!(
                "node {node_index} of `{server}` gives {used:.6e} of {what}, it has {has:.6e}"
            ));
        }
    }
}

/// How long a line stays in the shared cache, or nothing where all hot bytes fit: by bisection.
fn characteristic_time(
    problem: &Problem,
    kind: usize,
    llc_bytes: f64,
    inside: &[&&Placed],
) -> Option<f64> {
    if problem.cache != Cache::Shared {
        return None;
    }
    let mut users = Vec::new();
    for placed in inside {
        for table in &problem.chains[placed.chain].work[kind].tables {
            let rate = table.accesses * placed.pps;
            if rate > 0.0 && table.hot_bytes > 0.0 {
                users.push((table.hot_bytes, rate));
            }
        }
    }
    let held = |time: f64| -> f64 {
        let bytes = users
            .iter()
            .map(|(hot, rate)| hot * -(-rate * time * 64.0 / hot).exp_m1());
        bytes.sum()
    };
    let all: f64 = users.iter().map(|(hot, _)| hot).sum();
    if all <= llc_bytes {
        return None;
    }
    let (mut low, mut high) = (0.0, 1e-12);
    // Beyond 10^30 s a line stays for ever: what is not held then is a matter of rounding.
    while held(high) < llc_bytes && high < 1e30 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if held(middle) < llc_bytes {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}
