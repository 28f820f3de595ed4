//! Strips packets to their transport header.
//!
//! # Example
//! ```click
//! // A tunnel of IP in IP ends.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(ip proto 4) -> StripIPHeader
//!     -> CheckIPHeader -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("StripIPHeader", "strips the IP header", || {
    Box::<StripIpHeader>::default()
})
.ops("work(25)");

#[derive(Debug, Default)]
struct StripIpHeader;

impl Element for StripIpHeader {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let at = packet.transport_header_at().unwrap_or(0);
            packet.pull(usize::try_from(at).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn the_transport_header_comes_first() {
        let packet = udp(9, b"data");
        assert_eq!(
            Probe::new("StripIPHeader", 1).send_ip(&packet),
            [(0, packet[20..].to_vec())]
        );
    }
}
