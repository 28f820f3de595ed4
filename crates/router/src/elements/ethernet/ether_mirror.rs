//! Swaps source and destination of Ethernet frames.
//!
//! # Example
//! ```click
//! // Frames go back to who sent them.
//! FromDevice(eth0) -> EtherMirror -> Queue -> ToDevice(eth0)
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "EtherMirror",
    "swaps source and destination of frames",
    || Box::new(EtherMirror),
)
.ops("parse(12); deparse(12); work(20)");

#[derive(Debug)]
struct EtherMirror;

impl Element for EtherMirror {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            if let Some(addresses) = pool[packet].data_mut().first_chunk_mut::<12>() {
                addresses.rotate_left(6);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_addresses_change_places() {
        let mut x = Probe::new("EtherMirror", 1);
        assert_eq!(x.send(b"aaaaaabbbbbbcc"), [(0, b"bbbbbbaaaaaacc".to_vec())]);
        assert_eq!(x.send(b"aaaaaabbbbb"), [(0, b"aaaaaabbbbb".to_vec())]);
    }
}
