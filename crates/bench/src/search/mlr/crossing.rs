//! Where the loss crosses a goal, guessed from the trials so far.
//!
//! Over a short range of loads the logarithm of the loss is about a straight line. The line of
//! greatest likelihood is taken, where the number of lost frames is Poisson's: so trials without
//! loss count too, by as many frames as they had. It leads to the load at which a trial of the
//! goal's length passes as often as not: where the loss is the goal's, or, for a goal of none,
//! where ln 2 frames are lost in the mean. A guess only says what to try next; what is a bound, the
//! trials say.

use super::goal::Goal;
use super::record::{Measured, Record};
use std::f64::consts::LN_2;

/// A loss above says that the device is overloaded, not how far.
const OVERLOAD: f64 = 0.5;
/// No line is straight enough for more lost frames than these to say more of it.
const MOST_LOST: f64 = 5.0;
/// What is so far from where the line is wanted counts half: in e-folds from the loss sought, and
/// in hundredths from the lowest load with loss.
const NEAR_LOSS: f64 = 2.0;
const NEAR_LOAD: f64 = 10.0;
/// By how much the logarithm of a loss may change in one iteration, and how many there are.
const STEP: f64 = 2.0;
const ITERATIONS: u32 = 200;

/// What was seen at one load.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// From the lowest load with loss, in hundredths of it.
    at: f64,
    /// Frames that were offered and that were lost, weighed.
    frames: f64,
    lost: f64,
}

/// The load of even chances for a trial of the goal's length, frames a second; none where less than
/// two losses tell.
pub(super) fn crossing(goal: &Goal, record: &Record) -> Option<f64> {
    let losses = |m: &&Measured| (f64::MIN_POSITIVE..=OVERLOAD).contains(&m.loss_ratio());
    let mut lossy = record.loads().filter(losses);
    let (first, second) = (lossy.next()?, lossy.next()?);
    let hundredth = first.load / 100.0;
    let last = lossy.last().unwrap_or(second);
    let even_chance = LN_2 / (first.load * goal.final_duration.as_secs_f64());
    let sought = goal.loss_ratio.max(even_chance).ln();
    let seen: Vec<Seen> = record
        .loads()
        .filter(|m| m.loss_ratio() <= OVERLOAD)
        .map(|m| {
            let frames = m.load * m.seconds();
            let lost = m.loss_ratio() * frames;
            let at = (m.load - first.load) / hundredth;
            let away = (lost.max(LN_2) / frames).ln() - sought;
            let nearness = (1.0 + (away / NEAR_LOSS).powi(2)) * (1.0 + (at / NEAR_LOAD).powi(2));
            let weight = (MOST_LOST / lost).min(1.0) / nearness;
            Seen {
                at,
                frames: frames * weight,
                lost: lost * weight,
            }
        })
        .collect();
    let rise = (last.loss_ratio() / first.loss_ratio()).ln();
    let start = (
        first.loss_ratio().ln(),
        rise / ((last.load - first.load) / hundredth),
    );
    let (level, slope) = fit(&seen, start);
    let away = (sought - level) / slope;
    (slope > 0.0 && away.is_finite()).then_some(first.load + away * hundredth)
}

/// The line (level, slope) of greatest likelihood, by Newton's method: the likelihood is concave.
fn fit(seen: &[Seen], start: (f64, f64)) -> (f64, f64) {
    let (mut level, mut slope) = start;
    for _ in 0..ITERATIONS {
        let (mut gradient, mut curvature) = ([0.0; 2], [1e-9, 0.0, 1e-9]);
        let mut farthest = 0.0_f64;
        for Seen { at, frames, lost } in seen {
            // From there on the line says no more than that.
            let line = level + slope * at;
            if line > OVERLOAD.ln() {
                continue;
            }
            let expected = frames * line.exp();
            farthest = farthest.max(at.abs());
            let excess = lost - expected;
            gradient = [gradient[0] + excess, gradient[1] + excess * at];
            curvature = [
                curvature[0] + expected,
                curvature[1] + expected * at,
                curvature[2] + expected * at * at,
            ];
        }
        let determinant = curvature[0] * curvature[2] - curvature[1] * curvature[1];
        let change = (
            (curvature[2] * gradient[0] - curvature[1] * gradient[1]) / determinant,
            (curvature[0] * gradient[1] - curvature[1] * gradient[0]) / determinant,
        );
        let most = change.0.abs() + change.1.abs() * farthest;
        let share = (STEP / most).min(1.0);
        if !share.is_finite() {
            break;
        }
        (level, slope) = (level + share * change.0, slope + share * change.1);
        if most < 1e-3 {
            break;
        }
    }
    (level, slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::mlr::classify::TrialResult;
    use trammel_core::Span;

    /// Trials of a second at each load, with the loss that it has.
    fn record(trials: &[(f64, f64)]) -> Record {
        let mut record = Record::default();
        for (load, loss_ratio) in trials {
            let trial = TrialResult {
                duration: Span::from_secs(1),
                loss_ratio: *loss_ratio,
            };
            record.add(*load, trial);
        }
        record
    }

    /// An e-fold in each 1,000 frames/s, half a percent at 500,000.
    fn loss(load: f64) -> f64 {
        0.005 * ((load - 5e5) / 1e3).exp()
    }

    #[test]
    fn a_straight_line_is_followed_to_either_goal() {
        let loads = [496e3, 498e3, 501e3, 503e3];
        let record = record(&loads.map(|load| (load, loss(load))));
        let pdr = crossing(&Goal::pdr(Span::from_secs(60)), &record).unwrap();
        assert!((pdr - 5e5).abs() < 100.0, "{pdr}");
        // ln 2 of 30 million frames, twelve e-folds below.
        let ndr = crossing(&Goal::ndr(Span::from_secs(60)), &record).unwrap();
        assert!((loss(ndr) * ndr * 60.0 / LN_2).ln().abs() < 0.1, "{ndr}");
    }

    #[test]
    fn loads_without_loss_bend_the_line_to_them() {
        let lossy = [(5e5, 0.01), (5.05e5, 0.02), (5.1e5, 0.03)];
        let without = crossing(&Goal::rfc2544(), &record(&lossy)).unwrap();
        let all = [&[(4.9e5, 0.0)], &lossy[..]].concat();
        let with = crossing(&Goal::rfc2544(), &record(&all)).unwrap();
        assert!(
            without < 4.2e5 && (4.6e5..5e5).contains(&with),
            "{without} {with}"
        );
    }

    #[test]
    fn one_loss_and_overloads_tell_nothing() {
        for trials in [
            &[][..],
            &[(4e5, 0.0), (5e5, 0.01)],
            &[(5e5, 0.01), (9e5, 0.6)],
        ] {
            assert_eq!(crossing(&Goal::rfc2544(), &record(trials)), None);
        }
        // Nor does loss that falls as the load rises.
        let falling = record(&[(5e5, 0.02), (6e5, 0.01)]);
        assert_eq!(crossing(&Goal::rfc2544(), &falling), None);
    }
}
