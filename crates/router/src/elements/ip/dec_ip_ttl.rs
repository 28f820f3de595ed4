//! Decrements the time to live of IPv4 packets, as every router must.
//!
//! # What it does
//! A packet whose time to live is 1 or 0 leaves by output 1, for an ICMP error, or is dropped. Of
//! any other the time to live is decremented, and the checksum updated rather than computed anew.
//!
//! # Example
//! ```click
//! // Packets whose hops are used up are answered.
//! rt :: RadixIPLookup(0.0.0.0/0 0);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> rt;
//! rt -> d :: DecIPTTL -> Discard; d[1] -> ICMPError(10.0.0.1, timeexceeded) -> rt
//! ```
//!
//! # References
//! RFC 1812, §5.3.1; RFC 1624.

use crate::args::numbers::parse_bool;
use crate::args::{Args, flag};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::decrement_ttl;
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("DecIPTTL", "decrements the time to live", || {
    Box::<DecIpTtl>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 1812, §5.3.1", "RFC 1624"])
.params(&[
    flag("ACTIVE", "true", "whether it does anything"),
    flag(
        "MULTICAST",
        "true",
        "whether packets to groups are decremented too",
    ),
])
.ops("parse(1); decrease(1); parse(2); inc_checksum(2); deparse(3); work(30)");

#[derive(Debug, Default)]
struct DecIpTtl {
    active: bool,
    multicast: bool,
    drops: u64,
}

impl Element for DecIpTtl {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.active = args.bool("ACTIVE");
        self.multicast = args.bool("MULTICAST");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if !self.active {
            return;
        }
        batch.filter(|packet| {
            let network = ctx.pool()[&packet].network_header_mut();
            let is_exempt = !self.multicast && network.get(16).is_some_and(|dst| dst >> 4 == 14);
            if is_exempt || decrement_ttl(network) {
                return Some(packet);
            }
            self.drops += 1;
            ctx.reject(1, packet, Reason::TtlExpired);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r"), Handler::new("active", "rwx")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "drops" => self.drops.to_string(),
            _ => self.active.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.active = parse_bool(value.trim()).map_err(|why| why.to_string())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn decrements_and_keeps_the_checksum_right() {
        assert_eq!(
            Probe::new("DecIPTTL", 2).send_ip(&udp(64, b"")),
            [(0, udp(63, b""))]
        );
    }

    #[test]
    fn an_expired_packet_leaves_by_output_1_as_it_was() {
        for ttl in [0, 1] {
            let mut probe = Probe::new("DecIPTTL", 2);
            assert_eq!(probe.send_ip(&udp(ttl, b"")), [(1, udp(ttl, b""))]);
            assert_eq!(probe.run.read("x.drops"), "1");
        }
    }

    #[test]
    fn a_packet_without_a_header_is_no_trouble() {
        let mut probe = Probe::new("DecIPTTL", 1);
        assert_eq!(probe.send(b"x"), []);
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn groups_may_be_exempted() {
        let mut packet = udp(1, b"");
        packet[16] = 224;
        let mut probe = Probe::new("DecIPTTL(MULTICAST false)", 2);
        assert_eq!(probe.send_ip(&packet), [(0, packet.clone())]);
    }
}
