//! Every case passes for the variant that it is made for, and fails for each of its mutants.

use std::fs;
use std::path::Path;
use trammel_conformance::case::Case;
use trammel_conformance::subject::{Subject, Variant};
use trammel_conformance::suite::{SUITES, Suite};
use trammel_conformance::verdict::{Judged, Verdict, judge};
use trammel_transport::points::Unwatched;

fn judged<'a>(case: &'a Case, variant: &str) -> Judged<'a> {
    let variant = Variant::read(variant).unwrap();
    let subject = Subject::simulated(variant);
    judge(case, &subject, false, &Unwatched)
        .unwrap_or_else(|why| panic!("{}/{}: {why:#}", case.suite, case.name))
}

/// The cases of `suite` as their files have them now, which spares a build after a change of one.
fn on_disk(suite: &Suite) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("cases").join(suite.name);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
    files.sort_by_key(fs::DirEntry::path);
    let read = |file: &fs::DirEntry| {
        let path = file.path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        Case::read(suite.name, name, &text).unwrap_or_else(|why| panic!("{why}"))
    };
    files.iter().map(read).collect()
}

/// What is wrong with the cases of `suite`, a line each.
fn faults(suite: &Suite) -> Vec<String> {
    let cases = on_disk(suite);
    assert!(!cases.is_empty(), "{} has no case", suite.name);
    let mut faults = Vec::new();
    for case in &cases {
        if case.waits_for.is_some() {
            continue;
        }
        let own = judged(case, suite.usual());
        if !matches!(own.verdict, Verdict::Pass | Verdict::Departs(_)) {
            let why = format!("{:?} {:#?}", own.verdict, own.findings);
            faults.push(format!(
                "{}: {} does not pass: {why}",
                case.name,
                suite.usual()
            ));
        }
        for mutant in &case.mutants {
            let verdict = judged(case, mutant);
            if !verdict.findings.iter().any(|one| one.holds == Some(false)) {
                let why = format!("{:#?}", verdict.findings);
                faults.push(format!("{}: {mutant} passes: {why}", case.name));
            }
        }
    }
    faults
}

fn holds(name: &str) {
    let faults = faults(&Suite::find(name).unwrap());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn cubic_passes_its_cases_and_no_mutant_does() {
    holds("cubic");
}

#[test]
fn tcp_passes_its_cases_and_no_mutant_does() {
    holds("tcp");
}

#[test]
fn bbr3_passes_its_cases_and_no_mutant_does() {
    holds("bbr");
}

#[test]
fn prague_passes_its_cases_and_no_mutant_does() {
    holds("prague");
}

/// What only version 3 can pass, version 1 does not.
#[test]
fn version_1_of_bbr_fails_what_only_version_3_can_pass() {
    // It has the plateau of STARTUP, application limits, idle restarts, a least window, aggregation
    // and the undo of a timeout alike, and finds a higher rate sooner.
    const BOTH: [u32; 8] = [1, 7, 11, 12, 13, 14, 15, 19];
    let mut passed = Vec::new();
    for case in on_disk(&Suite::find("bbr").unwrap()) {
        if case.waits_for.is_none() && judged(&case, "bbr").verdict == Verdict::Pass {
            passed.push(case.number());
        }
    }
    assert_eq!(passed, BOTH);
}

#[test]
fn cases_have_numbers_of_their_own_and_say_their_source() {
    for suite in SUITES {
        let cases = suite.cases().unwrap();
        let names = |all: &[Case]| all.iter().map(|case| case.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&cases), names(&on_disk(&suite)));
        let numbers: Vec<u32> = cases.iter().map(Case::number).collect();
        let wanted: Vec<u32> = (1..).take(cases.len()).collect();
        assert_eq!(numbers, wanted, "{}", suite.name);
        for case in &cases {
            assert!(
                !case.quote.is_empty() && !case.source.is_empty(),
                "{}",
                case.name
            );
            for known in case.departs.iter().chain(&case.excused) {
                assert!(known.why.len() > 20, "{}: a reason", case.name);
            }
        }
    }
}
