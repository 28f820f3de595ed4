//! Gives packets the source address of the interface that they leave by.
//!
//! # What it does
//! Packets that ICMPError made carry an annotation that asks for it; any other passes unchanged.
//!
//! # Example
//! ```click
//! // An ICMP error gets the address of the interface that it leaves by.
//! Idle -> ICMPError(10.0.0.1, timeexceeded) -> FixIPSrc(10.1.0.1) -> Discard
//! ```
//!
//! # References
//! RFC 1812, §4.3.2.4.

use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::fix_source;
use trammel_packet::anno;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FixIPSrc",
    "sets the source address of this router's packets",
    || Box::<FixIpSrc>::default(),
)
.references(&["RFC 1812, §4.3.2.4"])
.params(&[mandatory("IPADDR", Kind::Ip, "the interface's address")])
.ops("work(11)");

#[derive(Debug, Default)]
struct FixIpSrc {
    address: [u8; 4],
}

impl Element for FixIpSrc {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.address = args.ip("IPADDR").octets();
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            if packet.anno_u8(anno::FIX_IP_SRC) != 0 {
                fix_source(packet, self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::anno;

    #[test]
    fn only_packets_that_ask_get_the_address() {
        let mut probe = Probe::new("FixIPSrc(10.9.9.9)", 1);
        assert_eq!(probe.send_ip(&udp(9, b"")), [(0, udp(9, b""))]);
        let left = probe.send_with(&udp(9, b""), |packet| {
            crate::headers::ip_packet::mark(packet, 0);
            packet.set_anno_u8(anno::FIX_IP_SRC, 1);
        });
        assert_eq!(left[0].1[12..16], [10, 9, 9, 9]);
        assert_eq!(
            trammel_packet::headers::checksum::checksum(&left[0].1[..20]),
            0
        );
    }
}
