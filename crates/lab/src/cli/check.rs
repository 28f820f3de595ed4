//! `trammel check`: reads scenario files and shows every fault.

use super::{DONE, LACKS, USAGE, explain, out, say};
use crate::scenario::{File, ReadError, schema};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Read scenario files and show every fault, without running anything
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel check examples/*.toml\n  trammel check --schema > scenario.schema.json"
)]
pub(super) struct Args {
    /// Scenario files
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
        match File::read(path) {
            Ok(file) => {
                let n = file.points.len();
                let noun = if n == 1 { "point" } else { "points" };
                say(&format!("{}: no fault, {n} {noun}", file.name));
                points.extend(file.points.iter().map(|point| {
                    let swept = point.swept.iter().map(|swept| {
                        let value = swept.number.map_or_else(|| json!(swept.text), |n| json!(n));
                        (swept.column.clone(), value)
                    });
                    let mut row: serde_json::Map<_, _> = swept.collect();
                    row.insert("file".to_owned(), json!(file.name));
                    row.insert("point".to_owned(), json!(point.id));
                    row.insert("hash".to_owned(), json!(point.hash));
                    row
                }));
            }
            Err(error) => {
                let later = matches!(error, ReadError::Later { .. });
                explain(&error.into());
                // A fault outweighs what merely arrives later.
                code = if later && code != USAGE { LACKS } else { USAGE };
            }
        }
    }
    if args.json {
        out(&json!({ "schema": "trammel/1", "points": points }).to_string())?;
    }
    Ok(ExitCode::from(code))
}
