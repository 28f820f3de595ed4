//! `trammel paper linux-6.12`: makes the study, shows it, writes the run folder and the document.

use super::{KEY, Options, Outcome, Watch, run};
use crate::cli::{DONE, FAILED, INTERRUPTED, progress, say};
use crate::run_folder::{RunFolder, RunInfo};
use indicatif::ProgressBar;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
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
    /// Set when the user interrupts: the runs at hand are finished and what was done is kept.
    pub interrupted: Arc<AtomicBool>,
}

/// A progress bar on the terminal; passes the interrupt on.
struct Terminal<'a> {
    bar: OnceLock<ProgressBar>,
    interrupted: &'a AtomicBool,
}

impl Watch for Terminal<'_> {
    fn begin(&self, runs: usize) {
        self.bar.get_or_init(|| progress::bar(runs as u64));
    }
    fn done(&self) {
        if let Some(bar) = self.bar.get() {
            bar.inc(1);
        }
    }
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
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
    Ok(ExitCode::from(code(&outcome)))
}

/// The exit code of a study.
pub fn code(outcome: &Outcome) -> u8 {
    if outcome.is_interrupted {
        INTERRUPTED
    } else if outcome.misses_unexplained.is_empty() {
        DONE
    } else {
        FAILED
    }
}

/// Makes the study, writes what `job` asks to be written, and says what is not explained.
pub fn perform(job: &Job) -> anyhow::Result<Outcome> {
    let terminal = Terminal {
        bar: OnceLock::new(),
        interrupted: &job.interrupted,
    };
    // A folder that cannot be written is a fault before the work, not after it.
    let folder = job.out.as_ref().map(RunFolder::create).transpose()?;
    let begun = std::time::Instant::now();
    let outcome = run(&job.options, &terminal)?;
    let wall_s = begun.elapsed().as_secs_f64();
    if let Some(bar) = terminal.bar.get() {
        bar.finish_and_clear();
    }
    if let Some(folder) = folder {
        write_folder(folder, &outcome, wall_s)?;
    }
    if outcome.is_interrupted {
        let (all, whole) = outcome.cases;
        let kept = match &job.out {
            Some(out) => format!("they are kept in `{}`", out.display()),
            None => "their tables follow".to_owned(),
        };
        say(&format!(
            "interrupted: {whole} of {all} cases of `{KEY}` are whole; {kept}"
        ));
    }
    match &job.document {
        Some(document) if outcome.is_interrupted => say(&format!(
            "note: `{}` is left as it was, since a part of the study is no study; run it to the end",
            document.display()
        )),
        Some(document) => write_document(document, &outcome)?,
        None => {}
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

fn write_folder(mut folder: RunFolder, outcome: &Outcome, wall_s: f64) -> anyhow::Result<()> {
    for table in &outcome.tables {
        folder.write_table(table)?;
    }
    folder.write_page(&outcome.report)?;
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
