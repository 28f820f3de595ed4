//! The table of routes: connected, static and learned ones, and which of them are in force.
//!
//! In force is, for each network, the route of the best origin whose interface is up: connected
//! before static before learned. The longest prefix stands first, so the first match is the right
//! one for software and for a ternary table alike.

use crate::address::{is_host, network, prefix_length};
use crate::dataplane::Route;
use crate::interface::Interface;
use core::net::Ipv4Addr;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Static routes, and learned ones, at most.
pub(crate) const MOST_ROUTES: usize = 4096;

/// Where a route comes from, the better first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// The network of an interface.
    Connected,
    /// A file or a command.
    Static,
    /// PW-OSPF.
    Learned,
}

/// A network: address and mask.
type Network = (Ipv4Addr, Ipv4Addr);

/// All routes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Routes {
    configured: BTreeMap<Network, Route>,
    learned: Vec<Route>,
    in_force: Vec<(Route, Origin)>,
}

impl Routes {
    /// The routes in force, in order of precedence.
    pub(crate) fn in_force(&self) -> &[(Route, Origin)] {
        &self.in_force
    }

    /// The static routes, in force or not.
    pub(crate) fn configured(&self) -> impl Iterator<Item = &Route> {
        self.configured.values()
    }

    /// The route that `destination` takes.
    pub(crate) fn lookup(&self, destination: Ipv4Addr) -> Option<Route> {
        (self.in_force.iter())
            .map(|(route, _)| *route)
            .find(|route| network(destination, route.mask) == route.network)
    }

    /// Adds a static route.
    pub(crate) fn add(&mut self, route: Route) -> Result<(), String> {
        let key = (route.network, route.mask);
        if let Some(old) = self.configured.get(&key) {
            return Err(format!(
                "{} mask {} has a static route by {} already: delete it first",
                route.network, route.mask, old.next_hop
            ));
        }
        if self.configured.len() >= MOST_ROUTES {
            return Err(format!(
                "{MOST_ROUTES} static routes are all there may be: delete one"
            ));
        }
        self.configured.insert(key, route);
        Ok(())
    }

    /// Deletes a static route, and tells whether there was one.
    pub(crate) fn delete(&mut self, network: Ipv4Addr, mask: Ipv4Addr) -> bool {
        self.configured.remove(&(network, mask)).is_some()
    }

    /// Replaces the learned routes; tells how many were too many.
    pub(crate) fn set_learned(&mut self, mut routes: Vec<Route>) -> usize {
        let beyond = routes.len().saturating_sub(MOST_ROUTES);
        routes.truncate(MOST_ROUTES);
        self.learned = routes;
        beyond
    }

    /// Finds what is in force while `up` tells which interfaces are.
    pub(crate) fn settle<'a>(&mut self, up: impl Fn(usize) -> Option<&'a Interface>, ports: usize) {
        let connected = (0..ports).filter_map(|port| {
            let interface = up(port)?;
            let route = Route {
                network: interface.network(),
                mask: interface.mask,
                next_hop: Ipv4Addr::UNSPECIFIED,
                port,
            };
            Some((route, Origin::Connected))
        });
        let configured = self
            .configured
            .values()
            .map(|route| (*route, Origin::Static));
        let learned = self.learned.iter().map(|route| (*route, Origin::Learned));
        let mut all: Vec<_> = connected.chain(configured).chain(learned).collect();
        all.retain(|(route, _)| up(route.port).is_some());
        all.sort_by_key(|(route, origin)| (Reverse(route.mask), route.network, *origin));
        all.dedup_by_key(|(route, _)| (route.mask, route.network));
        self.in_force = all;
    }
}

/// What is wrong with a static route, with what to do.
pub(crate) fn fault(route: &Route, interfaces: &[Interface]) -> Option<String> {
    let Route {
        network: destination,
        mask,
        next_hop,
        port,
    } = *route;
    if prefix_length(mask).is_none() {
        return Some(format!(
            "{mask} is no mask: give ones before zeros, for example 255.255.255.0"
        ));
    }
    if network(destination, mask) != destination {
        return Some(format!(
            "{destination} has bits that mask {mask} lacks: give network {}",
            network(destination, mask)
        ));
    }
    if destination.octets()[0] >= 224 {
        return Some(format!("{destination} is a group: routes lead to hosts"));
    }
    if next_hop != Ipv4Addr::UNSPECIFIED && !is_host(next_hop) {
        return Some(format!(
            "{next_hop} is no gateway: give a host's address, or 0.0.0.0 where the network is \
             connected"
        ));
    }
    if interfaces
        .iter()
        .any(|interface| interface.address == next_hop)
    {
        return Some(format!(
            "{next_hop} is this router: give the next router's address"
        ));
    }
    if port >= interfaces.len() {
        return Some(format!(
            "port {port} has no interface: there are {}",
            interfaces.len()
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(network: [u8; 4], mask: [u8; 4], port: usize) -> Route {
        Route {
            network: network.into(),
            mask: mask.into(),
            next_hop: Ipv4Addr::new(10, 0, port as u8, 2),
            port,
        }
    }

    fn interfaces() -> [Interface; 2] {
        [0, 1].map(|port| Interface {
            name: format!("eth{port}"),
            address: Ipv4Addr::new(10, 0, port, 1),
            mask: Ipv4Addr::new(255, 255, 255, 0),
            mac: [2, 0, 0, 0, 0, port],
        })
    }

    #[test]
    fn the_longest_prefix_is_first_and_the_best_origin_alone() {
        let mut routes = Routes::default();
        routes.add(route([0; 4], [0; 4], 0)).unwrap();
        routes.add(route([20, 0, 0, 0], [255, 0, 0, 0], 0)).unwrap();
        let learned = [
            route([20, 0, 0, 0], [255, 0, 0, 0], 1),
            route([20, 1, 0, 0], [255, 255, 0, 0], 1),
        ];
        assert_eq!(routes.set_learned(learned.to_vec()), 0);
        let interfaces = interfaces();
        routes.settle(|port| interfaces.get(port), 2);
        let origins: Vec<_> = routes
            .in_force()
            .iter()
            .map(|(_, origin)| *origin)
            .collect();
        use Origin::{Connected, Learned, Static};
        assert_eq!(origins, [Connected, Connected, Learned, Static, Static]);
        let port = |last: [u8; 4]| routes.lookup(last.into()).map(|route| route.port);
        assert_eq!(port([20, 1, 0, 1]), Some(1));
        assert_eq!(port([20, 2, 0, 1]), Some(0));
        assert_eq!(port([10, 0, 1, 7]), Some(1));
        assert_eq!(port([99, 0, 0, 1]), Some(0));
    }

    #[test]
    fn an_interface_that_is_down_has_no_routes() {
        let mut routes = Routes::default();
        routes.add(route([0; 4], [0; 4], 0)).unwrap();
        let interfaces = interfaces();
        routes.settle(|port| interfaces.get(port).filter(|_| port == 1), 2);
        assert_eq!(routes.in_force().len(), 1);
        assert_eq!(routes.lookup(Ipv4Addr::new(99, 0, 0, 1)), None);
        assert_eq!(routes.configured().count(), 1);
    }

    #[test]
    fn each_fault_of_a_route_has_its_message() {
        let interfaces = interfaces();
        let good = route([20, 0, 0, 0], [255, 0, 0, 0], 0);
        assert_eq!(fault(&good, &interfaces), None);
        let cases = [
            (route([20, 0, 0, 0], [255, 0, 255, 0], 0), "no mask"),
            (route([20, 0, 0, 1], [255, 0, 0, 0], 0), "bits"),
            (route([224, 0, 0, 0], [255, 0, 0, 0], 0), "group"),
            (
                Route {
                    next_hop: [127, 0, 0, 1].into(),
                    ..good
                },
                "no gateway",
            ),
            (
                Route {
                    next_hop: [10, 0, 1, 1].into(),
                    ..good
                },
                "this router",
            ),
            (Route { port: 2, ..good }, "no interface"),
        ];
        for (route, says) in cases {
            let fault = fault(&route, &interfaces).expect("a fault");
            assert!(fault.contains(says), "{fault}");
        }
    }

    #[test]
    fn a_network_has_one_static_route() {
        let mut routes = Routes::default();
        routes.add(route([0; 4], [0; 4], 0)).unwrap();
        assert!(routes.add(route([0; 4], [0; 4], 1)).is_err());
        assert!(routes.delete([0; 4].into(), [0; 4].into()));
        assert!(!routes.delete([0; 4].into(), [0; 4].into()));
    }
}
