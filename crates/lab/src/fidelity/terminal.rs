//! How a study goes on, on the terminal: a bar, runs that are kept as they come, and the interrupt passed on.

use crate::cli::{progress, say};
use crate::engine::kept::KeptRuns;
use crate::engine::points::{Failure, Watch};
use crate::engine::simulate::RunTables;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Watches a study.
#[derive(Debug)]
pub struct Terminal<'a> {
    bar: OnceLock<ProgressBar>,
    kept: Option<KeptRuns>,
    interrupted: &'a AtomicBool,
}

impl<'a> Terminal<'a> {
    /// For a study that is written to `out`; `interrupted` says when the user wants no more.
    pub fn new(out: Option<&Path>, interrupted: &'a AtomicBool) -> Terminal<'a> {
        Terminal {
            bar: OnceLock::new(),
            kept: out.map(KeptRuns::of),
            interrupted,
        }
    }

    /// The runs that an interrupted study has left beside its folder.
    pub fn known(&self) -> BTreeMap<String, RunTables> {
        self.kept.as_ref().map(KeptRuns::read).unwrap_or_default()
    }

    /// Forgets them: the study is whole.
    pub fn forget(&self) {
        self.kept.iter().for_each(KeptRuns::clear);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.get().inspect(|bar| bar.finish_and_clear());
    }
}

impl Watch for Terminal<'_> {
    fn begin(&self, runs: usize) {
        let bar = self.bar.get_or_init(|| progress::bar(0));
        bar.inc_length(runs as u64);
        bar.tick();
    }
    fn done(&self, key: &str, run: &RunTables) {
        if let Some(kept) = &self.kept {
            kept.keep(key, run);
        }
        self.bar.get().inspect(|bar| bar.inc(1));
    }
    fn failed(&self, failure: &Failure) {
        say(&format!(
            "error: `{}`, seed {}: {}",
            failure.point, failure.seed, failure.why
        ));
        self.bar.get().inspect(|bar| bar.inc(1));
    }
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}
