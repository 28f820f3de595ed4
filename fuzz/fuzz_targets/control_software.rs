//! See `crates/control/tests/fuzz/targets/control_software.rs`, which is this target.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/control/tests/fuzz/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::control_software::run(bytes));
