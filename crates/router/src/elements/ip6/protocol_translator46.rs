//! Translates IPv4 packets to IPv6.
//!
//! # What it does
//! Headers, ICMP messages and checksums become those of IPv6; an address gets `PREFIX` before it.
//! Packets that have no counterpart in IPv6 are dropped.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> ProtocolTranslator46(64:ff9b::/96) -> Discard
//! ```
//!
//! # References
//! RFC 7915, §4; RFC 6052, for prefixes.

use super::shared::siit;
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip6_packet;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ProtocolTranslator46",
    "translates IPv4 packets to IPv6",
    || Box::<ProtocolTranslator46>::default(),
)
.references(&["RFC 7915, §4", "RFC 6052"])
.params(&[positional(
    "PREFIX",
    Kind::Prefix6,
    "::ffff:0:0/96",
    "what stands before the IPv4 address, 96 bits of it",
)])
.ops("parse(20); copy(frame - 38); deparse(40); work(200)");

#[derive(Debug, Default)]
struct ProtocolTranslator46 {
    prefix: siit::Prefix,
}

impl ProtocolTranslator46 {
    /// Takes the IPv6 packet's place.
    fn change(&self, packet: &mut Packet) -> Option<()> {
        let network = if packet.has_network_header() {
            packet.network_header()
        } else {
            packet.data()
        };
        let six = siit::to_v6(network, &self.prefix)?;
        packet.set_data(&six);
        ip6_packet::mark(packet, 0);
        let destination = six.get(24..40)?.try_into().ok()?;
        ip6_packet::set_destination(packet, destination);
        Some(())
    }
}

impl Element for ProtocolTranslator46 {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let prefix = args.prefix6("PREFIX");
        if prefix.len != 96 {
            return Err(Diagnostics::of("PREFIX must have 96 bits"));
        }
        self.prefix.copy_from_slice(&prefix.address.octets()[..12]);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if self.change(&mut ctx.pool()[&handle]).is_some() {
                return Some(handle);
            }
            ctx.drop(handle, Reason::BadHeader);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::ip6::shared::siit::{MAPPED, to_v6};
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};

    #[test]
    fn a_packet_becomes_one_of_ipv6() {
        let four = udp(9, b"bytes");
        let six = to_v6(&four, &MAPPED).expect("it has a counterpart");
        let mut probe = Probe::new("ProtocolTranslator46", 1);
        assert_eq!(probe.send_ip(&four), [(0, six.clone())]);
        assert_eq!(probe.send(&six), []);
        let left = Probe::new("ProtocolTranslator46(64:ff9b::/96)", 1).send_ip(&four);
        assert_eq!(left[0].1[8..12], [0, 0x64, 0xff, 0x9b]);
        assert!(errors("Idle -> ProtocolTranslator46(64::/32) -> Discard").contains("96 bits"));
    }
}
