//! Called as `click`: its words, its landmarks, its exit codes.

pub(crate) mod tools;

use clap::Parser;
use std::process::ExitCode;
use trammel_driver::command::{Ended, Options};

/// Runs a Click router configuration at user level.
#[derive(Debug, Parser)]
#[command(
    name = "click",
    disable_help_flag = true,
    disable_version_flag = true,
    max_term_width = 100
)]
struct Click {
    #[command(flatten)]
    options: Options,
    /// Print the version
    #[arg(short = 'v', long)]
    version: bool,
}

/// Reads the arguments of the process and does what they ask.
pub(crate) fn main() -> ExitCode {
    let click = match Click::try_parse() {
        Ok(click) => click,
        Err(why) => {
            let _ = why.print();
            return ExitCode::from(u8::from(why.use_stderr()));
        }
    };
    if click.version {
        let text = concat!("click (Trammel) ", env!("CARGO_PKG_VERSION"));
        return match trammel_ground::print(text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let ended = click.options.run(&mut |_, said| {
        let text = said.click();
        if !text.is_empty() {
            trammel_ground::say(text.trim_end_matches('\n'));
        }
    });
    match ended {
        Ok(Ended::Well(code)) => ExitCode::from(code),
        Ok(Ended::Interrupted) => ExitCode::SUCCESS,
        Ok(Ended::HandlerFailed | Ended::Refused | Ended::Unsupported) => ExitCode::FAILURE,
        Err(why) => {
            trammel_ground::say(&why);
            ExitCode::FAILURE
        }
    }
}
