//! See `crates/tcp/tests/fuzz/target.rs`, which is this target.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/tcp/tests/fuzz/target.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target::run(bytes));
