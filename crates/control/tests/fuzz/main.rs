//! The software put to inputs that were made to break it.
//!
//! The fuzzer of `fuzz/` calls the same function; here every input of its corpus is read again,
//! with mutations of them, drawn from `TRAMMEL_SEED` (1 by default), `TRAMMEL_MUTATIONS` in all.

mod inputs;
mod targets;

use inputs::{below, mutate, seeds, variable};
use std::panic::catch_unwind;
use trammel_core::rng::Rng;

#[test]
fn control_software() {
    let (seed, mutations) = (
        variable("TRAMMEL_SEED", 1),
        variable("TRAMMEL_MUTATIONS", 2000),
    );
    let mut rng = Rng::new(seed, "mutations of steps");
    let seeds = seeds("control_software");
    for input in &seeds {
        targets::control_software::run(input);
    }
    for mutation in 0..mutations {
        let mut bytes = seeds[below(&mut rng, seeds.len())].clone();
        for _ in 0..=below(&mut rng, 4) {
            mutate(&mut bytes, &mut rng);
        }
        let ran = catch_unwind(|| targets::control_software::run(&bytes));
        assert!(
            ran.is_ok(),
            "seed {seed}, mutation {mutation}: {bytes:02x?}"
        );
    }
}
