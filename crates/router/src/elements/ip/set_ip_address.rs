//! Sets the annotation that tells where packets go.
//!
//! # Handlers
//! - `addr`: the address
//!
//! # Example
//! ```click
//! // All packets take the way to one router.
//! Idle -> SetIPAddress(10.0.0.254) -> q :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1) -> Queue
//!     -> ToDevice(eth0);
//! Idle -> [1] q
//! ```

use crate::args::addresses::parse_ip;
use crate::args::{Args, Kind, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use std::net::Ipv4Addr;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetIPAddress", "sets an address annotation", || {
    Box::<SetIpAddress>::default()
})
.live()
.params(&[
    mandatory("IPADDR", Kind::Ip, "the address"),
    keyword("ANNO", Kind::Anno { size: 4 }, "DST_IP", "the annotation"),
])
.ops("work(10)");

#[derive(Debug, Default)]
struct SetIpAddress {
    address: [u8; 4],
    anno: usize,
}

impl Element for SetIpAddress {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.address = args.ip("IPADDR").octets();
        self.anno = usize::from(args.anno("ANNO").offset);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let annotations = pool[packet].annotations_mut();
            if let Some(place) = annotations.get_mut(self.anno..self.anno + 4) {
                place.copy_from_slice(&self.address);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("addr", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(Ipv4Addr::from(self.address).to_string())
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let address = parse_ip(value.trim(), &ctx.names());
        self.address = address.map_err(|why| why.to_string())?.octets();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_annotation_is_set() {
        let mut probe = Probe::new("SetIPAddress(1.0.0.2)", 1);
        probe.run.write("x.addr", "1.0.0.3").expect("an address");
        let mut seen = Vec::new();
        probe.send_and_look(
            b"",
            |_| (),
            |_, packet| seen.push(crate::headers::ip_packet::destination(packet)),
        );
        assert_eq!(seen, [[1, 0, 0, 3]]);
    }
}
