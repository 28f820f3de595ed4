//! `click-pretty`: shows a configuration as a page, or as a graph for `dot`.

use super::configuration::{Source, write};
use super::end::{Done, code};
use super::options::{COMMON, Tool, flag, value};
use std::fmt::Write;
use std::process::ExitCode;
use trammel_router::diagram::{self, dot};
use trammel_router::lang::{Flat, Port};

const TOOL: Tool = Tool {
    name: "click-pretty",
    summary: "Shows a configuration as a page of HTML.",
    options: &[
        COMMON,
        &[
            value(
                'u',
                "class-docs",
                "where classes are explained; `%s` is the name",
            ),
            flag('D', "dot", "print a graph for `dot` instead"),
            flag('l', "linuxmodule", "taken for Click's sake"),
            flag('b', "bsdmodule", "taken for Click's sake"),
            flag('U', "userlevel", "taken for Click's sake"),
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
    let flat = source.flat(&given, true)?;
    let text = if given.has('D') {
        dot::dot(&diagram::Picture::of(&flat))
    } else {
        page(&source, &flat, given.last('u'))
    };
    write(&given, text.as_bytes())
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// The source, and a table of the elements with links to those they are connected to.
fn page(source: &Source, flat: &Flat, docs: Option<&str>) -> String {
    let title = escaped(&source.name);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <style>body{{font-family:sans-serif}}\
         td,th{{text-align:left;vertical-align:top;padding:2px 12px 2px 0}}\
         pre{{background:#f4f4f4;padding:8px;overflow:auto}}</style></head>\n\
         <body><h1>{title}</h1>\n<pre>{}</pre>\n\
         <table><tr><th>element</th><th>class</th><th>inputs</th><th>outputs</th></tr>\n",
        escaped(&source.text)
    );
    let ends = |at: usize, is_input: bool| {
        let mut out = String::new();
        for c in &flat.connections {
            let (near, far): (Port, Port) = if is_input {
                (c.to, c.from)
            } else {
                (c.from, c.to)
            };
            if near.element == at {
                let arrow = if is_input { "&larr;" } else { "&rarr;" };
                let name = escaped(&flat.elements[far.element].name);
                let (port, there, element) = (near.port, far.port, far.element);
                write!(
                    out,
                    "[{port}] {arrow} <a href=\"#e{element}\">{name}</a> [{there}]<br>"
                )
                .expect("a string takes any text");
            }
        }
        out
    };
    for (at, element) in flat.elements.iter().enumerate() {
        let class = escaped(&element.class);
        let class = match docs {
            Some(url) => format!(
                "<a href=\"{}\">{class}</a>",
                escaped(&url.replace("%s", &element.class))
            ),
            None => class,
        };
        let name = escaped(&element.name);
        let (inputs, outputs) = (ends(at, true), ends(at, false));
        writeln!(
            out,
            "<tr \
             id=\"e{at}\"><td>{name}</td><td>{class}</td><td>{inputs}</td><td>{outputs}</td></tr>"
        )
        .expect("a string takes any text");
    }
    out + "</table></body></html>\n"
}
