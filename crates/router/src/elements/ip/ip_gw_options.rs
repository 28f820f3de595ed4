//! Processes the options of IPv4 headers for routers: record route and timestamp.
//!
//! # What it does
//! A packet whose options are wrong leaves by output 1 with the place of what is wrong as an
//! annotation, for ICMPError, or is dropped.
//!
//! # Example
//! ```click
//! // Options of IP are dealt with as a router with two addresses does.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> g :: IPGWOptions(10.0.1.1, 10.0.2.1)
//!     -> Discard;
//! g[1] -> ICMPError(10.0.1.1, parameterproblem) -> Discard
//! ```
//!
//! # References
//! RFC 1812, §5.3.13.

use super::shared::ip_options::{has_options, milliseconds_of_day, record};
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::anno;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("IPGWOptions", "processes options of IP headers", || {
    Box::<IpGwOptions>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 1812, §5.3.13"])
.params(&[
    mandatory("MYADDR", Kind::Ip, "the address that is recorded"),
    positional(
        "OTHERADDRS",
        Kind::IpList,
        "",
        "further addresses of this router",
    ),
])
.ops("parse(1); work(19)");

#[derive(Debug, Default)]
struct IpGwOptions {
    address: [u8; 4],
    own: Vec<[u8; 4]>,
    drops: u64,
}

impl Element for IpGwOptions {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.address = args.ip("MYADDR").octets();
        self.own = args
            .ip_list("OTHERADDRS")
            .iter()
            .map(std::net::Ipv4Addr::octets)
            .collect();
        self.own.push(self.address);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        if !batch.iter().any(|packet| has_options(&pool[packet])) {
            return;
        }
        let time = milliseconds_of_day(ctx.now());
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            if !has_options(packet) {
                return Some(handle);
            }
            let Err(wrong) = record(packet.network_header_mut(), self.address, &self.own, time)
            else {
                return Some(handle);
            };
            packet.set_anno_u8(anno::ICMP_PARAMPROB, wrong);
            self.drops += 1;
            ctx.reject(1, handle, Reason::BadHeader);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.drops.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::anno;

    #[test]
    fn a_packet_without_options_passes_as_it_is() {
        let mut probe = Probe::new("IPGWOptions(10.9.9.9)", 2);
        assert_eq!(probe.send_ip(&udp(9, b"")), [(0, udp(9, b""))]);
    }

    #[test]
    fn wrong_options_are_told_by_their_place() {
        let mut packet = udp(9, b"");
        packet[0] = 0x46;
        packet[20..24].copy_from_slice(&[7, 9, 4, 0]);
        let mut probe = Probe::new("IPGWOptions(10.9.9.9)", 2);
        let mut seen = Vec::new();
        probe.send_and_look(
            &packet,
            |packet| crate::headers::ip_packet::mark(packet, 0),
            |port, packet| {
                seen.push((port, packet.anno_u8(anno::ICMP_PARAMPROB)));
            },
        );
        assert_eq!(seen, [(1, 21)]);
        assert_eq!(probe.run.read("x.drops"), "1");
    }
}
