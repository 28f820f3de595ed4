//! Shortest paths by hop count over the links that both ends advertise, and the routes from them.
//!
//! Every link counts one hop, so Dijkstra's algorithm visits the routers level by level. Of equally
//! short paths, the one whose first hop has the lowest router id is taken, then the one through the
//! lowest interface.
//!
//! A link counts if each end advertises the same subnet with the other's id. A subnet belongs to
//! every router that advertises it, alone or not: its route leads to the nearest, of equally near
//! ones to that with the lowest first hop, then the lowest id. Each hop brings a packet nearer to a
//! router that has the subnet, so routers whose databases agree make no loop.

use super::database::{Advert, Database, Entry};
use super::interfaces::Interface;
use core::net::Ipv4Addr;
use std::cmp::Reverse;

/// A route that PW-OSPF found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Route {
    /// The destination network.
    pub network: Ipv4Addr,
    /// Its mask.
    pub mask: Ipv4Addr,
    /// The neighbour's address; 0.0.0.0 where the subnet is this router's own.
    pub next_hop: Ipv4Addr,
    /// The interface that packets leave by.
    pub interface: usize,
    /// Hops to the router that has the subnet; 0 where it is this router.
    pub hops: usize,
}

impl Route {
    /// The order of precedence: longest masks first.
    fn precedence(&self) -> (Reverse<u32>, Ipv4Addr, Ipv4Addr) {
        let ones = self.mask.to_bits().count_ones();
        (Reverse(ones), self.network, self.mask)
    }
}

/// A way to a router: hops, then the place of the first hop in the list of first hops.
type Way = (usize, usize);

/// The routers of the database in the order of their ids, and the best way to each.
struct Routers<'a> {
    list: Vec<(Ipv4Addr, &'a Entry)>,
    ways: Vec<Option<Way>>,
}

impl<'a> Routers<'a> {
    fn new(database: &'a Database) -> Routers<'a> {
        let list: Vec<_> = database.iter().collect();
        let ways = vec![None; list.len()];
        Routers { list, ways }
    }

    fn find(&self, id: Ipv4Addr) -> Option<usize> {
        self.list.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    /// Notes a way to `router`; whether it is the first.
    fn reach(&mut self, router: usize, way: Way) -> bool {
        let best = &mut self.ways[router];
        let is_first = best.is_none();
        if best.is_none_or(|known| way < known) {
            *best = Some(way);
        }
        is_first
    }

    /// The routers that `from` has a link to.
    fn linked(&self, from: usize) -> impl Iterator<Item = usize> {
        let (id, entry) = self.list[from];
        // The adverts are in the order of router ids, those without a neighbour first.
        let without = (entry.adverts).partition_point(|advert| advert.router_id.is_unspecified());
        entry.adverts[without..].iter().filter_map(move |advert| {
            let at = self.find(advert.router_id)?;
            (self.list[at].1.says(advert.network, advert.mask, id)).then_some(at)
        })
    }
}

/// A neighbour that a path can begin with.
struct FirstHop {
    router: usize,
    interface: usize,
    address: Ipv4Addr,
}

/// The neighbours that advertise this router as well, by id and then by interface.
fn first_hops(own: Ipv4Addr, interfaces: &[Interface], routers: &Routers<'_>) -> Vec<FirstHop> {
    let mut hops = Vec::new();
    for (index, interface) in interfaces.iter().enumerate() {
        let (network, mask) = (interface.config.network(), interface.config.mask);
        for neighbour in interface.neighbours.as_slice() {
            if let Some(router) = routers.find(neighbour.router_id)
                && routers.list[router].1.says(network, mask, own)
            {
                hops.push(FirstHop {
                    router,
                    interface: index,
                    address: neighbour.address,
                });
            }
        }
    }
    hops.sort_by_key(|hop| (hop.router, hop.interface));
    hops
}

/// Finds the best way to each router.
fn search(routers: &mut Routers<'_>, hops: &[FirstHop]) {
    let mut level = Vec::new();
    for (place, hop) in hops.iter().enumerate() {
        if routers.reach(hop.router, (1, place)) {
            level.push(hop.router);
        }
    }
    while !level.is_empty() {
        let mut next = Vec::new();
        for from in level {
            let (hops, first) = routers.ways[from].expect("a router of a level was reached");
            let linked: Vec<usize> = routers.linked(from).collect();
            for to in linked {
                if routers.reach(to, (hops + 1, first)) {
                    next.push(to);
                }
            }
        }
        level = next;
    }
}

/// The routes of a router, in the order of precedence. Subnets of its own interfaces are among
/// them; the networks that it originates are not.
pub(super) fn routes(
    own: Ipv4Addr,
    interfaces: &[Interface],
    originated: &[(Ipv4Addr, Ipv4Addr)],
    database: &Database,
) -> Vec<Route> {
    let mut routers = Routers::new(database);
    let hops = first_hops(own, interfaces, &routers);
    search(&mut routers, &hops);

    let mut found: Vec<(Route, usize, usize)> = Vec::new();
    let up = (interfaces.iter().enumerate()).filter(|(_, interface)| interface.up);
    for (index, interface) in up {
        let route = Route {
            network: interface.config.network(),
            mask: interface.config.mask,
            next_hop: Ipv4Addr::UNSPECIFIED,
            interface: index,
            hops: 0,
        };
        found.push((route, 0, index));
    }
    for (router, ((_, entry), way)) in routers.list.iter().zip(&routers.ways).enumerate() {
        let Some((distance, place)) = *way else {
            continue;
        };
        let first = &hops[place];
        let mut last = None;
        for &Advert { network, mask, .. } in &entry.adverts {
            // A subnet with several neighbours has several adverts.
            if last.replace((network, mask)) == Some((network, mask))
                || originated.contains(&(network, mask))
            {
                continue;
            }
            let route = Route {
                network,
                mask,
                next_hop: first.address,
                interface: first.interface,
                hops: distance,
            };
            found.push((route, place, router));
        }
    }
    found.sort_unstable_by_key(|(route, place, router)| {
        (route.precedence(), route.hops, *place, *router)
    });
    found.dedup_by_key(|(route, ..)| (route.network, route.mask));
    found.into_iter().map(|(route, ..)| route).collect()
}
