//! The router's state without its routing protocol and command line, and what settles it.

mod arp;
mod handed;
mod originate;
mod others;
mod ping;
mod receive;
mod timers;

pub(crate) use handed::Handed;
pub(crate) use ping::Outcome;

use crate::arp::cache::Cache;
use crate::arp::waiting::{Limits, Waiting};
use crate::config::Config;
use crate::counters::{Counter, Counters};
use crate::dataplane::{Dataplane, Mac, Neighbour, Route};
use crate::interface::Interface;
use crate::routes::{Routes, fault};
use core::net::Ipv4Addr;
use ping::Pings;
use std::collections::{BTreeSet, VecDeque};
use trammel_core::Time;
use trammel_core::token_bucket::TokenBucket;
use trammel_core::units::Rate;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::{U16, ether};

/// All routers of OSPF (RFC 2328 A.1), which PW-OSPF uses.
pub(crate) const ALL_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 5);

/// Frames that wait for [`Machine::poll_transmit`], at most.
const MOST_OUTPUT: usize = 4096;

/// Times a second, in the long run, that neighbours are handed over because of packets: a flood of
/// ARP costs each time the whole table.
const PACE_PER_SECOND: u64 = 100;

/// Times that they are handed over at once, at most.
const PACE_BURST: u64 = 64;

/// Bytes of a frame without FCS, at least (IEEE 802.3).
const LEAST_FRAME: usize = 60;

/// A port with its interface.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    pub(crate) interface: Interface,
    /// Whether it was put up.
    pub(crate) enabled: bool,
    /// Whether the data plane has no such port.
    pub(crate) missing: bool,
}

/// A PW-OSPF packet for the routing protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) port: usize,
    pub(crate) source: Ipv4Addr,
    pub(crate) payload: Vec<u8>,
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    now: Time,
    ports: Vec<Port>,
    routes: Routes,
    cache: Cache,
    waiting: Waiting,
    errors: TokenBucket,
    counters: Counters,
    output: VecDeque<(usize, Vec<u8>)>,
    handed: Handed,
    /// Addresses of nobody here whose packets are for the software all the same.
    others: BTreeSet<Ipv4Addr>,
    /// Whether the tables of the data plane may not be what they should.
    stale: bool,
    /// The same of its neighbours, after packets of others; `pace` says when they are handed over.
    stale_neighbours: bool,
    pace: TokenBucket,
    pings: Pings,
    identification: u16,
}

impl Machine {
    /// The machine of a configuration without faults.
    pub(crate) fn new(config: Config) -> Machine {
        let port = |interface| Port {
            interface,
            enabled: true,
            missing: false,
        };
        let limits = Limits {
            interval: config.arp_interval,
            requests: config.arp_requests,
            packets: config.arp_queue,
            hops: config.arp_next_hops,
        };
        // A message takes one byte of the bucket.
        let rate = Rate::from_bps(config.icmp_errors_per_second.saturating_mul(8));
        let mut machine = Machine {
            now: Time::ZERO,
            ports: config.interfaces.into_iter().map(port).collect(),
            routes: Routes::default(),
            cache: Cache::new(config.arp_lifetime, config.arp_interval, config.arp_entries),
            waiting: Waiting::new(limits),
            errors: TokenBucket::new(rate, config.icmp_errors_burst),
            counters: Counters::default(),
            output: VecDeque::new(),
            handed: Handed::default(),
            others: BTreeSet::new(),
            stale: true,
            stale_neighbours: false,
            pace: TokenBucket::new(Rate::from_bps(PACE_PER_SECOND * 8), PACE_BURST),
            pings: Pings::default(),
            identification: 0,
        };
        for route in config.routes {
            let added = machine.routes.add(route);
            debug_assert!(added.is_ok(), "the configuration has no faults");
        }
        machine.settle();
        machine
    }

    /// The latest instant that was given.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn ports(&self) -> &[Port] {
        &self.ports
    }

    pub(crate) fn routes(&self) -> &Routes {
        &self.routes
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn handed(&self) -> &Handed {
        &self.handed
    }

    /// The interface of `port`, if it is up.
    pub(crate) fn up(&self, port: usize) -> Option<&Interface> {
        let port = self.ports.get(port)?;
        (port.enabled && !port.missing).then_some(&port.interface)
    }

    /// Interfaces that are up, with their ports.
    pub(crate) fn all_up(&self) -> impl Iterator<Item = (usize, &Interface)> {
        (0..self.ports.len()).filter_map(|port| Some((port, self.up(port)?)))
    }

    /// The port whose connected network has `address`, the longest prefix first.
    pub(crate) fn port_of(&self, address: Ipv4Addr) -> Option<usize> {
        self.all_up()
            .filter(|(_, interface)| interface.reaches(address))
            .max_by_key(|(port, interface)| (interface.mask, std::cmp::Reverse(*port)))
            .map(|(port, _)| port)
    }

    /// Whether `address` is this router's.
    pub(crate) fn owns(&self, address: Ipv4Addr) -> bool {
        self.all_up()
            .any(|(_, interface)| interface.address == address)
    }

    /// Whether `address` means all hosts: of a connected network, or of the sender's.
    fn is_broadcast(&self, address: Ipv4Addr) -> bool {
        address.is_broadcast()
            || self
                .all_up()
                .any(|(_, interface)| interface.is_broadcast(address))
    }

    /// Changes static routes.
    pub(crate) fn change_routes<T>(&mut self, change: impl FnOnce(&mut Routes) -> T) -> T {
        let result = change(&mut self.routes);
        self.settle();
        result
    }

    /// Replaces the learned routes.
    pub(crate) fn set_learned(&mut self, mut routes: Vec<Route>) {
        let before = routes.len();
        let interfaces: Vec<_> = (self.ports.iter())
            .map(|port| port.interface.clone())
            .collect();
        routes.retain(|route| fault(route, &interfaces).is_none());
        let refused = before - routes.len();
        self.counters.event(Counter::RoutesRefused, refused as u64);
        let beyond = self.change_routes(|all| all.set_learned(routes));
        self.counters.event(Counter::RoutesFull, beyond as u64);
    }

    /// Changes the cache.
    pub(crate) fn change_cache<T>(&mut self, change: impl FnOnce(&mut Cache) -> T) -> T {
        self.stale = true;
        change(&mut self.cache)
    }

    /// Puts an interface up or down.
    pub(crate) fn enable(&mut self, port: usize, enabled: bool) {
        if self.ports[port].enabled != enabled {
            self.ports[port].enabled = enabled;
            self.forget(port);
        }
    }

    /// Gives an interface another address and mask.
    pub(crate) fn readdress(&mut self, port: usize, address: Ipv4Addr, mask: Ipv4Addr) {
        let interface = &mut self.ports[port].interface;
        (interface.address, interface.mask) = (address, mask);
        self.forget(port);
    }

    /// Drops what is known and waits at a port whose interface changed.
    fn forget(&mut self, port: usize) {
        self.cache.forget(port);
        let dropped = self.waiting.forget(port);
        self.counters.event(Counter::ArpInterfaceDown, dropped);
        self.settle();
    }

    /// Finds the routes in force anew.
    fn settle(&mut self) {
        self.stale = true;
        let mut routes = std::mem::take(&mut self.routes);
        routes.settle(|port| self.up(port), self.ports.len());
        self.routes = routes;
    }

    /// Hands the data plane the tables that changed.
    pub(crate) fn hand_over(&mut self, dataplane: &mut dyn Dataplane) {
        if !self.stale {
            if self.stale_neighbours && self.pace.take(self.now, 1) {
                self.stale_neighbours = false;
                let neighbours = self.neighbours();
                self.handed.neighbours(neighbours, dataplane);
            }
            return;
        }
        let places = dataplane.ports();
        if self.ports.iter().skip(places).any(|port| !port.missing) {
            for port in self.ports.iter_mut().skip(places) {
                port.missing = true;
            }
            self.settle();
        }
        (self.stale, self.stale_neighbours) = (false, false);
        let routes = self
            .routes
            .in_force()
            .iter()
            .map(|(route, _)| *route)
            .collect();
        let mut own: Vec<_> = self
            .all_up()
            .map(|(_, interface)| interface.address)
            .collect();
        own.push(ALL_ROUTERS);
        own.extend(self.others.iter().filter(|other| !self.owns(**other)));
        let neighbours = self.neighbours();
        let mut handed = std::mem::take(&mut self.handed);
        let interface = |port: usize| {
            let mac = self.ports.get(port).map(|port| port.interface.mac);
            (mac, self.up(port).is_some())
        };
        handed.ports(places, interface, dataplane);
        handed.own_addresses(own, dataplane);
        handed.neighbours(neighbours, dataplane);
        handed.routes(routes, dataplane);
        self.handed = handed;
    }

    /// When neighbours that changed are handed over.
    fn hand_over_at(&self) -> Option<Time> {
        (self.stale_neighbours).then(|| self.pace.earliest(self.now, 1))
    }

    /// Empties the data plane's table of neighbours; it is handed over with the next change.
    pub(crate) fn clear_hardware(&mut self, dataplane: &mut dyn Dataplane) {
        self.handed.no_neighbours(dataplane);
    }

    /// The neighbours: static ones first, then next hops of routes, then others by age.
    fn neighbours(&self) -> Vec<Neighbour> {
        let hops = self
            .routes
            .in_force()
            .iter()
            .map(|(route, _)| route.next_hop);
        let hops: BTreeSet<Ipv4Addr> = hops.collect();
        let known = self
            .cache
            .iter()
            .filter(|(_, entry)| self.up(entry.port).is_some());
        let mut all: Vec<_> = known
            .map(|(address, entry)| {
                let rank = match entry.confirmed {
                    None => 0,
                    Some(_) if hops.contains(&address) => 1,
                    Some(_) => 2,
                };
                let mac = entry.mac;
                ((rank, entry.number), Neighbour { address, mac })
            })
            .collect();
        all.sort_by_key(|(rank, _)| *rank);
        all.into_iter().map(|(_, neighbour)| neighbour).collect()
    }

    /// The next frame to send, with its port.
    pub(crate) fn poll_transmit(&mut self) -> Option<(usize, Vec<u8>)> {
        self.output.pop_front()
    }

    /// Queues a frame, padded to the least length.
    fn transmit(&mut self, port: usize, to: Mac, ethertype: u16, payload: &[u8]) {
        let Some(interface) = self.up(port) else {
            return;
        };
        if self.output.len() >= MOST_OUTPUT {
            self.counters.event(Counter::OutputFull, 1);
            return;
        }
        let header = Ether {
            dst: to,
            src: interface.mac,
            ethertype: U16::new(ethertype),
        };
        let mut frame = [header.bytes(), payload].concat();
        frame.resize(frame.len().max(LEAST_FRAME), 0);
        self.output.push_back((port, frame));
    }

    /// Sends a packet to all stations at `port`.
    fn broadcast(&mut self, port: usize, packet: &[u8]) {
        self.transmit(port, ether::BROADCAST, ethertype::IP, packet);
    }
}
