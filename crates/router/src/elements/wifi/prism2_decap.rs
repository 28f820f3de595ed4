//! Removes a Prism II header from 802.11 frames.
//!
//! # What it does
//! Signal, noise, rate and whether the frame was sent become annotations. Other frames pass as they
//! are.
//!
//! # Example
//! ```click
//! FromDevice(wlan0) -> Prism2Decap -> ExtraDecap -> FilterPhyErr -> PrintWifi -> Discard
//! ```

use super::shared::wifi::{self, Field, SENT, prism};
use crate::args::flag;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Prism2Decap", "removes a Prism II header", || {
    Box::<Prism2Decap>::default()
})
.references(&["linux-wlan-ng, p80211msg_lnxind_wlansniffrm"])
.params(&[flag("DEBUG", "false", "has no effect")])
.ops("parse(40); work(20)");

#[derive(Debug, Default)]
struct Prism2Decap;

impl Element for Prism2Decap {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            let data = packet.data();
            if data.len() < prism::LEN || data[..4] != prism::MESSAGE.to_ne_bytes() {
                continue;
            }
            let value = |item: usize| {
                let at = prism::at(item) + 8;
                u32::from_ne_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
            };
            let told = [prism::RSSI, prism::NOISE, prism::RATE].map(|item| value(item) as u8);
            let is_sent = value(prism::IS_SENT) != 0;
            for (field, byte) in [Field::Signal, Field::Noise, Field::Rate]
                .into_iter()
                .zip(told)
            {
                wifi::set_field(packet, field, byte);
            }
            let others = wifi::flags(packet) & !SENT;
            wifi::set_flags(packet, if is_sent { others | SENT } else { others });
            packet.pull(prism::LEN);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{self, Field};
    use crate::probe::Probe;

    #[test]
    fn the_header_becomes_annotations_and_other_frames_pass() {
        let mut probe = Probe::new("Prism2Encap", 1);
        let frame = probe.send_with(b"frame", |p| wifi::set_field(p, Field::Rate, 22))[0]
            .1
            .clone();
        assert_eq!(frame.len(), 144 + 5);
        let mut probe = Probe::new("Prism2Decap", 1);
        let mut seen = (0, 0);
        probe.send_and_look(
            &frame,
            |_| (),
            |_, packet| {
                assert_eq!(packet.data(), b"frame");
                seen = (wifi::field(packet, Field::Rate), wifi::flags(packet));
            },
        );
        assert_eq!(seen, (22, wifi::SENT));
        for len in 0..144 {
            assert_eq!(probe.send(&frame[..len]), [(0, frame[..len].to_vec())]);
        }
    }
}
