//! One run of a run folder as a recording, from its tables and traces.

use anyhow::{Context, bail};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use trammel_exports::recording::{self, Recording};
use trammel_report::run_folder::{file_name, read_info};
use trammel_stats::table::{Row, Table};

/// So many points are named where none is the one that was asked for.
const MOST_NAMED: usize = 20;

/// Which run of a folder; what is not said is that of the first row of `flows`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Which {
    /// The point, by its name in the tables [default: the first]
    #[arg(long, value_name = "POINT")]
    pub(super) point: Option<String>,
    /// The repeat of a run folder's point, from 0 [default: the first]
    #[arg(long, value_name = "N")]
    repeat: Option<i64>,
    /// The engine that made the run, by its name in the tables [default: the first]
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,
}

impl Which {
    /// The option that says which run of a point is meant, where one is given.
    pub(super) fn of_run(&self) -> Option<&'static str> {
        let all = [
            (self.repeat.is_some(), "--repeat"),
            (self.engine.is_some(), "--engine"),
        ];
        let mut given = all.into_iter().filter(|(is_given, _)| *is_given);
        given.next().map(|(_, name)| name)
    }

    /// The run that is asked for, in words.
    fn wanted(&self) -> String {
        let point = self.point.as_ref().map(|of| format!("point `{of}`"));
        let repeat = self.repeat.map(|of| format!("repeat {of}"));
        let engine = self.engine.as_ref().map(|of| format!("engine `{of}`"));
        let all = [point, repeat, engine].into_iter().flatten();
        all.collect::<Vec<_>>().join(", ")
    }
}

/// Whether `path` is a folder, or is meant to be one.
pub(super) fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

fn read(path: &Path, name: &str) -> anyhow::Result<Table> {
    let file = File::open(path).with_context(|| format!("`{}`", path.display()))?;
    Ok(Table::read_csv_inferring(name, file)?)
}

/// The run of `folder` that `which` says.
pub(super) fn of(folder: &Path, which: &Which) -> anyhow::Result<Recording> {
    let name = folder.display();
    let Some(info) = read_info(folder) else {
        bail!("`{name}` is no run folder; give one that `trammel run -o` wrote");
    };
    let flows = folder.join("flows.csv");
    if !flows.exists() {
        bail!("`{name}` has no table `flows`; give the folder of a scenario of flows");
    }
    let flows = read(&flows, "flows")?;
    let fits = |row: &Row<'_>| {
        which
            .point
            .as_deref()
            .is_none_or(|of| row.text("point") == of)
            && which
                .engine
                .as_deref()
                .is_none_or(|of| row.text("engine") == of)
            && which.repeat.is_none_or(|of| row.int("repeat") == Some(of))
    };
    if flows.rows().next().is_none() {
        bail!(
            "`{name}`: its table `flows` has no row, so there is no run to export; run its \
             scenario again"
        );
    }
    let Some(first) = flows.rows().find(fits) else {
        bail!(
            "`{name}` has no run of {}; there are {}",
            which.wanted(),
            there(&flows)
        );
    };
    let (point, engine) = (first.text("point"), first.text("engine"));
    let repeat = first.int("repeat").unwrap_or(0);
    let is_of = |row: &Row<'_>| {
        row.text("point") == point
            && row.text("engine") == engine
            && row.int("repeat").unwrap_or(0) == repeat
    };
    let mut recorded = Vec::new();
    for row in flows.rows().filter(is_of) {
        let flow = row.text("flow");
        let Some(path) = trace(folder, (point, repeat, engine), flow) else {
            bail!(
                "`{name}` has no samples over time of flow `{flow}`; run it again with `trace = \
                 \"100 ms\"` in the scenario"
            );
        };
        let trace = read(&path, flow)?;
        let made =
            recording::flow(row, &trace).map_err(|why| anyhow::anyhow!("`{name}`: {why}"))?;
        recorded.push(made);
    }
    let gaps = recorded.iter().flat_map(|flow| flow.samples.windows(2));
    let step = gaps
        .map(|pair| pair[1].time_s - pair[0].time_s)
        .reduce(f64::min)
        .with_context(|| format!("`{name}`: its traces have no two samples"))?;
    let ends = recorded.iter().map(|flow| flow.start_s + flow.active_s);
    let label = match engine {
        "simulate" => "simulated",
        "measure" => "measured",
        engine => engine,
    };
    Ok(Recording {
        title: info.scenario,
        by: format!("trammel {}", info.version),
        label: label.to_owned(),
        point: point.to_owned(),
        seed: first.int("seed").unwrap_or(0).cast_unsigned(),
        made_s: recording::seconds(&info.started).unwrap_or(0),
        duration_s: ends.fold(0.0, f64::max),
        step_s: (step * 1e6).round() / 1e6,
        flows: recorded,
    })
}

/// Which runs have rows, in words.
fn there(flows: &Table) -> String {
    let of = |name: &str| -> BTreeSet<_> { flows.rows().map(|row| row.text(name)).collect() };
    let repeats: BTreeSet<_> = flows.rows().filter_map(|row| row.int("repeat")).collect();
    let named = |what: &str, all: BTreeSet<&str>| {
        let mut all: Vec<String> = all.into_iter().map(|one| format!("`{one}`")).collect();
        let more = all.len().saturating_sub(MOST_NAMED);
        all.truncate(MOST_NAMED);
        let rest = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!("{what} {}{rest}", all.join(", "))
    };
    let repeats = match (repeats.first(), repeats.last()) {
        (Some(first), Some(last)) if first < last => format!(", repeats {first} to {last}"),
        (Some(first), _) => format!(", repeat {first}"),
        _ => String::new(),
    };
    format!(
        "{}{repeats}, {}",
        named("points", of("point")),
        named("engines", of("engine"))
    )
}

/// The file of a flow's samples: it has the repeat in its name where there are several, and the
/// engine where that is not the simulator.
fn trace(folder: &Path, (point, repeat, engine): (&str, i64, &str), flow: &str) -> Option<PathBuf> {
    let with_repeat = format!("{point}.{repeat}");
    let engines: &[&str] = match engine {
        "simulate" => &[""],
        "measure" => &[".measured", ".linux_vt"],
        _ => &[".linux_vt", ".measured"],
    };
    let names = engines
        .iter()
        .flat_map(|engine| [point, &with_repeat].map(|of| file_name(&format!("{of}{engine}"))));
    let mut paths = names.map(|name| {
        let file = format!("{name}.{}.csv", file_name(flow));
        folder.join("traces").join(file)
    });
    paths.find(|path| path.exists())
}
