//! Counts packets and measures their average rate.
//!
//! # What it does
//! The rate is over the time from the first packet to the last; the first `IGNORE` seconds do not
//! count.
//!
//! # Example
//! ```click
//! // The rate after the first second.
//! RatedSource(RATE 1000, LIMIT 5000, STOP true) -> c :: AverageCounter(IGNORE 1) -> Discard;
//! DriverManager(wait_stop, print c.rate, stop)
//! ```

use crate::args::kinds::UINT;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::script::format::real;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("AverageCounter", "measures the average rate", || {
    Box::<AverageCounter>::default()
})
.aliases(&["AverageCounterMP", "AverageCounterIMP"])
.params(&[positional(
    "IGNORE",
    UINT,
    "0",
    "seconds at the start that do not count",
)])
.ops("work(13)");

#[derive(Debug, Default)]
struct AverageCounter {
    ignored_ms: i64,
    packets: u64,
    bytes: u64,
    /// Milliseconds, of the first packet and the last.
    seen: Option<(i64, i64)>,
}

impl Element for AverageCounter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.ignored_ms = args.uint("IGNORE") as i64 * 1000;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if batch.is_empty() {
            return;
        }
        let now = ctx.now().0 / 1_000_000;
        let first = self.seen.map_or(now, |(first, _)| first);
        self.seen = Some((first, now));
        if now - first >= self.ignored_ms {
            let pool = ctx.pool();
            self.packets += batch.len() as u64;
            self.bytes += batch.iter().map(|p| pool[p].len() as u64).sum::<u64>();
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("count", "r"),
            Handler::new("byte_count", "r"),
            Handler::new("rate", "r"),
            Handler::new("byte_rate", "r"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let count = if name.starts_with("byte") {
            self.bytes
        } else {
            self.packets
        };
        if name.ends_with("count") {
            return Ok(count.to_string());
        }
        let (first, last) = self.seen.unwrap_or_default();
        let ms = (last - first - self.ignored_ms).max(1);
        Ok(real(count as f64 * 1000.0 / ms as f64))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        (self.packets, self.bytes, self.seen) = (0, 0, None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_rate_is_over_the_time_between_packets() {
        let mut run = loaded("TimedSource(0.1, abcd) -> c :: AverageCounter -> Discard");
        run.run(1.05);
        assert_eq!(
            (run.read("c.count"), run.read("c.byte_count")),
            ("10".into(), "40".into())
        );
        let rate: f64 = run.read("c.rate").parse().expect("a number");
        // Ten packets in nine intervals.
        assert!((rate - 100.0 / 9.0).abs() < 0.05, "{rate}");
    }
}
