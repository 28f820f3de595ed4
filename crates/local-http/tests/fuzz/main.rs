//! The reader of requests put to inputs that were made to break it.
//!
//! The fuzzer of `fuzz/` calls the same function; here every input of its corpus is read again, and
//! each with a piece of another in its place.

mod target;

use proptest::prelude::*;
use std::path::Path;

/// The inputs that are kept.
fn corpus() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/local_http");
    let entries = std::fs::read_dir(Path::new(folder)).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    let read = |path| std::fs::read(path).expect("the file exists");
    paths.into_iter().map(read).collect()
}

#[test]
fn what_is_kept_is_read() {
    let inputs = corpus();
    assert!(inputs.len() > 10, "{} inputs", inputs.len());
    for input in &inputs {
        target::run(input);
    }
}

proptest! {
    #[test]
    fn mutations_of_it_are(
        one in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), length in 0..40_usize,
        piece in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let inputs = corpus();
        let mut bytes = one.get(&inputs).clone();
        let other = other.get(&inputs);
        let begin = piece.index(other.len() + 1);
        let mut new = other[begin..other.len().min(begin + length)].to_vec();
        new.push(byte);
        let at = at.index(bytes.len() + 1);
        let end = bytes.len().min(at + length);
        bytes.splice(at..end, new);
        target::run(&bytes);
    }
}
