//! A scenario's text to its tables and its report.

use crate::session::{NAME, Session};
use serde_json::{Map, Value, json};
use trammel_scenario::model::Engine;
use trammel_transport::embedded::Embedded;
use trammel_wasm_memory::error;

/// Predicts and simulates the transport scenario `text`; gives a JSON object:
///
/// - `tables`: the text of each CSV file that `trammel run -o DIR` writes, by name without `.csv`;
/// - `answer`: the answer in one sentence;
/// - `report`: the page `report.html`;
/// - `notes`: what a reader must know, such as models that do not apply;
/// - `error`: why the scenario or some of its runs failed; only where that is so. A scenario with a
///   fault has nothing else. Other files that a scenario names cannot be read.
pub fn answer(text: &str) -> String {
    let run = Session::open(text).and_then(Session::finish);
    let value = run.map_or_else(
        |why| error(&why),
        |run| {
            let mut value = of(&run);
            value["report"] = report(&run).into();
            value
        },
    );
    value.to_string()
}

/// What came of a scenario, without its page.
pub(crate) fn of(run: &Embedded) -> Value {
    let tables = run.outcome.tables();
    let tables = tables.map(|table| (table.name().to_owned(), table.to_csv().into()));
    let mut notes = run.outcome.notes.clone();
    let asked = &run.file.points[0].scenario.engines;
    if asked.contains(&Engine::Measure) {
        let note = "simulated, not measured: engine `measure` needs a kernel, which only the \
                    program has";
        notes.push(note.to_owned());
    } else if !asked.contains(&Engine::Simulate) {
        let note = "simulated beside what `engines` asks for: the page always does";
        notes.push(note.to_owned());
    }
    let mut answer = json!({
        "tables": tables.collect::<Map<String, Value>>(),
        "answer": run.answer(),
        "notes": notes,
    });
    let failures: Vec<_> = run
        .failures()
        .map(|failure| format!("{NAME}, {failure}"))
        .collect();
    if !failures.is_empty() {
        answer["error"] = failures.join("\n").into();
    }
    answer
}

/// Its page.
pub(crate) fn report(run: &Embedded) -> String {
    run.report(facts()).to_html()
}

/// Where the numbers come from.
fn facts() -> Vec<(String, String)> {
    let facts = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("scenario", NAME),
        ("architecture", std::env::consts::ARCH),
    ];
    facts
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
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
    fn what_a_page_cannot_do_is_noted() {
        let answer = of(&format!("{SHORT}\n[measure]\nkernel = \"linux\"\n"));
        let notes = answer["notes"].to_string();
        assert!(notes.contains("`measure`"), "{notes}");
        let answer = of(&format!("engines = [\"predict\"]\n{SHORT}"));
        let notes = answer["notes"].to_string();
        assert!(notes.contains("`engines`"), "{notes}");
        assert_eq!(of(SHORT)["notes"].to_string(), "[]");
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
