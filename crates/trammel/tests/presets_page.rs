//! The page of the presets, `docs/presets.md`: what `trammel doc preset` says of each, and two
//! pictures of one flow of CUBIC over it. `UPDATE_DOCS=1` writes page and pictures anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The presets of today's accesses and networks, in the order of the page, with how long their
/// pictures last: long enough for what changes to be seen.
const PRESETS: &[(&str, &str)] = &[
    ("leo", "60 s"),
    ("geo", "60 s"),
    ("lte", "60 s"),
    ("5g", "60 s"),
    ("wifi6", "10 s"),
    ("docsis-upstream", "60 s"),
    ("gpon", "10 s"),
    ("dsl", "60 s"),
    ("datacentre", "200 ms"),
    ("transatlantic", "30 s"),
];
/// Samples of a line.
const SAMPLES: u32 = 200;
/// Figures of a run, with what they are called on the page.
const FIGURES: &[(&str, &str)] = &[("rate", "Goodput"), ("rtt", "Round trip")];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn trammel(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.expect("the program can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "trammel {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("it writes text")
}

/// Compares the file of `docs` with what it should hold, or writes that.
fn expect(name: &str, wanted: &str) {
    let path = docs().join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(docs().join("presets")).unwrap();
        std::fs::write(path, wanted).unwrap();
        return;
    }
    let is = std::fs::read_to_string(path).unwrap_or_default();
    assert!(is == wanted, "docs/{name}: UPDATE_DOCS=1 mends it");
}

/// A duration such as `60 s` in parts of `SAMPLES`.
fn interval(duration: &str) -> String {
    let (number, unit) = duration.split_once(' ').expect("a number and a unit");
    let number: f64 = number.parse().expect("a number");
    format!("{} {unit}", number / f64::from(SAMPLES))
}

/// What `trammel doc preset` says, one level of headings further down.
fn described(name: &str, folder: &Path) -> String {
    let text = trammel(folder, &["doc", "preset", name]);
    format!("#{}", text.trim_end())
}

#[test]
fn the_page_shows_what_each_preset_is_and_a_flow_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let listed = trammel(folder.path(), &["list", "presets"]);
    let mut page = String::from(
        "# Presets of paths\n\nWritten by a test from the presets' files and from runs of the \
         simulator; [paths.md](paths.md#presets) says how to use them.\n\
         The pictures are of one flow of CUBIC alone, simulated, from its start. Where the rate \
         of the link or the round trip without\na queue changes, a grey line shows it.\n\n",
    );
    for (name, _) in PRESETS {
        let line = listed
            .lines()
            .find(|line| line.split_whitespace().next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("`{name}` is listed"));
        let summary = line[name.len()..].trim();
        writeln!(page, "- [{name}](#{name}): {summary}").unwrap();
    }
    for (name, duration) in PRESETS {
        let scenario = format!(
            "duration = \"{duration}\"\ntrace = \"{}\"\n[path]\npreset = \"{name}\"\n\
             [[flow]]\nvariant = \"cubic\"\nstart = \"0 s\"\n",
            interval(duration)
        );
        let file = format!("{name}.toml");
        std::fs::write(folder.path().join(&file), scenario).unwrap();
        trammel(
            folder.path(),
            &["run", &file, "--engine", "simulate", "-o", name],
        );
        writeln!(page, "\n{}\n", described(name, folder.path())).unwrap();
        for (figure, title) in FIGURES {
            let drawn = folder
                .path()
                .join(name)
                .join(format!("figures/{figure}-1.svg"));
            let picture = std::fs::read_to_string(&drawn)
                .unwrap_or_else(|error| panic!("{}: {error}", drawn.display()));
            let target = format!("presets/{name}-{figure}.svg");
            expect(&target, &picture);
            writeln!(
                page,
                "![{title} of one flow of CUBIC over the preset {name}]({target})"
            )
            .unwrap();
        }
    }
    expect("presets.md", &page);
}
