//! Where a table's lines are found: the share of accesses that each level of cache answers.
//!
//! Lines of all tables compete for a cache that keeps what was used last. In Che's approximation
//! each line stays for one *characteristic time* t, the same for all, so an access that comes λ
//! times a packet finds its line with probability 1 − exp(−λt), and t is where the lines fill the
//! cache:
//!
//! ```text
//! Σ over lines (1 − exp(−λ·t)) = lines of the cache
//! ```
//!
//! Che, Tung and Wang, "Hierarchical Web Caching Systems", 2002, §III; Fricker, Robert and Roberts,
//! "A versatile and accurate approximation for LRU cache performance", 2012, on why it is good.

/// How often which key of a table is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Locality {
    /// All alike.
    Uniform,
    /// The k-th most often used in proportion to k to the power of minus this, 0 being uniform.
    Zipf(f64),
}

/// Lines that are accessed alike: a table, or the packets themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Population {
    /// Accesses a packet.
    pub rate: f64,
    /// Different keys that come.
    pub keys: f64,
    /// Lines that the whole table has.
    pub lines: f64,
    /// Keys that the whole table has in each of them.
    pub per_line: f64,
    /// How often which key comes.
    pub locality: Locality,
}

/// Groups of ranks that a law is cut into: each is taken for a number of keys that are used alike.
const GROUPS_PER_DOUBLING: f64 = 4.0;

/// Lines that are used alike.
#[derive(Clone, Copy, Debug)]
struct Group {
    lines: f64,
    /// Accesses a packet to each of them.
    rate: f64,
}

impl Population {
    /// Lines that keys touch: several keys may share one.
    fn touched(&self) -> f64 {
        let share = self.keys / (self.lines * self.per_line).max(self.keys);
        // A line is missed where all of its keys are: they are drawn from all keys of the table.
        self.lines * (1.0 - (1.0 - share).powf(self.per_line.max(1.0)))
    }

    fn groups(&self) -> Vec<Group> {
        let touched = self.touched().min(self.keys).max(1.0);
        let exponent = match self.locality {
            Locality::Zipf(exponent) if exponent > 0.0 => exponent,
            _ => {
                let rate = self.rate / touched;
                return vec![Group {
                    lines: touched,
                    rate,
                }];
            }
        };
        // Ranks 1, 2, 3, … then ever larger groups; the weight of a group is the law's integral
        // over it.
        let mut edges = vec![1.0];
        while let Some(last) = edges.last().copied().filter(|last| *last < self.keys + 1.0) {
            let next = (last * f64::exp2(1.0 / GROUPS_PER_DOUBLING)).max(last + 1.0);
            edges.push(next.floor().min(self.keys + 1.0));
        }
        let weight = |from: f64, to: f64| {
            if to - from <= 1.0 {
                return from.powf(-exponent);
            }
            // The sum over whole ranks is close to the integral from a half before to a half before
            // the next.
            let (from, to) = (from - 0.5, to - 0.5);
            if (exponent - 1.0).abs() < 1e-9 {
                (to / from).ln()
            } else {
                (to.powf(1.0 - exponent) - from.powf(1.0 - exponent)) / (1.0 - exponent)
            }
        };
        let weights: Vec<f64> = edges.windows(2).map(|e| weight(e[0], e[1])).collect();
        let all: f64 = weights.iter().sum();
        let shared = touched / self.keys;
        let group = |(edge, weight): (&[f64], &f64)| {
            let lines = (edge[1] - edge[0]) * shared;
            let rate = self.rate * weight / all / lines;
            Group { lines, rate }
        };
        edges.windows(2).zip(&weights).map(group).collect()
    }
}

/// For each population and cache, the share of accesses that the cache or a smaller one answers.
/// `caches` are the lines of each cache, the smallest first.
pub fn hits(populations: &[Population], caches: &[f64]) -> Vec<Vec<f64>> {
    hits_beside(populations, &[], caches.len(), caches)
}

/// The same where `others` use the caches from the index `shared` on as well; they ask as often as
/// they do while one packet of `populations` passes.
pub(crate) fn hits_beside(
    populations: &[Population],
    others: &[Population],
    shared: usize,
    caches: &[f64],
) -> Vec<Vec<f64>> {
    let mut groups: Vec<Vec<Group>> = populations
        .iter()
        .chain(others)
        .map(Population::groups)
        .collect();
    let own = populations.len();
    let times: Vec<f64> = caches
        .iter()
        .enumerate()
        .map(|(at, lines)| {
            let users = if at >= shared {
                &groups
            } else {
                &groups[..own]
            };
            characteristic_time(users, *lines)
        })
        .collect();
    groups.truncate(own);
    let of = |groups: &Vec<Group>| {
        let accesses: f64 = groups.iter().map(|g| g.lines * g.rate).sum();
        let share = |time: &f64| {
            if accesses <= 0.0 {
                return 1.0;
            }
            let found = |g: &Group| g.lines * g.rate * -f64::exp_m1(-g.rate * time);
            groups.iter().map(found).sum::<f64>() / accesses
        };
        times.iter().map(share).collect()
    };
    groups.iter().map(of).collect()
}

/// The time in packets for which a line stays in a cache of so many lines; infinite where all lines
/// fit.
fn characteristic_time(groups: &[Vec<Group>], lines: f64) -> f64 {
    let used = groups.iter().flatten().filter(|group| group.rate > 0.0);
    let all: f64 = used.clone().map(|group| group.lines).sum();
    if all <= lines {
        return f64::INFINITY;
    }
    let filled = |time: f64| -> f64 {
        used.clone()
            .map(|group| group.lines * -f64::exp_m1(-group.rate * time))
            .sum()
    };
    let (mut low, mut high) = (0.0, 1.0);
    while filled(high) < lines && high < 1e300 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if filled(middle) < lines {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn table(keys: f64, lines: f64, locality: Locality) -> Population {
        Population {
            rate: 1.0,
            keys,
            lines,
            per_line: 1.0,
            locality,
        }
    }

    #[test]
    fn what_fits_is_found() {
        let found = hits(&[table(100.0, 100.0, Locality::Uniform)], &[64.0, 200.0]);
        // Of uniform accesses the cache answers its share.
        assert!((found[0][0] - 0.64).abs() < 0.02, "{found:?}");
        assert_eq!(found[0][1], 1.0);
    }

    #[test]
    fn keys_share_lines() {
        // All of four million keys of 16 bytes touch every line; a hundred of them hardly share
        // one.
        let all = Population {
            per_line: 4.0,
            ..table(4e6, 1e6, Locality::Uniform)
        };
        assert_eq!(all.touched(), 1e6);
        let few = Population { keys: 100.0, ..all };
        assert!((few.touched() - 100.0).abs() < 0.1, "{}", few.touched());
    }

    /// The share of accesses that a cache of `size` lines answers which keeps what was used last.
    fn simulated(keys: usize, exponent: f64, size: usize, seed: u64) -> f64 {
        let mut rng = Rng::new(seed, "lru");
        let weights: Vec<f64> = (1..=keys).map(|k| (k as f64).powf(-exponent)).collect();
        let mut sums = weights;
        for at in 1..keys {
            sums[at] += sums[at - 1];
        }
        let all = sums[keys - 1];
        let mut used = vec![0_u64; keys];
        let mut order = std::collections::BTreeMap::new();
        let (mut found, mut asked) = (0, 0);
        for now in 1..=400_000_u64 {
            let drawn = rng.unit() * all;
            let key = sums.partition_point(|sum| *sum < drawn).min(keys - 1);
            let is_in = order.remove(&used[key]).is_some();
            used[key] = now;
            order.insert(now, key);
            if order.len() > size {
                order.pop_first();
            }
            if now > 100_000 {
                asked += 1;
                found += u64::from(is_in);
            }
        }
        found as f64 / asked as f64
    }

    #[test]
    fn shares_are_those_of_a_simulated_cache() {
        for (keys, exponent, size) in [
            (10_000, 0.0, 2_000),
            (10_000, 1.0, 500),
            (20_000, 0.8, 2_000),
            (5_000, 1.3, 300),
        ] {
            let law = Locality::Zipf(exponent);
            let lines = 1e12; // A line for each key.
            let found = hits(&[table(f64::from(keys), lines, law)], &[f64::from(size)]);
            let seen = simulated(keys as usize, exponent, size as usize, 1);
            assert!(
                (found[0][0] - seen).abs() < 0.02,
                "{keys} keys, {exponent}, {size} lines: {} against {seen}, seed 1",
                found[0][0]
            );
        }
    }

    #[test]
    fn another_beside_takes_lines_of_the_shared_cache_alone() {
        let own = table(1e5, 1e5, Locality::Uniform);
        let caches = [1e4, 1e5];
        let alone = hits(&[own], &caches);
        let beside = hits_beside(&[own], &[own], 1, &caches);
        assert_eq!(alone[0][1], 1.0);
        assert_eq!(alone[0][0], beside[0][0]);
        // Two alike have half of it each.
        assert!((beside[0][1] - 0.5).abs() < 0.01, "{beside:?}");
        let all = hits(&[own, own], &caches);
        assert_eq!(hits_beside(&[own], &[own], 0, &caches)[0], all[0]);
    }

    #[test]
    fn who_is_asked_more_keeps_more() {
        let busy = table(1e5, 1e5, Locality::Uniform);
        let idle = Population { rate: 0.1, ..busy };
        let found = hits(&[busy, idle], &[1e5]);
        assert!(found[0][0] > 0.7 && found[1][0] < 0.4, "{found:?}");
        let rest = found[0][0] + found[1][0];
        assert!(rest > 0.9 && rest < 1.1, "{found:?}");
    }
}
