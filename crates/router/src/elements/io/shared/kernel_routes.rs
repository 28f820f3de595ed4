//! What the kernel's table of routes means to a router that has some of the kernel's interfaces.
//!
//! A network has one entry: where packets to it go, or that they are dropped. It is never left out,
//! since the route of a larger network would have its packets otherwise. Of several routes to one
//! network that of the lowest metric counts, and of equal ones the first, as in `fib_table_lookup`
//! of Linux; one whose interfaces are all down is passed over. Routes of the table of local
//! addresses come before all others, whatever their networks.

use crate::host::{KernelEvent, RouteKind};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// A network: its address and its bits.
pub(crate) type Network = (Ipv4Addr, u8);

/// A router, or none where the network is attached, and the interface.
type Hop = (Option<IpAddr>, u32);

/// Where packets to a network go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By a router, or none, to the output of an interface.
    Hop(Option<Ipv4Addr>, usize),
    /// To this machine itself.
    Local,
    /// Nowhere: the kernel refuses them.
    Refused,
    /// They would go by an interface that this router does not have, or by a router with an IPv6
    /// address.
    Elsewhere,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Route {
    metric: u32,
    kind: RouteKind,
    hops: Vec<Hop>,
}

/// The kernel's routes, and what is needed to understand them.
#[derive(Debug, Default)]
pub(crate) struct KernelRoutes {
    /// The interfaces that this router has, in the order of its outputs.
    interfaces: Vec<String>,
    /// Numbers of interfaces to their places there.
    places: BTreeMap<u32, usize>,
    /// The routes of a network, in the order in which the kernel asks them.
    routes: BTreeMap<Network, Vec<Route>>,
    local: BTreeSet<Network>,
    is_complete: bool,
    is_unsettled: bool,
}

impl KernelRoutes {
    /// No routes yet, for a router that has these interfaces.
    pub(crate) fn new(interfaces: Vec<String>) -> KernelRoutes {
        KernelRoutes {
            interfaces,
            ..KernelRoutes::default()
        }
    }

    /// The place of an interface, where it is one of this router's.
    pub(crate) fn place(&self, interface: u32) -> Option<usize> {
        self.places.get(&interface).copied()
    }

    /// Whether all there was has been told.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether something was told since the last call that leaves in doubt how the kernel's routes
    /// are.
    pub(crate) fn take_unsettled(&mut self) -> bool {
        std::mem::take(&mut self.is_unsettled)
    }

    /// Takes in what was told.
    pub(crate) fn learn(&mut self, event: KernelEvent) {
        match event {
            KernelEvent::Restart => {
                self.routes.clear();
                self.local.clear();
                self.places.clear();
                self.is_complete = false;
            }
            KernelEvent::Complete => self.is_complete = true,
            KernelEvent::Unsettled => self.is_unsettled = true,
            KernelEvent::Link { index, name } => {
                match self.interfaces.iter().position(|one| *one == name) {
                    Some(place) => self.places.insert(index, place),
                    None => self.places.remove(&index),
                };
            }
            KernelEvent::Route {
                is_there,
                kind: RouteKind::Local,
                destination: IpAddr::V4(destination),
                prefix,
                ..
            } => {
                let network = (destination, prefix);
                if is_there {
                    self.local.insert(network);
                } else {
                    self.local.remove(&network);
                    // Several interfaces may have one address.
                    self.is_unsettled = true;
                }
            }
            KernelEvent::Route {
                is_there,
                kind,
                replaces,
                destination: IpAddr::V4(destination),
                prefix,
                metric,
                hops,
            } => {
                let network = (destination, prefix);
                let route = Route { metric, kind, hops };
                self.change(network, is_there, replaces, route);
            }
            _ => {}
        }
    }

    /// A route came or went. Which one of equal metrics is not told, nor its place among them.
    fn change(&mut self, network: Network, is_there: bool, replaces: bool, route: Route) {
        let routes = self.routes.entry(network).or_default();
        let equal = |one: &Route| one.metric == route.metric;
        let count = routes.iter().filter(|one| equal(one)).count();
        self.is_unsettled |= self.is_complete && count > usize::from(replaces || !is_there);
        if is_there {
            if replaces && let Some(one) = routes.iter_mut().find(|one| equal(one)) {
                *one = route;
            } else {
                let at = routes.partition_point(|one| one.metric <= route.metric);
                routes.insert(at, route);
            }
        } else {
            let same = routes.iter().position(|one| *one == route);
            if let Some(at) = same.or_else(|| routes.iter().position(equal)) {
                routes.remove(at);
            }
            if routes.is_empty() {
                self.routes.remove(&network);
            }
        }
    }

    /// Where the packets of a route go; none where it is passed over. And whether they would be
    /// shared among several ways.
    fn way(&self, route: &Route) -> Option<(Way, bool)> {
        if route.kind != RouteKind::Unicast {
            return Some((Way::Refused, false));
        }
        let ours = route.hops.iter().filter_map(|(gateway, interface)| {
            let place = self.place(*interface)?;
            match gateway {
                Some(IpAddr::V4(gateway)) => Some(Way::Hop(Some(*gateway), place)),
                Some(IpAddr::V6(_)) => None,
                None => Some(Way::Hop(None, place)),
            }
        });
        if route.hops.is_empty() {
            return None;
        }
        let mut ours = ours;
        Some((ours.next().unwrap_or(Way::Elsewhere), route.hops.len() > 1))
    }

    /// Where the packets to each network go. `shared` gets the networks of which the kernel shares
    /// packets among several ways, where the first of these stands for all.
    pub(crate) fn ways(
        &self,
        with_local: bool,
        shared: &mut BTreeSet<Network>,
    ) -> BTreeMap<Network, Way> {
        let mut ways = BTreeMap::new();
        for (network, routes) in &self.routes {
            let found = routes.iter().find_map(|route| self.way(route));
            if let Some((way, is_shared)) = found {
                if is_shared {
                    shared.insert(*network);
                }
                ways.insert(*network, way);
            }
        }
        if with_local {
            ways.retain(|network, _| !self.local.iter().any(|local| holds(*local, *network)));
            ways.extend(self.local.iter().map(|network| (*network, Way::Local)));
        }
        ways
    }
}

/// Whether all addresses of `inner` are `outer`'s.
fn holds(outer: Network, inner: Network) -> bool {
    let mask = |bits: u8| u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
    outer.1 <= inner.1 && (outer.0.to_bits() ^ inner.0.to_bits()) & mask(outer.1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        let (address, bits) = text.split_once('/').expect("a network");
        (
            address.parse().expect("an address"),
            bits.parse().expect("bits"),
        )
    }

    fn route(
        is_there: bool,
        to: &str,
        metric: u32,
        kind: RouteKind,
        hops: &[(&str, u32)],
    ) -> KernelEvent {
        let (destination, prefix) = network(to);
        let hops = hops.iter();
        KernelEvent::Route {
            is_there,
            kind,
            replaces: false,
            destination: destination.into(),
            prefix,
            metric,
            hops: hops.map(|(by, at)| (by.parse().ok(), *at)).collect(),
        }
    }

    /// A router with `eth0` (3) and `eth1` (4), beside which the kernel has `wlan0` (5).
    fn known(events: impl IntoIterator<Item = KernelEvent>) -> KernelRoutes {
        let mut routes = KernelRoutes::new(vec!["eth0".into(), "eth1".into()]);
        for (index, name) in [(3, "eth0"), (4, "eth1"), (5, "wlan0")] {
            let name = name.to_owned();
            routes.learn(KernelEvent::Link { index, name });
        }
        routes.learn(KernelEvent::Complete);
        events.into_iter().for_each(|event| routes.learn(event));
        routes
    }

    fn way(routes: &KernelRoutes, to: &str) -> Option<Way> {
        routes
            .ways(true, &mut BTreeSet::new())
            .get(&network(to))
            .copied()
    }

    const NET: &str = "10.0.0.0/8";
    use RouteKind::{Local, Refused, Unicast};

    #[test]
    fn the_lowest_metric_counts_and_none_is_left_out() {
        let mut routes = known([
            route(true, NET, 20, Unicast, &[("10.0.0.1", 4)]),
            route(true, NET, 10, Unicast, &[("", 3)]),
        ]);
        assert_eq!(way(&routes, NET), Some(Way::Hop(None, 0)));
        routes.learn(route(false, NET, 10, Unicast, &[("", 3)]));
        let gateway = Some(Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(way(&routes, NET), Some(Way::Hop(gateway, 1)));
        routes.learn(route(true, NET, 1, Unicast, &[("", 5)]));
        assert_eq!(way(&routes, NET), Some(Way::Elsewhere));
        routes.learn(route(true, NET, 0, Refused, &[]));
        assert_eq!(way(&routes, NET), Some(Way::Refused));
        assert!(!routes.take_unsettled());
    }

    #[test]
    fn a_route_of_interfaces_that_are_down_is_passed_over() {
        let routes = known([
            route(true, NET, 1, Unicast, &[]),
            route(true, NET, 2, Unicast, &[("", 4)]),
        ]);
        assert_eq!(way(&routes, NET), Some(Way::Hop(None, 1)));
        assert_eq!(way(&known([route(true, NET, 1, Unicast, &[])]), NET), None);
    }

    #[test]
    fn a_router_with_an_address_of_ipv6_is_not_taken_for_an_attached_network() {
        let routes = known([route(true, NET, 1, Unicast, &[("fe80::1", 3)])]);
        assert_eq!(way(&routes, NET), Some(Way::Elsewhere));
    }

    #[test]
    fn several_ways_are_told_of() {
        let routes = known([route(true, NET, 1, Unicast, &[("10.9.9.9", 5), ("", 4)])]);
        let mut shared = BTreeSet::new();
        assert_eq!(
            routes.ways(false, &mut shared)[&network(NET)],
            Way::Hop(None, 1)
        );
        assert_eq!(shared, BTreeSet::from([network(NET)]));
    }

    #[test]
    fn local_addresses_come_before_smaller_networks() {
        let routes = known([
            route(true, "10.1.0.0/16", 0, Local, &[]),
            route(true, "10.1.2.0/24", 0, Unicast, &[("", 3)]),
            route(true, NET, 0, Unicast, &[("", 4)]),
        ]);
        assert_eq!(way(&routes, "10.1.2.0/24"), None);
        assert_eq!(way(&routes, "10.1.0.0/16"), Some(Way::Local));
        assert_eq!(way(&routes, NET), Some(Way::Hop(None, 1)));
        let without = routes.ways(false, &mut BTreeSet::new());
        assert_eq!(without[&network("10.1.2.0/24")], Way::Hop(None, 0));
    }

    #[test]
    fn what_is_in_doubt_is_told() {
        let one = || route(true, NET, 1, Unicast, &[("", 3)]);
        let mut routes = known([one()]);
        assert!(!routes.take_unsettled());
        routes.learn(route(true, NET, 1, Unicast, &[("", 4)]));
        assert!(routes.take_unsettled(), "before or after it?");
        routes.learn(route(false, NET, 1, Unicast, &[("", 4)]));
        assert!(routes.take_unsettled(), "which of them?");
        routes.learn(KernelEvent::Unsettled);
        assert!(routes.take_unsettled());
    }
}
