//! Routers as devices: each a functional reference router with its control software, with real
//! frames between them and from host to host.
//!
//! Cards and software take no time. Links have their delay and their rate. A host on each subnet of
//! hosts sends a UDP packet to each other host every 100 ms, takes what arrives, and answers ARP.

pub(crate) mod frame;
pub(crate) mod looks;
pub(crate) mod node;

use frame::Content;
use looks::Looks;
use node::{Life, Sent};
use std::rc::Rc;
use trammel_control::config::Error;
use trammel_control::network::{
    AtEnd, Change, Fate, INTERVAL, Recorder, Report, Settings, Topology, Works,
};
use trammel_core::units::TxTime;
use trammel_core::{EventQueue, Time};
use trammel_netfpga::Design;

/// Bytes of a frame without FCS on a line, beside its own: FCS, preamble and gap.
pub(crate) const BESIDE: u64 = 4 + 20;
/// Bytes of a frame without FCS, at least.
pub(crate) const LEAST: u64 = 60;

enum Event {
    Timeout(usize),
    Arrival(Arrival),
    Change(Change),
    Look,
}

/// Where a frame goes.
#[derive(Clone, Copy)]
enum To {
    /// A router, its port, and how often it had failed when the frame was sent.
    Router(usize, usize, u32),
    /// The host at this place among the sources of probes.
    Host(usize),
}

/// A frame on a subnet.
struct Arrival {
    to: To,
    frame: Rc<[u8]>,
    /// The subnet, and how often it had failed when the frame was sent.
    subnet: (usize, u32),
}

struct Node {
    life: Option<Box<Life>>,
    /// The subnets of the ports.
    subnets: Vec<usize>,
    /// When each port has sent all it was given.
    free: Vec<Time>,
    /// When its earliest timeout in the queue is.
    wake: Time,
    generation: u64,
    incarnation: u32,
}

/// Routers as devices on a topology.
pub(crate) struct Devices<'a> {
    topology: &'a Topology,
    settings: &'a Settings,
    design: &'static Design,
    nodes: Vec<Node>,
    works: Works,
    failures: Vec<u32>,
    events: EventQueue<Event>,
    looks: Looks,
    found: Recorder,
    spf_runs_of_the_dead: u64,
    now: Time,
}

impl<'a> Devices<'a> {
    /// The routers of `topology`, which start at instant 0, and what changes when.
    ///
    /// # Errors
    ///
    /// What the control software refuses of its configuration.
    pub(crate) fn new(
        topology: &'a Topology,
        settings: &'a Settings,
        changes: &[(Time, Change)],
    ) -> Result<Devices<'a>, Error> {
        let design = trammel_netfpga::design("reference-router").expect("the design is built in");
        let count = topology.routers.len();
        for router in 0..count {
            Life::new(node::config_of(topology, settings, router), design)?;
        }
        let mut events = EventQueue::new();
        for (at, change) in changes {
            events.push(*at, Event::Change(*change));
        }
        events.push(Time::ZERO + INTERVAL, Event::Look);
        let node = |subnets: Vec<usize>| Node {
            life: None,
            free: vec![Time::ZERO; subnets.len()],
            subnets,
            wake: Time::MAX,
            generation: 0,
            incarnation: 0,
        };
        let looks = Looks::new(topology);
        let mut devices = Devices {
            nodes: (0..count)
                .map(|router| node(topology.subnets_of(router)))
                .collect(),
            works: Works::subnets_of(topology),
            failures: vec![0; topology.subnets.len()],
            found: Recorder::new(looks.pairs()),
            looks,
            events,
            spf_runs_of_the_dead: 0,
            now: Time::ZERO,
            topology,
            settings,
            design,
        };
        for router in 0..count {
            devices.start(router);
        }
        Ok(devices)
    }

    /// Runs up to and including the events at `end`.
    pub(crate) fn run_until(&mut self, end: Time) {
        while self.events.peek_time().is_some_and(|at| at <= end) {
            let Some((now, event)) = self.events.pop() else {
                break;
            };
            self.now = now;
            match event {
                Event::Timeout(router) => self.wake(router),
                Event::Arrival(arrival) => self.arrive(&arrival),
                Event::Change(change) => self.change(change),
                Event::Look => self.look(),
            }
        }
        self.now = self.now.max(end);
    }

    /// Ends the run. Probes that are on their way are left out.
    pub(crate) fn into_report(self) -> Report {
        let end = |node: &Node| node.life.as_ref().map_or(AtEnd::default(), |l| l.at_end());
        let routers = self.nodes.iter().map(end).collect();
        let spf_runs = self.spf_runs();
        self.found.finish(self.now, spf_runs, routers)
    }

    fn spf_runs(&self) -> u64 {
        let living = self.nodes.iter().filter_map(|node| node.life.as_ref());
        living.map(|life| life.spf_runs()).sum::<u64>() + self.spf_runs_of_the_dead
    }

    fn start(&mut self, router: usize) {
        if self.nodes[router].life.is_some() {
            return;
        }
        let config = node::config_of(self.topology, self.settings, router);
        let life = Life::new(config, self.design).expect("all configurations were tried before");
        let node = &mut self.nodes[router];
        node.life = Some(Box::new(life));
        (node.generation, node.wake) = (0, Time::MAX);
        self.works.routers[router] = true;
        self.act(router, Life::wake);
        let subnets = self.nodes[router].subnets.clone();
        for (port, subnet) in subnets.into_iter().enumerate() {
            if self.settings.has_carrier && !self.works.subnets[subnet] {
                self.act(router, |life, now| life.carrier(now, port, false));
            }
        }
    }

    fn wake(&mut self, router: usize) {
        // Of several wakings only the earliest counts; it sets the next.
        if self.nodes[router].wake == self.now {
            self.nodes[router].wake = Time::MAX;
            self.act(router, Life::wake);
        }
    }

    /// Has a router that lives do something; sends what leaves, notes its routes and timeout.
    fn act(&mut self, router: usize, action: impl FnOnce(&mut Life, Time) -> Vec<Sent>) {
        let now = self.now;
        let node = &mut self.nodes[router];
        let Some(life) = &mut node.life else {
            return;
        };
        let sent = action(life, now);
        let (generation, next) = (life.generation(), life.next_timeout().max(now));
        if generation != node.generation {
            node.generation = generation;
            self.found.table_changed(now);
        }
        if next < node.wake {
            node.wake = next;
            self.events.push(next, Event::Timeout(router));
        }
        for (port, frame) in sent {
            self.send_from(router, port, frame);
        }
    }

    fn send_from(&mut self, router: usize, port: usize, frame: Vec<u8>) {
        let Some(subnet) = self.nodes[router].subnets.get(port).copied() else {
            return;
        };
        let content = frame::content(&frame);
        if let Content::Control(kind, bytes) = content {
            self.found.sent(kind, bytes);
        }
        if !self.works.subnets[subnet] {
            if matches!(content, Content::Control(..)) {
                self.found.swallowed();
            }
            return;
        }
        let on_line = (frame.len() as u64).max(LEAST) + BESIDE;
        let sent = match self.topology.subnets[subnet].rate {
            Some(rate) => {
                let free = &mut self.nodes[router].free[port];
                *free = self.now.max(*free) + TxTime::new(rate).of(on_line);
                *free
            }
            None => self.now,
        };
        self.carry(subnet, Some(router), sent, &frame.into());
    }

    /// Has a frame that left `from`, or the host, cross a subnet.
    fn carry(&mut self, subnet: usize, from: Option<usize>, sent: Time, frame: &Rc<[u8]>) {
        let of = &self.topology.subnets[subnet];
        let at = sent + of.delay;
        let mut all: Vec<To> = Vec::new();
        let is_for = |mac: &[u8; 6]| frame[0] & 1 != 0 || frame[..6] == mac[..];
        for router in of.routers.iter().filter(|router| Some(**router) != from) {
            let node = &self.nodes[*router];
            let port = node.subnets.binary_search(&subnet);
            let port = port.expect("a router on a subnet has a port there");
            if is_for(&node::router_mac(*router, port)) {
                all.push(To::Router(*router, port, node.incarnation));
            }
        }
        let sources = &self.looks.sources;
        let host = sources.iter().position(|source| source.subnet == subnet);
        if from.is_some() && is_for(&node::host_mac(subnet)) {
            all.extend(host.map(To::Host));
        }
        let subnet = (subnet, self.failures[subnet]);
        for to in all {
            let frame = Rc::clone(frame);
            let arrival = Arrival { to, frame, subnet };
            self.events.push(at, Event::Arrival(arrival));
        }
    }

    fn arrive(&mut self, arrival: &Arrival) {
        let (subnet, failures) = arrival.subnet;
        let is_on_its_way = self.works.subnets[subnet] && self.failures[subnet] == failures;
        match arrival.to {
            To::Router(router, port, incarnation)
                if is_on_its_way
                    && self.nodes[router].life.is_some()
                    && self.nodes[router].incarnation == incarnation =>
            {
                let frame = &arrival.frame;
                self.act(router, |life, now| life.receive(now, port, frame));
            }
            To::Host(host) if is_on_its_way => self.host_takes(host, &arrival.frame),
            _ if matches!(frame::content(&arrival.frame), Content::Control(..)) => {
                self.found.swallowed();
            }
            _ => {}
        }
    }

    /// The host at place `host` takes a frame.
    fn host_takes(&mut self, host: usize, frame: &[u8]) {
        let source = self.looks.sources[host];
        let (subnet, router) = (source.subnet, source.router);
        let (mac, address) = (node::host_mac(subnet), self.topology.host(subnet));
        if let Some(answer) = frame::arp_answer(frame, mac, address) {
            let (now, answer) = (self.now, answer.into());
            self.carry(subnet, None, now, &answer);
        } else if let Some(number) = frame::exceeded(frame) {
            self.looks.note(number, Fate::Loops);
        } else if let (Content::Probe(number), Some(to)) =
            (frame::content(frame), frame::destination(frame))
            && self.looks.is_there(subnet, router, to)
        {
            self.looks.note(number, Fate::Arrives);
        }
    }

    fn look(&mut self) {
        self.looks.end(0, &mut self.found);
        for sending in self.looks.begin(self.now, self.topology, &self.works) {
            let source = self.looks.sources[sending.source];
            let subnets = &self.nodes[source.router].subnets;
            let port = subnets.binary_search(&source.subnet);
            let port = port.expect("a router on a subnet has a port there");
            let (router, host) = (
                node::router_mac(source.router, port),
                node::host_mac(source.subnet),
            );
            let from = self.topology.host(source.subnet);
            let frame = frame::probe(router, host, from, sending.target, sending.number);
            let now = self.now;
            self.carry(source.subnet, None, now, &frame.into());
        }
        self.events.push(self.now + INTERVAL, Event::Look);
    }

    fn change(&mut self, change: Change) {
        self.looks.end(0, &mut self.found);
        let (cause, runs) = (change.words(self.topology), self.spf_runs());
        self.found.begin(self.now, change, cause, runs);
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
                if let Some(life) = node.life.take() {
                    self.spf_runs_of_the_dead += life.spf_runs();
                }
            }
            Change::RouterUp(router) => self.start(router),
        }
    }

    fn set_subnet(&mut self, subnet: usize, works: bool) {
        self.works.subnets[subnet] = works;
        if !self.settings.has_carrier {
            return;
        }
        for router in &self.topology.subnets[subnet].routers {
            let port = self.nodes[*router].subnets.binary_search(&subnet);
            let port = port.expect("a router on a subnet has a port there");
            self.act(*router, |life, now| life.carrier(now, port, works));
        }
    }
}
