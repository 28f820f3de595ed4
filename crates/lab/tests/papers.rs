//! The papers come out as their verdicts say: what is predicted always, what is simulated with `--ignored`.

use std::sync::atomic::AtomicBool;
use trammel::engine::paper::reproduce;
use trammel::engine::points::Unwatched;
use trammel::paper::experiment;
use trammel::paper::join::{Count, join};
use trammel::paper::library;
use trammel::report::label::Label;

#[test]
fn table_1_of_tekala_comes_out_to_the_printed_digits() {
    let paper = library::find("tekala-2007").unwrap();
    let experiments = paper.spec.experiments.iter().enumerate();
    let predicted = experiments.filter(|(_, one)| one.label == Label::Predicted);
    let done: Vec<_> = predicted
        .map(|(at, _)| experiment::run(&paper, at, false, Some(1), &Unwatched).unwrap())
        .collect();
    let joined = join(&paper, &done);
    let of = |table: &str| Count::of(joined.iter().filter(|one| one.expected.table == table));
    let as_printed = |n| Count {
        as_stated: n,
        matching: n,
        ..Count::default()
    };
    assert_eq!(of("1"), as_printed(12));
    assert_eq!(of("eq-20-21"), as_printed(2));
}

#[test]
#[ignore = "two minutes"]
fn no_verdict_of_any_paper_is_contradicted() {
    for key in library::folders().keys() {
        let paper = library::find(key).unwrap();
        let reproduced = reproduce(&paper, false, None, &AtomicBool::new(false)).unwrap();
        assert!(
            reproduced.failures.is_empty(),
            "{key}: {:?}",
            reproduced.failures
        );
        let joined = join(&paper, &reproduced.done);
        let against: Vec<_> = joined
            .iter()
            .filter(|one| {
                one.outcome
                    .is_some_and(trammel::paper::verdict::Outcome::contradicts)
            })
            .map(|one| {
                (
                    &one.expected.table,
                    &one.expected.row,
                    &one.expected.column,
                    one.ours,
                )
            })
            .collect();
        assert!(against.is_empty(), "{key}: {against:#?}");
    }
}
