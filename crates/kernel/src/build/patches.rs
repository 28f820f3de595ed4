//! The changes that guests need of Linux, in `gpl/` under its licence, and whether a tree takes
//! them.

use super::error::{Error, at, digest};
use super::make::Make;
use std::fs;
use std::path::Path;

/// A change of one of Linux's files.
#[derive(Debug)]
pub(super) struct Patch {
    /// Its file's name in `gpl/`.
    name: &'static str,
    /// Its text.
    pub(super) text: &'static str,
    /// The file that it changes.
    file: &'static str,
    /// What tells a file that has it.
    done: &'static str,
    /// What tells a file of a kernel that does without it.
    unneeded: Option<&'static str>,
    /// Whether there are no guests without it; else it is left out where it does not fit, and a
    /// first boot tells whether that was right.
    is_needed: bool,
}

/// All of them, in the order in which they are made.
pub(super) const PATCHES: [Patch; 2] = [
    Patch {
        name: "detrand.patch",
        text: include_str!("../../gpl/detrand.patch"),
        file: "drivers/char/random.c",
        done: "detrand_on",
        unneeded: None,
        is_needed: true,
    },
    Patch {
        name: "xstate.patch",
        text: include_str!("../../gpl/xstate.patch"),
        file: "arch/x86/um/os-Linux/registers.c",
        done: "write_xstate",
        unneeded: Some("host_fp_size"),
        is_needed: false,
    },
];
/// Beside a tree: which patches it was given, so that one that has changed since is told from it.
const GIVEN: &str = "patches";

/// The digests of all patches, a line each.
fn digests() -> String {
    PATCHES
        .iter()
        .map(|patch| format!("{} {}\n", patch.name, digest(patch.text)))
        .collect()
}

/// Whether `tree` was given other patches than these, so that it has to be brought anew.
pub(super) fn are_stale(tree: &Path) -> bool {
    let given = fs::read_to_string(tree.with_file_name(GIVEN));
    given.is_ok_and(|given| {
        let now = digests();
        given
            .lines()
            .any(|line| !now.lines().any(|other| other == line))
    })
}

/// Makes the changes that `tree` does not have.
pub(super) fn apply(tree: &Path, make: &Make<'_>) -> Result<(), Error> {
    for patch in &PATCHES {
        let path = tree.join(patch.file);
        let text = fs::read_to_string(&path).map_err(at(&path))?;
        if !patch.is_wanted_by(&text) {
            continue;
        }
        let file = make.log.with_file_name(patch.name);
        fs::write(&file, patch.text).map_err(at(&file))?;
        let file = file.to_string_lossy();
        let tried = make.command("patch", &["-p1", "--forward", "--dry-run", "-i", &*file]);
        match tried {
            Err(Error::Step { .. }) if !patch.is_needed => {
                let what = format!(
                    "`{}` does not fit this kernel's {} and is left out",
                    patch.name, patch.file
                );
                make.watch.stage(&what);
                continue;
            }
            tried => tried?,
        }
        make.command("patch", &["-p1", "--forward", "-i", &*file])?;
    }
    let given = tree.with_file_name(GIVEN);
    fs::write(&given, digests()).map_err(at(&given))
}

impl Patch {
    /// Whether a file with this text is to be changed.
    fn is_wanted_by(&self, text: &str) -> bool {
        !text.contains(self.done) && !self.unneeded.is_some_and(|word| text.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_made_once_and_not_where_a_kernel_does_without_it() {
        let [_, xstate] = &PATCHES;
        assert!(xstate.is_wanted_by("static int have_xstate_support;"));
        assert!(!xstate.is_wanted_by("static int write_xstate(int pid)"));
        // Linux 6.13 and later.
        assert!(!xstate.is_wanted_by("\tiov.iov_len = host_fp_size;"));
    }

    #[test]
    fn a_tree_with_an_older_patch_is_brought_anew() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = folder.path().join("tree");
        // Of a version that kept no list.
        assert!(!are_stale(&tree));
        fs::write(folder.path().join(GIVEN), digests()).expect("the file can be written");
        assert!(!are_stale(&tree));
        fs::write(folder.path().join(GIVEN), "xstate.patch 0123\n")
            .expect("the file can be written");
        assert!(are_stale(&tree));
    }
}
