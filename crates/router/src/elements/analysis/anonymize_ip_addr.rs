//! Anonymizes the addresses of IPv4 packets and keeps their prefixes.
//!
//! # What it does
//! Addresses that share a prefix of so many bits still do so afterwards; 0.0.0.0 and
//! 255.255.255.255 stay what they are. `CLASS` keeps so many leading ones, `PRESERVE_8` the nets of
//! the listed first bytes. The headers that ICMP errors quote are anonymized as well, and checksums
//! brought up to date. Packets without a marked IPv4 header leave by output 1, or end here.
//!
//! Each bit is flipped or not as a pseudorandom function of the bits before it says (Xu et al.
//! 2002): no table of addresses is needed, and no order of packets changes the result.
//!
//! # Example
//! ```click
//! // Addresses that share a prefix do so afterwards as well.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> AnonymizeIPAddr(CLASS 4, SEED true)
//!     -> ToDump(b.pcap, ENCAP IP)
//! ```
//!
//! # References
//! Xu et al. 2002, Prefix-Preserving IP Address Anonymization.

use crate::args::kinds::UINT;
use crate::args::numbers::parse_uint;
use crate::args::text::split_words;
use crate::args::{Args, Kind, flag, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::update_u32;
use trammel_packet::headers::icmp::{self, Icmp};
use trammel_packet::headers::ipv4::{Ipv4, protocol};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AnonymizeIPAddr",
    "anonymizes the addresses of IPv4 packets and keeps their prefixes",
    || Box::<AnonymizeIpAddr>::default(),
)
.ports("1/1-2", "a/ah")
.references(&["Xu et al. 2002, Prefix-Preserving IP Address Anonymization"])
.params(&[
    keyword(
        "CLASS",
        UINT,
        "0",
        "how many leading ones are kept; 99 is all",
    ),
    keyword(
        "PRESERVE_8",
        Kind::Raw,
        "",
        "first bytes of nets that are kept",
    ),
    flag("SEED", "false", "accepted; the router's seed decides"),
])
.ops("parse(8); deparse(8); 2 * inc_checksum(4); work(2285)");

/// All leading ones, in another word.
const ALL_CLASSES: u64 = 99;
/// Bytes behind a quoted header that must be there.
const QUOTED: usize = 8;
/// Where source and destination stand.
const ADDRESSES: [usize; 2] = [12, 16];

#[derive(Debug, Default)]
struct AnonymizeIpAddr {
    class: u32,
    kept: Vec<u32>,
    key: u64,
}

/// Bits that look random and depend on all of `x` (the finisher of MurmurHash3).
fn mix(mut x: u64) -> u64 {
    for multiplier in [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53] {
        x = (x ^ x >> 33).wrapping_mul(multiplier);
    }
    x ^ x >> 33
}

impl AnonymizeIpAddr {
    /// Each bit flipped or not, as the bits before it say.
    fn image(&self, address: u32) -> u32 {
        let mut flips = 0;
        for bit in 0..32 {
            let before = u64::from(address) >> (32 - bit);
            // The number of the bits tells apart those that are all zero.
            let random = mix(mix(self.key ^ (before << 6 | bit)) ^ self.key);
            flips = flips << 1 | (random & 1) as u32;
        }
        // A bit that only ones precede does not change as long as it tells a class.
        let told = (address.leading_ones() + 1).min(self.class);
        flips &= u32::MAX.checked_shr(told).unwrap_or(0);
        // Nor does one that the first bits of a net that is kept precede.
        for kept in &self.kept {
            let shared = (address ^ kept).leading_zeros();
            flips &= u32::MAX >> (shared + 1).min(8);
        }
        address ^ flips
    }

    fn anonymous(&self, address: u32) -> u32 {
        let is_special = |address| address == 0 || address == u32::MAX;
        if is_special(address) {
            return address;
        }
        let mut new = self.image(address);
        // Where an address would become a special one, it takes the image that this leaves free.
        while is_special(new) {
            new = self.image(new);
        }
        new
    }

    /// Replaces both addresses of a header; `update` is told of each.
    fn replace(&self, header: &mut [u8], mut update: impl FnMut(&mut [u8], u32, u32)) {
        for at in ADDRESSES {
            let place = header.get_mut(at..at + 4);
            let Some(place) = place.and_then(|place| place.first_chunk_mut::<4>()) else {
                return;
            };
            let old = u32::from_be_bytes(*place);
            let new = self.anonymous(old);
            *place = new.to_be_bytes();
            update(header, old, new);
        }
    }

    /// Anonymizes what an ICMP error quotes.
    fn replace_quoted(&self, message: &mut [u8]) {
        let Some((head, quoted)) = message.split_first_chunk_mut::<{ Icmp::LEN }>() else {
            return;
        };
        let Some(ip) = Ipv4::read(quoted) else {
            return;
        };
        let len = ip.header_len();
        if !icmp::is_error(head[0]) || len < Ipv4::LEN || quoted.len() < len + QUOTED {
            return;
        }
        self.replace(quoted, |_, old, new| update(&mut head[2..4], old, new));
    }
}

/// Brings a checksum up to date.
fn update(sum: &mut [u8], old: u32, new: u32) {
    let updated = update_u32(u16::from_be_bytes([sum[0], sum[1]]), old, new);
    sum.copy_from_slice(&updated.to_be_bytes());
}

impl Element for AnonymizeIpAddr {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        self.class = match args.uint("CLASS") {
            ALL_CLASSES => 32,
            class if class <= 32 => class as u32,
            _ => {
                said.error(None, "CLASS must be between 0 and 32");
                0
            }
        };
        for word in split_words(args.text("PRESERVE_8")) {
            match parse_uint(&word, 255) {
                Ok(net) => self.kept.push((net as u32) << 24),
                Err(_) => said.error(None, "PRESERVE_8 expects integer between 0 and 255"),
            }
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let [high, low] = [(); 2].map(|()| ctx.rng().below(1 << 32));
        self.key = high << 32 | low;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let network = packet.network_header_mut();
            let Some(ip) = Ipv4::read(network).filter(|ip| ip.version() == 4) else {
                ctx.reject(1, handle, Reason::BadHeader);
                return None;
            };
            let quotes = ip.protocol == protocol::ICMP && ip.is_first_fragment();
            let len = ip.header_len();
            self.replace(network, |header, old, new| {
                update(&mut header[10..12], old, new);
            });
            if quotes && let Some(message) = network.get_mut(len.max(Ipv4::LEN)..) {
                self.replace_quoted(message);
            }
            Some(handle)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};
    use std::collections::BTreeSet;
    use trammel_packet::headers::checksum::checksum;

    fn with(class: u32, kept: &[u32]) -> AnonymizeIpAddr {
        AnonymizeIpAddr {
            class,
            kept: kept.iter().map(|net| net << 24).collect(),
            key: 0x1234_5678_9ABC_DEF0,
        }
    }

    #[test]
    fn what_shared_a_prefix_still_shares_it() {
        let x = with(0, &[]);
        let all: Vec<u32> = (0..200).map(|n: u32| n.wrapping_mul(0x9E37_79B1)).collect();
        for a in &all[1..] {
            for b in &all[1..] {
                let new = x.anonymous(*a) ^ x.anonymous(*b);
                assert_eq!(new.leading_zeros(), (a ^ b).leading_zeros());
            }
        }
        let changed = all.iter().filter(|a| x.anonymous(**a) != **a).count();
        assert!(changed > 190, "{changed}");
        assert_eq!((x.anonymous(0), x.anonymous(u32::MAX)), (0, u32::MAX));
    }

    #[test]
    fn classes_and_nets_are_kept() {
        let x = with(3, &[]);
        for address in [0x0102_0304, 0x8102_0304, 0xC102_0304, 0xE102_0304_u32] {
            let class = |address: u32| address.leading_ones().min(3);
            assert_eq!(class(x.anonymous(address)), class(address));
        }
        let x = with(0, &[18]);
        let nets = |from: u32, to: u32| -> BTreeSet<u32> {
            (from..to)
                .map(|net| x.anonymous(net << 24 | 5) >> 24)
                .collect()
        };
        for (from, to) in [
            (0, 16),
            (16, 18),
            (18, 19),
            (19, 20),
            (20, 24),
            (24, 32),
            (128, 256),
        ] {
            assert_eq!(nets(from, to), (from..to).collect(), "{from}");
        }
    }

    #[test]
    fn checksums_stay_right_and_the_quoted_header_follows() {
        let mut probe = Probe::new("AnonymizeIPAddr", 2);
        let cause = udp(9, b"data");
        let packet = probe.send_ip(&cause).remove(0).1;
        assert_ne!(packet[12..20], cause[12..20]);
        assert_eq!((checksum(&packet[..20]), &packet[20..]), (0, &cause[20..]));
        let mut icmp = [&[11, 0, 0, 0, 0, 0, 0, 0][..], &cause].concat();
        let sum = checksum(&icmp);
        icmp[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut error = udp(9, &icmp[8..]);
        error[9] = 1;
        error[20..].copy_from_slice(&icmp);
        trammel_packet::headers::ipv4::set_checksum(&mut error);
        let error = probe.send_ip(&error).remove(0).1;
        assert_eq!((checksum(&error[..20]), checksum(&error[20..])), (0, 0));
        assert_eq!(error[40..48], packet[12..20]);
        assert_eq!(probe.send(b"no header")[0].0, 1);
    }

    #[test]
    fn wrong_numbers_are_told() {
        let said = errors("Idle -> AnonymizeIPAddr(CLASS 33, PRESERVE_8 1 256) -> Idle");
        assert!(
            said.contains("CLASS must be") && said.contains("PRESERVE_8 expects"),
            "{said}"
        );
    }
}
