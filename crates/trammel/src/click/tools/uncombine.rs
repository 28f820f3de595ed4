//! `click-uncombine`: takes one router out of a combination.

use super::configuration::{Source, tell, write_config};
use super::end::{Done, Failed, code, fail};
use super::options::{Tool, value};
use std::process::ExitCode;
use trammel_router::transform::uncombine::uncombine;

const TOOL: Tool = Tool {
    name: "click-uncombine",
    summary: "Takes the router called COMPONENT out of a combination: [ROUTERFILE [COMPONENT]].",
    options: &[&[
        value('f', "file", "read the combination from FILE"),
        value('n', "name", "the router to take out"),
        value('o', "output", "write to FILE"),
    ]],
};

pub(super) fn main() -> ExitCode {
    code(run())
}

fn run() -> Done {
    let Some(given) = TOOL.given()? else {
        return Ok(());
    };
    let mut words = given.each(' ');
    let file = given.last('f').or_else(|| words.next()).unwrap_or("-");
    let Some(component) = given.last('n').or_else(|| words.next()) else {
        return Err(fail("click-uncombine: no component specified"));
    };
    let mut source = Source::file(file)?;
    let map = source
        .members
        .iter_mut()
        .find(|member| member.name == "componentmap");
    let map = map
        .map(|member| std::mem::take(&mut member.data))
        .unwrap_or_default();
    let map = String::from_utf8_lossy(&map).into_owned();
    if !map.split_whitespace().any(|name| name == component) {
        let name = &source.name;
        return Err(fail(&format!(
            "click-uncombine: {name}: no '{component}' component"
        )));
    }
    // A router within a combined router is taken out step by step.
    let mut flat = source.flat(&given, false)?;
    let mut taken = String::new();
    for part in component.split('/') {
        taken = if taken.is_empty() {
            part.to_owned()
        } else {
            format!("{taken}/{part}")
        };
        if map.split_whitespace().any(|name| name == taken) {
            let said;
            (flat, said) = uncombine(flat, &taken);
            tell(&said);
            if said.has_errors() {
                return Err(Failed);
            }
            taken.clear();
        }
    }
    let prefix = format!("{component}/");
    let inner = map
        .split_whitespace()
        .filter_map(|name| name.strip_prefix(&prefix));
    let inner: String = inner.map(|name| format!("{name}\n")).collect();
    for member in &mut source.members {
        if member.name == "componentmap" {
            member.data = inner.clone().into_bytes();
        }
    }
    source.members.retain(|member| !member.data.is_empty());
    write_config(&given, &flat, &source.members)
}
