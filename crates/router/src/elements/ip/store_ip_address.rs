//! Writes an address into packets.
//!
//! # What it does
//! `StoreIPAddress(OFFSET)` writes the destination annotation unless it is zero,
//! `StoreIPAddress(ADDR, OFFSET)` an address. With `src` or `dst` for the offset the IP header is
//! meant, and its checksum and that of TCP or UDP are brought up to date. Packets that end before
//! the place leave by output 1, or are dropped.
//!
//! # Example
//! ```click
//! // Each packet gets a source of its own.
//! RatedSource(RATE 10) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 1000)
//!     -> SetRandIPAddress(10.1.0.0/16) -> StoreIPAddress(src) -> Discard
//! ```

use crate::args::Args;
use crate::args::addresses::parse_ip;
use crate::args::store_place::{self, PARAMS, Place};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::destination;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::update_u32;
use trammel_packet::headers::ipv4::{self, protocol};
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("StoreIPAddress", "writes an address into packets", || {
    Box::<StoreIpAddress>::default()
})
.ports("1/1-2", "a/ah")
.params(PARAMS)
.ops("parse(20); deparse(4); 2 * inc_checksum(4); 2 * deparse(2); work(105)");

#[derive(Debug, Default)]
struct StoreIpAddress {
    address: Option<[u8; 4]>,
    place: Place,
}

/// Replaces an address of the marked IP header, and brings the checksums up to date that cover it.
fn replace(packet: &mut Packet, at: usize, new: [u8; 4]) -> bool {
    let Some(header) = packet.network_header_mut().first_chunk_mut::<20>() else {
        return false;
    };
    let old = u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    header[at..at + 4].copy_from_slice(&new);
    let update = |place: &mut [u8]| {
        let sum = update_u32(
            u16::from_be_bytes([place[0], place[1]]),
            old,
            u32::from_be_bytes(new),
        );
        place.copy_from_slice(&sum.to_be_bytes());
    };
    update(&mut header[10..12]);
    let is_first = u16::from_be_bytes([header[6], header[7]]) & ipv4::OFFSET_MASK == 0;
    let protocol = header[9];
    let transport = packet.transport_header_mut();
    match protocol {
        protocol::TCP if is_first && transport.len() >= 20 => update(&mut transport[16..18]),
        protocol::UDP if is_first && transport.len() >= 8 && transport[6..8] != [0, 0] => {
            update(&mut transport[6..8]);
        }
        _ => {}
    }
    true
}

impl Element for StoreIpAddress {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let names = setup.names();
        let (address, place) = store_place::read(args, |text| parse_ip(text, &names), [12, 16])?;
        (self.address, self.place) = (address.map(|one| one.octets()), place);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let address = self.address.unwrap_or_else(|| destination(packet));
            let is_wanted = self.address.is_some() || address != [0; 4];
            let is_done = match self.place {
                Place::Header(at) => replace(packet, at, address),
                Place::Data(at) => match packet.data_mut().get_mut(at..at + 4) {
                    Some(place) if is_wanted => {
                        place.copy_from_slice(&address);
                        true
                    }
                    _ => false,
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
    use crate::headers::ip_packet::transport_sum;
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::checksum::checksum;

    #[test]
    fn all_checksums_stay_right() {
        for (place, at) in [("src", 12), ("dst", 16)] {
            let mut probe = Probe::new(&format!("StoreIPAddress(1.2.3.4, {place})"), 1);
            let packet = &probe.send_ip(&udp(9, b"data"))[0].1;
            assert_eq!(packet[at..at + 4], [1, 2, 3, 4]);
            assert_eq!(checksum(&packet[..20]), 0);
            assert_eq!(
                transport_sum(packet).map(trammel_packet::headers::checksum::Sum::checksum),
                Some(0)
            );
        }
    }

    #[test]
    fn a_place_beyond_the_packet_is_refused() {
        let mut probe = Probe::new("StoreIPAddress(1.2.3.4, 2)", 2);
        assert_eq!(
            probe.send(b"abcdefg"),
            [(0, b"ab\x01\x02\x03\x04g".to_vec())]
        );
        assert_eq!(probe.send(b"abcde")[0].0, 1);
        assert!(errors("Idle -> StoreIPAddress(x) -> Idle").contains("OFFSET requires integer"));
    }
}
