//! Sets both addresses of Ethernet frames.
//!
//! # Example
//! ```click
//! // For a link with one neighbour.
//! FromDevice(eth0) -> EtherRewrite(1:1:1:1:1:1, 2:2:2:2:2:2) -> Queue -> ToDevice(eth1)
//! ```

use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("EtherRewrite", "sets both addresses of frames", || {
    Box::<EtherRewrite>::default()
})
.live()
.params(&[
    mandatory("SRC", Kind::Ether, "the source address"),
    mandatory("DST", Kind::Ether, "the destination address"),
])
.ops("deparse(12); work(25)");

#[derive(Debug, Default)]
struct EtherRewrite {
    src: EtherAddress,
    dst: EtherAddress,
}

impl Element for EtherRewrite {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        (self.src, self.dst) = (args.ether("SRC"), args.ether("DST"));
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            // Where no link header is marked the frame begins with the data.
            let frame = if packet.has_mac_header() {
                packet.mac_header_mut()
            } else {
                packet.data_mut()
            };
            if let Some(addresses) = frame.first_chunk_mut::<12>() {
                addresses[..6].copy_from_slice(&self.dst.0);
                addresses[6..].copy_from_slice(&self.src.0);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("src", "rw"), Handler::new("dst", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let address = if name == "src" { self.src } else { self.dst };
        Ok(address.to_string())
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let address = parse_ether(value.trim(), &ctx.names()).map_err(|why| why.to_string())?;
        match name {
            "src" => self.src = address,
            _ => self.dst = address,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn both_addresses_change_and_nothing_else() {
        let mut x = Probe::new("EtherRewrite(1:1:1:1:1:1, 2:2:2:2:2:2)", 1);
        x.run.write("x.src", "3:3:3:3:3:3").expect("right");
        let frame = x.send(&[9; 16]).remove(0).1;
        assert_eq!(frame, [[2; 6].as_slice(), &[3; 6], &[9; 4]].concat());
        assert_eq!(x.send(&[9; 11]), [(0, vec![9; 11])]);
        assert_eq!(
            (x.run.read("x.src"), x.run.read("x.dst")),
            ("03-03-03-03-03-03".into(), "02-02-02-02-02-02".into())
        );
    }
}
