//! `trammel doc`: the reference of scenario files, or of one name in them, as Markdown.

use super::list::Listed;
use super::output::out;
use clap::ValueEnum;
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;
use trammel_bench::procedures;
use trammel_core::entry::About;
use trammel_core::units::nearest;
use trammel_papers::library;
use trammel_scenario::registry::Family;
use trammel_scenario::{preset, reference, schema};
use trammel_tcp::models;

/// What has a reference of its own.
pub(super) const WHOLE: [&str; 7] = [
    "scenario",
    "forwarding",
    "traffic",
    "routing",
    "placement",
    "schema",
    "tables",
];

/// Show the reference of scenario files, or of one name that `trammel list` shows
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel doc scenario\n  trammel doc variant reno")]
pub(super) struct Args {
    /// `scenario`, `forwarding`, `traffic`, `routing`, `placement`, `schema`, `tables` (the JSON
    /// Schema of what `--json` writes), or what the name is:
    /// variant, model, discipline, loss, distribution, application, test, operation, preset,
    /// element, machine, device, design, paper, format
    #[arg(value_name = "KIND", required_unless_present = "citations")]
    kind: Option<String>,
    /// The name, as in `trammel list KIND`; for `schema`, the subject; for `tables`, what writes
    /// them: `transport`, `bench`, `forwarding`, `traffic`, `routing`, `placement`, `estimate`,
    /// `send`, `decode`, `import`, `traces`, `compare`, `paper`, `fidelity`, `conformance`,
    /// `kernels` or `sweep`
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// List the requirements of RFCs that the source cites, and where; with a TEXT such as
    /// `rfc2544`, only those
    #[arg(
        long, value_name = "TEXT", num_args = 0..=1, default_missing_value = "",
        conflicts_with = "kind"
    )]
    citations: Option<String>,
    /// Write what there is to say of one name to standard output as JSON
    #[arg(long, requires = "name")]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(of) = &args.citations {
        return out(super::citations::page(of)?.trim_end());
    }
    let of_kind = args.kind.as_deref().unwrap_or_default();
    match (of_kind, args.name.as_deref()) {
        ("scenario", None) => return out(reference::page().trim_end()),
        #[cfg(target_os = "linux")]
        ("forwarding", None) => return out(reference::forwarding().trim_end()),
        ("traffic", None) => return out(reference::traffic().trim_end()),
        ("routing", None) => return out(reference::routing().trim_end()),
        ("placement", None) => return out(reference::placement().trim_end()),
        ("schema", Some(subject)) => {
            let names = || schema::SUBJECTS.iter().map(|(name, _)| *name);
            let Some(schema) = schema::of(subject) else {
                let all: Vec<_> = names().collect();
                let hint = match nearest(subject, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are `{}`", all.join("`, `")),
                };
                anyhow::bail!("there is no subject `{subject}`; {hint}");
            };
            return out(&serde_json::to_string_pretty(&schema)?);
        }
        ("schema", None) => return out(&serde_json::to_string_pretty(&schema::schema())?),
        ("tables", of) => {
            let Some(schema) = super::tables::schema(of) else {
                let of = of.unwrap_or_default();
                let names = || super::tables::subjects().map(|(name, _)| name);
                let hint = match nearest(of, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        let all: Vec<_> = names().collect();
                        format!("there are those of `{}`", all.join("`, `"))
                    }
                };
                anyhow::bail!("there are no tables of `{of}`; {hint}");
            };
            return out(&serde_json::to_string_pretty(&schema)?);
        }
        (kind, Some(name)) if WHOLE.contains(&kind) => {
            anyhow::bail!("`{of_kind}` takes no name, not `{name}`")
        }
        _ => {}
    }
    let Ok(kind) = Listed::from_str(of_kind, true) else {
        let has_it = |kind: &String| {
            let listed = Listed::from_str(kind, true);
            listed.is_ok_and(|listed| named(listed, of_kind).is_ok())
        };
        if let (None, Some(kind)) = (&args.name, Listed::singulars().find(has_it)) {
            anyhow::bail!(
                "there is no kind `{of_kind}`; did you mean `trammel doc {kind} {of_kind}`?"
            );
        }
        let words: Vec<String> = WHOLE.iter().map(|word| (*word).to_owned()).collect();
        let words: Vec<String> = words.into_iter().chain(Listed::singulars()).collect();
        let hint = match nearest(of_kind, words.iter().map(String::as_str)) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("there are `{}`", words.join("`, `")),
        };
        anyhow::bail!("there is no kind `{of_kind}`; {hint}");
    };
    let Some(name) = args.name.as_deref() else {
        anyhow::bail!("give a name too; `trammel list {of_kind}` shows all");
    };
    if args.json {
        return as_json(kind, name);
    }
    out(named(kind, name)?.trim_end())
}

/// Writes what there is to say of one name as JSON: what has parts by its parts, the rest as its
/// page.
fn as_json(kind: Listed, name: &str) -> anyhow::Result<ExitCode> {
    #[cfg(target_os = "linux")]
    if kind == Listed::Elements {
        return super::element::show(name, true);
    }
    let Some(family) = kind.family() else {
        let page = named(kind, name)?;
        return out(&json!({ "schema": "trammel/1", "name": name, "page": page }).to_string());
    };
    let about = trammel_scenario::plugin::Plugin::new(name).about(family);
    let about = about.map_err(anyhow::Error::msg)?;
    let params = about.params.iter().map(|param| {
        json!({ "name": param.name, "default": param.default, "unit": param.unit,
                "kind": param.kind.describe(), "help": param.help })
    });
    let doc = family.catalogue().doc(about.name);
    let sections = doc.other_sections(&["Example", "References"]);
    let sections = sections.map(|(heading, text)| (heading.to_owned(), json!(text)));
    let row = json!({
        "name": about.name, "aliases": about.aliases, "summary": about.summary,
        "params": params.collect::<Vec<_>>(), "references": about.references,
        "sections": sections.collect::<serde_json::Map<_, _>>(), "example": doc.example("toml"),
    });
    out(&json!({ "schema": "trammel/1", kind.singular(): row }).to_string())
}

/// What there is to say of one name that `trammel list` shows, as Markdown.
pub(super) fn named(kind: Listed, name: &str) -> anyhow::Result<String> {
    if let Some(family) = kind.family() {
        let about = trammel_scenario::plugin::Plugin::new(name).about(family);
        return Ok(page(family, about.map_err(anyhow::Error::msg)?));
    }
    match kind {
        #[cfg(target_os = "linux")]
        Listed::Elements => Ok(super::element::page(super::element::find(name)?)),
        #[cfg(target_os = "linux")]
        Listed::Devices => super::doc_device::page(name),
        #[cfg(target_os = "linux")]
        Listed::Designs => super::doc_design::page(name),
        Listed::Machines => machine(name),
        Listed::Papers => paper(name),
        Listed::Formats => super::formats::page(name),
        _ => preset(name),
    }
}

fn preset(name: &str) -> anyhow::Result<String> {
    let Some(preset) = preset::find(name) else {
        let names = preset::all().iter().map(|preset| preset.name);
        match nearest(name, names) {
            Some(near) => anyhow::bail!("no preset is called `{name}`; did you mean `{near}`?"),
            None => {
                anyhow::bail!("no preset is called `{name}`; `trammel list presets` shows all")
            }
        }
    };
    let mut page = format!("# {}\n\n{}\n\n", preset.name, preset.summary);
    page += "It follows:\n\n";
    for source in &preset.sources {
        page += &format!("- {source}\n");
    }
    page += &format!("\nAssumed: {}\n\n", preset.assumed.trim());
    page += &format!("Licence of its data: {}.\n", preset.licence);
    if !preset.traces.is_empty() {
        page += &format!("\nOther traces: {}\n", preset.traces.trim());
    }
    if let Some(file) = &preset.file {
        let rows = file.lines().filter(|line| !line.starts_with('#')).count();
        page += &format!("\nIts course over time is a file of {rows} lines, `preset:{name}`.\n");
    }
    page += &format!("\n```toml\n[path]\n{}\n```", preset.keys);
    Ok(page)
}

/// A machine with the file that describes it.
fn machine(name: &str) -> anyhow::Result<String> {
    let machine = trammel_workbench::machines::find(name)?;
    let profiles = trammel_cost::machines::profiles(&machine.id);
    let mut page = format!(
        "# {}\n\nmachine: {}\n\nWhere its numbers come from: {}; {}.\n",
        machine.full_name(),
        machine.title,
        machine.origin.words(),
        machine.source.trim_end_matches('.')
    );
    if profiles.len() > 1 {
        page += "\nProfiles:";
        for (at, profile) in profiles.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            page += &format!("{comma} `{}:{profile}`", machine.id);
        }
        page += ".\n";
    }
    page += "\n## As a file\n\nA machine of your own is a file like this one; its path is its \
             name.\n\n```toml\n";
    page += trammel_cost::machine_writer::write(&machine, &[]).trim_end();
    page += "\n```\n";
    Ok(page)
}

/// A paper with what is reproduced of it.
fn paper(key: &str) -> anyhow::Result<String> {
    let paper = library::find(key)?;
    let spec = &paper.spec;
    let mut page = format!(
        "# {}\n\npaper: {}\n\n{}. {}.\n\n{}\n",
        paper.key,
        spec.title,
        spec.authors.trim_end_matches('.'),
        spec.venue.trim_end_matches('.'),
        spec.claim
    );
    if !paper.expected.is_empty() {
        page += &format!(
            "\n{} published numbers are compared.\n",
            paper.expected.len()
        );
    }
    if !spec.experiments.is_empty() {
        page += "\n## Experiments\n\n";
        for experiment in &spec.experiments {
            let only = if experiment.needs_full {
                " (`--full` only)"
            } else {
                ""
            };
            page += &format!("- `{}`{only}\n", experiment.id);
        }
    }
    page += &format!(
        "\n## Reproduce it\n\n```text\ntrammel paper {} -o out\n```\n",
        paper.key
    );
    if let Ok(text) = std::fs::read_to_string(paper.dir.join("README.md")) {
        page += &format!("\n---\n\n{text}");
    }
    Ok(page)
}

/// Sections of a plug-in's file that its page has in places of their own.
const SHOWN: &[&str] = &["What it does", "Parameters", "References"];

fn page(family: Family, about: &About) -> String {
    let mut page = format!(
        "# {}\n\n{}: {}\n",
        about.name,
        family.catalogue().noun(),
        about.summary
    );
    let doc = family.catalogue().doc(about.name);
    if let Some(text) = doc.section("What it does") {
        write!(page, "\n{text}\n").expect("a string takes any text");
    }
    if !about.aliases.is_empty() {
        page += "\nAlso called `";
        page += &about.aliases.join("`, `");
        page += "`.\n";
    }
    let model = models::ALL
        .iter()
        .find(|entry| std::ptr::eq(&raw const entry.about, about));
    if let Some(model) = model {
        page += "\n## Where it holds\n\n";
        page += model.validity;
        page += "\n";
        if !model.dialects.is_empty() {
            page += "\n## Forms\n\n";
            for (name, meaning) in model.dialects {
                writeln!(page, "- `{}:{name}`: {meaning}", about.name)
                    .expect("a string takes any text");
            }
        }
    }
    if !about.params.is_empty() {
        page += "\n## Parameters\n\n| name | default | unit | value | what it does |\n";
        page += "| --- | --- | --- | --- | --- |\n";
        for param in about.params {
            let (kind, default) = (param.kind.describe(), param.default);
            let default = if default.is_empty() {
                "required".to_owned()
            } else {
                format!("`{default}`")
            };
            writeln!(
                page,
                "| `{}` | {default} | {} | {kind} | {} |",
                param.name, param.unit, param.help
            )
            .expect("a string takes any text");
        }
    }
    if let Some(text) = doc.section("Parameters") {
        write!(page, "\n{text}\n").expect("a string takes any text");
    }
    let test = procedures::find(about.name).filter(|_| family == Family::Test);
    if let Some(test) = test.filter(|test| !test.quick.is_empty()) {
        page += "\nIn a quick run";
        for (at, (name, value)) in test.quick.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(page, "{comma} `{name}` is {value}").expect("a string takes any text");
        }
        page += ": no RFC knows these, and the report says so.\n";
    }
    for (heading, text) in doc.other_sections(SHOWN) {
        write!(page, "\n## {heading}\n\n{text}\n").expect("a string takes any text");
    }
    if !about.references.is_empty() {
        page += "\n## References\n\n";
        for reference in about.references {
            writeln!(page, "- {reference}").expect("a string takes any text");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;

    #[test]
    fn every_name_that_is_listed_has_its_page() {
        for kind in Listed::value_variants() {
            let rows = list::rows(*kind);
            for (name, aliases, _) in rows {
                for name in aliases.into_iter().chain([name.as_str()]) {
                    match named(*kind, name) {
                        Ok(page) => {
                            assert!(page.starts_with("# ") && page.len() > 40, "{name}: {page}");
                        }
                        // This machine's own file may be of another version.
                        Err(why) => assert_eq!(name, "host", "{kind:?} {name}: {why:#}"),
                    }
                }
            }
        }
    }

    #[test]
    fn a_misspelt_name_has_a_suggestion() {
        for (kind, name, meant) in [
            (Listed::Papers, "tekala-2008", "tekala-2007"),
            (Listed::Machines, "epyc-7533", "epyc-7532"),
            (Listed::Variants, "cubik", "cubic"),
        ] {
            let why = named(kind, name).unwrap_err().to_string();
            assert!(why.contains(&format!("`{meant}`")), "{why}");
        }
    }
}
