//! Packets as bytes: header, HELLO and link-state update (LSU), in network byte order.
//!
//! ```text
//! header  version 1, type 1, length 2, router id 4, area 4, checksum 2, autype 2, authentication 8
//! HELLO   mask 4, helloint 2 (seconds), padding 2
//! LSU     sequence 2, TTL 2, number of adverts 4, then for each: subnet 4, mask 4, router id 4
//! ```
//!
//! The checksum is the Internet checksum of the packet without the eight bytes of authentication.
//! With autype 0 the content of these eight bytes is not looked at (RFC 2328, §D.1).

use super::counters::Refusal;
use super::database::Advert;
use core::net::Ipv4Addr;
use std::sync::Arc;
use trammel_packet::headers::checksum::{Sum, update_u16};

/// The IP protocol number.
pub const PROTOCOL: u8 = 89;

/// The group that HELLOs are sent to.
pub const ALL_SPF_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 5);

const VERSION: u8 = 2;
const HELLO: u8 = 1;
const LSU: u8 = 4;

const HEADER_LEN: usize = 24;
const HELLO_LEN: usize = HEADER_LEN + 8;
const LSU_LEN: usize = HEADER_LEN + 8;
const ADVERT_LEN: usize = 12;

/// Where the checksum, the authentication and the TTL of an LSU begin.
const CHECKSUM: usize = 12;
const AUTHENTICATION: usize = 16;
const TTL: usize = 26;

/// A packet whose header is right.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) router_id: Ipv4Addr,
    pub(super) area: u32,
    pub(super) body: Body<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body<'a> {
    Hello { mask: Ipv4Addr, interval: u16 },
    Lsu(Lsu<'a>),
}

/// A link-state update whose length fits the number of its adverts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lsu<'a> {
    pub(super) sequence: u16,
    pub(super) ttl: u16,
    bytes: &'a [u8],
}

impl Lsu<'_> {
    /// The adverts as bytes, which tell whether two updates say the same.
    pub(super) fn contents(&self) -> &[u8] {
        contents(self.bytes)
    }

    pub(super) fn len(&self) -> usize {
        self.contents().len() / ADVERT_LEN
    }

    pub(super) fn adverts(&self) -> impl Iterator<Item = Advert> {
        let (adverts, _) = self.contents().as_chunks::<ADVERT_LEN>();
        adverts.iter().map(|bytes| Advert {
            network: address(bytes, 0) & address(bytes, 4),
            mask: address(bytes, 4),
            router_id: address(bytes, 8),
        })
    }

    /// The packet with another TTL.
    pub(super) fn with_ttl(&self, ttl: u16) -> Arc<[u8]> {
        let mut bytes: Arc<[u8]> = Arc::from(self.bytes);
        let copy = Arc::get_mut(&mut bytes).expect("a new Arc has one owner");
        let checksum = update_u16(u16_at(copy, CHECKSUM), self.ttl, ttl);
        put(copy, TTL, &ttl.to_be_bytes());
        put(copy, CHECKSUM, &checksum.to_be_bytes());
        bytes
    }
}

/// The adverts of an update, as bytes.
pub(super) fn contents(lsu: &[u8]) -> &[u8] {
    &lsu[LSU_LEN..]
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn address(bytes: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32_at(bytes, at))
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// The checksum of a whole packet; 0 where it contains a right one.
fn checksum(packet: &[u8]) -> u16 {
    (Sum::ZERO.bytes(&packet[..AUTHENTICATION]))
        .bytes(&packet[HEADER_LEN..])
        .checksum()
}

/// Checks length, version, checksum and autype, and reads the packet. Bytes after its length are
/// left out.
pub(super) fn parse(payload: &[u8]) -> Result<Packet<'_>, Refusal> {
    if payload.len() < HEADER_LEN {
        return Err(Refusal::Length);
    }
    if payload[0] != VERSION {
        return Err(Refusal::Version);
    }
    let length = usize::from(u16_at(payload, 2));
    let bytes = match payload.get(..length) {
        Some(bytes) if length >= HEADER_LEN => bytes,
        _ => return Err(Refusal::Length),
    };
    if checksum(bytes) != 0 {
        return Err(Refusal::Checksum);
    }
    if u16_at(bytes, 14) != 0 {
        return Err(Refusal::AuType);
    }
    Ok(Packet {
        router_id: address(bytes, 4),
        area: u32_at(bytes, 8),
        body: match bytes[1] {
            HELLO => hello_body(bytes)?,
            LSU => Body::Lsu(lsu_body(bytes)?),
            _ => return Err(Refusal::Type),
        },
    })
}

fn hello_body(bytes: &[u8]) -> Result<Body<'_>, Refusal> {
    if bytes.len() != HELLO_LEN {
        return Err(Refusal::Length);
    }
    Ok(Body::Hello {
        mask: address(bytes, 24),
        interval: u16_at(bytes, 28),
    })
}

fn lsu_body(bytes: &[u8]) -> Result<Lsu<'_>, Refusal> {
    let adverts = bytes.get(LSU_LEN..).ok_or(Refusal::Length)?;
    let (whole, rest) = adverts.as_chunks::<ADVERT_LEN>();
    if !rest.is_empty() || u32_at(bytes, 28) as usize != whole.len() {
        return Err(Refusal::Length);
    }
    Ok(Lsu {
        sequence: u16_at(bytes, 24),
        ttl: u16_at(bytes, TTL),
        bytes,
    })
}

fn header(kind: u8, length: usize, router_id: Ipv4Addr, area: u32) -> Vec<u8> {
    let length = u16::try_from(length).expect("the limit of adverts bounds a packet");
    let mut bytes = vec![VERSION, kind];
    bytes.extend(length.to_be_bytes());
    bytes.extend(router_id.octets());
    bytes.extend(area.to_be_bytes());
    bytes.resize(HEADER_LEN, 0);
    bytes
}

fn finished(mut bytes: Vec<u8>) -> Arc<[u8]> {
    let checksum = checksum(&bytes);
    put(&mut bytes, CHECKSUM, &checksum.to_be_bytes());
    bytes.into()
}

/// A HELLO; `interval` in seconds.
pub(super) fn hello(router_id: Ipv4Addr, area: u32, mask: Ipv4Addr, interval: u16) -> Arc<[u8]> {
    let mut bytes = header(HELLO, HELLO_LEN, router_id, area);
    bytes.extend(mask.octets());
    bytes.extend(interval.to_be_bytes());
    bytes.extend([0, 0]);
    finished(bytes)
}

/// A link-state update of `router_id`.
pub(super) fn lsu(
    (router_id, area): (Ipv4Addr, u32),
    sequence: u16,
    ttl: u16,
    adverts: &[Advert],
) -> Arc<[u8]> {
    let length = LSU_LEN + ADVERT_LEN * adverts.len();
    let mut bytes = header(LSU, length, router_id, area);
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(ttl.to_be_bytes());
    bytes.extend((adverts.len() as u32).to_be_bytes());
    for advert in adverts {
        bytes.extend(advert.network.octets());
        bytes.extend(advert.mask.octets());
        bytes.extend(advert.router_id.octets());
    }
    finished(bytes)
}
