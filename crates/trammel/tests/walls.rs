//! The walls inside the crates, read from the `use` declarations and paths of their sources.
//!
//! At most three files import from one another in a circle, folders of a crate never do, and no
//! crate is most of the code. Re-exports are followed to the file that defines a name. What is
//! compiled for tests only is left out, and so are declarations that only re-export.

#[path = "walls/imports.rs"]
mod imports;
#[path = "walls/tokens.rs"]
mod tokens;

use imports::{Imports, Module, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files in a circle of imports, at most.
const MOST_FILES: usize = 3;

/// The share of all lines that one crate may have, in per cent.
const MOST_PERCENT: f64 = 12.0;

/// Its elements are plug-ins of one file each.
const PLUG_INS: &str = "router";

/// The folders of all crates.
fn crates() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = fs::read_dir(all).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("an entry of a folder").path());
    let mut found: Vec<_> = paths.filter(|path| path.join("src").is_dir()).collect();
    found.sort();
    assert!(found.len() > 20, "too few crates: {found:?}");
    found
}

fn name(folder: &Path) -> String {
    folder
        .file_name()
        .expect("a crate's name")
        .to_string_lossy()
        .into_owned()
}

/// A graph: what ties each node to others.
type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The graph of `imports` between what `node` says of each file; what is of no node is left out.
fn graph(sources: &Sources, imports: &Imports, node: impl Fn(&str) -> Option<String>) -> Graph {
    let node_of = |module: &Module| node(&sources.get(module)?.0);
    let mut graph = Graph::new();
    for (from, ties) in imports {
        for (to, names) in ties {
            if let (Some(from), Some(to)) = (node_of(from), node_of(to))
                && from != to
            {
                let all = graph.entry(from).or_default().entry(to).or_default();
                all.extend(names.iter().cloned());
            }
        }
    }
    graph
}

/// The nodes that can be reached from `from`.
fn reached<'a>(graph: &'a Graph, from: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(node) = open.pop() {
        for next in graph.get(node).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    found
}

/// Sets of nodes of which each can be reached from each other.
fn circles(graph: &Graph) -> BTreeSet<BTreeSet<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = (graph.keys())
        .map(|node| (node.as_str(), reached(graph, node)))
        .collect();
    let mut circles = BTreeSet::new();
    for (node, from) in &reached {
        let is_back = |other: &&str| reached.get(other).is_some_and(|of| of.contains(node));
        let circle: BTreeSet<&str> = from.iter().copied().filter(is_back).collect();
        circles.extend((!circle.is_empty()).then_some(circle));
    }
    circles
}

/// The nodes of a circle with what ties them.
fn shown(graph: &Graph, circle: &BTreeSet<&str>) -> String {
    let mut text = format!("{} in a circle", circle.len());
    for from in circle {
        for (to, names) in graph[*from]
            .iter()
            .filter(|(to, _)| circle.contains(to.as_str()))
        {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            text += &format!("\n    {from} imports from {to}: {}", names.join(", "));
        }
    }
    text
}

/// Fails if a crate has a circle of more than `most` nodes.
fn assert_no_circle(most: usize, node: impl Fn(&str) -> Option<String>) {
    let mut faults = Vec::new();
    for folder in crates() {
        let sources = imports::sources(&folder.join("src"));
        let graph = graph(&sources, &imports::imports(&sources), &node);
        let circles = circles(&graph).into_iter();
        let long = circles.filter(|circle| circle.len() > most);
        let name = name(&folder);
        faults.extend(long.map(|circle| format!("{name}: {}", shown(&graph, &circle))));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The folder directly below `src` that a file is in; files beside the root are in none.
fn folder_of(file: &str) -> Option<String> {
    file.split_once('/').map(|(folder, _)| folder.to_owned())
}

#[test]
fn no_circle_of_files_is_longer_than_three() {
    assert_no_circle(MOST_FILES, |file| Some(file.to_owned()));
}

#[test]
fn folders_of_a_crate_import_one_way() {
    assert_no_circle(1, folder_of);
}

/// Lines of Rust in `folder` and below.
fn lines(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let count = |path: PathBuf| {
        if path.is_dir() {
            let is_build = path.file_name().is_some_and(|name| name == "target");
            return if is_build { 0 } else { lines(&path) };
        }
        match path.extension() {
            Some(kind) if kind == "rs" => fs::read_to_string(&path)
                .expect("the file exists")
                .lines()
                .count(),
            _ => 0,
        }
    };
    entries
        .map(|entry| count(entry.expect("an entry of a folder").path()))
        .sum()
}

#[test]
fn no_crate_is_most_of_the_code() {
    let sizes: Vec<_> = crates()
        .iter()
        .map(|crate_| (name(crate_), lines(crate_)))
        .collect();
    let all: usize = sizes.iter().map(|(_, lines)| lines).sum();
    for (name, lines) in sizes.iter().filter(|(name, _)| name != PLUG_INS) {
        let percent = 100.0 * *lines as f64 / all as f64;
        assert!(
            percent <= MOST_PERCENT,
            "{name}: {lines} of {all} lines are {percent:.1} %"
        );
    }
}

/// A crate of these files.
fn sources_of(files: &[(&str, &str)]) -> Sources {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (file, text) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().expect("a file's folder"))
            .expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }
    imports::sources(folder.path())
}

fn circle_of(files: &[(&str, &str)]) -> Vec<String> {
    let sources = sources_of(files);
    let graph = graph(&sources, &imports::imports(&sources), |file| {
        Some(file.to_owned())
    });
    circles(&graph)
        .iter()
        .map(|circle| shown(&graph, circle))
        .collect()
}

#[test]
fn a_circle_is_found_through_re_exports_modules_and_paths() {
    let found = circle_of(&[
        (
            "lib.rs",
            "mod a; mod b; mod c; pub use c::{Deep as Shallow, Other};",
        ),
        (
            "a.rs",
            "use crate::{Shallow, b::{self, One as Two}};\nfn f() { b::go(\"//\") }",
        ),
        (
            "b.rs",
            "fn go() { let c = '\"'; super::c::inner::run::<u8>() }",
        ),
        ("c/mod.rs", "pub(crate) mod inner; pub use inner::Deep;"),
        (
            "c/inner.rs",
            "pub struct Deep; fn run() { crate::a::f() } // use crate::nothing;",
        ),
    ]);
    let wanted = "3 in a circle\n    a.rs imports from b.rs: One, go\n    \
                  a.rs imports from c/inner.rs: Deep\n    b.rs imports from c/inner.rs: run\n    \
                  c/inner.rs imports from a.rs: f";
    assert_eq!(found, [wanted]);
}

#[test]
fn tests_comments_and_texts_tie_nothing() {
    let found = circle_of(&[
        (
            "lib.rs",
            "mod a; #[cfg(test)] mod fakes; #[cfg(test)] use a::B; fn root() {}",
        ),
        (
            "a.rs",
            "use super::root; /* use crate::fakes::F; */ const T: &str = r#\"\"crate::b::x\"#;",
        ),
        (
            "b.rs",
            "use crate::a::T; #[cfg(test)] mod tests { use crate::fakes::F; }",
        ),
        ("fakes.rs", "use crate::b::X; use crate::a::T;"),
        ("a/tests.rs", "use crate::b::X;"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}
