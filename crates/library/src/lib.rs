//! The papers and examples that come with the program, and the papers of the user beside them.
//!
//! In a checkout they are the folders `papers` and `examples` of the source. A program that was
//! installed elsewhere has them within itself and writes them, once, to
//! `$XDG_DATA_HOME/trammel/library-<hash>`, or the same in `~/.local/share`.
#![forbid(unsafe_code)]

pub mod gallery;
mod unpack;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files that come with the program: name from the root of the source, and contents.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The folders of all papers, by key: those that come with the program, and those in `papers` of
/// the current folder. A folder of the user hides no paper of the program's; its path names it.
pub fn folders() -> BTreeMap<String, PathBuf> {
    let shipped = root().map(|root| root.join("papers"));
    folders_in(
        shipped
            .iter()
            .map(PathBuf::as_path)
            .chain([Path::new("papers")]),
    )
}

/// Where the file `name` that comes with the program lies, such as `examples/first.toml`.
pub fn file(name: &str) -> Option<PathBuf> {
    let (name, _) = FILES.iter().find(|(known, _)| *known == name)?;
    Some(root()?.join(name))
}

/// The text of the file `name` that comes with the program.
pub fn text(name: &str) -> Option<&'static str> {
    let (_, bytes) = FILES.iter().find(|(known, _)| *known == name)?;
    std::str::from_utf8(bytes).ok()
}

/// The templates that are not of the gallery: name, ending and text of each.
pub fn templates() -> Vec<(&'static str, &'static str, &'static str)> {
    let all = FILES.iter().filter_map(|(file, bytes)| {
        let (name, ending) = file.strip_prefix("examples/templates/")?.rsplit_once('.')?;
        Some((name, ending, std::str::from_utf8(bytes).ok()?))
    });
    all.collect()
}

/// The source that this was built from, whose files a developer edits. A program for other
/// machines, which `scripts/release` builds with `TRAMMEL_RELEASE`, knows no folder of its builder.
const SOURCE: Option<&str> = match option_env!("TRAMMEL_RELEASE") {
    None => Some(env!("CARGO_MANIFEST_DIR")),
    Some(_) => None,
};

/// The folder that has `examples` and `papers`.
fn root() -> Option<PathBuf> {
    let source = SOURCE.map(Path::new).into_iter();
    let mut places = source.flat_map(|source| [source.join("../.."), source.to_owned()]);
    let is_whole = |place: &PathBuf| FILES.iter().all(|(name, _)| place.join(name).is_file());
    places
        .find(is_whole)
        .or_else(|| unpack::unpacked(FILES, &unpack::data_folder()?).ok())
}

fn folders_in<'a>(libraries: impl IntoIterator<Item = &'a Path>) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for library in libraries {
        for folder in std::fs::read_dir(library).into_iter().flatten().flatten() {
            let dir = folder.path();
            if dir.join("paper.toml").is_file() {
                let key = folder.file_name().to_string_lossy().into_owned();
                found.entry(key).or_insert(dir);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_user_hides_no_paper_of_the_program() {
        let parent = tempfile::tempdir().unwrap();
        let paper = |library: &str, key: &str| {
            let dir = parent.path().join(library).join(key);
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("paper.toml"), "").unwrap();
            dir
        };
        let own = paper("program", "one");
        let (_, other) = (paper("user", "one"), paper("user", "two"));
        let [program, user] = ["program", "user"].map(|name| parent.path().join(name));
        let found = folders_in([program.as_path(), user.as_path()]);
        assert_eq!((&found["one"], &found["two"]), (&own, &other));
    }

    #[test]
    fn an_example_is_a_file_and_an_unknown_name_is_none() {
        let path = file("examples/first.toml").expect("it comes with the program");
        assert!(path.is_file());
        assert_eq!(file("examples/../Cargo.toml"), None);
    }
}
