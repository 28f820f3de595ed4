//! Replaces the timestamps of packets by differences.
//!
//! # What it does
//! A time that is not zero becomes its distance from the first such time seen (`TYPE RANGE`), to
//! the time of day (`NOW`), or from the packet's first timestamp (`FIRST`).
//!
//! # Example
//! ```click
//! // Times since the first packet.
//! FromDump(a.pcap, STOP true) -> SetTimestampDelta(TYPE FIRST) -> Print(TIMESTAMP true) -> Discard
//! ```

use crate::args::times::unparse_timestamp;
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "SetTimestampDelta",
    "replaces the timestamps of packets by differences",
    || Box::<SetTimestampDelta>::default(),
)
.params(&[keyword(
    "TYPE",
    Kind::Word,
    "RANGE",
    "`RANGE`, `NOW` or `FIRST`",
)])
.ops("work(20)");

#[derive(Clone, Copy, Debug, Default)]
enum Since {
    #[default]
    Range,
    Now,
    First,
}

#[derive(Debug, Default)]
struct SetTimestampDelta {
    since: Since,
    first: Timestamp,
}

impl Element for SetTimestampDelta {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.since = match args.text("TYPE") {
            "RANGE" => Since::Range,
            "NOW" => Since::Now,
            "FIRST" => Since::First,
            _ => {
                let mut said = Diagnostics::new();
                said.error(None, "bad TYPE");
                return Err(said);
            }
        };
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let now = match self.since {
            Since::Now => ctx.now(),
            _ => Timestamp::ZERO,
        };
        let pool = ctx.pool();
        for handle in batch.iter() {
            let packet = &mut pool[handle];
            let time = packet.timestamp();
            if time.is_zero() {
                continue;
            }
            let delta = match self.since {
                Since::Now => now - time,
                Since::First => {
                    time - Timestamp(i64::from_ne_bytes(packet.anno_bytes(anno::FIRST_TIMESTAMP)))
                }
                Since::Range => {
                    if self.first.is_zero() {
                        self.first = time;
                    }
                    time - self.first
                }
            };
            packet.set_timestamp(delta);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("first", "r"), Handler::new("reset", "wb")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(unparse_timestamp(self.first) + "\n")
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.first = Timestamp::ZERO;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn times_are_counted_from_the_first() {
        let mut run = loaded(
            "FromIPSummaryDump(DATA \"!data timestamp\n0.0\n2.25\n3.5\", STOP true) \
             -> d :: SetTimestampDelta -> ToIPSummaryDump(-, HEADER false, FIELDS timestamp)",
        );
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "0.000000\n0.000000\n1.250000\n");
        assert_eq!(run.read("d.first"), "2.250000\n");
        assert!(errors("Idle -> SetTimestampDelta(TYPE x) -> Idle").contains("bad TYPE"));
    }
}
