//! `trammel check`: reads scenario files and shows every fault.

use super::failure;
use super::output::out;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_ground::{DONE, USAGE, say};
use trammel_scenario::{Description, NamedPoint, schema};
use trammel_transport::refusals::reading;

/// Read scenario files and show every fault, without running anything
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel check examples/*.toml\n  trammel check --schema > \
                  scenario.schema.json"
)]
pub(super) struct Args {
    /// Scenario files, and router configurations (`.click`)
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    files: Vec<PathBuf>,
    /// Write the JSON Schema of scenario files to standard output
    #[arg(long, conflicts_with = "files")]
    schema: bool,
    /// Write the points of each file to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.schema {
        return out(&serde_json::to_string_pretty(&schema::schema())?);
    }
    let mut code = DONE;
    let mut points = Vec::new();
    for path in &args.files {
        #[cfg(target_os = "linux")]
        if trammel_workbench::source::is_configuration(path) {
            if !is_sound(&path.to_string_lossy())? {
                code = USAGE;
            }
            continue;
        }
        let description = match Description::read(path, &reading(&[])) {
            Ok(description) => description,
            Err(error) => {
                failure::tell(&error.into());
                code = USAGE;
                continue;
            }
        };
        let name = description.name();
        if let Description::Placement(file) = &description {
            let n = file.problem.chains.len();
            say(&format!("{name}: no fault, {n} chains to place"));
            continue;
        }
        let found = description.points();
        let (n, noun) = (
            found.len(),
            if found.len() == 1 { "point" } else { "points" },
        );
        say(&format!("{name}: no fault, {n} {noun}"));
        points.extend(found.iter().map(|point| row(name, point)));
    }
    if args.json {
        out(&json!({ "schema": "trammel/1", "points": points }).to_string())?;
    }
    Ok(ExitCode::from(code))
}

/// What is told of a point: its swept parameters by the columns that they have in tables, and more.
fn row(file: &str, point: &NamedPoint<'_>) -> serde_json::Map<String, serde_json::Value> {
    let cells = point.swept.iter().map(|swept| {
        let value = swept.number.map_or_else(|| json!(swept.text), |n| json!(n));
        (swept.column.clone(), value)
    });
    let about = [
        ("file", Some(file)),
        ("point", Some(point.id)),
        ("hash", point.hash),
    ];
    let about = about.into_iter();
    let about = about.filter_map(|(name, text)| Some((name.to_owned(), json!(text?))));
    cells.chain(about).collect()
}

/// Shows what is wrong with a configuration of the router; says whether it can run.
#[cfg(target_os = "linux")]
fn is_sound(path: &str) -> anyhow::Result<bool> {
    use trammel_router::{BuiltIn, check};
    use trammel_workbench::names;
    use trammel_workbench::source::{Files, Source};
    let source = Source::read(path).map_err(anyhow::Error::msg)?;
    let files = Files::new(None);
    let options = trammel_router::lang::Options {
        loader: &files,
        classes: Some(&BuiltIn),
        ..trammel_router::lang::Options::default()
    };
    let said = check(&source.text, &source.name, &options, names::here());
    let text = trammel_router::diagnostic::render(&said);
    if !text.is_empty() {
        say(text.trim_end_matches('\n'));
    }
    if !said.has_errors() {
        say(&format!("{path}: no fault"));
    }
    Ok(!said.has_errors())
}
