//! Whatever a file holds, it is read or refused: in little time, and without much memory.
//!
//! The seeds of the fuzzer are read, cut everywhere and with bytes changed. `TRAMMEL_SEED` and
//! `TRAMMEL_MUTATIONS` try others.
#![allow(clippy::print_stdout)]

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use trammel_formats::{Format, read};

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let entries = fs::read_dir(folder).expect("the folder is part of the repository");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

/// A sequence of numbers that looks random (Marsaglia 2003).
struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn try_all(target: &str, take: impl Fn(&[u8])) {
    let seed = number("TRAMMEL_SEED", 1);
    let mutations = number("TRAMMEL_MUTATIONS", 300);
    for (path, bytes) in corpus(target) {
        println!("{} with TRAMMEL_SEED={seed}", path.display());
        take(&bytes);
        let mut random = Xorshift(seed.max(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for _ in 0..mutations {
            let mut changed = bytes.clone();
            for _ in 0..=random.next() % 4 {
                let at = (random.next() % changed.len() as u64) as usize;
                match random.next() % 4 {
                    0 => changed[at] = random.next() as u8,
                    1 => changed[at] ^= 1 << (random.next() % 8),
                    2 => changed.truncate(at.max(1)),
                    _ => {
                        let piece = changed[at..(at + 16).min(changed.len())].to_vec();
                        changed.splice(at..at, piece);
                    }
                }
            }
            take(&changed);
        }
    }
}

#[test]
fn captures_are_read_or_refused() {
    try_all("import_capture", |bytes| {
        let _ = read(Box::new(Cursor::new(bytes.to_vec())), Some(Format::Capture));
    });
}

#[test]
fn documents_are_read_or_refused() {
    try_all("import_document", |bytes| {
        let Some((first, file)) = bytes.split_first() else {
            return;
        };
        let format = usize::from(first.wrapping_sub(b'0'));
        let _ = read(
            Box::new(Cursor::new(file.to_vec())),
            Format::ALL.get(format).copied(),
        );
        let _ = read(Box::new(Cursor::new(file.to_vec())), None);
    });
}

#[test]
fn every_seed_is_read_and_known_by_its_content() {
    for (path, bytes) in corpus("import_document") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = bytes[1..].to_vec();
        let imported =
            read(Box::new(Cursor::new(file)), None).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(
            name.starts_with(imported.format.name()),
            "{name}: {:?}",
            imported.format
        );
    }
}

/// A file that never ends.
struct Endless(&'static [u8]);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        for (at, byte) in buffer.iter_mut().enumerate() {
            *byte = self.0[at % self.0.len()];
        }
        Ok(buffer.len())
    }
}

#[test]
fn a_text_without_end_is_refused_at_its_bound() {
    let text = Box::new(Cursor::new(b"{\"start\": ".to_vec()).chain(Endless(b" ")));
    let why = read(text, None).unwrap_err().to_string();
    assert!(why.contains("134217728 bytes"), "{why}");
    // A record of a capture that claims a gigabyte.
    let mut capture = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0];
    capture.extend([0; 8]);
    capture.extend([0, 0, 4, 0, 1, 0, 0, 0]);
    capture.extend([0; 8]);
    capture.extend([0, 0, 0, 0x40, 0, 0, 0, 0x40]);
    let why = read(Box::new(Cursor::new(capture)), None)
        .unwrap_err()
        .to_string();
    assert!(why.contains("longer than"), "{why}");
}
