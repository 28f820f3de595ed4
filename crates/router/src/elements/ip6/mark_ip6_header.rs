//! Marks IPv6 headers, without a look at them.
//!
//! # Example
//! ```click
//! // The header is taken to be at byte 14, unchecked.
//! FromDump(a.pcap, STOP true) -> MarkIP6Header(14) -> Discard
//! ```
//!
//! # References
//! RFC 8200.

use crate::args::kinds::UINT;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip6_packet;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("MarkIP6Header", "marks IPv6 headers", || {
    Box::<MarkIp6Header>::default()
})
.references(&["RFC 8200"])
.params(&[positional("OFFSET", UINT, "0", "where the header begins")])
.ops("parse(7); work(40)");

#[derive(Debug, Default)]
struct MarkIp6Header {
    offset: usize,
}

impl Element for MarkIp6Header {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            ip6_packet::mark(packet, self.offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::probe::Probe;

    #[test]
    fn the_header_is_marked_where_it_is_said_to_be() {
        let mut x = Probe::new("MarkIP6Header(14)", 1);
        x.send_and_look(
            &[0; 60],
            |_| (),
            |_, packet| {
                assert_eq!(packet.network_header_at(), Some(14));
                assert!(ip6_packet::header(packet).is_some());
            },
        );
    }
}
