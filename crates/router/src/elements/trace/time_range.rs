//! Remembers the earliest and the latest timestamp that passed.
//!
//! # Handlers
//! - `interval`: the time between the first and the last packet
//!
//! # Example
//! ```click
//! // The first and the last time.
//! FromDump(a.pcap, STOP true) -> r :: TimeRange -> Discard;
//! DriverManager(wait_stop, print r.range, stop)
//! ```

use crate::args::times::unparse_timestamp;
use crate::args::{Args, flag};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "TimeRange",
    "remembers the earliest and latest timestamp",
    || Box::<TimeRange>::default(),
)
.params(&[flag("SIMPLE", "false", "times never go back")])
.ops("work(18)");

#[derive(Debug, Default)]
struct TimeRange {
    is_simple: bool,
    first: Timestamp,
    last: Timestamp,
}

impl Element for TimeRange {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.is_simple = args.bool("SIMPLE");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for handle in batch.iter() {
            let time = pool[handle].timestamp();
            if self.first.is_zero() {
                (self.first, self.last) = (time, time);
            } else if self.is_simple {
                self.last = time;
            } else {
                self.last = self.last.max(time);
                self.first = self.first.min(time);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("first", "r"),
            Handler::new("last", "r"),
            Handler::new("range", "r"),
            Handler::new("interval", "r"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let (first, last) = (unparse_timestamp(self.first), unparse_timestamp(self.last));
        Ok(match name {
            "first" => first,
            "last" => last,
            "range" => format!("{first} {last}"),
            _ => unparse_timestamp(self.last - self.first),
        })
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        (self.first, self.last) = (Timestamp::ZERO, Timestamp::ZERO);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_range_is_of_all_times() {
        let mut run = loaded(
            "FromIPSummaryDump(DATA \"!data timestamp\n3.0\n2.25\n5.5\n5.0\", STOP true) \
             -> r :: TimeRange -> s :: TimeRange(SIMPLE true) -> Discard",
        );
        run.run(1.0);
        assert_eq!(run.read("r.range"), "2.250000 5.500000");
        assert_eq!(run.read("r.interval"), "3.250000");
        assert_eq!(run.read("s.range"), "3.000000 5.000000");
        run.write("r.reset", "").expect("it is a button");
        assert_eq!(run.read("r.first"), "0.000000");
    }
}
