//! What a packet is looked for by in the table, of each class.

use super::{Class, Rewriter};
use crate::elements::transport::shared::rewriter::flow::FlowId;
use crate::elements::transport::shared::rewriter::table::{Entry, Table};
use trammel_packet::headers::icmp::kind;
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::packet::Packet;

/// What is looked for: a flow, and where nothing is found another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) map: u32,
    pub(super) protocol: u8,
    pub(super) flow: FlowId,
    pub(super) other: Option<FlowId>,
    /// Whether it may make a mapping.
    pub(super) begins: bool,
}

/// The other port of an echo's flow: the identifier plus one as the original's machines count.
pub(super) fn next_identifier(identifier: u16) -> u16 {
    identifier.swap_bytes().wrapping_add(1).swap_bytes()
}

impl Rewriter {
    /// What a packet is looked for by; nothing where it is none that this class translates.
    #[inline]
    pub(super) fn see(&self, packet: &Packet) -> Option<Seen> {
        let ip = Ipv4::read(packet.network_header())?;
        let (src, dst) = (u32::from_be_bytes(ip.src), u32::from_be_bytes(ip.dst));
        let mut seen = Seen {
            map: self.map(ip.protocol),
            protocol: ip.protocol,
            flow: FlowId {
                src,
                dst,
                sport: 0,
                dport: 0,
            },
            other: None,
            begins: true,
        };
        let is_ours = match self.class {
            Class::Address => {
                (seen.map, seen.protocol) = (self.map(0), 0);
                seen.other = Some(FlowId {
                    src: 0,
                    ..seen.flow
                });
                seen.flow.dst = 0;
                return Some(seen);
            }
            Class::Pair => {
                (seen.map, seen.protocol) = (self.map(0), 0);
                return Some(seen);
            }
            Class::Ip => matches!(ip.protocol, protocol::TCP | protocol::UDP),
            Class::Tcp => ip.protocol == protocol::TCP,
            Class::Udp => matches!(ip.protocol, protocol::TCP | protocol::UDP | protocol::DCCP),
            Class::Ping => ip.protocol == protocol::ICMP,
        };
        if !is_ours || !ip.is_first_fragment() {
            return None;
        }
        let [a, b, c, d, rest @ ..] = packet.transport_header() else {
            return None;
        };
        if self.class == Class::Ping {
            let [e, f, ..] = rest else { return None };
            let identifier = u16::from_be_bytes([*e, *f]);
            let next = next_identifier(identifier);
            seen.begins = *a == kind::ECHO;
            (seen.flow.sport, seen.flow.dport) = match *a {
                kind::ECHO => (identifier, next),
                kind::ECHO_REPLY => (next, identifier),
                _ => return None,
            };
        } else if rest.len() < 4 {
            return None;
        } else {
            seen.flow.sport = u16::from_be_bytes([*a, *b]);
            seen.flow.dport = u16::from_be_bytes([*c, *d]);
        }
        Some(seen)
    }

    #[inline]
    pub(super) fn find(table: &Table, seen: &Seen, hash: u32) -> Option<Entry> {
        table
            .find_hashed(hash, seen.map, seen.flow)
            .or_else(|| table.find(seen.map, seen.other?))
    }
}
