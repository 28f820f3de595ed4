//! Where a kernel's source comes from: the archive of the distribution's package, or a tree of the
//! user's.

use super::error::{Error, Watch, at};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

/// Where packages of kernel sources are.
const PACKAGES: &str = "/usr/src";
/// The version that results are pinned to, and its package.
const PINNED: &str = "linux-source-6.12";
/// Folders of which User-Mode Linux compiles nothing; their configuration and rules are needed all
/// the same.
const UNUSED: &[&str] = &[
    "Documentation",
    "arch/alpha",
    "arch/arc",
    "arch/arm",
    "arch/arm64",
    "arch/csky",
    "arch/hexagon",
    "arch/loongarch",
    "arch/m68k",
    "arch/microblaze",
    "arch/mips",
    "arch/nios2",
    "arch/openrisc",
    "arch/parisc",
    "arch/powerpc",
    "arch/riscv",
    "arch/s390",
    "arch/sh",
    "arch/sparc",
    "arch/xtensa",
    "drivers/gpu",
    "drivers/infiniband",
    "drivers/media",
    "drivers/net/ethernet",
    "drivers/net/wireless",
    "drivers/scsi",
    "drivers/staging",
    "sound",
    "tools/testing",
];
/// Ends of names that are left out there.
const LEFT_OUT: &[&str] = &[
    "c", "h", "S", "dts", "dtsi", "rst", "yaml", "json", "txt", "svg",
];
/// What tells which archive was unpacked, beside what came of it.
const UNPACKED: &str = "unpacked";
/// The list of what was copied of a tree, beside the copy.
const COPIED: &str = "copied";

/// A kernel's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The archive of a package.
    Package(PathBuf),
    /// A tree, which is only read.
    Tree(PathBuf),
}

impl Source {
    /// The archive of the pinned version's package, or what installs it.
    pub fn pinned() -> Result<Source, Error> {
        let archive = Path::new(PACKAGES).join(format!("{PINNED}.tar.xz"));
        if archive.exists() {
            return Ok(Source::Package(archive));
        }
        Err(Error::Unsupported {
            what: format!(
                "the kernel's source is not installed: there is no `{}`",
                archive.display()
            ),
            mend: format!("as root: apt-get install {PINNED}; or name a source tree"),
        })
    }

    fn path(&self) -> &Path {
        match self {
            Source::Package(path) | Source::Tree(path) => path,
        }
    }

    /// A name for where it is worked on.
    pub(super) fn name(&self) -> String {
        let path = fs::canonicalize(self.path()).unwrap_or_else(|_| self.path().to_owned());
        let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
        let last = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let last = last.trim_end_matches(".tar.xz");
        format!(
            "{last}-{:02x}{:02x}{:02x}{:02x}",
            hash[0], hash[1], hash[2], hash[3]
        )
    }

    /// What changes when the source does: sizes and times of its files.
    pub(super) fn identity(&self) -> Result<String, Error> {
        match self {
            Source::Package(path) => {
                let about = fs::metadata(path).map_err(at(path))?;
                Ok(format!("{} {}", self.name(), stamp(&about)))
            }
            Source::Tree(path) => {
                let mut hash = Sha256::new();
                for (name, stamp) in files(path)? {
                    hash.update(name.as_os_str().as_encoded_bytes());
                    hash.update(stamp);
                }
                Ok(hash
                    .finalize()
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect())
            }
        }
    }

    /// Has the next [`bring`](Source::bring) begin anew in `tree`.
    pub(super) fn forget(&self, tree: &Path) {
        let of = match self {
            Source::Package(_) => UNPACKED,
            Source::Tree(_) => COPIED,
        };
        // Where there is none, there is nothing to forget.
        let _ = fs::remove_file(tree.with_file_name(of));
    }

    /// Brings the source into `tree`, where what was compiled of it before stays.
    pub(super) fn bring(&self, tree: &Path, watch: &dyn Watch) -> Result<(), Error> {
        match self {
            Source::Package(archive) => unpack(archive, tree, watch),
            Source::Tree(from) => {
                watch.stage("copying what has changed");
                copy(from, tree)
            }
        }
    }
}

/// Unpacks an archive, unless that was done.
fn unpack(archive: &Path, tree: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let done = tree.with_file_name(UNPACKED);
    let stamp = stamp(&fs::metadata(archive).map_err(at(archive))?);
    if fs::read_to_string(&done).is_ok_and(|last| last == stamp) {
        return Ok(());
    }
    watch.stage("unpacking");
    let _ = fs::remove_dir_all(tree);
    fs::create_dir_all(tree).map_err(at(tree))?;
    let mut tar = Command::new("tar");
    tar.arg("--extract")
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(tree)
        .arg("--strip-components=1");
    for folder in UNUSED {
        tar.args(
            LEFT_OUT
                .iter()
                .map(|end| format!("--exclude=*/{folder}/*.{end}")),
        );
    }
    let said = tar.output().map_err(at(Path::new("tar")))?;
    if !said.status.success() {
        return Err(Error::Source {
            source_path: archive.to_owned(),
            why: String::from_utf8_lossy(&said.stderr).trim().to_owned(),
        });
    }
    fs::write(&done, stamp).map_err(at(&done))
}

/// Makes `tree` a copy of `from`: files that have changed since the last time are copied, those
/// that are gone removed.
fn copy(from: &Path, tree: &Path) -> Result<(), Error> {
    let list = tree.with_file_name(COPIED);
    let last = fs::read_to_string(&list).unwrap_or_default();
    let mut last: BTreeMap<PathBuf, String> = last
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(stamp, name)| (name.into(), stamp.to_owned()))
        .collect();
    let now = files(from)?;
    if !now.contains_key(Path::new("arch/um/Kconfig")) {
        return Err(Error::Source {
            source_path: from.to_owned(),
            why: "this is no source tree of Linux: it has no `arch/um/Kconfig`".to_owned(),
        });
    }
    // Until all is copied, nothing is known to be.
    let _ = fs::remove_file(&list);
    for (name, stamp) in &now {
        if last.remove(name).as_ref() == Some(stamp) {
            continue;
        }
        let (source, target) = (from.join(name), tree.join(name));
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        let _ = fs::remove_file(&target);
        if source.is_symlink() {
            let to = fs::read_link(&source).map_err(at(&source))?;
            std::os::unix::fs::symlink(to, &target).map_err(at(&target))?;
        } else {
            fs::copy(&source, &target).map_err(at(&target))?;
        }
    }
    for name in last.keys() {
        let _ = fs::remove_file(tree.join(name));
    }
    let lines = now
        .iter()
        .map(|(name, stamp)| format!("{stamp}\t{}\n", name.display()));
    fs::write(&list, lines.collect::<String>()).map_err(at(&list))
}

/// The files of a tree that a build needs, with what tells whether they have changed. What a build
/// in the tree itself has left is none of them.
fn files(tree: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
    let mut all = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = tree.join(&folder);
        let is_unused = UNUSED.iter().any(|unused| folder.starts_with(unused));
        for entry in fs::read_dir(&path).map_err(at(&path))? {
            let entry = entry.map_err(at(&path))?;
            let name = folder.join(entry.file_name());
            let about = match entry.metadata() {
                Ok(about) => about,
                // It went away meanwhile.
                Err(why) if why.kind() == io::ErrorKind::NotFound => continue,
                Err(why) => return Err(at(&path)(why)),
            };
            let is_hidden = folder.as_os_str().is_empty()
                && entry.file_name().as_encoded_bytes().starts_with(b".");
            let end = name
                .extension()
                .and_then(|end| end.to_str())
                .unwrap_or_default();
            if is_hidden
                || matches!(end, "o" | "a" | "ko" | "cmd" | "mod")
                || (is_unused && LEFT_OUT.contains(&end))
            {
                continue;
            }
            if about.is_dir() {
                folders.push(name);
            } else {
                all.insert(name, stamp(&about));
            }
        }
    }
    Ok(all)
}

/// What tells whether a file has changed.
fn stamp(about: &Metadata) -> String {
    let changed = about
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{}.{}", about.len(), changed.unwrap_or_default().as_nanos())
}

/// The version of the tree, from its `Makefile`.
pub(super) fn version(tree: &Path) -> Result<String, Error> {
    let path = tree.join("Makefile");
    let text = fs::read_to_string(&path).map_err(at(&path))?;
    let value = |key: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
        line.map(str::trim).unwrap_or_default().to_owned()
    };
    let parts = ["VERSION", "PATCHLEVEL", "SUBLEVEL"].map(value);
    Ok(format!("{}{}", parts.join("."), value("EXTRAVERSION")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(tree: &Path, name: &str, text: &str) {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder"))
            .expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    #[test]
    fn a_copy_follows_its_tree_and_keeps_what_was_made_in_it() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (from, tree) = (folder.path().join("linux"), folder.path().join("work/tree"));
        write(&from, "arch/um/Kconfig", "config HZ\n");
        write(&from, "net/ipv4/tcp.c", "one");
        write(&from, "net/ipv4/gone.c", "x");
        write(&from, "sound/core/a.c", "unused");
        write(&from, "sound/core/Kconfig", "needed");
        write(&from, "net/ipv4/tcp.o", "compiled");
        copy(&from, &tree).expect("it is copied");
        let has = |name: &str| tree.join(name).exists();
        assert!(has("net/ipv4/tcp.c") && has("sound/core/Kconfig"));
        assert!(!has("sound/core/a.c") && !has("net/ipv4/tcp.o"));
        // What is made and patched in the copy stays as long as the tree's own file does.
        write(&tree, "net/ipv4/tcp.o", "made here");
        write(&tree, "arch/um/Kconfig", "patched");
        fs::remove_file(from.join("net/ipv4/gone.c")).expect("it goes");
        write(&from, "net/ipv4/tcp.c", "another");
        let before = Source::Tree(from.clone())
            .identity()
            .expect("the source tree has an identity");
        copy(&from, &tree).expect("it is copied");
        let read = |name: &str| fs::read_to_string(tree.join(name)).expect("the file exists");
        assert_eq!(
            (read("net/ipv4/tcp.c"), read("arch/um/Kconfig")),
            ("another".into(), "patched".into())
        );
        assert!(has("net/ipv4/tcp.o") && !has("net/ipv4/gone.c"));
        assert_eq!(
            Source::Tree(from.clone())
                .identity()
                .expect("the source tree has an identity"),
            before
        );
        write(&from, "net/ipv4/tcp.c", "a third one");
        assert_ne!(
            Source::Tree(from)
                .identity()
                .expect("the source tree has an identity"),
            before
        );
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let error = copy(folder.path(), &folder.path().join("tree")).expect_err("it is empty");
        assert!(
            error.to_string().contains("no source tree of Linux"),
            "{error}"
        );
    }

    #[test]
    fn the_version_is_the_makefile_s() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        write(
            folder.path(),
            "Makefile",
            "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION = -rc1\n",
        );
        assert_eq!(version(folder.path()).expect("it has one"), "6.12.117-rc1");
    }
}
