//! What every congestion control must do, whatever its law: a new file in `cc/` is tested by these
//! at once.

use crate::cc::ALL;
use crate::cc_harness::Sender;
use proptest::prelude::*;
use trammel_core::entry::{Kind, Params, Value};

/// Linux's Vegas grows whether or not the flow uses its window.
const IGNORES_CWND_LIMIT: &[&str] = &["vegas"];
/// The window after a loss is the bandwidth-delay product measured over many rounds.
const SETS_WINDOW_BY_MEASUREMENT: &[&str] = &["westwood"];

/// What may happen to a sender.
#[derive(Clone, Copy, Debug)]
enum Step {
    Rounds(usize),
    Loss,
    Timeout,
    Idle(u64),
    Rtt(u64),
    AppLimit(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..6_usize).prop_map(Step::Rounds),
        3 => Just(Step::Loss),
        1 => Just(Step::Timeout),
        1 => (0..20_000_000_u64).prop_map(Step::Idle),
        1 => (100..400_000_u64).prop_map(Step::Rtt),
        1 => (1..300_u32).prop_map(Step::AppLimit),
    ]
}

fn run(sender: &mut Sender, steps: &[Step]) -> Vec<(u32, u32)> {
    // A clamp keeps the windows, and so the test, small.
    sender.tp.snd_cwnd_clamp = 300;
    steps
        .iter()
        .map(|step| {
            match *step {
                Step::Rounds(n) => drop(sender.rounds(n)),
                Step::Loss => sender.lose(),
                Step::Timeout => sender.timeout(),
                Step::Idle(us) => sender.idle(us),
                Step::Rtt(us) => sender.rtt_us = us,
                Step::AppLimit(n) => sender.app_limit = n,
            }
            (sender.tp.snd_cwnd, sender.tp.snd_ssthresh)
        })
        .collect()
}

/// Every entry with its defaults, and with each word of each of its choices.
fn every_form() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let mut forms = Vec::new();
    for about in ALL.iter().map(|entry| entry.about) {
        forms.push((about.name, vec![]));
        for param in about.params {
            if let Kind::Choice(words) = param.kind {
                forms.extend(words.iter().map(|w| (about.name, vec![(param.name, *w)])));
            }
        }
    }
    forms
}

#[test]
fn whole_numbers_at_the_ends_of_their_ranges_build_and_run() {
    for entry in ALL {
        for param in entry.about.params {
            let Kind::Int(low, high) = param.kind else {
                continue;
            };
            for end in [low, high] {
                let given = [(param.name.to_owned(), Value::Int(end))];
                let params = Params::resolve(&entry.about, &given).expect(param.name);
                let mut sender = Sender::with((entry.build)(&params), 20_000);
                let steps = [Step::Rounds(3), Step::Loss, Step::Rounds(5), Step::Loss];
                for (cwnd, ssthresh) in run(&mut sender, &steps) {
                    assert!(
                        cwnd >= 1 && ssthresh >= 2,
                        "{}: {}",
                        entry.about.name,
                        param.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_loss_never_widens_the_window() {
    for (name, given) in every_form() {
        for (rtt_us, rounds) in [(100_000, 4), (100_000, 1), (20_000, 6), (500_000, 3)] {
            let mut sender = Sender::new(name, &given, rtt_us);
            // A bottleneck of 240 Mbit/s.
            sender.service_us = 50;
            if sender.cc.has_cong_control() || SETS_WINDOW_BY_MEASUREMENT.contains(&name) {
                continue;
            }
            sender.rounds(rounds);
            for _ in 0..3 {
                let before = sender.tp.snd_cwnd;
                sender.lose();
                assert!(
                    sender.tp.snd_cwnd <= before.max(2),
                    "{name} {given:?} {rtt_us}"
                );
                sender.rounds(5);
            }
        }
    }
}

#[test]
fn does_not_grow_while_the_window_is_not_used() {
    for (name, given) in every_form() {
        let mut sender = Sender::new(name, &given, 50_000);
        if sender.cc.has_cong_control() || IGNORES_CWND_LIMIT.contains(&name) {
            continue;
        }
        sender.rounds(4);
        for avoids_congestion in [false, true] {
            if avoids_congestion {
                sender.lose();
            }
            sender.app_limit = (sender.tp.snd_cwnd / 4).max(1);
            // The ACKs of the last full window still count.
            sender.rounds(2);
            let before = sender.tp.snd_cwnd;
            sender.rounds(20);
            assert!(sender.tp.snd_cwnd <= before, "{name} {given:?}");
            sender.app_limit = u32::MAX;
        }
    }
}

#[test]
fn observes_the_same_names_always() {
    for (name, given) in every_form() {
        let mut sender = Sender::new(name, &given, 50_000);
        let names = |sender: &Sender| -> Vec<_> {
            sender
                .cc
                .observe()
                .into_iter()
                .map(|(name, _)| name)
                .collect()
        };
        let at_first = names(&sender);
        sender.rounds(4);
        assert_eq!(names(&sender), at_first, "{name}");
        sender.lose();
        sender.timeout();
        sender.rounds(2);
        assert_eq!(names(&sender), at_first, "{name}");
        assert!(
            sender.cc.observe().iter().all(|(_, value)| !value.is_nan()),
            "{name}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn windows_stay_in_bounds_and_runs_repeat(
        steps in prop::collection::vec(step(), 1..12),
        rtt_us in 100..300_000_u64,
    ) {
        for (name, given) in every_form() {
            let windows = run(&mut Sender::new(name, &given, rtt_us), &steps);
            for (cwnd, ssthresh) in &windows {
                prop_assert!(*cwnd >= 1 && *ssthresh >= 2, "{} {:?}", name, windows);
            }
            let again = run(&mut Sender::new(name, &given, rtt_us), &steps);
            prop_assert_eq!(windows, again, "{}", name);
        }
    }
}
