//! Writes an Ethernet address into packets.
//!
//! # What it does
//! The address is the one given, or that of an annotation. Packets that are too short leave by
//! output 1, or end here.
//!
//! # Example
//! ```click
//! // Frames get one destination.
//! FromDevice(eth0) -> StoreEtherAddress(2:0:0:0:0:2, dst) -> Queue -> ToDevice(eth1)
//! ```

use super::shared::ether_place::{self, ETHER_BYTES, OFFSET};
use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::{Args, Kind, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "StoreEtherAddress",
    "writes an Ethernet address into packets",
    || Box::<StoreEtherAddress>::default(),
)
.ports("1/1-2", "a/ah")
.params(&[
    positional("ADDR", Kind::Ether, "", "the address"),
    OFFSET,
    keyword(
        "ANNO",
        Kind::Anno { size: 6 },
        "",
        "the annotation that has the address",
    ),
])
.ops("deparse(6); work(30)");

#[derive(Debug, Default)]
struct StoreEtherAddress {
    address: EtherAddress,
    annotation: Option<usize>,
    offset: usize,
}

impl Element for StoreEtherAddress {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        if args.given("ADDR") == args.given("ANNO") {
            return Err(Diagnostics::of("must specify exactly one of ADDR/ANNO"));
        }
        self.offset = ether_place::parse(args.text("OFFSET")).map_err(Diagnostics::of)?;
        self.address = args.ether("ADDR");
        self.annotation = args.opt_anno("ANNO").map(|field| field.offset.into());
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let mut address = self.address.0;
            if let Some(at) = self.annotation {
                address.copy_from_slice(&packet.annotations()[at..at + ETHER_BYTES]);
            }
            let end = self.offset + ETHER_BYTES;
            if let Some(place) = packet.data_mut().get_mut(self.offset..end) {
                place.copy_from_slice(&address);
                return Some(handle);
            }
            ctx.reject(1, handle, Reason::TooShort);
            None
        });
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
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn the_address_or_that_of_an_annotation_is_written() {
        let mut probe = Probe::new("StoreEtherAddress(1:2:3:4:5:6, src)", 2);
        let data = [9; 14];
        assert_eq!(probe.send(&data)[0].1[5..13], [9, 1, 2, 3, 4, 5, 6, 9]);
        assert_eq!(probe.send(&data[..11]), [(1, vec![9; 11])]);
        probe.run.write("x.addr", "7:7:7:7:7:7").expect("it is one");
        assert_eq!(probe.send(&data)[0].1[6..12], [7; 6]);
        let mut probe = Probe::new("StoreEtherAddress(OFFSET 2, ANNO 8)", 2);
        let left = probe.send_with(&data, |packet| packet.annotations_mut()[8..14].fill(3));
        assert_eq!(left[0].1[1..9], [9, 3, 3, 3, 3, 3, 3, 9]);
        for wrong in ["OFFSET src", "1:1:1:1:1:1, src, ANNO 8"] {
            let text = errors(&format!("Idle -> StoreEtherAddress({wrong}) -> Discard"));
            assert!(text.contains("exactly one"), "{text}");
        }
    }
}
