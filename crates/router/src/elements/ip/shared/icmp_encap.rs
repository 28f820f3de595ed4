//! Puts ICMP and IPv4 headers before packets, for the elements that do.

use crate::args::Args;
use crate::args::addresses::parse_ip;
use crate::engine::{Ctx, Handler};
use crate::headers::ip_packet::{mark_len, set_destination};
use std::net::Ipv4Addr;
use trammel_packet::batch::Packets;
use trammel_packet::headers::U16;
use trammel_packet::headers::checksum::checksum;
use trammel_packet::headers::icmp::{Icmp, kind};
use trammel_packet::headers::ipv4::{Ipv4, protocol, set_checksum};
use trammel_packet::packet::Packet;

/// What an ICMP header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The type.
    pub kind: u8,
    /// The code.
    pub code: u8,
    /// The identifier, of types that have one.
    pub identifier: u16,
    /// The number in a sequence, of types that have one.
    pub sequence: u16,
}

impl Message {
    /// Puts the headers before a packet, marks them, and notes the destination.
    pub(crate) fn put(self, packet: &mut Packet, src: [u8; 4], dst: [u8; 4], id: u16) {
        // Three times follow, which are left zero.
        if matches!(self.kind, kind::TIMESTAMP | kind::TIMESTAMP_REPLY) {
            packet.push(12).fill(0);
        }
        let numbered = matches!(
            self.kind,
            kind::ECHO
                | kind::ECHO_REPLY
                | kind::TIMESTAMP
                | kind::TIMESTAMP_REPLY
                | kind::INFORMATION
                | kind::INFORMATION_REPLY
        );
        let mut icmp = Icmp {
            kind: self.kind,
            code: self.code,
            ..Icmp::default()
        };
        if numbered {
            icmp.identifier.set(self.identifier);
            icmp.sequence.set(self.sequence);
        }
        packet.push(Icmp::LEN).copy_from_slice(icmp.bytes());
        icmp.checksum.set(checksum(packet.data()));
        packet.data_mut()[..Icmp::LEN].copy_from_slice(icmp.bytes());
        let ip = Ipv4 {
            version_ihl: 0x45,
            total_length: U16::new((packet.len() + Ipv4::LEN) as u16),
            identification: U16::new(id),
            ttl: 255,
            protocol: protocol::ICMP,
            src,
            dst,
            ..Ipv4::default()
        };
        packet.push(Ipv4::LEN).copy_from_slice(ip.bytes());
        set_checksum(packet.data_mut());
        mark_len(packet, 0, Ipv4::LEN);
        set_destination(packet, dst);
    }
}

/// Where messages come from and go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The source.
    pub src: [u8; 4],
    /// The destination.
    pub dst: [u8; 4],
}

impl Ends {
    /// Those of the arguments `SRC` and `DST`.
    pub(crate) fn of(args: &Args) -> Ends {
        Ends {
            src: args.ip("SRC").octets(),
            dst: args.ip("DST").octets(),
        }
    }

    /// Their handlers, `src` and `dst`.
    pub(crate) fn handlers() -> [Handler; 2] {
        ["src", "dst"].map(|name| Handler::new(name, "rw."))
    }

    /// Answers them.
    pub(crate) fn read(self, name: &str) -> String {
        Ipv4Addr::from(if name == "src" { self.src } else { self.dst }).to_string()
    }

    /// Writes one of them.
    pub(crate) fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let address = parse_ip(value.trim(), &ctx.names()).map_err(|_| "syntax error")?;
        let end = if name == "src" {
            &mut self.src
        } else {
            &mut self.dst
        };
        *end = address.octets();
        Ok(())
    }
}

/// Messages between two hosts, numbered from 1.
#[derive(Debug)]
pub(crate) struct Encap {
    /// Where they come from and go to.
    pub ends: Ends,
    /// The type.
    pub kind: u8,
    /// The code.
    pub code: u8,
    /// The identifier.
    pub identifier: u16,
    /// The number of the next.
    id: u16,
}

impl Encap {
    /// Messages of this type, not yet configured.
    pub(crate) fn new(kind: u8) -> Encap {
        Encap {
            ends: Ends::default(),
            kind,
            code: 0,
            identifier: 0,
            id: 1,
        }
    }

    /// Makes each packet the data of a message.
    pub(crate) fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let message = Message {
                kind: self.kind,
                code: self.code,
                identifier: self.identifier,
                sequence: self.id,
            };
            message.put(&mut pool[packet], self.ends.src, self.ends.dst, self.id);
            // Never zero, which some hosts take for no number.
            self.id = self.id.checked_add(1).unwrap_or(1);
        }
    }
}
