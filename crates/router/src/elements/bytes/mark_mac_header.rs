//! Marks the link header of packets, and the network header behind it where a length is given.
//!
//! # Example
//! ```click
//! // The Ethernet header is at the front; elements such as EtherSwitch look for it there.
//! FromDump(a.pcap, STOP true) -> MarkMACHeader(0) -> Discard
//! ```

use crate::args::kinds::UINT;
use crate::args::packet_length::within_most;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("MarkMACHeader", "marks the link header", || {
    Box::<MarkMacHeader>::default()
})
.live()
.params(&[
    positional("OFFSET", UINT, "0", "where the link header begins"),
    positional(
        "LENGTH",
        UINT,
        "0",
        "its length; 0 leaves the network header unmarked",
    ),
])
.ops("work(13)");

#[derive(Debug, Default)]
struct MarkMacHeader {
    offset: isize,
    length: isize,
}

impl Element for MarkMacHeader {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = within_most("OFFSET", args.uint("OFFSET"))? as isize;
        self.length = within_most("LENGTH", args.uint("LENGTH"))? as isize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            packet.set_mac_header(self.offset);
            if self.length > 0 {
                packet.set_network_header(self.offset + self.length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn marks_where_it_is_told() {
        let mut seen = Vec::new();
        Probe::new("MarkMACHeader(2, 14)", 1).send_and_look(
            b"abcd",
            |_| (),
            |_, packet| {
                seen.push((packet.mac_header_at(), packet.network_header_at()));
            },
        );
        Probe::new("MarkMACHeader", 1).send_and_look(
            b"abcd",
            |_| (),
            |_, packet| {
                seen.push((packet.mac_header_at(), packet.network_header_at()));
            },
        );
        assert_eq!(seen, [(Some(2), Some(16)), (Some(0), None)]);
    }
}
