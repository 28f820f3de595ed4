//! Appends a checksum to packets.
//!
//! # What it does
//! The four bytes of a CRC-32, the least significant first.
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true) -> SetCRC32 -> ToDump(b.pcap)
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::headers::crc32::crc32;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetCRC32", "appends a CRC-32 to packets", || {
    Box::new(SetCrc32)
})
.ops("work(7.5 * frame + 30)");

#[derive(Debug)]
struct SetCrc32;

impl Element for SetCrc32 {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let sum = crc32(packet.data());
            packet.put(4).copy_from_slice(&sum.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_checksum_stands_at_the_end() {
        let left = Probe::new("SetCRC32", 1).send(b"123456789");
        assert_eq!(left, [(0, b"123456789\xE7\xE6\x76\x03".to_vec())]);
    }
}
