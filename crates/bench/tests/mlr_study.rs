//! What the study `mlr_study` shows holds for its first devices: a third of the time, bounds no
//! more often wrong.

#[path = "../examples/mlr_study/device.rs"]
mod device;
#[expect(dead_code, reason = "the study prints more than is held here")]
#[path = "../examples/mlr_study/study.rs"]
mod study;

use device::Family;
use study::{Way, study};

const DEVICES: u32 = 60;

#[test]
fn both_goals_are_found_in_a_third_of_binary_searchs_time() {
    for family in Family::ALL {
        let binary = study(family, Way::Binary, 1, DEVICES);
        let ours = study(family, Way::Mlr, 1, DEVICES);
        let ratio = ours.time_s / binary.time_s;
        assert!(ratio <= 1.0 / 3.0, "{}: {ratio}", family.name());
        // No interval is left wide that a bound at the end of the range does not explain.
        assert!(
            ours.irregular <= binary.irregular + 2,
            "{family:?}: {ours:?}"
        );
    }
}

#[test]
fn bounds_are_not_wrong_more_often_than_binary_searchs() {
    // Two standard deviations of a difference of two shares of about a third.
    let noise = 200.0 * (2.0 * 0.3 * 0.7 / f64::from(2 * DEVICES)).sqrt();
    for family in Family::ALL {
        let wrong = |way: Way| {
            let sum = study(family, way, 1, DEVICES);
            sum.percent(sum.wrong)
        };
        let (binary, ours) = (wrong(Way::Binary), wrong(Way::Mlr));
        assert!(
            ours <= binary + noise,
            "{}: {ours} and {binary} %",
            family.name()
        );
    }
}

#[test]
fn two_trials_a_load_cost_less_than_binary_searchs_one_and_err_less_of_a_bistable_device() {
    for family in Family::ALL {
        let [binary, one, two] =
            [Way::Binary, Way::Mlr, Way::MlrOneOfTwo].map(|way| study(family, way, 1, DEVICES));
        let ratio = two.time_s / binary.time_s;
        assert!(ratio < 0.8, "{}: {ratio}", family.name());
        if family == Family::Bistable {
            assert!(
                two.wrong < one.wrong && two.wrong < binary.wrong,
                "{two:?} {one:?} {binary:?}"
            );
        }
    }
}
