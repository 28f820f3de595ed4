//! `trammel import`: files of other programs as one run folder, each file a point.

mod figures;
mod page;
mod point;
mod scenario;
mod tables;

use anyhow::{Context, bail};
use point::Point;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trammel_formats::{Format, Imported, read};
use trammel_ground::{DONE, machine, print, say};
use trammel_report::provenance::provenance;
use trammel_report::run_folder::{Out, RunFolder, RunInfo, file_name};
use trammel_stats::table::write_json;

/// What `trammel import` asks for.
#[derive(Debug)]
pub(crate) struct ImportJob {
    /// The files.
    pub(crate) files: Vec<PathBuf>,
    /// Their format, where it was told.
    pub(crate) format: Option<Format>,
    /// Names of the flows of each file.
    pub(crate) names: Vec<String>,
    /// The folder to write.
    pub(crate) out: Option<Out>,
    /// Tables go to standard output as JSON.
    pub(crate) json: bool,
}

/// Does `job`.
pub(crate) fn run(job: &ImportJob) -> anyhow::Result<ExitCode> {
    // A folder that cannot be written is a fault before the work, not after it.
    let folder = job.out.as_ref().map(RunFolder::begin).transpose()?;
    let mut points = Vec::new();
    for path in &job.files {
        points.push(Point {
            name: point_name(path, &job.files, &points),
            file: path.display().to_string(),
            imported: tables::named(import(path, job.format)?, &job.names)
                .with_context(|| format!("`{}`", path.display()))?,
        });
    }
    for point in &points {
        for note in &point.imported.notes {
            say(&one_line(&format!("note: `{}`: {note}", point.file)));
        }
    }
    let tables = tables::all(&points);
    let mut report = page::page(&points, &tables);
    if let Some(mut folder) = folder {
        for table in &tables {
            folder.write_table(table)?;
        }
        let mut taken = BTreeSet::new();
        for point in &points {
            for (repeat, run) in point.imported.runs.iter().enumerate() {
                let name = match point.imported.runs.len() {
                    1 => point.name.clone(),
                    _ => format!("{}.{repeat}", point.name),
                };
                for trace in &run.traces {
                    let entity = own_file(&name, &trace.entity, &mut taken);
                    folder.write_trace(&name, &entity, &trace.samples)?;
                }
            }
        }
        let made = scenario::of(&points);
        if let Some(made) = &made {
            folder.write(scenario::FILE, made.text.as_bytes())?;
            for (name, text) in &made.traces {
                folder.write(name, text.as_bytes())?;
            }
        }
        let files: Vec<&str> = points.iter().map(|point| point.file.as_str()).collect();
        let info = RunInfo {
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: files.join(" "),
            machine: machine::facts(),
            started: machine::now(),
            wall_s: BTreeMap::new(),
            ..RunInfo::default()
        };
        let facts = points.iter().map(|point| {
            let by = format!("{}: {}", point.imported.format.name(), point.imported.by);
            (point.file.clone(), by)
        });
        report.provenance = provenance(&info, facts.collect());
        folder.write_page(&report)?;
        let path = folder.finish(&info)?;
        say(&one_line(&report.answer.sentence));
        say(&path.join("report.html").display().to_string());
        if made.is_some() {
            say(&path.join(scenario::FILE).display().to_string());
        }
    }
    if job.json {
        write_json(&tables, trammel_ground::stdout())?;
    } else if job.out.is_none() {
        let shown = tables::shown(&tables);
        let texts: Vec<String> = shown.iter().map(|table| tables::text(table)).collect();
        print(texts.join("\n\n").trim_end())?;
    }
    Ok(ExitCode::from(DONE))
}

fn import(path: &Path, format: Option<Format>) -> anyhow::Result<Imported> {
    let input: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        if path.is_dir() {
            bail!(
                "`{}` is a folder; give the files in it that are to be imported",
                path.display()
            );
        }
        let file = File::open(path).with_context(|| format!("`{}`", path.display()))?;
        Box::new(BufReader::new(file))
    };
    read(input, format).with_context(|| format!("`{}`", path.display()))
}

/// A text with names of files in it as one line: what would break it is replaced.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// What the file of the samples of `entity` is called: names that differ may have one file's name.
fn own_file(point: &str, entity: &str, taken: &mut BTreeSet<String>) -> String {
    let mut own = entity.to_owned();
    let mut number = 2;
    while !taken.insert(file_name(&format!("{point}.{own}"))) {
        own = format!("{entity}-{number}");
        number += 1;
    }
    own
}

/// What the point of `path` is called: `base` where there is one only, as in runs without a sweep.
fn point_name(path: &Path, all: &[PathBuf], before: &[Point]) -> String {
    if all.len() == 1 {
        return "base".to_owned();
    }
    let stem = path.file_name().unwrap_or(path.as_os_str());
    let stem = stem.to_string_lossy();
    let stem = stem.split('.').next().unwrap_or(&stem).to_owned();
    let stem = if stem.is_empty() {
        "file".to_owned()
    } else {
        stem
    };
    let is_taken = |name: &str| before.iter().any(|point| point.name == name);
    let mut name = stem.clone();
    let mut number = 2;
    while is_taken(&name) {
        name = format!("{stem}-{number}");
        number += 1;
    }
    name
}
