//! See `crates/local-http/tests/fuzz/target.rs`, which is this target.
#![no_main]

#[path = "../../crates/local-http/tests/fuzz/target.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target::run(bytes));
