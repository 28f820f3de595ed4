//! Computes the checksum of IPv4 headers anew.
//!
//! # Example
//! ```click
//! // After bytes of the header were changed by hand.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> StoreData(8, \<01>) -> SetIPChecksum
//!     -> ToDump(b.pcap, ENCAP IP)
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::{self, Ipv4};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "SetIPChecksum",
    "computes the checksum of IP headers",
    || Box::<SetIpChecksum>::default(),
)
.ops("parse(1); checksum(20) by 4; deparse(2); work(80)");

#[derive(Debug, Default)]
pub(crate) struct SetIpChecksum {
    drops: u64,
}

impl Element for SetIpChecksum {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let network = if packet.has_network_header() {
                packet.network_header_mut()
            } else {
                packet.data_mut()
            };
            let len = Ipv4::read(network).map_or(0, Ipv4::header_len);
            if len >= Ipv4::LEN && len <= network.len() {
                ipv4::set_checksum(network);
                return Some(handle);
            }
            self.drops += 1;
            if self.drops == 1 {
                ctx.host().say("SetIPChecksum: bad input packet\n");
            }
            ctx.drop(handle, Reason::BadHeader);
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

    #[test]
    fn a_wrong_checksum_becomes_right() {
        let mut packet = udp(9, b"");
        packet[10] ^= 7;
        let mut probe = Probe::new("SetIPChecksum", 1);
        assert_eq!(probe.send_ip(&packet), [(0, udp(9, b""))]);
        assert_eq!(probe.send(&packet), [(0, udp(9, b""))]);
        packet[0] = 0x4F;
        assert_eq!(probe.send(&packet), []);
        assert_eq!(probe.held(), 0);
    }
}
