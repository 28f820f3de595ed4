//! The fidelity study: our TCP against the real kernel's, set by set, by skill and not by error
//! alone.
//!
//! ```text
//! plan ─ runs (kernel in guests, simulator) ─ judge ─ findings ─ targets
//! papers/linux-6.12/mechanisms.toml ───────────────────┘
//!                                      tables · page (report) · markdown (docs/linux-6.12.md)
//! ```
//!
//! Traces meet traces where nothing is random; where something is, ensembles meet ensembles. Beside
//! every error stand that of a null model, which knows the link and no TCP, and the kernel's own
//! spread. Every miss is shown and must be explained by a mechanism.

pub mod command;
pub mod finding;
pub mod judge;
pub mod markdown;
pub mod matrix;
pub mod mechanism;
pub mod null_model;
pub mod page;
pub mod plan;
pub mod runs;
pub mod setting;
pub mod tables;
pub mod target;
pub mod terminal;
pub mod trace;

use crate::points::{Failure, Watch};
use crate::run_tables::RunTables;
use finding::Finding;
use mechanism::{Gaps, Mechanisms};
use plan::{Case, Extent};
use runs::Sides;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use trammel_report::Report;
use trammel_stats::table::Table;

/// The study's key among the papers.
pub const KEY: &str = "linux-6.12";

/// How the study is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the study: it has `mechanisms.toml`.
    pub folder: PathBuf,
    /// Every set, seed and phase.
    pub full: bool,
    /// Threads; nothing means one a core.
    pub threads: Option<usize>,
}

/// What the study came to.
#[derive(Clone, Debug)]
pub struct FidelityOutcome {
    /// Targets, findings and misses.
    pub tables: Vec<Table>,
    /// The page.
    pub report: Report,
    /// `docs/linux-6.12.md`.
    pub markdown: String,
    /// Misses without a mechanism: the study fails with any.
    pub misses_unexplained: Vec<String>,
    /// Mechanisms that explain no miss any more.
    pub mechanisms_stale: Vec<String>,
    /// Main targets that are not met.
    pub targets_missed: usize,
    /// Whether it was interrupted, so that cases are left out.
    pub is_interrupted: bool,
    /// What this machine lacks to make it.
    pub lacks: Option<String>,
    /// Runs that came to nothing.
    pub failures: Vec<Failure>,
    /// Whose kernel has measured.
    pub facts: Vec<(String, String)>,
    /// Cases of the study, and those whose runs were all made.
    pub cases: (usize, usize),
}

/// Makes the study, but for the runs that are `known`.
pub fn run(
    options: &Options,
    known: &Arc<BTreeMap<String, RunTables>>,
    watch: &dyn Watch,
) -> anyhow::Result<FidelityOutcome> {
    let extent = if options.full {
        Extent::FULL
    } else {
        Extent::QUICK
    };
    let mechanisms = Mechanisms::read(&options.folder.join("mechanisms.toml"))?;
    let cases = plan::cases(extent, |_, _| true);
    let mut ran = runs::make(&cases, options.threads, known, watch)?;
    let is_interrupted = ran.is_interrupted();
    let done: Vec<(&Case, Sides)> = cases
        .iter()
        .zip(std::mem::take(&mut ran.cases))
        .filter_map(|(case, sides)| Some((case, sides?)))
        .collect();
    let judged = done
        .iter()
        .flat_map(|(case, sides)| judge::judge(case, sides));
    let findings: Vec<Finding> = judged.collect();
    // Few seeds say too little of a mean or a range, and a part of a study nothing of what is
    // missing from it.
    let is_judged =
        |set: &str| done.len() == cases.len() && (options.full || matches!(set, "e2" | "e3"));
    let gaps = mechanisms.gaps(&findings, is_judged);
    let targets = target::targets(&findings);
    let study = Study {
        findings: &findings,
        targets: &targets,
        mechanisms: &mechanisms,
        gaps: &gaps,
        extent,
    };
    let mut report = page::render(&study, &done);
    if is_interrupted {
        let (part, all) = (done.len(), cases.len());
        let sentence = &mut report.answer.sentence;
        *sentence =
            format!("{sentence} The study was interrupted: {part} of {all} cases are complete.");
    }
    Ok(FidelityOutcome {
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
        lacks: ran
            .outcomes
            .iter()
            .find_map(|outcome| outcome.lacks.clone()),
        failures: ran
            .outcomes
            .iter()
            .flat_map(|outcome| outcome.failures.clone())
            .collect(),
        facts: ran.outcomes[0].facts.clone(),
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
    /// How much was run.
    pub extent: Extent,
}
