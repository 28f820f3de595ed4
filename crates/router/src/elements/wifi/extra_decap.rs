//! Removes a driver's transmission information from 802.11 frames.
//!
//! # What it does
//! The header of 24 bytes, where one is there, becomes an annotation: signal, noise, rate, and
//! whether the frame was sent or received with errors. Other frames pass as they are.
//!
//! # Example
//! ```click
//! FromDevice(wlan0) -> ExtraDecap -> FilterPhyErr -> WifiDupeFilter -> Discard
//! ```

use super::shared::wifi;
use crate::args::flag;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ExtraDecap",
    "removes a driver's transmission information from a frame",
    || Box::<ExtraDecap>::default(),
)
.references(&["IEEE 802.11-2020"])
.params(&[flag("DEBUG", "false", "has no effect")])
.ops("work(12)");

#[derive(Debug, Default)]
struct ExtraDecap;

impl Element for ExtraDecap {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            if let Some(header) = wifi::driver_header(packet.data()) {
                wifi::set_extra(packet, header);
                packet.pull(wifi::EXTRA_LEN);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{self, BAD, testing::tell};
    use crate::probe::Probe;

    #[test]
    fn a_header_becomes_an_annotation_and_other_frames_pass() {
        let mut header = Vec::new();
        let mut probe = Probe::new("ExtraEncap", 1);
        header.extend(&probe.send_with(b"frame", |packet| tell(packet, BAD))[0].1);
        let mut probe = Probe::new("ExtraDecap", 1);
        let mut seen = 0;
        probe.send_and_look(
            &header,
            |_| (),
            |_, packet| {
                assert_eq!(packet.data(), b"frame");
                seen = wifi::told(packet);
            },
        );
        assert_eq!(seen, BAD);
        for other in [&header[1..], &header[..23], b""] {
            assert_eq!(probe.send(other), [(0, other.to_vec())]);
        }
    }
}
