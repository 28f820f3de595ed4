//! `trammel list`: the names that scenario files and commands may use.

use super::formats;
use super::output::out;
use clap::ValueEnum;
use serde_json::json;
use std::process::ExitCode;
use trammel_papers::reproduce as paper;
use trammel_scenario::preset;
use trammel_scenario::registry::Family;
#[cfg(target_os = "linux")]
use trammel_testbeds::beds::model;

/// What there is to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Listed {
    /// Congestion controls
    #[value(alias = "variant")]
    Variants,
    /// Analytic models
    #[value(alias = "model")]
    Models,
    /// Queue disciplines
    #[value(alias = "discipline")]
    Disciplines,
    /// Loss models
    #[value(alias = "loss")]
    Losses,
    /// Distributions
    #[value(alias = "distribution")]
    Distributions,
    /// Applications whose users' experience is the result
    #[value(alias = "app")]
    Apps,
    /// Applications whose packets can be sent
    #[value(alias = "application")]
    Applications,
    /// Tests of a device
    #[value(alias = "test")]
    Tests,
    /// Elementary operations, of which costs are made
    #[value(alias = "operation")]
    Operations,
    /// Named paths
    #[value(alias = "preset")]
    Presets,
    /// Element classes of the router
    #[cfg(target_os = "linux")]
    #[value(alias = "element")]
    Elements,
    /// Machines for estimates
    #[value(alias = "machine")]
    Machines,
    /// Models of devices for `trammel bench --model`
    #[cfg(target_os = "linux")]
    #[value(alias = "device")]
    Devices,
    /// NetFPGA reference designs for `trammel netfpga run`
    #[cfg(target_os = "linux")]
    #[value(alias = "design")]
    Designs,
    /// Papers whose tables can be reproduced
    #[value(alias = "paper")]
    Papers,
    /// Formats of other programs that are imported or exported
    #[value(alias = "format")]
    Formats,
}

impl Listed {
    /// What one of each kind is called: `variant`, `model`, …
    pub(super) fn singulars() -> impl Iterator<Item = String> {
        let values = Listed::value_variants().iter();
        values.map(|kind| kind.singular())
    }

    /// What one of this kind is called.
    pub(super) fn singular(self) -> String {
        let value = self.to_possible_value().expect("no kind is hidden");
        let last = value.get_name_and_aliases().last();
        last.unwrap_or_default().to_owned()
    }

    /// The family of plug-ins, where it is one.
    pub(super) fn family(self) -> Option<Family> {
        match self {
            Listed::Variants => Some(Family::Variant),
            Listed::Models => Some(Family::Model),
            Listed::Disciplines => Some(Family::Discipline),
            Listed::Losses => Some(Family::Loss),
            Listed::Distributions => Some(Family::Distribution),
            Listed::Apps => Some(Family::App),
            Listed::Applications => Some(Family::Application),
            Listed::Tests => Some(Family::Test),
            Listed::Operations => Some(Family::Operation),
            Listed::Presets | Listed::Machines | Listed::Papers | Listed::Formats => None,
            #[cfg(target_os = "linux")]
            Listed::Elements | Listed::Devices | Listed::Designs => None,
        }
    }
}

/// List the names that scenario files and commands may use
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel list variants")]
pub(super) struct Args {
    /// What to list
    kind: Listed,
    /// Of the elements, only this class, in full
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Write the list to standard output as JSON
    #[arg(long)]
    json: bool,
}

/// One row: name, aliases, summary.
pub(super) type Row = (String, Vec<&'static str>, String);

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(name) = args.name.as_deref() {
        #[cfg(target_os = "linux")]
        if args.kind == Listed::Elements {
            return super::element::show(name, args.json);
        }
        anyhow::bail!(
            "`trammel list` shows all of a kind; give `trammel doc {} {name}`",
            args.kind.singular()
        );
    }
    if args.json && args.kind == Listed::Formats {
        let rows: Vec<_> = formats::all().iter().map(formats::Known::json).collect();
        return out(&json!({ "schema": "trammel/1", "formats": rows }).to_string());
    }
    let rows = rows(args.kind);
    if args.json {
        let kind = args.kind.to_possible_value().expect("no kind is hidden");
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, aliases, summary)| {
                json!({
                    "name": name, "aliases": aliases, "summary": summary
                })
            })
            .collect();
        return out(&json!({ "schema": "trammel/1", kind.get_name(): rows }).to_string());
    }
    if rows.is_empty() {
        trammel_ground::say("none in this build");
        return Ok(ExitCode::from(trammel_ground::DONE));
    }
    let width = rows
        .iter()
        .map(|(name, ..)| name.chars().count())
        .max()
        .unwrap_or(0);
    let lines: Vec<_> = rows
        .iter()
        .map(|(name, aliases, summary)| {
            let also = match aliases.as_slice() {
                [] => String::new(),
                aliases => format!(" (also {})", aliases.join(", ")),
            };
            format!("{name:width$}  {summary}{also}")
        })
        .collect();
    out(&lines.join("\n"))
}

pub(super) fn rows(kind: Listed) -> Vec<Row> {
    if let Some(family) = kind.family() {
        let members = family.catalogue().members().into_iter();
        let row = |a: &'static trammel_core::entry::About| {
            (a.name.to_owned(), a.aliases.to_vec(), a.summary.to_owned())
        };
        return members.map(row).collect();
    }
    if kind == Listed::Presets {
        let row = |p: &trammel_scenario::preset::Preset| {
            (p.name.to_owned(), Vec::new(), p.summary.clone())
        };
        return preset::all().iter().map(row).collect();
    }
    #[cfg(target_os = "linux")]
    if kind == Listed::Elements {
        return super::element::rows();
    }
    if kind == Listed::Machines {
        let row = |(name, title): (String, String)| (name, Vec::new(), title);
        return trammel_workbench::machines::all()
            .into_iter()
            .map(row)
            .collect();
    }
    #[cfg(target_os = "linux")]
    if kind == Listed::Devices {
        let row = |(name, title): (&str, String)| (name.to_owned(), Vec::new(), title);
        return model::all().into_iter().map(row).collect();
    }
    #[cfg(target_os = "linux")]
    if kind == Listed::Designs {
        let row = |design: &&trammel_netfpga::Design| {
            (
                design.name.to_owned(),
                Vec::new(),
                design.summary.to_owned(),
            )
        };
        return trammel_netfpga::designs::ALL.iter().map(row).collect();
    }
    if kind == Listed::Formats {
        let row = |known: formats::Known| (known.name.to_owned(), Vec::new(), known.summary());
        return formats::all().into_iter().map(row).collect();
    }
    let papers = paper::known().into_iter();
    papers
        .map(|(key, title)| (key, Vec::new(), title))
        .collect()
}
