//! A store of runs that many processes fill at once: one file a run, named by the run's key and
//! written once.
//!
//! ```text
//! STORE/<build>/<first two digits of the key>/<key>.json
//! ```
//!
//! A run follows from its key and from the build of the program, so two writers of a key write the
//! same bytes and need not know of each other. The first one's file stays; the second compares. A
//! difference is a fault, of the program or of a machine, so both files are kept and it is told. A
//! run that failed is a result like another. The runs of another build lie in a folder of their own
//! and are never taken for those of this one.

use crate::kept::{Ended, Found, Keep, read, write};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use trammel_ground::identity;

/// Digits of the build's identity that name its folder.
const BUILD_DIGITS: usize = 16;
/// Digits of a key that name its folder.
const KEY_DIGITS: usize = 2;

/// A folder of runs, for the runs of this build.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is not a folder.
    #[error("`{0}`: stores are folders of a file system that all workers see; give its path")]
    Place(String),
    /// The operating system refused.
    #[error("`{}`: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// Two processes have found different things for one key.
    #[error(
        "run `{key}` has two results, `{}` and `{}`; one key stands for one result, so this is a \
         fault of Trammel or of a machine: please report both files",
        first.display(), second.display()
    )]
    Differs {
        /// The key.
        key: String,
        /// What the store has.
        first: PathBuf,
        /// What came second.
        second: PathBuf,
    },
}

fn refused(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |why| StoreError::Refused { path, why }
}

impl Store {
    /// The store at `place`, made where there is none.
    pub fn open(place: &str) -> Result<Store, StoreError> {
        if place.is_empty() || place.contains("://") {
            return Err(StoreError::Place(place.to_owned()));
        }
        let build = identity::of_program();
        let folder = Path::new(place).join(build.get(..BUILD_DIGITS).unwrap_or(build));
        fs::create_dir_all(&folder).map_err(refused(&folder))?;
        Ok(Store { folder })
    }

    fn path(&self, key: &str) -> PathBuf {
        let first = key.get(..KEY_DIGITS).unwrap_or(key);
        self.folder.join(first).join(format!("{key}.json"))
    }

    /// What the store has of `key`; nothing where it has none, or one that was changed.
    pub fn find<R: Keep>(&self, key: &str) -> Option<Ended<R>> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        match read(&text) {
            Found::Run(of, ended) if of == key => Some(ended),
            _ => None,
        }
    }

    /// Keeps what became of `key`, unless the store has the same already.
    pub fn put<R: Keep>(&self, key: &str, ended: &Ended<R>) -> Result<(), StoreError> {
        let (whole, text) = (self.path(key), write(key, ended));
        let folder = whole.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder).map_err(refused(folder))?;
        let part = whole_file(folder, "part-", &text)?;
        let part = match part.persist_noclobber(&whole) {
            Ok(_) => return Ok(()),
            Err(why) if why.error.kind() == ErrorKind::AlreadyExists => why.file,
            Err(why) => return Err(refused(&whole)(why.error)),
        };
        let there = fs::read_to_string(&whole).map_err(refused(&whole))?;
        if there == text {
            return Ok(());
        }
        if !matches!(read::<R>(&there), Found::Run(..)) {
            // Half of a file, as a full disk or a power cut leaves it, or one that was edited.
            let put = part.persist(&whole).map(drop);
            return put.map_err(|why| refused(&whole)(why.error));
        }
        let second = whole_file(folder, &format!("differs-{key}-"), &text)?;
        let (_, second) = second.keep().map_err(|why| refused(&whole)(why.error))?;
        Err(StoreError::Differs {
            key: key.to_owned(),
            first: whole,
            second,
        })
    }
}

/// A new file in `folder` that holds `text` and that those may read who may read the others. It is
/// gone with the value.
fn whole_file(folder: &Path, prefix: &str, text: &str) -> Result<NamedTempFile, StoreError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(refused(folder))?;
    file.write_all(text.as_bytes()).map_err(refused(folder))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::tests::{Toy, toy};

    fn files(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_first_writer_s_file_stays_and_others_compare() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path().to_str().unwrap()).unwrap();
        assert_eq!(store.find::<Toy>("ab12"), None);
        let run = Ended::Run(toy());
        for _ in 0..2 {
            store.put("ab12", &run).unwrap();
        }
        assert_eq!(store.find("ab12").as_ref(), Some(&run));
        let folder = store.folder.join("ab");
        assert_eq!(files(&folder), ["ab12.json"]);
        // Another result for the same key is kept beside the first, and told.
        let other = Ended::<Toy>::Failed("no room".to_owned());
        let told = store.put("ab12", &other).unwrap_err();
        assert!(matches!(told, StoreError::Differs { .. }), "{told}");
        assert_eq!(store.find("ab12").as_ref(), Some(&run));
        let [first, second] = &files(&folder)[..] else {
            panic!("two files")
        };
        assert_eq!(first, "ab12.json");
        assert!(second.starts_with("differs-ab12-"), "{second}");
        store.put("cd34", &other).unwrap();
        assert_eq!(store.find("cd34").as_ref(), Some(&other));
    }

    #[test]
    fn half_of_a_file_is_no_run_and_is_written_anew() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path().to_str().unwrap()).unwrap();
        let run = Ended::Run(toy());
        store.put("ab12", &run).unwrap();
        let path = store.path("ab12");
        let text = fs::read_to_string(&path).unwrap();
        for broken in ["", &text[..100], &text.replace("7.25", "999")] {
            fs::write(&path, broken).unwrap();
            assert_eq!(store.find::<Toy>("ab12"), None);
            store.put("ab12", &run).unwrap();
            assert_eq!(store.find("ab12").as_ref(), Some(&run));
        }
        // A file under another's name is not that one's.
        fs::copy(&path, path.with_file_name("ab99.json")).unwrap();
        assert_eq!(store.find::<Toy>("ab99"), None);
    }

    #[test]
    fn writers_at_once_leave_one_file() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path().to_str().unwrap()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for key in 0..50 {
                        store.put(&format!("{key:04}"), &Ended::Run(toy())).unwrap();
                    }
                });
            }
        });
        assert_eq!(files(&store.folder.join("00")).len(), 50);
    }

    #[test]
    fn what_is_no_folder_is_refused() {
        for place in ["", "s3://lab/runs"] {
            let told = Store::open(place).unwrap_err().to_string();
            assert!(told.contains("folders of a file system"), "{told}");
        }
        let place = tempfile::NamedTempFile::new().unwrap();
        assert!(Store::open(place.path().to_str().unwrap()).is_err());
    }
}
