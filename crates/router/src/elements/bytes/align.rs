//! Moves the data of packets so that they begin at a place of a given remainder.
//!
//! # What it does
//! Nothing here needs data to be aligned; the element exists so that configurations for other
//! routers run.
//!
//! # Example
//! ```click
//! // Headers of IP at addresses that 4 divides, which old processors wanted.
//! FromDevice(eth0) -> Strip(14) -> Align(4, 0) -> CheckIPHeader -> Discard
//! ```

use crate::args::kinds::{INT, UINT};
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Align", "aligns packet data", || Box::<Align>::default())
    .params(&[
        mandatory("MODULUS", UINT, "2, 4 or 8"),
        mandatory("OFFSET", INT, "the remainder"),
    ])
    .ops("work(80)");

#[derive(Debug, Default)]
struct Align {
    modulus: usize,
    offset: usize,
}

impl Element for Align {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let (modulus, offset) = (args.uint("MODULUS") as i64, args.int("OFFSET"));
        let mut said = Diagnostics::new();
        if !matches!(modulus, 2 | 4 | 8) {
            said.error(None, "MODULUS must be 2, 4, or 8");
        } else if offset >= modulus {
            said.error(None, "OFFSET must be smaller than MODULUS");
        }
        if said.has_errors() {
            return Err(said);
        }
        (self.modulus, self.offset) = (modulus as usize, offset.rem_euclid(modulus) as usize);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            // Slots begin at multiples of 64, so that the place in the buffer tells the alignment.
            let at = packet.headroom();
            let behind = (self.offset + self.modulus - at % self.modulus) % self.modulus;
            if behind > 0 {
                packet.set_headroom(at + behind);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn data_begin_where_they_should() {
        for stripped in 0..8 {
            let mut probe = Probe::new("Align(4, 2)", 1);
            let mut seen = 0;
            probe.send_and_look(
                b"abcdefghij",
                |packet| packet.pull(stripped),
                |_, packet| {
                    assert_eq!(packet.data().as_ptr().addr() % 4, 2);
                    assert_eq!(packet.data(), &b"abcdefghij"[stripped..]);
                    seen += 1;
                },
            );
            assert_eq!(seen, 1);
        }
    }

    #[test]
    fn wrong_numbers_are_told() {
        assert!(errors("Idle -> Align(3, 0) -> Idle").contains("MODULUS must be 2, 4, or 8"));
        assert!(
            errors("Idle -> Align(4, 4) -> Idle").contains("OFFSET must be smaller than MODULUS")
        );
    }
}
