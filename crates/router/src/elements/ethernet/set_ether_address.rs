//! Sets an annotation to an Ethernet address.
//!
//! # Example
//! ```click
//! // The address of the next hop is noted for StoreEtherAddress.
//! Idle -> SetEtherAddress(2:0:0:0:0:2, 0) -> StoreEtherAddress(OFFSET dst, ANNO 0) -> Discard
//! ```

use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "SetEtherAddress",
    "sets an annotation to an Ethernet address",
    || Box::<SetEtherAddress>::default(),
)
.params(&[
    mandatory("ADDR", Kind::Ether, "the address"),
    mandatory("ANNO", Kind::Anno { size: 6 }, "the annotation"),
])
.ops("work(14)");

#[derive(Debug, Default)]
struct SetEtherAddress {
    address: EtherAddress,
    annotation: usize,
}

impl Element for SetEtherAddress {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.address = args.ether("ADDR");
        self.annotation = args.anno("ANNO").offset.into();
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for handle in batch.iter() {
            let place = self.annotation..self.annotation + 6;
            pool[handle].annotations_mut()[place].copy_from_slice(&self.address.0);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("addr", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.address.to_string())
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let address = parse_ether(value.trim(), &ctx.names());
        self.address = address.map_err(|_| "syntax error".to_owned())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_annotation_is_set() {
        let mut probe = Probe::new("SetEtherAddress(1:2:3:4:5:6, 8)", 1);
        let see = |probe: &mut Probe| {
            let mut seen = Vec::new();
            probe.send_and_look(
                b"x",
                |_| (),
                |_, packet| seen = packet.annotations()[8..14].to_vec(),
            );
            seen
        };
        assert_eq!(see(&mut probe), [1, 2, 3, 4, 5, 6]);
        probe
            .run
            .write("x.addr", "00-00-00-00-00-07")
            .expect("it is one");
        assert_eq!(see(&mut probe), [0, 0, 0, 0, 0, 7]);
        assert_eq!(probe.run.read("x.addr"), "00-00-00-00-00-07");
        assert!(probe.run.write("x.addr", "nobody").is_err());
    }
}
