//! The changes that guests need of Linux, in `gpl/` under its licence: which version takes which,
//! and whether a tree does.

use super::error::{Error, at, digest};
use super::make::Make;
use std::fs;
use std::path::Path;

/// A change, in a form for each range of versions whose text around it differs.
#[derive(Debug)]
pub(super) struct Change {
    /// What it does, for whoever has to know that a tree does not take it.
    what: &'static str,
    /// The file that tells whether it is needed or made.
    file: &'static str,
    /// What tells a file that has it.
    done: &'static str,
    /// Whether a file with this text is to be changed, if it is not yet.
    when: When,
    /// Whether there are no guests without it; else it is left out where it does not fit, and a
    /// first boot tells whether that was right.
    is_needed: bool,
    /// Its forms, the oldest version's first.
    forms: &'static [Form],
}

/// What a file's text says about whether it needs a change.
#[derive(Debug)]
enum When {
    Always,
    /// Unless it has this.
    Without(&'static str),
    /// If it has this.
    With(&'static str),
}

/// A change as a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// The first version whose text it was made for.
    since: (u32, u32),
    /// Its file's name in `gpl/`.
    name: &'static str,
    /// Its text.
    pub(super) text: &'static str,
}

macro_rules! form {
    ($major:literal, $minor:literal, $name:literal) => {
        Form {
            since: ($major, $minor),
            name: $name,
            text: include_str!(concat!("../../gpl/", $name)),
        }
    };
}

/// All of them, in the order in which they are made.
pub(super) const CHANGES: [Change; 4] = [
    Change {
        what: "randomness from a seed",
        file: "drivers/char/random.c",
        done: "detrand_on",
        when: When::Always,
        is_needed: true,
        forms: &[
            form!(5, 15, "detrand-5.15.patch"),
            form!(6, 12, "detrand-6.12.patch"),
            form!(6, 16, "detrand-6.16.patch"),
        ],
    },
    Change {
        what: "the randomness of BBR and of queues from the same seed",
        file: "lib/random32.c",
        done: "detrand= seeds it",
        when: When::With("siprand_u32"),
        is_needed: true,
        forms: &[form!(5, 15, "prandom-5.15.patch")],
    },
    Change {
        what: "register areas of any length",
        file: "arch/x86/um/os-Linux/registers.c",
        done: "write_xstate",
        // Linux 6.13 and later have it.
        when: When::Without("host_fp_size"),
        is_needed: false,
        forms: &[
            form!(5, 15, "xstate-5.15.patch"),
            form!(6, 12, "xstate-6.12.patch"),
        ],
    },
    Change {
        what: "netem's losses from a seed",
        file: "net/sched/sch_netem.c",
        done: "TCA_NETEM_PRNG_SEED",
        when: When::Always,
        is_needed: true,
        forms: &[
            form!(5, 15, "netem-5.15.patch"),
            form!(6, 1, "netem-6.1.patch"),
        ],
    },
];
/// Beside a tree: which patches it was given, so that one that has changed since is told from it.
pub(super) const GIVEN: &str = "patches";

/// The text of every form of every change.
pub(super) fn texts() -> impl Iterator<Item = &'static str> {
    forms().map(|form| form.text)
}

fn forms() -> impl Iterator<Item = &'static Form> {
    CHANGES.iter().flat_map(|change| change.forms)
}

/// A form and the digest of its text, as a line of the list.
fn line(form: &Form) -> String {
    format!("{} {}", form.name, digest(form.text))
}

/// Whether `tree` was given other patches than these, so that it has to be brought anew.
pub(super) fn are_stale(tree: &Path) -> bool {
    let given = fs::read_to_string(tree.with_file_name(GIVEN));
    given.is_ok_and(|given| {
        given
            .lines()
            .any(|given| !forms().any(|form| line(form) == given))
    })
}

/// Makes the changes that `tree`, of this version, does not have.
pub(super) fn apply(tree: &Path, version: &str, make: &Make<'_>) -> Result<(), Error> {
    let list = tree.with_file_name(GIVEN);
    let mut given = fs::read_to_string(&list).unwrap_or_default();
    for change in &CHANGES {
        let path = tree.join(change.file);
        let text = fs::read_to_string(&path).map_err(at(&path))?;
        if !change.is_wanted_by(&text) {
            continue;
        }
        let Some(form) = change.fitting(version, make)? else {
            if change.is_needed {
                return Err(Error::Source {
                    source_path: path,
                    why: format!(
                        "guests need {}, and none of this program's patches for it fits Linux \
                         {version} ({}); the log has what failed: {}",
                        change.what,
                        names(change.forms),
                        make.log.display()
                    ),
                });
            }
            let what = format!(
                "Linux {version} takes no patch for {} ({}): it is left out",
                change.what,
                names(change.forms)
            );
            make.watch.stage(&what);
            continue;
        };
        patch(form, make, false)?;
        // Told as soon as it is made: a build that is interrupted goes on with the rest.
        let line = line(form);
        if !given.lines().any(|other| other == line) {
            given += &line;
            given.push('\n');
            fs::write(&list, &given).map_err(at(&list))?;
        }
    }
    Ok(())
}

fn names(forms: &[Form]) -> String {
    let names: Vec<String> = forms
        .iter()
        .map(|form| format!("`{}`", form.name))
        .collect();
    names.join(", ")
}

/// Tries a patch or makes it; every line of the text around it has to be the file's.
fn patch(form: &Form, make: &Make<'_>, is_trial: bool) -> Result<(), Error> {
    let file = make.log.with_file_name(form.name);
    fs::write(&file, form.text).map_err(at(&file))?;
    let file = file.to_string_lossy();
    let mut args = vec!["-p1", "--forward", "--fuzz=0", "-i", &*file];
    if is_trial {
        args.push("--dry-run");
    }
    make.command("patch", &args)
}

impl Change {
    /// Whether a file with this text is to be changed.
    fn is_wanted_by(&self, text: &str) -> bool {
        let is_needed = match self.when {
            When::Always => true,
            When::Without(word) => !text.contains(word),
            When::With(word) => text.contains(word),
        };
        is_needed && !text.contains(self.done)
    }

    /// Its forms in the order in which a version tries them: its own, then the others, as
    /// long-term versions and distributions take over what was written for later ones.
    fn order(&self, version: &str) -> impl Iterator<Item = &'static Form> + use<> {
        let mut parts = version.split(['.', '-']);
        let mut part = || parts.next().and_then(|part| part.parse().ok());
        let version = (part().unwrap_or(0), part().unwrap_or(0));
        let (of_it, later): (Vec<_>, Vec<_>) =
            self.forms.iter().partition(|form| form.since <= version);
        of_it.into_iter().rev().chain(later)
    }

    /// The first form that fits.
    fn fitting(&self, version: &str, make: &Make<'_>) -> Result<Option<&'static Form>, Error> {
        for form in self.order(version) {
            match patch(form, make, true) {
                Ok(()) => return Ok(Some(form)),
                Err(Error::Step { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Watch;
    use std::cell::RefCell;

    #[test]
    fn a_change_is_made_once_and_not_where_a_kernel_does_without_it() {
        let [random, prandom, xstate, netem] = &CHANGES;
        assert!(xstate.is_wanted_by("static int have_xstate_support;"));
        assert!(!xstate.is_wanted_by("static int write_xstate(int pid)"));
        // Linux 6.13 and later.
        assert!(!xstate.is_wanted_by("\tiov.iov_len = host_fp_size;"));
        // Linux 6.1 and later have one source of randomness, and 6.6 a netem with a seed.
        assert!(prandom.is_wanted_by("\tu32 res = siprand_u32(state);"));
        assert!(!prandom.is_wanted_by("u32 prandom_u32_state(struct rnd_state *state)"));
        assert!(!netem.is_wanted_by("\t[TCA_NETEM_PRNG_SEED]\t= { .type = NLA_U64 },"));
        assert!(random.is_wanted_by("static void _get_random_bytes("));
    }

    #[test]
    fn every_patch_makes_its_change_known_and_has_its_licence() {
        for change in &CHANGES {
            for form in change.forms {
                let added = form.text.lines().filter(|line| line.starts_with('+'));
                let added = added.collect::<Vec<_>>().join("\n");
                assert!(added.contains(change.done), "{}", form.name);
                assert!(!change.is_wanted_by(&added), "{}", form.name);
                let target = format!("+++ b/{}\n", change.file);
                assert!(form.text.contains(&target), "{}", form.name);
                assert!(
                    form.text
                        .starts_with("SPDX-License-Identifier: GPL-2.0-only\n"),
                    "{}",
                    form.name
                );
            }
            assert!(change.forms.is_sorted_by_key(|form| form.since));
        }
    }

    #[test]
    fn a_version_tries_its_own_patch_first_and_then_every_other() {
        let [random, _, _, netem] = &CHANGES;
        let order = |change: &'static Change, version| {
            let names: Vec<_> = change
                .order(version)
                .map(|form| form.name.trim_end_matches(".patch"))
                .collect();
            names.join(" ")
        };
        assert_eq!(
            order(random, "5.15.72"),
            "detrand-5.15 detrand-6.12 detrand-6.16"
        );
        assert_eq!(
            order(random, "6.6.57"),
            "detrand-5.15 detrand-6.12 detrand-6.16"
        );
        assert_eq!(
            order(random, "6.12.117"),
            "detrand-6.12 detrand-5.15 detrand-6.16"
        );
        assert_eq!(
            order(random, "6.16-rc1"),
            "detrand-6.16 detrand-6.12 detrand-5.15"
        );
        assert_eq!(
            order(random, "7.1.5"),
            "detrand-6.16 detrand-6.12 detrand-5.15"
        );
        assert_eq!(order(netem, "6.1.0"), "netem-6.1 netem-5.15");
    }

    #[test]
    fn a_tree_with_an_older_patch_is_brought_anew() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = folder.path().join("tree");
        // Of a version that kept no list.
        assert!(!are_stale(&tree));
        let all: String = forms().map(|form| line(form) + "\n").collect();
        fs::write(folder.path().join(GIVEN), all).expect("the file can be written");
        assert!(!are_stale(&tree));
        fs::write(folder.path().join(GIVEN), "xstate.patch 0123\n")
            .expect("the file can be written");
        assert!(are_stale(&tree));
    }

    /// A watch that keeps what it is told.
    #[derive(Default)]
    struct Told(RefCell<Vec<String>>);
    impl Watch for Told {
        fn stage(&self, what: &str) {
            self.0.borrow_mut().push(what.to_owned());
        }
    }

    /// The files of a tree whose text is just what a patch's hunks expect.
    fn tree_for(folder: &Path, forms: &[&str]) {
        for change in &CHANGES {
            let form = change.forms.iter().find(|form| forms.contains(&form.name));
            let text = form.map_or("", |form| form.text);
            let mut file: Option<std::path::PathBuf> = None;
            let mut out = String::new();
            for line in text.lines().chain(["--- a/"]) {
                if let Some(name) = line.strip_prefix("--- a/") {
                    if let Some(file) = file.take() {
                        fs::create_dir_all(file.parent().expect("it is in a folder"))
                            .expect("the folder can be made");
                        fs::write(file, std::mem::take(&mut out)).expect("it can be written");
                    }
                    out.clear();
                    if !name.is_empty() {
                        file = Some(folder.join(name));
                    }
                } else if let Some(kept) = line.strip_prefix([' ', '-']) {
                    out += kept;
                    out.push('\n');
                }
            }
            // A file that needs no change.
            let own = folder.join(change.file);
            if form.is_none() {
                fs::create_dir_all(own.parent().expect("it is in a folder"))
                    .expect("the folder can be made");
                fs::write(own, format!("{} host_fp_size\n", change.done))
                    .expect("it can be written");
            }
        }
    }

    fn applied(version: &str, forms: &[&str]) -> (Result<(), Error>, String, Vec<String>) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = folder.path().join("tree");
        tree_for(&tree, forms);
        let (told, log) = (Told::default(), folder.path().join("log"));
        let make = Make {
            tree: &tree,
            log: &log,
            jobs: 1,
            watch: &told,
        };
        let came = apply(&tree, version, &make);
        if came.is_ok() {
            apply(&tree, version, &make).expect("twice is once");
            for change in &CHANGES {
                let text = fs::read_to_string(tree.join(change.file)).expect("it is there");
                assert!(!change.is_wanted_by(&text) || !change.is_needed);
            }
        }
        let list = fs::read_to_string(folder.path().join(GIVEN)).unwrap_or_default();
        let list = list.lines().filter_map(|line| line.split(' ').next());
        let list = list.collect::<Vec<_>>().join(" ");
        (came, list, told.0.into_inner())
    }

    #[test]
    fn a_tree_is_given_what_fits_it() {
        let old = [
            "detrand-5.15.patch",
            "prandom-5.15.patch",
            "xstate-5.15.patch",
            "netem-5.15.patch",
        ];
        let (came, list, told) = applied("5.15.72", &old);
        came.expect("it fits");
        assert_eq!((list, told), (old.join(" "), vec![]));
        // A later version's text in an older tree.
        let (came, list, _) = applied("5.15.200", &["detrand-6.12.patch"]);
        came.expect("it fits");
        assert_eq!(list, "detrand-6.12.patch");
        let (came, list, _) = applied("7.1.5", &["detrand-6.16.patch"]);
        came.expect("it fits");
        assert_eq!(list, "detrand-6.16.patch");
    }

    #[test]
    fn a_tree_that_takes_none_is_refused_or_told() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = folder.path().join("tree");
        tree_for(&tree, &["detrand-6.16.patch"]);
        let told = Told::default();
        let log = folder.path().join("log");
        let make = Make {
            tree: &tree,
            log: &log,
            jobs: 1,
            watch: &told,
        };
        fs::write(tree.join(CHANGES[2].file), "neither\n").expect("it can be written");
        apply(&tree, "9.0.0", &make).expect("that one may be left out");
        assert_eq!(
            told.0.borrow().as_slice(),
            [
                "Linux 9.0.0 takes no patch for register areas of any length \
                 (`xstate-5.15.patch`, `xstate-6.12.patch`): it is left out"
            ]
        );
        fs::write(tree.join(CHANGES[0].file), "neither\n").expect("it can be written");
        let why = apply(&tree, "9.0.0", &make).expect_err("it is needed");
        let why = why.to_string();
        assert!(
            why.contains("random.c`: guests need randomness from a seed, and none")
                && why.contains("fits Linux 9.0.0 (`detrand-5.15.patch`, "),
            "{why}"
        );
    }
}
