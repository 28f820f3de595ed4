//! What comes with the program as data: the folders of papers, and those of the user beside them.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folders of all papers, by key: those that come with the program, and those in `papers` of the current folder.
/// A folder of the user hides no paper of the program's; its path names it.
pub fn folders() -> BTreeMap<String, PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    folders_in([&source, Path::new("papers")])
}

fn folders_in(libraries: [&Path; 2]) -> BTreeMap<String, PathBuf> {
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
        let found = folders_in([&program, &user]);
        assert_eq!((&found["one"], &found["two"]), (&own, &other));
    }
}
