//! What a server's replicas take of it, after they have changed each other's costs.

use super::contention::{User, hit_ratios};
use super::headroom;
use super::model::{Arrivals, Cache, Chain, Interval, Kind, Problem, Resource};

/// One replica to place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Index of its chain.
    pub chain: usize,
    /// Its number, from 0.
    pub replica: u32,
    /// Packets a second that it carries.
    pub pps: f64,
}

/// A replica's place in a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seat {
    /// The replica.
    pub(super) piece: Piece,
    /// The node that its cores are on.
    pub(super) node: usize,
    /// The node whose ports its packets pass.
    pub(super) port_node: usize,
}

/// What one replica costs where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Cycles a packet, misses included.
    pub cycles: Interval,
    /// The part of its accesses that find the last-level cache, 1 without any.
    pub hit_ratio: f64,
    /// Accesses to memory a second.
    pub dram_per_s: f64,
    /// Cores that it needs.
    pub cores: u32,
    /// Utilisation of these at the centre of its cost.
    pub utilisation: Interval,
}

/// What is used of one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// What is used of each node, in the order of [`Resource::ALL`].
    pub used: Vec<[f64; 6]>,
    /// What each replica costs, in the order of the seats.
    pub costs: Vec<Cost>,
}

/// Sums of floats that are equal on paper may differ by their last digits.
const ROUNDING: f64 = 1e-9;

impl Chain {
    /// The utilisation that its cores are planned for at the high end of its cost.
    pub fn planned_utilisation(&self) -> Option<f64> {
        self.utilisation
            .or_else(|| headroom::utilisation(self.arrivals, self.ring))
    }

    /// The largest burst, packets.
    pub fn burst(&self) -> u32 {
        match self.arrivals {
            Arrivals::Smooth => 1,
            Arrivals::Bursts(burst) => burst,
        }
    }
}

/// What `seats` take of a server of the kind with index `kind`.
pub(super) fn measure(problem: &Problem, kind: usize, seats: &[Seat]) -> Load {
    let of = &problem.kinds[kind];
    let ratios = hits(problem, kind, seats);
    let mut used = vec![[0.0; 6]; of.nodes.len()];
    let costs: Vec<Cost> = seats
        .iter()
        .zip(&ratios)
        .map(|(seat, ratios)| cost(problem, kind, seat, ratios))
        .collect();
    for (seat, cost) in seats.iter().zip(&costs) {
        let chain = &problem.chains[seat.piece.chain];
        let work = &chain.work[kind];
        let node = &mut used[seat.node];
        node[Resource::Cores.index()] += f64::from(cost.cores);
        node[Resource::Dram.index()] += cost.dram_per_s;
        node[Resource::Llc.index()] += work.hot_bytes();
        node[Resource::Memory.index()] += work.memory_bytes;
        let port = &mut used[seat.port_node];
        port[Resource::Link.index()] += seat.piece.pps * chain.wire_bits();
        port[Resource::Pcie.index()] += seat.piece.pps * chain.bus_bits(of);
    }
    Load { used, costs }
}

/// The hit ratio of each table of each seat.
fn hits(problem: &Problem, kind: usize, seats: &[Seat]) -> Vec<Vec<f64>> {
    let tables = |seat: &Seat| &problem.chains[seat.piece.chain].work[kind].tables;
    let mut ratios: Vec<Vec<f64>> = seats
        .iter()
        .map(|seat| vec![1.0; tables(seat).len()])
        .collect();
    if problem.cache != Cache::Shared {
        return ratios;
    }
    for (n, node) in problem.kinds[kind].nodes.iter().enumerate() {
        let here = || (0..seats.len()).filter(|at| seats[*at].node == n);
        let users: Vec<User> = here()
            .flat_map(|at| {
                tables(&seats[at]).iter().map(move |table| User {
                    hot_bytes: table.hot_bytes,
                    per_s: table.accesses * seats[at].piece.pps,
                })
            })
            .collect();
        let mut found = hit_ratios(&users, node.llc_bytes).into_iter();
        for at in here() {
            for ratio in &mut ratios[at] {
                *ratio = found.next().expect("every table has a ratio");
            }
        }
    }
    ratios
}

fn cost(problem: &Problem, kind: usize, seat: &Seat, ratios: &[f64]) -> Cost {
    let of = &problem.kinds[kind];
    let chain = &problem.chains[seat.piece.chain];
    let work = &chain.work[kind];
    let accesses = work.accesses();
    let tables = work.tables.iter().zip(ratios);
    let missed: f64 = tables
        .map(|(table, hit)| table.accesses * (1.0 - hit))
        .sum();
    let remote = if seat.node == seat.port_node {
        0.0
    } else {
        chain.remote_accesses()
    };
    let to_memory = match problem.cache {
        Cache::Ignored => accesses,
        Cache::Shared | Cache::Reserved => missed,
    };
    let cycles = work.cycles.plus(waiting(of, missed + remote));
    // Where the chain cannot be planned, no number of cores will do.
    let planned = chain.planned_utilisation().unwrap_or(f64::MIN_POSITIVE);
    let busy = seat.piece.pps / of.clock_hz;
    let cores = (busy * cycles.high / planned * (1.0 - ROUNDING))
        .ceil()
        .max(1.0) as u32;
    let each = busy / f64::from(cores);
    Cost {
        cycles,
        hit_ratio: if accesses > 0.0 {
            1.0 - missed / accesses
        } else {
            1.0
        },
        dram_per_s: seat.piece.pps * (to_memory + remote),
        cores,
        utilisation: Interval {
            low: each * cycles.low,
            centre: each * cycles.centre,
            high: each * cycles.high,
        },
    }
}

/// Cores of `chain` that can be kept as busy as `busy` whole ones.
fn cores(chain: &Chain, busy: f64) -> u32 {
    // Where the chain cannot be planned, no number of cores will do.
    let planned = chain.planned_utilisation().unwrap_or(f64::MIN_POSITIVE);
    (busy / planned * (1.0 - ROUNDING)).ceil().max(1.0) as u32
}

/// Cores that `piece` needs at least on a server of the kind with index `kind`: those without any
/// miss.
pub(super) fn least_cores(problem: &Problem, kind: usize, piece: &Piece) -> u32 {
    let chain = &problem.chains[piece.chain];
    let cycles = chain.work[kind].cycles.high;
    cores(chain, piece.pps * cycles / problem.kinds[kind].clock_hz)
}

/// Cycles that `accesses` to memory take: one after the other at the high end, as many at once as
/// the core can at the low end, the geometric mean between.
fn waiting(kind: &Kind, accesses: f64) -> Interval {
    let dependent = accesses * kind.dram_latency_s * kind.clock_hz;
    Interval {
        low: dependent / kind.parallel_misses,
        centre: dependent / kind.parallel_misses.sqrt(),
        high: dependent,
    }
}

/// Whether a node may not be filled beyond its `resource`.
pub(super) fn is_limit(cache: Cache, resource: Resource) -> bool {
    resource != Resource::Llc || cache == Cache::Reserved
}

/// The resource that `load` takes most too much of, with the part of it that is used, or nothing
/// where it fits.
pub(super) fn excess(problem: &Problem, kind: usize, load: &Load) -> Option<(Resource, f64)> {
    let mut worst: Option<(Resource, f64)> = None;
    for (used, node) in load.used.iter().zip(&problem.kinds[kind].nodes) {
        let capacities = node.capacities();
        for resource in Resource::ALL {
            let (used, has) = (used[resource.index()], capacities[resource.index()]);
            let fits = used <= has * (1.0 + ROUNDING);
            if fits || !is_limit(problem.cache, resource) {
                continue;
            }
            let part = if has > 0.0 { used / has } else { f64::INFINITY };
            if worst.is_none_or(|(_, most)| part > most) {
                worst = Some((resource, part));
            }
        }
    }
    worst
}

/// The pairs of nodes that a replica of `chain` may have on a server of `kind`: its cores', its
/// ports'. Those on the same node come first.
pub(super) fn pairs(chain: &Chain, kind: &Kind) -> Vec<(usize, usize)> {
    let nodes = || 0..kind.nodes.len();
    let with_port = |node: &usize| kind.nodes[*node].has_port();
    let mut pairs: Vec<(usize, usize)> = nodes().filter(with_port).map(|n| (n, n)).collect();
    if !chain.same_node_as_port {
        for node in nodes() {
            for port in nodes().filter(with_port).filter(|port| *port != node) {
                pairs.push((node, port));
            }
        }
    }
    pairs
}
