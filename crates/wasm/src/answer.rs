//! A scenario's text to its tables and its report.

use serde_json::{Map, Value, json};
use std::path::Path;
use trammel_report::Provenance;
use trammel_scenario::model::Engine;
use trammel_scenario::{File, ReadError};
use trammel_transport::answer::{answer as conclusion, report};
use trammel_transport::points::{RunOptions, TransportOutcome, Unwatched, run_points};
use trammel_transport::refusals::reading;

/// What the scenario is called in messages and in the report.
const NAME: &str = "scenario.toml";
/// The engines that need no operating system.
const ENGINES: [Engine; 2] = [Engine::Predict, Engine::Simulate];

/// Predicts and simulates the transport scenario `text`; gives a JSON object:
///
/// - `tables`: the text of each CSV file that `trammel run -o DIR` writes, by name without `.csv`;
/// - `answer`: the answer in one sentence;
/// - `report`: the page `report.html`;
/// - `notes`: what a reader must know, such as models that do not apply;
/// - `error`: why the scenario or some of its runs failed; only where that is so. A scenario with a
///   fault has nothing else. Other files that a scenario names cannot be read.
pub fn answer(text: &str) -> String {
    carry_out(text)
        .unwrap_or_else(|why| error(&why))
        .to_string()
}

/// The answer of a scenario that came to nothing.
pub(crate) fn error(why: &str) -> Value {
    json!({ "error": why })
}

fn carry_out(text: &str) -> Result<Value, String> {
    let file = File::parse_with(NAME, text, Path::new("."), &reading(&ENGINES)).map_err(refusal)?;
    let options = RunOptions {
        engines: ENGINES.to_vec(),
        curves: true,
        ..RunOptions::default()
    };
    let outcome =
        run_points(&file, &options, &Unwatched).map_err(|why| format!("{NAME}: {why:#}"))?;
    let tables = outcome.tables();
    let tables = tables.map(|table| (table.name().to_owned(), table.to_csv().into()));
    let mut answer = json!({
        "tables": tables.collect::<Map<String, Value>>(),
        "answer": conclusion(&file, &outcome).sentence,
        "report": report(&file, &outcome, provenance(&file)).to_html(),
        "notes": outcome.notes,
    });
    if let Some(why) = failed(&outcome) {
        answer["error"] = why.into();
    }
    Ok(answer)
}

/// Why the scenario is not run.
fn refusal(why: ReadError) -> String {
    match why {
        ReadError::Elsewhere { subject, .. } => format!(
            "{NAME}: subject `{subject}` is not in this module; give a scenario of subject \
             `transport`, or use the program"
        ),
        why => why.to_string(),
    }
}

/// Why runs failed, a line each.
fn failed(outcome: &TransportOutcome) -> Option<String> {
    let failures = outcome.failures.iter();
    let lines = failures.map(|failure| format!("{NAME}, {failure}"));
    let lines: Vec<_> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn provenance(file: &File) -> Provenance {
    let facts = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("scenario", NAME),
        ("architecture", std::env::consts::ARCH),
    ];
    Provenance {
        facts: facts
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        scenario: file.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = r#"
        duration = "2 s"
        [path]
        rate = "10 Mbit/s"
        rtt = "20 ms"
        [[flow]]
        variant = "reno"
    "#;

    fn of(text: &str) -> Value {
        serde_json::from_str(&answer(text)).unwrap()
    }

    #[test]
    fn a_scenario_becomes_tables_and_a_report() {
        let answer = of(SHORT);
        assert!(answer.get("error").is_none(), "{answer}");
        let flows = answer["tables"]["flows"].as_str().unwrap();
        assert!(flows.starts_with("engine,point,"), "{flows}");
        assert!(flows.lines().nth(1).unwrap().starts_with("simulate,"));
        let predictions = answer["tables"]["predictions"].as_str().unwrap();
        assert!(predictions.lines().count() > 1, "{predictions}");
        assert!(answer["report"].as_str().unwrap().contains("<svg"));
        assert!(!answer["answer"].as_str().unwrap().is_empty());
    }

    #[test]
    fn a_fault_is_an_error_that_shows_its_line() {
        let answer = of("duration = \"2 s\"\nspeed = 1\n");
        let why = answer["error"].as_str().unwrap();
        assert!(
            why.contains("scenario.toml:2:1") && why.contains("`speed`"),
            "{why}"
        );
        assert!(answer.get("tables").is_none());
    }

    #[test]
    fn another_subject_is_an_error() {
        let answer = of("subject = \"placement\"\n");
        let why = answer["error"].as_str().unwrap();
        assert!(why.contains("`placement` is not in this module"), "{why}");
    }

    #[test]
    fn a_file_that_the_scenario_names_is_an_error() {
        let text = SHORT.replace("rate = \"10 Mbit/s\"", "trace = \"missing.trace\"");
        let why = of(&text)["error"].as_str().unwrap().to_owned();
        assert!(why.contains("missing.trace"), "{why}");
    }
}
