//! Packets that the router sends of its own: errors, echo requests, routing messages.

use super::receive::{OSPF, TTL};
use super::{ALL_ROUTERS, Machine};
use crate::counters::Counter;
use crate::ip::header::Make;
use crate::ip::icmp;
use core::net::Ipv4Addr;
use trammel_packet::headers::ipv4::{Ipv4, protocol};

/// Of ICMP errors and routing messages: precedence 6, internetwork control (RFC 1812 §4.3.2.5).
const INTERNETWORK_CONTROL: u8 = 6 << 5;

/// Data of an echo request: as many bytes as `ping` sends.
const ECHO_DATA: [u8; 56] = [0; 56];

impl Machine {
    /// Sends a packet along its route, and tells whether there was one.
    pub(super) fn originate(&mut self, make: Make, payload: &[u8]) -> bool {
        let Some(route) = self.routes.lookup(make.destination) else {
            self.counters.event(Counter::OwnNoRoute, 1);
            return false;
        };
        let next_hop = if route.next_hop.is_unspecified() {
            make.destination
        } else {
            route.next_hop
        };
        let packet = make.packet(self.identify(), payload);
        let fits = packet.is_some();
        if let Some(packet) = packet {
            self.send_via(route.port, next_hop, packet);
        }
        fits
    }

    fn identify(&mut self) -> u16 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }

    /// The address that a packet to `destination` has as its source: that of the interface it
    /// leaves by (RFC 1812 §4.3.2.4).
    fn source_to(&self, destination: Ipv4Addr) -> Option<Ipv4Addr> {
        let route = self.routes.lookup(destination)?;
        Some(self.up(route.port)?.address)
    }

    /// Sends an ICMP error about `packet`, if that may have one and the rate allows it.
    pub(super) fn error(&mut self, kind: u8, code: u8, packet: &[u8]) {
        let Some(ip) = Ipv4::read(packet) else {
            return;
        };
        let (source, destination) = (Ipv4Addr::from(ip.src), Ipv4Addr::from(ip.dst));
        let to_all = self.is_broadcast(source) || self.is_broadcast(destination);
        if to_all || !icmp::may_cause_error(ip, packet) {
            self.counters.event(Counter::IcmpErrorsForbidden, 1);
            return;
        }
        let Some(own) = self.source_to(source) else {
            self.counters.event(Counter::OwnNoRoute, 1);
            return;
        };
        if !self.errors.take(self.now, 1) {
            self.counters.event(Counter::IcmpErrorsLimited, 1);
            return;
        }
        let make = Make {
            tos: INTERNETWORK_CONTROL,
            ttl: TTL,
            protocol: protocol::ICMP,
            source: own,
            destination: source,
        };
        if self.originate(make, &icmp::error(kind, code, packet)) {
            self.counters.event(Counter::IcmpErrorsSent, 1);
        }
    }

    /// Sends an echo request; its number comes back.
    ///
    /// # Errors
    ///
    /// A message, where there is no route or too many requests wait.
    pub(crate) fn ping(&mut self, destination: Ipv4Addr) -> Result<u64, String> {
        let Some(source) = self.source_to(destination) else {
            return Err(format!(
                "no route leads to {destination}: add one with `ip route add`"
            ));
        };
        let begun = self.pings.begin(self.now, destination);
        let (number, identifier) =
            begun.ok_or("too many requests wait for their answers: try again in six seconds")?;
        if self.owns(destination) {
            self.pings.answered(self.now, identifier, destination, TTL);
            return Ok(number);
        }
        let make = Make {
            tos: 0,
            ttl: TTL,
            protocol: protocol::ICMP,
            source,
            destination,
        };
        self.originate(make, &icmp::echo(identifier, 1, &ECHO_DATA));
        Ok(number)
    }

    /// Sends a message of the routing protocol from `port`: to all routers there, or to a
    /// neighbour. It goes one hop (RFC 2328 A.1).
    pub(crate) fn send_routing(&mut self, port: usize, destination: Ipv4Addr, payload: &[u8]) {
        let Some(source) = self.up(port).map(|interface| interface.address) else {
            return;
        };
        let make = Make {
            tos: INTERNETWORK_CONTROL,
            ttl: 1,
            protocol: OSPF,
            source,
            destination,
        };
        let Some(packet) = make.packet(self.identify(), payload) else {
            return;
        };
        if destination == ALL_ROUTERS {
            self.broadcast(port, &packet);
        } else {
            self.send_via(port, destination, packet);
        }
    }
}
