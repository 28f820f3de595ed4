//! Texts that are almost scenarios or scripts of flows: the reader takes them or shows their
//! faults, and never panics.
//!
//! The seeds are the examples, the texts of the diagnostics and the corpus of `fuzz/`. The
//! mutations are drawn anew from `TRAMMEL_SEED` (1 by default); `TRAMMEL_MUTATIONS` is their
//! number.

#[path = "targets/flow_script.rs"]
mod flow_script;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use trammel::scenario::{File, ReadError};
use trammel_core::rng::Rng;

/// Folders of seeds, relative to this crate.
const SEEDS: &[&str] = &[
    "../../examples",
    "tests/diagnostics",
    "../../fuzz/corpus/scenario",
];

/// The folder of seeds of scripts.
const SCRIPTS: &[&str] = &["../../fuzz/corpus/flow_script"];

/// Values at the edges of what a reader may have thought of.
const EDGES: &[&str] = &[
    "0",
    "-1",
    "1",
    "1e-300",
    "1e300",
    "-0.0",
    "nan",
    "inf",
    "9223372036854775807",
    "4294967296",
    "\"\"",
    "\"é\"",
    "\"0 s\"",
    "\"-1 s\"",
    "\"1e99 Gbit/s\"",
    "\"1e-99 bdp\"",
    "\"99999999999 d\"",
    "[]",
    "{}",
    "[[]]",
    "true",
    "1979-05-27T07:32:00Z",
];

/// Reads `text` to the end and shows its faults.
fn scenario(text: &str) {
    match File::parse("seed.toml", text, Path::new("/nonexistent")) {
        Ok(file) => assert!(!file.points.is_empty(), "a file without faults has a point"),
        Err(ReadError::Faults(problems)) => {
            assert!(!problems.list.is_empty(), "a refusal names a fault");
            assert!(problems.render(false).contains("seed.toml"));
        }
        Err(ReadError::Elsewhere { .. } | ReadError::Io { .. }) => {}
    }
}

/// Has `read` read `text`; `Err` is the panic's text.
fn survives(read: fn(&str), text: &str) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| read(text))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_default()
    })
}

/// Every seed of the folders, in the order of the names.
fn seeds(folders: &[&str]) -> Vec<(String, String)> {
    let mut seeds = Vec::new();
    for folder in folders {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            seeds.push((
                path.display().to_string(),
                String::from_utf8_lossy(&bytes).into_owned(),
            ));
        }
    }
    seeds.sort();
    seeds
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

/// A number below `n`, which is above 0.
fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n as u64) as usize
}

/// One change to `text`; `other` is another seed to take lines and words from.
fn mutate(text: &str, other: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return other.to_owned();
    }
    let at = below(rng, lines.len());
    match below(rng, 7) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            let others: Vec<&str> = other.lines().collect();
            if !others.is_empty() {
                lines.insert(at, others[below(rng, others.len())].to_owned());
            }
        }
        3 => {
            // Another value for the key.
            if let Some((key, _)) = lines[at].split_once('=') {
                lines[at] = format!("{key}= {}", EDGES[below(rng, EDGES.len())]);
            }
        }
        4 => {
            // A key with another's value.
            let value = other
                .lines()
                .filter_map(|line| line.split_once('='))
                .nth(below(rng, 20));
            if let (Some((key, _)), Some((_, value))) = (lines[at].split_once('='), value) {
                lines[at] = format!("{key}={value}");
            }
        }
        5 => {
            // One character more, less or other, of one to four bytes.
            let mut letters: Vec<char> = lines[at].chars().collect();
            let place = below(rng, letters.len() + 1);
            let letter = [
                '"', '\'', '[', '{', '}', '.', '*', '-', '9', '\t', 'é', '€', '𝄞', '\0',
            ][below(rng, 14)];
            if place < letters.len() && below(rng, 2) == 0 {
                letters[place] = letter;
            } else {
                letters.insert(place, letter);
            }
            lines[at] = letters.into_iter().collect();
        }
        _ => {
            // A number grown or turned.
            lines[at] = lines[at].replacen(['1', '2', '5'], EDGES[below(rng, 10)], 1);
        }
    }
    lines.join("\n")
}

/// Has `read` read every seed of the folders, and mutations of them.
fn put_to(read: fn(&str), folders: &[&str]) {
    let seed = variable("TRAMMEL_SEED", 1);
    let mut rng = Rng::new(seed, "mutations");
    let seeds = seeds(folders);
    for (name, text) in &seeds {
        survives(read, text).unwrap_or_else(|panic| panic!("{name}: {panic}"));
    }
    for n in 0..variable("TRAMMEL_MUTATIONS", 2000) {
        let mut text = seeds[below(&mut rng, seeds.len())].1.clone();
        for _ in 0..=below(&mut rng, 4) {
            let other = &seeds[below(&mut rng, seeds.len())].1;
            text = mutate(&text, other, &mut rng);
        }
        if let Err(panic) = survives(read, &text) {
            panic!("TRAMMEL_SEED={seed}, mutation {n}: {panic}\n---\n{text}\n---");
        }
    }
}

#[test]
fn seeds_of_scenarios_and_two_thousand_mutations_are_read_or_refused() {
    put_to(scenario, SEEDS);
}

#[test]
fn seeds_of_scripts_and_two_thousand_mutations_are_read_or_refused() {
    put_to(flow_script::run, SCRIPTS);
}
