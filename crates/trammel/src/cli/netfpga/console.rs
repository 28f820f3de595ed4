//! `trammel netfpga cli`: the command line of the control software.

use super::words::refused;
use std::io::{BufRead, stdin};
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_card::CommandLine;
use trammel_card::live::usual_socket;
use trammel_ground::{DONE, FAILED, print, say};

/// Give commands to the control software of a card
///
/// Without a command, those that standard input has, a line each. `help` lists them all.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel netfpga cli show ip route\n  trammel netfpga cli --json \
                  show ip arp\n  trammel netfpga cli < script"
)]
pub(super) struct Args {
    /// What the names of the card's host interfaces begin with
    #[arg(long, value_name = "NAME", default_value = "nf2c")]
    prefix: String,
    /// Socket of the command line [default: trammel-PREFIX.console in $XDG_RUNTIME_DIR, or in /run]
    #[arg(long, value_name = "PATH")]
    console: Option<PathBuf>,
    /// Write replies as JSON, a line each
    #[arg(long)]
    json: bool,
    /// The command
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    command: Vec<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let usual = || usual_socket(&args.prefix, "console");
    let path = args.console.clone().unwrap_or_else(usual);
    let mut card = CommandLine::connect(&path).map_err(refused)?;
    let mut all_well = true;
    let mut give = |line: &str| -> anyhow::Result<()> {
        let (is_ok, text) = card.run(line, args.json).map_err(refused)?;
        all_well &= is_ok;
        if is_ok || args.json {
            if !text.is_empty() {
                print(&text)?;
            }
        } else {
            say(&format!("error: {text}"));
        }
        Ok(())
    };
    if args.command.is_empty() {
        for line in stdin().lock().lines() {
            give(&line?)?;
        }
    } else {
        give(&args.command.join(" "))?;
    }
    Ok(ExitCode::from(if all_well { DONE } else { FAILED }))
}
