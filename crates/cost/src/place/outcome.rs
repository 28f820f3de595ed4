//! What placement answers: the places, what is used, and how far from the best it may be.

use super::bound::{Bound, Reason};
use super::faults::Fault;
use super::load::{self, Cost, Load};
use super::model::{Placement, Problem, Resource, Server};

/// A placement that the checker accepts, and what is known of it.
#[derive(Clone, Debug)]
pub struct PlacementOutcome {
    /// Where every replica is.
    pub placement: Placement,
    /// What each of them costs there, in the same order.
    pub costs: Vec<Cost>,
    /// The servers, used or not.
    pub servers: Vec<Server>,
    /// What is used of each.
    pub loads: Vec<Load>,
    /// How few servers could do at best.
    pub bound: Bound,
    /// Servers that first-fit decreasing used, before the local search.
    pub first_fit: usize,
}

impl PlacementOutcome {
    /// Servers with a replica.
    pub fn used(&self) -> usize {
        self.loads
            .iter()
            .filter(|load| !load.costs.is_empty())
            .count()
    }

    /// Servers above the bound; 0 is a proof that fewer cannot do.
    pub fn gap(&self) -> usize {
        self.used().saturating_sub(self.bound.servers)
    }

    /// Whether any replica misses the last-level cache, so that the model of contention decides its
    /// cost.
    pub fn is_contended(&self) -> bool {
        self.costs.iter().any(|cost| cost.hit_ratio < 1.0)
    }

    /// The resource of which `server` has least left, and the part of it that its fullest node
    /// uses.
    pub fn limit(&self, problem: &Problem, server: usize) -> (Resource, f64) {
        let parts = self.parts(problem, server);
        let limits = Resource::ALL
            .into_iter()
            .filter(|resource| load::is_limit(problem.cache, *resource));
        limits
            .map(|resource| (resource, parts[resource.index()]))
            .fold((Resource::Cores, 0.0), |most, next| {
                if next.1 > most.1 { next } else { most }
            })
    }

    /// The part of each resource that the fullest node of `server` uses, in the order of
    /// [`Resource::ALL`].
    pub fn parts(&self, problem: &Problem, server: usize) -> [f64; 6] {
        let nodes = &problem.kinds[self.servers[server].kind].nodes;
        let mut parts = [0.0; 6];
        for (used, node) in self.loads[server].used.iter().zip(nodes) {
            for ((part, used), has) in parts.iter_mut().zip(used).zip(node.capacities()) {
                if has > 0.0 {
                    *part = f64::max(*part, used / has);
                }
            }
        }
        parts
    }
}

/// Why there is no placement.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The problem is impossible; every fault.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Faults(Vec<Fault>),
    /// It is proved that the servers do not suffice.
    #[error("{offered} servers are not enough: at least {needed} are needed ({by}); add {} or \
             lower the demand", needed - offered)]
    TooFew {
        /// Servers that there are.
        offered: usize,
        /// Servers that are needed at least.
        needed: usize,
        /// What needs them.
        by: Reason,
    },
    /// No placement was found, which proves nothing.
    #[error(
        "no placement on {offered} servers was found: chain `{chain}` has no room for {replicas}; \
         at least {bound} servers are needed, perhaps more: add one, or allow more splits"
    )]
    NotFound {
        /// Servers that there are.
        offered: usize,
        /// The chain that found no room.
        chain: String,
        /// Its replicas, in words.
        replicas: String,
        /// The lower bound.
        bound: usize,
    },
    /// The checker refuses the placement that was found: a fault of the program.
    #[error("internal error: the placement is not valid; please report it: {}", .0.join("; "))]
    Unsound(Vec<String>),
}
