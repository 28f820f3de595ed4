//! `trammel point`: makes runs of a scenario by their keys, and puts them into a store.

use super::options::{Which, interrupted};
use std::process::ExitCode;
use trammel_ground::{DONE, FAILED, INTERRUPTED, Unsupported, identity, say};
use trammel_report::store::Store;

/// Make some runs of a scenario, and put them into a store
///
/// A run that the store has already is not made again. Many processes, on many machines, may fill
/// one store at once: a run follows from its key and from the build of the program, so it does not
/// matter who makes it, or whether two do. A run that fails is a result too, and is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  trammel points s.toml --batch 10s | xargs -P 8 -L 1 trammel point s.toml --store runs")]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Keys of the runs, as `trammel points` lists them, separated by commas
    #[arg(
        long,
        value_name = "KEYS",
        value_delimiter = ',',
        required_unless_present = "part"
    )]
    key: Vec<String>,
    /// Make the I-th of N parts of the runs, from 0: every N-th run
    #[arg(long, value_name = "I/N", value_parser = part, conflicts_with = "key")]
    part: Option<(usize, usize)>,
    /// Store to put them into: a folder that is made where there is none
    #[arg(long, value_name = "DIR")]
    store: String,
    /// Refuse, with exit code 3, where this is another build of the program than BUILD, the hash
    /// that its store has as name of a folder or the whole of it
    #[arg(long, value_name = "BUILD")]
    build: Option<String>,
    /// Threads to use [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// A part, such as `0/8`.
fn part(text: &str) -> Result<(usize, usize), String> {
    let numbers = text
        .split_once('/')
        .map(|(at, parts)| (at.parse(), parts.parse()));
    match numbers {
        Some((Ok(at), Ok(parts))) if at < parts => Ok((at, parts)),
        _ => Err("give a part from 0 and how many there are, such as `0/8`".to_owned()),
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let build = identity::of_program();
    if let Some(other) = args
        .build
        .as_ref()
        .filter(|other| !build.starts_with(*other))
    {
        let what = format!("this is build `{build}` of trammel, and `{other}` is wanted");
        return Err(Unsupported::error(
            &what,
            "install the same file on all machines",
        ));
    }
    let transport = args.which.transport()?;
    let store = Store::open(&args.store)?;
    let keys = match args.part {
        None => args.key.clone(),
        Some((at, parts)) => {
            let runs = transport.list()?.into_iter().map(|run| run.key);
            runs.skip(at).step_by(parts).collect()
        }
    };
    let threads = args.threads.map(usize::from);
    let interrupted = interrupted()?;
    let made = transport.put_runs(&keys, store, threads, &interrupted)?;
    for why in made.failures.iter().chain(&made.faults) {
        say(&format!("error: {}, {why}", args.which.scenario.display()));
    }
    Ok(ExitCode::from(match &made {
        made if made.is_interrupted => INTERRUPTED,
        made if made.failures.is_empty() && made.faults.is_empty() => DONE,
        _ => FAILED,
    }))
}
