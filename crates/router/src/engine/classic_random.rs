//! The random numbers that C programs of old draw after `srandom(seed)`.
//!
//! An additive feedback generator over 31 words, *r*\[i\] = *r*\[i − 3\] + *r*\[i − 31\] modulo
//! 2³², whose lowest bit is left out of what it gives. The minimal standard generator,
//! *x* ← 16807 *x* mod (2³¹ − 1), fills the first words; the next 310 sums are thrown away.
//!
//! Configurations that set a seed were written with the numbers that follow it in mind, so elements
//! draw from this generator once `RandomSeed` was given a seed, all from the same; else each has a
//! stream of its own. For more than 2³¹ values it is too narrow.
//!
//! # References
//! Knuth, "The Art of Computer Programming", vol. 2, §3.2.2 (additive generators); Park and Miller,
//! "Random number generators: good ones are hard to find", CACM 31, 1988.

/// Words of the generator.
const DEGREE: usize = 31;
/// How far the nearer word of a sum is back.
const SEPARATION: usize = 3;
/// Sums that are thrown away: ten rounds.
const SKIPPED: usize = 10 * DEGREE;
/// How many numbers there are.
pub(crate) const RANGE: u64 = 1 << 31;

/// The generator.
#[derive(Clone, Debug)]
pub(crate) struct ClassicRandom {
    words: [u32; DEGREE],
    /// The oldest word, which the next replaces.
    at: usize,
}

impl ClassicRandom {
    /// The generator after `srandom(seed)`; a seed of 0 counts as 1.
    pub(crate) fn new(seed: u32) -> ClassicRandom {
        const MODULUS: i64 = (1 << 31) - 1;
        let mut words = [0; DEGREE];
        // The first word is a signed one, as it was in C.
        let mut x = i64::from(seed.max(1) as i32);
        for word in &mut words {
            *word = x as u32;
            x = (x * 16807 % MODULUS + MODULUS) % MODULUS;
        }
        // The first three words stand behind the others.
        let mut new = ClassicRandom {
            words,
            at: SEPARATION,
        };
        for _ in 0..SKIPPED {
            new.draw();
        }
        new
    }

    /// The next number, below 2³¹.
    pub(crate) fn draw(&mut self) -> u32 {
        let near = self.words[(self.at + DEGREE - SEPARATION) % DEGREE];
        let sum = self.words[self.at].wrapping_add(near);
        self.words[self.at] = sum;
        self.at = (self.at + 1) % DEGREE;
        sum >> 1
    }

    /// One of 0 … `n` − 1; `n` is from 1 to 2³¹. The numbers are cut into `n` runs of one length,
    /// and those beyond the last run are drawn again; of two values bit 14 chooses.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        if n == 2 {
            return u64::from(self.draw() >> 14 & 1);
        }
        let run = RANGE / n.clamp(1, RANGE);
        loop {
            let value = u64::from(self.draw()) / run;
            if value < n {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ClassicRandom;

    #[test]
    fn seed_1_gives_the_numbers_that_c_programs_start_with() {
        let mut random = ClassicRandom::new(1);
        let first: [u32; 5] = std::array::from_fn(|_| random.draw());
        let known = [1804289383, 846930886, 1681692777, 1714636915, 1957747793];
        assert_eq!(first, known);
        assert_eq!(ClassicRandom::new(0).draw(), known[0]);
    }

    #[test]
    fn other_seeds_give_their_own() {
        // What `srandom(seed); random()` of the GNU C library gives.
        for (seed, first) in [
            (2, 1505335290),
            (42, 71876166),
            (0x7FFF_FFFF, 1065668062),
            (0x8000_0000, 1336741213),
            (0xFFFF_FFFF, 254925627),
        ] {
            assert_eq!(ClassicRandom::new(seed).draw(), first, "{seed}");
        }
    }

    #[test]
    fn every_value_of_a_range_comes_and_none_beyond_it() {
        for n in [1, 2, 3, 7, 1 << 31] {
            let mut random = ClassicRandom::new(5);
            let drawn: Vec<u64> = (0..200).map(|_| random.below(n)).collect();
            assert!(drawn.iter().all(|value| *value < n));
            assert!((0..n.min(7)).all(|value| n > 7 || drawn.contains(&value)));
        }
    }
}
