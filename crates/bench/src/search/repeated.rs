//! What several searches say together: each is made for itself, and how they differ tells what one
//! alone is worth.
//!
//! | the searches | together |
//! | --- | --- |
//! | most of them end at the tester's limit | the highest load that one found to pass; limited by the tester |
//! | the others differ by more than their widths explain | the one in the middle; unsteady |
//! | else | the one in the middle of those that the tester did not limit |
//!
//! A search says that the throughput is between two ends that are its width apart, and the final
//! trial may add as much, so that the lower ends of two searches of a steady device differ by no
//! more than `WIDTHS` widths.

use super::{Found, Verdict};

/// How many widths the searches of a steady device may differ by.
const WIDTHS: f64 = 3.0;

/// `searches`, of which each found an interval of `width`, as one; none where there are none.
pub fn together(searches: &[Found], width: f64) -> Option<Found> {
    let each: Vec<Option<f64>> = searches.iter().map(|found| found.lower).collect();
    let is_limited = |found: &&Found| found.verdict == Verdict::Tester;
    let limited = searches.iter().filter(is_limited).count();
    let by_tester = 2 * limited > searches.len();
    let is_ranked = |found: &&Found| by_tester || !is_limited(found);
    let mut ranked: Vec<&Found> = searches.iter().filter(is_ranked).collect();
    ranked.sort_by(|a, b| a.lower.unwrap_or(0.0).total_cmp(&b.lower.unwrap_or(0.0)));
    let (lowest, highest) = (*ranked.first()?, *ranked.last()?);
    let chosen = if by_tester {
        highest
    } else {
        ranked[(ranked.len() - 1) / 2]
    };
    // What passed passed, whatever the tester's limit was in that search.
    let passed = searches.iter().filter_map(|found| found.lower);
    let most = passed.fold(highest.lower.unwrap_or(0.0), f64::max);
    let low = lowest.lower.unwrap_or(0.0);
    let is_steady = most - low <= WIDTHS * width * most;
    let verdict = match chosen.verdict {
        _ if by_tester => Verdict::Tester,
        _ if !is_steady => Verdict::Unsteady,
        verdict => verdict,
    };
    let (lower, upper) = (chosen.lower, chosen.upper);
    let trials = searches
        .iter()
        .flat_map(|found| found.trials.iter().cloned());
    Some(Found {
        verdict,
        lower,
        upper,
        trials: trials.collect(),
        each,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(verdict: Verdict, lower: f64) -> Found {
        Found {
            verdict,
            lower: Some(lower),
            upper: Some(lower * 1.005),
            each: vec![Some(lower)],
            trials: Vec::new(),
        }
    }

    fn of(searches: &[(Verdict, f64)]) -> (Verdict, f64) {
        let searches = searches
            .iter()
            .map(|(verdict, lower)| found(*verdict, *lower));
        let one = together(&searches.collect::<Vec<_>>(), 0.005).expect("there are some");
        (one.verdict, one.lower.expect("each has one"))
    }

    #[test]
    fn searches_that_agree_are_the_one_in_the_middle() {
        use Verdict::{Between, PassedAtMost, Tester, Unsteady};
        assert_eq!(
            of(&[(Between, 100.0), (Between, 99.6), (Between, 100.3)]),
            (Between, 100.0)
        );
        assert_eq!(of(&[(PassedAtMost, 100.0); 3]), (PassedAtMost, 100.0));
        assert_eq!(of(&[(Between, 100.0)]), (Between, 100.0));
        // One that the tester limited takes no part, as far as it does not say more.
        assert_eq!(
            of(&[(Between, 100.0), (Tester, 20.0), (Between, 100.1)]),
            (Between, 100.0)
        );
        assert_eq!(
            of(&[(Between, 100.0), (Tester, 150.0), (Between, 100.1)]).0,
            Unsteady
        );
        assert_eq!(
            of(&[(Tester, 30.0), (Tester, 20.0), (Between, 100.0)]).0,
            Tester
        );
    }

    #[test]
    fn searches_that_contradict_each_other_are_no_throughput() {
        use Verdict::{Between, FailedAtLeast, Unsteady};
        assert_eq!(
            of(&[(Between, 40.0), (Between, 78.0), (Between, 91.0)]).0,
            Unsteady
        );
        assert_eq!(
            of(&[(FailedAtLeast, 0.0), (Between, 78.0), (Between, 78.0)]).0,
            Unsteady
        );
        assert!(together(&[], 0.005).is_none());
    }
}
