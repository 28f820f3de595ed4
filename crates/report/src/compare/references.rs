//! Which column of the first run each column is compared with.
//!
//! A system is compared with the same system of the first run, under the same label if it has it
//! there: a device by two engines has two columns. What the first run does not have is compared
//! with that run's first column.

use super::align::Aligned;
use super::sides::Side;
use trammel_core::label::Label;

/// The places of the sides that stand in the comparison of `engine`: a system has numbers of one
/// engine only, a run stands in all comparisons.
pub(super) fn shown(sides: &[Side], rows: &[Aligned], engine: &str) -> Vec<usize> {
    let has_number = |at: &usize| {
        let mut of_engine = rows.iter().filter(|(key, _)| key[0] == engine);
        sides[*at].label.is_none() || of_engine.any(|(_, values)| values[*at].is_some())
    };
    (0..sides.len()).filter(has_number).collect()
}

/// The place of what the side at `at` is compared with, among those `shown`; itself where others
/// are compared with it, nothing where the first run has no number.
pub(super) fn reference(sides: &[Side], shown: &[usize], at: usize) -> Option<usize> {
    let side = &sides[at];
    let mut of_first = shown.iter().copied().filter(|at| sides[*at].run == Some(0));
    let first = of_first.clone().next();
    if side.label == Some(Label::Published) {
        return first;
    }
    if side.run == Some(0) {
        let later = shown.iter().filter(|other| sides[**other].run > Some(0));
        let mut later = later.map(|other| reference(sides, shown, *other));
        return if later.any(|other| other == Some(at)) {
            Some(at)
        } else {
            first
        };
    }
    let same = of_first.clone().find(|at| {
        let other = &sides[*at];
        (&other.system, other.label) == (&side.system, side.label)
    });
    same.or_else(|| of_first.find(|at| sides[*at].system == side.system))
        .or(first)
}

/// Two sides of different runs that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The place of the first run's.
    pub(super) reference: usize,
    /// The place of the other.
    pub(super) side: usize,
    /// Whether the other's run lacks the system, so that none of its numbers is meant.
    pub(super) is_lacking: bool,
}

impl Pair {
    /// Those of `engine`. Columns of one run are not compared with each other.
    pub(super) fn all(sides: &[Side], rows: &[Aligned], engine: &str) -> Vec<Pair> {
        let shown = shown(sides, rows, engine);
        let pair = |&side: &usize| {
            let reference = reference(sides, &shown, side)?;
            (sides[reference].run != sides[side].run).then_some(Pair {
                reference,
                side,
                is_lacking: false,
            })
        };
        let mut pairs: Vec<Pair> = shown.iter().filter_map(pair).collect();
        let systems = shown.iter().copied();
        let systems =
            systems.filter(|at| sides[*at].run == Some(0) && !sides[*at].system.is_empty());
        let runs = sides.iter().filter_map(|side| side.run).max().unwrap_or(0);
        for reference in systems {
            for run in 1..=runs {
                let is_of = |side: usize| sides[side].run == Some(run);
                let has_it = pairs
                    .iter()
                    .any(|pair| pair.reference == reference && is_of(pair.side));
                let side = (0..sides.len()).find(|side| is_of(*side));
                if let Some(side) = side.filter(|_| !has_it) {
                    pairs.push(Pair {
                        reference,
                        side,
                        is_lacking: true,
                    });
                }
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_compared_with_itself_and_a_new_one_with_the_first() {
        let side = |run, system: &str, label| Side {
            run,
            system: system.to_owned(),
            name: system.to_owned(),
            title: system.to_owned(),
            label: Some(label),
        };
        let all = [
            side(Some(0), "a", Label::Measured),
            side(Some(0), "b", Label::Measured),
            side(Some(0), "c", Label::Measured),
            side(Some(1), "b", Label::Measured),
            side(Some(1), "d", Label::Measured),
            side(None, "p", Label::Published),
        ];
        let shown: Vec<usize> = (0..all.len()).collect();
        let references = shown.iter().map(|at| reference(&all, &shown, *at));
        let wanted = [0, 1, 0, 1, 0, 0].map(Some);
        assert_eq!(references.collect::<Vec<_>>(), wanted);
    }
}
