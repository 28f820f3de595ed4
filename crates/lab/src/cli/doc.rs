//! `trammel doc`: the reference of scenario files, or of one name in them, as Markdown.

use super::list::Listed;
use super::out;
use crate::registry::Family;
use crate::scenario::{preset, reference, schema};
use clap::ValueEnum;
use std::fmt::Write;
use std::process::ExitCode;
use trammel_bench::procedures;
use trammel_core::entry::About;
use trammel_core::units::nearest;
use trammel_tcp::models;

/// Show the reference of scenario files, or of one name in them
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel doc scenario\n  trammel doc variant reno")]
pub(super) struct Args {
    /// `scenario`, `forwarding`, `traffic`, `placement`, `schema`, or what the name is: variant, model, discipline, loss, distribution, application, test, preset, element
    #[arg(value_name = "KIND")]
    kind: String,
    /// The name, as `trammel list KIND` shows it
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match (args.kind.as_str(), args.name.as_deref()) {
        ("scenario", None) => return out(reference::page().trim_end()),
        #[cfg(target_os = "linux")]
        ("forwarding", None) => return out(reference::forwarding().trim_end()),
        ("traffic", None) => return out(reference::traffic().trim_end()),
        ("placement", None) => return out(reference::placement().trim_end()),
        ("schema", None) => return out(&serde_json::to_string_pretty(&schema::schema())?),
        ("scenario" | "forwarding" | "traffic" | "placement" | "schema", Some(name)) => {
            anyhow::bail!("`{}` takes no name, not `{name}`", args.kind)
        }
        _ => {}
    }
    let Ok(kind) = Listed::from_str(&args.kind, true) else {
        let words = [
            "scenario",
            "forwarding",
            "traffic",
            "placement",
            "schema",
            "variant",
            "model",
            "discipline",
            "loss",
            "distribution",
            "application",
            "test",
            "preset",
            "element",
        ];
        let hint = match nearest(&args.kind, words.into_iter()) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("there are `{}`", words.join("`, `")),
        };
        anyhow::bail!("there is no kind `{}`; {hint}", args.kind);
    };
    let Some(name) = args.name.as_deref() else {
        anyhow::bail!("give a name too; `trammel list {}` shows all", args.kind);
    };
    #[cfg(target_os = "linux")]
    if kind == Listed::Elements {
        return out(super::element::page(super::element::find(name)?).trim_end());
    }
    if let Some(family) = kind.family() {
        let about = crate::scenario::plugin::Plugin::new(name).about(family);
        return out(page(family, about.map_err(anyhow::Error::msg)?).trim_end());
    }
    let Some(preset) = preset::find(name).filter(|_| kind == Listed::Presets) else {
        anyhow::bail!(
            "no {} is called `{name}`; `trammel list {}` shows all",
            args.kind,
            args.kind
        );
    };
    out(&format!(
        "# {}\n\n{}\n\n```toml\n[path]\n{}\n```",
        preset.name, preset.summary, preset.keys
    ))
}

fn page(family: Family, about: &About) -> String {
    let mut page = format!(
        "# {}\n\n{}: {}\n",
        about.name,
        family.catalogue().noun(),
        about.summary
    );
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
    let test = procedures::find(about.name).filter(|_| family == Family::Test);
    if let Some(test) = test.filter(|test| !test.quick.is_empty()) {
        page += "\nIn a quick run";
        for (at, (name, value)) in test.quick.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(page, "{comma} `{name}` is {value}").expect("a string takes any text");
        }
        page += ": no RFC knows these, and the report says so.\n";
    }
    if !about.references.is_empty() {
        page += "\n## References\n\n";
        for reference in about.references {
            writeln!(page, "- {reference}").expect("a string takes any text");
        }
    }
    page
}
