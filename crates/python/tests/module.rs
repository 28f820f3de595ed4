//! The module is built with the workspace's tests, so that `./test --guards` makes a wheel of it
//! without building anything again. Here is looked for what Python looks for in it; all else is
//! tested from Python, in `python/tests`.
#![cfg(target_os = "linux")]

use std::path::PathBuf;

/// The module beside this test.
fn module() -> PathBuf {
    let own = std::env::current_exe().expect("a test knows where it is");
    own.with_file_name("lib_trammel.so")
}

#[test]
fn python_finds_its_entrance() {
    const ENTRANCE: &[u8] = b"PyInit__trammel\0";
    let bytes = std::fs::read(module()).expect("cargo builds it for this test");
    let is_there = bytes
        .windows(ENTRANCE.len())
        .any(|window| window == ENTRANCE);
    assert!(is_there);
}
