//! What the documents claim: commands give the output that is shown, links lead somewhere, copies are equal.
//!
//! A block marked `console` whose command is `$ ./run …` is run as `trammel …` in the root of the repository,
//! and what it writes must be what stands below it. `UPDATE_DOCS=1` writes the documents anew.

use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENTS: &[&str] = &[
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "THIRD-PARTY.md",
    "docs/architecture.md",
    "docs/bench.md",
    "docs/decisions.md",
    "docs/editors.md",
    "docs/fidelity.md",
    "docs/forwarding.md",
    "docs/kernel.md",
    "docs/linux-6.12.md",
    "docs/linux-2.6.md",
    "docs/metrics.md",
    "docs/netfpga.md",
    "docs/own-variant.md",
    "docs/packetdrill.md",
    "docs/peer.md",
    "docs/router.md",
    "docs/run-folders.md",
    "docs/itg-signalling.md",
    "docs/scenarios.md",
    "docs/traffic.md",
    "fuzz/README.md",
    "papers/botta-embedded/README.md",
    "papers/callegari-2012/README.md",
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
        std::fs::write(root().join(name), wanted).unwrap();
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

/// What `trammel` with `arguments` says, to a person and otherwise.
fn output(arguments: &str) -> String {
    // The shell reads quotes as the reader's does.
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("exec \"$TRAMMEL\" {arguments}")])
        .current_dir(root())
        .env("TRAMMEL", env!("CARGO_BIN_EXE_trammel"))
        .env("NO_COLOR", "1");
    let output = command.output().expect("the binary was built");
    String::from_utf8([output.stdout, output.stderr].concat()).expect("it writes text")
}

/// `text` with the output of every command that a `console` block shows.
fn with_outputs(text: &str) -> (String, usize) {
    let (mut out, mut runs) = (String::new(), 0);
    let mut is_console = false;
    // Inside a block, below a command that is run: what stands there is replaced.
    let mut is_output = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
            is_output = false;
        } else if is_console && let Some(command) = line.strip_prefix("$ ") {
            is_output = false;
            if let Some(arguments) = command.strip_prefix("./run ") {
                is_output = true;
                runs += 1;
                out += line;
                out += "\n";
                out += &output(arguments);
                continue;
            }
        }
        if !is_output {
            out += line;
            out += "\n";
        }
    }
    (out, runs)
}

#[test]
fn commands_give_the_output_that_is_shown() {
    let mut runs = 0;
    for name in DOCUMENTS.iter().filter(|name| !name.starts_with("papers/")) {
        let (wanted, n) = with_outputs(&read(name));
        expect(name, &wanted);
        runs += n;
    }
    assert!(runs >= 2, "only {runs} commands are shown");
}

#[test]
fn the_page_of_scenario_files_is_what_the_command_says() {
    expect("docs/scenarios.md", &output("doc scenario"));
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
    for folder in [".", "docs", "fuzz"] {
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
        .filter_map(|rest| rest.split("```\n").next());
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
