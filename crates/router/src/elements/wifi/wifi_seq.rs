//! Numbers 802.11 frames.
//!
//! # What it does
//! Each frame gets the next number, and the annotation tells the driver to leave it. Frames too
//! short for it pass as they are.
//!
//! # Handlers
//! - `seq`: the next number
//! - `offset`, `bytes`, `shift`: as the arguments
//! - `reset`: begins anew
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(0, 0:0:0:0:0:0) -> WifiSeq -> SetTXRate(2) -> ExtraEncap
//!     -> Queue -> ToDevice(wlan0)
//! ```

use super::shared::wifi::{self, HAS_SEQUENCE};
use crate::args::kinds::UINT;
use crate::args::numbers::parse_uint;
use crate::args::{Args, Need, flag, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("WifiSeq", "numbers 802.11 frames", || {
    Box::<WifiSeq>::default()
})
.references(&["IEEE 802.11-2020, §9.2.4.4"])
.params(&[
    param(
        "OFFSET",
        Need::Keyword,
        UINT,
        "22",
        "where the number stands",
    ),
    param("BYTES", Need::Keyword, UINT, "2", "its bytes: 2 or 4"),
    param("SHIFT", Need::Keyword, UINT, "4", "the bits below it"),
    flag("DEBUG", "false", "has no effect"),
])
.ops("deparse(2); work(14)");

#[derive(Debug, Default)]
struct WifiSeq {
    offset: usize,
    bytes: usize,
    shift: u32,
    next: u32,
}

impl Element for WifiSeq {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        self.bytes = args.uint("BYTES") as usize;
        self.shift = args.uint("SHIFT") as u32;
        if self.bytes != 2 && self.bytes != 4 {
            let mut said = Diagnostics::new();
            said.error(None, "BYTES must be 2 or 4");
            return Err(said);
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let end = self.offset.saturating_add(self.bytes);
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            if packet.len() <= end {
                continue;
            }
            wifi::set_flags(packet, wifi::flags(packet) | HAS_SEQUENCE);
            let number = self.next.checked_shl(self.shift).unwrap_or(0).to_le_bytes();
            packet.data_mut()[self.offset..end].copy_from_slice(&number[..self.bytes]);
            self.next = self.next.wrapping_add(1);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("seq", "rw"),
            Handler::new("offset", "r"),
            Handler::new("bytes", "r"),
            Handler::new("shift", "r"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "seq" => self.next.to_string(),
            "offset" => self.offset.to_string(),
            "bytes" => self.bytes.to_string(),
            _ => self.shift.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        self.next = 0;
        if name == "seq" {
            let number = parse_uint(value.trim(), u64::from(u32::MAX));
            self.next = number.map_err(|_| "seq parameter must be unsigned")? as u32;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{Header, testing::frame};
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn frames_are_numbered() {
        let mut probe = Probe::new("WifiSeq", 1);
        for number in [0, 1, 2] {
            let left = probe.send(&frame(0, 0, b"x"))[0].1.clone();
            assert_eq!(Header::read(&left).expect("whole").sequence(), number);
        }
        let short = frame(0, 0, b"");
        assert_eq!(probe.send(&short), [(0, short)]);
        probe.run.write("x.seq", "4095").expect("right");
        let left = probe.send(&frame(0, 0, b"x"))[0].1.clone();
        assert_eq!(left[22..24], [0xF0, 0xFF]);
        assert!(errors("Idle -> WifiSeq(BYTES 3) -> Discard").contains("BYTES must be 2 or 4"));
    }
}
