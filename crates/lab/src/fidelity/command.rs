//! `trammel paper linux-6.12`: makes the study, shows it, writes the run folder and the document.

use super::{KEY, Options, Outcome, Watch, run};
use crate::cli::progress;
use crate::run_folder::{RunFolder, RunInfo};
use indicatif::ProgressBar;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use trammel_core::table::write_json;

/// What the command asks for.
#[derive(Clone, Debug)]
pub struct Job {
    /// How the study is made.
    pub options: Options,
    /// The run folder to write.
    pub out: Option<PathBuf>,
    /// The document to write.
    pub document: Option<PathBuf>,
    /// Tables go to standard output as JSON.
    pub json: bool,
}

/// A progress bar on the terminal.
#[derive(Default)]
struct Terminal(OnceLock<ProgressBar>);

impl Watch for Terminal {
    fn begin(&self, runs: usize) {
        self.0.get_or_init(|| progress::bar(runs as u64));
    }
    fn done(&self) {
        if let Some(bar) = self.0.get() {
            bar.inc(1);
        }
    }
}

/// Does `job`; fails where a miss has no mechanism.
pub fn execute(job: &Job) -> anyhow::Result<ExitCode> {
    let outcome = perform(job)?;
    let mut stdout = std::io::stdout().lock();
    if job.json {
        write_json(&outcome.tables, &mut stdout)?;
    } else {
        writeln!(stdout, "{}", outcome.tables[0])?;
    }
    let is_good = outcome.misses_unexplained.is_empty();
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(crate::cli::FAILED)
    })
}

/// Makes the study, writes what `job` asks to be written, and says what is not explained.
pub fn perform(job: &Job) -> anyhow::Result<Outcome> {
    let terminal = Terminal::default();
    let begun = std::time::Instant::now();
    let outcome = run(&job.options, &terminal)?;
    let wall_s = begun.elapsed().as_secs_f64();
    if let Some(bar) = terminal.0.get() {
        bar.finish_and_clear();
    }
    if let Some(out) = &job.out {
        write_folder(out, &outcome, wall_s)?;
    }
    if let Some(document) = &job.document {
        write_document(document, &outcome)?;
    }
    let mut stderr = std::io::stderr().lock();
    for miss in &outcome.misses_unexplained {
        writeln!(
            stderr,
            "error: the miss `{miss}` has no mechanism; explain it in papers/{KEY}/mechanisms.toml"
        )?;
    }
    for stale in &outcome.mechanisms_stale {
        writeln!(
            stderr,
            "warning: the mechanism of `{stale}` explains no miss any more"
        )?;
    }
    Ok(outcome)
}

fn write_folder(out: &Path, outcome: &Outcome, wall_s: f64) -> anyhow::Result<()> {
    let mut folder = RunFolder::create(out)?;
    for table in &outcome.tables {
        folder.write_table(table)?;
    }
    for (id, svg) in outcome.report.figures() {
        folder.write_figure(&id, &svg)?;
    }
    folder.write_report(&outcome.report.to_html())?;
    folder.write("fidelity.md", outcome.markdown.as_bytes())?;
    folder.finish(&RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: KEY.to_owned(),
        wall_s: [("study".to_owned(), wall_s)].into(),
        interrupted: outcome.is_interrupted,
        ..RunInfo::default()
    })?;
    Ok(())
}

fn write_document(path: &Path, outcome: &Outcome) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    Ok(std::fs::write(path, &outcome.markdown)?)
}
