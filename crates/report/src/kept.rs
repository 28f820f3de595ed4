//! Runs that are done, kept in files so that a sweep can go on: one file a run, named by its key.
//!
//! While a run goes on, each is written at once into the hidden folder beside the run folder, so
//! that not even a killed process loses it. The folder of a sweep, and that of an interrupted run,
//! hold them in `points/`.

use crate::run_folder::{RunFolder, RunFolderError};
use crate::store::Store;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trammel_ground::identity;
use trammel_ground::own_file;
use trammel_stats::table::Table;

/// The folder inside a run folder.
const FOLDER: &str = "points";

/// The name of an entity and its samples, each a row of whole numbers.
pub type Samples = (String, Vec<Vec<u64>>);

/// A run that can be kept.
pub trait Keep: Sized {
    /// Its tables.
    fn tables(&self) -> Vec<&Table>;

    /// Its samples over time, where it has any: each entity's name, and its rows as whole numbers.
    fn samples(&self) -> Vec<Samples> {
        Vec::new()
    }

    /// The run of these parts: `read` gives the table that has the name and the columns of an empty
    /// one. Nothing where a table is missing: another subject's run, or that of another version.
    fn of_parts(read: &dyn Fn(&Table) -> Option<Table>, samples: &[Samples]) -> Option<Self>;
}

/// Of a subject whose whole work is one run, nothing is kept.
impl Keep for () {
    fn tables(&self) -> Vec<&Table> {
        Vec::new()
    }

    fn of_parts(_: &dyn Fn(&Table) -> Option<Table>, _: &[Samples]) -> Option<()> {
        None
    }
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended<R> {
    /// Its tables and samples.
    Run(R),
    /// It failed, and why.
    Failed(String),
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
    traces: Vec<Samples>,
    /// Why it failed, instead of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

impl Kept {
    fn sum(&self) -> String {
        let Kept {
            build,
            key,
            tables,
            traces,
            failure,
            ..
        } = self;
        let all = serde_json::to_string(&(build, key, tables, traces, failure));
        trammel_ground::sha256::of(all.expect("plain data has a JSON form"))
    }
}

/// What the text of a file is.
#[derive(Debug)]
pub(crate) enum Found<R> {
    /// What became of a run of this build, by its key.
    Run(String, Ended<R>),
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
    /// Those of the run folder `out`: what a killed process left, and what the folder holds, where
    /// that is an interrupted run or `is_sweep`.
    pub fn of(out: &RunFolder, is_sweep: bool) -> KeptRuns {
        let folder = (is_sweep && !out.is_forced()) || out.goes_on();
        KeptRuns {
            folder: folder.then(|| out.path().join(FOLDER)),
            hidden: out.points(),
        }
    }

    /// Every run that a finished or a killed sweep has left. A file that cannot be read is no run;
    /// one that was changed is refused with a warning.
    pub fn read<R: Keep>(&self) -> BTreeMap<String, R> {
        let mut runs = BTreeMap::new();
        // Whoever can write beside the folder could have put a folder there.
        let hidden = Some(&self.hidden).filter(|hidden| own_file::is_own(hidden));
        for folder in self.folder.iter().chain(hidden) {
            let mut changed = Vec::new();
            for file in fs::read_dir(folder).into_iter().flatten().flatten() {
                match fs::read_to_string(file.path()).map_or(Found::Other, |text| read(&text)) {
                    Found::Run(key, Ended::Run(run)) => drop(runs.insert(key, run)),
                    Found::Changed => changed.push(file.file_name()),
                    Found::Run(_, Ended::Failed(_)) | Found::Other => {}
                }
            }
            changed.sort();
            if let Some(first) = changed.first() {
                trammel_ground::say(&format!(
                    "warning: `{}`: {} of the kept runs were changed, such as `{}`; they are \
                     repeated",
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
            .and_then(|()| fs::write(&part, text_of(key, run)))
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
            out.write(
                &format!("{FOLDER}/{key}.json"),
                text_of(key, run).as_bytes(),
            )?;
        }
        Ok(())
    }
}

/// The text of a file that keeps `run`.
fn text_of(key: &str, run: &impl Keep) -> String {
    let tables = run.tables().into_iter();
    let tables = tables.map(|table| (table.name().to_owned(), table.to_csv()));
    text(key, tables.collect(), run.samples(), None)
}

/// The text of a file that keeps what became of a run.
pub(crate) fn write<R: Keep>(key: &str, ended: &Ended<R>) -> String {
    match ended {
        Ended::Run(run) => text_of(key, run),
        Ended::Failed(why) => text(key, BTreeMap::new(), Vec::new(), Some(why.clone())),
    }
}

fn text(
    key: &str,
    tables: BTreeMap<String, String>,
    traces: Vec<Samples>,
    failure: Option<String>,
) -> String {
    let mut kept = Kept {
        checksum: String::new(),
        build: identity::of_program().to_owned(),
        key: key.to_owned(),
        tables,
        traces,
        failure,
    };
    kept.checksum = kept.sum();
    let mut text = serde_json::to_string(&kept).expect("plain data has a JSON form");
    text.push('\n');
    text
}

/// What `text`, a file of kept runs, is.
pub(crate) fn read<R: Keep>(text: &str) -> Found<R> {
    let Ok(kept) = serde_json::from_str::<Kept>(text) else {
        return Found::Other;
    };
    if kept.checksum != kept.sum() {
        return Found::Changed;
    }
    if kept.build != identity::of_program() {
        return Found::Other;
    }
    if let Some(why) = kept.failure {
        return Found::Run(kept.key, Ended::Failed(why));
    }
    match run_of(&kept) {
        Some(run) => Found::Run(kept.key, Ended::Run(run)),
        None => Found::Other,
    }
}

fn run_of<R: Keep>(kept: &Kept) -> Option<R> {
    let table = |empty: &Table| {
        let csv = kept.tables.get(empty.name())?;
        Table::read_csv(empty, csv.as_bytes()).ok()
    };
    R::of_parts(&table, &kept.traces)
}

/// The runs that earlier commands have left, and those of this one. Without a run folder it is
/// empty and keeps nothing.
#[derive(Debug)]
pub struct Shelf<R> {
    kept: Option<KeptRuns>,
    store: Option<Store>,
    /// What is wrong with the store.
    faults: Mutex<Vec<String>>,
    known: Arc<BTreeMap<String, R>>,
    /// The keys of known runs that are this file's.
    claimed: Mutex<BTreeSet<String>>,
    made: Mutex<BTreeMap<String, R>>,
}

impl<R> Default for Shelf<R> {
    fn default() -> Shelf<R> {
        Shelf {
            kept: None,
            store: None,
            faults: Mutex::default(),
            known: Arc::default(),
            claimed: Mutex::default(),
            made: Mutex::default(),
        }
    }
}

impl<R: Keep + Clone> Shelf<R> {
    /// With the runs that `kept` has.
    pub fn of(kept: KeptRuns) -> Shelf<R> {
        Shelf {
            known: Arc::new(kept.read()),
            kept: Some(kept),
            ..Shelf::default()
        }
    }

    /// The runs of earlier commands, by key.
    pub fn known(&self) -> &Arc<BTreeMap<String, R>> {
        &self.known
    }

    /// This shelf before `store`: what it has not is looked for there, and what is made is kept
    /// there and not in the run folder.
    #[must_use]
    pub fn before(mut self, store: Option<Store>) -> Shelf<R> {
        self.store = store;
        self
    }

    /// The store behind the shelf.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// What went wrong with the store.
    pub fn faults(&self) -> Vec<String> {
        locked(&self.faults).clone()
    }

    /// Notes that the known run `key`, where there is one, is this file's.
    pub fn claim(&self, key: &str) {
        locked(&self.claimed).insert(key.to_owned());
    }

    /// The run `key`, where an earlier command has kept it.
    pub fn find(&self, key: &str) -> Option<R> {
        if let Some(run) = self.known.get(key) {
            self.claim(key);
            return Some(run.clone());
        }
        match self.store.as_ref()?.find(key) {
            Ok(Some(Ended::Run(run))) => Some(run),
            Ok(_) => None,
            Err(why) => {
                locked(&self.faults).push(why.to_string());
                None
            }
        }
    }

    /// Whether runs are kept: without a run folder and a store none are, and no key of one is of
    /// use.
    pub fn keeps(&self) -> bool {
        self.kept.is_some() || self.store.is_some()
    }

    /// The run that an earlier command has kept, or the one that `make` makes, which is kept.
    pub fn find_or_make<E>(
        &self,
        key: impl FnOnce() -> String,
        make: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        if !self.keeps() {
            return make();
        }
        let key = key();
        if let Some(run) = self.find(&key) {
            return Ok(run);
        }
        let run = make()?;
        self.put(&key, &run);
        Ok(run)
    }

    /// Keeps a run that is whole.
    pub fn put(&self, key: &str, run: &R) {
        if self.store.is_some() {
            self.store_or_tell(key, &Ended::Run(run.clone()));
        } else if let Some(kept) = &self.kept {
            kept.keep(key, run);
            locked(&self.made).insert(key.to_owned(), run.clone());
        }
    }

    /// Keeps the failure of a run that would fail again.
    pub fn put_failure(&self, key: &str, why: &str) {
        self.store_or_tell(key, &Ended::Failed(why.to_owned()));
    }

    fn store_or_tell(&self, key: &str, ended: &Ended<R>) {
        let put = self.store.as_ref().map(|store| store.put(key, ended));
        if let Some(Err(why)) = put {
            locked(&self.faults).push(why.to_string());
        }
    }

    /// Writes the runs of this file into the run folder, unless a store has them. After an
    /// interrupt, every known run may be one that the file was not yet asked for.
    pub fn finish(&self, out: &mut RunFolder, is_interrupted: bool) -> Result<(), RunFolderError> {
        let Some(kept) = self.kept.as_ref().filter(|_| self.store.is_none()) else {
            return Ok(());
        };
        let (claimed, made) = (locked(&self.claimed), locked(&self.made));
        let known = self.known.iter().filter(|(key, _)| {
            (is_interrupted || claimed.contains(*key)) && !made.contains_key(*key)
        });
        kept.finish(
            out,
            known
                .chain(made.iter())
                .map(|(key, run)| (key.as_str(), run)),
        )
    }
}

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::run_folder::RunInfo;
    use trammel_stats::table::CellType::{Float, Text};

    /// A run of one table and of one entity's samples.
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Toy {
        flows: Table,
        samples: Vec<Samples>,
    }

    fn empty() -> Table {
        Table::with("flows", &[("flow", Text), ("goodput_mbps", Float)])
    }

    pub(crate) fn toy() -> Toy {
        let mut flows = empty();
        flows.push(vec!["1".into(), 7.25.into()]).unwrap();
        Toy {
            flows,
            samples: vec![("1".to_owned(), vec![vec![0, 10], vec![1_000, 12]])],
        }
    }

    impl Keep for Toy {
        fn tables(&self) -> Vec<&Table> {
            vec![&self.flows]
        }

        fn samples(&self) -> Vec<Samples> {
            self.samples.clone()
        }

        fn of_parts(read: &dyn Fn(&Table) -> Option<Table>, samples: &[Samples]) -> Option<Self> {
            Some(Toy {
                flows: read(&empty())?,
                samples: samples.to_vec(),
            })
        }
    }

    #[test]
    fn a_run_survives_its_file() {
        let run = toy();
        let text = text_of("k", &run);
        let Found::Run(key, Ended::Run(back)) = read::<Toy>(&text) else {
            panic!("it is what was written")
        };
        assert_eq!((key.as_str(), &back), ("k", &run));
        for none in ["{}", &text[..100]] {
            assert!(matches!(read::<Toy>(none), Found::Other));
        }
        // A number that somebody edited, in whatever part, and with it the name of the build.
        for (from, to) in [
            ("7.25", "999"),
            ("1000", "1001"),
            (identity::of_program(), "another"),
        ] {
            let edited = text.replacen(from, to, 1);
            assert_ne!(edited, text, "{from}");
            assert!(matches!(read::<Toy>(&edited), Found::Changed), "{from}");
        }
        // Another build's, as it wrote it.
        let mut kept: Kept = serde_json::from_str(&text).unwrap();
        kept.build = "another".to_owned();
        kept.checksum = kept.sum();
        let other = serde_json::to_string(&kept).unwrap();
        assert!(matches!(read::<Toy>(&other), Found::Other));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_of_kept_runs_that_is_a_link_is_left_alone() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let run = toy();
        let elsewhere = place.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let out = RunFolder::create(place.path().join("out")).unwrap();
        symlink(&elsewhere, out.points()).unwrap();
        let kept = KeptRuns::of(&out, true);
        kept.keep("k", &run);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        fs::write(elsewhere.join("k.json"), text_of("k", &run)).unwrap();
        assert!(kept.read::<Toy>().is_empty());
    }
    #[test]
    fn an_interrupted_command_keeps_known_runs_that_it_did_not_reach() {
        for (is_interrupted, expected) in [
            (true, &["left", "made", "reached"][..]),
            (false, &["made", "reached"]),
        ] {
            let place = tempfile::tempdir().unwrap();
            let mut out = RunFolder::create(place.path().join("out")).unwrap();
            let kept = KeptRuns::of(&out, true);
            for key in ["reached", "left"] {
                kept.keep(key, &toy());
            }
            let shelf = Shelf::<Toy>::of(kept);
            assert!(shelf.find("reached").is_some() && shelf.find("made").is_none());
            shelf.put("made", &toy());
            shelf.finish(&mut out, is_interrupted).unwrap();
            let folder = out.finish(&RunInfo::default()).unwrap();
            let files = fs::read_dir(folder.join(FOLDER)).unwrap().flatten();
            let mut names: Vec<_> = files
                .map(|file| file.file_name().into_string().unwrap())
                .collect();
            names.sort();
            let expected: Vec<_> = expected.iter().map(|key| format!("{key}.json")).collect();
            assert_eq!(names, expected);
        }
    }
}
