//! Randomness: one xoshiro256++ stream per (seed, entity).
//!
//! Every link, flow and workload draws from its own stream, so that adding a flow does not change
//! the losses of another. Streams differ by a name, hashed with FNV-1a and mixed with the run's
//! seed through SplitMix64 (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators",
//! 2021).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng, TryRng};
use std::convert::Infallible;

/// A deterministic stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream of `entity` (any stable name, such as `"link:bottleneck"`) in the run with
    /// `seed`.
    pub fn new(seed: u64, entity: &str) -> Rng {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in entity.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Rng(Xoshiro256PlusPlus::seed_from_u64(
            hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        ))
    }

    /// Uniform in [0, 1), with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform among 0 … `n` − 1, without bias (Lemire's method); `n` is at least 1.
    pub fn below(&mut self, n: u64) -> u64 {
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(n);
            // The low half is uniform over multiples of n but for the first 2^64 mod n values.
            if (wide as u64) >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

/// What makes it a source of `rand_core`, so that the samplers of other crates draw from it.
impl TryRng for Rng {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }
    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(dst);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_by_entity_and_repeat() {
        let first = |seed, entity| Rng::new(seed, entity).next_u64();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
    }

    #[test]
    fn below_is_uniform() {
        let mut rng = Rng::new(7, "below");
        let mut seen = [0_u32; 3];
        for _ in 0..30_000 {
            seen[rng.below(3) as usize] += 1;
        }
        // Four standard deviations of a binomial(30000, 1/3) are 327.
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 327), "{seen:?}");
    }
}
