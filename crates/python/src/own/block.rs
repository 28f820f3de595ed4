//! Numbers that a method of Python's gives by the block, so that one call serves many packets.
//!
//! Randomness comes from the run: the object gets a seed, the attribute `seed`, drawn from the
//! stream of random numbers of its place before its first block.

use super::call::{attached, of_no_use};
use super::class::Object;
use pyo3::prelude::*;
use trammel_core::rng::Rng;

/// Numbers that are asked for at once.
const BLOCK: usize = 1024;
/// A block may have more or fewer; more than this is a mistake.
const MOST: usize = 1 << 24;

/// A method that gives blocks, and what is left of the last one.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) of: Object,
    hook: Py<PyAny>,
    /// The name of the method.
    what: &'static str,
    has_seed: bool,
    /// In reverse.
    left: Vec<f64>,
}

impl Blocks {
    /// The blocks of the method `what` of `of`, where its class has it.
    pub(super) fn new(of: Object, what: &'static str) -> Option<Blocks> {
        let hook = of.hook(what)?;
        Some(Blocks {
            of,
            hook,
            what,
            has_seed: false,
            left: Vec::new(),
        })
    }

    /// The next number.
    pub(super) fn next(&mut self, rng: &mut Rng) -> f64 {
        loop {
            if let Some(number) = self.left.pop() {
                return number;
            }
            let seed = (!self.has_seed).then(|| rng.below(1 << 63));
            self.has_seed = true;
            self.left = attached(self.of.class.name, |py| {
                if let Some(seed) = seed {
                    self.of.set(py, "seed", seed)?;
                }
                let given = self.hook.bind(py).call1((BLOCK,))?;
                let fault = || of_no_use(self.what, "a list or array of numbers", &given);
                // An array of numpy's becomes a list in one call of its own.
                let list = match given.getattr("tolist") {
                    Ok(convert) => convert.call0()?,
                    Err(_) => given.clone(),
                };
                let mut numbers: Vec<f64> = list.extract().map_err(|_| fault())?;
                if numbers.is_empty() || numbers.len() > MOST {
                    return Err(fault());
                }
                numbers.reverse();
                Ok(numbers)
            });
        }
    }
}
