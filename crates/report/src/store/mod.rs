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

mod folder;
#[cfg(feature = "object-store")]
mod objects;
mod place;

use crate::kept::{Ended, Found, Keep, read, write};
use folder::Folder;
use place::{Place, patiently};
use std::io;
use std::sync::Arc;
use trammel_ground::{identity, sha256};

/// Digits of the build's identity that name its folder.
const BUILD_DIGITS: usize = 16;
/// Digits of a key that name its folder.
const KEY_DIGITS: usize = 2;
/// Digits of a text's hash that name a second result.
const TEXT_DIGITS: usize = 16;

/// Runs that are looked for at once at most: their texts are in memory.
const MOST_SOUGHT: usize = 1024;

/// A folder or a bucket of runs, for the runs of this build.
#[derive(Clone, Debug)]
pub struct Store {
    place: Arc<dyn Place>,
    build: String,
}

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is neither a folder nor of a kind that this build knows.
    #[error("`{place}`: {why}")]
    Place {
        /// The place.
        place: String,
        /// What stores may be.
        why: &'static str,
    },
    /// The operating system refused, also after a minute where that could help.
    #[error("`{path}`: {why}")]
    Refused {
        /// The file.
        path: String,
        /// What the system said.
        why: io::Error,
    },
    /// Two processes have found different things for one key.
    #[error(
        "run `{key}` has two results, `{first}` and `{second}`; one key stands for one result, so \
         this is a fault of Trammel or of a machine: please report both files"
    )]
    Differs {
        /// The key.
        key: String,
        /// What the store has.
        first: String,
        /// What came second.
        second: String,
    },
}

/// The place of that name: a path or an address.
fn place_of(name: &str, build: &str) -> Result<Arc<dyn Place>, StoreError> {
    let refuse = |why| StoreError::Place {
        place: name.to_owned(),
        why,
    };
    let refused = |why| StoreError::Refused {
        path: name.to_owned(),
        why,
    };
    match name.split_once("://") {
        Some(("s3" | "s3a" | "gs" | "az" | "azure" | "abfs" | "abfss", _)) => {
            #[cfg(feature = "object-store")]
            return Ok(Arc::new(objects::Objects::open(name).map_err(refused)?));
            #[cfg(not(feature = "object-store"))]
            Err(refuse(
                "this build has no object stores; build trammel with `--features object-store`, \
                 or give the path of a folder that all workers see",
            ))
        }
        Some(_) => Err(refuse(
            "stores are folders that all workers see, or `s3://`, `gs://` and `az://`",
        )),
        None if name.is_empty() => Err(refuse("give the path of a folder that all workers see")),
        None => Ok(Arc::new(Folder::open(name, build).map_err(refused)?)),
    }
}

impl Store {
    /// The store at `place`: a folder, which is made where there is none, or a bucket.
    pub fn open(place: &str) -> Result<Store, StoreError> {
        let build = identity::of_program();
        let build = build.get(..BUILD_DIGITS).unwrap_or(build).to_owned();
        Ok(Store {
            place: place_of(place, &build)?,
            build,
        })
    }

    fn name(&self, key: &str, file: &str) -> String {
        let first = key.get(..KEY_DIGITS).unwrap_or(key);
        format!("{}/{first}/{file}.json", self.build)
    }

    /// What `ask` gives of the text `name`, patiently.
    fn ask<T>(
        &self,
        name: &str,
        ask: impl Fn(&dyn Place) -> io::Result<T>,
    ) -> Result<T, StoreError> {
        let place = self.place.as_ref();
        patiently(place, name, || ask(place)).map_err(|why| StoreError::Refused {
            path: place.shown(name),
            why,
        })
    }

    /// What the store has of `key`; nothing where it has none, or one that was changed.
    pub fn find<R: Keep>(&self, key: &str) -> Result<Option<Ended<R>>, StoreError> {
        let name = self.name(key, key);
        let text = self.ask(&name, |place| place.get(&name))?;
        Ok(run_of(key, text))
    }

    /// What the store has of each of `keys`, one after the other.
    pub fn find_each<R: Keep>(
        &self,
        keys: &[String],
        mut take: impl FnMut(&str, Option<Ended<R>>),
    ) -> Result<(), StoreError> {
        for keys in keys.chunks(MOST_SOUGHT) {
            let names: Vec<_> = keys.iter().map(|key| self.name(key, key)).collect();
            let texts = self.place.get_all(&names);
            for (key, text) in keys.iter().zip(texts) {
                match text {
                    Ok(text) => take(key, run_of(key, text)),
                    // Once more, patiently.
                    Err(_) => take(key, self.find(key)?),
                }
            }
        }
        Ok(())
    }

    /// Keeps what became of `key`, unless the store has the same already.
    pub fn put<R: Keep>(&self, key: &str, ended: &Ended<R>) -> Result<(), StoreError> {
        let (name, text) = (self.name(key, key), write(key, ended));
        if self.ask(&name, |place| place.put_new(&name, &text))? {
            return Ok(());
        }
        let there = self.ask(&name, |place| place.get(&name))?;
        if there.as_ref() == Some(&text) {
            return Ok(());
        }
        if !there.is_some_and(|there| matches!(read::<R>(&there), Found::Run(..))) {
            // Half of a file, as a full disk or a power cut leaves it, or one that was edited.
            return self.ask(&name, |place| place.replace(&name, &text));
        }
        let mut digits = sha256::of(&text);
        digits.truncate(TEXT_DIGITS);
        let second = self.name(key, &format!("differs-{key}-{digits}"));
        self.ask(&second, |place| place.put_new(&second, &text))?;
        Err(StoreError::Differs {
            key: key.to_owned(),
            first: self.place.shown(&name),
            second: self.place.shown(&second),
        })
    }
}

/// What a text of the store says of `key`.
fn run_of<R: Keep>(key: &str, text: Option<String>) -> Option<Ended<R>> {
    match read(&text?) {
        Found::Run(of, ended) if of == key => Some(ended),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::tests::{Toy, toy};
    use std::fs;
    use std::path::{Path, PathBuf};

    /// The folder of keys that begin so.
    fn of_keys(place: &tempfile::TempDir, first: &str) -> PathBuf {
        let build = &identity::of_program()[..BUILD_DIGITS];
        place.path().join(build).join(first)
    }

    fn found(store: &Store, key: &str) -> Option<Ended<Toy>> {
        store.find(key).unwrap()
    }

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
        assert_eq!(found(&store, "ab12"), None);
        let run = Ended::Run(toy());
        for _ in 0..2 {
            store.put("ab12", &run).unwrap();
        }
        assert_eq!(found(&store, "ab12").as_ref(), Some(&run));
        let folder = of_keys(&place, "ab");
        assert_eq!(files(&folder), ["ab12.json"]);
        // Another result for the same key is kept beside the first, and told.
        let other = Ended::<Toy>::Failed("no room".to_owned());
        let told = store.put("ab12", &other).unwrap_err();
        assert!(matches!(told, StoreError::Differs { .. }), "{told}");
        assert_eq!(found(&store, "ab12").as_ref(), Some(&run));
        let [first, second] = &files(&folder)[..] else {
            panic!("two files")
        };
        assert_eq!(first, "ab12.json");
        assert!(second.starts_with("differs-ab12-"), "{second}");
        store.put("cd34", &other).unwrap();
        assert_eq!(found(&store, "cd34").as_ref(), Some(&other));
    }

    #[test]
    fn half_of_a_file_is_no_run_and_is_written_anew() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path().to_str().unwrap()).unwrap();
        let run = Ended::Run(toy());
        store.put("ab12", &run).unwrap();
        let path = of_keys(&place, "ab").join("ab12.json");
        let text = fs::read_to_string(&path).unwrap();
        for broken in ["", &text[..100], &text.replace("7.25", "999")] {
            fs::write(&path, broken).unwrap();
            assert_eq!(found(&store, "ab12"), None);
            store.put("ab12", &run).unwrap();
            assert_eq!(found(&store, "ab12").as_ref(), Some(&run));
        }
        // A file under another's name is not that one's.
        fs::copy(&path, path.with_file_name("ab99.json")).unwrap();
        assert_eq!(found(&store, "ab99"), None);
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
        assert_eq!(files(&of_keys(&place, "00")).len(), 50);
    }

    #[test]
    fn what_is_no_store_is_refused() {
        for place in ["", "ftp://lab/runs"] {
            let told = Store::open(place).unwrap_err().to_string();
            assert!(told.contains("all workers see"), "{told}");
        }
        #[cfg(not(feature = "object-store"))]
        {
            let told = Store::open("s3://lab/runs").unwrap_err().to_string();
            assert!(told.contains("`--features object-store`"), "{told}");
        }
        let place = tempfile::NamedTempFile::new().unwrap();
        assert!(Store::open(place.path().to_str().unwrap()).is_err());
    }
}
