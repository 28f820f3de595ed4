//! `trammel compare`: lays several run folders side by side in one report.

use super::machine;
use crate::cli::DONE;
use crate::compare::{Run, compare, table};
use crate::report::Block;
use crate::run_folder::{RunFolder, RunInfo};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_core::table::write_json;

/// What `trammel compare` asks for.
#[derive(Debug)]
pub struct Job {
    /// The run folders; at least two.
    pub runs: Vec<PathBuf>,
    /// The folder to write.
    pub out: Option<PathBuf>,
    /// Tables go to standard output as JSON.
    pub json: bool,
}

/// Does `job`.
pub fn run(job: &Job) -> anyhow::Result<ExitCode> {
    let mut runs = job
        .runs
        .iter()
        .map(|path| Run::read(path))
        .collect::<Result<Vec<_>, _>>()?;
    name_apart(&mut runs, &job.runs);
    let report = compare(&runs);
    let table = table(&runs);
    for block in report.sections.iter().flat_map(|section| &section.blocks) {
        if let Block::Note(note) = block {
            crate::cli::say(&format!("note: {}", note.text));
        }
    }
    if let Some(out) = &job.out {
        let mut folder = RunFolder::create(out)?;
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
        crate::cli::say(&format!("{}", path.join("report.html").display()));
    }
    let mut out = std::io::stdout().lock();
    if job.json {
        write_json([&table], &mut out)?;
    } else if job.out.is_none() {
        write!(out, "{table}")?;
    }
    Ok(ExitCode::from(DONE))
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
