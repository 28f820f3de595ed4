//! Adds a radiotap header to 802.11 frames.
//!
//! # What it does
//! Rate, power, how often a frame is tried and whether it is acknowledged come from the annotations
//! that `SetTXRate` and its like write.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(0, 0:0:0:0:0:0) -> SetTXRate(2) -> RadiotapEncap -> Queue
//!     -> ToDevice(mon0)
//! ```

use super::shared::wifi::{self, Field, UNACKNOWLEDGED};
use crate::args::flag;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("RadiotapEncap", "adds a radiotap header", || {
    Box::<RadiotapEncap>::default()
})
.references(&["radiotap.org"])
.params(&[flag("DEBUG", "false", "has no effect")])
.ops("deparse(14); work(20)");

/// The header's bytes, the last of which is empty, and which fields it has: rate, power, flags of
/// sending, tries.
const LEN: usize = 14;
const PRESENT: u32 = 1 << 2 | 1 << 10 | 1 << 15 | 1 << 17;
/// A flag of sending: nobody acknowledges it.
const NO_ACK: u16 = 8;
/// How often a frame is sent again where nobody says.
const RETRIES: u8 = 12;

#[derive(Debug, Default)]
struct RadiotapEncap;

impl Element for RadiotapEncap {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            let is_once = wifi::flags(packet) & UNACKNOWLEDGED != 0;
            let flags = if is_once { NO_ACK } else { 0 };
            let [rate, power, tries] =
                [Field::Rate, Field::Power, Field::Tries].map(|f| wifi::field(packet, f));
            let header = packet.push(LEN);
            header[..2].fill(0);
            header[2..4].copy_from_slice(&(LEN as u16).to_le_bytes());
            header[4..8].copy_from_slice(&PRESENT.to_le_bytes());
            (header[8], header[9]) = (rate, power);
            // Differs from Click, which writes them as the machine has numbers.
            header[10..12].copy_from_slice(&flags.to_le_bytes());
            header[12] = tries.checked_sub(1).unwrap_or(RETRIES);
            header[13] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{self, Field};
    use crate::probe::Probe;

    #[test]
    fn the_header_says_how_to_send() {
        let mut probe = Probe::new("RadiotapEncap", 1);
        let header = [0, 0, 14, 0, 4, 0x84, 2, 0, 22, 63];
        let frame = probe.send_with(b"frame", |packet| {
            wifi::set_field(packet, Field::Rate, 22);
            wifi::set_field(packet, Field::Power, 63);
        });
        assert_eq!(frame[0].1, [&header[..], &[0, 0, 12, 0], b"frame"].concat());
        let frame = probe.send_with(b"", |packet| {
            wifi::set_field(packet, Field::Tries, 4);
            wifi::set_flags(packet, wifi::UNACKNOWLEDGED);
        });
        assert_eq!(frame[0].1[10..], [8, 0, 3, 0]);
    }
}
