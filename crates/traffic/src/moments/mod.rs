//! What traffic is like: predicted from its source, and estimated from a sample.
//!
//! - the mean rate, and the peak: the mean rate in the busiest state of the source;
//! - the coefficient of variation of gaps: standard deviation over mean; 1 of a Poisson process;
//! - the index of dispersion of counts, IDC(t): the variance over the mean of the packets in an
//!   interval t. It is 1 of a Poisson process; its limit says how bursty traffic is to a queue
//!   (Gusella, "Characterizing the Variability of Arrival Processes with Indexes of Dispersion",
//!   1991);
//! - the Hurst parameter: the variance of counts grows as t^2H; 0.5 of traffic without long memory.
//!
//! What does not exist, is infinite, or has no form that is computed here is `None`.

pub mod alternating;
pub mod markov;
pub mod renewal;
pub mod sample;

/// What a source's packets are like in the long run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Packets per second.
    pub mean_rate: Option<f64>,
    /// Packets per second in the busiest state.
    pub peak_rate: Option<f64>,
    /// Bytes of payload of a packet.
    pub mean_bytes: Option<f64>,
    /// The coefficient of variation of payloads.
    pub size_cv: Option<f64>,
    /// The coefficient of variation of gaps.
    pub gap_cv: Option<f64>,
    /// The limit of the index of dispersion of counts in long intervals.
    pub dispersion_limit: Option<f64>,
    /// The Hurst parameter of counts; `None` too where counts repeat, as their variance does not
    /// grow.
    pub hurst: Option<f64>,
}

/// Which of a source's numbers a numeric method gives rather than a closed form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numeric {
    /// The rate.
    pub rate: bool,
    /// The mean and the variation of payloads.
    pub sizes: bool,
    /// The variation of gaps.
    pub gaps: bool,
    /// The index of dispersion, of intervals and in the limit.
    pub dispersion: bool,
    /// The Hurst parameter.
    pub hurst: bool,
}

/// How packets come, as far as the theory of queues asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// After equal gaps.
    Periodic,
    /// As a Poisson process.
    Poisson,
    /// Otherwise.
    #[default]
    Other,
}

impl Predicted {
    /// Bits of payload per second.
    pub fn mean_bps(&self) -> Option<f64> {
        Some(self.mean_rate? * self.mean_bytes? * 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::sample;
    use crate::sources::laws::Laws;
    use crate::sources::modulated::MarkovModulated;
    use crate::sources::on_off::Bursts;
    use crate::sources::self_similar::SelfSimilarSum;
    use crate::sources::{law, sizes::Sizes};
    use crate::stream::Source;
    use trammel_core::time::Time;
    use trammel_stats::arrivals::Spans;
    use trammel_stats::arrivals::modulated::{Chain, State};
    use trammel_stats::arrivals::self_similar::Mixture;
    use trammel_stats::stats::Moments;

    /// Runs of each source, with seeds 1, 2 …
    const RUNS: u64 = 20;
    /// Packets of a run.
    const PACKETS: usize = 50_000;

    fn sizes() -> Sizes {
        Sizes::always(100).unwrap()
    }

    fn spans(name: &str, given: &[(&str, f64)]) -> Spans {
        Spans::seconds(law(name, given).unwrap())
    }

    fn renewal(name: &str, given: &[(&str, f64)]) -> Box<dyn Source> {
        Box::new(Laws::new(spans(name, given), sizes()).unwrap())
    }

    fn bursts(on: Spans, off: Spans, gaps: Spans) -> Box<dyn Source> {
        Box::new(Bursts::new(on, off, gaps, sizes()).unwrap())
    }

    fn three_states() -> Chain {
        let state = |per_second, sojourn_secs, next: [f64; 3]| State {
            per_second,
            sojourn_secs,
            next: next.to_vec(),
        };
        let states = vec![
            state(3000.0, 0.01, [0.0, 0.5, 0.5]),
            state(500.0, 0.02, [1.0, 0.0, 0.0]),
            state(0.0, 0.03, [0.25, 0.75, 0.0]),
        ];
        Chain::new(states).unwrap()
    }

    fn times(source: &dyn Source, seed: u64, packets: usize) -> Vec<Time> {
        source
            .plan(seed)
            .take(packets)
            .map(|packet| packet.at)
            .collect()
    }

    /// Fails unless `wanted`, give or take `slack`, lies in the interval of 99.99 % of independent
    /// estimates.
    fn holds(found: &Moments, wanted: f64, slack: f64, what: &str) {
        let interval = found.confidence(0.9999).unwrap();
        assert!(
            interval.low - slack <= wanted && wanted <= interval.high + slack,
            "{what}: predicted {wanted}, found {interval:?}"
        );
    }

    /// Name, source, an interval in seconds for the dispersion where one is predicted.
    type Case = (&'static str, Box<dyn Source>, Option<f64>);

    fn cases() -> Vec<Case> {
        let exponential = |mean| spans("exponential", &[("mean", mean)]);
        let gamma = [("shape", 0.5), ("scale", 2e-3)];
        vec![
            ("constant", renewal("constant", &[("value", 1e-3)]), None),
            (
                "exponential",
                renewal("exponential", &[("mean", 1e-3)]),
                Some(0.01),
            ),
            (
                "uniform",
                renewal("uniform", &[("min", 0.0), ("max", 2e-3)]),
                Some(2e-3),
            ),
            ("gamma", renewal("gamma", &gamma), Some(0.01)),
            (
                "weibull",
                renewal("weibull", &[("shape", 1.5), ("scale", 1e-3)]),
                Some(5e-3),
            ),
            (
                "log-normal",
                renewal("log-normal", &[("mu", -7.0), ("sigma", 0.7)]),
                Some(5e-3),
            ),
            (
                "pareto",
                renewal("pareto", &[("shape", 6.0), ("scale", 1e-3)]),
                Some(5e-3),
            ),
            (
                "interrupted Poisson",
                bursts(exponential(0.02), exponential(0.03), exponential(1e-3)),
                Some(0.05),
            ),
            (
                "exponential periods",
                bursts(
                    exponential(0.02),
                    exponential(0.03),
                    Spans::constant_rate(1000.0).unwrap(),
                ),
                None,
            ),
            (
                "uniform periods",
                bursts(
                    spans("uniform", &[("min", 2e-3), ("max", 0.02)]),
                    spans("uniform", &[("min", 1e-3), ("max", 0.03)]),
                    Spans::constant_rate(1000.0).unwrap(),
                ),
                None,
            ),
            (
                "short gamma periods",
                bursts(
                    spans("gamma", &[("shape", 2.0), ("scale", 2e-3)]),
                    spans("gamma", &[("shape", 3.0), ("scale", 3e-3)]),
                    spans("uniform", &[("min", 0.0), ("max", 2e-3)]),
                ),
                None,
            ),
            (
                "modulated",
                Box::new(MarkovModulated::new(three_states(), sizes())),
                Some(0.05),
            ),
        ]
    }

    #[test]
    fn samples_have_the_rate_the_gaps_and_the_dispersion_that_are_predicted() {
        for (name, source, interval) in cases() {
            let predicted = source.predicted();
            let (mut gaps, mut variations, mut dispersions) =
                (Moments::new(), Moments::new(), Moments::new());
            for seed in 1..=RUNS {
                let times = times(source.as_ref(), seed, PACKETS);
                let found = sample::of_times(&times);
                gaps.push(1.0 / found.mean_rate.unwrap());
                variations.push(found.gap_cv.unwrap());
                if let Some(secs) = interval {
                    dispersions.push(sample::dispersion(&times, secs).unwrap());
                }
            }
            let mean_gap = 1.0 / predicted.mean_rate.unwrap();
            // The remainder of a gap that is rounded to picoseconds.
            holds(
                &gaps,
                mean_gap,
                1e-9 * mean_gap,
                &format!("{name}, mean gap"),
            );
            let cv = predicted.gap_cv.unwrap();
            // The numeric mean over gaps is good to this share.
            holds(
                &variations,
                cv,
                1e-3 * cv,
                &format!("{name}, variation of gaps"),
            );
            assert_eq!(
                source.dispersion(interval.unwrap_or(1.0)).is_some(),
                interval.is_some() || name == "constant",
                "{name}"
            );
            if let (Some(secs), Some(wanted)) =
                (interval, interval.and_then(|secs| source.dispersion(secs)))
            {
                // The numeric solution is good to half a per cent.
                holds(
                    &dispersions,
                    wanted,
                    5e-3 * wanted,
                    &format!("{name}, dispersion in {secs} s"),
                );
            }
        }
    }

    #[test]
    fn the_dispersion_of_long_intervals_is_the_limit() {
        for (name, source, _) in cases() {
            let predicted = source.predicted();
            let (rate, limit) = (
                predicted.mean_rate.unwrap(),
                predicted.dispersion_limit.unwrap(),
            );
            if limit == 0.0 {
                assert_eq!((name, predicted.hurst), ("constant", None));
                continue;
            }
            assert_eq!(predicted.hurst, Some(0.5), "{name}");
            let mut found = Moments::new();
            for seed in 1..=RUNS {
                let times = times(source.as_ref(), seed, PACKETS);
                found.push(sample::dispersion(&times, 1000.0 / rate).unwrap());
            }
            // What an interval of a thousand packets still lacks: (1/t) · a constant, of the order
            // of the correlation time over the interval, 5 % for the slowest of these.
            holds(&found, limit, 0.05 * limit, name);
        }
    }

    #[test]
    fn the_hurst_parameter_of_poisson_packets_is_a_half() {
        let source = renewal("exponential", &[("mean", 1e-3)]);
        let mut errors = Moments::new();
        for seed in 1..=RUNS {
            let found = sample::hurst(&times(source.as_ref(), seed, 200_000), 0.01).unwrap();
            errors.push((found.value - 0.5) / found.std_error);
        }
        // In standard errors: no bias, and as much spread as is stated.
        holds(&errors, 0.0, 0.0, "error");
        let spread = errors.std_dev().unwrap();
        // χ² of 19 degrees of freedom: 99.9 % of spreads lie between 0.51 and 1.55.
        assert!((0.51..1.55).contains(&spread), "{spread}");
    }

    #[test]
    fn a_self_similar_sum_nears_its_target() {
        for hurst in [0.6, 0.75, 0.9] {
            let mixture = Mixture {
                sources: 4,
                hurst,
                per_second: 6667.0,
                on_secs: 0.001,
                off_secs: 0.002,
            };
            let source = SelfSimilarSum::new(mixture, sizes()).unwrap();
            assert_eq!(source.predicted().hurst, Some(hurst));
            let (mut found, mut rates) = (Moments::new(), Moments::new());
            for seed in 1..=8 {
                let times = times(&source, seed, 1_000_000);
                rates.push(sample::of_times(&times).mean_rate.unwrap());
                found.push(sample::hurst(&times, 0.2).unwrap().value);
            }
            // Three standard errors of the mean of eight runs; and at H = 0.6 the variance of
            // counts still grows by 0.05 too fast at the scales of a sample that fits into a test
            // (a fluid sum of such periods, computed apart, has local exponents of 0.73 at 17
            // cycles, 0.65 at 270 and 0.57 at 4000).
            let mean = found.mean().unwrap();
            assert!((mean - hurst).abs() < 0.07, "{mean}, not {hurst}");
            holds(&rates, mixture.per_second, 0.0, "rate");
        }
    }

    #[test]
    fn heavy_gaps_and_periods_have_long_memory() {
        let gaps = renewal("pareto", &[("shape", 1.5), ("scale", 1e-3)]).predicted();
        assert!((gaps.hurst.unwrap() - 0.75).abs() < 1e-6);
        assert_eq!((gaps.gap_cv, gaps.dispersion_limit), (None, None));
        let on = spans("pareto", &[("shape", 1.4), ("scale", 0.1)]);
        let off = spans("pareto", &[("shape", 1.2), ("scale", 0.1)]);
        let found = bursts(on, off, Spans::constant_rate(1000.0).unwrap()).predicted();
        assert!((found.hurst.unwrap() - 0.9).abs() < 1e-6);
        assert_eq!(renewal("cauchy", &[]).predicted().mean_rate, None);
    }

    #[test]
    fn samples_too_small_to_tell_say_nothing() {
        let times = [Time::ZERO, Time::from_ms(1)];
        for few in 0..=2 {
            let found = sample::of_times(&times[..few]);
            assert_eq!(found.gap_cv, None);
            assert_eq!(sample::dispersion(&times[..few], 1e-3), None);
            assert_eq!(sample::hurst(&times[..few], 1e-3), None);
            assert!(sample::ladder(&times[..few], 1e-3).is_empty());
        }
        assert_eq!(sample::dispersion(&times, f64::NAN), None);
        let every_ms: Vec<_> = (0..100).map(Time::from_ms).collect();
        let ladder = sample::ladder(&every_ms, 2e-3);
        assert_eq!(ladder, [(2e-3, 0.0), (4e-3, 0.0)]);
        assert_eq!(sample::hurst(&every_ms, 2e-3), None);
    }
}
