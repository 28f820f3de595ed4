//! See `crates/router/tests/fuzz/targets/summary.rs`, which is this target.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/router/tests/fuzz/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::summary::run(bytes));
