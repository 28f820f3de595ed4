//! Every scenario in `examples/` reads without a fault.

use std::path::Path;
use trammel::registry::Family;
use trammel::scenario::traffic::{self, TrafficFile};
use trammel::scenario::{File, ReadError};

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
            let file = match File::read(&path) {
                Ok(file) => file,
                Err(ReadError::Elsewhere {
                    subject: traffic::SUBJECT,
                    ..
                }) => {
                    TrafficFile::read(&path, None).unwrap_or_else(|error| panic!("{error}"));
                    seen += 1;
                    continue;
                }
                // Another command's: its own tests read it.
                Err(ReadError::Elsewhere { .. }) => continue,
                Err(error) => panic!("{error}"),
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
