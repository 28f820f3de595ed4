//! Thinning a long series so that its picture stays and its bytes do not.
//!
//! The points are cut into equal runs and of each run the lowest and the highest are kept, in their
//! order, besides the very first and the very last. No peak or dip is lost, and the envelope of a
//! plot with fewer columns of pixels than runs is exact. Averages would hide what a congestion
//! window is looked at for.

/// The positions of at most `limit` (at least four) of `ys` that keep the picture, ascending.
/// Values that are no numbers are skipped where anything is thinned.
pub fn min_max(ys: &[f64], limit: usize) -> Vec<usize> {
    let limit = limit.max(4);
    if ys.len() <= limit {
        return (0..ys.len()).collect();
    }
    let runs = (limit - 2) / 2;
    let mut kept = Vec::with_capacity(limit);
    kept.push(0);
    for run in 0..runs {
        let (from, to) = (run * ys.len() / runs, (run + 1) * ys.len() / runs);
        let inside = || (from..to).filter(|&i| ys[i].is_finite());
        let low = inside().min_by(|&a, &b| ys[a].total_cmp(&ys[b]));
        let high = inside().max_by(|&a, &b| ys[a].total_cmp(&ys[b]));
        kept.extend(low.into_iter().chain(high));
    }
    kept.push(ys.len() - 1);
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn extremes_and_ends_survive(
            ys in proptest::collection::vec(-1e6..1e6_f64, 1..2000), limit in 4_usize..300,
        ) {
            let kept = min_max(&ys, limit);
            prop_assert!(kept.len() <= limit);
            prop_assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!((kept[0], kept[kept.len() - 1]), (0, ys.len() - 1));
            let extremes = |ys: &mut dyn Iterator<Item = f64>| {
                ys.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)))
            };
            let want = extremes(&mut ys.iter().copied());
            prop_assert_eq!(extremes(&mut kept.iter().map(|&i| ys[i])), want);
        }
    }

    #[test]
    fn a_short_series_is_left_alone() {
        assert_eq!(min_max(&[1.0, f64::NAN, 3.0], 100), [0, 1, 2]);
    }
}
