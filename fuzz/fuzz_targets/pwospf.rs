//! See `crates/control/tests/ospf/fuzz.rs`, which is this target.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/control/tests/ospf/fuzz.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target::run(bytes));
