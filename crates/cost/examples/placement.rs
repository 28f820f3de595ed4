//! How fast and how tight placement is: chains of the paper's five functions on servers that are
//! alike.
//!
//! The instances are drawn anew after this description: each chain one to three of the five
//! functions of Baldi and Sapio (2018) at their printed totals, 2 to 20 million packets a second of
//! 64 bytes; each server ten cores of 3.3 GHz loaded to 80 %, 300 million accesses to memory a
//! second, 40 Gbit/s. Every access counts as one to memory.
//!
//! The second family is harder: two nodes a server with the ports on the first, tables of 1 to 20
//! MB that share the last-level cache, costs known to 15 %, and chains kept apart from one in
//! twenty others.
//!
//! ```text
//! cargo run --release -p trammel-cost --example placement [SEEDS]
//! ```
#![allow(clippy::print_stdout)]

use std::time::Instant;
use trammel_core::rng::Rng;
use trammel_cost::place::model::{
    Arrivals, Cache, Chain, Interval, Kind, Node, Problem, Table, Work,
};
use trammel_cost::place::solve::place;

/// Cycles and accesses of the five functions, as the paper's totals give them.
const FUNCTIONS: [(f64, f64); 5] = [
    (213.0, 1.0),
    (352.0, 2.0),
    (224.0, 1.0),
    (717.0, 6.0),
    (274.0, 1.0),
];

/// (Chains, servers offered).
const SIZES: [(usize, u32); 6] = [(8, 6), (12, 9), (16, 10), (24, 14), (40, 22), (80, 44)];

fn instance(seed: u64, chains: usize, servers: u32) -> Problem {
    let rng = &mut Rng::new(seed, &format!("placement:{chains}"));
    let chain = |n: usize| {
        let work = (0..=rng.below(3)).fold(Work::default(), |sum, _| {
            let (cycles, accesses) = FUNCTIONS[rng.below(5) as usize];
            sum.plus(&Work {
                cycles: Interval::exact(cycles),
                tables: vec![Table {
                    accesses,
                    hot_bytes: 0.0,
                }],
                memory_bytes: 64e6,
            })
        });
        Chain {
            name: format!("chain-{n}"),
            demand_pps: (2.0 + 18.0 * rng.unit()) * 1e6,
            frame_bytes: 64,
            arrivals: Arrivals::Bursts(32),
            ring: 512,
            utilisation: Some(0.8),
            max_replicas: 16,
            same_node_as_port: true,
            apart: Vec::new(),
            work: vec![work],
        }
    };
    Problem {
        chains: (0..chains).map(chain).collect(),
        kinds: vec![Kind {
            name: "server".into(),
            count: servers,
            clock_hz: 3.3e9,
            dram_latency_s: 90e-9,
            parallel_misses: 10.0,
            pcie_overhead_bytes: 28.0,
            nodes: vec![Node {
                cores: 10,
                llc_bytes: 25e6,
                dram_per_s: 300e6,
                memory_bytes: 64e9,
                link_bps: 40e9,
                pcie_bps: 63e9,
            }],
        }],
        cache: Cache::Ignored,
    }
}

/// The same chains with tables on servers of two nodes.
fn harder(seed: u64, chains: usize, servers: u32) -> Problem {
    let rng = &mut Rng::new(seed, &format!("harder:{chains}"));
    let mut problem = instance(seed, chains, servers);
    problem.cache = Cache::Shared;
    for (n, chain) in problem.chains.iter_mut().enumerate() {
        chain.same_node_as_port = rng.chance(0.3);
        chain.apart = (0..chains)
            .filter(|other| *other != n && rng.chance(0.05))
            .collect();
        let cycles = &mut chain.work[0].cycles;
        cycles.low = 0.85 * cycles.centre;
        cycles.high = 1.15 * cycles.centre;
        for table in &mut chain.work[0].tables {
            table.hot_bytes = (1.0 + 19.0 * rng.unit()) * 1e6;
        }
    }
    let kind = &mut problem.kinds[0];
    kind.nodes[0].link_bps = 80e9;
    kind.nodes[0].pcie_bps = 126e9;
    kind.nodes.push(Node {
        link_bps: 0.0,
        pcie_bps: 0.0,
        ..kind.nodes[0].clone()
    });
    problem
}

fn main() {
    let seeds: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(5);
    family("after the description", instance, seeds);
    family("harder", harder, seeds);
}

fn family(name: &str, make: fn(u64, usize, u32) -> Problem, seeds: u64) {
    println!("{name}\n");
    println!("seed chains replicas offered first-fit used bound gap ms  bound by");
    let (mut optimal, mut all) = (0, 0);
    for (chains, servers) in SIZES {
        for seed in 1..=seeds {
            let problem = make(seed, chains, servers);
            let start = Instant::now();
            let outcome = place(&problem);
            let ms = start.elapsed().as_secs_f64() * 1e3;
            match outcome {
                Ok(outcome) => {
                    all += 1;
                    optimal += u64::from(outcome.gap() == 0);
                    println!(
                        "{seed:4} {chains:6} {:8} {servers:7} {:9} {:4} {:5} {:3} {ms:6.1}  {}",
                        outcome.placement.placed.len(),
                        outcome.first_fit,
                        outcome.used(),
                        outcome.bound.servers,
                        outcome.gap(),
                        outcome.bound.by
                    );
                }
                Err(refusal) => println!("{seed:4} {chains:6} {servers:16} {ms:6.1}  {refusal}"),
            }
        }
    }
    println!("{optimal} of {all} proved optimal\n");
}
