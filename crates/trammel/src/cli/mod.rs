//! The command line: one file a subcommand, and the exit codes that they share.
//!
//! Tables go to standard output; everything that is said to a person goes to standard error.

#[cfg(target_os = "linux")]
mod addresses;
#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod beside;
mod calibrate;
mod check;
mod citations;
mod compare;
mod completions;
mod conformance;
mod decode;
#[cfg(target_os = "linux")]
mod diverge;
mod diverge_logs;
mod doc;
#[cfg(target_os = "linux")]
mod doc_design;
#[cfg(target_os = "linux")]
mod doc_device;
mod durations;
#[cfg(target_os = "linux")]
mod element;
#[cfg(target_os = "linux")]
mod estimate;
mod estimate_page;
mod explain;
mod export;
mod failure;
mod fidelity;
pub(crate) mod folder;
mod formats;
mod gallery;
mod gather;
#[cfg(target_os = "linux")]
mod graph;
mod guess;
#[cfg(unix)]
mod header;
mod hint;
mod import;
#[cfg(target_os = "linux")]
mod itg;
mod k8s;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod kernel_compare;
#[cfg(target_os = "linux")]
mod link;
mod list;
#[cfg(target_os = "linux")]
mod log;
mod man;
#[cfg(target_os = "linux")]
mod metrics;
#[cfg(target_os = "linux")]
mod netfpga;
mod new;
mod options;
mod output;
mod packetdrill;
mod paper;
mod place;
mod point;
mod points;
#[cfg(test)]
mod python;
#[cfg(target_os = "linux")]
mod recv;
#[cfg(target_os = "linux")]
mod router;
mod run;
#[cfg(target_os = "linux")]
mod send;
#[cfg(target_os = "linux")]
mod sizes;
mod summary;
mod sweep;
mod sweep_plan;
mod tables;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use guess::Guess;
use std::io::{self, Write};
use std::process::ExitCode;
use trammel_ground::{DONE, USAGE, Unwritable, say, stdout};

const EXIT_CODES: &str = "Exit codes:
  0    done
  1    ran, and a check, threshold or verdict failed
  2    usage or configuration error
  3    the machine lacks something; the other engines still run
  130  interrupted, partial results kept";

/// Predicts, simulates and measures network performance from one description.
#[derive(Debug, Parser)]
#[command(name = "trammel", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Sweep(sweep::Args),
    Points(points::Args),
    Point(point::Args),
    Gather(gather::Args),
    K8s(k8s::Args),
    SweepPlan(sweep_plan::Args),
    Paper(paper::Args),
    Place(place::Args),
    #[cfg(target_os = "linux")]
    Bench(Box<bench::Args>),
    #[cfg(target_os = "linux")]
    Router(Box<router::Args>),
    #[cfg(target_os = "linux")]
    Graph(graph::Args),
    #[cfg(target_os = "linux")]
    Estimate(Box<estimate::Args>),
    #[cfg(target_os = "linux")]
    Send(Box<send::Args>),
    #[cfg(target_os = "linux")]
    Recv(recv::Args),
    #[cfg(target_os = "linux")]
    Link(link::Args),
    #[cfg(target_os = "linux")]
    Log(log::Args),
    #[cfg(target_os = "linux")]
    Netfpga(netfpga::Args),
    Decode(decode::Args),
    Import(import::Args),
    Calibrate(calibrate::Args),
    #[cfg(target_os = "linux")]
    Kernel(kernel::Args),
    Fidelity(fidelity::Args),
    #[cfg(target_os = "linux")]
    Diverge(diverge::Args),
    Packetdrill(packetdrill::Args),
    Conformance(conformance::Args),
    Check(check::Args),
    New(new::Args),
    Gallery(gallery::Args),
    Explain(explain::Args),
    List(list::Args),
    Doc(doc::Args),
    Compare(compare::Args),
    Export(export::Args),
    #[cfg(unix)]
    Header(header::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Reads the arguments of the process, does what they ask and returns the exit code.
pub fn main() -> ExitCode {
    // Frames are sent and delayed to the microsecond.
    #[cfg(target_os = "linux")]
    trammel_io::clock::wake_on_time();
    #[cfg(target_os = "linux")]
    if let Some(name) = called_as() {
        if name == trammel_transport::host::NAME {
            return trammel_transport::host::main();
        }
        if let Some(program) = crate::click::tools::find(&name) {
            return program();
        }
    }
    let parsed = match parse() {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let outcome = match parsed.command {
        Command::Run(args) => run::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Points(args) => points::run(&args),
        Command::Point(args) => point::run(&args),
        Command::Gather(args) => gather::run(&args),
        Command::K8s(args) => k8s::run(&args),
        Command::SweepPlan(args) => sweep_plan::run(&args),
        Command::Paper(args) => paper::run(args),
        Command::Place(args) => place::run(&args),
        #[cfg(target_os = "linux")]
        Command::Bench(args) => bench::run(&args),
        #[cfg(target_os = "linux")]
        Command::Router(args) => router::run(&args),
        #[cfg(target_os = "linux")]
        Command::Graph(args) => graph::run(&args),
        #[cfg(target_os = "linux")]
        Command::Estimate(args) => estimate::run(&args),
        #[cfg(target_os = "linux")]
        Command::Send(args) => send::run(&args),
        #[cfg(target_os = "linux")]
        Command::Recv(args) => recv::run(&args),
        #[cfg(target_os = "linux")]
        Command::Link(args) => link::run(&args),
        #[cfg(target_os = "linux")]
        Command::Log(args) => log::run(&args),
        #[cfg(target_os = "linux")]
        Command::Netfpga(args) => netfpga::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::Import(args) => import::run(args),
        Command::Calibrate(args) => calibrate::run(&args),
        #[cfg(target_os = "linux")]
        Command::Kernel(args) => kernel::run(&args),
        Command::Fidelity(args) => fidelity::run(&args),
        #[cfg(target_os = "linux")]
        Command::Diverge(args) => diverge::run(&args),
        Command::Packetdrill(args) => packetdrill::run(&args),
        Command::Conformance(args) => conformance::run(&args),
        Command::Check(args) => check::run(&args),
        Command::New(args) => new::run(&args),
        Command::Gallery(args) => gallery::run(&args),
        Command::Explain(args) => explain::run(&args, &Cli::command()),
        Command::List(args) => list::run(&args),
        Command::Doc(args) => doc::run(&args),
        Command::Compare(args) => compare::run(args),
        Command::Export(args) => export::run(&args),
        #[cfg(unix)]
        Command::Header(args) => header::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
    };
    finished(outcome)
}

/// The exit code of a command, when all that it wrote has arrived.
fn finished(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    let code = outcome.unwrap_or_else(|error| failure::tell(&error));
    // What is still on its way may not arrive.
    match stdout::finish() {
        Ok(()) => code,
        // The reader of our output has what it wanted.
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => code,
        Err(why) => failure::tell(&why.into()),
    }
}

/// Reads the arguments; gives the exit code where there is nothing to do.
fn parse() -> Result<Cli, ExitCode> {
    let mut command = Cli::command();
    let arguments: Vec<_> = std::env::args_os().collect();
    let arguments = match guess::guess(&command, &arguments) {
        None => arguments,
        Some(Guess::Command(line)) => {
            say(&format!("`{}`", guess::words(&line)));
            line
        }
        Some(Guess::Folder(dir)) => {
            return Err(finished(summary::show(&dir)));
        }
        Some(Guess::Unknown(why)) => {
            say(&format!("error: {why}"));
            return Err(ExitCode::from(USAGE));
        }
    };
    let arguments = hint::shipped_files(hint::help_of_router(arguments));
    let parsed = command
        .try_get_matches_from_mut(arguments)
        .and_then(|matches| {
            folder::note(&command, &matches);
            failure::note(&command, &matches);
            Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
        });
    parsed.map_err(|error| {
        let code = if error.use_stderr() { USAGE } else { DONE };
        let shown = error.print().and_then(|()| stdout().flush());
        match shown {
            Err(why) if !error.use_stderr() => failure::tell(&anyhow::Error::new(io::Error::new(
                why.kind(),
                Unwritable::from(why),
            ))),
            _ => ExitCode::from(code),
        }
    })
}

/// The name that this program was called by.
#[cfg(target_os = "linux")]
fn called_as() -> Option<String> {
    let path = std::env::args_os().next()?;
    let name = std::path::Path::new(&path).file_name()?;
    Some(name.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
