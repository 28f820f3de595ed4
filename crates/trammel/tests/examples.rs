//! Every scenario in `examples/` reads without a fault, and its report begins with an answer to its
//! question.

use std::fmt::Write;
use std::path::Path;
use trammel::scenario::model::Engine;
use trammel::scenario::registry::Family;
use trammel::scenario::{Description, File, ReadError, Reading};
use trammel::transport::answer::answer;
use trammel::transport::points::{RunOptions, Unwatched, run_points};
use trammel_core::time::{Span, Time};

/// What the examples need of each family; a build without it cannot read them.
const NEEDED: &[(Family, &[&str])] = &[
    (
        Family::Variant,
        &["cubic", "hybla", "yeah", "scalable", "illinois"],
    ),
    (Family::Discipline, &["droptail", "codel", "pie"]),
    (Family::Loss, &["bernoulli"]),
    (Family::Distribution, &["pareto", "exponential"]),
    (Family::Model, &["tekala-2007"]),
];

#[test]
fn every_example_checks_clean() {
    for (family, names) in NEEDED {
        if let Some(missing) = names
            .iter()
            .find(|name| family.catalogue().describe(name).is_err())
        {
            eprintln!(
                "skipped: this build has no {} `{missing}`",
                family.catalogue().noun()
            );
            return;
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let read = Description::read(&path, &Reading::default());
            let Description::Transport(file) = read.unwrap_or_else(|error| panic!("{error}"))
            else {
                seen += 1;
                continue;
            };
            for point in &file.points {
                point
                    .scenario
                    .check()
                    .unwrap_or_else(|faults| panic!("{faults:#?}"));
            }
            seen += 1;
        }
    }
    assert!(seen >= 8, "only {seen} examples");
}

/// The first sentence of the report of every example, of fewer and shorter runs than the file asks
/// for: it answers the file's question, in the field's words.
#[test]
fn the_first_sentence_answers_the_question() {
    // File, seconds of a run, repeats, and what else is cut so that a test can run it.
    type Cut = fn(&str) -> String;
    let whole: Cut = str::to_owned;
    let few: Cut = |text| {
        let from = text
            .find("variants = [")
            .expect("the matrix lists its variants");
        let to = text[from..].find(']').expect("and ends the list") + from;
        format!(
            "{}variants = [\"reno\", \"cubic\", \"vegas\"{}",
            &text[..from],
            &text[to..]
        )
    };
    let slower: Cut = |text| text.replace("1 Gbit/s", "100 Mbit/s");
    let once: Cut = |text| text.replace("[measure]\nkernel = \"linux\"", "");
    let examples: &[(&str, u64, u32, Cut)] = &[
        ("first", 20, 3, whole),
        ("applications", 40, 3, whole),
        ("aqm-comparison", 30, 3, whole),
        ("friendliness-matrix", 20, 3, few),
        ("kernel", 30, 1, once),
        ("paper-001", 30, 3, slower),
        ("parking-lot", 30, 3, whole),
        ("satellite", 60, 3, whole),
        ("variable-bandwidth", 40, 3, whole),
        ("wifi", 20, 3, whole),
        ("workload", 40, 3, whole),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut said = String::new();
    for (name, seconds, repeat, cut) in examples {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let mut file = match File::parse(&format!("{name}.toml"), &cut(&text), &folder) {
            Ok(file) => file,
            Err(ReadError::Faults(problems)) => panic!("{}", problems.render(false)),
            Err(error) => panic!("{error}"),
        };
        for point in &mut file.points {
            point.scenario.duration = Span::from_secs(*seconds);
            point.scenario.warmup = point.scenario.warmup.min(Time::from_secs(seconds / 3));
            point.scenario.repeat = *repeat;
        }
        let options = RunOptions {
            engines: vec![Engine::Simulate],
            ..RunOptions::default()
        };
        let outcome = run_points(&file, &options, &Unwatched).unwrap();
        assert_eq!(outcome.failures, []);
        let answer = answer(&file, &outcome);
        let question = file.points[0].scenario.question.clone().unwrap_or_default();
        writeln!(
            said,
            "{name}: {question}\n  [{}] {}\n",
            answer.number, answer.sentence
        )
        .unwrap();
    }
    insta::assert_snapshot!(said);
}
