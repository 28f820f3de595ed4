//! `click-align`: adds the `Align`s that machines without unaligned reads need.

use super::configuration::{Source, tell, write_config};
use super::end::{Done, code};
use super::options::{COMMON, Tool, flag};
use std::process::ExitCode;
use trammel_router::transform::align::{align, assertions};

const TOOL: Tool = Tool {
    name: "click-align",
    summary: "Adds the `Align` elements that a configuration needs.",
    options: &[
        COMMON,
        &[
            flag('A', "assertions", "add `CheckAlign`s instead"),
            flag('b', "bsdmodule", "taken for Click's sake"),
            flag('l', "linuxmodule", "taken for Click's sake"),
            flag('u', "userlevel", "taken for Click's sake"),
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
    let source = Source::of(&given)?;
    let flat = source.flat(&given, false)?;
    let flat = if given.has('A') {
        assertions(flat)
    } else {
        let (flat, said) = align(flat);
        tell(&said);
        flat
    };
    write_config(&given, &flat, &source.members)
}
