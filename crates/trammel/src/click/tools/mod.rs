//! The programs that stand beside `click`, by name.
//!
//! Each reads a configuration as Click's tools do — any name may be a class —, changes or prints
//! it, and keeps the other members of an archive.

mod align;
mod buildtool;
mod check;
mod combine;
mod configuration;
mod end;
mod flatten;
mod options;
mod pretty;
mod uncombine;
mod undead;
mod xform;

use std::process::ExitCode;

/// What does a program's work.
type Main = fn() -> ExitCode;

/// Name and what does the work.
const TOOLS: &[(&str, Main)] = &[
    ("click", crate::click::main),
    ("click-align", align::main),
    ("click-buildtool", buildtool::main),
    ("click-check", check::main),
    ("click-combine", combine::main),
    ("click-flatten", flatten::main),
    ("click-pretty", pretty::main),
    ("click-uncombine", uncombine::main),
    ("click-undead", undead::main),
    ("click-xform", xform::main),
];

/// What does the work of the program called `name`, where there is one.
pub(crate) fn find(name: &str) -> Option<Main> {
    let tool = TOOLS.iter().find(|tool| tool.0 == name)?;
    Some(tool.1)
}
