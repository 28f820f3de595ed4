//! Letting pulls pass at even distances.

use super::rate_bucket::Unit;
use super::rated_unqueue::rate_text;
use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::rates::gap_rate::{GapRate, MAX_RATE};
use trammel_packet::batch::Packets;

/// Lets packets be pulled at a rate in packets or in bytes; a second output gives those that may
/// not.
#[derive(Debug)]
pub(crate) struct Shaper {
    unit: Unit,
    rate: GapRate,
}

impl Shaper {
    /// One that counts `unit`, as a class makes it.
    pub(crate) fn element(unit: Unit) -> Box<dyn Element> {
        Box::new(Shaper {
            unit,
            rate: GapRate::new(0),
        })
    }
}

impl Element for Shaper {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let rate = u32::try_from(args.uint("RATE")).unwrap_or(u32::MAX);
        if rate > MAX_RATE {
            let text = format!("rate too large; lowered to {MAX_RATE}");
            setup.warnings.push(text);
        }
        self.rate.set_rate(rate);
        Ok(())
    }

    fn reconfigured(&mut self, ctx: &mut Ctx) {
        self.rate.align(ctx.now());
    }

    fn pull(&mut self, ctx: &mut Ctx, port: usize, max: usize, into: &mut Packets) {
        let now = ctx.now();
        if port > 0 {
            if self.rate.due(now) <= 0 {
                ctx.pull(0, max, into);
            }
            return;
        }
        let mut left = max;
        while left > 0 {
            let due = usize::try_from(self.rate.due(now)).unwrap_or(0);
            let wanted = match self.unit {
                Unit::Packets => due.min(left),
                Unit::Bytes => due.min(1),
            };
            let before = into.len();
            let count = ctx.pull(0, wanted, into);
            let pool = ctx.pool();
            let events = match self.unit {
                Unit::Packets => count,
                Unit::Bytes => into.iter().skip(before).map(|p| pool[p].len()).sum(),
            };
            self.rate.happened(events);
            left -= count;
            if count == 0 || count < wanted {
                return;
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("rate", "rw").of_argument(0, "RATE"),
            Handler::new("config", "rw"),
            Handler::new("reset", "w"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(rate_text(self.unit, self.rate.rate()))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.rate.reset();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn pulls_pass_at_the_rate() {
        let mut run = loaded(
            "InfiniteSource -> s :: Shaper(100) -> c :: Counter -> TimedSink(1ms);
             InfiniteSource(LENGTH 100) -> BandwidthShaper(10kBps) -> d :: Counter \
             -> TimedSink(1ms);",
        );
        run.run(1.0);
        for counter in ["c.count", "d.count"] {
            let count: u32 = run.read(counter).parse().expect("a number");
            assert!((98..=101).contains(&count), "{counter} {count}");
        }
    }

    #[test]
    fn the_second_output_gives_what_the_first_may_not() {
        let mut run = loaded(
            "InfiniteSource -> s :: Shaper(10); s -> a :: Counter -> TimedSink(10ms);
             s [1] -> b :: Counter -> TimedSink(10ms);",
        );
        run.run(1.0);
        let number = |text: String| text.parse::<u32>().expect("a number");
        let (shaped, rest) = (number(run.read("a.count")), number(run.read("b.count")));
        assert!((9..=11).contains(&shaped), "{shaped}");
        assert!((80..=100).contains(&rest), "{rest}");
        run.write("s.rate", "50").expect("a rate");
        assert_eq!(
            (run.read("s.rate"), run.read("s.config")),
            ("50".into(), "50".into())
        );
    }
}
