//! Any text is either a scenario or a list of faults that can be shown: the reader never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use trammel::scenario::{File, ReadError};

fuzz_target!(|text: &str| {
    // Files that the text names are looked for where there are none.
    match File::parse("fuzz.toml", text, Path::new("/nonexistent")) {
        Ok(file) => assert!(!file.points.is_empty()),
        Err(ReadError::Faults(problems)) => {
            assert!(!problems.render(false).is_empty());
        }
        Err(_) => {}
    }
});
