//! The rules of dependence between the crates of this workspace, read from cargo.
//!
//! Each crate enforces one rule. The pure ones have no I/O, no clock and no threads of their own,
//! neither in their sources nor by what they depend on, so that a simulation cannot depend on its
//! machine.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate, our crates that it may use, and the crates of others that it may use.
type Rule = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// A new crate of the workspace needs a row; what a row lacks is not used.
const RULES: &[Rule] = &[
    ("trammel-plugins", &[], &[]),
    (
        "trammel-core",
        &[],
        &["rand_xoshiro", "strsim", "thiserror"],
    ),
    ("trammel-queues", &["trammel-core"], &[]),
    (
        "trammel-stats",
        &["trammel-core"],
        &[
            "csv",
            "hdrhistogram",
            "rand_distr",
            "serde_json",
            "statrs",
            "thiserror",
        ],
    ),
    ("trammel-tcp", &["trammel-core"], &["thiserror"]),
    (
        "trammel-netsim",
        &[
            "trammel-core",
            "trammel-queues",
            "trammel-stats",
            "trammel-packet",
            "trammel-tcp",
        ],
        &["statrs", "thiserror"],
    ),
    (
        "trammel-cost",
        &["trammel-core"],
        &["thiserror", "toml_edit"],
    ),
    (
        // The machine comes as a `Device` and a `Clock`: `trammel-io` is for its tests and its
        // example.
        "trammel-peer",
        &[
            "trammel-core",
            "trammel-queues",
            "trammel-tcp",
            "trammel-packet",
            "trammel-io",
        ],
        &["thiserror"],
    ),
    (
        "trammel-bench",
        &["trammel-core", "trammel-stats"],
        &["thiserror"],
    ),
    (
        "trammel-packetdrill",
        &["trammel-core", "trammel-tcp"],
        &["thiserror"],
    ),
    (
        "trammel-netfpga",
        &["trammel-core", "trammel-stats"],
        &["thiserror"],
    ),
    (
        "trammel-control",
        &["trammel-core", "trammel-packet"],
        &["serde_json", "thiserror"],
    ),
    ("trammel-packet", &[], &["flate2", "thiserror", "zerocopy"]),
    (
        "trammel-router",
        &[
            "trammel-core",
            "trammel-queues",
            "trammel-stats",
            "trammel-packet",
            "trammel-cost",
        ],
        &["jiff", "strsim", "thiserror"],
    ),
    (
        "trammel-io",
        &["trammel-packet"],
        &["libc", "rustix", "serde", "thiserror"],
    ),
    (
        "trammel-kernel",
        &["trammel-io"],
        &["base64", "serde", "serde_json", "sha2", "thiserror"],
    ),
    (
        "trammel-traffic",
        &[
            "trammel-core",
            "trammel-stats",
            "trammel-packet",
            "trammel-io",
        ],
        &["crc32c", "hmac", "sha2", "thiserror"],
    ),
    (
        // What every command stands on; it knows no subject.
        "trammel-ground",
        &[],
        &[
            "anyhow",
            "console",
            "indicatif",
            "jiff",
            "sha2",
            "tempfile",
            "thiserror",
        ],
    ),
    (
        // Data that comes with the program.
        "trammel-library",
        &[],
        &[],
    ),
    (
        // Tables to answers; it knows no engine.
        "trammel-report",
        &[
            "trammel-core",
            "trammel-ground",
            "trammel-io",
            "trammel-local-http",
            "trammel-stats",
        ],
        &[
            "anyhow",
            "csv",
            "object_store",
            "parquet",
            "plotters-backend",
            "plotters-svg",
            "serde",
            "serde_json",
            "tempfile",
            "thiserror",
            "tokio",
            "url",
        ],
    ),
    (
        // One configuration, in memory; the devices of Linux are for its virtual Ethernet.
        "trammel-workbench",
        &[
            "trammel-bench",
            "trammel-control",
            "trammel-core",
            "trammel-cost",
            "trammel-ground",
            "trammel-io",
            "trammel-netfpga",
            "trammel-netsim",
            "trammel-packet",
            "trammel-router",
            "trammel-stats",
            "trammel-tcp",
            "trammel-traffic",
        ],
        &["anyhow", "tempfile", "thiserror", "toml_edit"],
    ),
    (
        // Paths and runs in the words of other programs; tables in, text out.
        "trammel-exports",
        &["trammel-core", "trammel-scenario", "trammel-stats"],
        &["flate2", "serde_json"],
    ),
    (
        // Metrics as text, and a server of them; what is counted is given.
        "trammel-openmetrics",
        &["trammel-local-http"],
        &[],
    ),
    (
        // HTTP for the user of this machine; what is answered is given.
        "trammel-local-http",
        &["trammel-io"],
        &[],
    ),
    (
        // A configuration on the devices of this machine.
        "trammel-driver",
        &[
            "trammel-ground",
            "trammel-io",
            "trammel-local-http",
            "trammel-openmetrics",
            "trammel-packet",
            "trammel-router",
            "trammel-traffic",
            "trammel-workbench",
        ],
        &["anyhow", "clap", "serde_json", "tempfile"],
    ),
    (
        // Congestion controls from shared objects, by a C interface.
        "trammel-foreign",
        &["trammel-core", "trammel-ground", "trammel-tcp"],
        &["libloading", "tempfile", "thiserror"],
    ),
    (
        // The control software of a router; frames and instants go in and come out.
        "trammel-control",
        &["trammel-core", "trammel-packet"],
        &["serde_json", "thiserror"],
    ),
    (
        // The NetFPGA reference designs on the interfaces of this machine.
        "trammel-card",
        &[
            "trammel-control",
            "trammel-core",
            "trammel-io",
            "trammel-local-http",
            "trammel-netfpga",
            "trammel-packet",
        ],
        &["serde_json", "thiserror"],
    ),
    (
        // Descriptions of all subjects; it runs none.
        "trammel-scenario",
        &[
            "trammel-bench",
            "trammel-card",
            "trammel-control",
            "trammel-core",
            "trammel-cost",
            "trammel-ground",
            "trammel-netfpga",
            "trammel-netsim",
            "trammel-queues",
            "trammel-router",
            "trammel-stats",
            "trammel-tcp",
            "trammel-traffic",
            "trammel-workbench",
        ],
        &[
            "annotate-snippets",
            "anyhow",
            "serde_json",
            "thiserror",
            "toml_edit",
        ],
    ),
    (
        "trammel-transport",
        &[
            "trammel-core",
            "trammel-driver",
            "trammel-foreign",
            "trammel-ground",
            "trammel-io",
            "trammel-kernel",
            "trammel-netfpga",
            "trammel-netsim",
            "trammel-packet",
            "trammel-queues",
            "trammel-qlog",
            "trammel-report",
            "trammel-router",
            "trammel-scenario",
            "trammel-stats",
            "trammel-tcp",
            "trammel-workbench",
        ],
        &[
            "anyhow",
            "rayon",
            "serde",
            "serde_json",
            "tempfile",
            "toml_edit",
        ],
    ),
    (
        "trammel-forwarding",
        &[
            "trammel-bench",
            "trammel-core",
            "trammel-cost",
            "trammel-ground",
            "trammel-io",
            "trammel-library",
            "trammel-netfpga",
            "trammel-packet",
            "trammel-report",
            "trammel-router",
            "trammel-scenario",
            "trammel-stats",
            "trammel-testbeds",
            "trammel-traffic",
            "trammel-workbench",
        ],
        &["anyhow", "rayon", "serde_json"],
    ),
    (
        // Routers in virtual time, and on Linux live; a card's registers are those of both.
        "trammel-routing",
        &[
            "trammel-card",
            "trammel-control",
            "trammel-core",
            "trammel-ground",
            "trammel-io",
            "trammel-netfpga",
            "trammel-packet",
            "trammel-report",
            "trammel-scenario",
            "trammel-stats",
        ],
        &["anyhow", "rayon", "tempfile"],
    ),
    (
        "trammel-streams",
        &[
            "trammel-core",
            "trammel-driver",
            "trammel-ground",
            "trammel-io",
            "trammel-netsim",
            "trammel-packet",
            "trammel-report",
            "trammel-router",
            "trammel-scenario",
            "trammel-stats",
            "trammel-traffic",
            "trammel-transport",
            "trammel-workbench",
        ],
        &[
            "jiff",
            "anyhow",
            "clap",
            "rayon",
            "serde_json",
            "tempfile",
            "thiserror",
        ],
    ),
    (
        "trammel-testbeds",
        &[
            "trammel-bench",
            "trammel-card",
            "trammel-control",
            "trammel-core",
            "trammel-cost",
            "trammel-ground",
            "trammel-io",
            "trammel-netfpga",
            "trammel-netsim",
            "trammel-packet",
            "trammel-report",
            "trammel-router",
            "trammel-stats",
            "trammel-tcp",
            "trammel-traffic",
            "trammel-workbench",
        ],
        &["anyhow", "indicatif", "serde", "serde_json", "tempfile"],
    ),
    (
        "trammel-papers",
        &[
            "trammel-bench",
            "trammel-core",
            "trammel-cost",
            "trammel-ground",
            "trammel-io",
            "trammel-library",
            "trammel-netsim",
            "trammel-report",
            "trammel-router",
            "trammel-scenario",
            "trammel-stats",
            "trammel-streams",
            "trammel-testbeds",
            "trammel-traffic",
            "trammel-transport",
            "trammel-workbench",
        ],
        &["anyhow", "csv", "thiserror"],
    ),
    (
        // Events of congestion control as qlog; what is read is given.
        "trammel-qlog",
        &[],
        &["serde", "serde_json", "thiserror"],
    ),
    (
        // Results of other programs as tables; what is read is given.
        "trammel-formats",
        &[
            "trammel-core",
            "trammel-packet",
            "trammel-qlog",
            "trammel-stats",
            "trammel-tcp",
        ],
        &["quick-xml", "serde_json", "thiserror"],
    ),
    (
        // Cases of drafts and RFCs; it runs subjects by `transport` and scripts by `packetdrill`.
        "trammel-conformance",
        &[
            "trammel-core",
            "trammel-packetdrill",
            "trammel-qlog",
            "trammel-report",
            "trammel-scenario",
            "trammel-stats",
            "trammel-tcp",
            "trammel-transport",
        ],
        &["anyhow", "serde_json", "thiserror", "toml_edit"],
    ),
    (
        // What needs no operating system, as a module for browsers and Node.
        "trammel-wasm",
        &[
            "trammel-core",
            "trammel-queues",
            "trammel-scenario",
            "trammel-tcp",
            "trammel-transport",
            "trammel-wasm-memory",
        ],
        &["serde_json", "toml_edit"],
    ),
    (
        // Click configurations in a browser.
        "trammel-wasm-click",
        &[
            "trammel-router",
            "trammel-stats",
            "trammel-wasm-memory",
            "trammel-workbench",
        ],
        &["serde_json"],
    ),
    ("trammel-wasm-memory", &[], &["serde_json"]),
    (
        // Scenarios step by step, for agents that learn.
        "trammel-environment",
        &[
            "trammel-core",
            "trammel-netsim",
            "trammel-scenario",
            "trammel-tcp",
            "trammel-transport",
        ],
        &["anyhow", "rayon", "thiserror"],
    ),
    (
        // Conversion for Python; `python/trammel` is what its users see.
        "trammel-python",
        &[
            "trammel-core",
            "trammel-environment",
            "trammel-ground",
            "trammel-queues",
            "trammel-report",
            "trammel-scenario",
            "trammel-stats",
            "trammel-tcp",
            "trammel-transport",
        ],
        &["anyhow", "pyo3", "rayon"],
    ),
    (
        // The command line; thin.
        "trammel",
        &[
            "trammel-bench",
            "trammel-card",
            "trammel-conformance",
            "trammel-control",
            "trammel-core",
            "trammel-cost",
            "trammel-driver",
            "trammel-exports",
            "trammel-foreign",
            "trammel-formats",
            "trammel-forwarding",
            "trammel-ground",
            "trammel-io",
            "trammel-kernel",
            "trammel-library",
            "trammel-local-http",
            "trammel-netfpga",
            "trammel-netsim",
            "trammel-openmetrics",
            "trammel-packet",
            "trammel-packetdrill",
            "trammel-papers",
            "trammel-qlog",
            "trammel-queues",
            "trammel-report",
            "trammel-router",
            "trammel-routing",
            "trammel-scenario",
            "trammel-stats",
            "trammel-streams",
            "trammel-tcp",
            "trammel-testbeds",
            "trammel-traffic",
            "trammel-transport",
            "trammel-workbench",
        ],
        &[
            "anyhow",
            "clap",
            "clap_complete",
            "clap_mangen",
            "ctrlc",
            "indicatif",
            "serde_json",
            "tempfile",
        ],
    ),
];

/// Crates without I/O, clocks, sockets or threads.
const PURE: &[&str] = &[
    "trammel-core",
    "trammel-queues",
    "trammel-stats",
    "trammel-tcp",
    "trammel-netsim",
    "trammel-cost",
    "trammel-bench",
    "trammel-netfpga",
    "trammel-packetdrill",
    "trammel-qlog",
    "trammel-formats",
];

/// Crates that open the door to the machine, at whatever depth they hide.
const DOORS: &[&str] = &[
    "chrono",
    "crossbeam-utils",
    "getrandom",
    "libc",
    "mio",
    "nix",
    "rayon",
    "rustix",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "windows-sys",
];

/// What the sources of a pure crate do not name.
const WORDS: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time",
    "Instant::",
    "SystemTime",
    "HashMap",
    "HashSet",
    "thread_rng",
    "println!",
];

/// Where a word is right all the same, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "stats/src/table/csv.rs",
        "std::io",
        "tables are written to and read from what the caller gives",
    ),
    (
        "stats/src/table/json.rs",
        "std::io",
        "tables are written to what the caller gives",
    ),
    (
        "netsim/src/network/assembly.rs",
        "std::io",
        "captures are written to what the caller gives",
    ),
    (
        "netsim/src/pcapng.rs",
        "std::io",
        "captures are written to what the caller gives",
    ),
    (
        "formats/src/capture/mod.rs",
        "std::io",
        "captures are read from what the caller gives",
    ),
    (
        "formats/src/document.rs",
        "std::io",
        "files are read from what the caller gives",
    ),
    (
        "formats/src/error.rs",
        "std::io",
        "why what the caller gives cannot be read",
    ),
    (
        "formats/src/lib.rs",
        "std::io",
        "files are read from what the caller gives",
    ),
    (
        "formats/src/qlog/mod.rs",
        "std::io",
        "logs are read from what the caller gives",
    ),
    (
        "qlog/src/contained.rs",
        "std::io",
        "logs are read from what the caller gives",
    ),
    (
        "qlog/src/diverge.rs",
        "std::io",
        "logs are read from what the caller gives",
    ),
    (
        "qlog/src/read.rs",
        "std::io",
        "logs are read from what the caller gives",
    ),
    (
        "qlog/src/write.rs",
        "std::io",
        "logs are written to what the caller gives",
    ),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What the crates of this workspace say of themselves.
fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command
        .manifest_path(crates().join("trammel/Cargo.toml"))
        .no_deps();
    command.other_options(["--offline", "--locked"].map(str::to_owned));
    command.exec().expect("cargo reads the workspace")
}

#[test]
fn each_crate_uses_what_its_row_allows() {
    let metadata = metadata();
    let mut seen = BTreeSet::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        let rule = RULES.iter().find(|(rule, ..)| *rule == name);
        let (_, ours, others) = rule.unwrap_or_else(|| panic!("`{name}` has no row in RULES"));
        seen.insert(name.to_owned());
        for dependency in &package.dependencies {
            // Tests may use more, but a test that needs the layer above it is in the wrong crate.
            let is_test = dependency.kind == DependencyKind::Development;
            let wanted = dependency.name.as_str();
            if dependency.kind == DependencyKind::Build && wanted == "trammel-plugins" {
                continue;
            }
            let is_allowed = if wanted.starts_with("trammel") {
                ours.contains(&wanted)
            } else {
                is_test || others.contains(&wanted)
            };
            assert!(is_allowed, "`{name}` may not depend on `{wanted}`");
        }
    }
    let rows: BTreeSet<_> = RULES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(
        rows, seen,
        "RULES has a row for every crate and none besides"
    );
}

/// A user of the TCP alone builds no reader of CSV, no JSON and no statistics.
#[test]
fn tcp_needs_neither_tables_nor_statistics() {
    let names = reached("trammel-tcp");
    for name in ["csv", "hdrhistogram", "rand_distr", "serde_json", "statrs"] {
        assert!(!names.contains(name), "`trammel-tcp` reaches `{name}`");
    }
}

#[test]
fn nothing_depends_on_the_command() {
    for (name, ours, _) in RULES {
        assert!(
            !ours.contains(&"trammel"),
            "`{name}` is allowed to depend on `trammel`"
        );
    }
}

/// The crates that `package` is built from, at any depth.
fn reached(package: &str) -> BTreeSet<String> {
    // Not from the metadata: there, what tests alone turn on in a crate is on for everyone.
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--offline", "--locked", "--edges", "normal"]);
    tree.args(["--prefix", "none", "--format", "{p}", "--package", package]);
    let output = tree
        .current_dir(crates())
        .output()
        .expect("the program can be started");
    let text = String::from_utf8(output.stdout).expect("the text is UTF-8");
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    assert!(
        names.contains("thiserror"),
        "`{package}` depends on something: {text}"
    );
    names
}

#[test]
fn no_door_to_the_machine_opens_at_any_depth_of_a_pure_crate() {
    for pure in PURE {
        for name in reached(pure) {
            assert!(!DOORS.contains(&name.as_str()), "`{pure}` reaches `{name}`");
        }
    }
}

/// The Rust files under `folder`, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn the_sources_of_pure_crates_name_no_machine() {
    let mut excused = BTreeSet::new();
    for pure in PURE {
        let folder = pure
            .strip_prefix("trammel-")
            .expect("our crates share a prefix");
        for path in sources(&crates().join(folder).join("src")) {
            let place = path.strip_prefix(crates()).unwrap().display().to_string();
            for (n, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
                if line.trim_start().starts_with("//") {
                    continue;
                }
                for word in WORDS.iter().filter(|word| line.contains(**word)) {
                    let excuse = EXCEPTIONS
                        .iter()
                        .find(|(at, of, _)| *at == place && of == word);
                    assert!(excuse.is_some(), "crates/{place}:{}: `{word}`", n + 1);
                    excused.insert((place.clone(), *word));
                }
            }
        }
    }
    assert_eq!(
        excused.len(),
        EXCEPTIONS.len(),
        "every exception is still needed"
    );
}

/// A file that no `mod` names is built by nobody and says nothing of it.
#[test]
fn every_source_file_beside_a_crates_root_is_a_module_of_it() {
    for entry in std::fs::read_dir(crates()).expect("the folder exists") {
        let source = entry.expect("a crate").path().join("src");
        let root = std::fs::read_to_string(source.join("lib.rs")).expect("the file exists");
        for file in std::fs::read_dir(&source).expect("the folder exists") {
            let path = file.expect("a source").path();
            let name = path.file_stem().and_then(|name| name.to_str());
            let name = name.expect("utf-8").to_owned();
            let is_root = ["lib", "main"].contains(&name.as_str());
            if is_root || path.extension().is_none_or(|ext| ext != "rs") {
                continue;
            }
            let is_named = [format!("mod {name};"), format!("path = \"{name}.rs\"")]
                .iter()
                .any(|line| root.contains(line));
            assert!(is_named, "nothing names {}", path.display());
        }
    }
}
