//! A finding: one metric of one flow, the kernel's value beside ours, what is allowed, and the
//! skill.
//!
//! ```text
//! error = |ours − kernel|          within ⇔ error ≤ allowed, or the kernel inside our range
//! skill = 1 − error / |null − kernel|        1 is perfect, 0 no better than the null model
//! ```
//!
//! The error of a window is the root mean square over the trace as a share of its mean, so its
//! kernel's value is zero by definition.

use trammel_stats::stats::{Moments, percentiles};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Payload acknowledged, Mbit/s.
    Goodput,
    /// Segments retransmitted.
    Retransmissions,
    /// Mean smoothed round trip less the path's own, ms.
    QueueDelay,
    /// Root mean square of the window's error, as a share of the mean window.
    WindowRms,
    /// Mean window, segments.
    Window,
}

impl Metric {
    /// The key in tables and in `mechanisms.toml`.
    pub fn key(self) -> &'static str {
        match self {
            Metric::Goodput => "goodput",
            Metric::Retransmissions => "retransmissions",
            Metric::QueueDelay => "queue-delay",
            Metric::WindowRms => "cwnd-rms",
            Metric::Window => "cwnd",
        }
    }

    /// The unit in print.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Goodput => "Mbit/s",
            Metric::Retransmissions | Metric::Window => "packets",
            Metric::QueueDelay => "ms",
            Metric::WindowRms => "",
        }
    }

    /// How far from `kernel` a value may lie.
    pub fn allowed(self, kernel: f64) -> f64 {
        match self {
            Metric::Goodput => 0.05 * kernel,
            Metric::Retransmissions => (0.25 * kernel).max(20.0),
            // The kernel keeps round trips in microseconds; its average moves by some of them.
            Metric::QueueDelay => (0.10 * kernel).max(0.01),
            Metric::WindowRms => 0.15,
            Metric::Window => 0.15 * kernel,
        }
    }
}

/// Values over seeds or phases; one value where nothing varies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, of two or more.
    pub sd: Option<f64>,
    /// Half the width of Student's 95 % interval of the mean.
    pub half_ci: Option<f64>,
    /// The 5th and the 95th percentile.
    pub range: Option<(f64, f64)>,
    /// How many.
    pub count: usize,
    /// Of every ordered pair of them, the share in which one lies as near to the other as a trace
    /// must: how often the kernel would pass against itself.
    pub alike: Option<f64>,
}

impl Spread {
    /// A single value.
    pub fn one(value: f64) -> Spread {
        Spread {
            mean: value,
            count: 1,
            ..Spread::default()
        }
    }

    /// Of `values`; nothing of none.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut moments = Moments::new();
        for &value in values {
            moments.push(value);
        }
        let mean = moments.mean()?;
        let ends = percentiles(values, &[5.0, 95.0]).filter(|_| values.len() > 1);
        Some(Spread {
            mean,
            sd: moments.std_dev(),
            half_ci: moments
                .confidence(0.95)
                .map(|interval| interval.high - mean),
            range: ends.map(|ends| (ends[0], ends[1])),
            count: values.len(),
            alike: None,
        })
    }

    /// This spread of `values`, with how often they are near each other by what `metric` allows.
    pub(crate) fn with_alike(mut self, values: &[f64], metric: Metric) -> Spread {
        let is_near = |a: f64, b: f64| (a - b).abs() <= metric.allowed(a);
        let near_to = |&a: &f64| values.iter().filter(|&&b| is_near(a, b)).count() - 1;
        let near: usize = values.iter().map(near_to).sum();
        let pairs = values.len() * values.len().saturating_sub(1);
        self.alike = (pairs > 0).then(|| near as f64 / pairs as f64);
        self
    }
}

/// What a finding must meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Ours within this distance of the kernel's.
    Near(f64),
    /// The kernel's inside the 5–95 % range of ours.
    Inside,
}

/// One metric of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The set: `e1`, `e2`, `e3`, `e3-phases`, `e6`, `e7`.
    pub set: &'static str,
    /// The variant that the run is about.
    pub variant: String,
    /// The flow's place in the run.
    pub flow: usize,
    /// The flow's own variant.
    pub cc: String,
    /// What is compared.
    pub metric: Metric,
    /// The kernel's.
    pub kernel: Spread,
    /// Ours.
    pub ours: Spread,
    /// The null model's.
    pub null: f64,
    /// What is asked.
    pub rule: Rule,
    /// Whether a target rests on it; the others are shown to be known.
    pub is_target: bool,
    /// Whether skill counts: the kernel under 90 % of the ceiling, or flows compete.
    pub has_room: bool,
}

impl Finding {
    /// How far ours is from the kernel's.
    pub fn error(&self) -> f64 {
        (self.ours.mean - self.kernel.mean).abs()
    }

    /// How far the null model is.
    pub(crate) fn null_error(&self) -> f64 {
        (self.null - self.kernel.mean).abs()
    }

    /// 1 − error / null model's error; nothing where the null model is exact.
    pub fn skill(&self) -> Option<f64> {
        (self.null_error() > 0.0).then(|| 1.0 - self.error() / self.null_error())
    }

    /// Whether what is asked is met.
    pub fn is_within(&self) -> bool {
        match self.rule {
            Rule::Near(allowed) => self.error() <= allowed,
            Rule::Inside => self
                .ours
                .range
                .is_some_and(|(low, high)| (low..=high).contains(&self.kernel.mean)),
        }
    }

    /// Whether a target's finding is not within what is asked.
    pub(crate) fn is_miss(&self) -> bool {
        self.is_target && !self.is_within()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kernel: f64, ours: f64, null: f64, rule: Rule) -> Finding {
        Finding {
            set: "e2",
            variant: "reno".to_owned(),
            flow: 0,
            cc: "reno".to_owned(),
            metric: Metric::Goodput,
            kernel: Spread::one(kernel),
            ours: Spread::one(ours),
            null,
            rule,
            is_target: true,
            has_room: true,
        }
    }

    #[test]
    fn skill_compares_with_the_null_model() {
        let near = Rule::Near(5.0);
        assert_eq!(finding(50.0, 50.0, 100.0, near).skill(), Some(1.0));
        assert_eq!(finding(50.0, 60.0, 100.0, near).skill(), Some(0.8));
        assert_eq!(finding(50.0, 0.0, 100.0, near).skill(), Some(0.0));
        assert_eq!(finding(50.0, 49.0, 50.0, near).skill(), None, "null exact");
    }

    #[test]
    fn the_bound_itself_is_within() {
        assert!(finding(50.0, 55.0, 0.0, Rule::Near(5.0)).is_within());
        assert!(finding(50.0, 55.1, 0.0, Rule::Near(5.0)).is_miss());
        let mut shown = finding(50.0, 99.0, 0.0, Rule::Near(5.0));
        shown.is_target = false;
        assert!(!shown.is_miss(), "no target rests on it");
    }

    #[test]
    fn the_kernel_must_lie_in_the_range_of_ours() {
        let mut finding = finding(9.6, 5.0, 0.0, Rule::Inside);
        assert!(finding.is_miss(), "one value has no range");
        let ours: Vec<f64> = (0..=10).map(f64::from).collect();
        finding.ours = Spread::of(&ours).unwrap();
        assert!(finding.is_miss(), "above the 95th percentile, 9.5");
        finding.kernel = Spread::one(9.5);
        assert!(finding.is_within());
    }

    #[test]
    fn few_retransmissions_may_differ_by_twenty() {
        assert_eq!(Metric::Retransmissions.allowed(10.0), 20.0);
        assert_eq!(Metric::Retransmissions.allowed(1000.0), 250.0);
    }

    #[test]
    fn a_spread_has_students_interval() {
        let spread = Spread::of(&[1.0, 2.0, 3.0]).unwrap();
        // t(2, 97.5 %) = 4.303, s = 1.
        assert!((spread.half_ci.unwrap() - 4.303 / 3.0_f64.sqrt()).abs() < 1e-3);
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[4.0]).unwrap().range, None);
    }

    #[test]
    fn alike_is_the_share_of_pairs_that_would_pass() {
        let values = [100.0, 104.0, 200.0];
        let spread = Spread::of(&values).unwrap();
        let alike = spread.with_alike(&values, Metric::Goodput).alike;
        assert_eq!(alike, Some(2.0 / 6.0), "only the first two, both ways");
    }
}
