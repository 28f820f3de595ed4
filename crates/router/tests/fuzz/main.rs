//! Everything that reads what comes from outside, put to inputs that were made to break it.
//!
//! The fuzzer of `fuzz/` calls the same functions; here every input of its corpora is read again,
//! with some mutations of each, drawn from `TRAMMEL_SEED` (1 by default), `TRAMMEL_MUTATIONS` of
//! them for each target.

mod targets;

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::Path;
use targets::{configuration, control_socket, elements, pcap, summary};
use trammel_core::rng::Rng;

/// The inputs kept for a target, and further folders of texts.
fn seeds(target: &str, more: &[&str]) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seeds = Vec::new();
    for folder in [&[format!("fuzz/corpus/{target}").as_str()], more].concat() {
        for entry in std::fs::read_dir(root.join(folder)).expect("the folder is there") {
            let path = entry.expect("a file").path();
            if path.is_file() {
                let bytes = std::fs::read(&path).expect("it can be read");
                seeds.push((path.display().to_string(), bytes));
            }
        }
    }
    seeds.sort();
    assert!(!seeds.is_empty());
    seeds
}

fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n.max(1) as u64) as usize
}

/// One change to `bytes`; `other` is another seed to take a piece from.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let at = below(rng, bytes.len() + 1);
    let len = below(rng, 16).min(bytes.len() - at);
    match below(rng, 5) {
        0 => drop(bytes.drain(at..at + len)),
        1 => {
            let from = below(rng, other.len());
            let piece = &other[from..(from + 16).min(other.len())];
            bytes.splice(at..at + len, piece.iter().copied());
        }
        2 => bytes.insert(at, below(rng, 256) as u8),
        3 => bytes[at..at + len].fill([0, 255, b'9', b'('][below(rng, 4)]),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << below(rng, 8);
            }
        }
    }
}

/// Runs a target on its seeds and on mutations of them.
fn replay(target: &str, more: &[&str], run: fn(&[u8])) {
    let seeds = seeds(target, more);
    for (name, bytes) in &seeds {
        assert!(catch_unwind(|| run(bytes)).is_ok(), "{name}");
    }
    let seed = variable("TRAMMEL_SEED", 1);
    let mut rng = Rng::new(seed, target);
    for n in 0..variable("TRAMMEL_MUTATIONS", 200) {
        let mut bytes = seeds[below(&mut rng, seeds.len())].1.clone();
        for _ in 0..=below(&mut rng, 4) {
            let other = &seeds[below(&mut rng, seeds.len())].1;
            mutate(&mut bytes, other, &mut rng);
        }
        let text = bytes.escape_ascii();
        assert!(
            catch_unwind(|| run(&bytes)).is_ok(),
            "TRAMMEL_SEED={seed}, mutation {n}: {text}"
        );
    }
}

#[test]
fn configurations() {
    replay("configuration", &["examples/router"], configuration::run);
}

#[test]
fn packets_of_every_class() {
    replay("elements", &[], elements::run);
}

#[test]
fn control_connections() {
    replay("control_socket", &[], control_socket::run);
}

#[test]
fn captures() {
    replay("pcap", &[], pcap::run);
}

#[test]
fn summary_dumps() {
    replay("summary", &[], summary::run);
}

/// The classes, their keywords and the marks of the language, as libFuzzer reads a dictionary.
fn dictionary() -> String {
    let marks = [
        "elementclass",
        "define",
        "require",
        "provide",
        "input",
        "output",
        "->",
        "=>",
        "::",
        "[0]",
        "||",
        "|",
        "...",
        "__REST__",
        "$a",
        "/*",
        "*/",
        "//",
        "0x",
        "0/0",
        "-1",
    ];
    let mut words: BTreeSet<&str> = marks.into();
    for entry in trammel_router::elements::all() {
        words.insert(entry.about.name);
        words.extend(entry.params.iter().map(|param| param.name));
    }
    words.iter().map(|word| format!("\"{word}\"\n")).collect()
}

/// Not a test: it is run before the fuzzer, so that a new class is in the dictionary.
#[test]
#[ignore = "writes a file"]
fn write_the_dictionary() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/configuration.dict");
    std::fs::write(path, dictionary()).expect("it can be written");
}
