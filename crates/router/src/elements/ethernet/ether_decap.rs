//! Removes the Ethernet header.
//!
//! # What it does
//! The header stays noted as the packet's MAC header, so that elements such as `ARPQuerier` or
//! `EtherMirror` behind it can look at it, and the network header is marked behind it. Packets
//! shorter than the header are dropped.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> EtherDecap -> CheckIPHeader -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;

/// The class.
pub static ENTRY: Entry = Entry::new("EtherDecap", "removes the Ethernet header", || {
    Box::<EtherDecap>::default()
})
.references(&["IEEE 802.3"])
.ops("parse(14); work(12)");

#[derive(Debug, Default)]
struct EtherDecap;

impl Element for EtherDecap {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            if packet.len() < Ether::LEN {
                ctx.drop(handle, Reason::TooShort);
                return None;
            }
            packet.set_mac_header(0);
            packet.pull(Ether::LEN);
            packet.set_network_header(0);
            Some(handle)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_header_goes_and_stays_noted() {
        let frame = b"\x02\x02\x02\x02\x02\x02\x01\x01\x01\x01\x01\x01\x08\x00rest";
        let mut probe = Probe::new("EtherDecap", 1);
        let mut seen = 0;
        probe.send_and_look(
            frame,
            |_| (),
            |_, packet| {
                assert_eq!(packet.data(), b"rest");
                assert_eq!(packet.mac_header_at(), Some(-14));
                assert_eq!(packet.network_header_at(), Some(0));
                seen += 1;
            },
        );
        assert_eq!(seen, 1);
        assert_eq!(probe.send(&frame[..13]), []);
        assert_eq!(probe.held(), 0);
    }
}
