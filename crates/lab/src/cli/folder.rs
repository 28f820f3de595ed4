//! The folder that a command writes, and for what: `-o`, `--force` and all other arguments.

use crate::engine::machine;
use crate::engine::run::provenance;
use crate::report::{Answer, Block, Note, NoteKind, Report, Section, TableView};
use crate::run_folder::{Asked, Out, RunFolder, RunInfo, Setting};
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::OnceLock;
use trammel_stats::table::Table;

/// Arguments that decide where and how results are shown, and none of them.
const NEUTRAL: [&str; 8] = [
    "out", "force", "threads", "json", "format", "series", "within", "profile",
];

/// What this process was asked for.
static ASKED: OnceLock<Asked> = OnceLock::new();

/// Where a command writes its results.
#[derive(Debug, clap::Args)]
// Its name is that of the group of the arguments around it.
#[group(skip)]
pub(super) struct Args {
    /// Folder to write tables, figures and the report to
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the folder whatever run it holds, and start anew
    #[arg(long, requires = "out")]
    force: bool,
}

impl Args {
    /// The folder that is wanted.
    pub(super) fn wanted(&self) -> Option<Out> {
        self.out.as_ref().map(|dir| Out {
            dir: dir.clone(),
            asked: asked().clone(),
            is_forced: self.force,
        })
    }

    /// Whether there is one.
    pub(super) fn is_some(&self) -> bool {
        self.out.is_some()
    }
}

/// The command and its arguments, as [`note`] has them.
fn asked() -> &'static Asked {
    static NONE: OnceLock<Asked> = OnceLock::new();
    let none = || NONE.get_or_init(Asked::default);
    ASKED.get().unwrap_or_else(none)
}

/// Notes what the command line asks for.
pub(super) fn note(command: &clap::Command, matches: &ArgMatches) {
    let Some((name, matches)) = matches.subcommand() else {
        return;
    };
    let Some(command) = command.find_subcommand(name) else {
        return;
    };
    // A sweep is a run that uses what its folder holds.
    let name = if name == "sweep" { "run" } else { name };
    let settings = command.get_arguments().filter_map(|argument| {
        let id = argument.get_id().as_str();
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        if !is_given || NEUTRAL.contains(&id) {
            return None;
        }
        let values: Vec<&OsStr> = matches.get_raw(id)?.collect();
        let defaults = argument.get_default_values();
        if values.iter().eq(defaults.iter()) {
            return None;
        }
        let name = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => argument.get_value_names()?.first()?.to_string(),
        };
        Some((name, values.into_iter().map(Setting::of).collect()))
    });
    let asked = Asked {
        command: name.to_owned(),
        settings: settings.collect::<BTreeMap<_, _>>(),
    };
    // A process has one command line.
    let _ = ASKED.set(asked);
}

/// What a command without a scenario has found, for its folder.
pub(crate) struct Found {
    /// What it is about.
    pub(crate) title: String,
    /// The question that it answers.
    pub(crate) question: &'static str,
    /// The answer.
    pub(crate) answer: Answer,
    /// What a reader must know.
    pub(crate) notes: Vec<String>,
    /// The charts.
    pub(crate) charts: Vec<Block>,
    /// The tables, each with its heading.
    pub(crate) tables: Vec<(&'static str, Table)>,
    /// Other files: name and contents.
    pub(crate) files: Vec<(&'static str, String)>,
    /// The file that was read, and its text.
    pub(crate) source: (String, String),
}

/// Writes the folder: tables, files, and a page with all of them. Returns the page's path.
pub(crate) fn write(mut folder: RunFolder, found: Found) -> anyhow::Result<PathBuf> {
    for (_, table) in &found.tables {
        folder.write_table(table)?;
    }
    for (name, text) in &found.files {
        folder.write(name, text.as_bytes())?;
    }
    let (scenario, scenario_text) = found.source;
    let info = RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario,
        scenario_text,
        machine: machine::facts(),
        started: machine::now(),
        ..RunInfo::default()
    };
    let note = |text: String| {
        // On the terminal the text says itself what it is.
        let (kind, text) = match text.strip_prefix("note: ") {
            Some(rest) => (NoteKind::Info, rest.to_owned()),
            None => (NoteKind::Warning, text),
        };
        Block::Note(Note { kind, text })
    };
    let table = |(title, table): (&str, Table)| {
        Block::Table(TableView {
            title: title.to_owned(),
            table,
            is_open: true,
        })
    };
    let notes = found.notes.into_iter().map(note);
    let tables = found.tables.into_iter().map(table);
    let subject = vec![("file".to_owned(), info.scenario.clone())];
    let report = Report {
        title: found.title,
        question: found.question.to_owned(),
        answer: found.answer,
        sections: vec![Section {
            heading: "Results".to_owned(),
            blocks: notes.chain(found.charts).chain(tables).collect(),
            ..Section::default()
        }],
        provenance: provenance(&info, subject),
        ..Report::default()
    };
    folder.write_page(&report)?;
    Ok(folder.finish(&info)?.join("report.html"))
}
