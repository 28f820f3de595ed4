//! How a study goes on, on the terminal: a bar, runs that are kept as they come, and the interrupt
//! passed on.

use crate::points::{Failure, Watch};
use crate::run_tables::RunTables;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_ground::progress::Progress;
use trammel_ground::say;
use trammel_report::kept::KeptRuns;
use trammel_report::run_folder::RunFolder;

/// Watches a study.
#[derive(Debug)]
pub struct Terminal<'a> {
    progress: Progress,
    kept: Option<KeptRuns>,
    interrupted: &'a AtomicBool,
}

impl<'a> Terminal<'a> {
    /// For a study that is written to `out`; `interrupted` says when the user wants no more.
    pub fn new(out: Option<&RunFolder>, interrupted: &'a AtomicBool) -> Terminal<'a> {
        Terminal {
            progress: Progress::new(),
            kept: out.map(|out| KeptRuns::of(out, false)),
            interrupted,
        }
    }

    /// The runs that an interrupted study has left beside its folder.
    pub fn known(&self) -> Arc<BTreeMap<String, RunTables>> {
        self.kept
            .as_ref()
            .map(KeptRuns::read)
            .unwrap_or_default()
            .into()
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.progress.finish();
    }
}

impl Watch for Terminal<'_> {
    fn begin(&self, runs: usize) {
        self.progress.expect(runs as u64, 0.0);
    }
    fn expect(&self, work: f64) {
        self.progress.expect(0, work);
    }
    fn ended(&self, work: f64) {
        self.progress.ended(work);
    }
    fn done(&self, key: &str, run: &RunTables) {
        if let Some(kept) = &self.kept {
            kept.keep(key, run);
        }
    }
    fn failed(&self, failure: &Failure) {
        say(&format!(
            "error: `{}`, seed {}: {}",
            failure.point, failure.seed, failure.why
        ));
    }
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}
