//! The router: what arrives, what is due, what is to be sent.

use super::config::{Config, Error, hello_seconds};
use super::counters::{Counters, Refusal};
use super::database::{Database, DatabaseEntry, Sender};
use super::interfaces::Interface;
use super::neighbours::Neighbour;
use super::origination::Own;
use super::paths::{self, Route};
use super::wire::{self, Body};
use core::net::Ipv4Addr;
use std::collections::VecDeque;
use std::sync::Arc;
use trammel_core::{Span, Time};

/// A packet to be sent, from the address of its interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The interface it leaves by.
    pub interface: usize,
    /// The destination: [`ALL_SPF_ROUTERS`](super::ALL_SPF_ROUTERS) or a neighbour.
    pub destination: Ipv4Addr,
    /// The payload of the IP packet of protocol [`PROTOCOL`](super::PROTOCOL).
    pub payload: Arc<[u8]>,
}

/// A PW-OSPF router, without I/O.
#[derive(Debug, Clone)]
pub struct Pwospf {
    pub(super) config: Config,
    /// HELLOINT as HELLOs carry it.
    pub(super) hello_seconds: u16,
    pub(super) interfaces: Vec<Interface>,
    pub(super) database: Database,
    pub(super) own: Own,
    /// Networks that are advertised beside those of the interfaces.
    pub(super) originated: Vec<(Ipv4Addr, Ipv4Addr)>,
    pub(super) counters: Counters,
    routes: Vec<Route>,
    generation: u64,
    spf_due: Option<Time>,
    spf_run: Option<Time>,
    queue: VecDeque<Outgoing>,
}

impl Pwospf {
    /// A router that starts at `now` with an empty database. Its first HELLOs are due at once.
    pub fn new(config: Config, now: Time) -> Result<Pwospf, Error> {
        config.check()?;
        let configs = config.interfaces.iter();
        let mut router = Pwospf {
            hello_seconds: hello_seconds(config.hello_interval)?,
            interfaces: configs.map(|each| Interface::new(*each, now)).collect(),
            database: Database::default(),
            own: Own::new(now),
            originated: Vec::new(),
            counters: Counters::default(),
            routes: Vec::new(),
            generation: 0,
            spf_due: Some(now),
            spf_run: None,
            queue: VecDeque::new(),
            config,
        };
        router.originate(now);
        Ok(router)
    }

    /// Takes the payload of an IP packet of protocol [`PROTOCOL`](super::PROTOCOL) that came from
    /// `source`. What cannot be right is counted and dropped.
    pub fn receive(&mut self, now: Time, interface: usize, source: Ipv4Addr, payload: &[u8]) {
        if let Err(reason) = self.accept(now, interface, source, payload) {
            self.counters.refuse(reason);
        }
    }

    fn accept(
        &mut self,
        now: Time,
        interface: usize,
        source: Ipv4Addr,
        payload: &[u8],
    ) -> Result<(), Refusal> {
        let receiver = self.interfaces.get_mut(interface).filter(|i| i.up);
        let receiver = receiver.ok_or(Refusal::InterfaceDown)?;
        let packet = wire::parse(payload)?;
        if packet.area != self.config.area {
            return Err(Refusal::Area);
        }
        if !receiver.can_hear(source) {
            return Err(Refusal::Source);
        }
        if packet.router_id.is_unspecified() {
            return Err(Refusal::NoId);
        }
        match packet.body {
            Body::Hello { mask, interval } => {
                let hello = (packet.router_id, mask, interval);
                self.take_hello(now, (interface, source), hello)
            }
            Body::Lsu(lsu) => {
                let neighbour = receiver.neighbours.by_address(source);
                let sender = Sender {
                    interface,
                    address: source,
                    router_id: neighbour.map(|neighbour| neighbour.router_id),
                };
                self.take_lsu(now, sender, packet.router_id, &lsu)
            }
        }
    }

    /// The instant at which [`Pwospf::handle_timeout`] has work next, [`Time::MAX`] where there is
    /// none to come.
    pub fn next_timeout(&self) -> Time {
        let interfaces = self.interfaces.iter().map(Interface::next_timeout).min();
        let own = self.own.next_timeout();
        interfaces
            .unwrap_or(Time::MAX)
            .min(self.database.next_timeout(self.entry_life()))
            .min(own)
            .min(self.spf_due.unwrap_or(Time::MAX))
    }

    /// Does all that is due at `now`; nothing where it is called too early.
    pub fn handle_timeout(&mut self, now: Time) {
        for interface in 0..self.interfaces.len() {
            if now >= self.interfaces[interface].hello_due {
                self.say_hello(now, interface);
            }
            let lost = self.interfaces[interface].neighbours.expire(now);
            self.lost_neighbours(now, lost);
        }
        let aged = self.database.expire(now, self.entry_life());
        if aged > 0 {
            self.counters.entries_aged += aged as u64;
            self.paths_changed(now);
        }
        self.flood_deferred(now);
        if now >= self.own.next_timeout() {
            self.originate(now);
        }
        if self.spf_due.is_some_and(|due| now >= due) {
            self.compute_paths(now);
        }
    }

    /// The next packet to send.
    pub fn poll_transmit(&mut self) -> Option<Outgoing> {
        self.queue.pop_front()
    }

    /// The routes in force, in the order of precedence: longest masks first. Those of the router's
    /// own subnets are among them, with `hops` 0.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// A number that grows whenever [`Pwospf::routes`] change.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The neighbours, each with its interface, in the order of interfaces and router ids.
    pub fn neighbours(&self) -> impl Iterator<Item = (usize, &Neighbour)> {
        let interfaces = self.interfaces.iter().enumerate();
        interfaces.flat_map(|(index, each)| {
            (each.neighbours.as_slice().iter()).map(move |neighbour| (index, neighbour))
        })
    }

    /// The link-state database: this router's own entry, then the others in the order of their ids.
    pub fn database(&self, now: Time) -> impl Iterator<Item = DatabaseEntry<'_>> {
        let own = self.own.entry(self.config.router_id, now);
        let others = self.database.iter().map(move |(router_id, entry)| {
            let age = now.saturating_since(entry.refreshed);
            DatabaseEntry {
                router_id,
                sequence: entry.sequence,
                age,
                adverts: &entry.adverts,
            }
        });
        std::iter::once(own).chain(others)
    }

    /// What the router counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The settings in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How long an entry lives without a refresh.
    fn entry_life(&self) -> Span {
        self.config.lsu_interval * 3
    }

    /// Paths are to be computed soon.
    pub(super) fn paths_changed(&mut self, now: Time) {
        let earliest = self
            .spf_run
            .map_or(now, |run| run + self.config.spf_interval);
        let due = earliest.max(now + self.config.hold_down);
        self.spf_due = Some(self.spf_due.map_or(due, |known| known.min(due)));
    }

    fn compute_paths(&mut self, now: Time) {
        (self.spf_due, self.spf_run) = (None, Some(now));
        self.counters.spf_runs += 1;
        let routes = paths::routes(
            self.config.router_id,
            &self.interfaces,
            &self.originated,
            &self.database,
        );
        if routes != self.routes {
            self.routes = routes;
            self.generation += 1;
        }
    }

    /// Puts a packet into the queue; whether there was room.
    pub(super) fn send(&mut self, packet: Outgoing) -> bool {
        let has_room = self.queue.len() < self.config.limits.queue;
        if has_room {
            self.queue.push_back(packet);
        } else {
            self.counters.queue_drops += 1;
        }
        has_room
    }

    /// Removes the packets that wait for an interface which is not what it was.
    pub(super) fn forget_packets(&mut self, interface: usize) {
        self.queue.retain(|packet| packet.interface != interface);
    }
}
