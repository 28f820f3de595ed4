//! Reads `paper.toml` and notes every fault with its place.

mod plot_reader;
mod reader;
mod streams_reader;
mod tested_reader;

use super::spec::{
    Answer, Curve, Engine, Estimated, Experiment, Figure, Finding, FindingValue, Functions, Gather,
    Names, Spec, TableText,
};
use crate::findings::names;
use reader::{Reader, numbers};
use std::cell::RefCell;
use trammel_core::label::Label;
use trammel_scenario::diagnose::{Problem, Problems};
use trammel_scenario::tree::{Entry, Node, Value};

const ROOT: &[&str] = &[
    "title",
    "authors",
    "venue",
    "claim",
    "question",
    "engine",
    "table",
    "experiment",
    "figure",
    "plot",
    "finding",
];
const FINDING: &[&str] = &["text", "values"];
const TABLE: &[&str] = &["name", "title", "text", "source", "kernel"];
const EXPERIMENT: &[&str] = &[
    "id",
    "scenario",
    "hypothesis",
    "engine",
    "model",
    "functions",
    "machine",
    "frames",
    "flows",
    "vary",
    "cores",
    "ports",
    "gbps",
    "remote",
    "udp_bytes",
    "tcp_bytes",
    "pps",
    "mbps",
    "link_mbps",
    "published",
    "tests",
    "ring",
    "dut",
    "transfers",
    "through",
    "fitted",
    "judged",
    "requires",
    "set",
    "quick",
    "full",
    "full_only",
    "kernel",
    "answer",
];
const ANSWER: &[&str] = &[
    "table",
    "rows",
    "columns",
    "row_names",
    "column_names",
    "value",
    "gather",
    "with",
    "judged",
];
const FIGURE: &[&str] = &[
    "id",
    "title",
    "text",
    "experiment",
    "point",
    "curve",
    "predicted",
];

impl Spec {
    /// Reads the text of a `paper.toml`, called `file` in messages.
    pub fn parse(file: &str, text: &str) -> Result<Spec, Box<Problems>> {
        let problems = RefCell::new(Vec::new());
        let refuse = |list| Err(Box::new(Problems::new(file, text, list)));
        let root = match Node::parse(text) {
            Ok(root) => root,
            Err(error) => {
                return refuse(vec![Problem {
                    span: error.span,
                    what: "this is not TOML".to_owned(),
                    why: error.message,
                    help: String::new(),
                }]);
            }
        };
        let place = "a paper";
        let reader = Reader::new(&problems, &root, place, ROOT);
        let spec = Spec {
            title: reader.text("title"),
            authors: reader.text_or_none("authors"),
            venue: reader.text_or_none("venue"),
            claim: reader.text("claim"),
            question: reader.text_or_none("question"),
            engine: match reader.word("engine", &["scenarios", "fidelity"]) {
                Some(1) => Engine::Fidelity,
                _ => Engine::Scenarios,
            },
            tables: reader
                .each("table", "`table`", TABLE)
                .map(|r| table(&r))
                .collect(),
            experiments: reader
                .each("experiment", "`experiment`", EXPERIMENT)
                .map(|r| experiment(&r))
                .collect(),
            figures: reader
                .each("figure", "`figure`", FIGURE)
                .map(|r| figure(&r))
                .collect(),
            plots: reader
                .each("plot", "`plot`", plot_reader::PLOT)
                .map(|r| plot_reader::plot(&r))
                .collect(),
            findings: reader
                .each("finding", "`finding`", FINDING)
                .map(|r| finding(&r))
                .collect(),
        };
        let of_kernel = reader
            .each("experiment", "`experiment`", EXPERIMENT)
            .zip(&spec.experiments)
            .filter_map(|(r, simulated)| in_kernel(&r, simulated));
        let of_kernel: Vec<_> = of_kernel.collect();
        if spec.engine == Engine::Scenarios && spec.experiments.is_empty() {
            reader.fault(
                &reader.span,
                "the paper has no `experiment`",
                "nothing to run",
                "",
            );
        }
        for (n, figure) in reader.each("figure", "`figure`", FIGURE).enumerate() {
            let name = &spec.figures[n].experiment;
            if !name.is_empty() && spec.experiment(name).is_none() {
                let names = spec
                    .experiments
                    .iter()
                    .map(|experiment| experiment.id.as_str());
                figure.unknown("experiment", name, names);
            }
        }
        for plot in reader.each("plot", "`plot`", plot_reader::PLOT) {
            plot_reader::check(&plot, &spec);
        }
        for (n, one) in reader
            .each("experiment", "`experiment`", EXPERIMENT)
            .enumerate()
        {
            let id = &spec.experiments[n].id;
            if spec.experiments[..n].iter().any(|other| other.id == *id) {
                let span = one
                    .entry("id")
                    .map_or(one.span.clone(), |entry| entry.node.span.clone());
                one.fault(
                    &span,
                    format!("two experiments are called `{id}`"),
                    "the second",
                    "",
                );
            }
        }
        let mut spec = spec;
        spec.experiments.extend(of_kernel);
        let readers = reader.each("finding", "`finding`", FINDING);
        for (r, finding) in readers.zip(&spec.findings) {
            let mut values = finding.values.iter();
            if let Some(value) = values.find(|one| spec.experiment(&one.experiment).is_none()) {
                let what = format!("there is no experiment `{}`", value.experiment);
                r.fault(&r.span, what, format!("as `{}` names", value.name), "");
            }
        }
        let list = problems.into_inner();
        if list.is_empty() {
            Ok(spec)
        } else {
            refuse(list)
        }
    }
}

fn table(r: &Reader<'_>) -> TableText {
    TableText {
        name: r.text("name"),
        title: r.text("title"),
        text: r.text_or_none("text"),
        source: r.text_or_none("source"),
        is_of_kernel: r.flag("kernel").unwrap_or(false),
    }
}

/// A sentence; a value of it is written `experiment | row | column`, or with ` | digits`.
fn finding(r: &Reader<'_>) -> Finding {
    let text = r.text("text");
    let mut values = Vec::new();
    let given = r.entry("values").and_then(|entry| entry.node.as_table());
    for entry in given.map(|table| &table.0[..]).unwrap_or_default() {
        let parts = entry.node.as_text().unwrap_or_default().split('|');
        let parts: Vec<_> = parts.map(str::trim).collect();
        let digits = parts.get(3).map_or(Some(0), |digits| digits.parse().ok());
        match (&parts[..], digits) {
            ([experiment, row, column] | [experiment, row, column, _], Some(digits))
                if digits <= 9 =>
            {
                values.push(FindingValue {
                    name: entry.key.clone(),
                    experiment: (*experiment).to_owned(),
                    row: (*row).to_owned(),
                    column: (*column).to_owned(),
                    digits,
                });
            }
            _ => r.wrong(
                &entry.node,
                &entry.key,
                "`experiment | row | column | digits`",
            ),
        }
        if !names(&text).contains(&entry.key.as_str()) {
            let what = format!("`{}` is not in the text", entry.key);
            r.fault(&entry.span, what, "not used", "");
        }
    }
    for name in names(&text) {
        if given.is_none_or(|table| table.get(name).is_none()) {
            let what = format!("`{{{name}}}` has no value");
            r.fault(&r.span, what, "in the text", "give it in `values`");
        }
    }
    Finding { text, values }
}

fn experiment(r: &Reader<'_>) -> Experiment {
    let engine = r.word(
        "engine",
        &["simulate", "predict", "estimate", "measure", "model"],
    );
    let is_measured = engine == Some(3);
    let is_of_streams = ["pps", "mbps"].iter().any(|key| r.entry(key).is_some());
    let is_predicted = engine == Some(1) && !is_of_streams;
    let is_tested = r.entry("tests").is_some();
    let is_transferred = r.entry("transfers").is_some();
    let is_of_devices = is_tested || is_transferred;
    let is_estimated = matches!(engine, Some(2 | 3)) && !is_of_streams && !is_of_devices;
    let label = match (engine, r.flag("fitted")) {
        (_, Some(true)) => Label::Fitted,
        (Some(3), _) => Label::Measured,
        (Some(4), _) => Label::Modelled,
        (Some(1 | 2), _) => Label::Predicted,
        _ => Label::Simulated,
    };
    let model = r.entry("model").map(|_| r.text("model"));
    if is_predicted && model.is_none() {
        r.missing("model");
    }
    let is_judged = r.flag("judged").unwrap_or(true);
    Experiment {
        id: r.text("id"),
        scenario: if is_estimated || is_of_streams || is_of_devices {
            String::new()
        } else {
            r.text("scenario")
        },
        hypothesis: r.text_or_none("hypothesis"),
        label,
        requires: r.entry("requires").map(|_| r.text("requires")),
        model: model.filter(|_| is_predicted),
        estimate: is_estimated.then(|| estimated(r, is_measured)),
        streams: is_of_streams.then(|| streams_reader::streams(r, is_measured)),
        tested: is_tested.then(|| tested_reader::tested(r)),
        transfers: is_transferred.then(|| tested_reader::transfers(r)),
        set: r.settings("set"),
        quick: r.settings("quick"),
        full: r.settings("full"),
        needs_full: r.flag("full_only").unwrap_or(false),
        needs_kernel: false,
        answers: r
            .each("answer", "`answer`", ANSWER)
            .filter_map(|one| answer(&one, is_judged))
            .collect(),
    }
}

/// The same experiment in the kernel's own TCP, where `kernel` asks for it: a column beside that no
/// verdict is about.
fn in_kernel(r: &Reader<'_>, simulated: &Experiment) -> Option<Experiment> {
    let entry = r.entry("kernel")?;
    let own = Reader::new(
        r.problems,
        &entry.node,
        "`kernel`",
        &["set", "quick", "full", "given"],
    );
    let together = |one: &[(String, Value)], key| [one.to_vec(), own.settings(key)].concat();
    let answers = simulated.answers.iter().cloned().map(|answer| Answer {
        is_judged: false,
        ..answer
    });
    Some(Experiment {
        id: format!("{}-kernel", simulated.id),
        label: Label::LinuxVt,
        set: together(&simulated.set, "set"),
        quick: own.settings("quick"),
        full: together(&simulated.full, "full"),
        needs_full: own.entry("quick").is_none(),
        needs_kernel: own.flag("given").unwrap_or(false),
        answers: answers.collect(),
        ..simulated.clone()
    })
}

fn estimated(r: &Reader<'_>, is_measured: bool) -> Estimated {
    let number = |key: &str, default: f64| match r.entry(key).map(|entry| &entry.node.value) {
        Some(Value::Int(n)) => *n as f64,
        Some(Value::Float(n)) => *n,
        _ => default,
    };
    let numbers = |key: &str, default: f64| match r.entry(key).map(|entry| &entry.node) {
        Some(node) => {
            let found = numbers(node);
            let is_whole = |n: &f64| (1.0..=1e7).contains(n) && n.fract() == 0.0;
            if found.is_empty() || !found.iter().all(is_whole) {
                r.wrong(node, key, "a list of whole numbers from 1 to 10 million");
            }
            found
        }
        None => vec![default],
    };
    let files = r.entry("functions").and_then(|entry| {
        let table = entry.node.as_table()?;
        let text = |one: &Entry| match one.node.as_text() {
            Some(text) => text.to_owned(),
            None => {
                r.wrong(&one.node, &one.key, "a Click file");
                String::new()
            }
        };
        let each = table.0.iter().map(|one| (one.key.clone(), text(one)));
        Some(Functions::Files(each.collect()))
    });
    if is_measured && files.is_none() {
        r.fault(
            &r.span,
            "only Click files can be measured",
            "`functions` is a list of operations",
            "write `functions = { name = \"file.click\" }`",
        );
    }
    Estimated {
        functions: files.unwrap_or_else(|| Functions::List(r.text("functions"))),
        machine: r.text("machine"),
        is_measured,
        frames: numbers("frames", 64.0),
        flows: numbers("flows", 1.0),
        vary: r.text_or_none("vary"),
        cores: number("cores", 1.0),
        ports: number("ports", 1.0),
        gbps: number("gbps", f64::INFINITY),
        remote: number("remote", 0.0),
    }
}

fn answer(r: &Reader<'_>, is_judged: bool) -> Option<Answer> {
    let table = r.text("table");
    let (rows, columns) = (
        r.names("rows", "row_names"),
        r.names("columns", "column_names"),
    );
    let value = match r.entry("value") {
        Some(entry) => Some(r.expression(&entry.node)?),
        None => None,
    };
    let (rows, columns) = (rows?, columns?);
    let bring = [&rows, &columns]
        .into_iter()
        .filter(|names| matches!(names, Names::Each(_)));
    let values = bring.count() + usize::from(value.is_some());
    if values != 1 {
        let what = "an answer needs one source of values";
        let help = "give `value`, or a table of expressions as `rows` or as `columns`";
        r.fault(&r.span, what, format!("this has {values}"), help);
        return None;
    }
    let gather = match r.word("gather", &["mean", "spearman"]) {
        Some(0) => Gather::Mean,
        Some(_) => {
            let entry = r.entry("with").or_else(|| {
                r.missing("with");
                None
            })?;
            let with = Reader::new(
                r.problems,
                &entry.node,
                "`with`",
                &["over", "table", "column"],
            );
            let (over, table, column) =
                (with.text("over"), with.text("table"), with.text("column"));
            Gather::Spearman {
                over,
                table,
                column,
            }
        }
        None => Gather::None,
    };
    let is_judged = r.flag("judged").unwrap_or(is_judged);
    Some(Answer {
        table,
        rows,
        columns,
        value,
        gather,
        is_judged,
    })
}

fn figure(r: &Reader<'_>) -> Figure {
    let curve = match r.word("curve", &["cwnd", "throughput", "share"]) {
        Some(1) => Curve::Throughput,
        Some(2) => Curve::Share,
        _ => Curve::Cwnd,
    };
    let point = match r.entry("point").map(|entry| &entry.node.value) {
        Some(Value::Int(n)) => usize::try_from(*n).unwrap_or(0),
        _ => 0,
    };
    Figure {
        id: r.text("id"),
        title: r.text("title"),
        text: r.text_or_none("text"),
        experiment: r.text("experiment"),
        point,
        curve,
        predicted: r.entry("predicted").map(|_| r.text("predicted")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "title = 't'\nclaim = 'c'\n";

    #[test]
    fn an_experiment_is_read_with_its_answers() {
        let text = format!(
            "{HEAD}[[experiment]]\nid = 'a'\nscenario = 'a.toml'\nhypothesis = 'SACK'\n\
             set = {{ 'flow.0.sack' = true }}\nquick = {{ repeat = 2 }}\n\
             [[experiment.answer]]\ntable = '1'\nrows = {{ reno = 'reno.share' }}\n\
             columns = {{ sweep = 'path.rtt' }}\ncolumn_names = ['x', 'y']\n"
        );
        let spec = Spec::parse("paper.toml", &text).unwrap();
        let experiment = spec.experiment("a").unwrap();
        assert!(experiment.answers[0].is_judged && experiment.label == Label::Simulated);
        assert_eq!(experiment.set[0].0, "flow.0.sack");
        let answer = &experiment.answers[0];
        assert!(matches!(&answer.rows, Names::Each(each) if each[0].0 == "reno"));
        assert!(matches!(&answer.columns, Names::Swept(key, names)
            if key == "path.rtt" && names == &["x", "y"]));
    }

    #[test]
    fn an_experiment_may_be_kept_for_the_full_run() {
        let text = "title = 't'\nclaim = 'c'\n[[experiment]]\nid = 'a'\nscenario = 'a.toml'\n\
                    full_only = true\n[[experiment]]\nid = 'b'\nscenario = 'a.toml'\n";
        let spec = Spec::parse("paper.toml", text).unwrap();
        let needs: Vec<_> = spec.experiments.iter().map(|one| one.needs_full).collect();
        assert_eq!(needs, [true, false]);
    }

    #[test]
    fn an_experiment_may_be_done_in_the_kernel_too() {
        let text = format!(
            "{HEAD}[[experiment]]\nid = 'a'\nscenario = 'a.toml'\nset = {{ repeat = 3 }}\n\
             quick = {{ repeat = 2 }}\n\
             kernel = {{ set = {{ 'path.overhead' = '14 B' }} }}\n\
             [[experiment.answer]]\ntable = '1'\nrows = 'r'\ncolumns = 'c'\nvalue = 'reno.share'\n\
             [[experiment]]\nid = 'b'\nscenario = 'b.toml'\n\
             kernel = {{ quick = {{ repeat = 1 }} }}\n"
        );
        let spec = Spec::parse("paper.toml", &text).unwrap();
        let ids: Vec<&str> = spec.experiments.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "a-kernel", "b-kernel"]);
        let [a, b] = ["a-kernel", "b-kernel"].map(|id| spec.experiment(id).unwrap());
        assert_eq!((a.label, a.needs_full), (Label::LinuxVt, true));
        let keys: Vec<&str> = a.set.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["repeat", "path.overhead"]);
        assert!(a.quick.is_empty() && !a.answers[0].is_judged);
        assert!(!b.needs_full && b.quick.len() == 1);
        let text = text.replace("path.overhead' = '14 B'", "repeat' = 1 }, st = { a = 1");
        let shown = Spec::parse("paper.toml", &text).unwrap_err().to_string();
        assert!(shown.contains("`kernel` has no key `st`"), "{shown}");
    }

    #[test]
    fn every_fault_is_shown_at_once() {
        let text = "titel = 't'\n[[experiment]]\nid = 'a'\nscenario = 'a.toml'\n\
                    engine = 'predict'\n\
             [[experiment.answer]]\ntable = '1'\nrows = 'r'\ncolumns = 'c'\nvalue = 'reno.'\n\
             [[figure]]\nid = 'f'\ntitle = 'f'\nexperiment = 'b'\ncurve = 'cwnds'\n";
        let shown = Spec::parse("paper.toml", text).unwrap_err().to_string();
        for part in [
            "did you mean `title`?",
            "a paper needs `claim`",
            "`experiment` needs `model`",
            "`reno.` needs a metric",
            "there is no `b`",
            "`curve` cannot be",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
    }
}
