//! A frame of a capture as a TCP segment with its ends.
//!
//! Lengths are those of the packet on the wire, whatever part of it the capture has kept: a
//! capture of headers alone is as good as one of whole packets.

use core::net::IpAddr;
use trammel_packet::Frame;
use trammel_packet::headers::ether::ethertype;
use trammel_packet::headers::ipv4::Ipv4;
use trammel_packet::headers::ipv6::{Ipv6, upper};
use trammel_packet::headers::tcp::Tcp;
use trammel_tcp::segment::{Ecn, Segment};
use trammel_tcp::wire::read_header;

/// The number of TCP in an IP header.
const TCP: u8 = 6;

/// Address and port of one end.
pub(super) type End = (IpAddr, u16);

/// A segment that was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// When, in nanoseconds of the capture's clock.
    pub(super) at_ns: i64,
    pub(super) from: End,
    pub(super) to: End,
    /// IPv4's identification, where it tells packets apart.
    pub(super) id: Option<u16>,
    /// Header fields, and payload bytes as on the wire.
    pub(super) segment: Segment,
    /// Bytes of the IP packet.
    pub(super) ip_bytes: u32,
    /// Bytes of its headers, IP's and TCP's.
    pub(super) header_bytes: u32,
}

/// What a frame is.
#[derive(Debug)]
pub(super) enum Kind {
    Tcp(Seen),
    /// TCP whose header is cut short, or is none.
    Damaged,
    /// Anything else.
    Other,
}

/// What is in `frame`.
pub(super) fn kind(frame: &Frame<'_>) -> Kind {
    let Some((ethertype, at)) = frame.link.network(frame.data) else {
        return Kind::Other;
    };
    let data = frame.data.get(at..).unwrap_or_default();
    let on_wire = frame.wire_len.saturating_sub(at as u32);
    let found = match ethertype {
        ethertype::IP => ipv4(data, on_wire),
        ethertype::IP6 => ipv6(data, on_wire),
        _ => return Kind::Other,
    };
    let Some(ip) = found else { return Kind::Other };
    let header = data.get(ip.header_bytes..).unwrap_or_default();
    // Options that the capture cut off are no reason to lose the segment.
    let Some(fixed) = Tcp::read(header) else {
        return Kind::Damaged;
    };
    let length = fixed.header_len();
    let header = &header[..header.len().min(length.max(Tcp::LEN))];
    let Ok((mut segment, length)) = read_header(header) else {
        return Kind::Damaged;
    };
    let headers = (ip.header_bytes + length) as u32;
    segment.len = ip.bytes.saturating_sub(headers);
    segment.ecn = ip.ecn;
    Kind::Tcp(Seen {
        at_ns: frame.timestamp.0,
        from: (ip.from, fixed.sport.get()),
        to: (ip.to, fixed.dport.get()),
        id: ip.id,
        segment,
        ip_bytes: ip.bytes,
        header_bytes: headers,
    })
}

/// What an IP header says of a packet with TCP in it.
struct Ip {
    from: IpAddr,
    to: IpAddr,
    id: Option<u16>,
    ecn: Ecn,
    header_bytes: usize,
    bytes: u32,
}

fn ecn(bits: u8) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Nothing where it is no TCP, or a later fragment.
fn ipv4(data: &[u8], on_wire: u32) -> Option<Ip> {
    let ip = Ipv4::read(data)?;
    let is_tcp = ip.version() == 4 && ip.protocol == TCP && ip.is_first_fragment();
    if !is_tcp || ip.header_len() < Ipv4::LEN {
        return None;
    }
    Some(Ip {
        from: IpAddr::from(ip.src),
        to: IpAddr::from(ip.dst),
        id: Some(ip.identification.get()).filter(|id| *id != 0),
        ecn: ecn(ip.tos),
        header_bytes: ip.header_len(),
        // A packet that the card is to segment may not say its length.
        bytes: match u32::from(ip.total_length.get()) {
            0 => on_wire,
            told => told,
        },
    })
}

fn ipv6(data: &[u8], on_wire: u32) -> Option<Ip> {
    let ip = Ipv6::read(data)?;
    let above = upper(data)?;
    if ip.version() != 6 || above.protocol != TCP || above.fragment_offset != 0 {
        return None;
    }
    Some(Ip {
        from: IpAddr::from(ip.src),
        to: IpAddr::from(ip.dst),
        id: None,
        ecn: ecn(ip.traffic_class()),
        header_bytes: above.at,
        bytes: match u32::from(ip.payload_length.get()) {
            0 => on_wire,
            told => told + Ipv6::LEN as u32,
        },
    })
}
