//! Segments as Ethernet frames of IPv4 and TCP, and back.
//!
//! The TCP header and its options are [`trammel_tcp::wire`]'s; here are what is around it:
//! addresses, ports, lengths, checksums, the ECN field. Whatever is damaged is refused as a whole,
//! as a real host does, so that a stack sees it as a loss.
//!
//! Source: RFC 894, RFC 791 §3.1, RFC 9293 §3.1, RFC 3168 §5.

use std::net::{Ipv4Addr, SocketAddrV4};
use trammel_packet::headers::checksum::{Sum, checksum};
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::ipv4::{DF, Ipv4, ecn, protocol};
use trammel_packet::headers::tcp::Tcp;
use trammel_tcp::segment::{Ecn, Segment};
use trammel_tcp::wire::{Damage, read_header, write_header};

/// Bytes of the largest frame: an MTU of 1500 and the Ethernet header.
pub const LARGEST_FRAME: usize = Ether::LEN + 1500;
/// Hops that our packets may take (RFC 1122 §3.2.1.7 wants more than the Internet's diameter).
const TTL: u8 = 64;

/// From where a frame comes, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Ethernet address of the sender.
    pub from_mac: [u8; 6],
    /// Ethernet address of the receiver.
    pub to_mac: [u8; 6],
    /// Address and port of the sender.
    pub from: SocketAddrV4,
    /// Address and port of the receiver.
    pub to: SocketAddrV4,
}

/// What a packet of TCP says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// Address and port of the sender.
    pub from: SocketAddrV4,
    /// Address and port of the receiver.
    pub to: SocketAddrV4,
    /// The segment.
    pub segment: Segment,
    /// Its payload.
    pub payload: &'a [u8],
}

/// Why a packet is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is no IPv4, or does not carry TCP: nothing is wrong with it.
    #[error("no TCP over IPv4")]
    Foreign,
    /// Its lengths contradict each other, or there are fewer bytes than they say.
    #[error("the lengths of the IPv4 packet are impossible")]
    Length,
    /// It is a fragment. Our packets forbid it, and a TCP that knows its path makes none.
    #[error("a fragment")]
    Fragment,
    /// The checksum of the IPv4 header or of TCP is wrong.
    #[error("a wrong checksum")]
    Checksum,
    /// The TCP header is damaged.
    #[error("a damaged TCP header: {0}")]
    Header(#[from] Damage),
}

fn to_codepoint(field: Ecn) -> u8 {
    match field {
        Ecn::NotEct => ecn::NOT_ECT,
        Ecn::Ect1 => ecn::ECT1,
        Ecn::Ect0 => ecn::ECT0,
        Ecn::Ce => ecn::CE,
    }
}

fn of_codepoint(codepoint: u8) -> Ecn {
    match codepoint & ecn::MASK {
        ecn::NOT_ECT => Ecn::NotEct,
        ecn::ECT1 => Ecn::Ect1,
        ecn::ECT0 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// The checksum of TCP with its pseudo-header; 0 over one that is right.
fn tcp_checksum(from: Ipv4Addr, to: Ipv4Addr, tcp: &[u8]) -> u16 {
    Sum::ZERO
        .pseudo_v4(from.octets(), to.octets(), protocol::TCP, tcp.len() as u16)
        .bytes(tcp)
        .checksum()
}

/// Writes the frame of `segment` to the front of `frame`, with the payload that `fill` writes.
/// Returns its bytes.
///
/// # Panics
/// Where `frame` is too short: [`Ether::LEN`] and [`Segment::ip_bytes`].
pub fn encode(
    route: &Route,
    segment: &Segment,
    identification: u16,
    frame: &mut [u8],
    fill: impl FnOnce(&mut [u8]),
) -> usize {
    let ip_bytes = segment.ip_bytes() as usize;
    let frame = &mut frame[..Ether::LEN + ip_bytes];
    let ether = Ether {
        dst: route.to_mac,
        src: route.from_mac,
        ethertype: ethertype::IP.into(),
    };
    let mut ip = Ipv4 {
        version_ihl: 0x45,
        tos: to_codepoint(segment.ecn),
        total_length: (ip_bytes as u16).into(),
        identification: identification.into(),
        flags_fragment: DF.into(),
        ttl: TTL,
        protocol: protocol::TCP,
        checksum: 0.into(),
        src: route.from.ip().octets(),
        dst: route.to.ip().octets(),
    };
    ip.checksum = checksum(ip.bytes()).into();
    let (head, tcp) = frame.split_at_mut(Ether::LEN + Ipv4::LEN);
    head[..Ether::LEN].copy_from_slice(ether.bytes());
    head[Ether::LEN..].copy_from_slice(ip.bytes());

    let (header, payload) = tcp.split_at_mut(segment.header_bytes() as usize);
    fill(payload);
    write_header(segment, header);
    set_ports_and_checksum(header, route, 0);
    let sum = tcp_checksum(*route.from.ip(), *route.to.ip(), tcp);
    set_ports_and_checksum(tcp, route, sum);
    frame.len()
}

fn set_ports_and_checksum(tcp: &mut [u8], route: &Route, checksum: u16) {
    let header = Tcp::read_mut(tcp).expect("a header is at least 20 bytes");
    header.sport = route.from.port().into();
    header.dport = route.to.port().into();
    header.checksum = checksum.into();
}

/// Reads the IPv4 packet `packet`, which may have padding behind it, as TCP.
pub fn decode(packet: &[u8]) -> Result<Arrival<'_>, Refusal> {
    let ip = Ipv4::read(packet).ok_or(Refusal::Foreign)?;
    if ip.version() != 4 {
        return Err(Refusal::Foreign);
    }
    let (header_len, total) = (ip.header_len(), usize::from(ip.total_length.get()));
    if header_len < Ipv4::LEN || total < header_len {
        return Err(Refusal::Length);
    }
    let whole = packet.get(..total).ok_or(Refusal::Length)?;
    let (header, tcp) = whole.split_at(header_len);
    if checksum(header) != 0 {
        return Err(Refusal::Checksum);
    }
    if ip.protocol != protocol::TCP {
        return Err(Refusal::Foreign);
    }
    if ip.is_fragment() {
        return Err(Refusal::Fragment);
    }
    let (from, to) = (Ipv4Addr::from(ip.src), Ipv4Addr::from(ip.dst));
    if tcp_checksum(from, to, tcp) != 0 {
        return Err(Refusal::Checksum);
    }
    let (mut segment, bytes) = read_header(tcp)?;
    segment.ecn = of_codepoint(ip.ecn());
    let ports = Tcp::read(tcp).expect("a header was read");
    Ok(Arrival {
        from: SocketAddrV4::new(from, ports.sport.get()),
        to: SocketAddrV4::new(to, ports.dport.get()),
        segment,
        payload: &tcp[bytes..],
    })
}
