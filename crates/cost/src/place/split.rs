//! Chains cut into equal replicas, as few as one node can take one by one.

use super::faults::Fault;
use super::load::{Load, Piece, Seat, excess, measure, pairs};
use super::model::{Problem, Resource};

/// What one replica takes of an empty server: the server's kind, the pair of nodes, and the load.
pub(super) struct Alone {
    pub(super) kind: usize,
    pub(super) node: usize,
    pub(super) port_node: usize,
    pub(super) load: Load,
}

/// What `piece` takes of each kind of empty server that can hold it.
pub(super) fn alone(problem: &Problem, piece: Piece) -> Vec<Alone> {
    everywhere(problem, piece)
        .filter(|alone| excess(problem, alone.kind, &alone.load).is_none())
        .collect()
}

fn everywhere(problem: &Problem, piece: Piece) -> impl Iterator<Item = Alone> {
    let chain = &problem.chains[piece.chain];
    problem
        .kinds
        .iter()
        .enumerate()
        .flat_map(move |(kind, of)| {
            pairs(chain, of).into_iter().map(move |(node, port_node)| {
                let seat = Seat {
                    piece,
                    node,
                    port_node,
                };
                let load = measure(problem, kind, &[seat]);
                Alone {
                    kind,
                    node,
                    port_node,
                    load,
                }
            })
        })
}

/// One of `replicas` equal replicas of a chain.
pub(super) fn piece(problem: &Problem, chain: usize, replica: u32, replicas: u32) -> Piece {
    Piece {
        chain,
        replica,
        pps: problem.chains[chain].demand_pps / f64::from(replicas),
    }
}

/// The smallest number of replicas of each chain that an empty node can take one by one, or the
/// chains that no server can take.
pub(super) fn replicas(problem: &Problem) -> Result<Vec<u32>, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut counts = Vec::new();
    for (index, chain) in problem.chains.iter().enumerate() {
        let most = chain.max_replicas.max(1);
        let fits = |count: u32| !alone(problem, piece(problem, index, 0, count)).is_empty();
        if !fits(most) {
            faults.push(refuse(problem, index));
            continue;
        }
        // A smaller replica takes no more of anything, so halving finds the smallest count.
        let (mut low, mut high) = (1, most);
        while low < high {
            let middle = low + (high - low) / 2;
            if fits(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        counts.push(low);
    }
    if faults.is_empty() {
        Ok(counts)
    } else {
        Err(faults)
    }
}

/// Why no server can take `chain`: the resource that is short where it is least short.
fn refuse(problem: &Problem, index: usize) -> Fault {
    let chain = &problem.chains[index];
    let most = chain.max_replicas.max(1);
    let smallest = piece(problem, index, 0, most);
    let mut best: Option<(Resource, f64, usize, Alone)> = None;
    for alone in everywhere(problem, smallest) {
        if let Some((resource, part)) = excess(problem, alone.kind, &alone.load)
            && best.as_ref().is_none_or(|(_, least, ..)| part < *least)
        {
            best = Some((resource, part, alone.kind, alone));
        }
    }
    let place = format!("chain.{index}");
    let Some((resource, _, kind, alone)) = best else {
        return Fault::new(
            place,
            format!("no server can take chain `{}`", chain.name),
            "no server has a port",
            "give a server a `port`",
        );
    };
    let at = match resource {
        Resource::Link | Resource::Pcie => alone.port_node,
        _ => alone.node,
    };
    let used = alone.load.used[at][resource.index()];
    let has = problem.kinds[kind].nodes[at].capacities()[resource.index()];
    let whose = match most {
        1 => "it".to_owned(),
        n => format!("each of {n} replicas"),
    };
    let why = format!(
        "{whose} needs {} of {}, a node of `{}` has {}",
        amount(resource, used),
        resource.name(),
        problem.kinds[kind].name,
        amount(resource, has)
    );
    // Tables are copied to each replica, so more of them do not help where memory is short.
    let divides = !matches!(resource, Resource::Memory | Resource::Llc);
    let help = match (divides, most) {
        (false, _) => format!("give a server more {}", resource.name()),
        (true, 1) => "allow it to be split (`split = true`), or lower the demand".to_owned(),
        (true, _) => "raise `max_replicas`, or lower the demand".to_owned(),
    };
    Fault::new(
        place,
        format!("no server can take chain `{}`", chain.name),
        why,
        help,
    )
}

/// `value` of `resource` as a person reads it.
pub(super) fn amount(resource: Resource, value: f64) -> String {
    match resource {
        Resource::Cores => format!("{value:.0}"),
        Resource::Dram => format!("{:.3} M/s", value / 1e6),
        Resource::Llc | Resource::Memory => format!("{:.3} MB", value / 1e6),
        Resource::Link | Resource::Pcie => format!("{:.3} Gbit/s", value / 1e9),
    }
}
