//! Runs that are done, kept in files so that a sweep can go on: one file a run, named by its key.
//!
//! While a sweep goes on, each run is written at once into a hidden folder beside the run folder, so that not
//! even a killed process loses it; at the end the files move into `points/` of the run folder.

use super::columns::{Columns, FLOWS, GROUPS, LINKS, STREAMS, WORKLOADS, table};
use super::simulate::RunTables;
use super::trace_of::EntityTrace;
use crate::run_folder::{RunFolder, RunFolderError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use trammel_core::table::Table;

/// The folder inside a run folder.
const FOLDER: &str = "points";

/// A run that can be kept.
pub trait Keep: Sized {
    /// Its tables.
    fn tables(&self) -> Vec<&Table>;

    /// Its samples over time, where it has any.
    fn traces(&self) -> &[EntityTrace] {
        &[]
    }

    /// The run of these parts: `read` gives the table that has the name and the columns of an empty one. Nothing where
    /// a table is missing: another subject's run, or that of another version.
    fn of_parts(read: &dyn Fn(&Table) -> Option<Table>, traces: Vec<EntityTrace>) -> Option<Self>;
}

impl Keep for RunTables {
    fn tables(&self) -> Vec<&Table> {
        vec![
            &self.flows,
            &self.links,
            &self.workloads,
            &self.streams,
            &self.groups,
        ]
    }

    fn traces(&self) -> &[EntityTrace] {
        &self.traces
    }

    fn of_parts(
        read: &dyn Fn(&Table) -> Option<Table>,
        traces: Vec<EntityTrace>,
    ) -> Option<RunTables> {
        let read = |name: &str, columns: Columns| read(&table(name, columns));
        Some(RunTables {
            flows: read("flows", FLOWS)?,
            links: read("links", LINKS)?,
            workloads: read("workloads", WORKLOADS)?,
            streams: read("streams", STREAMS)?,
            groups: read("groups", GROUPS)?,
            traces,
        })
    }
}

/// A run as a file holds it.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    /// The tables as CSV, by name.
    tables: BTreeMap<String, String>,
    /// Samples of each entity as whole numbers, in order.
    traces: Vec<(String, Vec<Vec<u64>>)>,
}

/// The runs of a sweep.
#[derive(Debug)]
pub struct KeptRuns {
    folder: PathBuf,
    hidden: PathBuf,
}

impl KeptRuns {
    /// Those of the run folder `folder`.
    pub fn of(folder: &Path) -> KeptRuns {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let name = folder
            .file_name()
            .unwrap_or(folder.as_os_str())
            .to_string_lossy();
        let hidden = folder.with_file_name(format!(".{name}.points"));
        KeptRuns { folder, hidden }
    }

    /// Every run that a finished or a killed sweep has left. A file that cannot be read is no run.
    pub fn read<R: Keep>(&self) -> BTreeMap<String, R> {
        let folders = [self.folder.join(FOLDER), self.hidden.clone()];
        let files = folders
            .iter()
            .flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
        files
            .filter_map(|file| {
                let text = fs::read_to_string(file.ok()?.path()).ok()?;
                read(&text)
            })
            .collect()
    }

    /// Keeps a run until the folder is finished. A disk that is full loses the resume, not the run.
    pub fn keep(&self, key: &str, run: &impl Keep) {
        let part = self.hidden.join(format!("{key}.part"));
        let whole = self.hidden.join(format!("{key}.json"));
        let written = fs::create_dir_all(&self.hidden)
            .and_then(|()| fs::write(&part, write(key, run)))
            .and_then(|()| fs::rename(&part, &whole));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
    }

    /// Writes `runs` into the run folder.
    pub fn finish<'a, R: Keep + 'a>(
        &self,
        out: &mut RunFolder,
        runs: impl Iterator<Item = (&'a str, &'a R)>,
    ) -> Result<(), RunFolderError> {
        for (key, run) in runs {
            out.write(&format!("{FOLDER}/{key}.json"), write(key, run).as_bytes())?;
        }
        Ok(())
    }

    /// Removes what [`KeptRuns::keep`] wrote, once the run folder holds it.
    pub fn clear(&self) {
        let _ = fs::remove_dir_all(&self.hidden);
    }
}

fn write(key: &str, run: &impl Keep) -> String {
    let kept = Kept {
        key: key.to_owned(),
        tables: run
            .tables()
            .iter()
            .map(|table| (table.name().to_owned(), table.to_csv()))
            .collect(),
        traces: run
            .traces()
            .iter()
            .map(|one| (one.entity.clone(), one.to_numbers()))
            .collect(),
    };
    let mut text = serde_json::to_string(&kept).expect("plain data serialises");
    text.push('\n');
    text
}

fn read<R: Keep>(text: &str) -> Option<(String, R)> {
    let kept: Kept = serde_json::from_str(text).ok()?;
    let table = |empty: &Table| {
        let csv = kept.tables.get(empty.name())?;
        Table::read_csv(empty, csv.as_bytes()).ok()
    };
    let traces = kept
        .traces
        .iter()
        .map(|(entity, rows)| EntityTrace::from_numbers(entity, rows));
    let run = R::of_parts(&table, traces.collect::<Option<_>>()?)?;
    Some((kept.key, run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::simulate::simulate;
    use crate::scenario::workload::{Arrivals, Workload, WorkloadKind, web_sizes};
    use crate::{Flow, Scenario};
    use trammel_core::time::Time;

    #[test]
    fn a_run_survives_its_file() {
        let scenario = Scenario::dumbbell()
            .flow(Flow::new("cubic"))
            .flow(Flow::new("reno"))
            .workload(Workload {
                name: "web".to_owned(),
                kind: WorkloadKind::Poisson {
                    arrivals: Arrivals::PerSecond(20.0),
                    size: web_sizes(),
                },
                flow: Flow::new("reno"),
                start: Time::ZERO,
                stop: None,
            })
            .duration(Time::from_secs(3))
            .warmup(Time::from_secs(1));
        let run = simulate(&scenario, 1, true).unwrap();
        assert!(!run.traces.is_empty() && !run.workloads.is_empty());
        let (key, back) = read::<RunTables>(&write("k", &run)).unwrap();
        assert_eq!((key.as_str(), &back), ("k", &run));
        let is_none = |text: &str| read::<RunTables>(text).is_none();
        assert!(is_none("{}") && is_none(&write("k", &run)[..100]));
    }
}
