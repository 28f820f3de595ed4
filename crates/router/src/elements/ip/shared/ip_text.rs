//! A line of text about an IPv4 packet, as IPPrint prints it.

use crate::args::names::Space;
use crate::args::well_known;
use std::fmt::{self, Write};
use std::net::Ipv4Addr;
use trammel_packet::headers::icmp::{Icmp, kind, unreachable};
use trammel_packet::headers::ipv4::{self, Ipv4, protocol};
use trammel_packet::headers::tcp::{Tcp, flag};
use trammel_packet::packet::Packet;

/// A number of two bytes at `at`, of bytes that have been counted.
fn word(data: &[u8], at: usize) -> u16 {
    let bytes = data.get(at..).and_then(|data| data.first_chunk::<2>());
    bytes.map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

/// A number of four bytes at `at`.
fn long(data: &[u8], at: usize) -> u32 {
    u32::from(word(data, at)) << 16 | u32::from(word(data, at + 2))
}

/// Writes what the header `ip` and the transport header behind it say; `in_order` writes numbers of
/// echoes in the network's order.
pub(crate) fn write(out: &mut String, packet: &Packet, ip: &Ipv4, in_order: bool) -> fmt::Result {
    let total = usize::from(ip.total_length.get());
    let payload = total.saturating_sub(ip.header_len());
    let transport = packet.transport_header();
    let transport = &transport[..transport.len().min(payload)];
    let (src, dst) = (Ipv4Addr::from(ip.src), Ipv4Addr::from(ip.dst));
    match ip.protocol {
        protocol::TCP => ports(out, ip, transport, "tcp").and_then(|whole| {
            if whole {
                tcp(out, packet, ip, transport)
            } else {
                Ok(())
            }
        })?,
        protocol::UDP => {
            if ports(out, ip, transport, "udp")? {
                match transport.len() {
                    ..8 => out.push_str("truncated-udp"),
                    _ => write!(out, "udp {}", word(transport, 4))?,
                }
            }
        }
        protocol::ICMP => {
            write!(out, "{src} > {dst}: ")?;
            icmp(out, ip, transport, in_order)?;
        }
        other => write!(out, "{src} > {dst}: ip-proto-{other}")?,
    }
    if ip.is_fragment() {
        let flags = ip.flags_fragment.get();
        let more = if flags & ipv4::MF != 0 { "+" } else { "" };
        let (id, from) = (ip.identification.get(), u32::from(ip.fragment_offset()) * 8);
        write!(out, " (frag {id}:{payload}@{from}{more})")?;
    }
    Ok(())
}

/// Writes addresses and ports; whether there are ports.
fn ports(out: &mut String, ip: &Ipv4, transport: &[u8], name: &str) -> Result<bool, fmt::Error> {
    let (src, dst) = (Ipv4Addr::from(ip.src), Ipv4Addr::from(ip.dst));
    let is_first = ip.is_first_fragment();
    if transport.len() < 4 || !is_first {
        let short = if is_first { "truncated-" } else { "" };
        write!(out, "{src} > {dst}: {short}{name}")?;
        return Ok(false);
    }
    let (from, to) = (word(transport, 0), word(transport, 2));
    write!(out, "{src}.{from} > {dst}.{to}: ")?;
    Ok(true)
}

fn tcp(out: &mut String, packet: &Packet, ip: &Ipv4, transport: &[u8]) -> fmt::Result {
    if transport.len() < 14 {
        out.push_str("truncated-tcp");
        return Ok(());
    }
    let flags = transport[13];
    let total = i32::from(ip.total_length.get());
    let mut len = total - ip.header_len() as i32 - i32::from(transport[12] >> 4) * 4;
    let named = [
        (flag::SYN, 'S', 1),
        (flag::FIN, 'F', 1),
        (flag::RST, 'R', 0),
        (flag::PSH, 'P', 0),
    ];
    let before = out.len();
    for (bit, letter, takes) in named {
        if flags & bit != 0 {
            out.push(letter);
            len += takes;
        }
    }
    if out.len() == before {
        out.push('.');
    }
    let seq = long(transport, 4);
    let end = seq.wrapping_add_signed(len);
    write!(out, " {seq}:{end}({len},{},{total})", packet.len())?;
    if flags & flag::ACK != 0 {
        write!(out, " ack {}", long(transport, 8))?;
    }
    match transport.len() {
        ..16 => out.push_str("truncated-tcp"),
        _ => write!(out, " win {}", word(transport, 14))?,
    }
    Ok(())
}

fn icmp(out: &mut String, ip: &Ipv4, message: &[u8], in_order: bool) -> fmt::Result {
    if !ip.is_first_fragment() {
        out.push_str("icmp");
        return Ok(());
    }
    let [kind, code, ..] = *message else {
        out.push_str("truncated-icmp");
        return Ok(());
    };
    match kind {
        kind::ECHO | kind::ECHO_REPLY => {
            let reply = if kind == kind::ECHO { "" } else { "-reply" };
            write!(out, "icmp echo{reply} ")?;
            if message.len() < Icmp::LEN {
                out.push_str("truncated-icmp");
                return Ok(());
            }
            let number = |at| {
                if in_order {
                    word(message, at)
                } else {
                    word(message, at).swap_bytes()
                }
            };
            write!(out, "({}, {})", number(4), number(6))
        }
        kind::UNREACHABLE => unreachable(out, code, message),
        _ => {
            match well_known::name(Space::IcmpType, u32::from(kind)) {
                Some(name) => write!(out, "icmp {name}")?,
                None => write!(out, "icmp type {kind}")?,
            }
            match well_known::name(Space::IcmpCode(kind), u32::from(code)) {
                Some(name) => write!(out, " {name}"),
                None if code != 0 => write!(out, " code {code}"),
                None => Ok(()),
            }
        }
    }
}

fn unreachable(out: &mut String, code: u8, message: &[u8]) -> fmt::Result {
    let name = well_known::name(Space::IcmpCode(kind::UNREACHABLE), u32::from(code));
    let name = name.map_or_else(|| format!("code {code}"), str::to_owned);
    let quoted = message.get(Icmp::LEN..).unwrap_or_default();
    let Some(ip) = Ipv4::read(quoted) else {
        return write!(out, "icmp unreachable {name} truncated-icmp");
    };
    write!(out, "icmp {} unreachable {name}", Ipv4Addr::from(ip.dst))?;
    let protocol = well_known::name(Space::Protocol, u32::from(ip.protocol));
    match code {
        unreachable::PROTOCOL => match protocol {
            Some(name) => write!(out, " {name}"),
            None => write!(out, " {}", ip.protocol),
        },
        unreachable::PORT => {
            match protocol {
                Some(name) => write!(out, " {name}")?,
                None => write!(out, " protocol {}", ip.protocol)?,
            }
            match quoted.get(ip.header_len()..).filter(|rest| rest.len() >= 4) {
                Some(rest) => write!(out, "/{}", word(rest, 2)),
                None => {
                    out.push_str("truncated-icmp");
                    Ok(())
                }
            }
        }
        unreachable::NEEDFRAG if word(message, 6) != 0 => {
            write!(out, " (mtu {})", word(message, 6))
        }
        _ => Ok(()),
    }
}

/// How bytes are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// Not at all.
    #[default]
    None,
    /// In hexadecimal.
    Hex,
    /// As characters.
    Ascii,
}

/// Writes bytes on lines of their own.
pub(crate) fn write_bytes(out: &mut String, data: &[u8], style: Style) -> fmt::Result {
    let (line, group) = match style {
        Style::None => return Ok(()),
        Style::Hex => (24, 4),
        Style::Ascii => (48, 8),
    };
    for (at, byte) in data.iter().enumerate() {
        if at % line == 0 {
            out.push_str("\n  ");
        } else if at % group == 0 {
            out.push(' ');
        }
        match style {
            Style::Ascii if (32..=126).contains(byte) => out.push(char::from(*byte)),
            Style::Ascii => out.push('.'),
            _ => write!(out, "{byte:02x}")?,
        }
    }
    Ok(())
}

/// The data behind the transport header, where its protocol tells its length.
pub(crate) fn payload<'p>(packet: &'p Packet, ip: &Ipv4) -> &'p [u8] {
    let transport = packet.transport_header();
    let head = match ip.protocol {
        protocol::TCP if ip.is_first_fragment() => Tcp::read(transport).map_or(0, Tcp::header_len),
        protocol::UDP if ip.is_first_fragment() => 8,
        _ => 0,
    };
    transport.get(head..).unwrap_or_default()
}
