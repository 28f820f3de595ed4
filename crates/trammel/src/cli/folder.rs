//! The folder that a command writes, and for what: `-o`, `--force` and all other arguments.

use clap::ArgMatches;
use clap::parser::ValueSource;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::OnceLock;
use trammel_report::run_folder::{Asked, Out, Setting};

/// Arguments that decide where and how results are shown, and none of them.
const NEUTRAL: [&str; 13] = [
    "out", "force", "parquet", "store", "threads", "json", "format", "series", "within", "profile",
    "live", "tui", "metrics",
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
    /// Replace the folder, whatever run it holds, and start anew
    #[arg(long, requires = "out")]
    force: bool,
    /// Write every table as Parquet too
    #[arg(long, requires = "out")]
    parquet: bool,
}

impl Args {
    /// The folder that is wanted.
    pub(super) fn wanted(&self) -> Option<Out> {
        self.out.as_ref().map(|dir| Out {
            dir: dir.clone(),
            asked: asked().clone(),
            is_forced: self.force,
            has_parquet: self.parquet,
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
    // A sweep is a run that uses what its folder holds, and what is gathered is what a run makes.
    let name = match name {
        "sweep" | "gather" => "run",
        name => name,
    };
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
