//! Received frames: which are for the router, which it forwards, and which it drops.
//!
//! The order of tests is SCONE's: header, own addresses, route, a route back to where the packet
//! came from, time to live.

use super::ping::Outcome;
use super::{ALL_ROUTERS, Delivery, Machine};
use crate::address::is_host;
use crate::counters::Counter;
use crate::ip::header::{MTU, Make, checked, hop, payload};
use crate::ip::icmp::{self, NET_UNKNOWN};
use crate::ip::transport::{Answer, closed, is_udp};
use core::net::Ipv4Addr;
use trammel_core::Time;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::icmp::{Icmp, is_error, kind, unreachable};
use trammel_packet::headers::ipv4::{Ipv4, protocol};

/// The protocol of OSPF and PW-OSPF.
pub(super) const OSPF: u8 = 89;

/// Of packets that the router answers with.
pub(super) const TTL: u8 = 64;

/// A checked packet, the port it came from, and whether its frame went to a group.
struct Received<'a> {
    port: usize,
    to_group: bool,
    ip: &'a Ipv4,
    packet: &'a [u8],
}

impl Machine {
    /// Takes a frame without FCS from `port`; what is for the routing protocol comes back.
    pub(crate) fn receive(&mut self, now: Time, port: usize, frame: &[u8]) -> Option<Delivery> {
        self.advance(now);
        let mut delivery = None;
        let fate = self.take(port, frame, &mut delivery);
        self.counters.frame(fate);
        delivery
    }

    fn take(&mut self, port: usize, frame: &[u8], delivery: &mut Option<Delivery>) -> Counter {
        if port >= self.ports.len() {
            return Counter::NoInterface;
        }
        let Some(interface) = self.up(port) else {
            return Counter::Down;
        };
        let Some(ether) = Ether::read(frame).filter(|_| frame.len() <= Ether::LEN + MTU) else {
            return Counter::FrameLength;
        };
        let to_group = ether.is_multicast();
        if !to_group && ether.dst != interface.mac {
            return Counter::OtherStation;
        }
        let data = &frame[Ether::LEN..];
        match ether.ethertype.get() {
            ethertype::ARP => self.take_arp(port, data),
            ethertype::IP => match checked(data) {
                Err(fate) => fate,
                Ok((ip, packet)) => {
                    let received = Received {
                        port,
                        to_group,
                        ip,
                        packet,
                    };
                    self.take_packet(&received, delivery)
                }
            },
            _ => Counter::EtherType,
        }
    }

    fn take_packet(&mut self, of: &Received, delivery: &mut Option<Delivery>) -> Counter {
        let (source, destination) = (Ipv4Addr::from(of.ip.src), Ipv4Addr::from(of.ip.dst));
        if !is_host(source) || self.is_broadcast(source) || self.owns(source) {
            return Counter::Martian;
        }
        if destination == ALL_ROUTERS || self.owns(destination) {
            if of.ip.is_fragment() {
                return Counter::Fragment;
            }
            return self.take_own(of, source, delivery);
        }
        if destination.is_multicast() || of.to_group || self.is_broadcast(destination) {
            return Counter::Group;
        }
        if !is_host(destination) {
            return Counter::Martian;
        }
        self.forward(of, destination)
    }

    /// Sends a packet on by software.
    fn forward(&mut self, of: &Received, destination: Ipv4Addr) -> Counter {
        let Some(route) = self.routes.lookup(destination) else {
            self.error(kind::UNREACHABLE, NET_UNKNOWN, of.packet);
            return Counter::NoRoute;
        };
        if route.port == of.port {
            self.error(kind::UNREACHABLE, unreachable::NET, of.packet);
            return Counter::SameInterface;
        }
        if of.ip.ttl <= 1 {
            self.error(kind::TIME_EXCEEDED, 0, of.packet);
            return Counter::TtlExpired;
        }
        let next_hop = if route.next_hop.is_unspecified() {
            destination
        } else {
            route.next_hop
        };
        self.send_via(route.port, next_hop, hop(of.packet));
        Counter::Forwarded
    }

    /// Takes a packet to one of the router's addresses.
    fn take_own(
        &mut self,
        of: &Received,
        source: Ipv4Addr,
        delivery: &mut Option<Delivery>,
    ) -> Counter {
        let data = payload(of.packet);
        if of.ip.protocol == OSPF {
            *delivery = Some(Delivery {
                port: of.port,
                source,
                payload: data.to_vec(),
            });
            return Counter::Pwospf;
        }
        // A frame to all that carries a packet to one (RFC 1122 §3.3.6).
        if of.to_group || of.ip.dst == ALL_ROUTERS.octets() {
            return Counter::Group;
        }
        match of.ip.protocol {
            protocol::ICMP => self.take_icmp(of.ip, data),
            protocol::TCP => match closed(of.ip, data) {
                None => Counter::Transport,
                Some(answer) => {
                    if let Answer::Reset(segment) = answer {
                        self.reset(of.ip, &segment);
                    }
                    Counter::Tcp
                }
            },
            protocol::UDP if !is_udp(of.ip, data) => Counter::Transport,
            protocol::UDP => {
                self.error(kind::UNREACHABLE, unreachable::PORT, of.packet);
                Counter::Udp
            }
            _ => {
                self.error(kind::UNREACHABLE, unreachable::PROTOCOL, of.packet);
                Counter::Protocol
            }
        }
    }

    fn take_icmp(&mut self, ip: &Ipv4, message: &[u8]) -> Counter {
        let Some((header, data)) = icmp::read(message) else {
            return Counter::Transport;
        };
        let source = Ipv4Addr::from(ip.src);
        match header.kind {
            kind::ECHO => {
                self.echo_reply(ip, *header, data);
                Counter::Echo
            }
            kind::ECHO_REPLY => {
                let identifier = header.identifier.get();
                self.pings.answered(self.now, identifier, source, ip.ttl);
                Counter::EchoReply
            }
            other if is_error(other) => {
                let quoted = icmp::quoted_echo(data).filter(|(of, _, _)| self.owns(of.src.into()));
                if let Some((of, identifier, _)) = quoted {
                    let outcome = Outcome::Error {
                        from: source,
                        kind: other,
                        code: header.code,
                    };
                    self.pings.failed(identifier, of.dst.into(), outcome);
                }
                Counter::IcmpOther
            }
            _ => Counter::IcmpOther,
        }
    }

    fn echo_reply(&mut self, ip: &Ipv4, request: Icmp, data: &[u8]) {
        let make = Make {
            tos: ip.tos,
            ttl: TTL,
            protocol: protocol::ICMP,
            source: ip.dst.into(),
            destination: ip.src.into(),
        };
        self.originate(make, &icmp::echo_reply(request, data));
    }

    fn reset(&mut self, ip: &Ipv4, segment: &[u8]) {
        if !self.errors.take(self.now, 1) {
            self.counters.event(Counter::IcmpErrorsLimited, 1);
            return;
        }
        let make = Make {
            tos: 0,
            ttl: TTL,
            protocol: protocol::TCP,
            source: ip.dst.into(),
            destination: ip.src.into(),
        };
        if self.originate(make, segment) {
            self.counters.event(Counter::ResetsSent, 1);
        }
    }
}
