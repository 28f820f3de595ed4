//! The routers' events in virtual time.

use super::probe::Probe;
use super::record::{Kind, Recorder};
use super::report::{AtEnd, Report};
use super::settings::{Change, INTERVAL, Settings};
use super::topology::Topology;
use super::works::Works;
use crate::pwospf::{ALL_SPF_ROUTERS, Config, InterfaceConfig, Outgoing, Pwospf};
use core::net::Ipv4Addr;
use std::fmt;
use std::sync::Arc;
use trammel_core::units::TxTime;
use trammel_core::{EventQueue, Time};

enum Event {
    Start(usize),
    Timeout(usize),
    Arrival(Box<Arrival>),
    Change(Change),
    Look,
}

/// A packet on a subnet.
struct Arrival {
    router: usize,
    interface: usize,
    source: Ipv4Addr,
    payload: Arc<[u8]>,
    /// The subnet, and how often it had failed when the packet was sent.
    subnet: (usize, u32),
    /// How often the receiver had failed.
    incarnation: u32,
}

struct Node {
    ospf: Option<Pwospf>,
    /// The subnets of the interfaces.
    subnets: Vec<usize>,
    /// When each interface has sent all it was given.
    free: Vec<Time>,
    /// When its earliest timeout in the queue is.
    wake: Time,
    /// The generation of its routes that the probe knows.
    generation: u64,
    incarnation: u32,
}

/// Routers that run PW-OSPF on a topology.
pub struct Network {
    topology: Topology,
    settings: Settings,
    nodes: Vec<Node>,
    works: Works,
    failures: Vec<u32>,
    events: EventQueue<Event>,
    probe: Probe,
    /// A table or the topology changed since the last look.
    changed: bool,
    found: Recorder,
    spf_runs_of_the_dead: u64,
    now: Time,
}

impl Network {
    /// The routers of `topology`, which start at instant 0, and what changes when.
    ///
    /// # Panics
    ///
    /// Where `settings` are none that a router can have, or a number is not in the topology.
    pub fn new(topology: Topology, settings: Settings, changes: &[(Time, Change)]) -> Network {
        let count = topology.routers.len();
        let mut events = EventQueue::new();
        let mut start = Time::ZERO;
        for router in 0..count {
            events.push(start, Event::Start(router));
            start += settings.stagger;
        }
        for (at, change) in changes {
            events.push(*at, Event::Change(*change));
        }
        events.push(Time::ZERO + INTERVAL, Event::Look);
        let node = |subnets: Vec<usize>| Node {
            ospf: None,
            free: vec![Time::ZERO; subnets.len()],
            subnets,
            wake: Time::MAX,
            generation: 0,
            incarnation: 0,
        };
        let probe = Probe::new(&topology);
        Network {
            nodes: (0..count)
                .map(|router| node(topology.subnets_of(router)))
                .collect(),
            works: Works::subnets_of(&topology),
            failures: vec![0; topology.subnets.len()],
            found: Recorder::new(probe.pairs()),
            probe,
            events,
            changed: true,
            spf_runs_of_the_dead: 0,
            now: Time::ZERO,
            topology,
            settings,
        }
    }

    /// Runs up to and including the events at `end`.
    pub fn run_until(&mut self, end: Time) {
        while self.events.peek_time().is_some_and(|at| at <= end) {
            let Some((now, event)) = self.events.pop() else {
                break;
            };
            self.now = now;
            match event {
                Event::Start(router) => self.start(router),
                Event::Timeout(router) => self.wake(router),
                Event::Arrival(arrival) => self.arrive(&arrival),
                Event::Change(change) => self.change(change),
                Event::Look => {
                    if std::mem::take(&mut self.changed) {
                        let (topology, works) = (&self.topology, &self.works);
                        self.probe.follow_all(now, topology, works, &mut self.found);
                    }
                    self.found.look(now);
                    self.events.push(now + INTERVAL, Event::Look);
                }
            }
        }
        self.now = self.now.max(end);
    }

    /// The router of that number, unless it is dead or did not start yet.
    pub fn router(&self, router: usize) -> Option<&Pwospf> {
        self.nodes[router].ospf.as_ref()
    }

    /// Ends the run.
    pub fn into_report(self) -> Report {
        let at_end = |node: &Node| match &node.ospf {
            Some(ospf) => AtEnd {
                is_up: true,
                routes: ospf.routes().len(),
                neighbours: ospf.neighbours().count(),
                spf_runs: ospf.counters().spf_runs,
            },
            None => AtEnd::default(),
        };
        let routers = self.nodes.iter().map(at_end).collect();
        let spf_runs = self.spf_runs();
        self.found.finish(self.now, spf_runs, routers)
    }

    /// Computations of paths so far, by all routers.
    fn spf_runs(&self) -> u64 {
        let living = self.nodes.iter().filter_map(|node| node.ospf.as_ref());
        let runs: u64 = living.map(|ospf| ospf.counters().spf_runs).sum();
        runs + self.spf_runs_of_the_dead
    }

    fn start(&mut self, router: usize) {
        let node = &self.nodes[router];
        if node.ospf.is_some() {
            return;
        }
        let interfaces = node.subnets.iter().map(|subnet| InterfaceConfig {
            address: self.topology.address(*subnet, router),
            mask: self.topology.network(*subnet).1,
            up: !self.settings.has_carrier || self.works.subnets[*subnet],
        });
        let interfaces: Vec<_> = interfaces.collect();
        let config = Config {
            router_id: interfaces.first().map_or(unattached(router), |i| i.address),
            interfaces,
            ..self.settings.config_of(router).clone()
        };
        let mut ospf = Pwospf::new(config, self.now).expect("the caller's settings are right");
        if self.topology.gateway == Some(router) {
            let default = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
            ospf.set_originated(self.now, &[default]);
        }
        let node = &mut self.nodes[router];
        (node.ospf, node.generation, node.wake) = (Some(ospf), 0, Time::MAX);
        self.works.routers[router] = true;
        self.changed = true;
        self.after(router);
    }

    fn wake(&mut self, router: usize) {
        let node = &mut self.nodes[router];
        // Of several wakings only the earliest counts; it sets the next.
        if node.wake == self.now
            && let Some(ospf) = &mut node.ospf
        {
            node.wake = Time::MAX;
            ospf.handle_timeout(self.now);
            self.after(router);
        }
    }

    fn arrive(&mut self, arrival: &Arrival) {
        let (subnet, failures) = arrival.subnet;
        let node = &mut self.nodes[arrival.router];
        let on_its_way = self.works.subnets[subnet] && self.failures[subnet] == failures;
        match &mut node.ospf {
            Some(ospf) if on_its_way && node.incarnation == arrival.incarnation => {
                ospf.receive(
                    self.now,
                    arrival.interface,
                    arrival.source,
                    &arrival.payload,
                );
                self.after(arrival.router);
            }
            _ => self.found.swallowed(),
        }
    }

    /// Sends what a router has to send, notes its routes and its next timeout.
    fn after(&mut self, router: usize) {
        while let Some(packet) = self.nodes[router]
            .ospf
            .as_mut()
            .and_then(Pwospf::poll_transmit)
        {
            self.send(router, &packet);
        }
        let node = &mut self.nodes[router];
        let Some(ospf) = &node.ospf else {
            return;
        };
        if ospf.generation() != node.generation {
            node.generation = ospf.generation();
            self.probe.table(&self.topology, router, ospf.routes());
            self.found.table_changed(self.now);
            self.changed = true;
        }
        let next = ospf.next_timeout().max(self.now);
        if next < node.wake {
            node.wake = next;
            self.events.push(next, Event::Timeout(router));
        }
    }

    fn send(&mut self, router: usize, packet: &Outgoing) {
        let subnet = self.nodes[router].subnets[packet.interface];
        let source = self.topology.address(subnet, router);
        let bytes = packet.payload.len() as u64 + 20;
        let is_hello = packet.destination == ALL_SPF_ROUTERS;
        let kind = if is_hello { Kind::Hello } else { Kind::Lsu };
        self.found.sent(kind, bytes);
        if !self.works.subnets[subnet] {
            self.found.swallowed();
            return;
        }
        let sent = match self.topology.subnets[subnet].rate {
            Some(rate) => {
                let free = &mut self.nodes[router].free[packet.interface];
                *free = self.now.max(*free) + TxTime::new(rate).of(on_line(bytes));
                *free
            }
            None => self.now,
        };
        let there = &self.topology.subnets[subnet];
        for receiver in &there.routers {
            let address = || self.topology.address(subnet, *receiver);
            let is_for_it = is_hello || address() == packet.destination;
            if *receiver == router || !is_for_it {
                continue;
            }
            let node = &self.nodes[*receiver];
            let interface = node.subnets.binary_search(&subnet);
            let arrival = Arrival {
                router: *receiver,
                interface: interface.expect("a router on a subnet has an interface there"),
                source,
                payload: Arc::clone(&packet.payload),
                subnet: (subnet, self.failures[subnet]),
                incarnation: node.incarnation,
            };
            let at = sent + there.delay;
            self.events.push(at, Event::Arrival(Box::new(arrival)));
        }
    }

    fn change(&mut self, change: Change) {
        let (cause, runs) = (change.words(&self.topology), self.spf_runs());
        self.found.begin(self.now, change, cause, runs);
        self.changed = true;
        match change {
            Change::SubnetDown(subnet) => {
                self.failures[subnet] += 1;
                self.set_subnet(subnet, false);
            }
            Change::SubnetUp(subnet) => self.set_subnet(subnet, true),
            Change::RouterDown(router) => {
                self.works.routers[router] = false;
                let node = &mut self.nodes[router];
                node.incarnation += 1;
                if let Some(ospf) = node.ospf.take() {
                    self.spf_runs_of_the_dead += ospf.counters().spf_runs;
                }
                self.probe.table(&self.topology, router, &[]);
            }
            Change::RouterUp(router) => self.start(router),
        }
    }

    fn set_subnet(&mut self, subnet: usize, works: bool) {
        self.works.subnets[subnet] = works;
        if !self.settings.has_carrier {
            return;
        }
        for router in self.topology.subnets[subnet].routers.clone() {
            let node = &mut self.nodes[router];
            let interface = node.subnets.binary_search(&subnet);
            let interface = interface.expect("a router on a subnet has an interface there");
            if let Some(ospf) = &mut node.ospf {
                ospf.set_interface_up(self.now, interface, works)
                    .expect("the router has an interface for each of its subnets");
                self.after(router);
            }
        }
    }
}

/// The identity of a router without interfaces.
fn unattached(router: usize) -> Ipv4Addr {
    Ipv4Addr::from(0x0a00_0001 + ((router as u32) << 8))
}

/// Bytes that an IP packet takes on an Ethernet line: header, FCS, preamble and gap.
fn on_line(bytes: u64) -> u64 {
    (bytes + 18).max(64) + 20
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("now", &self.now)
            .field("topology", &self.topology)
            .finish_non_exhaustive()
    }
}
