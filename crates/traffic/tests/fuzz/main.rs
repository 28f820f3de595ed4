//! What reads logs, command lines and messages, put to inputs that were made to break it.
//!
//! The fuzzer of `fuzz/` calls the same functions; here every input of its corpora is read again,
//! with some mutations of each, drawn from `TRAMMEL_SEED` (1 by default), `TRAMMEL_MUTATIONS` of
//! them for each target.

mod targets;

use std::panic::catch_unwind;
use std::path::Path;
use trammel_core::rng::Rng;

/// The inputs kept for a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
        .iter()
        .map(|path| std::fs::read(path).expect("the file exists"))
        .collect()
}

fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n.max(1) as u64) as usize
}

/// One change to `bytes`.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = below(rng, bytes.len() + 1);
    let len = below(rng, 48).min(bytes.len() - at);
    match below(rng, 5) {
        0 => drop(bytes.drain(at..at + len)),
        1 => {
            let piece = bytes[at..at + len].to_vec();
            let to = below(rng, bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        2 => bytes.insert(at, below(rng, 256) as u8),
        3 => bytes[at..at + len].fill([0, 255, 127, 128][below(rng, 4)]),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << below(rng, 8);
            }
        }
    }
}

/// Reads the inputs kept for a target, and mutations of them.
fn put_to(target: &str, run: fn(&[u8])) {
    let (seed, mutations) = (
        variable("TRAMMEL_SEED", 1),
        variable("TRAMMEL_MUTATIONS", 2000),
    );
    let mut rng = Rng::new(seed, "mutations of logs");
    let seeds = seeds(target);
    for input in &seeds {
        run(input);
    }
    for mutation in 0..mutations {
        let mut bytes = seeds[below(&mut rng, seeds.len())].clone();
        for _ in 0..=below(&mut rng, 4) {
            mutate(&mut bytes, &mut rng);
        }
        let ran = catch_unwind(|| run(&bytes));
        assert!(
            ran.is_ok(),
            "seed {seed}, mutation {mutation}: {bytes:02x?}"
        );
    }
}

#[test]
fn traffic_logs() {
    put_to("traffic_log", targets::traffic_log::run);
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_read_of_d_itg() {
    put_to("itg", targets::itg::run);
}

#[test]
fn signalling() {
    put_to("signalling", targets::signalling::run);
}
