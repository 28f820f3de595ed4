//! See `crates/traffic/tests/fuzz/targets/itg.rs`, which is this target.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/traffic/tests/fuzz/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::itg::run(bytes));
