//! Copies an Ethernet address of the packet into an annotation.
//!
//! # What it does
//! Packets that are too short leave by output 1, or end here.
//!
//! # Example
//! ```click
//! // Frames go back to who sent them.
//! FromDevice(eth0) -> GetEtherAddress(0, src) -> StoreEtherAddress(OFFSET dst, ANNO 0)
//!     -> Queue -> ToDevice(eth0)
//! ```

use super::shared::ether_place::{self, ETHER_BYTES, OFFSET};
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "GetEtherAddress",
    "copies an Ethernet address into an annotation",
    || Box::<GetEtherAddress>::default(),
)
.ports("1/1-2", "a/ah")
.params(&[
    mandatory("ANNO", Kind::Anno { size: 6 }, "the annotation"),
    OFFSET,
])
.ops("parse(6); work(30)");

#[derive(Debug, Default)]
struct GetEtherAddress {
    annotation: usize,
    offset: usize,
}

impl Element for GetEtherAddress {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = ether_place::parse(args.text("OFFSET")).map_err(Diagnostics::of)?;
        self.annotation = args.anno("ANNO").offset.into();
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let data = packet.data().get(self.offset..).unwrap_or_default();
            if let Some(address) = data.first_chunk::<ETHER_BYTES>().copied() {
                let place = self.annotation..self.annotation + ETHER_BYTES;
                packet.annotations_mut()[place].copy_from_slice(&address);
                return Some(handle);
            }
            ctx.reject(1, handle, Reason::TooShort);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn the_address_is_copied() {
        let mut probe = Probe::new("GetEtherAddress(10, src)", 2);
        let data: Vec<u8> = (0..20).collect();
        let mut seen = Vec::new();
        probe.send_and_look(
            &data,
            |_| (),
            |port, packet| {
                seen.push((port, packet.annotations()[10..16].to_vec()));
            },
        );
        assert_eq!(seen, [(0, data[6..12].to_vec())]);
        assert_eq!(probe.send(&data[..11])[0].0, 1);
        assert!(errors("Idle -> GetEtherAddress(10, up) -> Discard").contains("bad OFFSET"));
        assert!(errors("Idle -> GetEtherAddress(44, src) -> Discard").contains("ANNO"));
    }
}
