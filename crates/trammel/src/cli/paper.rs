//! `trammel paper`: published tables, ours beside theirs.

use anyhow::bail;
use std::process::ExitCode;
use trammel_core::time::Span;
use trammel_papers::choice::Choice;
use trammel_papers::library;
use trammel_papers::reproduce::{PaperJob, run as reproduce};
use trammel_streams::peers::Peer;
use trammel_transport::fidelity;

/// Recompute the tables of published papers, next to the originals
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel paper tekala-2007 -o out\n\n\
                  `trammel list papers` shows the keys.")]
pub(super) struct Args {
    /// Keys of the papers [default: all]
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    /// Run every point and repeat, not the two-minute selection
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    out: super::folder::Args,
    /// For measured streams: how long to send each [default: the paper's duration]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    duration: Option<Span>,
    /// For measured streams: another generator, if installed, that alternates with Trammel
    #[arg(long, value_name = "PROGRAM", value_enum, value_delimiter = ',')]
    beside: Vec<Peer>,
    /// For experiments in a kernel of yours: a source tree, or `packaged+x.patch`, as in
    /// `[measure] source`
    #[arg(long, value_name = "SOURCE")]
    kernel: Option<String>,
    /// Threads to use [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
    /// With `linux-6.12`: write the study to docs/linux-6.12.md
    #[arg(long)]
    write_docs: bool,
}

/// A path from where the user is, not from the folder of a scenario.
fn here(source: String) -> String {
    match std::path::absolute(&source) {
        Ok(path) if path.exists() => path.display().to_string(),
        _ => source,
    }
}

/// A time of streams.
fn duration(text: &str) -> Result<Span, String> {
    let time = super::durations::parse(text)?;
    if (0.01..=3600.0).contains(&time.as_secs_f64()) {
        return Ok(time);
    }
    Err("it must be from 10 ms to 3600 s".to_owned())
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let interrupted = super::options::interrupted()?;
    let threads = args.threads.map(usize::from);
    if args.keys == [fidelity::KEY] {
        return fidelity::command::execute(&fidelity::command::FidelityJob {
            options: fidelity::Options {
                folder: library::find(fidelity::KEY)?.dir,
                full: args.full,
                threads,
            },
            out: args.out.wanted(),
            document: args.write_docs.then(|| "docs/linux-6.12.md".into()),
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
    reproduce(&PaperJob {
        keys: args.keys,
        choice: Choice {
            is_full: args.full,
            threads,
            seconds: args.duration.map(Span::as_secs_f64),
            peers: args.beside,
            kernel: args.kernel.map(here),
            ..Choice::default()
        },
        out: args.out.wanted(),
        json: args.json,
        interrupted,
    })
}
