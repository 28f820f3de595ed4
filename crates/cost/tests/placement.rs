//! Placements of random problems: the checker accepts them, none beats the bound, and no corruption
//! passes.

use proptest::prelude::*;
use trammel_core::rng::Rng;
use trammel_cost::place::check::check;
use trammel_cost::place::model::{
    Arrivals, Cache, Chain, Interval, Kind, Node, Placement, Problem, Table, Work,
};
use trammel_cost::place::outcome::{PlacementOutcome, Refusal};
use trammel_cost::place::solve::place;

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + rng.unit() * (high - low)
}

/// One to three kinds of one or two nodes, and up to 24 chains of every sort.
fn random(seed: u64) -> Problem {
    let rng = &mut Rng::new(seed, "problem");
    let kinds: Vec<Kind> = (0..=rng.below(3)).map(|n| random_kind(rng, n)).collect();
    let count = 1 + rng.below(24) as usize;
    let chains = (0..count).map(|n| random_chain(rng, n, count, &kinds));
    Problem {
        chains: chains.collect(),
        kinds,
        cache: pick(
            rng,
            &[
                Cache::Shared,
                Cache::Shared,
                Cache::Reserved,
                Cache::Ignored,
            ],
        ),
    }
}

fn random_kind(rng: &mut Rng, n: u64) -> Kind {
    let mut nodes: Vec<Node> = (0..=rng.below(2))
        .map(|_| Node {
            cores: 4 + rng.below(16) as u32,
            llc_bytes: between(rng, 1e6, 40e6),
            dram_per_s: between(rng, 5e7, 4e8),
            memory_bytes: between(rng, 4e9, 64e9),
            link_bps: pick(rng, &[0.0, 40e9, 100e9]),
            pcie_bps: pick(rng, &[60e9, 120e9]),
        })
        .collect();
    nodes[0].link_bps = 40e9;
    Kind {
        name: format!("kind{n}"),
        count: 1 + rng.below(40) as u32,
        clock_hz: between(rng, 2e9, 4e9),
        dram_latency_s: between(rng, 50e-9, 150e-9),
        parallel_misses: between(rng, 1.0, 20.0),
        pcie_overhead_bytes: 28.0,
        nodes,
    }
}

fn random_chain(rng: &mut Rng, n: usize, count: usize, kinds: &[Kind]) -> Chain {
    let centre = between(rng, 50.0, 900.0);
    let wide = between(rng, 0.0, 0.4);
    let tables: Vec<Table> = (0..rng.below(3))
        .map(|_| Table {
            accesses: between(rng, 0.0, 3.0),
            hot_bytes: between(rng, 0.0, 30e6),
        })
        .collect();
    let work = Work {
        cycles: Interval {
            low: centre * (1.0 - wide),
            centre,
            high: centre * (1.0 + wide),
        },
        tables,
        memory_bytes: between(rng, 0.0, 2e9),
    };
    Chain {
        name: format!("chain{n}"),
        demand_pps: between(rng, 0.1e6, 12e6),
        frame_bytes: pick(rng, &[64, 128, 594, 1518]),
        arrivals: pick(
            rng,
            &[Arrivals::Smooth, Arrivals::Bursts(1), Arrivals::Bursts(32)],
        ),
        ring: pick(rng, &[512, 2048]),
        utilisation: rng.chance(0.2).then_some(0.7),
        max_replicas: pick(rng, &[1, 8, 64, 64]),
        same_node_as_port: rng.chance(0.3),
        apart: (0..count).filter(|_| rng.chance(0.05)).collect(),
        work: vec![work; kinds.len()],
    }
}

/// The first `wanted` problems that have a placement, with it.
fn placed(wanted: usize) -> Vec<(Problem, PlacementOutcome)> {
    let solved = (0..).filter_map(|seed| {
        let problem = random(seed);
        let outcome = place(&problem).ok()?;
        Some((problem, outcome))
    });
    solved.take(wanted).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_placed_is_sound_and_never_beats_the_bound(seed in any::<u64>()) {
        let problem = random(seed);
        match place(&problem) {
            Ok(outcome) => {
                let wrong = check(&problem, &outcome.placement);
                prop_assert!(wrong.is_empty(), "{wrong:?}");
                prop_assert!(outcome.used() >= outcome.bound.servers);
                prop_assert!(outcome.used() <= outcome.first_fit);
                let again = place(&problem).expect("it was placed before");
                prop_assert_eq!(again.placement, outcome.placement);
            }
            Err(Refusal::Unsound(wrong)) => prop_assert!(false, "{wrong:?}"),
            Err(_) => {}
        }
    }
}

#[test]
fn many_random_problems_have_a_placement() {
    let solved = (0..300)
        .filter(|seed| place(&random(*seed)).is_ok())
        .count();
    assert!(solved >= 100, "only {solved} of 300 test anything");
}

/// The exact optimum of small problems, by trying every assignment to servers.
fn optimum(problem: &Problem, placement: &Placement) -> usize {
    let servers = problem.servers().len();
    let n = placement.placed.len() as u32;
    let mut best = usize::MAX;
    for code in 0..(servers as u64).pow(n) {
        let mut rest = code;
        let mut trial = placement.clone();
        let mut next = vec![0; servers];
        for placed in &mut trial.placed {
            placed.server = (rest % servers as u64) as usize;
            rest /= servers as u64;
            let cores = placed.cores.len() as u32;
            placed.cores = (next[placed.server]..next[placed.server] + cores).collect();
            next[placed.server] += cores;
        }
        let used = next.iter().filter(|cores| **cores > 0).count();
        if used < best && check(problem, &trial).is_empty() {
            best = used;
        }
    }
    best
}

/// Alike servers of one node without a shared cache: then cores do not depend on the place, and the
/// checker alone finds the optimum.
#[test]
fn the_bound_is_never_above_the_optimum_and_the_search_mostly_meets_it() {
    let (mut tried, mut met) = (0, 0);
    for seed in 0..400 {
        let mut problem = random(seed);
        problem.kinds.truncate(1);
        problem.kinds[0].nodes.truncate(1);
        problem.kinds[0].count = 4;
        problem.chains.truncate(7);
        let chains = problem.chains.len();
        for chain in &mut problem.chains {
            chain.work.truncate(1);
            chain.apart.retain(|other| *other < chains);
        }
        problem.cache = Cache::Ignored;
        let Ok(outcome) = place(&problem) else {
            continue;
        };
        if outcome.placement.placed.len() > 7 {
            continue;
        }
        let best = optimum(&problem, &outcome.placement);
        assert!(
            outcome.bound.servers <= best,
            "seed {seed}: bound above {best}"
        );
        assert!(
            outcome.used() >= best,
            "seed {seed}: better than the optimum"
        );
        tried += 1;
        met += usize::from(outcome.used() == best);
    }
    assert!(tried >= 40, "only {tried}");
    assert!(met * 100 >= tried * 95, "{met} of {tried} are optimal");
}

/// A change that makes a placement unsound, and whether it changed anything.
type Mutation = (&'static str, fn(&Problem, &mut Placement, &mut Rng) -> bool);

const MUTATIONS: &[Mutation] = &[
    ("a replica is lost", |_, placement, rng| {
        let at = rng.below(placement.placed.len() as u64) as usize;
        placement.placed.remove(at);
        true
    }),
    ("a replica is there twice", |_, placement, rng| {
        let at = rng.below(placement.placed.len() as u64) as usize;
        placement.placed.push(placement.placed[at].clone());
        true
    }),
    ("a replica carries less", |_, placement, rng| {
        let at = rng.below(placement.placed.len() as u64) as usize;
        placement.placed[at].pps *= 0.99;
        true
    }),
    ("two replicas are not equal", |_, placement, _| {
        let first = placement.placed[0].clone();
        let Some(second) = placement
            .placed
            .iter()
            .skip(1)
            .position(|p| p.chain == first.chain)
        else {
            return false;
        };
        placement.placed[0].pps *= 0.9;
        placement.placed[second + 1].pps += first.pps * 0.1;
        true
    }),
    ("a core is taken away", |_, placement, rng| {
        let at = rng.below(placement.placed.len() as u64) as usize;
        placement.placed[at].cores.pop();
        true
    }),
    ("a core is given twice", |_, placement, rng| {
        let at = rng.below(placement.placed.len() as u64) as usize;
        let core = placement.placed[at].cores[0];
        placement.placed[at].cores.push(core);
        true
    }),
    ("a core does not exist", |problem, placement, _| {
        let placed = &mut placement.placed[0];
        let kind = problem.servers()[placed.server].kind;
        placed.cores[0] = problem.kinds[kind].nodes[placed.node].cores;
        true
    }),
    ("a server does not exist", |problem, placement, _| {
        placement.placed[0].server = problem.servers().len();
        true
    }),
    ("a node does not exist", |_, placement, _| {
        placement.placed[0].port_node = 2;
        true
    }),
    ("a chain does not exist", |problem, placement, _| {
        placement.placed[0].chain = problem.chains.len();
        true
    }),
    ("chains kept apart meet", |problem, placement, _| {
        for a in 0..placement.placed.len() {
            for b in 0..placement.placed.len() {
                let chain = placement.placed[a].chain;
                if a != b
                    && problem.chains[chain]
                        .apart
                        .contains(&placement.placed[b].chain)
                {
                    placement.placed[b].server = placement.placed[a].server;
                    return true;
                }
            }
        }
        false
    }),
    (
        "a chain leaves the node of its ports",
        |problem, placement, _| {
            for placed in &mut placement.placed {
                let kind = problem.servers()[placed.server].kind;
                if problem.chains[placed.chain].same_node_as_port
                    && problem.kinds[kind].nodes.len() == 2
                {
                    placed.node = 1 - placed.port_node;
                    return true;
                }
            }
            false
        },
    ),
];

/// The same placement on servers that have too little.
type Shrinking = (&'static str, fn(&mut Node));

const SHRINKINGS: &[Shrinking] = &[
    ("cores", |node| node.cores = 0),
    ("link", |node| node.link_bps = 1.0),
    ("bus", |node| node.pcie_bps = 1.0),
    ("memory", |node| node.memory_bytes = 0.0),
    ("accesses to memory", |node| node.dram_per_s = 0.0),
    ("cache", |node| node.llc_bytes = 0.0),
];

#[test]
fn a_corrupted_placement_is_refused() {
    let solved = placed(60);
    for (name, mutate) in MUTATIONS {
        let mut changed = 0;
        for (seed, (problem, outcome)) in solved.iter().enumerate() {
            let mut placement = outcome.placement.clone();
            if mutate(problem, &mut placement, &mut Rng::new(seed as u64, name)) {
                changed += 1;
                assert!(
                    !check(problem, &placement).is_empty(),
                    "{name}: problem {seed} passes"
                );
            }
        }
        assert!(changed >= 5, "{name}: only {changed} changed");
    }
}

#[test]
fn a_placement_on_smaller_servers_is_refused() {
    for (name, shrink) in SHRINKINGS {
        let mut changed = 0;
        for (problem, outcome) in placed(60) {
            let needs_tables = outcome
                .loads
                .iter()
                .any(|load| load.used.iter().any(|node| node[1] > 0.0));
            let is_exempt = match *name {
                "accesses to memory" => !needs_tables,
                "cache" => {
                    problem.cache != Cache::Reserved
                        || problem
                            .chains
                            .iter()
                            .all(|chain| chain.work[0].hot_bytes() == 0.0)
                }
                "memory" => problem
                    .chains
                    .iter()
                    .all(|chain| chain.work[0].memory_bytes == 0.0),
                _ => false,
            };
            if is_exempt {
                continue;
            }
            let mut smaller = problem.clone();
            for node in smaller.kinds.iter_mut().flat_map(|kind| &mut kind.nodes) {
                shrink(node);
            }
            changed += 1;
            assert!(
                !check(&smaller, &outcome.placement).is_empty(),
                "{name} passes"
            );
        }
        assert!(changed >= 5, "{name}: only {changed} changed");
    }
}

/// Neighbours that make each other miss need more cores than alone; the checker knows it without
/// the search.
#[test]
fn cores_that_are_enough_alone_are_refused_beside_a_neighbour() {
    let mut problem = random(3);
    problem.cache = Cache::Shared;
    problem.kinds.truncate(1);
    let kind = &mut problem.kinds[0];
    kind.count = 2;
    kind.nodes.truncate(1);
    kind.nodes[0] = Node {
        cores: 16,
        llc_bytes: 20e6,
        dram_per_s: 1e9,
        memory_bytes: 64e9,
        link_bps: 100e9,
        pcie_bps: 200e9,
    };
    let mut chain = problem.chains[0].clone();
    chain.demand_pps = 5e6;
    chain.frame_bytes = 64;
    chain.max_replicas = 1;
    chain.apart = vec![];
    chain.same_node_as_port = false;
    chain.work = vec![Work {
        cycles: Interval::exact(300.0),
        tables: vec![Table {
            accesses: 2.0,
            hot_bytes: 16e6,
        }],
        memory_bytes: 16e6,
    }];
    problem.chains = vec![
        chain.clone(),
        Chain {
            name: "other".into(),
            ..chain
        },
    ];
    problem.chains[0].apart = vec![1];
    let apart = place(&problem).unwrap();
    assert_eq!((apart.used(), apart.bound.servers, apart.gap()), (2, 2, 0));
    assert!(!apart.is_contended());
    problem.chains[0].apart.clear();
    let mut together = apart.placement.clone();
    together.placed[1].server = together.placed[0].server;
    let first = together.placed[0].cores.len() as u32;
    for core in &mut together.placed[1].cores {
        *core += first;
    }
    let wrong = check(&problem, &together);
    assert!(
        wrong.iter().any(|line| line.contains("too few cores")),
        "{wrong:?}"
    );
    let shared = place(&problem).unwrap();
    assert!(shared.used() == 2 || shared.is_contended());
}
