//! What holds of every search, and searches of devices whose answer is known.

use super::classify::{Class, TrialResult, classify};
use super::goal::Goal;
use super::{GoalResult, Irregular, MultipleLossRatio, Output};
use crate::search::Error;
use crate::trial::{Failure, Load, Trial, TrialOutcome};
use crate::validity::Standing;
use proptest::prelude::*;
use trammel_core::rng::Rng;
use trammel_core::time::Span;

const LEAST: f64 = 1e3;
const MOST: f64 = 1e6;

/// A device that forwards so many frames of those that are offered in a trial.
fn device(
    mut forwarded: impl FnMut(Load) -> f64,
) -> impl FnMut(Load) -> Result<TrialOutcome, Failure> {
    move |load| {
        let offered = load.frames() as u64;
        Ok(TrialOutcome {
            offered,
            forwarded: (forwarded(load) as u64).min(offered),
            effective: load.duration(),
            bunched: 0,
            latency: None,
        })
    }
}

fn of_capacity(capacity: f64) -> impl FnMut(Load) -> Result<TrialOutcome, Failure> {
    device(move |load| capacity * load.duration().as_secs_f64())
}

fn search(goals: &[Goal], device: &mut dyn Trial) -> Output {
    MultipleLossRatio::new(goals.to_vec(), LEAST, MOST)
        .search(device)
        .unwrap()
}

/// NDR and PDR with final trials of ten seconds.
fn both() -> [Goal; 2] {
    [
        Goal::ndr(Span::from_secs(10)),
        Goal::pdr(Span::from_secs(10)),
    ]
}

/// The trials at a load.
fn at(output: &Output, rate: f64) -> Vec<TrialResult> {
    let trials = output
        .trials
        .iter()
        .filter(|t| t.load.frames_per_second() == rate && t.standing == Standing::Valid);
    trials
        .map(|t| TrialResult {
            duration: t.load.duration(),
            loss_ratio: t.outcome.loss_ratio(),
        })
        .collect()
}

/// What holds of a result, whatever the device.
fn holds(output: &Output, result: &GoalResult) -> Result<(), TestCaseError> {
    let goal = &result.goal;
    let rates = output.trials.iter().map(|t| t.load.frames_per_second());
    for rate in rates {
        prop_assert!((LEAST..=MOST).contains(&rate), "{}", rate);
        // The upper bound is the smallest, and no lower bound lies between the two.
        match classify(goal, &at(output, rate)) {
            Class::Upper => prop_assert!(result.upper.is_some_and(|upper| upper <= rate)),
            Class::Lower => prop_assert!(
                result.lower.is_some_and(|l| rate <= l) || result.upper.is_some_and(|u| u < rate)
            ),
            Class::Undecided => {}
        }
    }
    if let Some(upper) = result.upper {
        prop_assert_eq!(classify(goal, &at(output, upper)), Class::Upper);
    }
    if let Some(lower) = result.lower {
        prop_assert_eq!(classify(goal, &at(output, lower)), Class::Lower);
        let throughput = result.conditional_throughput.unwrap();
        prop_assert!(lower * (1.0 - goal.loss_ratio) <= throughput && throughput <= lower);
    }
    match (result.irregular, result.lower, result.upper) {
        (None, Some(lower), Some(upper)) => {
            prop_assert!(lower < upper && upper - lower <= goal.width * upper * (1.0 + 1e-6));
        }
        (Some(Irregular::FailedAtLeast), None, Some(upper)) => prop_assert_eq!(upper, LEAST),
        (Some(Irregular::PassedAtMost), Some(lower), None) => prop_assert_eq!(lower, MOST),
        (Some(Irregular::GaveUp), ..) => prop_assert!(output.trials.len() >= 1000),
        (Some(Irregular::Tester), ..) => prop_assert!(
            output
                .trials
                .iter()
                .any(|t| t.standing == Standing::FellShort)
        ),
        other => prop_assert!(false, "{:?}", other),
    }
    Ok(())
}

fn all_hold(output: &Output, goals: &[Goal]) -> Result<(), TestCaseError> {
    prop_assert!(
        output
            .results
            .iter()
            .map(|r| r.goal)
            .eq(goals.iter().copied())
    );
    prop_assert!(output.trials.len() <= 1000 + 2);
    output
        .results
        .iter()
        .try_for_each(|result| holds(output, result))
}

fn any_goal() -> impl Strategy<Value = Goal> {
    (
        0.0..0.1_f64,
        prop::sample::select(vec![0.0, 0.2, 0.5, 0.75]),
        1..20_u64,
        1..40_u64,
        1..4_u64,
        0.002..0.1_f64,
    )
        .prop_map(|(loss, exceed_ratio, last, sum, parts, width)| Goal {
            // Half of the goals are of none.
            loss_ratio: (loss - 0.05).max(0.0),
            exceed_ratio,
            final_duration: Span::from_secs(last),
            duration_sum: Span::from_secs(sum),
            initial_duration: Some(Span::from_secs(last) / parts),
            width,
        })
}

proptest! {
    #[test]
    fn capacities_are_found_to_the_width(capacity in 2e3..9e5_f64, width in 0.001..0.1_f64) {
        let [ndr, pdr] = both().map(|goal| Goal { width, ..goal });
        let one_of_two = Goal { exceed_ratio: 0.5, duration_sum: Span::from_secs(20), ..ndr };
        let goals = [ndr, pdr, one_of_two];
        let output = search(&goals, &mut of_capacity(capacity));
        prop_assert!(output.trials.len() <= 150, "{}", output.trials.len());
        all_hold(&output, &goals)?;
        for result in &output.results {
            let bears = capacity / (1.0 - result.goal.loss_ratio);
            prop_assert_eq!(result.irregular, None);
            // Frames are whole.
            prop_assert!(
                result.lower.unwrap() <= bears + 1.0 && bears - 1.0 <= result.upper.unwrap()
            );
        }
    }

    #[test]
    fn any_goals_are_found_of_whatever_device(
        goals in prop::collection::vec(any_goal(), 1..4),
        capacity in 1e2..2e6_f64,
        noise in 0.0..1.0_f64,
        seed: u64,
    ) {
        let mut rng = Rng::new(seed, "noise");
        let mut noisy = device(|load| {
            capacity * load.duration().as_secs_f64() * (1.0 - noise * rng.unit().powi(8))
        });
        all_hold(&search(&goals, &mut noisy), &goals)?;
        // It bears some loads and not others, in no order.
        let mut rng = Rng::new(seed, "whims");
        let mut whimsical = device(|load| {
            load.frames() * if rng.chance(noise) { 1.0 } else { rng.unit() }
        });
        all_hold(&search(&goals, &mut whimsical), &goals)?;
    }

    #[test]
    fn a_tester_at_its_limit_is_told_from_the_device(
        tester in 2e3..9e5_f64, capacity in 2e3..2e6_f64
    ) {
        let mut device = of_capacity(capacity);
        let mut limited = |load: Load| {
            let within = Load::new(load.frames_per_second().min(tester), load.duration()).unwrap();
            device(within)
        };
        let goals = both();
        let output = search(&goals, &mut limited);
        all_hold(&output, &goals)?;
        for result in &output.results {
            let bears = capacity / (1.0 - result.goal.loss_ratio);
            let found = result.lower.unwrap() / bears.min(tester);
            prop_assert!((0.99..1.003).contains(&found), "{}", found);
            if bears > tester * 1.02 {
                prop_assert_eq!(result.irregular, Some(Irregular::Tester));
            } else if bears < tester * 0.98 {
                prop_assert_eq!(result.irregular, None);
            }
        }
    }
}

#[test]
fn the_most_and_the_least_load_end_a_search_at_once() {
    for (capacity, why, most_trials) in [
        (1e9, Irregular::PassedAtMost, 2),
        (1.0, Irregular::FailedAtLeast, 12),
    ] {
        let output = search(&both(), &mut of_capacity(capacity));
        assert!(
            output.results.iter().all(|r| r.irregular == Some(why)),
            "{capacity}"
        );
        assert!(
            output.trials.len() <= most_trials,
            "{}",
            output.trials.len()
        );
        all_hold(&output, &both()).unwrap();
    }
}

#[test]
fn what_a_buffer_hides_from_short_trials_is_found_with_long_ones() {
    let mut buffered = device(|load| 5e5 * load.duration().as_secs_f64() + 1e5);
    let output = search(&[Goal::rfc2544()], &mut buffered);
    let lower = output.results[0].lower.unwrap();
    assert!((lower / (5e5 + 1e5 / 60.0) - 1.0).abs() < 0.006, "{lower}");
}

#[test]
fn one_of_two_trials_that_lost_is_tolerated_where_the_goal_says_so() {
    // Every fourth trial loses a frame.
    let mut count = 0;
    let mut hiccups = device(|load| {
        count += 1;
        let lost = f64::from(u32::from(count % 4 == 0));
        (5e5 * load.duration().as_secs_f64()).min(load.frames() - lost)
    });
    let lower = search(&[Goal::tst009()], &mut hiccups).results[0]
        .lower
        .unwrap();
    assert!((lower / 5e5 - 1.0).abs() < 0.006, "{lower}");
}

#[test]
fn impossible_goals_and_failing_trials_are_told() {
    let said = |goals: Vec<Goal>| {
        let search = MultipleLossRatio::new(goals, LEAST, MOST);
        search
            .search(&mut of_capacity(1e5))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        said(Vec::new()),
        "multiple loss ratio search: `goals` is 0; it must be at least 1"
    );
    let late = Goal {
        initial_duration: Some(Span::from_secs(61)),
        ..Goal::rfc2544()
    };
    assert_eq!(
        said(vec![Goal::rfc2544(), late]),
        "multiple loss ratio search: `initial_duration` is 61; it must be at most `final_duration`"
    );
    let mut left = 3;
    let mut dies = |load: Load| {
        left -= 1;
        if left == 0 {
            return Err("the device is gone".into());
        }
        of_capacity(1e5)(load)
    };
    let error = MultipleLossRatio::new(vec![Goal::rfc2544()], LEAST, MOST)
        .search(&mut dies)
        .unwrap_err();
    assert!(matches!(error, Error::Trial(broken) if broken.trials.len() == 2));
}

#[test]
fn a_search_that_may_make_few_trials_says_that_it_gave_up() {
    let few = MultipleLossRatio {
        most_trials: 5,
        ..MultipleLossRatio::new(both().to_vec(), LEAST, MOST)
    };
    let output = few.search(&mut of_capacity(3e5)).unwrap();
    assert_eq!(output.trials.len(), 5);
    for result in output.results {
        assert_eq!(result.irregular, Some(Irregular::GaveUp));
        assert!(!matches!((result.lower, result.upper), (Some(l), Some(u)) if u - l <= 0.005 * u));
    }
}
