//! The share of each cache that one core may count on, from loads over working sets of many sizes.
//!
//! A cache's latency can be measured within it; how much of it there is cannot be read anywhere,
//! since neighbours, code and the kernel have their part. So the shares are what makes the model's
//! own formula agree with dependent loads at random places, by the least sum of squared relative
//! errors: a search over a grid, one level after the other, the outermost first, until nothing
//! changes.

use crate::eo::LINE;
use crate::machine::{Level, Pages};

/// Steps of a share, from one to a hundred hundredths.
const STEPS: u32 = 100;
/// Times that all levels are gone through, at most.
const SWEEPS: usize = 4;

/// What is behind the caches.
#[derive(Clone, Copy, Debug)]
pub struct Behind<'a> {
    /// Cycles of an access to memory.
    pub memory_cycles: f64,
    /// Pages, where walks are charged.
    pub pages: Option<&'a Pages>,
}

/// Cycles of a dependent load at a random place of so many bytes, as the estimate has it.
pub fn expected(levels: &[Level], behind: Behind<'_>, bytes: f64) -> f64 {
    let lines = (bytes / LINE).max(1.0);
    let (mut cycles, mut below) = (0.0, 0.0);
    for level in levels {
        // Of lines that are all used alike a cache answers the share that it holds:
        // `residency::hits`, solved.
        let hit = ((level.bytes * level.share / LINE).max(1.0) / lines).min(1.0);
        cycles += (hit - below).max(0.0) * level.cycles;
        below = below.max(hit);
    }
    let walk = behind.pages.map_or(0.0, |pages| pages.walk(bytes, levels));
    cycles + (1.0 - below) * (behind.memory_cycles + walk)
}

/// Sets the shares of `levels` so that they agree best with `seen`, each the bytes of a working set
/// and the cycles of a dependent load; gives the root of the mean squared relative error, or
/// nothing where nothing was seen.
pub fn fit(levels: &mut [Level], behind: Behind<'_>, seen: &[(f64, f64)]) -> Option<f64> {
    if seen.is_empty() || seen.iter().any(|(_, cycles)| *cycles <= 0.0) {
        return None;
    }
    let error = |levels: &[Level]| -> f64 {
        let one = |(bytes, cycles): &(f64, f64)| {
            (expected(levels, behind, *bytes) / cycles - 1.0).powi(2)
        };
        seen.iter().map(one).sum()
    };
    for _ in 0..SWEEPS {
        let before: Vec<f64> = levels.iter().map(|level| level.share).collect();
        for at in (0..levels.len()).rev() {
            let best = (1..=STEPS)
                .map(|step| f64::from(step) / f64::from(STEPS))
                .map(|share| {
                    levels[at].share = share;
                    (error(levels), share)
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            levels[at].share = best.map_or(1.0, |(_, share)| share);
        }
        if levels.iter().map(|level| level.share).eq(before) {
            break;
        }
    }
    Some((error(levels) / seen.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn levels(shares: [f64; 3]) -> Vec<Level> {
        let rows = [(32.0, 5.0), (512.0, 14.0), (32768.0, 50.0)];
        let all = rows.iter().zip(shares).enumerate();
        all.map(|(at, ((kib, cycles), share))| Level {
            name: format!("L{}", at + 1),
            bytes: kib * 1024.0,
            cycles: *cycles,
            share,
        })
        .collect()
    }

    #[test]
    fn shares_are_found_from_noisy_loads() {
        let mut rng = Rng::new(1, "shares");
        let pages = Pages {
            bytes: 4096.0,
            entries: 2048.0,
            cycles: 30.0,
        };
        let behind = Behind {
            memory_cycles: 450.0,
            pages: Some(&pages),
        };
        let known = levels([0.9, 0.8, 0.15]);
        let seen: Vec<(f64, f64)> = (13..28)
            .map(|power| {
                let bytes = f64::exp2(f64::from(power));
                let noise = 0.98 + 0.04 * rng.unit();
                (bytes, expected(&known, behind, bytes) * noise)
            })
            .collect();
        let mut found = levels([1.0; 3]);
        let residual = fit(&mut found, behind, &seen).unwrap();
        assert!(residual < 0.03, "{residual}");
        for (found, known) in found.iter().zip(&known) {
            let error = found.share - known.share;
            assert!(error.abs() < 0.1, "{found:?} against {known:?}, seed 1");
        }
    }

    #[test]
    fn what_is_expected_is_what_the_residency_model_says() {
        use crate::residency::{Locality, Population, hits};
        let levels = levels([1.0, 0.8, 0.2]);
        let behind = Behind {
            memory_cycles: 450.0,
            pages: None,
        };
        for power in 12..28 {
            let bytes = f64::exp2(f64::from(power));
            let population = Population {
                rate: 1.0,
                keys: bytes / LINE,
                lines: bytes / LINE,
                per_line: 1.0,
                locality: Locality::Uniform,
            };
            let caches: Vec<f64> = levels.iter().map(|l| l.bytes * l.share / LINE).collect();
            let found = &hits(&[population], &caches)[0];
            let parts = [
                found[0],
                found[1] - found[0],
                found[2] - found[1],
                1.0 - found[2],
            ];
            let costs = [5.0, 14.0, 50.0, 450.0];
            let cycles: f64 = parts
                .iter()
                .zip(costs)
                .map(|(part, cost)| part * cost)
                .sum();
            let ours = expected(&levels, behind, bytes);
            assert!(
                (ours / cycles - 1.0).abs() < 1e-6,
                "{bytes}: {ours} against {cycles}"
            );
        }
    }

    #[test]
    fn nothing_is_fitted_to_nothing() {
        let behind = Behind {
            memory_cycles: 450.0,
            pages: None,
        };
        assert_eq!(fit(&mut levels([1.0; 3]), behind, &[]), None);
        assert_eq!(fit(&mut levels([1.0; 3]), behind, &[(1e6, 0.0)]), None);
    }
}
