//! Starts all random numbers anew.
//!
//! # What it does
//! With a seed, all elements draw from one sequence, that of C's `random()` after `srandom(seed)`,
//! so that a configuration made for it finds the numbers that it was made for. Without one nothing
//! changes: each element has a sequence of its own, and runs repeat anyway.
//!
//! # Example
//! ```click
//! // The same random numbers each time.
//! RandomSeed(42); RatedSource(RATE 10) -> RandomSample(0.5) -> Discard
//! ```

use crate::args::kinds::UINT;
use crate::args::numbers::parse_uint;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};

/// The class.
pub static ENTRY: Entry = Entry::new("RandomSeed", "sets the seed of random numbers", || {
    Box::<RandomSeed>::default()
})
.ports("0/0", "a/a")
.params(&[positional("SEED", UINT, "", "the seed")]);

#[derive(Debug, Default)]
struct RandomSeed {
    seed: Option<u64>,
}

impl Element for RandomSeed {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.seed = args.opt_uint("SEED");
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        if let Some(seed) = self.seed {
            ctx.reseed(seed);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("seed", "rw.")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.seed.map(|seed| seed.to_string()).unwrap_or_default())
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let seed = parse_uint(value.trim(), u64::from(u32::MAX));
        let seed = seed.map_err(|e| format!("SEED: {e}"))?;
        self.seed = Some(seed);
        ctx.reseed(seed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn a_seed_gives_the_numbers_of_old_whoever_draws_them() {
        let mut run = loaded("RandomSeed(1); a, b :: Script(TYPE PASSIVE)");
        assert_eq!(run.read("a.random"), "1804289383");
        assert_eq!(run.read("b.random"), "846930886");
    }

    #[test]
    fn the_same_seed_draws_the_same_numbers() {
        let mut run = loaded("r :: RandomSeed(5); s :: Script(TYPE PASSIVE)");
        let first = run.read("s.random");
        assert_ne!(run.read("s.random"), first);
        run.write("r.seed", "5").expect("a number");
        assert_eq!(
            (run.read("s.random"), run.read("r.seed")),
            (first, "5".into())
        );
    }
}
