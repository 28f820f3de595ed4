//! `click-flatten`: prints a configuration without compounds, or what is in it.

use super::configuration::{Source, write, write_config};
use super::end::{Done, code};
use super::options::{COMMON, Tool, flag};
use std::collections::BTreeSet;
use std::process::ExitCode;

const TOOL: Tool = Tool {
    name: "click-flatten",
    summary: "Opens all compounds of a configuration.",
    options: &[
        COMMON,
        &[
            flag('c', "classes", "print the classes that are used"),
            flag('n', "names", "print the names of the elements"),
            flag('d', "declarations", "print the declarations"),
            flag(
                'K',
                "config",
                "print the configuration only, not an archive",
            ),
            flag('X', "expand-vars", "replace the variables of the file"),
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
    let flat = source.flat(&given, given.has('X'))?;
    let elements = flat.elements.iter();
    let printed: Option<String> = if given.has('c') {
        let classes: BTreeSet<&str> = elements.map(|e| e.class.as_str()).collect();
        Some(classes.iter().map(|class| format!("{class}\n")).collect())
    } else if given.has('n') {
        let names: BTreeSet<&str> = elements.map(|e| e.name.as_str()).collect();
        Some(names.iter().map(|name| format!("{name}\n")).collect())
    } else if given.has('d') {
        let all = elements.map(|e| format!("{} :: {}\n", e.name, e.class));
        Some(all.collect::<BTreeSet<String>>().into_iter().collect())
    } else {
        None
    };
    if let Some(printed) = printed {
        return write(&given, printed.as_bytes());
    }
    if given.has('K') {
        source.members.clear();
    }
    write_config(&given, &flat, &source.members)
}
