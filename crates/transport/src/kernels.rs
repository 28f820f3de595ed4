//! Two kernels beside each other: the same scenarios in both, which of their numbers changed by how
//! much, and the first segment that their senders send differently.
//!
//! ```text
//! files ─ measured with the old kernel ─> summary ─┐
//!       └ measured with the new kernel ─> summary ─┴─> changes
//!       └ one flow of each point in both ────────────> partings
//! ```

use crate::diverge::{self, Finding};
use crate::instrument::Ready;
use crate::points::{RunOptions, Watch, run_points};
use anyhow::bail;
use std::collections::BTreeMap;
use std::path::Path;
use trammel_core::time::{Span, Time};
use trammel_ground::Unsupported;
use trammel_scenario::File;
use trammel_scenario::model::{Engine, Kernel as Whose, Measure, Scenario};
use trammel_scenario::named::kernel;
use trammel_stats::table::CellType::{Bool, Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Row, Table};

/// Metrics that tell how a kernel behaves. Others follow from them, or say how long a run was.
const METRICS: [&str; 17] = [
    "completion",
    "cwnd_mean",
    "drops_early",
    "drops_overflow",
    "fct_mean",
    "fct_p50",
    "fct_p99",
    "goodput",
    "jain",
    "marks",
    "queue_delay_mean",
    "retransmissions",
    "rtt_mean",
    "rtt_p95",
    "share",
    "timeouts",
    "utilisation",
];
/// Changes by less than this are none, by unit: a few packets, a hundredth of a share.
const FLOORS: [(&str, f64); 2] = [("packets", 5.0), ("1", 0.01)];

/// The columns of the changes.
const CHANGES: &[(&str, CellType)] = &[
    ("scenario", Text),
    ("point", Text),
    ("entity", Text),
    ("metric", Text),
    ("unit", Text),
    ("old", Float),
    ("new", Float),
    ("change", Float),
    ("spread", Float),
    ("changed", Bool),
];
/// Those of the partings.
const PARTINGS: &[(&str, CellType)] = &[
    ("scenario", Text),
    ("point", Text),
    ("flow", Text),
    ("variant", Text),
    ("identical_segments", Int),
    ("diverge_at_s", Float),
    ("mechanism", Text),
    ("because", Text),
];

/// A kernel as a scenario names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name: `packaged`, `TREE`, `packaged+x.patch`.
    pub name: String,
    source: Option<String>,
    patches: Vec<String>,
}

impl Kernel {
    /// That of `name`, whose files are seen from `dir`.
    pub fn named(name: &str, dir: &Path) -> anyhow::Result<Kernel> {
        let (source, patches) = kernel(name, dir);
        let there = |file: &str| {
            let path = dir.join(file);
            if file.is_empty() || !path.exists() {
                bail!(
                    "`{}` does not exist; a kernel is `packaged`, a source tree of Linux, or one \
                     of these with patches: `packaged+x.patch`",
                    path.display()
                );
            }
            Ok(path.display().to_string())
        };
        Ok(Kernel {
            name: name.to_owned(),
            source: source.map(there).transpose()?,
            patches: patches.into_iter().map(there).collect::<Result<_, _>>()?,
        })
    }

    /// `scenario`, measured with it.
    fn of(&self, scenario: &Scenario, repeats: u32) -> Scenario {
        let measure = scenario.measure.clone().unwrap_or_default();
        Scenario {
            engines: vec![Engine::Measure],
            repeat: scenario.repeat.max(repeats),
            measure: Some(Measure {
                kernel: Whose::Linux,
                source: self.source.clone(),
                patches: self.patches.clone(),
                ..measure
            }),
            ..scenario.clone()
        }
    }
}

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct KernelWish {
    /// The old one and the new one.
    pub kernels: [Kernel; 2],
    /// Repeats of each point, at least.
    pub repeats: u32,
    /// The share by which a metric may differ and be the same.
    pub within: f64,
    /// Until when the senders are compared; nothing where they are not.
    pub until: Option<Span>,
    /// Threads; nothing means one a core.
    pub threads: Option<usize>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct KernelChanges {
    /// Which kernels they are.
    pub about: [String; 2],
    /// A row for each metric of each entity.
    pub changes: Table,
    /// A row for each point's first difference; where there is none, its columns are empty.
    pub partings: Table,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// What the kernels were made of.
    pub facts: Vec<(String, String)>,
    /// Points that were compared, and those with a metric that changed.
    pub points: (usize, usize),
}

impl KernelChanges {
    /// The rows of what changed.
    pub fn changed(&self) -> Table {
        self.changes.filter(is_changed)
    }

    /// Whether nothing did.
    pub fn is_same(&self) -> bool {
        self.changed().is_empty()
    }

    /// The finding in a sentence.
    pub fn sentence(&self) -> String {
        let (points, apart) = self.points;
        let of = self.changes.len();
        let all = match points {
            1 => "the only point".to_owned(),
            points => format!("{points} points"),
        };
        match self.changed().len() {
            0 => format!("no metric changed: {of} are the same at {all}"),
            changed if points == 1 => format!("{changed} of {of} metrics changed, at {all}"),
            changed => format!("{changed} of {of} metrics changed, at {apart} of {all}"),
        }
    }
}

/// Tells of runs, and whether to stop.
pub type Told<'a> = &'a dyn Watch;

/// Measures every point of `files` with both kernels. Nothing comes of an interrupt.
pub fn compare(
    files: &[File],
    wish: &KernelWish,
    watch: Told<'_>,
) -> anyhow::Result<Option<KernelChanges>> {
    for file in files {
        for point in &file.points {
            let swept = point.swept.iter().any(|one| one.key == "measure.source");
            let is_host =
                point.scenario.measure.as_ref().map(|one| one.kernel) == Some(Whose::Host);
            if swept || is_host {
                bail!(
                    "{}: `{}` in `[measure]` says which kernel is measured; leave it out, since \
                     the command names both",
                    file.name,
                    if swept { "kernels" } else { "kernel" }
                );
            }
        }
    }
    let interrupted = || watch.is_interrupted();
    let first = files.iter().flat_map(|file| &file.points).next();
    let Some(first) = first else {
        bail!("there is no scenario to compare over");
    };
    // A kernel that is missing is told before the first run.
    let ready = |kernel: &Kernel| Ready::of(&kernel.of(&first.scenario, 1), &interrupted);
    let about = [
        ready(&wish.kernels[0])?.about,
        ready(&wish.kernels[1])?.about,
    ];
    let mut all = KernelChanges {
        about,
        changes: Table::with("changes", CHANGES),
        partings: Table::with("partings", PARTINGS),
        notes: Vec::new(),
        facts: Vec::new(),
        points: (0, 0),
    };
    for file in files {
        let mut summaries = Vec::new();
        for kernel in &wish.kernels {
            let options = RunOptions {
                engines: vec![Engine::Measure],
                needs_all: true,
                threads: wish.threads,
                ..RunOptions::default()
            };
            let mut measured = file.clone();
            for point in &mut measured.points {
                point.scenario = kernel.of(&point.scenario, wish.repeats);
            }
            let outcome = run_points(&measured, &options, watch)?;
            if outcome.is_interrupted {
                return Ok(None);
            }
            if let Some(what) = outcome.lacks {
                let mend = "without both kernels there is nothing to compare";
                return Err(Unsupported::error(&what, mend));
            }
            if let Some(failure) = outcome.failures.first() {
                bail!("{}, {}: {failure}", file.name, kernel.name);
            }
            all.facts.extend(outcome.facts);
            for note in outcome.notes {
                if !all.notes.contains(&note) {
                    all.notes.push(note);
                }
            }
            summaries.push(outcome.summary);
        }
        let name = short(&file.name);
        let changes = changes(name, [&summaries[0], &summaries[1]], wish.within);
        for point in &file.points {
            let of_point = changes.filter(|row| row.text("point") == point.id);
            let changed = of_point.filter(is_changed);
            all.points.0 += 1;
            all.points.1 += usize::from(!changed.is_empty());
            let Some(until) = wish.until.filter(|_| !point.scenario.flows.is_empty()) else {
                continue;
            };
            let flow = most_changed(&point.scenario, &changed);
            let scenarios = [0, 1].map(|side: usize| wish.kernels[side].of(&point.scenario, 1));
            let ready = [
                Ready::of(&scenarios[0], &interrupted)?,
                Ready::of(&scenarios[1], &interrupted)?,
            ];
            let wish = diverge::Wish {
                scenario: scenarios[0].clone(),
                flow,
                tolerance: None,
                until: Some(until),
                seed: point.scenario.seed,
            };
            let compared = match diverge::between(&wish, [&ready[0], &ready[1]], &interrupted) {
                Err(_) if interrupted() => return Ok(None),
                compared => compared?,
            };
            push_parting(&mut all.partings, name, &point.id, &compared);
        }
        for row in changes.rows() {
            // The columns are the same.
            let _ = all.changes.push(row.cells().to_vec());
        }
    }
    all.facts.sort();
    all.facts.dedup();
    Ok(Some(all))
}

fn is_changed(row: Row<'_>) -> bool {
    row.get("changed") == Some(&Cell::Bool(true))
}

/// A file's name without its folder.
fn short(name: &str) -> &str {
    Path::new(name)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(name)
}

/// The flow of `scenario` of which most changed, else the first.
fn most_changed(scenario: &Scenario, changed: &Table) -> usize {
    let most = changed.rows().max_by(|one, other| {
        let size = |row: &Row<'_>| {
            let is_flow = scenario
                .flows
                .iter()
                .any(|flow| flow.name == row.text("entity"));
            let change = row.float("change").map_or(f64::MAX, f64::abs);
            if is_flow { change } else { -1.0 }
        };
        size(one).total_cmp(&size(other))
    });
    let of = |row: Row<'_>| {
        let mut flows = scenario.flows.iter();
        flows.position(|flow| flow.name == row.text("entity"))
    };
    most.and_then(of).unwrap_or(0)
}

fn push_parting(table: &mut Table, scenario: &str, point: &str, compared: &diverge::Compared) {
    let parting = compared.parting.as_ref();
    let at = parting.map(|(parting, _)| (parting.at - Time::ZERO).as_secs_f64());
    let of = |pick: fn(&Finding) -> &String| {
        parting.map_or(Cell::Empty, |(_, finding)| {
            Cell::from(pick(finding).as_str())
        })
    };
    // The columns are these.
    let _ = table.push(vec![
        Cell::from(scenario),
        Cell::from(point),
        Cell::from(compared.flow.0.as_str()),
        Cell::from(compared.flow.1.as_str()),
        Cell::Int(compared.alike as i128),
        at.map_or(Cell::Empty, Cell::from),
        of(|finding| &finding.mechanism),
        of(|finding| &finding.because),
    ]);
}

/// A metric of one kernel: its mean and its interval, where there is one.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean: f64,
    interval: Option<(f64, f64)>,
}

/// The metrics of two summaries that both have, side by side.
fn changes(scenario: &str, summaries: [&Table; 2], within: f64) -> Table {
    let mut table = Table::with("changes", CHANGES);
    let key = |row: Row<'_>| {
        ["point", "entity", "metric", "unit"].map(|column| row.text(column).to_owned())
    };
    let told = |row: Row<'_>| {
        Some(Estimate {
            mean: row.float("mean")?,
            interval: row.float("ci_low").zip(row.float("ci_high")),
        })
    };
    let new: BTreeMap<_, _> = summaries[1]
        .rows()
        .filter_map(|row| Some((key(row), told(row)?)))
        .collect();
    for row in summaries[0].rows() {
        let key = key(row);
        let [point, entity, metric, unit] = &key;
        if !METRICS.contains(&metric.as_str()) {
            continue;
        }
        let (Some(old), Some(new)) = (told(row), new.get(&key).copied()) else {
            continue;
        };
        let half = |one: &Estimate| one.interval.map(|(low, high)| (high - low) / 2.0);
        let spread = half(&old).zip(half(&new)).map(|(old, new)| old.max(new));
        let change = (old.mean != 0.0).then(|| (new.mean - old.mean) / old.mean.abs());
        // The columns are these.
        let _ = table.push(vec![
            Cell::from(scenario),
            Cell::from(point.as_str()),
            Cell::from(entity.as_str()),
            Cell::from(metric.as_str()),
            Cell::from(unit.as_str()),
            Cell::from(old.mean),
            Cell::from(new.mean),
            change.map_or(Cell::Empty, Cell::from),
            spread.map_or(Cell::Empty, Cell::from),
            Cell::Bool(has_changed(old, new, unit, within)),
        ]);
    }
    table
}

/// Whether a metric changed: by more than a share of it and its unit's floor, and by more than
/// repeats differ among themselves.
fn has_changed(old: Estimate, new: Estimate, unit: &str, within: f64) -> bool {
    let floor = FLOORS.iter().find(|(of, _)| *of == unit);
    let floor = floor.map_or(0.0, |(_, floor)| *floor);
    let bound = (within * old.mean.abs().max(new.mean.abs())).max(floor);
    let are_apart = match (old.interval, new.interval) {
        (Some(old), Some(new)) => old.1 < new.0 || new.1 < old.0,
        _ => true,
    };
    (new.mean - old.mean).abs() > bound && are_apart
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::COLUMNS;

    type Metric<'a> = (&'a str, &'a str, &'a str, f64, Option<f64>);

    /// A summary of these metrics: entity, metric, unit, mean and half an interval.
    fn summary(metrics: &[Metric<'_>]) -> Table {
        let columns = [&[("point", Text)][..], COLUMNS].concat();
        let mut table = Table::with("summary", &columns);
        for (entity, metric, unit, mean, half) in metrics {
            let bound = |sign: f64| half.map_or(Cell::Empty, |half| (mean + sign * half).into());
            table
                .push(vec![
                    Cell::from("p"),
                    Cell::from(""),
                    Cell::from(*entity),
                    Cell::from(*metric),
                    Cell::from(*unit),
                    Cell::from(*mean),
                    bound(-1.0),
                    bound(1.0),
                    Cell::from("t"),
                    Cell::Int(3),
                ])
                .unwrap();
        }
        table
    }

    fn found(old: &[Metric<'_>], new: &[Metric<'_>]) -> Vec<(String, bool)> {
        let table = changes("s.toml", [&summary(old), &summary(new)], 0.02);
        let row = |row: Row<'_>| (row.text("metric").to_owned(), is_changed(row));
        table.rows().map(row).collect()
    }

    #[test]
    fn a_metric_changed_beyond_its_bound_and_beyond_its_repeats() {
        let of = |metric: &'static str, unit, old: (f64, Option<f64>), new: (f64, Option<f64>)| {
            let old = [("a", metric, unit, old.0, old.1)];
            let new = [("a", metric, unit, new.0, new.1)];
            found(&old, &new)[0].1
        };
        assert!(of(
            "goodput",
            "Mbit/s",
            (10.0, Some(0.1)),
            (11.0, Some(0.1))
        ));
        // Within two per cent, within the repeats, and beyond both where there is one repeat only.
        assert!(!of(
            "goodput",
            "Mbit/s",
            (10.0, Some(0.01)),
            (10.1, Some(0.01))
        ));
        assert!(!of(
            "goodput",
            "Mbit/s",
            (10.0, Some(0.8)),
            (11.0, Some(0.8))
        ));
        assert!(of("goodput", "Mbit/s", (10.0, None), (11.0, None)));
        // A few packets are no change, whatever share they are; nor is a hundredth of a share.
        assert!(!of("retransmissions", "packets", (0.0, None), (4.0, None)));
        assert!(of("retransmissions", "packets", (0.0, None), (40.0, None)));
        assert!(!of("share", "1", (0.10, None), (0.105, None)));
        assert!(of("share", "1", (0.10, None), (0.2, None)));
    }

    #[test]
    fn only_what_both_have_and_what_tells_something_is_compared() {
        let old = [
            ("a", "goodput", "Mbit/s", 10.0, None),
            ("a", "sent", "packets", 10.0, None),
            ("b", "goodput", "Mbit/s", 10.0, None),
        ];
        let new = [
            ("a", "goodput", "Mbit/s", 10.0, None),
            ("a", "sent", "packets", 99.0, None),
        ];
        assert_eq!(found(&old, &new), [("goodput".to_owned(), false)]);
        assert!(found(&[], &new).is_empty());
    }

    #[test]
    fn a_kernel_that_does_not_exist_is_told() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let named = |name| Kernel::named(name, here).map_err(|why| why.to_string());
        let packaged = named("packaged").unwrap();
        assert_eq!((packaged.source, packaged.patches), (None, vec![]));
        let patched = named("src+Cargo.toml").unwrap();
        assert!(patched.source.unwrap().ends_with("/src"));
        assert!(patched.patches[0].ends_with("/Cargo.toml"));
        for wrong in ["none", "packaged+none.patch", "packaged+"] {
            let why = named(wrong).unwrap_err();
            assert!(
                why.contains("does not exist; a kernel is `packaged`"),
                "{why}"
            );
        }
    }
}
