//! The folder that a run leaves behind: tables, figures, traces, the report and `run.json`.
//!
//! Everything is written into a hidden folder beside it and takes its place in one step at the end,
//! so a reader sees the earlier run or the new one, never half of one: see `workshop.rs`. A folder
//! that another program filled is never replaced. One of ours is, by the same command with the same
//! settings (see [`Asked`]), or by force; files in it that no run wrote are kept. One process at a
//! time writes a folder.
//!
//! ```text
//! DIR/run.json  DIR/flows.csv …  DIR/figures/*.svg  DIR/traces/<point>.<entity>.csv  DIR/report.html
//! ```

mod asked;
pub(crate) mod traces;
mod workshop;

pub use asked::{Asked, Setting};
pub use workshop::abandon;

use crate::{Report, parquet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use trammel_stats::table::{CellType, Column, Table, TableError};
use workshop::Workshop;

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
    /// What was asked for; nothing where a program made the folder, and no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<Asked>,
    /// The answer, where there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    answer: String,
    /// The tables at the top of the folder, in order.
    #[serde(default)]
    tables: Vec<Tabled>,
    files: BTreeSet<String>,
}

/// A table of the folder, for whoever reads its CSV file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tabled {
    /// The file's name without its ending.
    name: String,
    /// Each column's name and type: `text`, `int`, `float` or `bool`.
    columns: Vec<(String, String)>,
}

/// Where a command writes its run folder.
#[derive(Clone, Debug)]
pub struct Out {
    /// The folder.
    pub dir: PathBuf,
    /// For what.
    pub asked: Asked,
    /// Whatever run the folder holds is replaced, and nothing of it is used.
    pub is_forced: bool,
    /// Tables are written as Parquet too.
    pub has_parquet: bool,
}

/// Why a run folder cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// The folder holds files of somebody else.
    #[error(
        "`{}` exists and is not a run folder (it has no `run.json` from trammel); choose another \
         with `-o`", shown(.0)
    )]
    Foreign(PathBuf),
    /// The folder holds another run.
    #[error(
        "`{}` holds {what} of `{words}`: {difference}; choose another folder with `-o`, or replace \
         it with `--force`",
        shown(path)
    )]
    Other {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        what: &'static str,
        /// The command that made it.
        words: String,
        /// What differs.
        difference: String,
    },
    /// Another process writes the folder.
    #[error(
        "`{}` is being written by another `trammel`{}; wait until it ends, or choose another \
         folder with `-o`",
        shown(path),
        of(holder)
    )]
    Busy {
        /// The folder.
        path: PathBuf,
        /// Who writes it.
        holder: String,
    },
    /// The hidden folder beside it is somebody else's.
    #[error("`{}` is needed for the run, but another program made it; rename it, or choose another \
             folder with `-o`", shown(.0))]
    Hidden(PathBuf),
    /// The path cannot name a folder.
    #[error(
        "`{}` cannot be a run folder; give the name of a folder, new or of an earlier run",
        shown(.0)
    )]
    Path(PathBuf),
    /// Tables are wanted as Parquet, and this build has none.
    #[error("`--parquet`: {}", parquet::MISSING)]
    NoParquet,
    /// A table cannot be written as Parquet.
    #[error("{0}")]
    Parquet(String),
    /// There is nothing to read.
    #[error(
        "there is no folder `{}`; give one that `trammel run -o` or another command has written",
        shown(.0)
    )]
    Missing(PathBuf),
    /// There is no run in it.
    #[error("`{}` is not a run folder: it has no `run.json` from trammel; give one that `trammel \
             run -o` or another command has written", shown(.0))]
    NoRun(PathBuf),
    /// A file of it is not what was written.
    #[error(
        "`{}` was changed or is damaged: {why}; restore it, or make the run again",
        shown(path)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The operating system refused to read.
    #[error("`{}` cannot be read: {why}", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// The operating system refused.
    #[error("`{}` cannot be written: {why}; {}", shown(path), remedy(why))]
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

/// A path as a person at the terminal would write it.
fn shown(path: &Path) -> std::path::Display<'_> {
    let here = std::env::current_dir().ok();
    let inside = here.and_then(|here| path.strip_prefix(here).ok());
    inside
        .filter(|inside| !inside.as_os_str().is_empty())
        .unwrap_or(path)
        .display()
}

/// ` (process 17)`.
fn of(holder: &str) -> String {
    match holder {
        "" => String::new(),
        holder => format!(" ({holder})"),
    }
}

/// A run folder being written. Call [`RunFolder::finish`] to put it into place.
#[derive(Debug)]
pub struct RunFolder {
    target: PathBuf,
    work: PathBuf,
    files: BTreeSet<String>,
    tables: Vec<Tabled>,
    answer: String,
    asked: Option<Asked>,
    /// Whether what the folder holds goes on with this run.
    goes_on: bool,
    is_forced: bool,
    /// The tables that are to be written as Parquet too, where any are.
    parquet: Option<Vec<Table>>,
    workshop: Workshop,
}

impl RunFolder {
    /// Begins the folder that a command was asked for; fails at once where it could not be
    /// replaced.
    pub fn begin(out: &Out) -> Result<RunFolder, RunFolderError> {
        if out.has_parquet && !parquet::IS_BUILT {
            return Err(RunFolderError::NoParquet);
        }
        let mut folder = RunFolder::open(&out.dir, Some(&out.asked), out.is_forced)?;
        folder.parquet = out.has_parquet.then(Vec::new);
        Ok(folder)
    }

    /// Begins the folder `target`, which need not exist, in place of any earlier run; fails at once
    /// where it could not be replaced.
    pub fn create(target: impl AsRef<Path>) -> Result<RunFolder, RunFolderError> {
        RunFolder::open(target.as_ref(), None, false)
    }

    fn open(
        target: &Path,
        asked: Option<&Asked>,
        is_forced: bool,
    ) -> Result<RunFolder, RunFolderError> {
        let target = resolve(target)?;
        // Before anything is made beside it.
        check_replaceable(&target)?;
        let workshop = Workshop::open(&target)?;
        check_replaceable(&target)?;
        let earlier = read_manifest(&target);
        if is_forced {
            workshop.clear_points()?;
        } else if let Some(asked) = asked {
            let refuse = |what, words: String, difference: String| RunFolderError::Other {
                path: target.clone(),
                what,
                words: plain(&words),
                difference: plain(&difference),
            };
            if let Some(earlier) = earlier.as_ref().and_then(|it| it.asked.as_ref())
                && let Some(difference) = asked.difference(earlier)
            {
                return Err(refuse("the results", earlier.words(), difference));
            }
            if let Some(left) = workshop.left()
                && let Some(difference) = asked.difference(&left)
            {
                let what = "finished runs of an interrupted";
                return Err(refuse(what, left.words(), difference));
            }
        }
        workshop.begin(asked)?;
        Ok(RunFolder {
            work: workshop.new_folder(),
            target,
            files: BTreeSet::new(),
            tables: Vec::new(),
            answer: String::new(),
            asked: asked.cloned(),
            goes_on: !is_forced && earlier.is_some_and(|earlier| earlier.info.interrupted),
            is_forced,
            parquet: None,
            workshop,
        })
    }

    /// Where finished runs are kept until the folder is whole.
    pub fn points(&self) -> PathBuf {
        self.workshop.points()
    }

    /// Whether nothing of what the folder holds is to be used.
    pub fn is_forced(&self) -> bool {
        self.is_forced
    }

    /// Whether the folder holds an interrupted run that this one goes on with.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Where the folder will be once it is finished.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// The folder `name` inside, for what is written while the run goes on; [`adopt`](Self::adopt)
    /// comes after.
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

    /// Writes `<name>.csv` at the top of the folder, and `<name>.parquet` where that is wanted.
    pub fn write_table(&mut self, table: &Table) -> Result<(), RunFolderError> {
        if let Some(tables) = &mut self.parquet {
            tables.push(table.clone());
        }
        let name = file_name(table.name());
        let columns = table.columns().iter();
        let columns = columns.map(|one| (one.name.clone(), one.cell_type.name().to_owned()));
        self.tables.push(Tabled {
            name: name.clone(),
            columns: columns.collect(),
        });
        self.write_csv(&format!("{name}.csv"), table)
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
        let path = self.file(inside)?;
        fs::write(&path, contents).map_err(at(&path))
    }

    /// Writes the figures of a report and the report itself.
    pub fn write_page(&mut self, report: &Report) -> Result<(), RunFolderError> {
        for (id, svg) in report.figures() {
            self.write_figure(&id, &svg)?;
        }
        self.answer.clone_from(&report.answer.sentence);
        let page = report.to_html_beside(&self.files);
        self.write_report(&page)
    }

    /// Writes `run.json` and puts the folder into place, instead of an earlier run's. Returns its
    /// path: another one beside it, where that place was taken meanwhile.
    ///
    /// Finished runs that were kept are forgotten, where the folder holds them or the run is whole.
    pub fn finish(mut self, info: &RunInfo) -> Result<PathBuf, RunFolderError> {
        let facts = parquet_facts(&info.scenario, &info.scenario_text, &info.seeds);
        for table in self.parquet.take().into_iter().flatten() {
            let path = self.file(&format!("{}.parquet", file_name(table.name())))?;
            parquet::write(&table, &facts, &path).map_err(RunFolderError::Parquet)?;
        }
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            info: info.clone(),
            asked: self.asked.clone(),
            answer: self.answer.clone(),
            tables: self.tables.clone(),
            files: self.files.clone(),
        };
        let mut text = serde_json::to_string_pretty(&manifest).expect("plain data has a JSON form");
        text.push('\n');
        self.write("run.json", text.as_bytes())?;
        // Somebody may have put files there while the run went on.
        let taken = check_replaceable(&self.target);
        let path = match taken.and_then(|()| self.workshop.exchange(&self.target)) {
            Ok(()) => self.target.clone(),
            // The results are worth more than their place.
            Err(why) if self.work.join("run.json").exists() && self.target.exists() => {
                let path = beside(&self.target)?;
                fs::rename(&self.work, &path).map_err(at(&path))?;
                trammel_ground::say(&format!(
                    "warning: {why}; the run is in `{}`",
                    path.display()
                ));
                path
            }
            Err(why) => return Err(why),
        };
        let holds_points = self.files.iter().any(|file| file.starts_with("points/"));
        if !info.interrupted || holds_points {
            self.workshop.clear_points()?;
        }
        Ok(path)
    }

    fn write_csv(&mut self, inside: &str, table: &Table) -> Result<(), RunFolderError> {
        let path = self.file(inside)?;
        let mut out = BufWriter::new(File::create(&path).map_err(at(&path))?);
        table.write_csv(&mut out).map_err(|why| match why {
            // What the disk says is told of the file.
            TableError::Csv { source, .. } if source.is_io_error() => match source.into_kind() {
                csv::ErrorKind::Io(why) => at(&path)(why),
                _ => unreachable!("it is an error of input and output"),
            },
            why => why.into(),
        })?;
        out.flush().map_err(at(&path))
    }

    /// The path of the file `inside` in the unfinished folder; makes its parents and notes its
    /// name.
    pub fn file(&mut self, inside: &str) -> Result<PathBuf, RunFolderError> {
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

/// Where numbers come from, for a Parquet file: what is the same for the same run.
pub fn parquet_facts(scenario: &str, text: &str, seeds: &[u64]) -> parquet::Facts {
    let seeds: Vec<_> = seeds.iter().map(u64::to_string).collect();
    let facts = [
        ("trammel.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("trammel.scenario", scenario.to_owned()),
        ("trammel.scenario_text", text.to_owned()),
        ("trammel.seeds", seeds.join(" ")),
    ];
    let facts = facts.into_iter();
    facts
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Reads the `run.json` of a finished run folder; nothing where the folder is not ours.
pub fn read_info(folder: &Path) -> Option<RunInfo> {
    read_manifest(folder).map(|manifest| manifest.info)
}

/// Reads the tables at the top of a finished run folder, by name.
pub(crate) fn read_tables(folder: &Path) -> Result<Vec<Table>, RunFolderError> {
    let Manifest { files, tables, .. } = manifest_of(folder)?;
    let told = |name: &str| tables.iter().find(|table| table.name == name);
    let names = files
        .iter()
        .filter(|file| !file.contains('/'))
        .filter_map(|file| file.strip_suffix(".csv"));
    names
        .map(|name| {
            let path = folder.join(format!("{name}.csv"));
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(why) => return Err(RunFolderError::Unreadable { path, why }),
            };
            let table = match told(name).and_then(Tabled::header) {
                Some(header) => Table::read_csv(&header, file),
                // A folder of an earlier version.
                None => Table::read_csv_inferring(name, file),
            };
            table.map_err(|why| RunFolderError::Damaged {
                path,
                why: why.to_string(),
            })
        })
        .collect()
}

impl Tabled {
    /// The table without its rows.
    fn header(&self) -> Option<Table> {
        let column =
            |(name, of): &(String, String)| Some(Column::new(name, CellType::from_name(of)?));
        let columns: Option<_> = self.columns.iter().map(column).collect();
        Some(Table::new(self.name.as_str(), columns?))
    }
}

/// Reads the `run.json` of a finished run folder, or says why it is none.
pub(crate) fn info_of(folder: &Path) -> Result<RunInfo, RunFolderError> {
    manifest_of(folder).map(|manifest| manifest.info)
}

fn manifest_of(folder: &Path) -> Result<Manifest, RunFolderError> {
    match fs::metadata(folder) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            return Err(RunFolderError::Missing(folder.to_owned()));
        }
        Err(why) => {
            let path = folder.to_owned();
            return Err(RunFolderError::Unreadable { path, why });
        }
        Ok(_) => {}
    }
    let path = folder.join("run.json");
    match fs::read(&path) {
        Err(why)
            if !matches!(
                why.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(RunFolderError::Unreadable { path, why })
        }
        Ok(_) => read_manifest(folder).ok_or_else(|| RunFolderError::Damaged {
            path,
            why: "it is no `run.json` of this version of trammel".to_owned(),
        }),
        Err(_) => Err(RunFolderError::NoRun(folder.to_owned())),
    }
}

fn read_manifest(folder: &Path) -> Option<Manifest> {
    let text = fs::read_to_string(folder.join("run.json")).ok()?;
    let manifest: Manifest = serde_json::from_str(&text).ok()?;
    (manifest.schema == SCHEMA).then_some(manifest)
}

/// `text` as a part of a file's name: characters that some file system refuses become `_`.
pub fn file_name(text: &str) -> String {
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

/// The first name beside `target` that is free: `out-2`, `out-3`, …
fn beside(target: &Path) -> Result<PathBuf, RunFolderError> {
    let (parent, name) = split(target)?;
    let mut names = (2..).map(|n: u32| parent.join(format!("{name}-{n}")));
    Ok(names
        .find(|path| fs::symlink_metadata(path).is_err())
        .expect("a folder has fewer than four billion names"))
}

/// `text` of a file for a terminal: control characters could move its cursor.
fn plain(text: &str) -> String {
    text.replace(char::is_control, "?")
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> RunFolderError {
    let path = path.to_owned();
    move |why| RunFolderError::Io { path, why }
}

/// What to do where the system refuses to write.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a writable folder with `-o`"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room, or choose a folder on another disk with `-o`"
        }
        _ => "choose another folder with `-o`",
    }
}

#[cfg(test)]
mod tests;
