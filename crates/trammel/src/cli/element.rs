//! What `trammel list elements` and `trammel doc element` say of the router's element classes.

use super::list::Row;
use super::output::out;
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;
use trammel_core::units::nearest;
use trammel_router::args::{Need, Param};
use trammel_router::elements;
use trammel_router::{Entry, Handler};

/// Sections of a class's file that the page has in places of their own; the rest follow the
/// example.
const SHOWN: &[&str] = &[
    "What it does",
    "Example",
    "Handlers",
    "Parameters",
    "References",
];
/// Sections that JSON has in places of their own.
const LEFT_OUT: &[&str] = &["Example", "Handlers", "Parameters"];

/// Name, aliases and summary of every class.
pub(super) fn rows() -> Vec<Row> {
    let all = elements::all();
    let mut rows: Vec<Row> = all
        .iter()
        .map(|entry| {
            let about = &entry.about;
            (
                about.name.to_owned(),
                about.aliases.to_vec(),
                about.summary.to_owned(),
            )
        })
        .collect();
    rows.sort();
    rows
}

/// The class of this name.
pub(super) fn find(name: &str) -> anyhow::Result<&'static Entry> {
    if let Some(entry) = elements::find(name) {
        return Ok(entry);
    }
    let all = elements::all();
    let names = all.iter().map(|entry| entry.about.name);
    match nearest(name, names) {
        Some(other) => {
            anyhow::bail!("no element class is called `{name}`; did you mean `{other}`?")
        }
        None => {
            anyhow::bail!("no element class is called `{name}`; `trammel list elements` shows all")
        }
    }
}

/// Prints one class.
pub(super) fn show(name: &str, is_json: bool) -> anyhow::Result<ExitCode> {
    let entry = find(name)?;
    if !is_json {
        return out(page(entry).trim_end());
    }
    let params = entry.params.iter().map(|param| {
        json!({ "name": param.name, "need": need(param), "kind": kind(param),
                "default": param.default, "help": param.help })
    });
    let handlers = handlers(entry).into_iter();
    let handlers = handlers
        .map(|h| json!({ "name": h.name, "flags": h.letters(), "help": entry.handler_help(&h) }));
    let doc = elements::FAMILY.doc(entry);
    let sections: serde_json::Map<_, _> = doc
        .other_sections(LEFT_OUT)
        .map(|(heading, text)| (heading.to_owned(), json!(text)))
        .collect();
    let row = json!({
        "name": entry.about.name, "aliases": entry.about.aliases, "summary": entry.about.summary,
        "ports": entry.ports, "processing": entry.processing, "flow": entry.flow, "ops": entry.ops,
        "params": params.collect::<Vec<_>>(), "handlers": handlers.collect::<Vec<_>>(),
        "sections": sections, "example": doc.example("click"),
    });
    out(&json!({ "schema": "trammel/1", "element": row }).to_string())
}

fn handlers(entry: &Entry) -> Vec<Handler> {
    (entry.make)().handlers()
}

fn need(param: &Param) -> &'static str {
    match param.need {
        Need::Mandatory => "required",
        Need::Positional => "optional",
        Need::Keyword => "keyword",
        Need::KeywordMandatory => "required keyword",
        Need::Repeated => "keyword, any number of times",
        Need::Rest => "all other arguments",
        Need::KeywordRest => "all other keywords",
    }
}

fn kind(param: &Param) -> String {
    param.kind.describe()
}

/// All that the class says of itself, as Markdown.
pub(super) fn page(entry: &'static Entry) -> String {
    let about = &entry.about;
    let mut page = format!("# {}\n\nelement class: {}\n", about.name, about.summary);
    let doc = elements::FAMILY.doc(entry);
    if let Some(text) = doc.section("What it does") {
        page += &format!("\n{text}\n");
    }
    if let Some(example) = doc.example("click") {
        page += &format!("\n## Example\n\n```click\n{example}\n```\n");
    }
    for (heading, text) in doc.other_sections(SHOWN) {
        page += &format!("\n## {heading}\n\n{text}\n");
    }
    if !about.aliases.is_empty() {
        page += &format!("\nAlso called `{}`.\n", about.aliases.join("`, `"));
    }
    page += &format!(
        "\n## Ports\n\n| inputs/outputs | processing | flow |\n| --- | --- | --- |\n\
         | `{}` | {} (`{}`) | `{}` |\n",
        entry.ports,
        processing(entry.processing),
        entry.processing,
        entry.flow
    );
    if let Some(ops) = entry.ops {
        page += &format!("\nCost: `{ops}`\n");
    }
    if !entry.params.is_empty() {
        page += "\n## Parameters\n\n| name | need | value | default | what it does |\n";
        page += "| --- | --- | --- | --- | --- |\n";
        for param in entry.params {
            let default = match param.default {
                "" => String::new(),
                default => format!("`{default}`"),
            };
            let (need, kind) = (need(param), kind(param));
            writeln!(
                page,
                "| `{}` | {need} | {kind} | {default} | {} |",
                param.name, param.help
            )
            .expect("a string takes any text");
        }
    }
    let handlers = handlers(entry);
    if !handlers.is_empty() {
        page += "\n## Handlers\n\n| name | use | what it is for |\n| --- | --- | --- |\n";
        for handler in handlers {
            let uses: Vec<&str> = [(handler.read, "read"), (handler.write, "write")]
                .into_iter()
                .filter_map(|(has, word)| has.then_some(word))
                .collect();
            let (name, uses) = (&handler.name, uses.join(", "));
            let help = entry.handler_help(&handler).unwrap_or_default();
            writeln!(page, "| `{name}` | {uses} | {help} |").expect("a string takes any text");
        }
    }
    if !about.references.is_empty() {
        page += "\n## References\n\n";
        if let Some(text) = doc.section("References") {
            writeln!(page, "- {text}").expect("a string takes any text");
        }
        for reference in about.references {
            writeln!(page, "- {reference}").expect("a string takes any text");
        }
    }
    page
}

/// `h/l` in words.
fn processing(code: &str) -> String {
    let side = |code: &str| {
        let words = code.chars().filter_map(|c| match c {
            'h' => Some("push"),
            'l' => Some("pull"),
            'a' => Some("agnostic"),
            _ => None,
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let (inputs, outputs) = code.split_once('/').unwrap_or((code, code));
    format!("{} to {}", side(inputs), side(outputs))
}
