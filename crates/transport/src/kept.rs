//! Runs that are done, kept in files so that a sweep can go on: one file a run, named by its key.
//!
//! While a run goes on, each is written at once into the hidden folder beside the run folder, so that not even a
//! killed process loses it. The folder of a sweep, and that of an interrupted run, hold them in `points/`.

use super::run_tables::RunTables;
use super::trace_of::EntityTrace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use trammel_ground::identity;
use trammel_ground::own_file;
use trammel_report::run_folder::{RunFolder, RunFolderError};
use trammel_scenario::columns::{Columns, FLOWS, GROUPS, LINKS, STREAMS, WORKLOADS, table};
use trammel_stats::table::Table;

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
    /// SHA-256 of all that follows.
    checksum: String,
    /// Which build of the program made it.
    build: String,
    key: String,
    /// The tables as CSV, by name.
    tables: BTreeMap<String, String>,
    /// Samples of each entity as whole numbers, in order.
    traces: Vec<(String, Vec<Vec<u64>>)>,
}

impl Kept {
    fn sum(&self) -> String {
        let Kept {
            build,
            key,
            tables,
            traces,
            ..
        } = self;
        let all = serde_json::to_string(&(build, key, tables, traces));
        trammel_ground::sha256::of(all.expect("plain data serialises"))
    }
}

/// What the text of a file is.
#[derive(Debug)]
enum Found<R> {
    /// A run of this build, by its key.
    Run(String, R),
    /// One that is not what was written.
    Changed,
    /// Another build's, another subject's, or none.
    Other,
}

/// The runs that are kept for a run folder.
#[derive(Debug)]
pub struct KeptRuns {
    /// Those of the run folder; nothing where they are not to be used.
    folder: Option<PathBuf>,
    hidden: PathBuf,
}

impl KeptRuns {
    /// Those of the run folder `out`: what a killed process left, and what the folder holds, where that is an
    /// interrupted run or `is_sweep`.
    pub fn of(out: &RunFolder, is_sweep: bool) -> KeptRuns {
        let folder = (is_sweep && !out.is_forced()) || out.goes_on();
        KeptRuns {
            folder: folder.then(|| out.path().join(FOLDER)),
            hidden: out.points(),
        }
    }

    /// Every run that a finished or a killed sweep has left. A file that cannot be read is no run; one that was changed is refused with a
    /// warning.
    pub fn read<R: Keep>(&self) -> BTreeMap<String, R> {
        let mut runs = BTreeMap::new();
        // Whoever can write beside the folder could have put a folder there.
        let hidden = Some(&self.hidden).filter(|hidden| own_file::is_own(hidden));
        for folder in self.folder.iter().chain(hidden) {
            let mut changed = Vec::new();
            for file in fs::read_dir(folder).into_iter().flatten().flatten() {
                match fs::read_to_string(file.path()).map_or(Found::Other, |text| read(&text)) {
                    Found::Run(key, run) => drop(runs.insert(key, run)),
                    Found::Changed => changed.push(file.file_name()),
                    Found::Other => {}
                }
            }
            changed.sort();
            if let Some(first) = changed.first() {
                trammel_ground::say(&format!(
                    "warning: `{}`: {} of the kept runs were changed, such as `{}`; they are repeated",
                    folder.display(),
                    changed.len(),
                    first.display()
                ));
            }
        }
        runs
    }

    /// Keeps a run until the folder is finished. A disk that is full loses the resume, not the run.
    pub fn keep(&self, key: &str, run: &impl Keep) {
        let part = self.hidden.join(format!("{key}.part"));
        let whole = self.hidden.join(format!("{key}.json"));
        let written = own_file::create_folder(&self.hidden)
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
}

fn write(key: &str, run: &impl Keep) -> String {
    let mut kept = Kept {
        checksum: String::new(),
        build: identity::of_program().to_owned(),
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
    kept.checksum = kept.sum();
    let mut text = serde_json::to_string(&kept).expect("plain data serialises");
    text.push('\n');
    text
}

fn read<R: Keep>(text: &str) -> Found<R> {
    let Ok(kept) = serde_json::from_str::<Kept>(text) else {
        return Found::Other;
    };
    if kept.checksum != kept.sum() {
        return Found::Changed;
    }
    if kept.build != identity::of_program() {
        return Found::Other;
    }
    match run_of(&kept) {
        Some(run) => Found::Run(kept.key, run),
        None => Found::Other,
    }
}

fn run_of<R: Keep>(kept: &Kept) -> Option<R> {
    let table = |empty: &Table| {
        let csv = kept.tables.get(empty.name())?;
        Table::read_csv(empty, csv.as_bytes()).ok()
    };
    let traces = kept
        .traces
        .iter()
        .map(|(entity, rows)| EntityTrace::from_numbers(entity, rows));
    R::of_parts(&table, traces.collect::<Option<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::simulate;
    use trammel_core::time::Time;
    use trammel_scenario::flow::Flow;
    use trammel_scenario::model::Scenario;
    use trammel_scenario::workload::{Arrivals, Workload, WorkloadKind, web_sizes};

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
        let text = write("k", &run);
        let Found::Run(key, back) = read::<RunTables>(&text) else {
            panic!("it is what was written")
        };
        assert_eq!((key.as_str(), &back), ("k", &run));
        for none in ["{}", &text[..100]] {
            assert!(matches!(read::<RunTables>(none), Found::Other));
        }
        // A number that somebody edited, in whatever part, and with it the name of the build.
        let goodput = run.flows.floats("goodput_mbps").unwrap()[0].to_string();
        for (from, to) in [
            (goodput.as_str(), "999"),
            (identity::of_program(), "another"),
        ] {
            let edited = text.replacen(from, to, 1);
            assert_ne!(edited, text, "{from}");
            assert!(matches!(read::<RunTables>(&edited), Found::Changed));
        }
        // Another build's, as it wrote it.
        let mut kept: Kept = serde_json::from_str(&text).unwrap();
        kept.build = "another".to_owned();
        kept.checksum = kept.sum();
        let other = serde_json::to_string(&kept).unwrap();
        assert!(matches!(read::<RunTables>(&other), Found::Other));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_of_kept_runs_that_is_a_link_is_left_alone() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let scenario = Scenario::dumbbell()
            .flow(Flow::new("reno"))
            .duration(Time::from_secs(2))
            .warmup(Time::from_secs(1));
        let run = simulate(&scenario, 1, false).unwrap();
        let elsewhere = place.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let out = RunFolder::create(place.path().join("out")).unwrap();
        symlink(&elsewhere, out.points()).unwrap();
        let kept = KeptRuns::of(&out, true);
        kept.keep("k", &run);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        fs::write(elsewhere.join("k.json"), write("k", &run)).unwrap();
        assert!(kept.read::<RunTables>().is_empty());
    }
}
