//! `trammel FOLDER`: what the folder of a run says of itself.

use super::output::out;
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

/// Shows the answer of the run in `dir`, what made it, and its files.
pub(super) fn show(dir: &Path) -> anyhow::Result<ExitCode> {
    let path = dir.join("run.json");
    let text = std::fs::read_to_string(&path)?;
    let info: Value = serde_json::from_str(&text)
        .map_err(|why| anyhow::anyhow!("`{}` is no run.json: {why}", path.display()))?;
    let mut lines = Vec::new();
    let said = |key: &str| info[key].as_str().filter(|text| !text.is_empty());
    lines.extend(said("answer").map(str::to_owned));
    let words = info["command"].as_array();
    let words: Vec<&str> = (words.into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    if let [_, rest @ ..] = &words[..] {
        lines.push(format!("command:  trammel {}", rest.join(" ")));
    }
    lines.extend(said("started").map(|when| format!("started:  {when}")));
    if info["interrupted"].as_bool() == Some(true) {
        lines.push("interrupted: the same command resumes it".to_owned());
    }
    let tables = info["tables"].as_array();
    let names = tables.into_iter().flatten();
    let names: Vec<&str> = names.filter_map(|table| table["name"].as_str()).collect();
    if !names.is_empty() {
        lines.push(format!("tables:   {}", names.join(", ")));
    }
    let report = dir.join("report.html");
    if report.is_file() {
        lines.push(format!("report:   {}", report.display()));
    }
    out(&lines.join("\n"))
}
