//! Entries of the TLB and cycles of a walk, from loads over more and more pages.
//!
//! What a load costs at a random one of n pages, above a load at a random one of n lines side by
//! side, is what translation costs: a part that is there as soon as the first level is too small,
//! and a walk for each access that the second level does not know, `1 − entries/n` of them. The
//! entries are searched among sizes that are built.

use crate::fit;

/// Entries of second-level TLBs, from small cores to large ones.
const BUILT: &[f64] = &[
    256.0, 512.0, 768.0, 1024.0, 1280.0, 1536.0, 2048.0, 3072.0, 4096.0, 6144.0, 8192.0,
];
/// Added before fitting, so that relative errors of hardly anything are hardly anything.
const FLOOR: f64 = 5.0;

/// What a fit gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Translation {
    /// Pages that the second level knows.
    pub entries: f64,
    /// Cycles of a walk.
    pub walk: f64,
    /// Cycles that the second level itself takes.
    pub second_level: f64,
    /// The root of the mean squared relative error.
    pub residual: f64,
}

/// The translation that agrees best with `seen`, each the pages and the cycles above those of as
/// many lines.
///
/// `None` where walks cost nothing that could be seen.
pub fn fit(seen: &[(f64, f64)]) -> Option<Translation> {
    let of = |entries: f64| {
        let row = |(pages, cycles): &(f64, f64)| {
            let walks = (1.0 - entries / pages).max(0.0);
            (vec![1.0, walks], cycles.max(0.0) + FLOOR)
        };
        let rows: Vec<_> = seen.iter().map(row).collect();
        let found = fit::fit(&rows)?;
        Some(Translation {
            entries,
            walk: found.constants[1],
            second_level: (found.constants[0] - FLOOR).max(0.0),
            residual: found.residual,
        })
    };
    let most = seen.iter().map(|(pages, _)| *pages).fold(0.0, f64::max);
    BUILT
        .iter()
        .filter(|entries| **entries < most)
        .filter_map(|entries| of(*entries))
        .filter(|found| found.walk > 1.0)
        .min_by(|a, b| a.residual.total_cmp(&b.residual))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    #[test]
    fn entries_and_walk_are_found_from_noisy_loads() {
        let mut rng = Rng::new(1, "pages");
        for (entries, walk) in [(1536.0, 25.0), (2048.0, 40.0), (4096.0, 60.0)] {
            let seen: Vec<(f64, f64)> = (9..16)
                .flat_map(|power| [1.0, 1.5].map(|half| half * f64::exp2(f64::from(power))))
                .map(|pages| {
                    let cycles = 7.0 + walk * (1.0 - entries / pages).max(0.0);
                    (pages, cycles * (0.98 + 0.04 * rng.unit()))
                })
                .collect();
            let found = fit(&seen).unwrap();
            assert_eq!(found.entries, entries, "{found:?}, seed 1");
            assert!((found.walk / walk - 1.0).abs() < 0.1, "{found:?}, seed 1");
            assert!((found.second_level - 7.0).abs() < 1.0, "{found:?}, seed 1");
        }
    }

    #[test]
    fn where_pages_cost_nothing_nothing_is_found() {
        let seen: Vec<(f64, f64)> = [512.0, 1024.0, 4096.0].map(|pages| (pages, 0.0)).into();
        assert_eq!(fit(&seen), None);
        assert_eq!(fit(&[]), None);
    }
}
