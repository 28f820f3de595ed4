//! How few servers could do at best, whatever the placement of these replicas.
//!
//! - *Volume*: for each resource, the fewest servers that have as much together as the replicas
//!   need at their cheapest.
//! - *Whole replicas*: a node takes one of two replicas that are larger than its half. Martello and
//!   Toth's L2 counts this for each resource over nodes.
//! - *Apart*: chains that may not meet need a server each.
//!
//! Each uses the least that a replica can cost anywhere alone; neighbours only raise it. So none
//! exceeds the truth.

use super::load::is_limit;
use super::model::{Problem, Resource};
use super::split::Alone;

/// A proof that fewer servers cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// That many servers are needed.
    pub servers: usize,
    /// What needs them.
    pub by: Reason,
}

/// What a bound rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// All replicas together need that much of the resource.
    Volume(Resource),
    /// Replicas cannot be divided, and too few fit beside each other.
    Whole(Resource),
    /// Replicas that may not meet.
    Apart,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::Volume(resource) => write!(f, "{} in all", resource.name()),
            Reason::Whole(resource) => write!(f, "{} of whole replicas", resource.name()),
            Reason::Apart => f.write_str("replicas kept apart"),
        }
    }
}

/// Sums of floats that are equal on paper may differ by their last digits.
const ROUNDING: f64 = 1e-6;

/// The best bound for `counts` replicas of each chain, whose loads on empty servers are `alone`.
pub(super) fn lower_bound(problem: &Problem, counts: &[u32], alone: &[Vec<Alone>]) -> Bound {
    let mut best = Bound {
        servers: 1,
        by: Reason::Volume(Resource::Cores),
    };
    let mut note = |servers: usize, by| {
        if servers > best.servers {
            best = Bound { servers, by };
        }
    };
    for resource in Resource::ALL {
        if !is_limit(problem.cache, resource) {
            continue;
        }
        let of_chains = alone.iter().zip(counts);
        let needs: Vec<f64> = of_chains
            .flat_map(|(all, count)| std::iter::repeat_n(least(all, resource), *count as usize))
            .collect();
        note(
            by_volume(problem, resource, &needs),
            Reason::Volume(resource),
        );
        note(by_whole(problem, resource, needs), Reason::Whole(resource));
    }
    note(by_apart(problem, counts), Reason::Apart);
    best
}

/// The least of `resource` that a replica takes on any empty server.
pub(super) fn least(alone: &[Alone], resource: Resource) -> f64 {
    let needs = alone.iter().map(|alone| {
        alone
            .load
            .used
            .iter()
            .map(|used| used[resource.index()])
            .sum()
    });
    needs.fold(f64::INFINITY, f64::min)
}

fn by_volume(problem: &Problem, resource: Resource, needs: &[f64]) -> usize {
    let needed: f64 = needs.iter().sum::<f64>() * (1.0 - ROUNDING);
    let mut servers: Vec<f64> = problem
        .kinds
        .iter()
        .flat_map(|kind| {
            let nodes = kind.nodes.iter();
            let has: f64 = nodes.map(|node| node.capacities()[resource.index()]).sum();
            std::iter::repeat_n(has, kind.count as usize)
        })
        .collect();
    servers.sort_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let enough = servers.iter().position(|has| {
        sum += has;
        sum >= needed
    });
    match enough {
        Some(last) => last + 1,
        // More than there are: how many more, if further ones were as large as the largest.
        None => {
            let largest = servers.first().copied().unwrap_or(0.0);
            let more = ((needed - sum) / largest).ceil();
            servers.len().saturating_add(more as usize)
        }
    }
}

fn by_whole(problem: &Problem, resource: Resource, mut needs: Vec<f64>) -> usize {
    let nodes = || problem.kinds.iter().flat_map(|kind| &kind.nodes);
    let capacity = nodes()
        .map(|node| node.capacities()[resource.index()])
        .fold(0.0, f64::max);
    needs.retain(|need| *need > 0.0);
    needs.sort_by(|a, b| b.total_cmp(a));
    let nodes_needed = martello_toth(&needs, capacity * (1.0 + ROUNDING));
    let mut of_servers: Vec<usize> = problem
        .kinds
        .iter()
        .flat_map(|kind| {
            let nodes = kind.nodes.iter();
            let counts = nodes.filter(|node| node.capacities()[resource.index()] > 0.0);
            std::iter::repeat_n(counts.count(), kind.count as usize)
        })
        .collect();
    of_servers.sort_unstable_by(|a, b| b.cmp(a));
    let mut sum = 0;
    let enough = of_servers.iter().position(|has| {
        sum += has;
        sum >= nodes_needed
    });
    match enough {
        Some(last) => last + 1,
        None => {
            let largest = of_servers.first().copied().unwrap_or(0).max(1);
            of_servers.len() + (nodes_needed - sum).div_ceil(largest)
        }
    }
}

/// L2 of Martello and Toth (1990) for items `sizes`, falling, in bins of `capacity`.
fn martello_toth(sizes: &[f64], capacity: f64) -> usize {
    let half = capacity / 2.0;
    let mut best = 0;
    let mut thresholds: Vec<f64> = sizes.iter().copied().filter(|size| *size <= half).collect();
    thresholds.dedup();
    thresholds.push(0.0);
    for least in thresholds {
        let (mut alone, mut large, mut large_sum, mut small_sum) = (0_usize, 0_usize, 0.0, 0.0);
        for size in sizes.iter().copied() {
            if size > capacity - least {
                alone += 1;
            } else if size > half {
                large += 1;
                large_sum += size;
            } else if size >= least {
                small_sum += size;
            }
        }
        let over = small_sum - (large as f64 * capacity - large_sum);
        let more = if over > 0.0 {
            (over / capacity).ceil() as usize
        } else {
            0
        };
        best = best.max(alone + large + more);
    }
    best
}

/// The replicas of a set of chains no two of which may meet, grown greedily.
fn by_apart(problem: &Problem, counts: &[u32]) -> usize {
    let chains = 0..counts.len();
    // A chain kept apart from itself needs a server for each replica, any other one at least.
    let needs = |chain: usize| {
        if problem.are_apart(chain, chain) {
            counts[chain] as usize
        } else {
            1
        }
    };
    let weight = |chain: &usize| -> usize {
        let others = chains
            .clone()
            .filter(|other| problem.are_apart(*chain, *other));
        needs(*chain) + others.map(needs).sum::<usize>()
    };
    let mut order: Vec<usize> = chains.clone().collect();
    order.sort_by_cached_key(|chain| (std::cmp::Reverse(weight(chain)), *chain));
    let mut set: Vec<usize> = Vec::new();
    for chain in order {
        if set.iter().all(|other| problem.are_apart(chain, *other)) {
            set.push(chain);
        }
    }
    set.into_iter().map(needs).sum()
}

#[cfg(test)]
mod tests {
    use super::martello_toth;

    #[test]
    fn large_items_need_bins_of_their_own() {
        assert_eq!(martello_toth(&[6.0, 6.0, 6.0], 10.0), 3);
        assert_eq!(martello_toth(&[6.0, 6.0, 4.0, 4.0], 10.0), 2);
        // 7 and 6 leave 3 and 4; the three fours need one bin more than volume (25/10 = 3).
        assert_eq!(martello_toth(&[7.0, 6.0, 4.0, 4.0, 4.0], 10.0), 3);
        assert_eq!(martello_toth(&[7.0, 7.0, 4.0, 4.0], 10.0), 3);
        assert_eq!(martello_toth(&[7.0, 7.0, 4.0], 10.0), 3);
        assert_eq!(martello_toth(&[], 10.0), 0);
    }
}
