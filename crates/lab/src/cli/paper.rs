//! `trammel paper`: published tables, ours beside theirs.

use crate::engine::paper::{Job, run as reproduce};
use crate::fidelity;
use crate::paper::library;
use anyhow::bail;
use std::path::PathBuf;
use std::process::ExitCode;

/// Reproduce published tables: ours beside theirs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel paper tekala-2007 -o out\n\n`trammel list papers` shows the keys."
)]
pub(super) struct Args {
    /// Keys of the papers; all of them without any
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    /// Every point and repeat, in place of the two-minute choice
    #[arg(long)]
    full: bool,
    /// Folder to write tables, figures and the report to
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads to use [default: one a core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
    /// With `linux-6.12`: write the study to docs/fidelity.md
    #[arg(long)]
    write_docs: bool,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let interrupted = super::options::interrupted()?;
    let threads = args.threads.map(usize::from);
    if args.keys == [fidelity::KEY] {
        return fidelity::command::execute(&fidelity::command::Job {
            options: fidelity::Options {
                folder: library::find(fidelity::KEY)?.dir,
                full: args.full,
                threads,
            },
            out: args.out,
            document: args.write_docs.then(|| "docs/fidelity.md".into()),
            json: args.json,
            interrupted,
        });
    }
    if args.write_docs {
        bail!(
            "`--write-docs` is for one paper: give `trammel paper {} --write-docs`",
            fidelity::KEY
        );
    }
    reproduce(&Job {
        keys: args.keys,
        full: args.full,
        out: args.out,
        threads,
        json: args.json,
        interrupted,
    })
}
