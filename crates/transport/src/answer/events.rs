//! Marks on the curve of a window: where a loss was noticed, a timer ran out, the window was cut
//! for a mark of congestion, and where the recovery from it was over.
//!
//! Samples are coarser than recoveries may be short, so a segment that was retransmitted between
//! two of them counts as a loss that was noticed by the second.

use trammel_netsim::trace::Sample;
use trammel_report::figure::{Mark, Series};
use trammel_tcp::cc::CaState;

/// What the shapes of marks say, by their number; those without words are not used.
pub(super) const SHAPES: [&str; 7] = [
    "",
    "",
    "recovered",
    "window cut for a congestion mark",
    "loss",
    "",
    "timeout",
];
const RECOVERED: usize = 2;
const MARK: usize = 3;
const LOSS: usize = 4;
const TIMEOUT: usize = 6;

/// Losses of one curve that are marked at most: of more, nobody sees which is which.
const MOST: usize = 80;
/// With more, the ends of recoveries are left out.
const MOST_ENDS: usize = 25;

/// The marks of the curve `name`; nothing where there are none, or too many.
pub(super) fn marks(name: &str, samples: &[Sample]) -> Option<Series> {
    let mut found = found(samples);
    let losses = beginnings(&found);
    if losses > MOST_ENDS {
        found.retain(|(_, shape)| *shape != RECOVERED);
    }
    if found.is_empty() || losses > MOST {
        return None;
    }
    let points = found.iter().map(|(at, _)| {
        let sample = &samples[*at];
        (sample.time.as_secs_f64(), f64::from(sample.cwnd))
    });
    let series = Series::new(name, Mark::Points, points.collect());
    let shapes = found.iter().map(|(_, shape)| *shape).collect();
    Some(series.shaped(shapes).beside())
}

/// What the shapes of `all` say; nothing of those that are not used.
pub(super) fn words(all: &[Series]) -> Vec<String> {
    let used = |shape| all.iter().any(|one| one.shapes.contains(&shape));
    if !(0..SHAPES.len()).any(used) {
        return Vec::new();
    }
    let words = SHAPES.iter().enumerate();
    let words = words.map(|(shape, words)| if used(shape) { words } else { &"" });
    words.map(ToString::to_string).collect()
}

fn beginnings(found: &[(usize, usize)]) -> usize {
    found
        .iter()
        .filter(|(_, shape)| *shape != RECOVERED)
        .count()
}

/// Whether there are more than are marked.
pub(super) fn is_crowded(samples: &[Sample]) -> bool {
    beginnings(&found(samples)) > MOST
}

/// The sample of each mark and its shape, in the order of time. What cuts the window is marked
/// where the window was before.
fn found(samples: &[Sample]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut is_recovering = false;
    let mut before = Sample::default();
    for (at, sample) in samples.iter().enumerate() {
        let has = |state: CaState| sample.state == state as u8;
        let had = |state: CaState| before.state == state as u8;
        let is_repairing = has(CaState::Recovery) || has(CaState::Loss);
        let has_repaired = sample.retransmissions > before.retransmissions;
        let peak = at.saturating_sub(usize::from(before.cwnd > sample.cwnd));
        if has(CaState::Loss) && !had(CaState::Loss) {
            found.push((peak, TIMEOUT));
            is_recovering = true;
        } else if !is_recovering && (is_repairing || has_repaired) {
            found.push((peak, LOSS));
            is_recovering = true;
        } else if is_recovering && !is_repairing && !has_repaired {
            found.push((at, RECOVERED));
            is_recovering = false;
        }
        if has(CaState::Cwr) && !had(CaState::Cwr) && !has_repaired {
            found.push((peak, MARK));
        }
        before = *sample;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(states: &[(CaState, u64)]) -> Vec<Sample> {
        let of = |(state, retransmissions): &(CaState, u64)| Sample {
            state: *state as u8,
            retransmissions: *retransmissions,
            ..Sample::default()
        };
        states.iter().map(of).collect()
    }

    #[test]
    fn a_loss_is_marked_where_it_is_noticed_and_where_it_is_repaired() {
        use CaState::{Cwr, Loss, Open, Recovery};
        let all = samples(&[
            (Open, 0),
            (Recovery, 1),
            (Recovery, 3),
            (Open, 3),
            (Loss, 4),
            (Open, 4),
            (Cwr, 4),
            (Cwr, 4),
        ]);
        let wanted = [
            (1, LOSS),
            (3, RECOVERED),
            (4, TIMEOUT),
            (5, RECOVERED),
            (6, MARK),
        ];
        assert_eq!(found(&all), wanted);
    }

    #[test]
    fn a_recovery_between_two_samples_is_a_loss_all_the_same() {
        let all = samples(&[(CaState::Open, 0), (CaState::Open, 2), (CaState::Open, 2)]);
        assert_eq!(found(&all), [(1, LOSS), (2, RECOVERED)]);
    }

    #[test]
    fn too_many_marks_are_none() {
        let all: Vec<_> = (0..400).map(|n| (CaState::Open, n / 2)).collect();
        let all = samples(&all);
        assert!(is_crowded(&all) && marks("cubic", &all).is_none());
    }
}
