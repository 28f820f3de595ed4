//! Writes bytes into packets at a place, as far as the packets reach.
//!
//! # Example
//! ```click
//! // The fourteenth and fifteenth byte become those of an Ethernet type.
//! Idle -> StoreData(12, \<0800>) -> Queue -> ToDevice(eth0)
//! ```

use crate::args::kinds::UINT;
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("StoreData", "writes bytes into packets", || {
    Box::<StoreData>::default()
})
.params(&[
    mandatory("OFFSET", UINT, "where the bytes go"),
    mandatory("DATA", Kind::Data, "the bytes"),
])
.ops("deparse(length); work(35)");

#[derive(Debug, Default)]
struct StoreData {
    offset: usize,
    data: Vec<u8>,
}

impl Element for StoreData {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        self.data = args.data("DATA").to_vec();
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            if let Some(place) = pool[packet].data_mut().get_mut(self.offset..) {
                let len = place.len().min(self.data.len());
                place[..len].copy_from_slice(&self.data[..len]);
            }
        }
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.data.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn bytes_are_written_as_far_as_the_packet_reaches() {
        let mut probe = Probe::new("StoreData(2, XYZ)", 1);
        assert_eq!(probe.send(b"abcdefg"), [(0, b"abXYZfg".to_vec())]);
        assert_eq!(probe.send(b"abc"), [(0, b"abX".to_vec())]);
        assert_eq!(probe.send(b"a"), [(0, b"a".to_vec())]);
    }
}
