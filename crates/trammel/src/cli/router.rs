//! `trammel router`: runs a configuration in Click's language.

use clap::Args as ClapArgs;
use std::process::ExitCode;
use trammel_driver::command::{Ended, Options};
use trammel_ground::{DONE, FAILED, INTERRUPTED, UNSUPPORTED, USAGE};
use trammel_router::diagnostic;

/// Run a router configuration in Click's language on this machine.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let ended = args.options.run(&mut |_, said| {
        let text = diagnostic::render(said);
        if !text.is_empty() {
            trammel_ground::say(text.trim_end_matches('\n'));
        }
    });
    Ok(ExitCode::from(match ended.map_err(anyhow::Error::msg)? {
        Ended::Well(0) => DONE,
        Ended::Well(code) => code,
        Ended::HandlerFailed => FAILED,
        Ended::Refused => USAGE,
        Ended::Unsupported => UNSUPPORTED,
        Ended::Interrupted => INTERRUPTED,
    }))
}
