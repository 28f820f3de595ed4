//! Restores a stripped IP header.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> StripIPHeader -> UnstripIPHeader -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("UnstripIPHeader", "restores a stripped IP header", || {
    Box::<UnstripIpHeader>::default()
})
.ops("work(35)");

#[derive(Debug, Default)]
struct UnstripIpHeader;

impl Element for UnstripIpHeader {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            if let Some(at) = packet.network_header_at().filter(|at| *at < 0) {
                packet.push(at.unsigned_abs());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn the_header_comes_back() {
        let mut probe = Probe::new("UnstripIPHeader", 1);
        let left = probe.send_with(&udp(9, b"data"), |packet| {
            crate::headers::ip_packet::mark(packet, 0);
            packet.pull(22);
        });
        assert_eq!(left, [(0, udp(9, b"data"))]);
    }
}
