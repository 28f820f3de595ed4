//! Copies an IPv6 address from the packet to the destination annotation.
//!
//! # Example
//! ```click
//! // The destination is noted for the lookup.
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> GetIP6Address(24)
//!     -> LookupIP6Route(2001:db8::/32 0, ::/0 0) -> Discard
//! ```
//!
//! # References
//! RFC 8200.

use crate::args::kinds::UINT;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip6_packet;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "GetIP6Address",
    "copies an address from the packet to the destination annotation",
    || Box::<GetIp6Address>::default(),
)
.references(&["RFC 8200"])
.params(&[mandatory(
    "OFFSET",
    UINT,
    "where the address is; 24 for the destination of an IPv6 header",
)])
.ops("parse(16); work(18)");

#[derive(Debug, Default)]
struct GetIp6Address {
    offset: usize,
}

impl Element for GetIp6Address {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let from = packet.data().get(self.offset..);
            if let Some(address) = from.and_then(|data| data.first_chunk::<16>()) {
                let address = *address;
                ip6_packet::set_destination(packet, address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::probe::Probe;

    #[test]
    fn the_address_is_noted_if_it_is_there() {
        let mut x = Probe::new("GetIP6Address(24)", 1);
        for (len, noted) in [(40, [7; 16]), (39, [0; 16])] {
            x.send_and_look(
                &vec![7; len],
                |_| (),
                |_, packet| assert_eq!(ip6_packet::destination(packet), noted),
            );
        }
    }
}
