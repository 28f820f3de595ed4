//! Sending packets out by the rate at which they come.

use super::rate_bucket::Unit;
use crate::args::numbers::unparse_fixed;
use crate::args::times::{has_bandwidth_unit, parse_bandwidth};
use crate::args::{Args, Kind, Need, Param, param};
use crate::diagnostic::{About, Diagnostics};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::rates::rate::{EPOCHS, Rate};
use trammel_packet::batch::Batch;

/// Bits of fraction of rates.
const SCALE: u8 = 10;

/// The arguments: one rate or more, each above the one before.
pub(crate) const PARAMS: &[Param] = &[param(
    "RATES",
    Need::Rest,
    Kind::Raw,
    "",
    "rates, of which each is above the one before",
)];

/// A packet leaves by the output of the first rate that the stream does not reach.
#[derive(Debug)]
pub(crate) struct Meter {
    unit: Unit,
    rate: Rate,
    /// In the unit of the rate's average.
    limits: Vec<i64>,
}

impl Meter {
    /// One that counts `unit`, as a class makes it.
    pub(crate) fn element(unit: Unit) -> Box<dyn Element> {
        Box::new(Meter {
            unit,
            rate: Rate::new(SCALE),
            limits: Vec::new(),
        })
    }
}

impl Element for Meter {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let fault = |text: String| Err(Diagnostics::of(text));
        let texts = args.rest();
        if texts.is_empty() {
            let text = "too few arguments to BandwidthMeter(bandwidth, ...)";
            return fault(text.to_owned());
        }
        let largest = u64::from(u32::MAX >> SCALE);
        let mut rates: Vec<u64> = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let number = at + 1;
            let Ok(rate) = parse_bandwidth(text) else {
                let mut said = Diagnostics::new();
                let text = format!("argument {number} syntax error");
                said.error_about(About::Rest(at), text, None);
                return Err(said);
            };
            if rates.last().is_some_and(|before| rate <= *before) {
                return fault(format!("rate {number} must be > rate {at}"));
            }
            if !has_bandwidth_unit(text) {
                let text = format!("no units for bandwidth argument {number}, assuming Bps");
                setup.warnings.push(text);
            }
            rates.push(rate);
        }
        if let Some(at) = rates.iter().position(|rate| *rate > largest) {
            let text = format!("rate {} too large (max {largest})", at + 1);
            return fault(text);
        }
        self.limits = rates
            .iter()
            .map(|rate| ((*rate as i64) << SCALE) / EPOCHS)
            .collect();
        let wanted = setup.outputs.len() - 1;
        if self.limits.len() != wanted {
            return fault(format!(
                "need {wanted} arguments, one less than the number of output ports"
            ));
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        let now = ctx.now();
        for packet in batch.drain() {
            let amount = match self.unit {
                Unit::Packets => 1,
                Unit::Bytes => ctx.pool()[&packet].len() as u64,
            };
            self.rate.add(now, amount);
            let average = self.rate.average();
            let output = self.limits.iter().take_while(|limit| average >= **limit);
            ctx.emit(output.count(), packet);
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("rate", "r"), Handler::new("meters", "r")]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        if name == "rate" {
            return Ok(self.rate.text(ctx.now(), 0));
        }
        let limits = self.limits.iter();
        Ok(limits
            .map(|limit| unparse_fixed(*limit * EPOCHS, SCALE))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn a_stream_leaves_whole_by_the_output_of_its_rate() {
        let mut run = loaded(
            "RatedSource(RATE 2000) -> m :: Meter(1000, 10000) -> a :: Counter -> Discard;
             m [1] -> b :: Counter -> Discard; m [2] -> c :: Counter -> Discard;
             RatedSource(RATE 100, LENGTH 100) -> n :: BandwidthMeter(1MBps) -> d :: Counter \
             -> Discard;
             n [1] -> e :: Counter -> Discard;",
        );
        run.run(0.5);
        run.write("a.reset", "").expect("a button");
        run.run(0.5);
        let number = |text: String| text.parse::<u32>().expect("a number");
        assert_eq!(
            (run.read("a.count"), run.read("c.count")),
            ("0".into(), "0".into())
        );
        assert!(number(run.read("b.count")) > 1900);
        assert!(number(run.read("d.count")) >= 99);
        assert_eq!(run.read("e.count"), "0");
    }

    #[test]
    fn rates_rise_and_are_one_fewer_than_outputs() {
        let outputs = "; m [1] -> Discard; m [2] -> Discard";
        let text = errors(&format!("Idle -> m :: Meter(2, 2) -> Discard{outputs}"));
        assert!(text.contains("rate 2 must be > rate 1"), "{text}");
        let text = errors(&format!("Idle -> m :: Meter(2) -> Discard{outputs}"));
        let wanted = "need 2 arguments, one less than the number of output ports";
        assert!(text.contains(wanted), "{text}");
    }
}
