//! What works at an instant, and what a working path joins.

use super::topology::Topology;

/// What works now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Works {
    /// Whether each subnet carries packets.
    pub subnets: Vec<bool>,
    /// Whether each router lives.
    pub routers: Vec<bool>,
}

impl Works {
    /// All subnets of `topology`, and no router yet.
    pub fn subnets_of(topology: &Topology) -> Works {
        Works {
            subnets: vec![true; topology.subnets.len()],
            routers: vec![false; topology.routers.len()],
        }
    }

    /// A number for each router, equal where a working path joins them.
    pub fn islands(&self, topology: &Topology) -> Vec<usize> {
        fn root(parent: &mut [usize], mut at: usize) -> usize {
            while parent[at] != at {
                parent[at] = parent[parent[at]];
                at = parent[at];
            }
            at
        }
        let mut parent: Vec<usize> = (0..topology.routers.len()).collect();
        for (subnet, works_now) in topology.subnets.iter().zip(&self.subnets) {
            let routers = subnet.routers.iter();
            let mut up = routers.filter(|router| self.routers[**router]);
            if let (true, Some(first)) = (*works_now, up.next()) {
                for other in up {
                    let (a, b) = (root(&mut parent, *first), root(&mut parent, *other));
                    parent[b] = a;
                }
            }
        }
        (0..parent.len())
            .map(|router| root(&mut parent, router))
            .collect()
    }
}
