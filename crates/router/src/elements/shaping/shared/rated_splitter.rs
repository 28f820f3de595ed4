//! Splitting a stream at a rate: what a token bucket lets pass leaves by output 0, the rest by
//! output 1.

use super::rate_bucket::{RateBucket, Unit};
use super::rated_unqueue::rate_text;
use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// Splits a stream at a rate in packets or in bytes.
#[derive(Debug)]
pub(crate) struct RatedSplitter {
    unit: Unit,
    bucket: RateBucket,
}

impl RatedSplitter {
    /// One that counts `unit`, as a class makes it.
    pub(crate) fn element(unit: Unit) -> Box<dyn Element> {
        Box::new(RatedSplitter {
            unit,
            bucket: RateBucket::default(),
        })
    }
}

impl Element for RatedSplitter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.bucket.configure(self.unit, args)
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        self.bucket.refill(ctx.now());
        batch.filter(|packet| {
            if self.bucket.passes(self.unit) > 0 {
                let bytes = ctx.pool()[&packet].len();
                self.bucket.take(self.unit, bytes);
                return Some(packet);
            }
            ctx.reject(1, packet, Reason::Shaped);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("rate", "rw").of_argument(0, "RATE"),
            Handler::new("config", "rw"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(rate_text(self.unit, self.bucket.rate()))
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn what_exceeds_the_bucket_leaves_by_the_other_output() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 30, BURST 30, STOP true) -> s :: RatedSplitter(1, BURST_SIZE 20)
             -> a :: Counter -> Discard; s [1] -> b :: Counter -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("20".into(), "10".into())
        );
    }

    #[test]
    fn where_there_is_no_other_output_the_rest_ends_here() {
        let mut run = loaded(
            "InfiniteSource(LENGTH 100, LIMIT 30, BURST 30, STOP true)
             -> s :: BandwidthRatedSplitter(1Bps, BURST_BYTES 1000) -> a :: Counter -> Discard;",
        );
        run.run(0.1);
        let count: u32 = run.read("a.count").parse().expect("a number");
        assert!((10..=11).contains(&count), "{count}");
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
