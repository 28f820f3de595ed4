//! How updates spread: to all neighbours but the sender, with one hop less to live.
//!
//! An update is passed on once, when it is accepted. Where the router's last one was passed on less
//! than half a `min_lsu_interval` before, it waits, and only the newest that came is passed on. A
//! router that sends updates at its own least interval never has to wait.
//!
//! PW-OSPF has no acknowledgements and no exchange of databases. Two additions keep a router from
//! having to wait for everybody's next LSUINT. Both consist of updates as any router passes on:
//! - A new neighbour gets the database, and so does one whose own update has a number that it used
//!   before, since it must have restarted.
//! - Who sends an update that is older than the database's gets that one back, at most one for each
//!   router and `min_lsu_interval`. So does a neighbour that restarted.

use super::counters::Refusal;
use super::database::{Entry, Sender};
use super::machine::{Outgoing, Pwospf};
use super::wire::Lsu;
use core::net::Ipv4Addr;
use std::sync::Arc;
use trammel_core::Time;

impl Pwospf {
    pub(super) fn take_lsu(
        &mut self,
        now: Time,
        sender: Sender,
        router_id: Ipv4Addr,
        lsu: &Lsu<'_>,
    ) -> Result<(), Refusal> {
        if lsu.len() > self.config.limits.adverts {
            return Err(Refusal::TooManyAdverts);
        }
        if lsu.ttl == 0 {
            return Err(Refusal::Ttl);
        }
        if router_id == self.config.router_id {
            return self.take_own_lsu(now, sender, lsu);
        }
        let gap = self.config.min_lsu_interval / 2;
        let limit = self.config.limits.routers;
        let offer = (router_id, lsu);
        let has_restarted = self.database.shows_restart(router_id, lsu, sender);
        let offered = self.database.offer(now, offer, sender, gap, limit);
        if has_restarted || offered == Err(Refusal::StaleSequence) {
            self.answer(now, sender, router_id);
        }
        if has_restarted {
            self.welcome_back(now, sender);
        }
        let accepted = offered?;
        self.counters.lsus_accepted += 1;
        if lsu.ttl == 1 {
            self.counters.lsus_expired += 1;
        }
        if accepted.changed {
            self.paths_changed(now);
        }
        if accepted.flood {
            self.pass_on(router_id, sender);
        }
        Ok(())
    }

    /// Passes the update of `router_id` on that the database has.
    fn pass_on(&mut self, router_id: Ipv4Addr, sender: Sender) {
        if let Some(packet) = self.database.get(router_id).and_then(Entry::packet) {
            self.flood(&packet, Some(sender));
        }
    }

    /// Passes on updates whose wait is over.
    pub(super) fn flood_deferred(&mut self, now: Time) {
        while let Some((router_id, sender)) = self.database.pop_deferred(now) {
            self.pass_on(router_id, sender);
        }
    }

    /// Sends an update to all neighbours but the one it came from; their number.
    pub(super) fn flood(&mut self, packet: &Arc<[u8]>, except: Option<Sender>) -> usize {
        let mut receivers = 0;
        for interface in 0..self.interfaces.len() {
            for at in 0..self.interfaces[interface].neighbours.as_slice().len() {
                let neighbour = self.interfaces[interface].neighbours.as_slice()[at];
                let is_sender = except.is_some_and(|sender| {
                    sender.router_id == Some(neighbour.router_id)
                        || (sender.interface, sender.address) == (interface, neighbour.address)
                });
                if !is_sender {
                    receivers += 1;
                    self.send_lsu_to(interface, neighbour.address, Arc::clone(packet));
                }
            }
        }
        receivers
    }

    pub(super) fn send_lsu_to(
        &mut self,
        interface: usize,
        destination: Ipv4Addr,
        payload: Arc<[u8]>,
    ) {
        let packet = Outgoing {
            interface,
            destination,
            payload,
        };
        if self.send(packet) {
            self.counters.lsus_sent += 1;
        }
    }

    /// Sends the database's update of `router_id` to who sent another.
    fn answer(&mut self, now: Time, sender: Sender, router_id: Ipv4Addr) {
        let gap = self.config.min_lsu_interval;
        if let Some(entry) = self.database.get_mut(router_id)
            && now >= entry.answer_after
        {
            entry.answer_after = now + gap;
            if let Some(packet) = entry.packet() {
                self.send_lsu_to(sender.interface, sender.address, packet);
            }
        }
    }

    /// Gives a neighbour that restarted what it forgot: the database, and a new update of this
    /// router.
    fn welcome_back(&mut self, now: Time, sender: Sender) {
        let interface = &mut self.interfaces[sender.interface];
        if let Some(neighbour) = interface.neighbours.by_address(sender.address)
            && now >= neighbour.resync_after
        {
            neighbour.resync_after = now + self.config.hello_interval;
            self.synchronise(now, sender.interface, sender.address);
            self.plan_update(now);
        }
    }

    /// Sends the entries of other routers to a neighbour. Entries that missed their refresh are
    /// left out, since their router may be gone, and the copy would begin a life of its own.
    pub(super) fn synchronise(&mut self, now: Time, interface: usize, address: Ipv4Addr) {
        let fresh = self.database.iter().filter(|(_, entry)| {
            now.saturating_since(entry.refreshed) < self.config.lsu_interval * 2
        });
        let packets: Vec<_> = fresh.filter_map(|(_, entry)| entry.packet()).collect();
        for packet in packets {
            self.send_lsu_to(interface, address, packet);
        }
    }
}
