//! Another source's packets during "on" periods, silence during "off" periods: D-ITG's `-B` around
//! files of gaps and sizes.
//!
//! The clock of the source stands still during silence, as that of [`super::on_off`], which has
//! formulas for what it sends. The first period is "on", and a packet at the end of one opens the
//! next.

use super::Error;
use crate::moments::Predicted;
use crate::stream::{Departure, Plan, Source};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_stats::arrivals::Spans;

/// Periods without any length in a row after which a source is held to be silent for ever.
const EMPTY_PERIODS_MAX: u32 = 100_000;

/// A source that is silent now and then.
#[derive(Debug)]
pub struct Interrupted {
    on: Spans,
    off: Spans,
    source: Box<dyn Source>,
}

impl Interrupted {
    /// The packets of `source` during `on` periods.
    ///
    /// # Errors
    /// If "on" periods are always zero.
    pub fn new(on: Spans, off: Spans, source: Box<dyn Source>) -> Result<Interrupted, Error> {
        super::on_off::sends(&on)?;
        Ok(Interrupted { on, off, source })
    }
}

impl Source for Interrupted {
    fn plan(&self, seed: u64) -> Plan {
        let (mut on, mut off) = (self.on.clone(), self.off.clone());
        // The periods that `OnOff` draws from this seed.
        let mut rng = Rng::new(seed, "bursts:periods");
        let mut on_until = Time::ZERO + on.draw(&mut rng);
        let mut silence = Span::ZERO;
        Box::new(self.source.plan(seed).map_while(move |packet| {
            let mut empty = 0;
            while packet.at >= on_until {
                let (quiet, sending) = (off.draw(&mut rng), on.draw(&mut rng));
                silence += quiet;
                on_until += sending;
                empty = if sending == Span::ZERO { empty + 1 } else { 0 };
                if on_until == Time::MAX || empty > EMPTY_PERIODS_MAX {
                    return None;
                }
            }
            let at = packet.at + silence;
            (at < Time::MAX).then_some(Departure { at, ..packet })
        }))
    }

    /// The rate in the long run, and the sizes, which no silence changes.
    fn predicted(&self) -> Predicted {
        let inner = self.source.predicted();
        let share = || {
            let (on, off) = (self.on.mean_secs()?, self.off.mean_secs()?);
            Some(on / (on + off))
        };
        Predicted {
            mean_rate: inner.mean_rate.zip(share()).map(|(rate, on)| rate * on),
            peak_rate: inner.mean_rate,
            mean_bytes: inner.mean_bytes,
            size_cv: inner.size_cv,
            ..Predicted::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::file::{Gaps, Lengths, Listed};
    use crate::sources::law;
    use crate::sources::laws::Laws;
    use crate::sources::on_off::Bursts;
    use crate::sources::sizes::Sizes;

    fn spans(name: &str, numbers: &[(&str, f64)]) -> Spans {
        Spans::seconds(law(name, numbers).expect("a law"))
    }

    #[test]
    fn lists_go_on_after_silence_where_they_stopped() {
        let ms = |all: &[u64]| all.iter().map(|one| Span::from_ms(*one)).collect();
        let listed = Listed::new(
            Gaps::List(ms(&[10, 20])),
            Lengths::List([100, 200, 300].into()),
        );
        let constant = |secs| spans("constant", &[("value", secs)]);
        let source = Interrupted::new(
            constant(0.04),
            constant(0.1),
            Box::new(listed.expect("lists")),
        )
        .expect("a source");
        let found: Vec<_> = source
            .plan(1)
            .take(6)
            .map(|packet| (packet.at.as_ms(), packet.bytes))
            .collect();
        // On the clock of the lists: 0, 10, 30, 40, 60, 70 ms; a packet at the end of a period
        // opens the next.
        assert_eq!(
            found,
            [
                (0, 100),
                (10, 200),
                (30, 300),
                (140, 100),
                (160, 200),
                (170, 300)
            ]
        );
        let predicted = source.predicted();
        let rate = predicted.mean_rate.expect("all have means");
        assert!((rate - 2.0 / 0.03 * 0.04 / 0.14).abs() < 1e-9, "{rate}");
        assert_eq!(predicted.mean_bytes, Some(200.0));
    }

    #[test]
    fn laws_are_interrupted_as_bursts_of_them_are() {
        let (on, off) = (
            spans("exponential", &[("mean", 0.01)]),
            spans("pareto", &[]),
        );
        let gaps = Spans::constant_rate(1000.0).expect("the rate is above 0");
        let sizes = || Sizes::always(100).expect("the size is within bounds");
        let laws = Laws::new(gaps.clone(), sizes()).expect("laws");
        let ours = Interrupted::new(on.clone(), off.clone(), Box::new(laws)).expect("a source");
        let theirs = Bursts::new(on, off, gaps, sizes()).expect("a source");
        let times = |source: &dyn Source| -> Vec<Time> {
            source.plan(7).take(2000).map(|p| p.at).collect()
        };
        assert_eq!(times(&ours), times(&theirs));
        let rate = |source: &dyn Source| source.predicted().mean_rate.expect("means exist");
        assert!((rate(&ours) / rate(&theirs) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_never_on_is_refused() {
        let zero = || spans("constant", &[("value", 0.0)]);
        let gaps = Spans::constant_rate(10.0).expect("the rate is above 0");
        let laws =
            Laws::new(gaps, Sizes::always(1).expect("the size is within bounds")).expect("laws");
        let error = Interrupted::new(zero(), zero(), Box::new(laws)).expect_err("never on");
        assert!(error.to_string().contains("give them a length"), "{error}");
    }
}
