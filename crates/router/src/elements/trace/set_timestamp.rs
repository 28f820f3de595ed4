//! Gives packets a timestamp.
//!
//! # What it does
//! The time is `TIMESTAMP`, or the time of day at which the packets pass; packets that pass
//! together get one time. With `FIRST` it goes into the annotation FIRST_TIMESTAMP, and the
//! packet's time stays.
//!
//! # Example
//! ```click
//! // The time at which a packet is here.
//! RatedSource(RATE 10) -> SetTimestamp -> Print(TIMESTAMP true) -> Discard
//! ```

use crate::args::{Args, Kind, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("SetTimestamp", "gives packets a timestamp", || {
    Box::<SetTimestamp>::default()
})
.params(&[
    positional(
        "TIMESTAMP",
        Kind::Timestamp,
        "",
        "the time; the time of day if not given",
    ),
    flag(
        "FIRST",
        "false",
        "whether the packet's first timestamp is set",
    ),
    flag("DELTA", "false", "no longer used: see `SetTimestampDelta`"),
])
.ops("work(11)");

#[derive(Debug, Default)]
struct SetTimestamp {
    time: Option<Timestamp>,
    is_first: bool,
}

impl Element for SetTimestamp {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.time = args.opt_timestamp("TIMESTAMP").filter(|t| t.0 >= 0);
        self.is_first = args.bool("FIRST");
        if args.bool("DELTA") {
            let mut said = Diagnostics::new();
            said.error(
                None,
                "SetTimestamp(DELTA) is deprecated, use SetTimestampDelta(TYPE FIRST)",
            );
            return Err(said);
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if batch.is_empty() {
            return;
        }
        let time = self.time.unwrap_or_else(|| ctx.now());
        let pool = ctx.pool();
        for handle in batch.iter() {
            let packet = &mut pool[handle];
            if self.is_first {
                packet.set_anno_bytes(anno::FIRST_TIMESTAMP, time.0.to_ne_bytes());
            } else {
                packet.set_timestamp(time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn sets_either_time() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 1, STOP true) -> SetTimestamp(7) \
             -> SetTimestamp(5.5, FIRST true) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS ts_sec first_timestamp)",
        );
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "7 5.500000\n");
        assert!(errors("Idle -> SetTimestamp(DELTA true) -> Idle").contains("deprecated"));
    }
}
