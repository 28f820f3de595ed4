//! `click-check`: says what is wrong with a configuration, in Click's words.

use super::configuration::{Source, tell, write_config};
use super::end::{Done, Failed, code};
use super::options::{COMMON, Tool, flag};
use std::process::ExitCode;
use trammel_router::lang;
use trammel_router::{BuiltIn, check};
use trammel_workbench::names;
use trammel_workbench::source::Files;

const TOOL: Tool = Tool {
    name: "click-check",
    summary: "Checks a configuration.",
    options: &[
        COMMON,
        &[
            flag('p', "filter", "print the configuration if it is right"),
            flag('b', "bsdmodule", "taken for Click's sake"),
            flag('l', "linuxmodule", "taken for Click's sake"),
            flag('u', "userlevel", "taken for Click's sake"),
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
    let files = Files::new(given.last('C'));
    let variables: Vec<_> = given.variables().collect();
    let options = lang::Options {
        definitions: &variables,
        loader: &files,
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let said = check(&source.text, &source.name, &options, names::here());
    tell(&said);
    if said.has_errors() {
        return Err(Failed);
    }
    if given.has('p') || given.last('o').is_some() {
        let flat = source.flat(&given, false)?;
        write_config(&given, &flat, &source.members)?;
    }
    Ok(())
}
