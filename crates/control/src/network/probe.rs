//! Looks along the routes: does a packet from each subnet of hosts reach each other one?
//!
//! A look costs nothing where no table and no link changed since the last one.

use super::record::{Fate, Recorder};
use super::topology::Topology;
use super::works::Works;
use crate::pwospf::Route;
use core::net::Ipv4Addr;
use trammel_core::Time;

/// Where the way of a packet ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Arrives,
    Lost,
    Loops,
}

/// A place that packets are for.
struct Target {
    router: usize,
    /// The subnet of hosts; none for the world outside.
    subnet: Option<usize>,
    address: Ipv4Addr,
}

pub(super) struct Probe {
    targets: Vec<Target>,
    /// The subnets that packets come from, each with its router.
    sources: Vec<(usize, usize)>,
    /// The next router on the way, by target and router, as the routers' tables say.
    next: Vec<Vec<Option<Hop>>>,
    /// The subnets of each router, in the order of its interfaces.
    interfaces: Vec<Vec<usize>>,
}

/// A step on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Hop {
    subnet: usize,
    router: usize,
}

impl Probe {
    pub(super) fn new(topology: &Topology) -> Probe {
        let sources: Vec<(usize, usize)> = topology.host_subnets().collect();
        let hosts = sources.iter().map(|(subnet, router)| Target {
            router: *router,
            subnet: Some(*subnet),
            address: topology.host(*subnet),
        });
        let outside = topology.gateway.map(|router| Target {
            router,
            subnet: None,
            address: Topology::OUTSIDE,
        });
        let targets: Vec<Target> = hosts.chain(outside).collect();
        let routers = topology.routers.len();
        Probe {
            next: vec![vec![None; routers]; targets.len()],
            interfaces: (0..routers).map(|each| topology.subnets_of(each)).collect(),
            sources,
            targets,
        }
    }

    /// Pairs of a source and a target.
    pub(super) fn pairs(&self) -> usize {
        self.sources.len() * self.targets.len()
    }

    /// Follows the table of `router`, which changed.
    pub(super) fn table(&mut self, topology: &Topology, router: usize, routes: &[Route]) {
        for (target, next) in self.targets.iter().zip(&mut self.next) {
            let address = target.address;
            let route = routes.iter().find(|r| address & r.mask == r.network);
            // Whoever has the subnet is there already.
            next[router] = route.filter(|r| r.hops > 0).and_then(|route| {
                let subnet = self.interfaces[router][route.interface];
                let mut there = topology.subnets[subnet].routers.iter();
                let router = there.find(|r| topology.address(subnet, **r) == route.next_hop);
                router.map(|router| Hop {
                    subnet,
                    router: *router,
                })
            });
        }
    }

    /// Follows all packets, of a look where anything changed since the last.
    pub(super) fn follow_all(
        &self,
        now: Time,
        topology: &Topology,
        works: &Works,
        found: &mut Recorder,
    ) {
        found.begin_look();
        let islands = works.islands(topology);
        let mut pair = 0;
        for (target, next) in self.targets.iter().zip(&self.next) {
            let ends = ends(target, next, works);
            let target_works = works.routers[target.router]
                && target.subnet.is_none_or(|subnet| works.subnets[subnet]);
            for (subnet, router) in &self.sources {
                let is_sent = works.routers[*router]
                    && works.subnets[*subnet]
                    && target.subnet != Some(*subnet);
                let has_path = target_works && islands[*router] == islands[target.router];
                let fate = match ends[*router] {
                    _ if !is_sent => Fate::NotSent,
                    End::Arrives => Fate::Arrives,
                    End::Loops => Fate::Loops,
                    End::Lost if has_path => Fate::Lost,
                    End::Lost => Fate::CutOff,
                };
                found.fate(now, pair, fate);
                pair += 1;
            }
        }
    }
}

/// Where a packet for `target` ends, from each router.
fn ends(target: &Target, next: &[Option<Hop>], works: &Works) -> Vec<End> {
    let mut ends: Vec<Option<End>> = vec![None; next.len()];
    let arrives = target.subnet.is_none_or(|subnet| works.subnets[subnet]);
    let at_target = works.routers[target.router] && arrives;
    let end = if at_target { End::Arrives } else { End::Lost };
    ends[target.router] = Some(end);
    let mut on_way = vec![false; next.len()];
    let mut way = Vec::new();
    for from in 0..next.len() {
        let mut at = from;
        let end = loop {
            if let Some(known) = ends[at] {
                break known;
            }
            if on_way[at] {
                break End::Loops;
            }
            on_way[at] = true;
            way.push(at);
            match next[at] {
                Some(hop)
                    if works.routers[at]
                        && works.subnets[hop.subnet]
                        && works.routers[hop.router] =>
                {
                    at = hop.router;
                }
                _ => break End::Lost,
            }
        };
        for router in way.drain(..) {
            ends[router] = Some(end);
        }
    }
    let known = ends.into_iter();
    known
        .map(|end| end.expect("every router was followed"))
        .collect()
}
