//! Simulated devices whose law of loss is known, to judge searches by.
//!
//! Each frame of a trial is lost with a probability that depends on the load alone, so the lost
//! frames of a trial are drawn from a binomial law. What makes devices hard is added: two states of
//! which each trial gets one, and bursts of loss at any load.

use rand_distr::Distribution as _;
use trammel_bench::trial::{Failure, Load, TrialOutcome};
use trammel_core::rng::Rng;

/// Frames of 64 bytes on a line of 1 Gbit/s: 10⁹ / (84 · 8).
pub(crate) const LINE_FPS: f64 = 1e9 / 672.0;

/// A family of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// The share of lost frames is a logistic curve of the load, up to all of them.
    Logistic,
    /// What is above the capacity is lost; the slope of the loss, in frames, is a logistic curve.
    Capacity,
    /// Logistic, and in up to half of the trials the device is slower by up to 30 %.
    Bistable,
    /// Logistic, and at any load up to a thousand frames are lost together every 2 to 100 minutes.
    RarelyLosing,
}

impl Family {
    pub(crate) const ALL: [Family; 4] = [
        Family::Logistic,
        Family::Capacity,
        Family::Bistable,
        Family::RarelyLosing,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Logistic => "logistic",
            Family::Capacity => "capacity",
            Family::Bistable => "bistable",
            Family::RarelyLosing => "rarely losing",
        }
    }
}

/// A law of loss.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    family: Family,
    /// Where half of the frames are lost, or the capacity; frames a second.
    middle: f64,
    /// The scale of the logistic curve, frames a second.
    scale: f64,
    /// The probability of the slow state, and its speed to that of the other.
    slow: (f64, f64),
    /// Bursts a second, and frames of each.
    bursts: (f64, f64),
}

/// A curve goes from 10 % to 90 % over so many scales.
const SCALES_OF_WIDTH: f64 = 4.394_449_154_672_439;

impl Law {
    /// The device of a family by its number. The middle is uniform from 0.1 to 0.9 of the line, the
    /// width from 10 to 90 % uniform from 0 to 5 % of it.
    pub(crate) fn new(family: Family, seed: u64, number: u32) -> Law {
        let mut rng = Rng::new(seed, &format!("law:{}:{number}", family.name()));
        let middle = (0.1 + 0.8 * rng.unit()) * LINE_FPS;
        let width = 0.05 * rng.unit() * LINE_FPS;
        let mut law = Law {
            family,
            middle,
            scale: (width / SCALES_OF_WIDTH).max(1.0),
            slow: (0.0, 1.0),
            bursts: (0.0, 0.0),
        };
        match family {
            Family::Logistic | Family::Capacity => {}
            Family::Bistable => law.slow = (0.5 * rng.unit(), 0.7 + 0.3 * rng.unit()),
            Family::RarelyLosing => {
                law.bursts = (
                    1.0 / (120.0 * 50_f64.powf(rng.unit())),
                    1000_f64.powf(rng.unit()).round(),
                );
            }
        }
        law
    }

    /// The probability that a frame is lost at a load, frames a second, by a device that has so
    /// much of its speed.
    fn loss(&self, load: f64, speed: f64) -> f64 {
        let middle = self.middle * speed;
        let scales = (load - middle) / self.scale;
        if self.family == Family::Capacity {
            let softplus = scales.max(0.0) + (-scales.abs()).exp().ln_1p();
            return (self.scale * softplus / load).min(1.0);
        }
        1.0 / (1.0 + (-scales).exp())
    }

    /// The probability that a trial loses at most the share `goal`. Exact for none; for more, the
    /// law of the number of lost frames is taken for normal.
    pub(crate) fn passes(&self, load: Load, goal: f64) -> f64 {
        let frames = load.frames().floor();
        let bursts = self.bursts.0 * load.duration().as_secs_f64();
        let in_state = |speed: f64| {
            let loss = self.loss(load.frames_per_second(), speed);
            if goal == 0.0 {
                return (frames * (-loss).ln_1p() - bursts).exp();
            }
            let mean = frames * loss + bursts * self.bursts.1;
            let variance = frames * loss * (1.0 - loss) + bursts * self.bursts.1.powi(2);
            normal_cdf(((goal * frames).floor() + 0.5 - mean) / variance.sqrt().max(1e-9))
        };
        let (is_slow, speed) = self.slow;
        is_slow * in_state(speed) + (1.0 - is_slow) * in_state(1.0)
    }
}

/// The normal distribution function, to 10⁻⁷ (Abramowitz and Stegun, 26.2.17).
fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial = [
        1.330_274_429,
        -1.821_255_978,
        1.781_477_937,
        -0.356_563_782,
        0.319_381_530,
    ];
    let sum = polynomial
        .iter()
        .fold(0.0, |sum, factor| (sum + factor) * t);
    let tail = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt() * sum;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// A trial of a device.
pub(crate) fn offer(law: &Law, rng: &mut Rng, load: Load) -> Result<TrialOutcome, Failure> {
    let offered = load.frames() as u64;
    let speed = if rng.chance(law.slow.0) {
        law.slow.1
    } else {
        1.0
    };
    let loss = law.loss(load.frames_per_second(), speed);
    let mut lost = rand_distr::Binomial::new(offered, loss)?.sample(rng);
    let bursts = law.bursts.0 * load.duration().as_secs_f64();
    if bursts > 0.0 {
        let count: f64 = rand_distr::Poisson::new(bursts)?.sample(rng);
        lost += (count * law.bursts.1) as u64;
    }
    Ok(TrialOutcome {
        offered,
        forwarded: offered.saturating_sub(lost),
        effective: load.duration(),
        bunched: 0,
        latency: None,
    })
}
