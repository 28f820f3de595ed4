//! Checks IPv4 headers: length, version, checksum, source.
//!
//! # What it does
//! Good packets have their header marked, their destination noted as the annotation for routing,
//! and what follows the packet (the padding of a short frame) cut off. Bad ones leave by output 1
//! or are dropped.
//!
//! # Example
//! ```click
//! // Broken packets, and those whose source is the broadcast address of these networks, are
//! // dropped.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader(INTERFACES 10.0.1.1/24 10.0.2.1/24) -> Discard
//! ```
//!
//! # References
//! RFC 1812, §5.2.2 and §5.3.7.

use super::shared::ip_check::{IpCheck, PARAMS};
use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckIPHeader", "checks IPv4 headers", || {
    Box::new(CheckIpHeader(IpCheck::new(true)))
})
.ports("1/1-2", "a/ah")
.references(&["RFC 1812, §5.2.2", "RFC 1812, §5.3.7"])
.params(PARAMS)
.ops("parse(20); checksum(20) by 4; work(70)");

/// Also `CheckIPHeader2`, which leaves the checksum unchecked unless told to.
#[derive(Debug)]
pub(crate) struct CheckIpHeader(pub(crate) IpCheck);

impl Element for CheckIpHeader {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.0.configure(setup, args)
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        self.0.process(ctx, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        self.0.faults.handlers()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.0.faults.read(name))
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::ipv4;

    #[test]
    fn a_good_packet_is_marked_and_its_padding_cut_off() {
        let mut probe = Probe::new("CheckIPHeader", 1);
        let mut frame = udp(9, b"x");
        frame.extend([0; 17]);
        let mut seen = 0;
        probe.send_and_look(
            &frame,
            |_| (),
            |port, packet| {
                assert_eq!((port, packet.data()), (0, &udp(9, b"x")[..]));
                assert_eq!(packet.network_header_at(), Some(0));
                assert_eq!(packet.transport_header_at(), Some(20));
                assert_eq!(
                    crate::headers::ip_packet::destination(packet),
                    [10, 0, 0, 2]
                );
                seen += 1;
            },
        );
        assert_eq!(seen, 1);
    }

    /// A good packet with one byte changed, its checksum right again where `fixed`.
    fn changed(at: usize, byte: u8, fixed: bool) -> Vec<u8> {
        let mut packet = udp(9, b"data");
        packet[at] = byte;
        if fixed {
            ipv4::set_checksum(&mut packet);
        }
        packet
    }

    #[test]
    fn each_fault_is_told_by_its_name() {
        let long = udp(9, b"data").len() as u8 + 1;
        let cases = [
            (udp(9, b"")[..19].to_vec(), "tiny packet"),
            (changed(0, 0x65, true), "bad IP version"),
            (changed(0, 0x44, false), "bad IP header length"),
            (changed(3, long, true), "bad IP length"),
            (changed(3, 19, true), "bad IP length"),
            (changed(0, 0x4F, false), "bad IP length"),
            (changed(8, 8, false), "bad IP checksum"),
        ];
        for (packet, text) in cases {
            let mut probe = Probe::new("CheckIPHeader(DETAILS true)", 2);
            assert_eq!(probe.send(&packet), [(1, packet.clone())], "{text}");
            assert_eq!(probe.said(), format!("x: IP header check failed: {text}\n"));
            assert!(
                probe
                    .run
                    .read("x.drop_details")
                    .contains(&format!("1\t{text}\n"))
            );
        }
    }

    #[test]
    fn only_the_first_fault_is_printed() {
        let mut probe = Probe::new("CheckIPHeader", 1);
        probe.send(b"");
        probe.send(b"");
        assert_eq!(probe.said().lines().count(), 1);
        assert_eq!(probe.run.read("x.drops"), "2");
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn the_header_may_lie_further_in() {
        let frame = [b"fourteen bytes".to_vec(), udp(9, b"x")].concat();
        let mut probe = Probe::new("CheckIPHeader(14)", 1);
        assert_eq!(probe.send(&frame).len(), 1);
        let mut probe = Probe::new("CheckIPHeader(OFFSET 14)", 1);
        assert_eq!(probe.send(&frame).len(), 1);
    }

    #[test]
    fn sources_that_are_broadcasts_of_interfaces_are_refused() {
        let mut packet = udp(9, b"");
        packet[15] = 255;
        ipv4::set_checksum(&mut packet);
        let mut probe = Probe::new("CheckIPHeader(INTERFACES 10.0.0.9/24)", 2);
        assert_eq!(probe.send(&packet)[0].0, 1);
        let mut probe = Probe::new("CheckIPHeader(INTERFACES 10.0.0.2/24)", 2);
        assert_eq!(probe.send(&packet)[0].0, 0, "to an address of its own");
        let mut probe = Probe::new("CheckIPHeader(BADSRC 10.0.0.255)", 2);
        assert_eq!(probe.send(&packet)[0].0, 1);
        let mut probe = Probe::new("CheckIPHeader(10.0.0.255 1.2.3.4, 0)", 2);
        assert_eq!(probe.send(&packet)[0].0, 1);
    }

    #[test]
    fn wrong_arguments_are_told() {
        assert_eq!(
            errors("Idle -> CheckIPHeader(OFFSET x) -> Idle"),
            "config:1: While configuring 'CheckIPHeader@2 :: CheckIPHeader':\n  OFFSET: invalid \
             number\nRouter could not be initialized!\n"
        );
    }

    #[test]
    fn the_second_form_leaves_the_checksum_unchecked() {
        let mut probe = Probe::new("CheckIPHeader2", 2);
        assert_eq!(probe.send(&changed(8, 8, false))[0].0, 0);
    }
}
