//! Embeds the folders `papers` and `examples`, and the pages of `docs` that `trammel explain` looks
//! in: the table of their files in `OUT_DIR/files.rs`.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the variable"));
    let mut files = Vec::new();
    for folder in ["docs", "examples", "papers"] {
        println!("cargo::rerun-if-changed={folder}");
        collect(&root.join(folder), folder, &mut files);
    }
    files.sort();
    let rows: String = files
        .iter()
        .map(|(name, path)| {
            format!(
                "    ({name:?}, include_bytes!({:?})),\n",
                path.display().to_string()
            )
        })
        .collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets the variable"));
    fs::write(out.join("files.rs"), format!("&[\n{rows}]")).expect("the file can be written");
}

/// The files below `folder`, each with its name in the library.
fn collect(folder: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder)
        .expect("the folder is part of the package")
        .flatten()
    {
        let name = format!(
            "{name}/{}",
            entry.file_name().to_str().expect("the name is UTF-8")
        );
        let path = entry.path();
        if path.is_dir() {
            collect(&path, &name, files);
        } else {
            files.push((name, path));
        }
    }
}
