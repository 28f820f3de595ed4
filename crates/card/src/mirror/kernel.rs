//! What the kernel has, as tables of the card.
//!
//! Routes are in the order of their prefixes, the longest first, so the lowest row that matches is
//! the longest prefix. A network whose packets the kernel would send elsewhere, or refuse, within
//! one that the card has a route for gets a row whose next hop no neighbour has: its packets go to
//! the kernel unchanged. Where a table is too small, its last entries are left out. These are the
//! shortest prefixes, so what is left out goes to the kernel too.

use crate::tables::Tables;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use trammel_io::rtnetlink::{self, Change, Event};
use trammel_netfpga::stages::{PORTS, Queue, Queues};
use trammel_netfpga::tables::{ArpRow, ROWS, RouteRow};

/// `RT_TABLE_MAIN` and `RTN_UNICAST` (`linux/rtnetlink.h`).
const MAIN_TABLE: u32 = 254;
const UNICAST: u8 = 1;
/// Kinds of routes that pass no packet on: `RTN_BLACKHOLE` to `RTN_THROW`.
const REFUSING: std::ops::RangeInclusive<u8> = 6..=9;
/// Groups whose packets are for routing daemons: OSPF (RFC 2328 §A.1) and RIP (RFC 2453 §4.3).
const GROUPS: [Ipv4Addr; 3] = [
    Ipv4Addr::new(224, 0, 0, 5),
    Ipv4Addr::new(224, 0, 0, 6),
    Ipv4Addr::new(224, 0, 0, 9),
];
/// A next hop that no neighbour can have: packets by it go to the kernel.
const NOWHERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// A network: its bits, then its address.
type Network = (u8, Ipv4Addr);

/// Where packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By a port of the card.
    Port(Ipv4Addr, usize),
    /// To the kernel, which sends them elsewhere or refuses them.
    Kernel,
}

/// What the card has no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Routes.
    pub routes: usize,
    /// Neighbours.
    pub neighbours: usize,
    /// Own addresses.
    pub addresses: usize,
}

/// A host interface.
#[derive(Debug)]
struct Host {
    port: usize,
    mac: Option<[u8; 6]>,
}

/// What the kernel has.
#[derive(Debug)]
pub(super) struct Kernel {
    /// What names of host interfaces begin with.
    prefix: String,
    /// By the numbers of the interfaces.
    hosts: BTreeMap<u32, Host>,
    /// By interface.
    addresses: BTreeSet<(u32, Ipv4Addr)>,
    /// The routes of a network in the order of their metrics.
    routes: BTreeMap<Network, Vec<rtnetlink::Route>>,
    neighbours: BTreeMap<(u32, Ipv4Addr), [u8; 6]>,
    is_complete: bool,
    is_unsettled: bool,
}

impl Kernel {
    /// Of which nothing is known. The host interfaces are `prefix` and their port's number.
    pub(super) fn new(prefix: &str) -> Kernel {
        Kernel {
            prefix: prefix.to_owned(),
            hosts: BTreeMap::new(),
            addresses: BTreeSet::new(),
            routes: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            is_complete: false,
            is_unsettled: false,
        }
    }

    /// Whether all that there was has been told.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether something was told since the last call that leaves in doubt which routes there are.
    pub(super) fn take_unsettled(&mut self) -> bool {
        std::mem::take(&mut self.is_unsettled)
    }

    /// Takes in what was told.
    pub(super) fn learn(&mut self, event: Event) {
        match event {
            Event::Restart => {
                let prefix = std::mem::take(&mut self.prefix);
                *self = Kernel::new(&prefix);
            }
            Event::Complete => self.is_complete = true,
            Event::Unsettled => self.is_unsettled = true,
            Event::Link(Change::Del, link) => drop(self.hosts.remove(&link.index)),
            Event::Link(Change::Add, link) => {
                let port = link.name.strip_prefix(&self.prefix);
                let port = port.and_then(|rest| (0..PORTS).find(|port| port.to_string() == rest));
                match port {
                    Some(port) => drop(self.hosts.insert(
                        link.index,
                        Host {
                            port,
                            mac: link.mac,
                        },
                    )),
                    None => drop(self.hosts.remove(&link.index)),
                }
            }
            Event::Address(change, address) => {
                if let IpAddr::V4(of) = address.address {
                    let entry = (address.interface, of);
                    match change {
                        Change::Add => drop(self.addresses.insert(entry)),
                        Change::Del => drop(self.addresses.remove(&entry)),
                    }
                }
            }
            Event::Neighbour(change, of) => {
                let IpAddr::V4(address) = of.address else {
                    return;
                };
                let is_there = change == Change::Add && of.is_usable();
                // The kernel has entries for groups too; their packets are the kernel's.
                let mac = of.mac.filter(|mac| is_there && mac[0] & 1 == 0);
                match mac {
                    Some(mac) => drop(self.neighbours.insert((of.interface, address), mac)),
                    None => drop(self.neighbours.remove(&(of.interface, address))),
                }
            }
            Event::Route(change, route) => self.learn_route(change, route),
        }
    }

    /// A route came or went. Which one of equal metrics is not told, nor its place among them.
    fn learn_route(&mut self, change: Change, route: rtnetlink::Route) {
        let is_followed = route.kind == UNICAST || REFUSING.contains(&route.kind);
        let IpAddr::V4(destination) = route.destination else {
            return;
        };
        // Those of a type of service are for some packets of a network only.
        if route.table != MAIN_TABLE || route.tos != 0 || !is_followed {
            return;
        }
        let network = (route.prefix, destination);
        let all = self.routes.entry(network).or_default();
        let is_equal = |one: &rtnetlink::Route| one.metric == route.metric;
        let equals = all.iter().filter(|one| is_equal(one)).count();
        let expected = usize::from(route.replaces || change == Change::Del);
        self.is_unsettled |= self.is_complete && equals > expected;
        match change {
            Change::Add => {
                if route.replaces
                    && let Some(one) = all.iter_mut().find(|one| is_equal(one))
                {
                    *one = route;
                } else {
                    let at = all.partition_point(|one| one.metric <= route.metric);
                    all.insert(at, route);
                }
            }
            Change::Del => {
                let same = |one: &rtnetlink::Route| is_equal(one) && one.hops == route.hops;
                let at = all.iter().position(same);
                if let Some(at) = at.or_else(|| all.iter().position(is_equal)) {
                    all.remove(at);
                }
                if all.is_empty() {
                    self.routes.remove(&network);
                }
            }
        }
    }

    /// Where the packets of a route go; none where it is passed over, as one whose interfaces are
    /// down is. Of several hops, the first that is the card's stands for all.
    fn way(&self, route: &rtnetlink::Route) -> Option<Way> {
        if route.kind != UNICAST {
            return Some(Way::Kernel);
        }
        let mut live = route.hops.iter().filter(|hop| !hop.is_dead).peekable();
        live.peek()?;
        let ours = live.find_map(|hop| {
            let host = self.hosts.get(&hop.interface)?;
            match hop.gateway {
                Some(IpAddr::V4(gateway)) => Some(Way::Port(gateway, host.port)),
                Some(IpAddr::V6(_)) => None,
                None => Some(Way::Port(Ipv4Addr::UNSPECIFIED, host.port)),
            }
        });
        Some(ours.unwrap_or(Way::Kernel))
    }

    /// The rows of the routes, the longest prefixes first.
    fn route_rows(&self) -> Vec<RouteRow> {
        let way = |all: &Vec<rtnetlink::Route>| all.iter().find_map(|route| self.way(route));
        let ways: BTreeMap<Network, Way> = (self.routes.iter())
            .filter_map(|(network, all)| Some((*network, way(all)?)))
            .collect();
        // Without it, would the packets of a network go by a port?
        let is_covered = |(bits, address): &Network| {
            let mut wider = (0..*bits).rev();
            let around = wider.find_map(|bits| ways.get(&(bits, masked(*address, bits))));
            matches!(around, Some(Way::Port(..)))
        };
        let mut rows: Vec<(Network, RouteRow)> = Vec::new();
        for (network, way) in &ways {
            let (next_hop, port) = match way {
                Way::Port(next_hop, port) => (*next_hop, *port),
                Way::Kernel if is_covered(network) => (NOWHERE, 0),
                Way::Kernel => continue,
            };
            let row = RouteRow {
                network: network.1,
                mask: mask(network.0),
                next_hop,
                queues: Queues::one(Queue::mac(port)).0,
            };
            rows.push((*network, row));
        }
        rows.sort_by_key(|((bits, address), _)| (std::cmp::Reverse(*bits), *address));
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// The rows of the neighbours, those that routes need first.
    fn arp_rows(&self, routes: &[RouteRow]) -> Vec<ArpRow> {
        let needed: BTreeSet<Ipv4Addr> = routes.iter().map(|row| row.next_hop).collect();
        let ours = (self.neighbours.iter())
            .filter(|((interface, _), _)| self.hosts.contains_key(interface));
        let mut rows: Vec<ArpRow> = ours
            .map(|((_, address), mac)| ArpRow {
                address: *address,
                mac: *mac,
            })
            .collect();
        rows.sort_by_key(|row| (!needed.contains(&row.address), row.address));
        rows.dedup_by_key(|row| row.address);
        rows
    }

    /// Destinations for the host: the addresses of the host interfaces, groups, then its others.
    fn filter_rows(&self) -> Vec<Ipv4Addr> {
        let of = |is_ours: bool| {
            let all = self.addresses.iter();
            all.filter(move |(interface, _)| self.hosts.contains_key(interface) == is_ours)
                .map(|(_, address)| *address)
        };
        let others = of(false).filter(|address| !address.is_loopback());
        let mut rows = Vec::new();
        for address in of(true).chain(GROUPS).chain(others) {
            if !rows.contains(&address) {
                rows.push(address);
            }
        }
        rows
    }

    /// The tables that the card should have, and what they have no room for. MAC addresses of ports
    /// without a host interface stay as they are `before`.
    pub(super) fn tables(&self, before: &Tables) -> (Tables, Left) {
        let routes = self.route_rows();
        let used = &routes[..routes.len().min(ROWS)];
        let neighbours = self.arp_rows(used);
        let filter = self.filter_rows();
        let mut macs = before.macs;
        for host in self.hosts.values() {
            macs[host.port] = host.mac.unwrap_or(macs[host.port]);
        }
        let left = Left {
            routes: routes.len().saturating_sub(ROWS),
            neighbours: neighbours.len().saturating_sub(ROWS),
            addresses: filter.len().saturating_sub(ROWS),
        };
        let tables = Tables {
            routes: rows(&routes, RouteRow::EMPTY),
            neighbours: rows(&neighbours, ArpRow::EMPTY),
            filter: rows(&filter, Ipv4Addr::UNSPECIFIED),
            macs,
        };
        (tables, left)
    }
}

/// The first rows of a table, and `empty` ones behind them.
fn rows<T: Copy>(all: &[T], empty: T) -> [T; ROWS] {
    std::array::from_fn(|row| all.get(row).copied().unwrap_or(empty))
}

fn mask(bits: u8) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0))
}

fn masked(address: Ipv4Addr, bits: u8) -> Ipv4Addr {
    address & mask(bits)
}

#[cfg(test)]
mod tests;
