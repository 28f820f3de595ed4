//! `trammel header`: the interface of congestion controls in C.

use super::output::out;
use std::process::ExitCode;

/// Write `trammel.h`, by which a library in C has a congestion control
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel header > trammel.h\n\
                  \x20 cc -shared -fPIC -O2 -o libmine.so mine.c\n\n\
                  A scenario then has `variant = { library = \"libmine.so\" }`.")]
pub(super) struct Args {}

pub(super) fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    out(trammel_foreign::HEADER.trim_end())
}
