//! `trammel compare`: several run folders in one report, and whether they agree.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_ground::machine;
use trammel_ground::{DONE, FAILED, say};
use trammel_report::Block;
use trammel_report::compare::{Run, compare, judge, read, table};
use trammel_report::comparison::BOUNDS;
use trammel_report::run_folder::{Out, RunFolder, RunInfo};
use trammel_stats::table::write_json;

/// Metrics that are shown on the terminal, at most.
const MOST_SHOWN: usize = 40;

/// What `trammel compare` asks for.
#[derive(Debug)]
pub(crate) struct CompareJob {
    /// The run folders; at least two.
    pub runs: Vec<PathBuf>,
    /// The folder to write.
    pub out: Option<Out>,
    /// Tables go to standard output as JSON.
    pub json: bool,
    /// The share by which metrics may differ; beyond it the command fails.
    pub within: Option<f64>,
}

/// Does `job`.
pub(crate) fn run(job: &CompareJob) -> anyhow::Result<ExitCode> {
    let mut runs = read(&job.runs)?;
    name_apart(&mut runs, &job.runs);
    let bound = job.within.unwrap_or(BOUNDS.0);
    let report = compare(&runs, bound);
    let table = table(&runs);
    let verdict = judge(&runs, bound);
    for block in report.sections.iter().flat_map(|section| &section.blocks) {
        if let Block::Note(note) = block {
            say(&format!("note: {}", note.text));
        }
    }
    say(&report.answer.sentence);
    if let Some(out) = &job.out {
        let mut folder = RunFolder::begin(out)?;
        folder.write_table(&table)?;
        folder.write_report(&report.to_html())?;
        let info = RunInfo {
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine::facts(),
            started: machine::now(),
            ..RunInfo::default()
        };
        let path = folder.finish(&info)?;
        say(&format!("{}", path.join("report.html").display()));
    }
    let mut out = trammel_ground::stdout();
    if job.json {
        write_json([&table], &mut out)?;
    } else if job.out.is_none() && !verdict.is_empty() && !verdict.apart.is_empty() {
        write!(out, "{}", verdict.table(MOST_SHOWN))?;
        if verdict.apart.len() > MOST_SHOWN {
            let more = verdict.apart.len() - MOST_SHOWN;
            say(&format!("and {more} more; `-o DIR` or `--json` has all"));
        }
    }
    if verdict.is_empty() {
        say(&format!("error: {}", verdict.why_nothing()));
        return Ok(ExitCode::from(FAILED));
    }
    if job.within.is_none() {
        return Ok(ExitCode::from(DONE));
    }
    let agrees = verdict.apart.is_empty();
    Ok(ExitCode::from(if agrees { DONE } else { FAILED }))
}

/// Folders of one name are told apart by their whole paths.
fn name_apart(runs: &mut [Run], paths: &[PathBuf]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (n, run) in runs.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == names[n]).count() > 1 {
            run.name = paths[n].display().to_string();
        }
        // The very same folder twice.
        if paths[..n].contains(&paths[n]) {
            run.name = format!("{} ({})", run.name, n + 1);
        }
    }
}
