//! See `crates/card/tests/fuzz/targets/command_line.rs`, which is this target.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/card/tests/fuzz/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::command_line::run(bytes));
