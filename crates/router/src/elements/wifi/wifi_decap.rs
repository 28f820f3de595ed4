//! Converts 802.11 data frames to Ethernet.
//!
//! # What it does
//! The 802.11 and LLC headers go, and with `ETHER` an Ethernet header comes in their place. Frames
//! too short for it, and encrypted ones, are dropped.
//!
//! # Example
//! ```click
//! // Data frames become Ethernet frames.
//! FromDevice(mon0) -> Classifier(0/08%0c) -> WifiDecap(ETHER true) -> Discard
//! ```

use super::shared::wifi::{self, Header, LLC};
use crate::args::{Args, flag};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("WifiDecap", "converts 802.11 frames to Ethernet", || {
    Box::<WifiDecap>::default()
})
.references(&["IEEE 802.11-2020, §9.3.2", "IEEE 802.2"])
.params(&[
    flag("DEBUG", "false", "has no effect"),
    flag("STRICT", "false", "has no effect: every direction is known"),
    flag(
        "ETHER",
        "true",
        "whether an Ethernet header is put before the payload",
    ),
])
.ops("parse(32); deparse(14); work(40)");

#[derive(Debug, Default)]
struct WifiDecap {
    ether: bool,
}

impl WifiDecap {
    fn change(&self, packet: &mut Packet) -> Result<(), Reason> {
        let header = Header::read(packet.data()).ok_or(Reason::TooShort)?;
        let len = header.len(wifi::is_padded(packet)) + LLC;
        if packet.len() < len {
            return Err(Reason::TooShort);
        }
        if header.is_protected() {
            return Err(Reason::Filtered);
        }
        let ((dst, src), kind) = (
            header.ends(),
            [packet.data()[len - 2], packet.data()[len - 1]],
        );
        packet.pull(len);
        if self.ether {
            let ether = packet.push(Ether::LEN);
            ether[..6].copy_from_slice(&dst);
            ether[6..12].copy_from_slice(&src);
            ether[12..14].copy_from_slice(&kind);
            packet.set_mac_header(0);
            packet.set_network_header(Ether::LEN as isize);
        }
        Ok(())
    }
}

impl Element for WifiDecap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.ether = args.bool("ETHER");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| match self.change(&mut ctx.pool()[&handle]) {
            Ok(()) => Some(handle),
            Err(reason) => {
                ctx.drop(handle, reason);
                None
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::testing::frame;
    use crate::probe::Probe;

    const PAYLOAD: &[u8] = b"\xaa\xaa\x03\x00\x00\x00\x08\x00bytes";

    #[test]
    fn each_direction_has_its_addresses() {
        for (flags, dst, src) in [(0, 2, 4), (1, 6, 4), (2, 2, 6)] {
            let left = Probe::new("WifiDecap", 1).send(&frame(flags, 0, PAYLOAD));
            let mut ether = vec![dst; 6];
            ether.extend([src; 6]);
            ether.extend(b"\x08\x00bytes");
            assert_eq!(left, [(0, ether)]);
        }
        let mut four = vec![9; 6];
        four.extend(PAYLOAD);
        let left = Probe::new("WifiDecap(ETHER false)", 1).send(&frame(3, 0, &four));
        assert_eq!(left, [(0, b"bytes".to_vec())]);
    }

    #[test]
    fn short_and_encrypted_frames_end() {
        let mut probe = Probe::new("WifiDecap", 1);
        let whole = frame(0, 0, PAYLOAD);
        for len in 0..32 {
            assert_eq!(probe.send(&whole[..len]), []);
        }
        assert_eq!(probe.send(&frame(0x40, 0, PAYLOAD)), []);
        assert_eq!(probe.held(), 0);
    }
}
