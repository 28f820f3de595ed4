//! Inputs of a fuzz target: the kept ones, and mutations of them.

use std::path::Path;
use trammel_core::rng::Rng;

/// The inputs that are kept.
pub(crate) fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    assert!(!paths.is_empty());
    let read = |path| std::fs::read(path).expect("the file exists");
    paths.iter().map(read).collect()
}

pub(crate) fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

pub(crate) fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n.max(1) as u64) as usize
}

/// One change to `bytes`.
pub(crate) fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = below(rng, bytes.len() + 1);
    let len = below(rng, 48).min(bytes.len() - at);
    match below(rng, 4) {
        0 => drop(bytes.drain(at..at + len)),
        1 => {
            let piece = bytes[at..at + len].to_vec();
            let to = below(rng, bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        2 => bytes[at..at + len].fill([0, 255, 127, 128][below(rng, 4)]),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << below(rng, 8);
            }
        }
    }
}
