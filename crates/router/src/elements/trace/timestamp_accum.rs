//! Adds up how long ago the time of each packet was.
//!
//! # Handlers
//! - `average_time`: the mean time since packets were stamped
//!
//! # Example
//! ```click
//! // How long packets wait in a queue.
//! RatedSource(RATE 100, LIMIT 500, STOP true) -> SetTimestamp -> Queue -> RatedUnqueue(100)
//!     -> t :: TimestampAccum -> Discard;
//! DriverManager(wait_stop, print t.average_time, stop)
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("TimestampAccum", "adds up the ages of packets", || {
    Box::<TimestampAccum>::default()
})
.ops("work(25)");

#[derive(Debug, Default)]
struct TimestampAccum {
    count: u64,
    /// Microseconds.
    total_us: f64,
}

impl Element for TimestampAccum {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let now = ctx.now();
        let pool = ctx.pool();
        for handle in batch.iter() {
            self.total_us += (now - pool[handle].timestamp()).0 as f64 / 1e3;
        }
        self.count += batch.len() as u64;
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("count", "r"),
            Handler::new("time", "r"),
            Handler::new("average_time", "r"),
            Handler::new("reset_counts", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "count" => self.count.to_string(),
            "time" => self.total_us.to_string(),
            _ => (self.total_us / self.count.max(1) as f64).to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        *self = TimestampAccum::default();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn waiting_is_added_up() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 4) -> Queue -> TimedUnqueue(0.5, 4) -> t :: TimestampAccum \
             -> Discard",
        );
        run.run(2.0);
        let average: f64 = run.read("t.average_time").parse().expect("a number");
        // The first passes at once, the others after half a second.
        assert!((374_999.0..376_000.0).contains(&average), "{average}");
        assert_eq!(run.read("t.count"), "4");
        run.write("t.reset_counts", "").expect("it is reset");
        assert_eq!(
            (run.read("t.time"), run.read("t.average_time")),
            ("0".into(), "0".into())
        );
    }
}
