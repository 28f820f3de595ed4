//! Swaps source and destination of IPv4 packets.
//!
//! # What it does
//! Ports of TCP and UDP are swapped too, and TCP's sequence and acknowledgement numbers. No
//! checksum changes.
//!
//! # Example
//! ```click
//! // Packets go back to who sent them, with ports exchanged.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPMirror -> Discard
//! ```

use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::{header_mut, set_destination};
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::protocol;

/// The class.
pub static ENTRY: Entry = Entry::new("IPMirror", "swaps source and destination", || {
    Box::<IpMirror>::default()
})
.params(&[positional(
    "DST_ANNO",
    Kind::Bool,
    "true",
    "whether the destination annotation becomes the new destination",
)])
.ops("parse(20); deparse(12); work(45)");

#[derive(Debug, Default)]
struct IpMirror {
    notes: bool,
}

impl Element for IpMirror {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.notes = args.bool("DST_ANNO");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let Some(header) = header_mut(packet) else {
                continue;
            };
            std::mem::swap(&mut header.src, &mut header.dst);
            let (dst, protocol, is_first) =
                (header.dst, header.protocol, header.is_first_fragment());
            if self.notes {
                set_destination(packet, dst);
            }
            let transport = packet.transport_header_mut();
            if is_first && matches!(protocol, protocol::TCP | protocol::UDP) && transport.len() >= 8
            {
                let [a, b, c, d, ..] = transport else {
                    continue;
                };
                std::mem::swap(a, c);
                std::mem::swap(b, d);
                if protocol == protocol::TCP && transport.len() >= 12 {
                    transport[4..12].rotate_left(4);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn ends_are_swapped_and_checksums_stay_right() {
        let left = Probe::new("IPMirror", 1).send_ip(&udp(9, b"data"));
        let packet = &left[0].1;
        assert_eq!(
            packet[12..24],
            [10, 0, 0, 2, 10, 0, 0, 1, 0x07, 0xD0, 0x03, 0xE8]
        );
        assert_eq!(packet[8..12], udp(9, b"data")[8..12]);
    }
}
