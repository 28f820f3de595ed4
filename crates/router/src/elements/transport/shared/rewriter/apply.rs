//! How a packet becomes one of the other side: addresses, ports, sequence numbers and checksums.
//!
//! Checksums are updated by what changed (RFC 1624), never made anew: a wrong one stays wrong, so a
//! translator does not hide damage.

use super::flow::{MappedFlow, Tracking, state};
use trammel_packet::anno;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::headers::tcp::{flag, option};
use trammel_packet::packet::Packet;

/// What a rewriter changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// The source address on the way forward, the destination address of answers.
    OneAddress,
    /// Both addresses.
    Addresses,
    /// Both addresses and both ports.
    Ports,
    /// Both addresses and the identifier of an echo.
    Identifier,
}

/// What a rewriter changes besides bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Annotations {
    /// The annotation of the destination address.
    pub dst: bool,
    /// The byte that answers get from the flow.
    pub reply: Option<u8>,
}

/// A checksum after `delta` was added to its sum, or taken away for answers.
#[inline]
fn adjusted(checksum: u16, delta: u16, reply: bool) -> u16 {
    // Both zeros of one's complement change nothing.
    if delta == 0 || delta == 0xFFFF {
        return checksum;
    }
    let delta = if reply { !delta } else { delta };
    Sum::ZERO.u16(!checksum).u16(delta).checksum()
}

#[inline]
fn word(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([data[at], data[at + 1]])
}

#[inline]
fn put(data: &mut [u8], at: usize, value: u16) {
    data[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn long(data: &[u8], at: usize) -> u32 {
    u32::from(word(data, at)) << 16 | u32::from(word(data, at + 2))
}

/// Rewrites a packet of the flow, forward or an answer.
pub(crate) fn rewrite(
    packet: &mut Packet,
    flow: &mut MappedFlow,
    reply: bool,
    parts: Parts,
    annos: Annotations,
) {
    let to = flow.rewritten(reply);
    let header = packet.network_header_mut();
    if header.len() < Ipv4::LEN {
        return;
    }
    if !(reply && parts == Parts::OneAddress) {
        header[12..16].copy_from_slice(&to.src.to_be_bytes());
    }
    if reply || parts != Parts::OneAddress {
        header[16..20].copy_from_slice(&to.dst.to_be_bytes());
    }
    let sum = adjusted(word(header, 10), flow.ip_delta, reply);
    put(header, 10, sum);
    let (kind, is_first) = (header[9], word(header, 6).trailing_zeros() >= 13);
    let ip_bytes = usize::from(word(header, 2));
    let ip_header = usize::from(header[0] & 15) * 4;
    if annos.dst && (reply || parts != Parts::OneAddress) {
        packet.set_anno_bytes(anno::DST_IP, to.dst.to_be_bytes());
    }
    if let Some(at) = annos.reply.filter(|_| reply) {
        packet.annotations_mut()[usize::from(at)] = flow.reply_anno;
    }
    if !is_first {
        return;
    }
    let transport = packet.transport_header_mut();
    if parts == Parts::Identifier {
        identifier(transport, flow, reply);
        return;
    }
    if parts == Parts::Ports && transport.len() >= 4 {
        put(transport, 0, to.sport);
        put(transport, 2, to.dport);
    }
    match kind {
        protocol::TCP if transport.len() >= 18 => {
            let sum = adjusted(word(transport, 16), flow.transport_delta, reply);
            put(transport, 16, sum);
        }
        // A checksum of 0 says that there is none (RFC 768).
        protocol::UDP if transport.len() >= 8 && word(transport, 6) != 0 => {
            let sum = adjusted(word(transport, 6), flow.transport_delta, reply);
            // Differs from Click: a sum that comes out as 0 is sent as all ones, as RFC 768 says.
            put(transport, 6, if sum == 0 { 0xFFFF } else { sum });
        }
        _ => {}
    }
    match flow.tracking {
        Tracking::Stream if kind == protocol::TCP && transport.len() >= 18 => {
            stream(transport, flow, reply, ip_bytes.saturating_sub(ip_header));
        }
        Tracking::Datagram => {
            flow.state |= u8::from(reply);
            if flow.state < 6 {
                flow.state += 2;
            }
        }
        _ => {}
    }
}

/// An echo's identifier.
fn identifier(transport: &mut [u8], flow: &MappedFlow, reply: bool) {
    if transport.len() < 6 {
        return;
    }
    let to = if reply {
        flow.ids[0].sport
    } else {
        flow.ids[1].dport
    };
    put(transport, 4, to);
    let sum = adjusted(word(transport, 2), flow.transport_delta, reply);
    put(transport, 2, sum);
    if sum == 0 && transport.iter().all(|byte| *byte == 0) {
        // The sum of nothing but zeros is the other zero.
        put(transport, 2, 0xFFFF);
    }
}

/// State and sequence numbers of a connection; `bytes` is what the IP header says that there is.
fn stream(tcp: &mut [u8], flow: &mut MappedFlow, reply: bool, bytes: usize) {
    let (header, flags) = (usize::from(tcp[12] >> 4) * 4, tcp[13]);
    let (direction, has_data) = (u8::from(reply), header < bytes);
    if flags & flag::RST != 0 {
        flow.state |= state::BOTH_DONE;
    } else if flags & flag::FIN != 0 {
        flow.state |= state::DONE << direction;
    } else if flags & flag::SYN != 0 || has_data {
        flow.state &= !(state::DONE << direction);
    }
    if has_data {
        flow.state |= state::DATA << direction;
    }
    let Some(deltas) = flow.deltas.as_deref_mut().filter(|_| tcp.len() >= header) else {
        return;
    };
    deltas.forget(reply, long(tcp, 4));
    let before = Sum::ZERO.bytes(&tcp[4..12]);
    let options = before.bytes(tcp.get(20..header).unwrap_or_default()).fold();
    if deltas.any(reply) {
        let number = deltas.sequence(reply, long(tcp, 4));
        tcp[4..8].copy_from_slice(&number.to_be_bytes());
    }
    if deltas.any(!reply) {
        let move_back = |data: &mut [u8]| {
            let number = deltas.acknowledgement(reply, long(data, 0));
            data[..4].copy_from_slice(&number.to_be_bytes());
        };
        move_back(&mut tcp[8..12]);
        if let Some(options) = tcp.get_mut(20..header) {
            selective(options, move_back);
        }
    }
    let after = Sum::ZERO
        .bytes(&tcp[4..12])
        .bytes(tcp.get(20..header).unwrap_or_default());
    let sum = Sum::ZERO
        .u16(!word(tcp, 16))
        .u16(!options)
        .u16(after.fold());
    put(tcp, 16, sum.checksum());
}

/// Does `change` to both numbers of every block of a selective acknowledgement (RFC 2018).
fn selective(mut options: &mut [u8], change: impl Fn(&mut [u8])) {
    loop {
        let size = match &*options {
            [] | [option::EOL, ..] | [_] => return,
            [option::NOP, ..] => 1,
            [_, size, ..] if *size < 2 || usize::from(*size) > options.len() => return,
            [_, size, ..] => usize::from(*size),
        };
        let (one, rest) = options.split_at_mut(size);
        if one[0] == option::SACK {
            if size % 8 != 2 {
                return;
            }
            one[2..].chunks_exact_mut(4).for_each(&change);
        }
        options = rest;
    }
}
