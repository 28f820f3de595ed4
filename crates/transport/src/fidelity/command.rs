//! `trammel paper linux-6.12`: makes the study, shows it, writes the run folder and the document.

use super::terminal::Terminal;
use super::{FidelityOutcome, KEY, Options, run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use trammel_ground::{DONE, FAILED, INTERRUPTED, say};
use trammel_ground::{Unsupported, machine};
use trammel_report::provenance::provenance;
use trammel_report::run_folder::{Out, RunFolder, RunInfo};
use trammel_stats::table::write_json;

/// What the command asks for.
#[derive(Clone, Debug)]
pub struct FidelityJob {
    /// How the study is made.
    pub options: Options,
    /// The run folder to write.
    pub out: Option<Out>,
    /// The document to write.
    pub document: Option<PathBuf>,
    /// Tables go to standard output as JSON.
    pub json: bool,
    /// Set when the user interrupts: the runs at hand are finished and what was done is kept.
    pub interrupted: Arc<AtomicBool>,
}

/// Does `job`; fails where a miss has no mechanism.
pub fn execute(job: &FidelityJob) -> anyhow::Result<ExitCode> {
    let outcome = perform(job)?;
    let mut stdout = trammel_ground::stdout();
    if job.json {
        write_json(&outcome.tables, &mut stdout)?;
    } else {
        writeln!(stdout, "{}", outcome.tables[0])?;
    }
    Ok(ExitCode::from(code(&outcome)))
}

/// The exit code of a study.
pub fn code(outcome: &FidelityOutcome) -> u8 {
    if outcome.is_interrupted {
        INTERRUPTED
    } else if outcome.misses_unexplained.is_empty() && outcome.failures.is_empty() {
        DONE
    } else {
        FAILED
    }
}

/// Makes the study, writes what `job` asks to be written, and says what is not explained.
pub fn perform(job: &FidelityJob) -> anyhow::Result<FidelityOutcome> {
    let (started, clock) = (machine::now(), Instant::now());
    // A folder that cannot be written is a fault before the work, not after it.
    let folder = job.out.as_ref().map(RunFolder::begin).transpose()?;
    let terminal = Terminal::new(folder.as_ref(), &job.interrupted);
    let mut outcome = run(&job.options, &terminal.known(), &terminal)?;
    terminal.clear();
    if let Some(what) = &outcome.lacks {
        return Err(anyhow::Error::new(Unsupported {
            what: what.clone(),
            mend: "without the kernel there is nothing to compare with".to_owned(),
        }));
    }
    if let Some(folder) = folder {
        let info = RunInfo {
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: KEY.to_owned(),
            machine: machine::facts(),
            started,
            wall_s: [("engines".to_owned(), clock.elapsed().as_secs_f64())].into(),
            interrupted: outcome.is_interrupted,
            ..RunInfo::default()
        };
        outcome.report.provenance = provenance(&info, outcome.facts.clone());
        write_folder(folder, &outcome, &info)?;
    }
    if outcome.is_interrupted {
        let (all, whole) = outcome.cases;
        let kept = match &job.out {
            Some(out) => format!("they are kept in `{}`", out.dir.display()),
            None => "their tables follow".to_owned(),
        };
        say(&format!(
            "interrupted: {whole} of {all} cases of `{KEY}` are complete; {kept}"
        ));
    }
    match &job.document {
        Some(document) if outcome.is_interrupted || !outcome.failures.is_empty() => say(&format!(
            "note: `{}` was not changed, since the study is incomplete; run it to the end",
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

fn write_folder(
    mut folder: RunFolder,
    outcome: &FidelityOutcome,
    info: &RunInfo,
) -> anyhow::Result<()> {
    for table in &outcome.tables {
        folder.write_table(table)?;
    }
    folder.write_page(&outcome.report)?;
    folder.write("linux-6.12.md", outcome.markdown.as_bytes())?;
    folder.finish(info)?;
    Ok(())
}

fn write_document(path: &Path, outcome: &FidelityOutcome) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    Ok(std::fs::write(path, &outcome.markdown)?)
}
