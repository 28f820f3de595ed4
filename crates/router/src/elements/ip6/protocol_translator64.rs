//! Translates IPv6 packets to IPv4.
//!
//! # What it does
//! Headers, ICMP messages and checksums become those of IPv4; an address becomes its last 32 bits,
//! whatever its prefix is. Packets that have no counterpart in IPv4 are dropped. Which addresses
//! these are is `AddressTranslator`'s matter, which keeps the state of a NAT64.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> ProtocolTranslator64 -> IPPrint -> Discard
//! ```
//!
//! # References
//! RFC 7915, §5; RFC 6146.

use super::shared::siit;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet;
use crate::reason::Reason;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ProtocolTranslator64",
    "translates IPv6 packets to IPv4",
    || Box::<ProtocolTranslator64>::default(),
)
.references(&["RFC 7915, §5", "RFC 6146"])
.ops("parse(40); copy(frame - 38); checksum(20) by 4; deparse(20); work(200)");

#[derive(Debug, Default)]
struct ProtocolTranslator64;

/// Takes the IPv4 packet's place.
fn change(packet: &mut Packet) -> Option<()> {
    let network = if packet.has_network_header() {
        packet.network_header()
    } else {
        packet.data()
    };
    let four = siit::to_v4(network)?;
    packet.set_data(&four);
    ip_packet::mark(packet, 0);
    packet.set_anno_bytes(anno::DST_IP, [four[16], four[17], four[18], four[19]]);
    Some(())
}

impl Element for ProtocolTranslator64 {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if change(&mut ctx.pool()[&handle]).is_some() {
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
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::ipv4;

    #[test]
    fn a_packet_becomes_one_of_ipv4() {
        let mut four = udp(9, b"bytes");
        four[4..6].fill(0);
        ipv4::set_checksum(&mut four);
        let six = to_v6(&four, &MAPPED).expect("it has a counterpart");
        let mut probe = Probe::new("ProtocolTranslator64", 1);
        assert_eq!(probe.send(&six), [(0, four.clone())]);
        assert_eq!(probe.send(&four), []);
        assert_eq!(probe.send(&six[..47]), []);
        assert_eq!(probe.held(), 0);
    }
}
