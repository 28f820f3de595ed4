#![doc = include_str!("../README.md")]
//!
//! A plug-in folder is any `src/<family>/` whose `mod.rs` includes `OUT_DIR/<family>.rs`. Every
//! other `.rs` file in it, and every sub-folder with a `mod.rs`, becomes a public module that must
//! export `ENTRY`. A sub-folder without one is a group: a module whose files are items in the same
//! way. What the items of a group share lies in the group's folder `shared`, a module without an
//! entry.
//!
//! `ALL` lists the entries in the order of their names, a group's in its place; `DOCS` has the text
//! at the head of each one's file, in the same order. A family whose items are data has `.toml`
//! files instead; their texts become `TEXTS`, by their names.
#![forbid(unsafe_code)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Writes `OUT_DIR/<family>.rs` of every plug-in folder of the crate being built.
///
/// # Panics
/// Outside a build script, or where a source is unreadable.
#[allow(clippy::print_stdout)] // It is how a build script speaks to cargo.
pub fn generate() {
    let src =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets the variable")).join("src");
    println!("cargo::rerun-if-changed={}", src.display());
    for folder in listed(&src) {
        let family = stem(&folder);
        let marker = format!("\"/{family}.rs\"");
        if !fs::read_to_string(folder.join("mod.rs")).is_ok_and(|text| text.contains(&marker)) {
            continue;
        }
        let code = table_of_texts(&folder).unwrap_or_else(|| table_of_entries(&folder));
        let out = env::var("OUT_DIR").expect("cargo sets the variable");
        fs::write(Path::new(&out).join(format!("{family}.rs")), code)
            .expect("the file can be written");
    }
}

/// The `mod` lines of a folder and the table of its entries.
fn table_of_entries(folder: &Path) -> String {
    let (mut code, mut entries, mut docs) = (String::new(), String::new(), String::new());
    for path in listed(folder) {
        add(&path, "", &mut code, &mut entries, &mut docs);
    }
    code += "/// Every entry of this folder, in the order of the file names.\n";
    writeln!(code, "pub static ALL: &[&Entry] = &[{entries}];").expect("a string takes any text");
    code += "/// What the file of each entry says at its head, in the same order.\n";
    writeln!(code, "pub static DOCS: &[&str] = &[{docs}];").expect("a string takes any text");
    code
}

/// The lines `//!` at the head of a file.
fn head(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a listed file can be read");
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.fold(String::new(), |head, line| {
        head + line.strip_prefix(' ').unwrap_or(line) + "\n"
    })
}

/// The table of a folder's texts, where its items are texts.
fn table_of_texts(folder: &Path) -> Option<String> {
    let is_data = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "toml");
    let texts: Vec<_> = listed(folder).into_iter().filter(is_data).collect();
    let row = |path: &PathBuf| {
        let file = path.display().to_string();
        format!("({:?}, include_str!({file:?})), ", stem(path))
    };
    let rows: String = texts.iter().map(row).collect();
    let table = format!(
        "/// The name and the text of every file, in the order of their names.\n\
         pub static TEXTS: &[(&str, &str)] = &[{rows}];\n"
    );
    (!texts.is_empty()).then_some(table)
}

/// Declares what stands at `path` as a module of `parent`, and lists its entries and what their
/// files say.
fn add(path: &Path, parent: &str, code: &mut String, entries: &mut String, docs: &mut String) {
    let name = stem(path);
    let file = if path.is_dir() {
        path.join("mod.rs")
    } else {
        path.to_owned()
    };
    if path.is_dir() && name == "shared" {
        let file = file.display().to_string();
        write!(code, "#[path = {file:?}]\npub(crate) mod shared;\n")
            .expect("a string takes any text");
        return;
    }
    if file.is_file() {
        if name != "mod" && file.extension().is_some_and(|ext| ext == "rs") {
            write!(docs, "{:?}, ", head(&file)).expect("a string takes any text");
            let file = file.display().to_string();
            write!(code, "#[path = {file:?}]\npub mod {name};\n").expect("a string takes any text");
            write!(entries, "&{parent}{name}::ENTRY, ").expect("a string takes any text");
        }
        return;
    }
    let (mut inner, parent) = (String::new(), format!("{parent}{name}::"));
    for path in listed(path) {
        add(&path, &parent, &mut inner, entries, docs);
    }
    if !inner.is_empty() {
        write!(
            code,
            "/// The group `{name}`.\npub mod {name} {{\n{inner}}}\n"
        )
        .expect("a string takes any text");
    }
}

/// What a folder has, by name.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).expect("the folder of plug-ins exists");
    let mut paths: Vec<_> = all.flatten().map(|entry| entry.path()).collect();
    paths.sort_by_key(|path| stem(path));
    paths
}

/// The name of a file or folder without its extension.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().expect("it has a name");
    stem.to_str().expect("the name is UTF-8").to_owned()
}
