//! What the trials at one load say for one goal: RFC 9971, appendices A and B.
//!
//! A trial is *high-loss* where it lost more than the goal allows and *full-length* where it lasted
//! the goal's final duration. Short high-loss trials count against the load as far as short
//! low-loss trials do not balance them; short low-loss trials alone never make a lower bound. What
//! is missing to the goal's duration sum is taken once for low-loss and once for high-loss: where
//! both ways lead to one answer, that is the answer.
//!
//! Times are whole picoseconds, and so are the products with the exceed ratio: sums that are equal
//! on paper are.

use super::goal::Goal;
use trammel_core::time::Span;

/// What the classification needs of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialResult {
    /// Trial Effective Duration, which is the intended one: a trial that took another is not valid.
    pub duration: Span,
    /// The share of frames that was lost.
    pub loss_ratio: f64,
}

/// What a load is to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Whatever is yet measured, up to the goal's duration sum, upholds the goal.
    Lower,
    /// Whatever is yet measured fails it.
    Upper,
    /// Not enough was measured.
    Undecided,
}

/// The sums of the four kinds of trials.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    full_low: Span,
    full_high: Span,
    short_low: Span,
    short_high: Span,
}

impl Sums {
    fn of(goal: &Goal, trials: &[TrialResult]) -> Sums {
        let mut sums = Sums::default();
        for trial in trials {
            let is_full = trial.duration >= goal.final_duration;
            let is_high = trial.loss_ratio > goal.loss_ratio;
            let sum = match (is_full, is_high) {
                (true, false) => &mut sums.full_low,
                (true, true) => &mut sums.full_high,
                (false, false) => &mut sums.short_low,
                (false, true) => &mut sums.short_high,
            };
            *sum = sum.saturating_add(trial.duration);
        }
        sums
    }
}

fn times(time: Span, factor: f64) -> Span {
    Span::from_ps((time.as_ps() as f64 * factor).round() as u64)
}

/// What the trials at a load make of it (appendix A).
pub fn classify(goal: &Goal, trials: &[TrialResult]) -> Class {
    let sums = Sums::of(goal, trials);
    let balancing = times(
        sums.short_low,
        goal.exceed_ratio / (1.0 - goal.exceed_ratio),
    );
    let excess = sums.short_high.saturating_sub(balancing);
    let high = sums.full_high.saturating_add(excess);
    let whole = goal.duration_sum.max(sums.full_low.saturating_add(high));
    let tolerated = times(whole, goal.exceed_ratio);
    let high_at_worst = whole - sums.full_low;
    match (high <= tolerated, high_at_worst <= tolerated) {
        (true, true) => Class::Lower,
        (false, false) => Class::Upper,
        _ => Class::Undecided,
    }
}

/// The forwarding rate that is typical of a lower bound, frames a second (appendix B): that of the
/// trial at the quantile of the exceed ratio, full-length trials ordered by their loss and weighed
/// by their length. What was not measured of the duration sum counts as lost; 0 where no trial is
/// full-length.
pub(crate) fn conditional_throughput(goal: &Goal, load: f64, trials: &[TrialResult]) -> f64 {
    let mut full: Vec<&TrialResult> = trials
        .iter()
        .filter(|t| t.duration >= goal.final_duration)
        .collect();
    full.sort_by(|a, b| a.loss_ratio.total_cmp(&b.loss_ratio));
    let measured: Span = full.iter().map(|trial| trial.duration).sum();
    let mut remaining = times(measured.max(goal.duration_sum), 1.0 - goal.exceed_ratio);
    for trial in full {
        remaining = remaining.saturating_sub(trial.duration);
        if remaining == Span::ZERO {
            return load * (1.0 - trial.loss_ratio);
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Final duration and duration sum in seconds, loss and exceed ratio.
    fn goal(final_s: f64, sum_s: f64, loss_ratio: f64, exceed_ratio: f64) -> Goal {
        Goal {
            loss_ratio,
            exceed_ratio,
            final_duration: Span::from_secs_f64(final_s),
            duration_sum: Span::from_secs_f64(sum_s),
            ..Goal::rfc2544()
        }
    }

    /// So many trials alike.
    fn trials(count: usize, seconds: u64, loss_ratio: f64) -> Vec<TrialResult> {
        let trial = TrialResult {
            duration: Span::from_secs(seconds),
            loss_ratio,
        };
        vec![trial; count]
    }

    /// The goals of appendix C, in its order.
    fn example_goals() -> [Goal; 4] {
        [
            goal(60.0, 60.0, 0.0, 0.0),
            goal(60.0, 120.0, 0.0, 0.5),
            goal(1.0, 120.0, 0.005, 0.5),
            goal(60.0, 60.0, 0.005, 0.2),
        ]
    }

    /// What appendix C adds at each of its points, and its row "Classification Result".
    fn example_points() -> [(Vec<TrialResult>, [Class; 4]); 6] {
        use Class::{Lower, Undecided, Upper};
        [
            (trials(59, 1, 0.0), [Undecided; 4]),
            (trials(1, 1, 0.01), [Upper, Undecided, Undecided, Undecided]),
            (trials(59, 1, 0.01), [Upper, Undecided, Undecided, Upper]),
            (trials(1, 1, 0.0), [Upper, Undecided, Lower, Upper]),
            (trials(1, 60, 0.001), [Upper, Undecided, Lower, Lower]),
            (trials(1, 60, 0.0), [Upper, Lower, Lower, Lower]),
        ]
    }

    #[test]
    fn the_presets_are_the_goals_of_the_example() {
        let [first, second, ..] = example_goals();
        assert_eq!((first, second), (Goal::rfc2544(), Goal::tst009()));
    }

    #[test]
    fn the_example_search_is_classified_as_printed_but_for_two_cells_that_contradict_appendix_a() {
        // The goal "20% exceed" has an exceed ratio of 42.857 % at point 5 and of 27.273 % at point
        // 6, by the same tables, both above its 20 %; printed is "Lower Bound".
        let differs = [(4, 3), (5, 3)];
        let mut so_far = Vec::new();
        for (point, (added, printed)) in example_points().into_iter().enumerate() {
            so_far.extend(added);
            for (column, goal) in example_goals().iter().enumerate() {
                let is_wrong = differs.contains(&(point, column));
                let expected = if is_wrong {
                    Class::Upper
                } else {
                    printed[column]
                };
                let class = classify(goal, &so_far);
                assert_eq!(class, expected, "point {}, goal {}", point + 1, column + 1);
                assert_eq!(class != printed[column], is_wrong);
            }
        }
        // C.4, of goals 2 to 4.
        let rates = example_goals().map(|goal| conditional_throughput(&goal, 1e6, &so_far));
        assert_eq!(rates[1..], [1e6, 1e6, 999_000.0]);
    }

    #[test]
    fn random_cases_agree_with_another_implementation() {
        let mut seen = [0; 3];
        let rows = include_str!("vectors.csv").lines();
        for row in rows.filter(|row| !row.starts_with(['#', 'f'])) {
            let cells: Vec<&str> = row.split(',').collect();
            let number = |text: &str| text.parse::<f64>().unwrap();
            let [final_s, sum_s, loss, exceed] = [0, 1, 2, 3].map(|at| number(cells[at]));
            let goal = goal(final_s, sum_s, loss, exceed);
            let trials: Vec<TrialResult> = cells[4]
                .split_whitespace()
                .map(|trial| {
                    let (seconds, loss) = trial.split_once(':').unwrap();
                    TrialResult {
                        duration: Span::from_secs_f64(number(seconds)),
                        loss_ratio: number(loss),
                    }
                })
                .collect();
            let class = classify(&goal, &trials);
            let names = ["lower", "upper", "undecided"];
            let at = [Class::Lower, Class::Upper, Class::Undecided]
                .iter()
                .position(|c| *c == class)
                .unwrap();
            assert_eq!(names[at], cells[5], "{row}");
            seen[at] += 1;
            if class == Class::Lower {
                let rate = conditional_throughput(&goal, 1e6, &trials);
                assert!((rate - number(cells[6])).abs() < 1e-3, "{rate}: {row}");
            }
        }
        assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
    }

    #[test]
    fn nothing_measured_is_undecided_and_forwards_nothing() {
        for goal in example_goals() {
            assert_eq!(classify(&goal, &[]), Class::Undecided);
            assert_eq!(conditional_throughput(&goal, 1e6, &[]), 0.0);
        }
    }
}
