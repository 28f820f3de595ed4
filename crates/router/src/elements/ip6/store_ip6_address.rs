//! Writes an IPv6 address into packets.
//!
//! # What it does
//! `StoreIP6Address(OFFSET)` writes the destination annotation unless it is zero,
//! `StoreIP6Address(ADDR, OFFSET)` an address. With `src` or `dst` for the offset the IPv6 header
//! is meant, and the checksum of TCP, UDP or ICMPv6 is brought up to date. Packets that end before
//! the place leave by output 1, or are dropped.
//!
//! # Example
//! ```click
//! // The source becomes the address that is noted.
//! Idle -> SetIP6Address(2001:db8::1) -> StoreIP6Address(src) -> Discard
//! ```

use crate::args::Args;
use crate::args::addresses::parse_ip6;
use crate::args::store_place::{self, PARAMS, Place};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip6_packet::destination;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::update_u32;
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::ipv6;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "StoreIP6Address",
    "writes an IPv6 address into packets",
    || Box::<StoreIp6Address>::default(),
)
.ports("1/1-2", "a/ah")
.params(PARAMS)
.ops("parse(16); deparse(16); 4 * inc_checksum(4); deparse(2); work(125)");

#[derive(Debug, Default)]
struct StoreIp6Address {
    address: Option<[u8; 16]>,
    place: Place,
}

/// Where the checksum of a transport header stands.
fn checksum_at(protocol: u8) -> Option<usize> {
    match protocol {
        protocol::TCP => Some(16),
        protocol::UDP => Some(6),
        protocol::ICMP6 => Some(2),
        _ => None,
    }
}

fn words(address: [u8; 16]) -> [u32; 4] {
    let all = u128::from_be_bytes(address);
    [96, 64, 32, 0].map(|shift| (all >> shift) as u32)
}

/// Replaces an address of the marked header, and brings the checksum up to date that covers it.
fn replace(packet: &mut Packet, at: usize, new: [u8; 16]) -> bool {
    let network = packet.network_header_mut();
    let upper = ipv6::upper(network);
    let Some(place) = network
        .get_mut(at..at + 16)
        .and_then(|p| p.first_chunk_mut::<16>())
    else {
        return false;
    };
    let old = std::mem::replace(place, new);
    let Some(upper) = upper.filter(|upper| upper.fragment_offset == 0) else {
        return true;
    };
    let Some(sum) = checksum_at(upper.protocol)
        .and_then(|offset| network.get_mut(upper.at + offset..)?.first_chunk_mut::<2>())
    else {
        return true;
    };
    let pairs = words(old).into_iter().zip(words(new));
    let updated = pairs.fold(u16::from_be_bytes(*sum), |sum, (old, new)| {
        update_u32(sum, old, new)
    });
    *sum = updated.to_be_bytes();
    true
}

impl Element for StoreIp6Address {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let names = setup.names();
        let (address, place) = store_place::read(args, |text| parse_ip6(text, &names), [8, 24])?;
        (self.address, self.place) = (address.map(|one| one.octets()), place);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let address = self.address.unwrap_or_else(|| destination(packet));
            // An annotation that nobody set is no address to write.
            if self.address.is_none() && address == [0; 16] {
                return Some(handle);
            }
            let is_done = match self.place {
                Place::Header(at) => replace(packet, at, address),
                Place::Data(at) => match packet.data_mut().get_mut(at..at + 16) {
                    Some(place) => {
                        place.copy_from_slice(&address);
                        true
                    }
                    None => false,
                },
            };
            if is_done {
                return Some(handle);
            }
            ctx.reject(1, handle, Reason::TooShort);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn the_checksum_stays_right() {
        let mut encap = Probe::new("UDPIP6Encap(2001::1, 1000, 2001::2, 2000)", 1);
        let packet = encap.send(b"some data").remove(0).1;
        for (place, at) in [("src", 8), ("dst", 24)] {
            let mut probe = Probe::new(&format!("StoreIP6Address(fe80::abcd, {place})"), 1);
            let left = probe
                .send_with(&packet, |p| ip6_packet::mark(p, 0))
                .remove(0)
                .1;
            assert_eq!((left[at], left[at + 15]), (0xFE, 0xCD));
            let address = |at: usize| left[at..at + 16].try_into().expect("16 bytes");
            let sum = ip6_packet::checksum(&address(8), &address(24), 17, &left[40..]);
            assert_eq!(sum, 0);
        }
    }

    #[test]
    fn a_place_beyond_the_packet_is_refused() {
        let mut probe = Probe::new("StoreIP6Address(::5, 2)", 2);
        let written = [b"ab".as_slice(), &[0; 15], &[5], b"c"].concat();
        assert_eq!(probe.send(b"ab0123456789abcdefc"), [(0, written)]);
        assert_eq!(probe.send(b"ab0123456789abcde")[0].0, 1);
        assert!(errors("Idle -> StoreIP6Address(x) -> Idle").contains("OFFSET requires integer"));
        let mut probe = Probe::new("StoreIP6Address(0)", 2);
        assert_eq!(probe.send(b"short"), [(0, b"short".to_vec())]);
    }
}
