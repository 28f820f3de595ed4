//! Checks and removes the checksum that SetCRC32 appended.
//!
//! # What it does
//! Packets in which it is wrong, or that are too short for one, are told of and dropped.
//!
//! # Example
//! ```click
//! // Packets whose last four bytes are not the checksum of the rest are dropped.
//! FromDump(a.pcap, STOP true) -> SetCRC32 -> CheckCRC32 -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::headers::crc32::crc32;
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckCRC32", "checks and removes a CRC-32", || {
    Box::new(CheckCrc32)
})
.ops("work(7.5 * frame + 30)");

#[derive(Debug)]
struct CheckCrc32;

impl Element for CheckCrc32 {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let is_right = packet
                .data()
                .split_last_chunk()
                .is_some_and(|(data, sum)| crc32(data) == u32::from_le_bytes(*sum));
            if is_right {
                packet.take(4);
                return Some(handle);
            }
            let len = packet.len();
            ctx.host().say(&format!("CRC32 failed, len {len}\n"));
            ctx.drop(handle, Reason::BadChecksum);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn only_the_right_checksum_passes() {
        let mut probe = Probe::new("CheckCRC32", 1);
        let right = b"123456789\xE7\xE6\x76\x03";
        assert_eq!(probe.send(right), [(0, b"123456789".to_vec())]);
        let mut wrong = *right;
        wrong[3] ^= 0x20;
        assert_eq!((probe.send(&wrong), probe.send(b"abc")), (vec![], vec![]));
        assert_eq!(probe.said(), "CRC32 failed, len 13\nCRC32 failed, len 3\n");
        assert_eq!(probe.held(), 0);
    }
}
