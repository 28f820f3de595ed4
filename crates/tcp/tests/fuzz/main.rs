//! The TCP put to segments that were made to break it.
//!
//! The fuzzer of `fuzz/` calls the same function; here every input of its corpus is read again,
//! with mutations of them, drawn from `TRAMMEL_SEED` (1 by default), `TRAMMEL_MUTATIONS` in all.

mod target;

use std::panic::catch_unwind;
use trammel_core::rng::Rng;

fn variable(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {text}"))
    })
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n as u64) as usize
}

/// The corpus, the longest inputs last.
fn seeds() -> Vec<Vec<u8>> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fuzz/corpus/tcp_segments"
    );
    let files = std::fs::read_dir(folder).expect("the corpus is in the repository");
    let mut seeds: Vec<_> = files
        .map(|file| std::fs::read(file.expect("a file of the folder").path()).expect("a file"))
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{folder} is empty");
    seeds
}

fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = below(rng, bytes.len() + 1);
    match rng.below(4) {
        0 => bytes.insert(at, rng.below(256) as u8),
        1 if at < bytes.len() => drop(bytes.remove(at)),
        2 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
        _ if at < bytes.len() => bytes[at] = rng.below(256) as u8,
        _ => bytes.push(0),
    }
}

#[test]
fn tcp_segments() {
    let (seed, mutations) = (
        variable("TRAMMEL_SEED", 1),
        variable("TRAMMEL_MUTATIONS", 2000),
    );
    let mut rng = Rng::new(seed, "mutations of segments");
    let seeds = seeds();
    for input in &seeds {
        target::run(input);
    }
    for mutation in 0..mutations {
        let mut bytes = seeds[below(&mut rng, seeds.len())].clone();
        for _ in 0..=below(&mut rng, 6) {
            mutate(&mut bytes, &mut rng);
        }
        let ran = catch_unwind(|| target::run(&bytes));
        assert!(
            ran.is_ok(),
            "seed {seed}, mutation {mutation}: {bytes:02x?}"
        );
    }
}
