//! Adds a driver's transmission information, from the annotations, to 802.11 frames.
//!
//! # What it does
//! The header of 24 bytes tells the driver at which rate, with what power and how often the frame
//! is to be sent.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(1, 2:0:0:0:0:1) -> SetTXRate(22) -> ExtraEncap -> Queue
//!     -> ToDevice(wlan0)
//! ```

use super::shared::wifi;
use crate::args::flag;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ExtraEncap",
    "adds a driver's transmission information to a frame",
    || Box::<ExtraEncap>::default(),
)
.references(&["IEEE 802.11-2020"])
.params(&[flag("DEBUG", "false", "has no effect")])
.ops("work(12)");

#[derive(Debug, Default)]
struct ExtraEncap;

impl Element for ExtraEncap {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            let header = wifi::header_of_driver(packet);
            packet.push(wifi::EXTRA_LEN).copy_from_slice(&header);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_header_comes_back() {
        let mut probe = Probe::new("SetTXRate(22)", 1);
        let mut rated = Vec::new();
        probe.send_and_look(
            b"",
            |_| (),
            |_, p| rated = crate::elements::wifi::shared::wifi::header_of_driver(p).to_vec(),
        );
        let mut probe = Probe::new("ExtraEncap", 1);
        let frame = probe.send_with(b"frame", |p| {
            crate::elements::wifi::shared::wifi::set_extra(
                p,
                rated.clone().try_into().expect("24 bytes"),
            );
        });
        assert_eq!(frame[0].1[..24], rated);
        let left = Probe::new("ExtraDecap", 1).send(&frame[0].1);
        assert_eq!(left, [(0, b"frame".to_vec())]);
    }
}
