//! A public function or constant is there for somebody: another crate, a test, an example or a
//! reader of the documentation. One that only its own crate uses is `pub(crate)`, and one that
//! nobody uses is gone.
//!
//! The test reads words, so a name that another crate has for something else counts as used. Types
//! and traits are left out: they are public where a public signature names them, which the compiler
//! checks.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What is public though nothing here uses it, by the beginning of `file:name`, and for whom.
const KEPT: &[(&str, &str)] = &[
    (
        "crates/router/src/",
        "the engine's services for elements, which others may write",
    ),
    (
        "crates/tcp/src/tp.rs:",
        "Linux's helpers for congestion controls, which others may write",
    ),
    (
        "crates/tcp/src/timer.rs:",
        "the clock of congestion controls, which others may write",
    ),
    (
        "crates/tcp/src/models/",
        "the parts of formulas, to compare with the papers",
    ),
    (
        "crates/packet/src/headers/",
        "the values of header fields, complete as their RFCs list them",
    ),
    (
        "crates/packet/src/capture/link.rs:",
        "link types, complete as captures have them",
    ),
    (
        "crates/cost/src/device_profile.rs:all_shipped",
        "the list of profiles, for pickers",
    ),
    (
        "crates/io/src/machine.rs:stream_pair",
        "sockets for tests of those who use the crate",
    ),
    (
        "crates/netsim/src/apps/mod.rs:",
        "what an application may ask and do, which others may write",
    ),
    (
        "crates/netsim/src/network/middleboxes.rs:not_let_out",
        "a network's state, for audits",
    ),
    (
        "crates/netsim/src/wifi/",
        "the parts of the model of 802.11, to compare with papers",
    ),
    (
        "crates/stats/src/histogram.rs:fraction_at_most",
        "the inverse of a quantile",
    ),
    (
        "crates/traffic/src/signal/link/mod.rs:",
        "the limits of a request, for those who make one",
    ),
];

/// This file: a name in its table is no use of it.
const THIS: &str = "public_items.rs";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below `folder` whose names end so, as (path from the root, text).
fn files(folder: &Path, into: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap_or_default();
        if path.is_dir() {
            if !["target", "corpus", "artifacts"].contains(&name.as_str()) {
                files(&path, into);
            }
        } else if (path.extension().is_some_and(|end| end == "rs") && name != THIS)
            || name == "README.md"
        {
            let text = fs::read_to_string(&path).expect("a file of the repository is text");
            let path = path.strip_prefix(root()).expect("it is below the root");
            into.insert(path.to_string_lossy().into_owned(), text);
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

/// Names that documentation links to: `` [`name`] `` and `](name)`.
fn linked(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("[`").skip(1).chain(text.split("](").skip(1));
    links.filter_map(|rest| {
        let link = rest.split(['`', ')', '(']).next()?;
        link.rsplit("::").next()
    })
}

/// The crate of a file, and whether the file is of its sources.
fn place(path: &str) -> Option<(&str, bool)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    Some((name, rest.starts_with("src/")))
}

/// The name of the public function, constant or static that a line declares.
fn declared(line: &str) -> Option<&str> {
    let mut rest = line.trim_start().strip_prefix("pub ")?;
    for qualifier in [
        "const fn ",
        "unsafe fn ",
        "async fn ",
        "fn ",
        "const ",
        "static ",
    ] {
        if let Some(name) = rest.strip_prefix(qualifier) {
            rest = name;
            // A macro's own variable is no name.
            return words(rest).next().filter(|_| !rest.starts_with('$'));
        }
    }
    None
}

#[test]
fn public_items_have_a_user() {
    let mut all = BTreeMap::new();
    files(&root().join("crates"), &mut all);
    files(&root().join("fuzz"), &mut all);
    // In which places a word stands: the sources of a crate, or anything else.
    let mut seen: BTreeMap<&str, HashSet<Option<&str>>> = BTreeMap::new();
    let mut links: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (path, text) in &all {
        let of = place(path);
        let source = of.filter(|(_, is_source)| *is_source).map(|(name, _)| name);
        for word in words(text) {
            seen.entry(word).or_default().insert(source);
        }
        if let Some(name) = source {
            links.extend(linked(text).map(|link| (name, link)));
        }
    }
    let mut kept: BTreeSet<&str> = BTreeSet::new();
    let mut lonely = Vec::new();
    for (path, text) in &all {
        let Some((name, true)) = place(path) else {
            continue;
        };
        // Unit tests come last in a file.
        let text = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        for item in text.lines().filter_map(declared) {
            let elsewhere = seen[item].iter().any(|place| *place != Some(name));
            if elsewhere || links.contains(&(name, item)) {
                continue;
            }
            let full = format!("{path}:{item}");
            match KEPT.iter().find(|(start, _)| full.starts_with(start)) {
                Some((start, _)) => _ = kept.insert(start),
                None => lonely.push(full),
            }
        }
    }
    assert!(
        lonely.is_empty(),
        "only their own crates use these: make them `pub(crate)`, or give a reason in `KEPT`:\n{}",
        lonely.join("\n")
    );
    let idle: Vec<_> = KEPT
        .iter()
        .filter(|(start, _)| !kept.contains(start))
        .collect();
    assert!(
        idle.is_empty(),
        "nothing is kept by these any more: {idle:?}"
    );
}

#[test]
fn declarations_and_links_are_read() {
    assert_eq!(
        declared("    pub const fn as_ps(self) -> u64 {"),
        Some("as_ps")
    );
    assert_eq!(declared("pub const MOST: usize = 1;"), Some("MOST"));
    assert_eq!(declared("pub(crate) fn inner() {}"), None);
    assert_eq!(declared("pub struct Time(u64);"), None);
    let text = "see [`Time::MAX`], [`run()`] and [there](super::here)";
    assert_eq!(linked(text).collect::<Vec<_>>(), ["MAX", "run", "here"]);
}
