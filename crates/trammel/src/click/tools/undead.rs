//! `click-undead`: removes what no packet can pass.

use super::configuration::{Source, tell, write_config};
use super::end::{Done, Failed, code};
use super::options::{COMMON, Tool, flag};
use std::process::ExitCode;
use trammel_router::transform::undead::undead;

const TOOL: Tool = Tool {
    name: "click-undead",
    summary: "Removes elements that lie between no source and sink, and those that decide nothing.",
    options: &[
        COMMON,
        &[
            flag('k', "kernel", "taken for Click's sake"),
            flag('u', "user", "taken for Click's sake"),
            flag(
                'c',
                "config",
                "print the configuration only, not an archive",
            ),
            flag('V', "verbose", "taken for Click's sake"),
        ],
    ],
};

pub(super) fn main() -> ExitCode {
    code(run())
}

fn run() -> Done {
    let Some(given) = TOOL.given()? else {
        return Ok(());
    };
    let mut source = Source::of(&given)?;
    let (flat, said) = undead(source.flat(&given, false)?);
    tell(&said);
    if said.has_errors() {
        return Err(Failed);
    }
    if given.has('c') {
        source.members.clear();
    }
    write_config(&given, &flat, &source.members)
}
