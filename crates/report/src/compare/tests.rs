//! Comparisons of run folders of a row or two.

use super::*;
use crate::comparison::BOUNDS;
use crate::run_folder::{RunFolder, RunInfo};
use std::path::Path;
use trammel_core::label::Label;

pub(super) fn read_one(path: &Path) -> Run {
    read(&[path.to_owned()]).unwrap().remove(0)
}

fn run(folder: &Path, scenario: &str, mean: f64) -> Run {
    let columns = [
        ("engine", Text),
        ("point", Text),
        ("entity", Text),
        ("metric", Text),
        ("unit", Text),
        ("mean", Float),
    ];
    let mut summary = Table::with("summary", &columns);
    let texts = ["simulate", "p=0.1", "cubic", "goodput", "Mbit/s"];
    let cells = texts.iter().map(|text| (*text).into()).chain([mean.into()]);
    summary.push(cells.collect()).unwrap();
    let mut out = RunFolder::create(folder).unwrap();
    out.write_table(&summary).unwrap();
    let scenario_text = scenario.to_owned();
    let info = RunInfo {
        scenario_text,
        ..RunInfo::default()
    };
    read_one(&out.finish(&info).unwrap())
}

#[test]
fn rows_are_matched_and_the_first_run_is_the_reference() {
    let parent = tempfile::tempdir().unwrap();
    let first = run(&parent.path().join("before"), "same", 100.0);
    let second = run(&parent.path().join("after"), "same", 110.0);
    let report = compare(&[first, second], BOUNDS.0);
    let [Block::Dots(plot), Block::Comparison(comparison)] = &report.sections[0].blocks[..] else {
        panic!("one engine, no warnings");
    };
    assert_eq!(plot.rows, ["p=0.1, cubic, goodput"]);
    assert_eq!(plot.series[0].values, [Some(10.0)]);
    assert_eq!(comparison.rows.len(), 1);
    assert_eq!(comparison.error(&comparison.rows[0], 1), Some(0.1));
    assert_eq!(report.answer.number, "0 of 1");
}

#[test]
fn runs_without_a_common_engine_are_matched_under_their_own_labels() {
    let parent = tempfile::tempdir().unwrap();
    let simulated = run(&parent.path().join("simulated"), "same", 100.0);
    let mut measured = run(&parent.path().join("measured"), "same", 90.0);
    let summary = measured.summary.as_mut().unwrap();
    let mut other = Table::new("summary", summary.columns().to_vec());
    for row in summary.rows() {
        let mut cells = row.cells().to_vec();
        cells[0] = "measure".into();
        other.push(cells).unwrap();
    }
    measured.summary = Some(other);
    let runs = [measured, simulated];
    let report = compare(&runs, BOUNDS.0);
    let comparison = report.sections[0]
        .blocks
        .iter()
        .find_map(|block| match block {
            Block::Comparison(comparison) => Some(comparison),
            _ => None,
        });
    let comparison = comparison.unwrap();
    assert_eq!(comparison.title, "measure, simulate");
    let labels: Vec<Label> = comparison.sources.iter().map(|it| it.label).collect();
    assert_eq!(labels, [Label::Measured, Label::Simulated]);
    assert_eq!(judge(&runs, 0.05).compared, 1);
    assert_eq!(table(&runs).len(), 1);
}

#[test]
fn systems_have_columns_of_their_own_and_what_is_published_stands_once() {
    let parent = tempfile::tempdir().unwrap();
    let run = |name: &str, pps: f64| {
        let columns = ["engine", "point", "metric", "unit", "system", "label"];
        let mut columns: Vec<_> = columns.map(|name| (name, Text)).into();
        columns.push(("mean", Float));
        let mut summary = Table::with("summary", &columns);
        for (system, label, mean) in [
            ("Trammel", "measured", pps),
            ("Soekris", "published", 4331.0),
        ] {
            let texts = ["measure", "80000", "achieved", "packets/s", system, label];
            let cells = texts.iter().map(|text| (*text).into()).chain([mean.into()]);
            summary.push(cells.collect()).unwrap();
        }
        let mut out = RunFolder::create(parent.path().join(name)).unwrap();
        out.write_table(&summary).unwrap();
        read_one(&out.finish(&RunInfo::default()).unwrap())
    };
    let runs = [run("one", 80_000.0), run("two", 40_000.0)];
    let report = compare(&runs, BOUNDS.0);
    let [Block::Dots(_), Block::Comparison(comparison)] = &report.sections[0].blocks[..] else {
        panic!("one engine, no warnings");
    };
    let sources: Vec<_> = comparison
        .sources
        .iter()
        .map(|it| (it.label, it.name.as_str()))
        .collect();
    let wanted = [
        (Label::Measured, "one: Trammel"),
        (Label::Measured, "two: Trammel"),
        (Label::Published, "Soekris"),
    ];
    assert_eq!(sources, wanted);
    assert_eq!(comparison.rows.len(), 1);
    assert_eq!(comparison.error(&comparison.rows[0], 1), Some(-0.5));
    assert_eq!(table(&runs).columns().len(), KEYS.len() + 3);
}

#[test]
fn rows_are_matched_by_parameters_and_not_by_the_names_of_points() {
    let parent = tempfile::tempdir().unwrap();
    // Source and rate of each point, and its goodput.
    let run = |name: &str, swept: &[&'static str], points: &[(&[&str], f64)]| {
        let mut columns = vec![("engine", Text), ("point", Text)];
        columns.extend(swept.iter().map(|name| (*name, Text)));
        columns.extend(["entity", "metric", "unit"].map(|name| (name, Text)));
        columns.push(("mean", Float));
        let mut summary = Table::with("summary", &columns);
        for (values, mean) in points {
            let id = format!("{name}-{}", values.join("-"));
            let mut cells: Vec<Cell> = vec!["measure".into(), id.into()];
            cells.extend(values.iter().map(|value| Cell::from(*value)));
            cells.extend(["cubic", "goodput", "Mbit/s"].map(Cell::from));
            cells.push((*mean).into());
            summary.push(cells).unwrap();
        }
        let mut out = RunFolder::create(parent.path().join(name)).unwrap();
        out.write_table(&summary).unwrap();
        read_one(&out.finish(&RunInfo::default()).unwrap())
    };
    let numbers = |runs: &[Run]| -> Vec<Vec<Option<f64>>> {
        align(runs, &sides(runs))
            .into_iter()
            .map(|(_, values)| values.into_iter().map(|one| Some(one?.value)).collect())
            .collect()
    };
    let old = run("old", &[], &[(&[], 100.0)]);
    let new = run("new", &["source"], &[(&["../linux"], 90.0)]);
    assert_eq!(numbers(&[old.clone(), new]), [[Some(100.0), Some(90.0)]]);
    let trees = [(&["packaged"][..], 100.0), (&["../linux"], 90.0)];
    let both = [old, run("both", &["source"], &trees)];
    let names: Vec<String> = sides(&both).into_iter().map(|side| side.name).collect();
    assert_eq!(
        names,
        ["old", "both: source=packaged", "both: source=../linux"]
    );
    assert_eq!(numbers(&both), [[Some(100.0), Some(100.0), Some(90.0)]]);
    // What both sweep is matched.
    let rates = [(&["1"][..], 1.0), (&["2"], 2.0)];
    let few = run("few", &["rate_bps"], &rates);
    let more = [(&["2", "a"][..], 20.0), (&["1", "a"], 10.0)];
    let more = run("more", &["rate_bps", "source"], &more);
    assert_eq!(
        numbers(&[few, more]),
        [[Some(1.0), Some(10.0)], [Some(2.0), Some(20.0)]]
    );
}

#[test]
fn names_that_are_taken_are_numbered() {
    let parent = tempfile::tempdir().unwrap();
    // A folder may be called as a column is, and two systems of one name may have two labels.
    let engine = run(&parent.path().join("engine"), "same", 1.0);
    let columns = ["engine", "point", "metric", "unit", "system", "label"];
    let mut columns: Vec<_> = columns.map(|name| (name, Text)).into();
    columns.push(("mean", Float));
    let mut summary = Table::with("summary", &columns);
    for label in ["measured", "simulated"] {
        let texts = ["measure", "1", "rate", "pps", "S", label];
        let cells = texts.iter().map(|text| (*text).into()).chain([1.0.into()]);
        summary.push(cells.collect()).unwrap();
    }
    let two = Run::in_memory("two", Some(summary));
    let table = table(&[engine, two]);
    let names: Vec<_> = table.columns()[KEYS.len()..]
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(names, ["engine (2)", "two: S", "two: S (2)"]);
}

#[test]
fn a_verdict_names_what_lies_apart_and_what_a_run_lacks() {
    let parent = tempfile::tempdir().unwrap();
    let runs = [100.0, 104.0, 90.0].map(|mean| {
        let folder = parent.path().join(format!("of-{mean}"));
        run(&folder, "same", mean)
    });
    assert_eq!(judge(&runs[..2], 0.05).apart, []);
    let verdict = judge(&runs, 0.05);
    assert_eq!((verdict.compared, verdict.apart.len()), (2, 1));
    let table = verdict.table(9);
    let row = table.rows().next().unwrap();
    assert_eq!(row.text("run"), "of-90");
    assert_eq!(row.float("difference_percent"), Some(-10.0));
    let mut lacking = runs[1].clone();
    lacking.summary = None;
    let verdict = judge(&[runs[0].clone(), lacking], 0.05);
    assert_eq!((verdict.compared, verdict.apart.len()), (0, 1));
}

#[test]
fn different_scenarios_are_said() {
    let parent = tempfile::tempdir().unwrap();
    let first = run(&parent.path().join("a"), "one", 1.0);
    let second = run(&parent.path().join("b"), "two", 1.0);
    let report = compare(&[first, second], BOUNDS.0);
    assert!(matches!(&report.sections[0].blocks[0], Block::Note(note)
        if note.text.contains("different scenarios")));
    let folder = parent.path().to_owned();
    assert!(read(&[folder]).is_err(), "not a run folder");
}

/// A run of one engine whose rows have columns of their own, points, and a number each.
fn swept(
    engine: &str,
    name: &str,
    columns: &[&'static str],
    points: &[(&str, &[&str], f64)],
) -> Run {
    let all = ["engine", "point"]
        .into_iter()
        .chain(columns.iter().copied());
    let all = all.chain(["entity", "metric", "unit"]);
    let mut all: Vec<_> = all.map(|name| (name, Text)).collect();
    all.push(("mean", Float));
    let mut summary = Table::with("summary", &all);
    for (point, values, mean) in points {
        let texts = [engine, *point].into_iter().chain(values.iter().copied());
        let texts = texts.chain(["cubic", "goodput", "Mbit/s"]);
        let cells = texts.map(Cell::from).chain([(*mean).into()]);
        summary.push(cells.collect()).unwrap();
    }
    Run::in_memory(name, Some(summary))
}

#[test]
fn an_import_of_a_sweep_is_matched_by_the_names_of_its_points() {
    let sweep = swept(
        "simulate",
        "sweep",
        &["rtt_s"],
        &[
            ("rtt_s=10ms", &["0.01"], 10.0),
            ("rtt_s=40ms", &["0.04"], 40.0),
        ],
    );
    let import = |names: [&str; 2]| {
        let points: Vec<(&str, &[&str], f64)> = vec![(names[0], &[], 11.0), (names[1], &[], 44.0)];
        swept("measure", "import", &[], &points)
    };
    let runs = [sweep.clone(), import(["rtt_s=10ms", "rtt_s=40ms"])];
    let table = table(&runs);
    let rows = table.rows().map(|row| {
        let numbers = (row.float("sweep"), row.float("import"));
        (row.text("point").to_owned(), numbers)
    });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            ("rtt_s=10ms".to_owned(), (Some(10.0), Some(11.0))),
            ("rtt_s=40ms".to_owned(), (Some(40.0), Some(44.0)))
        ]
    );
    assert_eq!(judge(&runs, 0.05).compared, 2);
    // Points that nothing tells apart are neither merged nor compared.
    let verdict = judge(&[sweep, import(["short", "long"])], 0.05);
    assert_eq!(verdict.compared, 0);
    let why = verdict.why_nothing();
    for part in [
        "no point",
        "`sweep` has `rtt_s=10ms`, `rtt_s=40ms`",
        "`import` has `long`, `short`",
    ] {
        assert!(why.contains(part), "{why}");
    }
}

#[test]
fn columns_of_one_run_are_not_compared_with_each_other() {
    let points: [(&str, &[&str], f64); 2] = [("a", &["0.01"], 10.0), ("b", &["0.04"], 40.0)];
    let sweep = swept("simulate", "sweep", &["rtt_s"], &points);
    let placement = Run {
        name: "placement".to_owned(),
        summary: Some(Table::with("summary", &[("file", Text), ("gap", Float)])),
        ..sweep.clone()
    };
    let verdict = judge(&[sweep, placement], 0.05);
    assert_eq!(verdict.compared, 0);
    assert!(verdict.why_nothing().contains("of the same subject"));
}

/// A run of a bench: `(engine, system)` with a throughput each.
fn bench(name: &str, systems: &[(&str, &str, f64)]) -> Run {
    let columns = ["engine", "point", "metric", "unit", "system", "label"];
    let mut columns: Vec<_> = columns.map(|name| (name, Text)).into();
    columns.push(("mean", Float));
    let mut summary = Table::with("summary", &columns);
    for (engine, system, mean) in systems {
        let texts = [*engine, "64", "throughput", "pps", *system, *engine];
        let cells = texts.map(Cell::from).into_iter().chain([(*mean).into()]);
        summary.push(cells.collect()).unwrap();
    }
    Run::in_memory(name, Some(summary))
}

#[test]
fn a_device_by_two_engines_is_compared_with_itself_by_each() {
    let both = |name| {
        bench(
            name,
            &[("predicted", "router", 10.0), ("simulated", "router", 20.0)],
        )
    };
    let runs = [both("one"), both("two")];
    let verdict = judge(&runs, 0.01);
    assert_eq!((verdict.compared, verdict.apart.as_slice()), (2, &[][..]));
    // Generators of one machine as well, each with itself.
    let pair = |name| {
        bench(
            name,
            &[("measured", "iperf3", 10.0), ("measured", "itg", 20.0)],
        )
    };
    let runs = [pair("one"), pair("two")];
    let verdict = judge(&runs, 0.01);
    assert_eq!((verdict.compared, verdict.apart.as_slice()), (2, &[][..]));
    let html = compare(&runs, 0.01).to_html();
    assert!(html.contains("against one: itg"), "a head says with what");
    // What the other lacks is said.
    let one = bench("two", &[("predicted", "router", 10.0)]);
    let verdict = judge(&[both("one"), one], 0.01);
    assert_eq!((verdict.compared, verdict.apart.len()), (1, 1));
    assert_eq!(verdict.apart[0].other, None);
}

#[test]
fn zeros_in_both_runs_are_no_agreement() {
    let points = |numbers: [f64; 4]| {
        let names = ["a", "b", "c", "d"].into_iter().zip(numbers);
        let points: Vec<(&str, &[&str], f64)> = names
            .map(|(name, number)| (name, &[][..], number))
            .collect();
        swept("simulate", "run", &[], &points)
    };
    let runs = [
        points([0.0, 0.0, 10.0, 10.0]),
        points([0.0, 3.0, 10.0, 20.0]),
    ];
    let verdict = judge(&runs, 0.05);
    assert_eq!(
        (verdict.compared, verdict.zeros, verdict.apart.len()),
        (3, 1, 2)
    );
    let report = compare(&runs, 0.05);
    assert_eq!(report.answer.number, "1 of 3");
    assert!(
        report
            .answer
            .sentence
            .ends_with("of run. One more is 0 in both.")
    );
    // The list above the table counts the same three.
    let html = report.to_html();
    assert!(
        html.contains("(2 numbers); 1 number is 0 in the reference"),
        "{html}"
    );
    let zeros = [points([0.0; 4]), points([0.0; 4])];
    assert!(!judge(&zeros, 0.05).is_empty());
}

#[test]
fn as_many_columns_are_drawn_as_there_are_marks() {
    let run = |name: &str, mean| swept("simulate", name, &[], &[("base", &[], mean)]);
    let others = (0..10_u8).map(|n| run(&format!("run {n}"), 2.0 + f64::from(n)));
    let runs: Vec<Run> = [run("first", 1.0)].into_iter().chain(others).collect();
    let report = compare(&runs, 0.05);
    let plot = report.sections[0]
        .blocks
        .iter()
        .find_map(|block| match block {
            Block::Dots(plot) => Some(plot),
            _ => None,
        });
    let plot = plot.unwrap();
    assert_eq!(plot.series.len(), 8);
    assert_eq!(
        plot.title,
        "Largest differences from first, the first 8 of 10 columns"
    );
    // What the numbers are compared with is said to be one of several points.
    let points: [(&str, &[&str], f64); 2] = [("a", &["1"], 1.0), ("b", &["2"], 2.0)];
    let sweep = swept("simulate", "sweep", &["rtt_s"], &points);
    let answer = compare(&[sweep, run("one", 1.0)], 0.05).answer;
    let end = "of those of sweep: rtt_s=1, the first of 2 points of sweep.";
    assert!(answer.sentence.ends_with(end), "{}", answer.sentence);
}
