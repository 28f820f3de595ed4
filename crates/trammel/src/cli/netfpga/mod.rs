//! `trammel netfpga`: the NetFPGA reference designs on this machine's interfaces.

mod capture;
mod console;
mod mirror;
mod place;
mod reg;
mod replay;
mod run;
mod table;
mod words;

use clap::Subcommand;
use std::process::ExitCode;

/// Run a NetFPGA reference design on interfaces of this machine, and use its registers and tables
///
/// The card has up to four ports, host interfaces nf2c0 to nf2c3 and the registers of the NetFPGA
/// 1G designs. Other commands reach it by local sockets that only its owner may use.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel netfpga run --ports eth1,eth2 &\n  trammel netfpga table \
                  list\n  trammel netfpga reg dump --nonzero"
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Args>),
    Reg(reg::Args),
    Table(table::Args),
    Cli(console::Args),
    Mirror(mirror::Args),
    Replay(replay::Args),
    Capture(capture::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Run(args) => run::run(args),
        Command::Reg(args) => reg::run(args),
        Command::Table(args) => table::run(args),
        Command::Cli(args) => console::run(args),
        Command::Mirror(args) => mirror::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Capture(args) => capture::run(args),
    }
}
