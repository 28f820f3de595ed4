//! The hidden folder beside a run folder, where the next run is made: its lock, and what a killed
//! process left.
//!
//! ```text
//! .DIR.trammel/lock        held (flock) by the process that writes DIR
//! .DIR.trammel/asked.json  for what: see `asked`
//! .DIR.trammel/new/        the run being written; afterwards, the run that it replaced
//! .DIR.trammel/old/        the run that is replaced, where names cannot be exchanged in one step
//! .DIR.trammel/points/     finished runs of a scenario, so that not even a killed process loses them
//! ```
//!
//! The new folder takes the place of the old one in one step (`renameat2` with `RENAME_EXCHANGE`),
//! so `DIR` is there at every moment. Files in `DIR` that no run of ours wrote are linked into the
//! new folder before and looked for once more after it; only then is the old folder removed. The
//! same is done at the next start with what a killed process left, so nothing of the user's is lost
//! at whatever moment it was killed.

use super::{Asked, RunFolderError, at, read_manifest};
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use trammel_ground::own_file;

/// The lock, by which a folder is known as ours.
const LOCK: &str = "lock";
/// For what the folder is being written.
const ASKED: &str = "asked.json";
/// The run being written.
const NEW: &str = "new";
/// The run that is replaced.
const OLD: &str = "old";
/// Finished runs of a scenario.
const POINTS: &str = "points";

/// Those of this process, for [`abandon`].
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A hidden folder that this process holds.
#[derive(Debug)]
pub(super) struct Workshop {
    folder: PathBuf,
    /// Its closing gives the lock back.
    _lock: File,
}

impl Workshop {
    /// Takes the hidden folder of the run folder `target`, and mends what a killed process left
    /// there.
    pub(super) fn open(target: &Path) -> Result<Workshop, RunFolderError> {
        let (parent, name) = super::split(target)?;
        fs::create_dir_all(parent).map_err(at(parent))?;
        let folder = parent.join(format!(".{name}.trammel"));
        let lock = take(&folder, target)?;
        let workshop = Workshop {
            folder,
            _lock: lock,
        };
        workshop.recover(target)?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.push(workshop.folder.clone());
        Ok(workshop)
    }

    /// What is left of an earlier process's points: for what they were made.
    pub(super) fn left(&self) -> Option<Asked> {
        let is_empty = fs::read_dir(self.points()).map_or(true, |mut files| files.next().is_none());
        if is_empty {
            return None;
        }
        let text = fs::read_to_string(self.folder.join(ASKED)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Begins a new folder for `asked`.
    pub(super) fn begin(&self, asked: Option<&Asked>) -> Result<(), RunFolderError> {
        if let Some(asked) = asked {
            let path = self.folder.join(ASKED);
            let text = serde_json::to_string(asked).expect("plain data has a JSON form");
            fs::write(&path, text).map_err(at(&path))?;
        }
        let new = self.new_folder();
        fs::create_dir(&new).map_err(at(&new))
    }

    /// The run being written.
    pub(super) fn new_folder(&self) -> PathBuf {
        self.folder.join(NEW)
    }

    /// Finished runs of a scenario.
    pub(super) fn points(&self) -> PathBuf {
        self.folder.join(POINTS)
    }

    /// Removes the finished runs.
    pub(super) fn clear_points(&self) -> Result<(), RunFolderError> {
        match fs::remove_dir_all(self.points()) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => Err(at(&self.points())(why)),
            _ => Ok(()),
        }
    }

    /// Puts the new folder into the place of `target`, with the files of the user that lie there.
    pub(super) fn exchange(&self, target: &Path) -> Result<(), RunFolderError> {
        let new = self.new_folder();
        if !target.exists() {
            return fs::rename(&new, target).map_err(at(target));
        }
        // What cannot be linked is moved later.
        let _ = carry(target, &new, &|from, to| fs::hard_link(from, to));
        let replaced = match swap(&new, target) {
            Err(why) if why.kind() == io::ErrorKind::Unsupported => {
                let old = self.folder.join(OLD);
                fs::rename(target, &old).map_err(at(target))?;
                if let Err(why) = fs::rename(&new, target) {
                    fs::rename(&old, target).map_err(at(&old))?;
                    return Err(at(target)(why));
                }
                old
            }
            Err(why) => return Err(at(target)(why)),
            Ok(()) => new,
        };
        if let Err(why) = fold(&replaced, target) {
            // The run is in its place; what is left here is looked through at the next start.
            trammel_ground::say(&format!(
                "warning: {why}; the rest of the earlier run is in `{}`",
                replaced.display()
            ));
        }
        Ok(())
    }

    /// Ends what a killed process began.
    fn recover(&self, target: &Path) -> Result<(), RunFolderError> {
        let (new, old) = (self.new_folder(), self.folder.join(OLD));
        if old.exists() && !target.exists() {
            fs::rename(&old, target).map_err(at(target))?;
        }
        for left in [old, new] {
            fold(&left, target)?;
        }
        Ok(())
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        clean(&self.folder);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|folder| *folder != self.folder);
    }
}

/// Removes what this process has begun and not finished, before it ends at once. Finished runs
/// stay.
pub fn abandon() {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.iter().for_each(|folder| clean(folder));
}

/// Removes the hidden folder but for finished runs.
fn clean(folder: &Path) {
    let new = folder.join(NEW);
    // With its manifest it may be the earlier run, which an error has left here: the next start
    // looks at it.
    if read_manifest(&new).is_none() {
        let _ = fs::remove_dir_all(&new);
    }
    let holds = |name: &str| folder.join(name).exists();
    if holds(NEW) || holds(OLD) || holds(POINTS) {
        return;
    }
    let _ = fs::remove_file(folder.join(ASKED));
    // The last: who waits for it sees by its absence that it is another's.
    let _ = fs::remove_file(folder.join(LOCK));
    let _ = fs::remove_dir(folder);
}

/// Makes the hidden folder, where it is not there, and takes its lock.
fn take(folder: &Path, target: &Path) -> Result<File, RunFolderError> {
    // Each turn that does not end means that another process has just removed it.
    const TURNS: usize = 1000;
    let lock = folder.join(LOCK);
    // Whether every look found entries and no lock. One look is not enough: while the entries are
    // listed, another process may remove the lock and a third may make the next one.
    let mut lacks_lock = true;
    for _ in 0..TURNS {
        match fs::create_dir(folder) {
            Ok(()) => {}
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
                match fs::symlink_metadata(folder) {
                    Err(why) if why.kind() == io::ErrorKind::NotFound => {
                        lacks_lock = false;
                        continue;
                    }
                    Err(why) => return Err(at(folder)(why)),
                    // In a folder to which others may write, somebody could have made it, or a link
                    // to ours.
                    Ok(about) if !own_file::belongs_to_us(&about) => {
                        return Err(RunFolderError::Hidden(folder.to_owned()));
                    }
                    Ok(_) => {}
                }
                let mut names = fs::read_dir(folder).into_iter().flatten();
                if names.next().is_some() && fs::symlink_metadata(&lock).is_err() {
                    continue;
                }
            }
            Err(why) => return Err(at(folder)(why)),
        }
        lacks_lock = false;
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&lock) {
            Ok(file) => file,
            Err(why) if why.kind() == io::ErrorKind::NotFound => continue,
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
                match fs::symlink_metadata(&lock) {
                    Ok(about) if about.is_file() => {}
                    Ok(_) => return Err(RunFolderError::Hidden(folder.to_owned())),
                    Err(_) => continue,
                }
                match OpenOptions::new().write(true).open(&lock) {
                    Ok(file) => file,
                    Err(why) if why.kind() == io::ErrorKind::NotFound => continue,
                    Err(why) => return Err(at(&lock)(why)),
                }
            }
            Err(why) => return Err(at(&lock)(why)),
        };
        if !is_locked(&file).map_err(at(&lock))? {
            let holder = fs::read_to_string(&lock).unwrap_or_default();
            return Err(RunFolderError::Busy {
                path: target.to_owned(),
                holder: holder.trim().to_owned(),
            });
        }
        let here = fs::symlink_metadata(&lock);
        let own = file.metadata().map_err(at(&lock))?;
        if here.is_ok_and(|here| is_same_file(&here, &own)) {
            file.set_len(0).map_err(at(&lock))?;
            writeln!(file, "process {}", std::process::id()).map_err(at(&lock))?;
            return Ok(file);
        }
    }
    // We make the lock first and remove it last.
    if lacks_lock {
        return Err(RunFolderError::Hidden(folder.to_owned()));
    }
    Err(RunFolderError::Busy {
        path: target.to_owned(),
        holder: String::new(),
    })
}

/// Takes the lock of a file; false where another process has it.
#[cfg(target_os = "linux")]
fn is_locked(file: &File) -> io::Result<bool> {
    match trammel_io::machine::lock(file, false) {
        // A file system without locks has one writer at a time, as all programs there must.
        Err(why) if why.kind() == io::ErrorKind::Unsupported => Ok(true),
        taken => taken,
    }
}

#[cfg(not(target_os = "linux"))]
fn is_locked(_file: &File) -> io::Result<bool> {
    Ok(true)
}

/// Exchanges the names of two folders in one step.
#[cfg(target_os = "linux")]
pub(super) fn swap(one: &Path, other: &Path) -> io::Result<()> {
    trammel_io::files::exchange(one, other)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn swap(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_file(_one: &Metadata, _other: &Metadata) -> bool {
    false
}

/// Moves the user's files from the folder `left` into `target`, and removes `left`.
fn fold(left: &Path, target: &Path) -> Result<(), RunFolderError> {
    if !left.exists() {
        return Ok(());
    }
    if target.exists() {
        carry(left, target, &|from, to| fs::rename(from, to))?;
    }
    fs::remove_dir_all(left).map_err(at(left))
}

/// Brings what no run of ours wrote from the run folder `from` into `to`: a file whose name is
/// taken there gets `.old` at its end. Without a manifest `from` is an unfinished run, where all is
/// ours.
fn carry(
    from: &Path,
    to: &Path,
    bring: &dyn Fn(&Path, &Path) -> io::Result<()>,
) -> Result<(), RunFolderError> {
    let Some(manifest) = read_manifest(from) else {
        return Ok(());
    };
    let written: BTreeSet<PathBuf> = manifest.files.iter().map(PathBuf::from).collect();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let here = from.join(&folder);
        for entry in fs::read_dir(&here).map_err(at(&here))? {
            let entry = entry.map_err(at(&here))?;
            let inside = folder.join(entry.file_name());
            if entry.file_type().map_err(at(&here))?.is_dir() {
                folders.push(inside);
            } else if inside != Path::new("run.json") && !written.contains(&inside) {
                bring_one(&entry.path(), &to.join(&inside), bring)?;
            }
        }
    }
    Ok(())
}

/// Brings one file to `to`, or to the first free name behind it.
fn bring_one(
    from: &Path,
    to: &Path,
    bring: &dyn Fn(&Path, &Path) -> io::Result<()>,
) -> Result<(), RunFolderError> {
    let parent = to.parent().expect("a file in the folder has a parent");
    fs::create_dir_all(parent).map_err(at(parent))?;
    let own = fs::symlink_metadata(from).map_err(at(from))?;
    let mut name = to.as_os_str().to_owned();
    loop {
        match fs::symlink_metadata(&name) {
            Ok(there) if is_same_file(&there, &own) => return Ok(()),
            Ok(_) => name.push(".old"),
            Err(_) => return bring(from, Path::new(&name)).map_err(at(to)),
        }
    }
}
