//! ARP (RFC 826): answers, what is learned, and packets that wait for it.

use super::Machine;
use crate::address::{is_host, is_station};
use crate::arp::cache::{Entered, Entry};
use crate::arp::waiting::{Held, Hop};
use crate::counters::Counter;
use crate::dataplane::Mac;
use core::net::Ipv4Addr;
use trammel_packet::headers::U16;
use trammel_packet::headers::arp::{Arp, HRD_ETHERNET, OP_REPLY, OP_REQUEST};
use trammel_packet::headers::ether::{BROADCAST, ethertype};

impl Machine {
    /// Takes a packet of ARP from an interface that is up.
    pub(super) fn take_arp(&mut self, port: usize, payload: &[u8]) -> Counter {
        let Some(interface) = self.up(port) else {
            return Counter::Down;
        };
        let Some(arp) = Arp::read(payload).filter(|arp| arp.is_ethernet_ipv4()) else {
            return Counter::ArpBad;
        };
        let (sender, target) = (Ipv4Addr::from(arp.spa), Ipv4Addr::from(arp.tpa));
        let is_for_us = target == interface.address;
        let is_near = interface.reaches(sender);
        // A station that checks whether an address is free has none yet (RFC 5227 §2.1.1).
        let is_probe = sender.is_unspecified();
        let is_sender = is_probe || is_host(sender) && !interface.is_broadcast(sender);
        if !is_station(arp.sha) || !is_sender || ![OP_REQUEST, OP_REPLY].contains(&arp.op.get()) {
            return Counter::ArpBad;
        }
        if self.owns(sender) {
            return Counter::ArpConflict;
        }
        let is_known = self
            .cache
            .get(sender)
            .is_some_and(|entry| entry.port == port);
        let is_wanted = self.waiting.has((port, sender));
        if !is_probe && (is_known || is_wanted || is_for_us && is_near) {
            self.learn((port, sender), arp.sha);
        }
        match (arp.op.get(), is_for_us) {
            (OP_REQUEST, true) => {
                self.counters.event(Counter::ArpRepliesSent, 1);
                self.send_arp(port, OP_REPLY, (arp.sha, sender), (arp.sha, target));
                Counter::ArpRequest
            }
            (OP_REPLY, true) => Counter::ArpReply,
            _ => Counter::ArpOther,
        }
    }

    /// Enters what a packet said, and sends what waited for it.
    fn learn(&mut self, hop: Hop, mac: Mac) {
        let (port, address) = hop;
        let entered = self.cache.learn(self.now, address, mac, port);
        self.stale_neighbours |= entered != Entered::Same;
        self.counters
            .event(Counter::ArpEvicted, (entered == Entered::Evicted).into());
        self.release(hop);
    }

    /// Sends what waits for a next hop that is known.
    pub(crate) fn release(&mut self, hop: Hop) {
        if self
            .cache
            .get(hop.1)
            .is_none_or(|entry| entry.port != hop.0)
        {
            return;
        }
        for packet in self.waiting.release(hop) {
            self.send_via(hop.0, hop.1, packet);
        }
    }

    /// Sends a packet to `next_hop` at `port`, at once or when its MAC address is known.
    pub(super) fn send_via(&mut self, port: usize, next_hop: Ipv4Addr, packet: Vec<u8>) {
        let known = self.cache.get(next_hop).filter(|entry| entry.port == port);
        if let Some(mac) = known.map(|entry| entry.mac) {
            self.transmit(port, mac, ethertype::IP, &packet);
            return;
        }
        let hop = (port, next_hop);
        match self.waiting.hold(self.now, hop, packet) {
            Held::First => self.request(hop),
            Held::Queued => {}
            Held::Replaced => self.counters.event(Counter::ArpQueueFull, 1),
            Held::Refused => self.counters.event(Counter::ArpHopsFull, 1),
        }
    }

    /// Asks for the MAC address of a next hop.
    pub(super) fn request(&mut self, (port, next_hop): Hop) {
        let Some(source) = self.up(port).map(|interface| interface.address) else {
            return;
        };
        self.counters.event(Counter::ArpRequestsSent, 1);
        self.send_arp(
            port,
            OP_REQUEST,
            (Mac::default(), next_hop),
            (BROADCAST, source),
        );
    }

    /// Asks a station alone whether it is still there.
    pub(super) fn poll(&mut self, address: Ipv4Addr, entry: &Entry) {
        let Some(source) = self.up(entry.port).map(|interface| interface.address) else {
            return;
        };
        self.counters.event(Counter::ArpPollsSent, 1);
        let target = (Mac::default(), address);
        self.send_arp(entry.port, OP_REQUEST, target, (entry.mac, source));
    }

    /// Sends a packet of ARP to `target`, in a frame to `to` and from `source`.
    fn send_arp(
        &mut self,
        port: usize,
        op: u16,
        target: (Mac, Ipv4Addr),
        (to, source): (Mac, Ipv4Addr),
    ) {
        let Some(sha) = self.up(port).map(|interface| interface.mac) else {
            return;
        };
        let arp = Arp {
            hrd: U16::new(HRD_ETHERNET),
            pro: U16::new(ethertype::IP),
            hln: 6,
            pln: 4,
            op: U16::new(op),
            sha,
            spa: source.octets(),
            tha: target.0,
            tpa: target.1.octets(),
        };
        self.transmit(port, to, ethertype::ARP, arp.bytes());
    }
}
