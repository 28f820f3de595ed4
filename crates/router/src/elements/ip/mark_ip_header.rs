//! Marks the IP header of packets, unchecked.
//!
//! # Example
//! ```click
//! // The header is taken to be at byte 14, unchecked.
//! FromDump(a.pcap, STOP true) -> MarkIPHeader(14) -> IPPrint -> Discard
//! ```

use crate::args::kinds::UINT;
use crate::args::packet_length::within_most;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::mark;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("MarkIPHeader", "marks the IP header", || {
    Box::<MarkIpHeader>::default()
})
.params(&[positional("OFFSET", UINT, "0", "where the header begins")])
.ops("parse(1); work(25)");

#[derive(Debug, Default)]
struct MarkIpHeader {
    offset: usize,
}

impl Element for MarkIpHeader {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = within_most("OFFSET", args.uint("OFFSET"))?;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            mark(&mut pool[packet], self.offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn the_transport_header_is_marked_too() {
        let frame = [b"xx".to_vec(), udp(9, b"")].concat();
        let mut seen = Vec::new();
        Probe::new("MarkIPHeader(2)", 1).send_and_look(
            &frame,
            |_| (),
            |_, packet| {
                seen.push((packet.network_header_at(), packet.transport_header_at()));
            },
        );
        assert_eq!(seen, [(Some(2), Some(22))]);
        assert_eq!(Probe::new("MarkIPHeader(2)", 1).send(b"x").len(), 1);
    }
}
