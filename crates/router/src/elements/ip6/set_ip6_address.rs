//! Sets the IPv6 address that packets are to be sent to.
//!
//! # Example
//! ```click
//! // All packets take the way to one router.
//! Idle -> SetIP6Address(fe80::1) -> n :: IP6NDSolicitor(fe80::2, 2:0:0:0:0:1) -> Queue
//!     -> ToDevice(eth0);
//! Idle -> [1] n
//! ```
//!
//! # References
//! RFC 8200.

use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip6_packet;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetIP6Address", "sets the destination annotation", || {
    Box::<SetIp6Address>::default()
})
.references(&["RFC 8200"])
.params(&[mandatory("IPADDR", Kind::Ip6, "the address")])
.ops("work(10)");

#[derive(Debug, Default)]
struct SetIp6Address {
    address: [u8; 16],
}

impl Element for SetIp6Address {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.address = args.ip6("IPADDR").octets();
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            ip6_packet::set_destination(packet, self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::probe::Probe;

    #[test]
    fn the_annotation_is_set() {
        let mut x = Probe::new("SetIP6Address(::0102:0304)", 1);
        x.send_and_look(
            b"x",
            |_| (),
            |_, packet| assert_eq!(ip6_packet::destination(packet)[12..], [1, 2, 3, 4]),
        );
    }
}
