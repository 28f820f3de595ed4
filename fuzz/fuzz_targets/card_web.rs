//! See `crates/card/tests/fuzz/targets/card_web.rs`, which is this target.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/card/tests/fuzz/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::card_web::run(bytes));
