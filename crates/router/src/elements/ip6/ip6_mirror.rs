//! Swaps source and destination of IPv6 packets, and the ports of TCP and UDP.
//!
//! # Example
//! ```click
//! // Packets go back to who sent them.
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> IP6Mirror -> Discard
//! ```
//!
//! # References
//! RFC 8200.

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::ipv6;

/// The class.
pub static ENTRY: Entry = Entry::new("IP6Mirror", "swaps source and destination", || {
    Box::<Ip6Mirror>::default()
})
.references(&["RFC 8200"])
.ops("parse(40); deparse(36); work(40)");

#[derive(Debug, Default)]
struct Ip6Mirror {}

impl Element for Ip6Mirror {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let network = packet.network_header_mut();
            let Some(upper) = ipv6::upper(network) else {
                continue;
            };
            network[8..40].rotate_left(16);
            let has_ports = matches!(upper.protocol, protocol::TCP | protocol::UDP);
            if has_ports
                && upper.fragment_offset == 0
                && let Some(ports) = network.get_mut(upper.at..upper.at + 4)
            {
                ports.rotate_left(2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::probe::Probe;

    #[test]
    fn addresses_and_ports_change_places() {
        let mut x = Probe::new("IP6Mirror", 1);
        let mut data = [
            [0x60, 0, 0, 0, 0, 4, 17, 9].as_slice(),
            &[1; 16],
            &[2; 16],
            b"abcd",
        ]
        .concat();
        let out = x
            .send_with(&data, |packet| ip6_packet::mark(packet, 0))
            .remove(0)
            .1;
        data[8..40].rotate_left(16);
        data[40..].copy_from_slice(b"cdab");
        assert_eq!(out, data);
        assert_eq!(
            x.send_with(&data[..39], |packet| ip6_packet::mark(packet, 0))[0].1,
            data[..39]
        );
    }
}
