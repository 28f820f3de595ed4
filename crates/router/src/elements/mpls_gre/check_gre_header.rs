//! Checks GRE headers.
//!
//! # What it does
//! A packet that is too short, of another version, with reserved flags or a wrong checksum leaves
//! output 1 or ends. What follows the GRE packet must have been cut off, by `CheckIPHeader` for
//! instance.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(ip proto 47) -> StripIPHeader
//!     -> CheckGREHeader -> StripGREHeader -> Discard
//! ```
//!
//! # References
//! RFC 2784, RFC 2890.

use super::shared::gre_check;
use crate::args::{Args, flag};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckGREHeader", "checks GRE headers", || {
    Box::<CheckGreHeader>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 2784", "RFC 2890"])
.params(&[flag("CHECKSUM", "true", "whether checksums are checked")])
.ops("parse(4); summed * checksum(frame - 34); work(45)");

#[derive(Debug, Default)]
struct CheckGreHeader {
    with_checksum: bool,
    drops: u64,
    /// Packets that came, and those of them that carried a checksum.
    packets: u64,
    summed: u64,
}

impl Element for CheckGreHeader {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.with_checksum = args.bool("CHECKSUM");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for packet in batch.iter() {
            let flags = ctx.pool()[packet].data().first().copied().unwrap_or(0);
            self.summed += u64::from(flags >> 7);
        }
        self.packets += batch.len() as u64;
        batch.filter(
            |h| match gre_check::check(ctx.pool()[&h].data(), self.with_checksum) {
                Ok(_) => Some(h),
                Err(reason) => {
                    self.drops += 1;
                    ctx.reject(1, h, reason);
                    None
                }
            },
        );
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let share = self.summed as f64 / self.packets.max(1) as f64;
        let is_checked = f64::from(u8::from(self.with_checksum));
        vec![("summed", share * is_checked)]
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.drops.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn every_changed_bit_is_found() {
        let mut encap = Probe::new("GREEncap(KEY 7, CHECKSUM true)", 1);
        let good = encap.send(b"data").remove(0).1;
        let mut x = Probe::new("CheckGREHeader", 2);
        assert_eq!(x.send(&good), [(0, good.clone())]);
        for bit in 0..good.len() * 8 {
            // Without the flag of the checksum there is none to check.
            if bit == 0 {
                continue;
            }
            let mut bad = good.clone();
            bad[bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(x.send(&bad)[0].0, 1, "bit {bit}");
        }
        for len in 0..good.len() {
            assert_eq!(x.send(&good[..len])[0].0, 1, "{len} bytes");
        }
    }
}
