//! The fidelity study: our TCP against the real kernel's, set by set, by skill and not by error alone.
//!
//! ```text
//! papers/linux-6.12/data ──reference──┐
//!                                     ├─ plan ─ simulate ─ judge ─ findings ─ targets
//! papers/linux-6.12/mechanisms.toml ──┘                               │
//!                                      tables · page (report) · markdown (docs/fidelity.md)
//! ```
//!
//! Traces meet traces where nothing is random; where something is, ensembles meet ensembles. Beside every
//! error stand that of a null model, which knows the link and no TCP, and the kernel's own spread. Every
//! miss is shown and must be explained by a mechanism.

pub mod command;
pub mod finding;
pub mod judge;
pub mod markdown;
pub mod matrix;
pub mod mechanism;
pub mod null_model;
pub mod page;
pub mod plan;
pub mod reference;
pub mod setting;
pub mod simulate;
pub mod tables;
pub mod target;
pub mod trace;

use crate::report::Report;
use finding::Finding;
use mechanism::{Gaps, Mechanisms};
use plan::Case;
use rayon::prelude::*;
use simulate::Made;
use std::path::PathBuf;
use trammel_core::table::Table;

/// The study's key among the papers.
pub const KEY: &str = "linux-6.12";

/// How the study is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the study: `data/` and `mechanisms.toml`.
    pub folder: PathBuf,
    /// A hundred seeds for `e1`, not ten.
    pub full: bool,
    /// Threads; nothing means one a core.
    pub threads: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            folder: PathBuf::from("papers").join(KEY),
            full: false,
            threads: None,
        }
    }
}

/// Whoever wants to know how the study goes on.
pub trait Watch: Sync {
    /// `runs` runs begin.
    fn begin(&self, _runs: usize) {}
    /// A run is done.
    fn done(&self) {}
    /// Whether to leave out what has not begun.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;
impl Watch for Unwatched {}

/// What the study came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Targets, findings and misses.
    pub tables: Vec<Table>,
    /// The page.
    pub report: Report,
    /// `docs/fidelity.md`.
    pub markdown: String,
    /// Misses without a mechanism: the study fails with any.
    pub misses_unexplained: Vec<String>,
    /// Mechanisms that explain no miss any more.
    pub mechanisms_stale: Vec<String>,
    /// Main targets that are not met.
    pub targets_missed: usize,
    /// Whether it was interrupted, so that cases are left out.
    pub is_interrupted: bool,
    /// Cases of the study, and those whose runs were all made.
    pub cases: (usize, usize),
}

/// What the runs of a case came to: by run and flow.
pub type Runs = Vec<Vec<Made>>;

/// Makes the study.
pub fn run(options: &Options, watch: &dyn Watch) -> anyhow::Result<Outcome> {
    let seeds = if options.full { 100 } else { 10 };
    let cases = plan::cases(&options.folder.join("data"), seeds, |_, _| true)?;
    let mechanisms = Mechanisms::read(&options.folder.join("mechanisms.toml"))?;
    let made = make(&cases, options.threads, watch)?;
    let done: Vec<(&Case, Runs)> = cases
        .iter()
        .zip(made)
        .filter_map(|(case, made)| Some((case, made?)))
        .collect();
    let judged = done
        .iter()
        .flat_map(|(case, made)| judge::judge(case, made));
    let findings: Vec<Finding> = judged.collect();
    let is_interrupted = done.len() < cases.len();
    // Ten seeds say too little of a range, and half a study of nothing that is missing from it.
    let is_judged = |set: &str| !is_interrupted && (options.full || set != "e1");
    let gaps = mechanisms.gaps(&findings, is_judged);
    let targets = target::targets(&findings);
    let study = Study {
        findings: &findings,
        targets: &targets,
        mechanisms: &mechanisms,
        gaps: &gaps,
        e1_seeds: seeds,
    };
    let mut report = page::render(&study, &done);
    if is_interrupted {
        let (part, all) = (done.len(), cases.len());
        let sentence = &mut report.answer.sentence;
        *sentence =
            format!("{sentence} The study was interrupted: {part} of {all} cases are whole.");
    }
    Ok(Outcome {
        tables: vec![
            tables::of_targets(&targets),
            tables::of_findings(&findings),
            tables::of_misses(&findings, &mechanisms),
        ],
        report,
        markdown: markdown::render(&study),
        targets_missed: targets.iter().filter(|t| t.is_main && !t.is_met()).count(),
        misses_unexplained: gaps.unexplained,
        mechanisms_stale: gaps.stale,
        is_interrupted,
        cases: (cases.len(), done.len()),
    })
}

/// What the writers of results read.
#[derive(Clone, Copy, Debug)]
pub struct Study<'a> {
    /// Every finding.
    pub findings: &'a [Finding],
    /// Every target.
    pub targets: &'a [target::Target],
    /// The explanations.
    pub mechanisms: &'a Mechanisms,
    /// What lacks an explanation or a miss.
    pub gaps: &'a Gaps,
    /// Seeds of `e1`.
    pub e1_seeds: u64,
}

/// Runs all jobs of all cases, in parallel; a case with a job left out is nothing.
fn make(
    cases: &[Case],
    threads: Option<usize>,
    watch: &dyn Watch,
) -> anyhow::Result<Vec<Option<Runs>>> {
    let jobs: Vec<_> = cases.iter().flat_map(|case| &case.jobs).collect();
    watch.begin(jobs.len());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()?;
    let made: Vec<Option<Vec<Made>>> = pool.install(|| {
        let one = |job: &&simulate::Job| {
            if watch.is_interrupted() {
                return Ok(None);
            }
            let made = job.run()?;
            watch.done();
            Ok(Some(made))
        };
        // One job at a time to a thread: the first are a hundred times as long as the last.
        jobs.par_iter()
            .with_max_len(1)
            .map(one)
            .collect::<anyhow::Result<_>>()
    })?;
    let mut made = made.into_iter();
    let of_case = |case: &Case| made.by_ref().take(case.jobs.len()).collect();
    Ok(cases.iter().map(of_case).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use finding::Metric;

    fn folder() -> PathBuf {
        PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../papers/linux-6.12"
        ))
    }

    #[test]
    fn four_variants_follow_the_kernel_on_a_plain_path() {
        let wanted = ["reno", "cubic", "westwood", "illinois"];
        let is_wanted = |set: &str, variant: &str| set == "e2" && wanted.contains(&variant);
        let cases = plan::cases(&folder().join("data"), 1, is_wanted).unwrap();
        assert_eq!(cases.len(), 4);
        let made = make(&cases, None, &Unwatched).unwrap();
        for (case, made) in cases.iter().zip(made) {
            let findings = judge::judge(case, &made.expect("not interrupted"));
            assert_eq!(findings.len(), 4);
            for finding in findings {
                assert!(finding.is_within(), "{finding:?}");
            }
        }
    }

    #[test]
    fn the_order_of_threads_changes_nothing() {
        let is_wanted = |set: &str, variant: &str| set == "e7" && variant == "bbr";
        let cases = plan::cases(&folder().join("data"), 1, is_wanted).unwrap();
        let goodput = |threads| -> Vec<f64> {
            let made = make(&cases, Some(threads), &Unwatched).unwrap().remove(0);
            let findings = judge::judge(&cases[0], &made.expect("not interrupted"));
            let goodput = findings.into_iter().filter(|f| f.metric == Metric::Goodput);
            goodput.map(|finding| finding.ours.mean).collect()
        };
        let one = goodput(1);
        assert_eq!(one, goodput(3));
        assert_eq!(one.len(), 2, "two flows");
    }

    #[test]
    fn an_interrupted_study_leaves_cases_out() {
        struct Stop;
        impl Watch for Stop {
            fn is_interrupted(&self) -> bool {
                true
            }
        }
        let is_wanted = |set: &str, variant: &str| set == "e2" && variant == "reno";
        let cases = plan::cases(&folder().join("data"), 1, is_wanted).unwrap();
        assert!(make(&cases, Some(1), &Stop).unwrap()[0].is_none());
    }
}
