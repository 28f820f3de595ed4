//! Embeds the folder `cases`: the table of its files in `OUT_DIR/cases.rs`.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the variable"));
    let mut rows = Vec::new();
    println!("cargo::rerun-if-changed=cases");
    for suite in listed(&root.join("cases")) {
        for file in listed(&suite) {
            let name = file.strip_prefix(root.join("cases")).expect("it is below");
            let name = name.with_extension("");
            rows.push(format!(
                "    ({:?}, include_str!({:?})),\n",
                name.to_str().expect("the name is UTF-8"),
                file.display().to_string()
            ));
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets the variable"));
    let text = format!("&[\n{}]", rows.concat());
    fs::write(out.join("cases.rs"), text).expect("the file can be written");
}

/// What lies in `folder`, by name.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is part of the package");
    let mut all: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}
