//! `click-xform`: replaces patterns of elements.

use super::configuration::{Source, tell, write_config};
use super::end::{Done, Failed, code};
use super::options::{COMMON, Tool, flag, value};
use std::process::ExitCode;
use trammel_router::lang;
use trammel_router::transform::rewrite::{reversed, rewrite, rules};
use trammel_workbench::source::Files;

const TOOL: Tool = Tool {
    name: "click-xform",
    summary: "Replaces patterns of elements: [ROUTERFILE] [PATTERNFILE]...",
    options: &[
        COMMON,
        &[
            value('p', "patterns", "read patterns from FILE; more than once"),
            flag('r', "reverse", "apply the patterns in reverse"),
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
    let mut words = given.words();
    let source = match (given.last('e'), given.last('f')) {
        (Some(text), _) => Source::expression(text),
        (None, Some(file)) => Source::file(file)?,
        (None, None) => Source::file(words.next().unwrap_or("-"))?,
    };
    let mut all = Vec::new();
    let files = Files::new(given.last('C'));
    for file in given.each('p').chain(words) {
        let Source { text, name, .. } = Source::file(file)?;
        let options = lang::Options {
            loader: &files,
            ..lang::Options::default()
        };
        let (compounds, said) = lang::compounds(&text, &name, &options);
        tell(&said);
        if said.has_errors() {
            return Err(Failed);
        }
        all.extend(rules(&compounds));
    }
    if all.is_empty() {
        trammel_ground::say("warning: no patterns read");
    }
    if given.has('r') {
        all = reversed(all);
    }
    let (flat, said) = rewrite(source.flat(&given, false)?, &all);
    tell(&said);
    if said.has_errors() {
        return Err(Failed);
    }
    write_config(&given, &flat, &source.members)
}
