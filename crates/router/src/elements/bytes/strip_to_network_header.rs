//! Strips packets to their network header, or gives back what of it was stripped.
//!
//! # Example
//! ```click
//! // Whatever the link header's length is.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> StripToNetworkHeader -> CheckIPHeader -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "StripToNetworkHeader",
    "strips everything before the network header",
    || Box::<StripToNetworkHeader>::default(),
)
.ops("work(20)");

#[derive(Debug, Default)]
struct StripToNetworkHeader;

impl Element for StripToNetworkHeader {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            match packet.network_header_at() {
                Some(at) if at >= 0 => packet.pull(at.unsigned_abs()),
                Some(at) => _ = packet.push(at.unsigned_abs()),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_network_header_comes_first() {
        let mut probe = Probe::new("StripToNetworkHeader", 1);
        let left = probe.send_with(b"abcd", |packet| packet.set_network_header(2));
        assert_eq!(left, [(0, b"cd".to_vec())]);
        let left = probe.send_with(b"abcd", |packet| {
            packet.set_network_header(1);
            packet.pull(3);
        });
        assert_eq!(left, [(0, b"bcd".to_vec())]);
        assert_eq!(probe.send(b"abcd"), [(0, b"abcd".to_vec())]);
    }
}
