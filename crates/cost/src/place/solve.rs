//! From a problem to a checked placement.

use super::bound::{Bound, lower_bound};
use super::check::check;
use super::faults;
use super::improve::improve;
use super::load::{Cost, Piece};
use super::model::{Placed, Placement, Problem, Server};
use super::outcome::{PlacementOutcome, Refusal};
use super::pack::{ORDERS, Seating, first_fit};
use super::split::{Alone, alone, piece, replicas};

/// How often a chain that finds no room is cut once more.
const MOST_CUTS: u32 = 64;

/// Places the chains of `problem` on as few of its servers as it can.
pub fn place(problem: &Problem) -> Result<PlacementOutcome, Refusal> {
    let faults = faults::faults(problem);
    if !faults.is_empty() {
        return Err(Refusal::Faults(faults));
    }
    let servers = problem.servers();
    let mut counts = replicas(problem).map_err(Refusal::Faults)?;
    let mut cuts = 0;
    loop {
        match with_replicas(problem, &servers, &counts) {
            Err(Stuck { chain, refusal }) => {
                let most = problem.chains[chain].max_replicas;
                // Smaller replicas may find room; a proof that nothing helps ends the search.
                if cuts == MOST_CUTS
                    || counts[chain] >= most
                    || matches!(refusal, Refusal::TooFew { .. })
                {
                    return Err(refusal);
                }
                counts[chain] += 1;
                cuts += 1;
            }
            Ok(outcome) => {
                let mut found = check(problem, &outcome.placement);
                if outcome.used() < outcome.bound.servers {
                    found.push("it uses fewer servers than the lower bound".to_owned());
                }
                return if found.is_empty() {
                    Ok(outcome)
                } else {
                    Err(Refusal::Unsound(found))
                };
            }
        }
    }
}

struct Stuck {
    chain: usize,
    refusal: Refusal,
}

fn with_replicas(
    problem: &Problem,
    servers: &[Server],
    counts: &[u32],
) -> Result<PlacementOutcome, Stuck> {
    let pieces: Vec<Piece> = counts
        .iter()
        .enumerate()
        .flat_map(|(chain, count)| (0..*count).map(move |n| piece(problem, chain, n, *count)))
        .collect();
    let chains = counts.iter().enumerate();
    let alone: Vec<Vec<Alone>> = chains
        .map(|(chain, count)| alone(problem, piece(problem, chain, 0, *count)))
        .collect();
    let bound = lower_bound(problem, counts, &alone);
    if bound.servers > servers.len() {
        return Err(Stuck {
            chain: 0,
            refusal: Refusal::TooFew {
                offered: servers.len(),
                needed: bound.servers,
                by: bound.by,
            },
        });
    }
    let mut best: Option<Seating<'_>> = None;
    let mut stuck = 0;
    for order in ORDERS {
        match first_fit(problem, servers, &pieces, &alone, order) {
            Ok(seating)
                if best
                    .as_ref()
                    .is_none_or(|best| seating.used() < best.used()) =>
            {
                best = Some(seating);
            }
            Ok(_) => {}
            Err(at) => stuck = at,
        }
        if best
            .as_ref()
            .is_some_and(|best| best.used() == bound.servers)
        {
            break;
        }
    }
    let Some(seating) = best else {
        let chain = pieces[stuck].chain;
        let replicas = match counts[chain] {
            1 => "it whole".to_owned(),
            n => format!("one of its {n} replicas"),
        };
        return Err(Stuck {
            chain,
            refusal: Refusal::NotFound {
                offered: servers.len(),
                chain: problem.chains[chain].name.clone(),
                replicas,
                bound: bound.servers,
            },
        });
    };
    let first_fit = seating.used();
    let seating = improve(seating, bound.servers);
    Ok(outcome(servers, &seating, bound, first_fit))
}

/// Numbers the cores of each node in the order of chains and replicas.
fn outcome(
    servers: &[Server],
    seating: &Seating<'_>,
    bound: Bound,
    first_fit: usize,
) -> PlacementOutcome {
    let mut all: Vec<(Placed, Cost)> = Vec::new();
    for (server, (seats, load)) in seating.seats.iter().zip(&seating.loads).enumerate() {
        let mut next = vec![0_u32; load.used.len()];
        let mut order: Vec<usize> = (0..seats.len()).collect();
        order.sort_by_key(|at| (seats[*at].piece.chain, seats[*at].piece.replica));
        for at in order {
            let (seat, cost) = (seats[at], load.costs[at]);
            let first = next[seat.node];
            next[seat.node] += cost.cores;
            let placed = Placed {
                chain: seat.piece.chain,
                replica: seat.piece.replica,
                pps: seat.piece.pps,
                server,
                node: seat.node,
                port_node: seat.port_node,
                cores: (first..next[seat.node]).collect(),
            };
            all.push((placed, cost));
        }
    }
    all.sort_by_key(|(placed, _)| (placed.chain, placed.replica));
    let (placed, costs) = all.into_iter().unzip();
    PlacementOutcome {
        placement: Placement { placed },
        costs,
        servers: servers.to_vec(),
        loads: seating.loads.clone(),
        bound,
        first_fit,
    }
}
