//! What the documents claim: commands give the output that is shown, links lead somewhere, copies
//! are equal.
//!
//! Where a block marked `console` or `text` shows a command `$ ./run …` or `$ trammel …` and what
//! it writes, the command is run among the files of the repository, and what it writes must be what
//! is shown. A line `…` stands for any lines, `[..]` for any text: times, machines and what is left
//! out. `UPDATE_DOCS=1` writes the documents anew.

mod shown;

use shown::{fits, line_fits};
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENTS: &[&str] = &[
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "THIRD-PARTY.md",
    "docs/applications.md",
    "docs/architecture.md",
    "docs/bench.md",
    "docs/cluster.md",
    "docs/conformance.md",
    "docs/decisions.md",
    "docs/editors.md",
    "docs/fidelity.md",
    "docs/forwarding.md",
    "docs/gallery.md",
    "docs/glossary.md",
    "docs/import.md",
    "docs/install.md",
    "docs/kernel.md",
    "docs/linux-6.12.md",
    "docs/linux-2.6.md",
    "docs/export.md",
    "docs/metrics.md",
    "docs/metrics-endpoint.md",
    "docs/netfpga.md",
    "docs/netfpga-course.md",
    "docs/netfpga-map.md",
    "docs/netfpga-registers.md",
    "docs/netfpga-web.md",
    "docs/own-variant.md",
    "docs/paths.md",
    "docs/packetdrill.md",
    "docs/peer.md",
    "docs/playground.md",
    "docs/presets.md",
    "docs/pwospf.md",
    "docs/python.md",
    "docs/python-control.md",
    "docs/gym.md",
    "docs/qlog.md",
    "docs/router.md",
    "docs/routers.md",
    "docs/run-folders.md",
    "docs/itg-signalling.md",
    "docs/scenarios.md",
    "docs/traffic.md",
    "docs/compare/click.md",
    "docs/compare/d-itg.md",
    "docs/compare/iperf3.md",
    "docs/compare/mininet.md",
    "docs/compare/ns-3.md",
    "docs/compare/trex.md",
    "docs/explain/estimate.md",
    "docs/explain/simulator.md",
    "docs/explain/virtual-time.md",
    "docs/guides/nfv-planner.md",
    "docs/guides/operator.md",
    "docs/guides/researcher.md",
    "docs/guides/router-builder.md",
    "docs/guides/teacher.md",
    "docs/guides/test-lab.md",
    "docs/index.md",
    "docs/tutorials/01-first.md",
    "docs/tutorials/02-sawtooth.md",
    "docs/tutorials/03-codel.md",
    "docs/tutorials/04-bbr.md",
    "docs/tutorials/05-kernel.md",
    "docs/tutorials/06-router.md",
    "docs/tutorials/07-bench.md",
    "docs/tutorials/08-waiting.md",
    "docs/tutorials/09-placement.md",
    "docs/tutorials/10-sweep.md",
    "docs/tutorials/11-netfpga.md",
    "examples/netfpga-ring/README.md",
    "fuzz/README.md",
    "papers/bbr-versions/README.md",
    "papers/botta-embedded/README.md",
    "papers/callegari-2012/README.md",
    "papers/heist-l4s/README.md",
    "papers/linguaglossa-click-netfpga/README.md",
    "papers/linux-6.12/README.md",
    "papers/ns-2-linux/README.md",
    "papers/tekala-2007/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    let text = std::fs::read_to_string(root().join(name));
    text.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Compares `name` with the text that it should have, or writes that.
fn expect(name: &str, wanted: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        // Each run has another folder.
        let folder = std::env::temp_dir().join(".tmp");
        let folder = format!("{}[A-Za-z0-9]+/", folder.display());
        let folder = fancy_regex::Regex::new(&folder).expect("it is an expression");
        let wanted = folder.replace_all(wanted, "[..]/");
        std::fs::write(root().join(name), &*wanted).unwrap();
        return;
    }
    let text = read(name);
    for (n, (is, should)) in text.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(is, should, "{name}:{}; UPDATE_DOCS=1 mends it", n + 1);
    }
    assert_eq!(
        text.len(),
        wanted.len(),
        "{name} has another length; UPDATE_DOCS=1 mends it"
    );
}

/// Commands whose numbers are measured, so that they differ each time, or that need hours: what
/// their output says is compared without its numbers, line by line in order, or not at all; the
/// reason stands here.
const NOT_EXACT: &[(&str, &str, Mode)] = &[
    (
        "docs/traffic.md",
        "trammel run examples/traffic.toml --engine predict,simulate,measure",
        Mode::Words,
    ),
    (
        "docs/routers.md",
        "./run run examples/routers-live.toml",
        Mode::Words,
    ),
    // It waits for a sender; `crates/trammel/tests/traffic.rs` has both ends.
    ("docs/traffic.md", "trammel recv", Mode::NotRun),
    // It needs a receiver; `crates/trammel/tests/link.rs` runs both ends of what the document
    // shows.
    ("docs/traffic.md", "trammel link", Mode::NotRun),
    // Another kernel than the one that was asked gives other digits.
    (
        "docs/tutorials/05-kernel.md",
        "trammel run docs/tutorials/05-kernel.toml",
        Mode::Words,
    ),
    (
        "docs/guides/researcher.md",
        "trammel run docs/tutorials/05-kernel.toml",
        Mode::Words,
    ),
    // The instant depends on the kernel's version, and the hash is that of the reader's build.
    (
        "docs/tutorials/05-kernel.md",
        "trammel diverge",
        Mode::NotRun,
    ),
    // The scenario is the reader's own, and the kernel's hash that of his build;
    // `crates/trammel/tests/diverge.rs` has others.
    ("docs/kernel.md", "trammel diverge s.toml", Mode::NotRun),
    // The other trees are the reader's; `crates/trammel/tests/guests.rs` compares kernels that are
    // there.
    (
        "docs/kernel.md",
        "trammel kernel compare packaged",
        Mode::NotRun,
    ),
];

/// How much of an output is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// All of it, but for `…` alone on a line, which stands for any lines, and `[..]` inside one,
    /// for any text.
    Exact,
    /// The lines that are shown, in their order, each without its numbers.
    Words,
    /// Nothing.
    NotRun,
}

/// A folder in which a reader would stand: the repository's files by links, and room for what
/// commands write.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(root()).unwrap() {
            let entry = entry.unwrap();
            if !["out", "target"].contains(&&*entry.file_name().to_string_lossy()) {
                let link = folder.path().join(entry.file_name());
                std::os::unix::fs::symlink(entry.path().canonicalize().unwrap(), link).unwrap();
            }
        }
        Self(folder)
    }

    /// What `trammel` with `arguments` says, to a person and otherwise; nothing where the machine
    /// lacks what it needs.
    fn output(&self, arguments: &str) -> Option<String> {
        // The shell reads quotes as the reader's does.
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("exec \"$TRAMMEL\" {arguments}")])
            .current_dir(&self.0)
            .env("TRAMMEL", env!("CARGO_BIN_EXE_trammel"))
            // Whether this machine was calibrated must not decide on what a document shows.
            .env("XDG_DATA_HOME", self.0.path().join("no-data"))
            .env("NO_COLOR", "1");
        let output = command.output().expect("the program can be started");
        let text = String::from_utf8([output.stdout, output.stderr].concat());
        let text = text.expect("it writes text");
        if output.status.code() == Some(3) {
            eprintln!("skipped: `trammel {arguments}` of a document: {text}");
            return None;
        }
        Some(text)
    }
}

/// A line without its numbers.
fn words_of(line: &str) -> String {
    let is_number =
        |word: &&str| !word.starts_with(|c: char| c.is_ascii_digit() || "+-−".contains(c));
    line.split_whitespace()
        .filter(is_number)
        .collect::<Vec<_>>()
        .join(" ")
}

fn words_fit(shown: &[&str], lines: &[&str]) -> bool {
    let mut lines = lines.iter().map(|line| words_of(line));
    shown
        .iter()
        .all(|line| *line == "…" || lines.any(|other| other == words_of(line)))
}

/// `text` with the output of every command of which it shows one, and how many were run.
fn with_outputs(name: &str, text: &str) -> (String, usize) {
    let desk = Desk::new();
    let (mut out, mut runs) = (Vec::new(), 0);
    let mut lines = text.lines().peekable();
    let mut is_shell = false;
    while let Some(line) = lines.next() {
        out.push(line.to_owned());
        if line.starts_with("```") {
            is_shell = ["```console", "```text"].contains(&line);
            continue;
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| is_shell) else {
            continue;
        };
        let mut shown = Vec::new();
        while let Some(next) =
            lines.next_if(|next| !next.starts_with("```") && !next.starts_with("$ "))
        {
            shown.push(next);
        }
        let is_ours = ["./run ", "trammel "]
            .iter()
            .find_map(|word| command.strip_prefix(word));
        let mode = NOT_EXACT
            .iter()
            .find(|(doc, start, _)| *doc == name && command.starts_with(start));
        let mode = mode.map_or(Mode::Exact, |(_, _, mode)| *mode);
        let output = match is_ours {
            // A command that is shown alone is an invitation.
            Some(arguments) if mode != Mode::NotRun && !shown.is_empty() => desk.output(arguments),
            _ => None,
        };
        let said: Option<Vec<&str>> = output.as_ref().map(|output| output.lines().collect());
        match said {
            Some(said) => {
                runs += 1;
                let is_as_shown = match mode {
                    Mode::Words => words_fit(&shown, &said),
                    _ => fits(&shown, &said),
                };
                let right = if is_as_shown { &shown } else { &said };
                out.extend(right.iter().map(|line| (*line).to_owned()));
            }
            None => out.extend(shown.iter().map(|line| (*line).to_owned())),
        }
    }
    (out.join("\n") + "\n", runs)
}

#[test]
fn ellipses_stand_for_lines_and_for_text() {
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(fits(&["a", "…"], &["a"]));
    assert!(!fits(&["a", "…", "d"], &["a", "b", "c"]));
    assert!(line_fits("took [..] s", "took 1.2 s"));
    assert!(!line_fits("took [..] s", "took 1.2 ms."));
    assert!(words_fit(&["delay 1.2 us"], &["first", "delay 3.4 us"]));
    assert!(!words_fit(&["delay 1.2 us"], &["jitter 3.4 us"]));
}

#[test]
fn commands_give_the_output_that_is_shown() {
    let mut runs = 0;
    for name in DOCUMENTS {
        let (wanted, n) = with_outputs(name, &read(name));
        expect(name, &wanted);
        runs += n;
    }
    assert!(runs >= 5, "only {runs} commands are shown");
}

#[test]
fn pages_of_reference_are_what_the_command_says() {
    for (name, command) in [
        ("docs/scenarios.md", "doc scenario"),
        ("docs/netfpga-map.md", "doc design reference-router"),
    ] {
        let page = Desk::new().output(command);
        expect(name, &page.expect("the program can be started"));
    }
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for name in DOCUMENTS {
        let folder = root().join(name);
        let folder = folder.parent().expect("a file is in a folder");
        let text = read(name);
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || link.contains("://") {
                continue;
            }
            assert!(
                folder.join(target).exists(),
                "{name}: `{link}` leads nowhere"
            );
            links += 1;
        }
    }
    assert!(links >= 10, "only {links} links");
}

#[test]
fn every_document_is_checked() {
    let folders = [
        ".",
        "docs",
        "docs/compare",
        "docs/explain",
        "docs/guides",
        "docs/tutorials",
        "fuzz",
    ];
    for folder in folders {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let name = if folder == "." {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                assert!(
                    DOCUMENTS.contains(&&name[..]),
                    "`{name}` is not in DOCUMENTS"
                );
            }
        }
    }
}

/// The first block of `text` that is marked `language` and holds `mark`.
fn block<'a>(text: &'a str, language: &str, mark: &str) -> &'a str {
    let fence = format!("```{language}\n");
    let blocks = text
        .split(&fence)
        .skip(1)
        .filter_map(|rest| Some(&rest[..=rest.find("\n```\n")?]));
    let mut found = blocks.filter(|block| block.contains(mark));
    found
        .next()
        .unwrap_or_else(|| panic!("no `{language}` block holds `{mark}`"))
}

#[test]
fn the_first_scenario_of_the_readme_is_the_example() {
    assert_eq!(
        block(&read("README.md"), "toml", "[path]"),
        read("examples/first.toml")
    );
}

/// A tutorial shows the scenario that its commands run.
#[test]
fn tutorials_show_their_scenarios() {
    let mut shown = 0;
    for name in DOCUMENTS
        .iter()
        .filter(|name| name.starts_with("docs/tutorials/"))
    {
        let scenario = name.replace(".md", ".toml");
        if root().join(&scenario).exists() {
            assert_eq!(block(&read(name), "toml", ""), read(&scenario), "{name}");
            shown += 1;
        }
    }
    assert!(shown >= 5, "only {shown} tutorials have a scenario");
}

#[test]
fn the_worked_variant_is_the_one_that_is_compiled_and_tested() {
    let program = read("crates/netsim/examples/variant_of_your_own.rs");
    let mut parts = program.split("    // ---8<---\n");
    let file = parts.nth(1).expect("two marks enclose the file");
    let file: Vec<_> = file
        .lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .collect();
    let file = file.join("\n").replace("trammel_tcp::cc::", "super::");
    let shown = block(&read("CONTRIBUTING.md"), "rust", "ENTRY").to_owned();
    // Inside the program the lines are four columns shorter; the words are the same.
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let comments_flow = |text: &str| words(&text.replace("//!", " ").replace("///", " "));
    assert_eq!(comments_flow(&file), comments_flow(&shown));
}
