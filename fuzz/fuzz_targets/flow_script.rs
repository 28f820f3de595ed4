//! See `crates/trammel/tests/targets/flow_script.rs`, which is this target.
#![no_main]

#[path = "../../crates/trammel/tests/targets/flow_script.rs"]
mod flow_script;

libfuzzer_sys::fuzz_target!(|text: &str| flow_script::run(text));
