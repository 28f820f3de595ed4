//! A congestion control of the user's, compiled for a kernel that was built: a module that its
//! guests load.

use super::error::{Error, Watch, at};
use super::make::Make;
use super::{Built, Wish};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use trammel_io::machine;

/// Compiles `source`, one file of C, for the kernel of `wish`; what was compiled before is found.
pub fn module(
    wish: &Wish,
    built: &Built,
    source: &Path,
    watch: &dyn Watch,
) -> Result<PathBuf, Error> {
    let refused = |why: &str| Error::Source {
        source_path: source.to_owned(),
        why: why.to_owned(),
    };
    let name = source
        .file_stem()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let is_plain = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if source.extension().is_none_or(|end| end != "c") || name.is_empty() || !is_plain(name) {
        return Err(refused(
            "a module is a file of C, called by letters, digits and underscores, such as \
             `tcp_mine.c`",
        ));
    }
    let text = fs::read(source).map_err(at(source))?;
    let mut hash = Sha256::new();
    hash.update(&built.hash);
    hash.update(name);
    hash.update(&text);
    let hash: String = hash.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let folder = wish.cache.join("modules").join(hash);
    let module = folder.join(format!("{name}.ko"));
    if module.exists() {
        return Ok(module);
    }
    let work = wish.work();
    let tree = work.join("tree");
    if !tree.join("linux").exists() {
        return Err(Error::Unsupported {
            what: "the source that the kernel was built from is no longer in the cache".to_owned(),
            mend: "remove the folder of the kernel and run `trammel kernel build` again".to_owned(),
        });
    }
    let lock = work.join("lock");
    let lock_file = File::create(&lock).map_err(at(&lock))?;
    machine::lock(&lock_file, true).map_err(at(&lock))?;
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    let (code, rules) = (folder.join(format!("{name}.c")), folder.join("Makefile"));
    fs::write(&code, text).map_err(at(&code))?;
    fs::write(&rules, format!("obj-m := {name}.o\n")).map_err(at(&rules))?;
    let make = Make {
        tree: &tree,
        log: &folder.join("log"),
        jobs: wish.jobs,
        watch,
    };
    make.begin()?;
    watch.stage("compiling the module");
    if !tree.join("Module.symvers").exists() {
        make.run(&["modules"], None)?;
    }
    make.run(&[&format!("M={}", folder.display()), "modules"], None)?;
    if module.exists() {
        return Ok(module);
    }
    Err(refused("no module came of it"))
}
