//! The folder that a run leaves behind: tables, figures, traces, the report and `run.json`.
//!
//! Everything is written into a hidden sibling of the folder and renamed into place at the end, so a
//! reader sees the earlier run or the new one, never half of one. Dropping an unfinished folder removes
//! it. A folder that another program filled is never replaced; a folder with our `run.json` is, and
//! files in it that the earlier run did not write are kept.
//!
//! ```text
//! DIR/run.json  DIR/flows.csv …  DIR/figures/*.svg  DIR/traces/<point>.<entity>.csv  DIR/report.html
//! ```

use crate::report::Report;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use trammel_core::table::{Table, TableError};

/// The mark by which `run.json` is known as ours.
pub const SCHEMA: &str = "trammel/1";

/// What `run.json` holds: all that may differ between two identical runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The command line, one argument each.
    pub command: Vec<String>,
    /// The version of Trammel.
    pub version: String,
    /// The scenario file's name.
    pub scenario: String,
    /// The scenario's text, so that the folder alone suffices to run it again.
    pub scenario_text: String,
    /// The seeds, one for each repeat.
    pub seeds: Vec<u64>,
    /// The machine: processor, kernel, cores, …
    pub machine: BTreeMap<String, String>,
    /// When the run began, as the caller writes times.
    pub started: String,
    /// Wall time of each stage in seconds.
    pub wall_s: BTreeMap<String, f64>,
    /// Whether the run was interrupted, so that the tables hold a part of it.
    pub interrupted: bool,
}

/// `run.json` as written: the caller's part, our mark and the list of files.
#[derive(Serialize, Deserialize)]
struct Manifest {
    schema: String,
    #[serde(flatten)]
    info: RunInfo,
    files: BTreeSet<String>,
}

/// Why a run folder cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// The folder holds files of somebody else.
    #[error(
        "`{0}` exists and is not a run folder (it has no `run.json` of ours); choose another with `-o`"
    )]
    Foreign(PathBuf),
    /// The path cannot name a folder.
    #[error("`{0}` cannot be a run folder; give the name of a folder, new or of an earlier run")]
    Path(PathBuf),
    /// The operating system refused.
    #[error("`{}` cannot be written: {why}; {}", path.display(), remedy(why))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// A table could not be written.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// A run folder being written. Call [`RunFolder::finish`] to put it into place.
#[derive(Debug)]
pub struct RunFolder {
    target: PathBuf,
    work: PathBuf,
    files: BTreeSet<String>,
}

impl RunFolder {
    /// Begins the folder `target`, which need not exist; fails at once where it could not be replaced.
    pub fn create(target: impl AsRef<Path>) -> Result<RunFolder, RunFolderError> {
        let target = resolve(target.as_ref())?;
        check_replaceable(&target)?;
        let (parent, name) = split(&target)?;
        fs::create_dir_all(parent).map_err(at(parent))?;
        sweep_leftovers(parent, name);
        let work = parent.join(format!(".{name}.partial-{}", std::process::id()));
        // Left by a killed process that had our number.
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).map_err(at(&work))?;
        Ok(RunFolder {
            target,
            work,
            files: BTreeSet::new(),
        })
    }

    /// Where the folder will be once it is finished.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// The folder `name` inside, for what is written while the run goes on; [`adopt`](Self::adopt) comes
    /// after.
    pub fn work(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// Takes in the files that were written into the folder [`work`](Self::work) of this name.
    pub fn adopt(&mut self, name: &str) -> Result<(), RunFolderError> {
        let folder = self.work.join(name);
        if folder.is_dir() {
            for entry in fs::read_dir(&folder).map_err(at(&folder))? {
                let entry = entry.map_err(at(&folder))?;
                let file = entry.file_name();
                self.files
                    .insert(format!("{name}/{}", file.to_string_lossy()));
            }
        }
        Ok(())
    }

    /// Writes `<name>.csv` at the top of the folder.
    pub fn write_table(&mut self, table: &Table) -> Result<(), RunFolderError> {
        self.write_csv(&format!("{}.csv", file_name(table.name())), table)
    }

    /// Writes `traces/<point>.<entity>.csv`.
    pub fn write_trace(
        &mut self,
        point: &str,
        entity: &str,
        trace: &Table,
    ) -> Result<(), RunFolderError> {
        let (point, entity) = (file_name(point), file_name(entity));
        self.write_csv(&format!("traces/{point}.{entity}.csv"), trace)
    }

    /// Writes `figures/<id>.svg`.
    pub fn write_figure(&mut self, id: &str, svg: &str) -> Result<(), RunFolderError> {
        self.write(&format!("figures/{}.svg", file_name(id)), svg.as_bytes())
    }

    /// Writes `report.html`.
    pub fn write_report(&mut self, html: &str) -> Result<(), RunFolderError> {
        self.write("report.html", html.as_bytes())
    }

    /// Writes any other file, at a path inside the folder such as `pcap/bottleneck.pcapng`.
    pub fn write(&mut self, inside: &str, contents: &[u8]) -> Result<(), RunFolderError> {
        let path = self.place(inside)?;
        fs::write(&path, contents).map_err(at(&path))
    }

    /// Writes the figures of a report and the report itself.
    pub fn write_page(&mut self, report: &Report) -> Result<(), RunFolderError> {
        for (id, svg) in report.figures() {
            self.write_figure(&id, &svg)?;
        }
        self.write_report(&report.to_html())
    }

    /// Writes `run.json` and puts the folder into place, instead of an earlier run's. Returns its path.
    pub fn finish(mut self, info: &RunInfo) -> Result<PathBuf, RunFolderError> {
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            info: info.clone(),
            files: self.files.clone(),
        };
        let mut text = serde_json::to_string_pretty(&manifest).expect("plain data serialises");
        text.push('\n');
        self.write("run.json", text.as_bytes())?;
        // Somebody may have put files there while the run went on.
        check_replaceable(&self.target)?;
        let (parent, name) = split(&self.target)?;
        let old = parent.join(format!(".{name}.replaced-{}", std::process::id()));
        let had_old = self.target.exists();
        if had_old {
            fs::rename(&self.target, &old).map_err(at(&self.target))?;
        }
        if let Err(error) = fs::rename(&self.work, &self.target) {
            if had_old {
                fs::rename(&old, &self.target).map_err(at(&old))?;
            }
            return Err(at(&self.target)(error));
        }
        if had_old {
            keep_foreign_files(&old, &self.target)?;
            fs::remove_dir_all(&old).map_err(at(&old))?;
        }
        Ok(self.target.clone())
    }

    fn write_csv(&mut self, inside: &str, table: &Table) -> Result<(), RunFolderError> {
        let path = self.place(inside)?;
        let mut out = BufWriter::new(File::create(&path).map_err(at(&path))?);
        table.write_csv(&mut out)?;
        out.flush().map_err(at(&path))
    }

    /// The path of the file `inside` in the unfinished folder; makes its parents and notes its name.
    fn place(&mut self, inside: &str) -> Result<PathBuf, RunFolderError> {
        let is_plain = |part| matches!(part, Component::Normal(_));
        if inside.is_empty() || !Path::new(inside).components().all(is_plain) {
            return Err(RunFolderError::Path(inside.into()));
        }
        let path = self.work.join(inside);
        let parent = path.parent().expect("a file in the folder has a parent");
        fs::create_dir_all(parent).map_err(at(parent))?;
        self.files.insert(inside.to_owned());
        Ok(path)
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // After `finish` there is nothing here any more; after an error this is all that is left.
        let _ = fs::remove_dir_all(&self.work);
    }
}

/// Reads the `run.json` of a finished run folder; nothing where the folder is not ours.
pub fn read_info(folder: &Path) -> Option<RunInfo> {
    read_manifest(folder).map(|manifest| manifest.info)
}

/// Reads the tables at the top of a finished run folder, by name.
pub fn read_tables(folder: &Path) -> Result<Vec<Table>, RunFolderError> {
    let files = read_manifest(folder)
        .ok_or_else(|| RunFolderError::Foreign(folder.to_owned()))?
        .files;
    let names = files
        .iter()
        .filter(|file| !file.contains('/'))
        .filter_map(|file| file.strip_suffix(".csv"));
    names
        .map(|name| {
            let path = folder.join(format!("{name}.csv"));
            let file = File::open(&path).map_err(at(&path))?;
            Ok(Table::read_csv_inferring(name, file)?)
        })
        .collect()
}

fn read_manifest(folder: &Path) -> Option<Manifest> {
    let text = fs::read_to_string(folder.join("run.json")).ok()?;
    let manifest: Manifest = serde_json::from_str(&text).ok()?;
    (manifest.schema == SCHEMA).then_some(manifest)
}

/// `text` as a part of a file's name: characters that some file system refuses become `_`.
pub(crate) fn file_name(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+,@".contains(c);
    text.chars()
        .map(|c| if plain(c) || c == '.' { c } else { '_' })
        .collect()
}

/// The absolute path of `target`, through links, so that the sibling lies on the same file system.
fn resolve(target: &Path) -> Result<PathBuf, RunFolderError> {
    if target.exists() {
        return fs::canonicalize(target).map_err(at(target));
    }
    std::path::absolute(target).map_err(at(target))
}

fn split(target: &Path) -> Result<(&Path, &str), RunFolderError> {
    let name = target.file_name().and_then(|name| name.to_str());
    match (target.parent(), name) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(RunFolderError::Path(target.to_owned())),
    }
}

/// Fails unless `target` is absent, an empty folder or an earlier run.
fn check_replaceable(target: &Path) -> Result<(), RunFolderError> {
    if fs::symlink_metadata(target).is_err() {
        return Ok(());
    }
    if !target.is_dir() {
        return Err(RunFolderError::Path(target.to_owned()));
    }
    let is_empty = fs::read_dir(target).map_err(at(target))?.next().is_none();
    if is_empty || read_manifest(target).is_some() {
        Ok(())
    } else {
        Err(RunFolderError::Foreign(target.to_owned()))
    }
}

/// Moves what the earlier run in `old` did not write into `new`, where it hides nothing.
fn keep_foreign_files(old: &Path, new: &Path) -> Result<(), RunFolderError> {
    let written = read_manifest(old).map_or_else(BTreeSet::new, |manifest| manifest.files);
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let here = old.join(&folder);
        for entry in fs::read_dir(&here).map_err(at(&here))? {
            let entry = entry.map_err(at(&here))?;
            let inside = folder.join(entry.file_name());
            if entry.file_type().map_err(at(&here))?.is_dir() {
                folders.push(inside);
                continue;
            }
            let name = inside.to_string_lossy().replace('\\', "/");
            let to = new.join(&inside);
            if name == "run.json" || written.contains(&name) || to.exists() {
                continue;
            }
            let parent = to.parent().expect("a file in the folder has a parent");
            fs::create_dir_all(parent).map_err(at(parent))?;
            fs::rename(entry.path(), &to).map_err(at(&to))?;
        }
    }
    Ok(())
}

/// Removes what killed processes left beside `name`; a folder whose process still lives stays.
fn sweep_leftovers(parent: &Path, name: &str) {
    let prefix = format!(".{name}.partial-");
    let proc = Path::new("/proc");
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let owner = file.to_str().and_then(|file| file.strip_prefix(&prefix));
        // Without /proc nobody can say whether the owner lives, so nothing is removed.
        if let Some(owner) = owner
            && proc.join("self").exists()
            && !proc.join(owner).exists()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> RunFolderError {
    let path = path.to_owned();
    move |why| RunFolderError::Io { path, why }
}

/// What to do where the system refuses to write.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder with `-o` in which you may write"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room, or choose a folder on another disk with `-o`"
        }
        _ => "choose another folder with `-o`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::table::CellType;

    fn listing(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn flows() -> Table {
        let mut table = Table::with("flows", &[("rtt_s", CellType::Float)]);
        table.push(vec![0.01.into()]).unwrap();
        table
    }

    #[test]
    fn nothing_appears_before_the_end_and_everything_after() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("deep/run");
        let mut folder = RunFolder::create(&target).unwrap();
        folder.write_table(&flows()).unwrap();
        folder
            .write_trace("loss=0.1/x", "flow 1", &flows())
            .unwrap();
        folder.write_figure("cwnd", "<svg/>").unwrap();
        assert!(!target.exists());
        folder.finish(&RunInfo::default()).unwrap();
        assert_eq!(
            listing(&target),
            ["figures", "flows.csv", "run.json", "traces"]
        );
        assert_eq!(listing(&target.join("traces")), ["loss=0.1_x.flow_1.csv"]);
        assert_eq!(listing(target.parent().unwrap()), ["run"]);
        assert_eq!(read_info(&target), Some(RunInfo::default()));
        assert_eq!(read_tables(&target).unwrap(), [flows()]);
    }

    #[test]
    fn an_abandoned_run_leaves_nothing_and_keeps_the_earlier_one() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("run");
        let mut first = RunFolder::create(&target).unwrap();
        first.write_report("first").unwrap();
        first.finish(&RunInfo::default()).unwrap();
        let mut second = RunFolder::create(&target).unwrap();
        second.write_report("second").unwrap();
        drop(second);
        assert_eq!(listing(parent.path()), ["run"]);
        assert_eq!(
            fs::read_to_string(target.join("report.html")).unwrap(),
            "first"
        );
    }

    #[test]
    fn an_earlier_run_is_replaced_but_not_the_notes_beside_it() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("run");
        let mut first = RunFolder::create(&target).unwrap();
        first.write("figures/old.svg", b"x").unwrap();
        first.finish(&RunInfo::default()).unwrap();
        fs::write(target.join("notes.txt"), "mine").unwrap();
        let mut second = RunFolder::create(&target).unwrap();
        second.write_table(&flows()).unwrap();
        second.finish(&RunInfo::default()).unwrap();
        assert_eq!(listing(&target), ["flows.csv", "notes.txt", "run.json"]);
        assert_eq!(listing(parent.path()), ["run"]);
    }

    #[test]
    fn a_foreign_folder_is_refused_untouched() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("run.json"), "{\"schema\":\"other\"}").unwrap();
        let error = RunFolder::create(parent.path()).unwrap_err();
        assert!(matches!(error, RunFolderError::Foreign(_)), "{error}");
        let file = parent.path().join("run.json");
        assert!(RunFolder::create(&file).is_err(), "a file is not a folder");
        assert_eq!(listing(parent.path()), ["run.json"]);
    }

    #[test]
    fn nothing_is_written_outside_the_folder() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::create(parent.path().join("run")).unwrap();
        for bad in ["../x", "/x", "", "a/../../x"] {
            assert!(folder.write(bad, b"").is_err(), "{bad}");
        }
        folder.write_trace("..", "/etc", &flows()).unwrap();
        let path = folder.finish(&RunInfo::default()).unwrap();
        assert_eq!(listing(&path.join("traces")), ["..._etc.csv"]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        // Above the largest process number that Linux gives.
        fs::create_dir(parent.path().join(".run.partial-4194305")).unwrap();
        let folder = RunFolder::create(parent.path().join("run")).unwrap();
        folder.finish(&RunInfo::default()).unwrap();
        if Path::new("/proc/self").exists() {
            assert_eq!(listing(parent.path()), ["run"]);
        }
    }
}
