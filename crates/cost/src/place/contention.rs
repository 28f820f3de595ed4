//! How tables share one last-level cache: the hit ratio of each.
//!
//! Under least-recently-used replacement a line stays for the same *characteristic time* T whoever
//! uses it (Che, Tung and Wang 2002). A table of n lines that is looked up r times a second at
//! random keeps n(1 − exp(−rT/n)) of them, so T is where these sum up to the cache's lines: hit
//! ratios give insertions, insertions give T, T gives hit ratios. Newton's method walks this fixed
//! point; the sum is concave in T, so from below it never overshoots and every step is nearer. The
//! rates are the demanded ones: a placement that cannot carry them is refused.
//!
//! The law is a model of uniform lookups. Skewed lookups hit more often: their hot bytes are fewer.

use super::model::LINE_BYTES;

/// One table's use of the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    /// Bytes that it looks up again and again.
    pub(super) hot_bytes: f64,
    /// Lookups a second.
    pub(super) per_s: f64,
}

/// Rounds after which the time is near enough whatever the convergence test says; four to twelve
/// are usual.
const MOST_ROUNDS: u32 = 100;

/// The hit ratio of each of `users` of a cache of `llc_bytes`.
pub(super) fn hit_ratios(users: &[User], llc_bytes: f64) -> Vec<f64> {
    let counts = |user: &&User| user.per_s > 0.0 && user.hot_bytes > 0.0;
    let total: f64 = users.iter().filter(counts).map(|user| user.hot_bytes).sum();
    if total <= llc_bytes {
        return vec![1.0; users.len()];
    }
    if llc_bytes <= 0.0 {
        return users
            .iter()
            .map(|user| f64::from(u8::from(!counts(&user))))
            .collect();
    }
    let capacity = llc_bytes / LINE_BYTES;
    let lookups: f64 = users.iter().filter(counts).map(|user| user.per_s).sum();
    let mut time = capacity / lookups;
    for _ in 0..MOST_ROUNDS {
        let (mut held, mut slope) = (0.0, 0.0);
        for user in users.iter().filter(counts) {
            let lines = user.hot_bytes / LINE_BYTES;
            let gone = (-user.per_s * time / lines).exp();
            held += lines * (1.0 - gone);
            slope += user.per_s * gone;
        }
        let step = (capacity - held) / slope;
        // A slope of zero means that every line is held.
        if !step.is_finite() || step <= 1e-12 * time {
            break;
        }
        time += step;
    }
    let ratio = |user: &User| 1.0 - (-user.per_s * time * LINE_BYTES / user.hot_bytes).exp();
    users
        .iter()
        .map(|user| if counts(&user) { ratio(user) } else { 1.0 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(megabytes: f64, per_s: f64) -> User {
        User {
            hot_bytes: megabytes * 1e6,
            per_s,
        }
    }

    #[test]
    fn one_table_hits_as_much_as_the_cache_holds_of_it() {
        assert_eq!(hit_ratios(&[user(10.0, 1e6)], 10e6), [1.0]);
        assert!((hit_ratios(&[user(40.0, 1e6)], 10e6)[0] - 0.25).abs() < 1e-9);
    }

    #[test]
    fn the_cache_is_full_and_the_busier_table_has_more_of_it() {
        let ratios = hit_ratios(&[user(20.0, 3e6), user(20.0, 1e6), user(0.0, 5e6)], 25e6);
        assert!(
            (20.0 * (ratios[0] + ratios[1]) - 25.0).abs() < 1e-6,
            "{ratios:?}"
        );
        assert!(ratios[0] > ratios[1]);
        assert_eq!(ratios[2], 1.0);
        // By hand: 1 − x³ + 1 − x = 1.25 has x = 0.5214…
        let x: f64 = 1.0 - ratios[1];
        assert!((x.powi(3) + x - 0.75).abs() < 1e-9);
    }

    #[test]
    fn another_user_never_makes_one_hit_more() {
        let alone = hit_ratios(&[user(30.0, 1e6)], 20e6)[0];
        let mut before = alone;
        for n in 1..6 {
            let users: Vec<User> = (0..=n).map(|_| user(30.0, 1e6)).collect();
            let now = hit_ratios(&users, 20e6)[0];
            assert!(now < before);
            before = now;
        }
    }

    #[test]
    fn nearly_full_and_no_cache_are_no_trouble() {
        let ratios = hit_ratios(&[user(10.0, 1e9), user(10.0, 1e-3)], 20e6 - 64.0);
        assert!(
            ratios.iter().all(|ratio| (0.0..=1.0).contains(ratio)),
            "{ratios:?}"
        );
        assert_eq!(
            hit_ratios(&[user(1.0, 1.0), user(0.0, 1.0)], 0.0),
            [0.0, 1.0]
        );
    }
}
