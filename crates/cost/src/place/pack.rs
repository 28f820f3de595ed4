//! First-fit decreasing: replicas by falling size, each on the first server that can take it.

use super::load::{Load, Piece, Seat, excess, is_limit, least_cores, measure, pairs};
use super::model::{Problem, Resource, Server};
use super::split::Alone;
use std::rc::Rc;

/// The pairs of nodes, its cores' and its ports', that a chain may have on a kind of server.
type Pairs = Vec<(usize, usize)>;

/// Who sits where, and what each server's load is.
#[derive(Clone)]
pub(super) struct Seating<'a> {
    problem: &'a Problem,
    servers: &'a [Server],
    /// Of each chain, for each kind of server.
    pairs: Rc<Vec<Vec<Pairs>>>,
    /// The replicas on each server.
    pub(super) seats: Vec<Vec<Seat>>,
    /// What they take of it.
    pub(super) loads: Vec<Load>,
    /// Attempts made, as a measure of time that is the same everywhere.
    pub(super) attempts: u64,
}

impl<'a> Seating<'a> {
    /// Empty servers.
    pub(super) fn new(problem: &'a Problem, servers: &'a [Server]) -> Seating<'a> {
        let loads = servers
            .iter()
            .map(|server| measure(problem, server.kind, &[]));
        let of_chain = |chain| {
            problem
                .kinds
                .iter()
                .map(|kind| pairs(chain, kind))
                .collect()
        };
        let pairs = problem.chains.iter().map(of_chain).collect();
        Seating {
            problem,
            servers,
            pairs: Rc::new(pairs),
            seats: vec![Vec::new(); servers.len()],
            loads: loads.collect(),
            attempts: 0,
        }
    }

    /// Puts `piece` on `server` if it can take it, its neighbours' new costs included.
    pub(super) fn put(&mut self, piece: Piece, server: usize) -> bool {
        let problem = self.problem;
        let kind = self.servers[server].kind;
        let mut others = self.seats[server].iter();
        if others.any(|seat| problem.are_apart(seat.piece.chain, piece.chain)) {
            return false;
        }
        let pairs = Rc::clone(&self.pairs);
        let least = f64::from(least_cores(problem, kind, &piece));
        for &(node, port_node) in &pairs[piece.chain][kind] {
            // Neighbours and misses only add to this, and most attempts end here.
            let cores = self.loads[server].used[node][Resource::Cores.index()];
            if cores + least > f64::from(problem.kinds[kind].nodes[node].cores) {
                continue;
            }
            self.attempts += 1;
            self.seats[server].push(Seat {
                piece,
                node,
                port_node,
            });
            let load = measure(problem, kind, &self.seats[server]);
            if excess(problem, kind, &load).is_none() {
                self.loads[server] = load;
                return true;
            }
            self.seats[server].pop();
        }
        false
    }

    /// Takes the replica at `at` from `server`.
    pub(super) fn take(&mut self, server: usize, at: usize) -> Piece {
        let seat = self.seats[server].remove(at);
        self.loads[server] = measure(self.problem, self.servers[server].kind, &self.seats[server]);
        seat.piece
    }

    /// Cores that `piece` would keep busy on the first kind of server if nothing missed.
    pub(super) fn work(&self, piece: &Piece) -> f64 {
        let cycles = self.problem.chains[piece.chain].work[0].cycles.high;
        piece.pps * cycles / self.problem.kinds[0].clock_hz
    }

    /// Servers with a replica.
    pub(super) fn used(&self) -> usize {
        self.seats.iter().filter(|seats| !seats.is_empty()).count()
    }
}

/// By what replicas are sorted; each gives another placement, and the best is kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    /// The largest share of any resource.
    LargestShare,
    /// The sum of the shares.
    SumOfShares,
    /// Cores alone.
    Cores,
}

/// Every order that is tried.
pub(super) const ORDERS: [By; 3] = [By::LargestShare, By::SumOfShares, By::Cores];

/// The size of a replica in `order`, from its cheapest load on an empty server.
pub(super) fn size(problem: &Problem, alone: &[Alone], order: By) -> f64 {
    let sizes = alone.iter().map(|alone| {
        let nodes = &problem.kinds[alone.kind].nodes;
        let shares = Resource::ALL.into_iter().map(|resource| {
            let at = resource.index();
            let used = alone.load.used.iter().zip(nodes);
            let parts = used.map(|(used, node)| match node.capacities()[at] {
                has if has > 0.0 && is_limit(problem.cache, resource) => used[at] / has,
                _ => 0.0,
            });
            (resource, parts.fold(0.0, f64::max))
        });
        match order {
            By::LargestShare => shares.map(|(_, share)| share).fold(0.0, f64::max),
            By::SumOfShares => shares.map(|(_, share)| share).sum(),
            By::Cores => shares
                .filter(|(resource, _)| *resource == Resource::Cores)
                .map(|(_, share)| share)
                .sum(),
        }
    });
    sizes.fold(f64::INFINITY, f64::min)
}

/// The servers in the order in which they are filled: larger kinds first, so that fewer do.
fn opening(problem: &Problem, servers: &[Server]) -> Vec<usize> {
    let power = |server: &Server| {
        let kind = &problem.kinds[server.kind];
        let cores: u32 = kind.nodes.iter().map(|node| node.cores).sum();
        f64::from(cores) * kind.clock_hz
    };
    let mut order: Vec<usize> = (0..servers.len()).collect();
    order.sort_by(|a, b| power(&servers[*b]).total_cmp(&power(&servers[*a])));
    order
}

/// Puts every one of `pieces`, or returns the index of the first that finds no room.
pub(super) fn first_fit<'a>(
    problem: &'a Problem,
    servers: &'a [Server],
    pieces: &[Piece],
    alone: &[Vec<Alone>],
    order: By,
) -> Result<Seating<'a>, usize> {
    // Of each chain: its replicas are equal.
    let sizes: Vec<f64> = alone.iter().map(|all| size(problem, all, order)).collect();
    let size_of = |at: usize| sizes[pieces[at].chain];
    let mut sorted: Vec<usize> = (0..pieces.len()).collect();
    sorted.sort_by(|a, b| size_of(*b).total_cmp(&size_of(*a)));
    let opening = opening(problem, servers);
    let mut seating = Seating::new(problem, servers);
    for at in sorted {
        if !opening
            .iter()
            .any(|server| seating.put(pieces[at], *server))
        {
            return Err(at);
        }
    }
    Ok(seating)
}
