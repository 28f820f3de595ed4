//! Sets the aggregate to the paint of the packet.
//!
//! # What it does
//! The annotation AGGREGATE becomes the lowest `BITS` bits of PAINT; with `INCREMENTAL` they are
//! appended to the aggregate that the packet has.
//!
//! # Example
//! ```click
//! // Packets are counted by the input that they came by.
//! FromDevice(eth0) -> Paint(1) -> a :: AggregatePaint; FromDevice(eth1) -> Paint(2) -> a;
//! a -> AggregateCounter -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::{Args, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::anno;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AggregatePaint",
    "sets the aggregate to the paint of the packet",
    || Box::<AggregatePaint>::default(),
)
.params(&[
    positional("BITS", INT, "8", "bits of the paint, 1 to 8"),
    flag(
        "INCREMENTAL",
        "false",
        "whether they are appended to the aggregate",
    ),
])
.ops("work(11)");

#[derive(Debug, Default)]
struct AggregatePaint {
    bits: u32,
    incremental: bool,
}

impl Element for AggregatePaint {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let bits = args.int("BITS");
        if !(1..=8).contains(&bits) {
            let mut said = Diagnostics::new();
            said.error(None, "bad number of bits");
            return Err(said);
        }
        self.bits = bits as u32;
        self.incremental = args.bool("INCREMENTAL");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for handle in batch.iter() {
            let packet = &mut pool[handle];
            let mut aggregate = u32::from(packet.anno_u8(anno::PAINT)) & ((1 << self.bits) - 1);
            if self.incremental {
                let before = packet.anno_u32(anno::AGGREGATE) << self.bits;
                aggregate = before.wrapping_add(aggregate);
            }
            packet.set_anno_u32(anno::AGGREGATE, aggregate);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn bits_of_the_paint_become_or_join_the_aggregate() {
        let mut run = loaded(
            "FromIPSummaryDump(DATA \"!data link\n6\", STOP true) -> AggregatePaint(2) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS aggregate) \
             -> AggregatePaint(3, INCREMENTAL true) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS aggregate)",
        );
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "2\n22\n");
        assert!(errors("Idle -> AggregatePaint(9) -> Idle").contains("bad number of bits"));
    }
}
