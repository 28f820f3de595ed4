//! Writes the time of packets into them.
//!
//! # What it does
//! Eight bytes: the seconds and the nanoseconds, each with its first byte lowest, at `OFFSET`, or
//! with `TAIL` behind the packet. A packet that is too short for it grows; one that cannot ends
//! here.
//!
//! # Example
//! ```click
//! // The time stands in the first bytes of each packet.
//! RatedSource(RATE 10, LENGTH 60) -> SetTimestamp -> StoreTimestamp(0) -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::{Args, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "StoreTimestamp",
    "writes the time of packets into them",
    || Box::<StoreTimestamp>::default(),
)
.params(&[
    positional("OFFSET", INT, "-1", "where in the packet"),
    flag("TAIL", "false", "whether it goes behind the packet"),
])
.ops("deparse(8); work(90)");

#[derive(Debug, Default)]
struct StoreTimestamp {
    /// None: behind the packet.
    offset: Option<usize>,
}

impl StoreTimestamp {
    fn store(&self, packet: &mut Packet) -> bool {
        let at = self.offset.unwrap_or(packet.len());
        let missing = (at + 8).saturating_sub(packet.len());
        if missing > packet.tailroom() {
            return false;
        }
        packet.put(missing);
        let time = packet.timestamp();
        let word = u64::from(time.secs() as u32) | (time.subsec_ns() as u64) << 32;
        packet.data_mut()[at..at + 8].copy_from_slice(&word.to_le_bytes());
        true
    }
}

impl Element for StoreTimestamp {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = usize::try_from(args.int("OFFSET")).ok();
        if self.offset.is_some() == args.bool("TAIL") {
            return Err(Diagnostics::of("supply exactly one of 'OFFSET' and 'TAIL'"));
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if self.store(&mut ctx.pool()[&handle]) {
                return Some(handle);
            }
            ctx.drop(handle, Reason::TooBig);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;
    use trammel_packet::timestamp::Timestamp;

    #[test]
    fn seconds_and_nanoseconds_are_stored() {
        let time = |packet: &mut trammel_packet::packet::Packet| {
            packet.set_timestamp(Timestamp::new(258, 5));
        };
        let wanted = [2, 1, 0, 0, 5, 0, 0, 0];
        let mut probe = Probe::new("StoreTimestamp(1)", 1);
        assert_eq!(
            probe.send_with(&[9; 20], time)[0].1[..10],
            [&[9][..], &wanted, &[9]].concat()
        );
        assert_eq!(
            probe.send_with(&[9; 2], time)[0].1,
            [&[9][..], &wanted].concat()
        );
        let mut probe = Probe::new("StoreTimestamp(TAIL true)", 1);
        assert_eq!(
            probe.send_with(&[9; 2], time)[0].1,
            [&[9, 9][..], &wanted].concat()
        );
        let mut probe = Probe::new("StoreTimestamp(100000)", 1);
        assert_eq!(probe.send_with(&[9; 2], time), []);
        assert_eq!(probe.held(), 0);
        for wrong in ["", "1, TAIL true"] {
            assert!(
                errors(&format!("Idle -> StoreTimestamp({wrong}) -> Discard"))
                    .contains("exactly one")
            );
        }
    }
}
