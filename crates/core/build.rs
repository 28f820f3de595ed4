//! Makes a plug-in folder's `mod` lines and its `ALL` table, so that adding an item is adding a file.
//!
//! A plug-in folder is any `src/<family>/` whose `mod.rs` includes `OUT_DIR/<family>.rs`. Every other
//! `.rs` file in it (and every sub-folder with a `mod.rs`) becomes a public module that must export
//! `ENTRY`; `ALL` lists the entries in the order of their file names.

use std::fmt::Write;
use std::{env, fs, path::Path};

fn main() {
    let src = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("src");
    println!("cargo::rerun-if-changed={}", src.display());
    for family in fs::read_dir(&src).expect("src exists").flatten() {
        let (folder, family) = (
            family.path(),
            family.file_name().into_string().expect("utf-8"),
        );
        let marker = format!("\"/{family}.rs\"");
        if !fs::read_to_string(folder.join("mod.rs")).is_ok_and(|text| text.contains(&marker)) {
            continue;
        }
        let mut items: Vec<_> = fs::read_dir(&folder)
            .expect("folder is readable")
            .flatten()
            .map(|entry| entry.path())
            .map(|path| {
                if path.is_dir() {
                    path.join("mod.rs")
                } else {
                    path
                }
            })
            .filter(|path| path.exists() && path.extension().is_some_and(|ext| ext == "rs"))
            .filter(|path| *path != folder.join("mod.rs"))
            .map(|path| {
                let module = if path.ends_with("mod.rs") {
                    path.parent().expect("inside")
                } else {
                    &path
                };
                (
                    module
                        .file_stem()
                        .expect("named")
                        .to_str()
                        .expect("utf-8")
                        .to_owned(),
                    path,
                )
            })
            .collect();
        items.sort();
        let mut code = String::new();
        for (name, path) in &items {
            write!(
                code,
                "#[path = {:?}]\npub mod {name};\n",
                path.display().to_string()
            )
            .expect("a string grows");
        }
        code += "/// Every entry of this folder, in the order of the file names.\n";
        code += "pub static ALL: &[&Entry] = &[";
        for (name, _) in &items {
            write!(code, "&{name}::ENTRY, ").expect("a string grows");
        }
        code += "];\n";
        let out = env::var("OUT_DIR").expect("set by cargo");
        fs::write(Path::new(&out).join(format!("{family}.rs")), code).expect("OUT_DIR is writable");
    }
}
