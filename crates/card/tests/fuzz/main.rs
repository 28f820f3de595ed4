//! The web page, the register socket and the command line put to inputs that were made to break
//! them.
//!
//! The fuzzer of `fuzz/` calls the same functions; here every input of its corpus is read again,
//! with mutations of them, drawn from `TRAMMEL_SEED` (1 by default), `TRAMMEL_MUTATIONS` in all.

#![cfg(target_os = "linux")]

#[path = "../../../control/tests/fuzz/inputs.rs"]
mod inputs;
mod targets;

use inputs::{below, mutate, seeds, variable};
use std::panic::catch_unwind;
use trammel_core::rng::Rng;

/// Reads the inputs of `target`, and mutations of them.
fn put(target: &str, run: fn(&[u8])) {
    let (seed, mutations) = (
        variable("TRAMMEL_SEED", 1),
        variable("TRAMMEL_MUTATIONS", 2000),
    );
    let mut rng = Rng::new(seed, &format!("mutations for {target}"));
    let seeds = seeds(target);
    for input in &seeds {
        run(input);
    }
    for mutation in 0..mutations {
        let mut bytes = seeds[below(&mut rng, seeds.len())].clone();
        for _ in 0..=below(&mut rng, 4) {
            mutate(&mut bytes, &mut rng);
        }
        let ran = catch_unwind(|| run(&bytes));
        assert!(
            ran.is_ok(),
            "seed {seed}, mutation {mutation}: {bytes:02x?}"
        );
    }
}

#[test]
fn card_web() {
    put("card_web", targets::card_web::run);
}

#[test]
fn register_socket() {
    put("register_socket", targets::register_socket::run);
}

#[test]
fn command_line() {
    put("command_line", targets::command_line::run);
}
