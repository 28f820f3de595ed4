//! Detection of a queue that marks as RFC 3168 has it (Briscoe and Ahmed 2021).
//!
//! An indicator moves once a round by how much the round trip varies and by how deep the queue is:
//!
//! ```text
//! c ← c + lg(v/750 µs)/2 + max(0, lg(d/2 ms)/2)
//! ```
//!
//! It is held between 0 and 33: up to 16 the queue is taken for an L4S one, above 17 for a classic
//! one, so that either takes a while to be doubted.

use super::{ALPHA_BITS, ALPHA_MAX};
use crate::cc::Tp;

/// Fraction bits of logarithms and of the indicator.
const FRACTION: u32 = 16;
/// Up to here the queue is an L4S one.
const STICKY: i64 = 16 << FRACTION;
/// From here it is a classic one, and this is the most that is remembered.
const CLASSIC: i64 = 17 << FRACTION;
const MOST: i64 = 33 << FRACTION;
/// Reference deviation and depth, µs.
const DEVIATION_US: u64 = 750;
const DEPTH_US: u64 = 2000;
/// The longest memory of a smoothed round trip: a new sample's weight is 2⁻¹⁸.
const GAIN_MOST: u32 = 18;
/// Fraction bits of the smoothed round trip and its deviation.
const SMOOTH: u32 = 24;

/// What to do about such a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fallback {
    /// Nothing.
    #[default]
    None,
    /// Yield as classic congestion controls do.
    On,
    /// Observe it.
    Detect,
}

/// The detector of one flow.
#[derive(Debug, Default)]
pub(super) struct Detector {
    fallback: Fallback,
    /// A sample's weight in the smoothed round trip is 2⁻ᵍ, in the deviation half of that.
    gain: u32,
    /// Smoothed round trip and deviation, µs × 2²⁴.
    srtt: u64,
    deviation: u64,
    indicator: i64,
}

/// The binary logarithm of a positive number with 16 bits of fraction, by repeated squaring.
fn lg(value: u64) -> i64 {
    let value = value.max(1);
    let whole = value.ilog2();
    // The mantissa from 1 to 2 with 31 bits of fraction.
    let mut mantissa = if whole > 31 {
        value >> (whole - 31)
    } else {
        value << (31 - whole)
    };
    let mut log = i64::from(whole);
    for _ in 0..FRACTION {
        mantissa = (mantissa * mantissa) >> 31;
        log <<= 1;
        if mantissa >= 1 << 32 {
            mantissa >>= 1;
            log |= 1;
        }
    }
    log
}

impl Detector {
    pub(super) fn new(fallback: Fallback) -> Detector {
        Detector {
            fallback,
            ..Detector::default()
        }
    }

    pub(super) fn start(&mut self, tp: &Tp) {
        self.gain = GAIN_MOST;
        self.srtt = u64::from(tp.srtt_us >> 3) << SMOOTH;
        self.deviation = 1 << SMOOTH;
        self.indicator = 0;
    }

    /// The memory follows the window: about its power of 3/2, in segments.
    pub(super) fn set_gain(&mut self, ssthresh: u32) {
        let log = ssthresh.max(1).ilog2();
        self.gain = (log + log / 2 + 1).min(GAIN_MOST);
    }

    /// A round trip.
    #[inline]
    pub(super) fn sample(&mut self, rtt_us: u64) {
        if self.fallback == Fallback::None {
            return;
        }
        let rtt = rtt_us << SMOOTH;
        if self.srtt == 0 {
            self.srtt = rtt;
            return;
        }
        let error = rtt.abs_diff(self.srtt);
        let towards = |from: u64, to: u64, gain: u32| {
            if to >= from {
                from + ((to - from) >> gain)
            } else {
                from - ((from - to) >> gain)
            }
        };
        self.srtt = towards(self.srtt, rtt, self.gain);
        self.deviation = towards(self.deviation, error, self.gain + 1);
    }

    /// A round has ended.
    pub(super) fn update(&mut self, tp: &Tp) {
        if self.fallback == Fallback::None || self.srtt == 0 || tp.min_rtt_us == u32::MAX {
            return;
        }
        let log_of = |scaled: u64| lg(scaled) - (i64::from(SMOOTH) << FRACTION);
        let mut moves = (log_of(self.deviation) - lg(DEVIATION_US)) / 2;
        let depth = self.srtt.saturating_sub(u64::from(tp.min_rtt_us) << SMOOTH);
        if depth > DEPTH_US << SMOOTH {
            moves += (log_of(depth) - lg(DEPTH_US)) / 2;
        }
        self.indicator = (self.indicator + moves).clamp(0, MOST);
    }

    /// `alpha`, or more where the queue is a classic one.
    pub(super) fn at_least(&self, alpha: u64) -> u64 {
        if self.fallback != Fallback::On || self.indicator <= STICKY {
            return alpha;
        }
        let above = (self.indicator.min(CLASSIC) - STICKY) as u64;
        let share = above << (ALPHA_BITS - FRACTION);
        // Five eighths: a reduction by 0.31, as CUBIC's by 0.3.
        alpha.max(share / 2 + share / 8).min(ALPHA_MAX)
    }

    pub(super) fn indicator(&self) -> f64 {
        self.indicator as f64 / f64::from(1 << FRACTION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    #[test]
    fn logarithms_are_those_of_mathematics() {
        for value in [1_u64, 2, 3, 750, 2000, 1 << 40, (1 << 50) - 1] {
            let exact = (value as f64).log2() * f64::from(1 << FRACTION);
            assert!((lg(value) as f64 - exact).abs() <= 2.0, "{value}");
        }
    }

    /// The indicator after `rounds` rounds of ten samples that alternate between two round trips.
    fn after(rounds: u32, fallback: Fallback, low_us: u64, high_us: u64) -> Detector {
        let mut tp = Tp::new(10, 1448, Rng::new(1, "classic"));
        tp.srtt_us = (low_us * 8) as u32;
        tp.min_rtt_us = low_us as u32;
        let mut detector = Detector::new(fallback);
        detector.start(&tp);
        detector.set_gain(4);
        for _ in 0..rounds {
            for _ in 0..5 {
                detector.sample(low_us);
                detector.sample(high_us);
            }
            detector.update(&tp);
        }
        detector
    }

    #[test]
    fn a_deep_and_restless_queue_is_classic_and_a_shallow_one_is_not() {
        let deep = after(100, Fallback::On, 10_000, 30_000);
        assert_eq!(deep.indicator(), 33.0);
        assert_eq!(deep.at_least(0), ALPHA_MAX / 2 + ALPHA_MAX / 8);
        assert_eq!(deep.at_least(ALPHA_MAX), ALPHA_MAX);
        let shallow = after(100, Fallback::On, 10_000, 10_500);
        assert_eq!((shallow.indicator(), shallow.at_least(7)), (0.0, 7));
    }

    #[test]
    fn detection_alone_changes_nothing() {
        let deep = after(100, Fallback::Detect, 10_000, 30_000);
        assert_eq!((deep.indicator(), deep.at_least(7)), (33.0, 7));
        assert_eq!(after(100, Fallback::None, 10_000, 30_000).indicator(), 0.0);
    }
}
