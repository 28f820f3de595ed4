//! Adds to the timestamps of packets.
//!
//! # What it does
//! `TIME`, which may be negative, is added to each packet's time, or with `FIRST` to its first
//! timestamp. What has no time, a zero, stays so unless `ALL` is given.
//!
//! # Example
//! ```click
//! // A capture's times begin now.
//! FromDump(a.pcap, STOP true) -> AdjustTimestamp -> ToDump(b.pcap)
//! ```

use crate::args::times::{parse_timestamp, unparse_timestamp};
use crate::args::{Args, Kind, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AdjustTimestamp",
    "adds to the timestamps of packets",
    || Box::<AdjustTimestamp>::default(),
)
.params(&[
    positional("TIME", Kind::Timestamp, "0", "what is added"),
    flag(
        "FIRST",
        "false",
        "whether it is added to the first timestamp",
    ),
    flag("ALL", "false", "whether it is added to times of zero too"),
])
.ops("work(20)");

#[derive(Debug, Default)]
struct AdjustTimestamp {
    time: Timestamp,
    is_first: bool,
    all: bool,
}

impl Element for AdjustTimestamp {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.time = args.timestamp("TIME");
        self.is_first = args.bool("FIRST");
        self.all = args.bool("ALL");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for handle in batch.iter() {
            let packet = &mut pool[handle];
            if self.is_first {
                let first = Timestamp(i64::from_ne_bytes(packet.anno_bytes(anno::FIRST_TIMESTAMP)));
                if self.all || !first.is_zero() {
                    let first = first + self.time;
                    packet.set_anno_bytes(anno::FIRST_TIMESTAMP, first.0.to_ne_bytes());
                }
            } else if self.all || !packet.timestamp().is_zero() {
                packet.set_timestamp(packet.timestamp() + self.time);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("time", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(unparse_timestamp(self.time))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.time = parse_timestamp(value.trim()).map_err(|e| e.to_string())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn zero_stays_unless_all_are_adjusted() {
        let mut run = loaded(
            "FromIPSummaryDump(DATA \"!data timestamp\n0.0\n\
             2.25\", STOP true) -> a :: AdjustTimestamp(-1) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS timestamp) \
             -> AdjustTimestamp(0.5, ALL true) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS timestamp)",
        );
        run.run(1.0);
        assert_eq!(
            run.host.memory().printed,
            "0.000000\n0.500000\n1.250000\n1.750000\n"
        );
        assert_eq!(run.read("a.time"), "-1.000000");
    }
}
