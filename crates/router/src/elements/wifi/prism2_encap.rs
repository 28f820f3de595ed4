//! Adds a Prism II header to 802.11 frames.
//!
//! # What it does
//! The header of 144 bytes tells the signal and the rate that the annotations have, and that the
//! frame was sent.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(1, 2:0:0:0:0:1) -> SetTXRate(22) -> Prism2Encap -> Queue
//!     -> ToDevice(wlan0)
//! ```

use super::shared::wifi::{self, Field, prism};
use crate::args::flag;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Prism2Encap", "adds a Prism II header", || {
    Box::<Prism2Encap>::default()
})
.references(&["linux-wlan-ng, p80211msg_lnxind_wlansniffrm"])
.params(&[flag("DEBUG", "false", "has no effect")])
.ops("deparse(144); work(40)");

#[derive(Debug, Default)]
struct Prism2Encap;

impl Element for Prism2Encap {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            let rate = u32::from(wifi::field(packet, Field::Rate));
            let signal = u32::from(wifi::field(packet, Field::Signal));
            let len = packet.len() as u32;
            let header = packet.push(prism::LEN);
            header.fill(0);
            header[..4].copy_from_slice(&prism::MESSAGE.to_ne_bytes());
            header[4..8].copy_from_slice(&(prism::LEN as u32).to_ne_bytes());
            for (item, value) in [
                (prism::HOST_TIME, 0),
                (prism::TIME, 0),
                (prism::CHANNEL, 0),
                (prism::RSSI, 0),
                (prism::SIGNAL, signal),
                (prism::RATE, rate),
                (prism::IS_SENT, 1),
                (prism::FRAME_LEN, len),
            ] {
                let place = &mut header[prism::at(item)..][..12];
                let number = prism::MESSAGE | (item as u32 + 1) << 16;
                place[..4].copy_from_slice(&number.to_ne_bytes());
                place[6..8].copy_from_slice(&4_u16.to_ne_bytes());
                place[8..].copy_from_slice(&value.to_ne_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{self, Field};
    use crate::probe::Probe;

    #[test]
    fn the_header_tells_rate_and_length() {
        let mut probe = Probe::new("Prism2Encap", 1);
        let frame = probe.send_with(b"frame", |p| wifi::set_field(p, Field::Rate, 22))[0]
            .1
            .clone();
        let word = |at: usize| u32::from_ne_bytes(frame[at..at + 4].try_into().expect("four"));
        assert_eq!((word(0), word(4)), (0x44, 144));
        // The eighth item is the rate, the tenth the length.
        assert_eq!(
            (word(24 + 7 * 12), word(24 + 7 * 12 + 8)),
            (0x0008_0044, 22)
        );
        assert_eq!((word(24 + 9 * 12), word(24 + 9 * 12 + 8)), (0x000A_0044, 5));
        assert_eq!(frame[144..], *b"frame");
    }
}
