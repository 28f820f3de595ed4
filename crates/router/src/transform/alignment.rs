//! Where packet data may lie in memory: at addresses that leave `offset` when divided by `modulus`.
//!
//! An alignment stands for a set of addresses. Joining two gives the smallest such set that holds
//! both, intersecting two the addresses that are in both. `Any` is what a port has that no packet
//! reaches: it is as good as any.

/// A set of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    /// Nothing is known or asked yet.
    Unknown,
    /// What was asked cannot be had.
    Impossible,
    /// No packet comes, so that whatever is asked holds.
    Any,
    /// Addresses with this rest.
    At {
        /// At least 1.
        modulus: u32,
        /// Less than the modulus.
        offset: u32,
    },
}

use Alignment::{Any, At, Impossible, Unknown};

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Alignment {
    /// Addresses that leave `offset` when divided by `modulus`; a modulus of 0 is 1.
    pub(crate) fn new(modulus: u32, offset: i64) -> Alignment {
        let modulus = modulus.max(1);
        let offset = offset.rem_euclid(i64::from(modulus));
        At {
            modulus,
            offset: u32::try_from(offset).expect("it is less than the modulus"),
        }
    }

    /// The two numbers as they are printed.
    pub(crate) fn numbers(self) -> (i64, u32) {
        match self {
            Unknown => (0, 0),
            Impossible => (-1, 0),
            Any => (-2, 0),
            At { modulus, offset } => (i64::from(modulus), offset),
        }
    }

    /// Says nothing: all addresses, or nothing known.
    pub(crate) fn is_free(self) -> bool {
        matches!(self, Unknown | At { modulus: 1, .. })
    }

    /// The same data, `bytes` further on.
    #[must_use]
    pub(crate) fn shifted(self, bytes: i64) -> Alignment {
        match self {
            At { modulus, offset } => Alignment::new(modulus, i64::from(offset) + bytes),
            other => other,
        }
    }

    /// Whether every address of this set is one of `wanted`.
    pub(crate) fn implies(self, wanted: Alignment) -> bool {
        match (self, wanted) {
            (Impossible, _) | (_, Impossible) => false,
            (Any, _) => true,
            (_, Any) => false,
            (_, wanted) if wanted.is_free() => true,
            (
                At { modulus, offset },
                At {
                    modulus: m,
                    offset: o,
                },
            ) => modulus % m == 0 && offset % m == o,
            _ => false,
        }
    }

    /// The smallest set that holds both.
    #[must_use]
    pub(crate) fn join(self, other: Alignment) -> Alignment {
        match (self, other) {
            (Unknown, x) | (x, Unknown) => x,
            (Impossible, _) | (_, Impossible) => Impossible,
            (Any, x) | (x, Any) => x,
            (
                At {
                    modulus: m,
                    offset: a,
                },
                At {
                    modulus: n,
                    offset: b,
                },
            ) => {
                // Both leave the same rest when divided by anything that divides the distance too.
                Alignment::new(gcd(gcd(m, n), a.abs_diff(b)), i64::from(a))
            }
        }
    }

    /// The addresses that are in both.
    #[must_use]
    pub(crate) fn meet(self, other: Alignment) -> Alignment {
        match (self, other) {
            (Unknown | Any, x) | (x, Unknown | Any) => x,
            (Impossible, _) | (_, Impossible) => Impossible,
            (
                At {
                    modulus: m,
                    offset: a,
                },
                At {
                    modulus: n,
                    offset: b,
                },
            ) => {
                let step = u64::from(m) / u64::from(gcd(m, n));
                // No alignment that anyone means is so large.
                let both = step * u64::from(n);
                let (Ok(both), true) = (u32::try_from(both), both <= MOST) else {
                    return Impossible;
                };
                let fits = |at: &u32| at % m == a;
                let mut all = (0..both / n).map(|turn| b + turn * n);
                all.find(fits)
                    .map_or(Impossible, |at| Alignment::new(both, i64::from(at)))
            }
        }
    }
}

/// The largest modulus that intersecting makes.
const MOST: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(modulus: u32, offset: i64) -> Alignment {
        Alignment::new(modulus, offset)
    }

    /// The addresses up to a common period, as a set.
    fn addresses(of: Alignment) -> Vec<u32> {
        let At { modulus, offset } = of else {
            return Vec::new();
        };
        (0..240).filter(|a| a % modulus == offset).collect()
    }

    #[test]
    fn the_calculus_is_that_of_sets() {
        let moduli = [1, 2, 3, 4, 6, 8, 12];
        let all = || {
            moduli
                .into_iter()
                .flat_map(|m| (0..m).map(move |o| at(m, i64::from(o))))
        };
        for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
            let (x, y) = (addresses(a), addresses(b));
            let both: Vec<u32> = x.iter().copied().filter(|i| y.contains(i)).collect();
            assert_eq!(addresses(a.meet(b)), both, "{a:?} and {b:?}");
            assert_eq!(
                a.implies(b),
                x.iter().all(|i| y.contains(i)),
                "{a:?} in {b:?}"
            );
            let join = a.join(b);
            assert!(a.implies(join) && b.implies(join));
            let smaller =
                |c: Alignment| a.implies(c) && b.implies(c) && c != join && c.implies(join);
            assert!(!all().any(smaller), "{a:?} or {b:?}");
        }
    }

    #[test]
    fn shifts_wrap_around() {
        assert_eq!(at(4, 2).shifted(14), at(4, 0));
        assert_eq!(at(4, 0).shifted(-14), at(4, 2));
    }

    #[test]
    fn nothing_known_is_neutral() {
        assert_eq!(Unknown.join(at(4, 2)), at(4, 2));
        assert_eq!(Any.join(at(4, 2)), at(4, 2));
        assert!(
            Any.implies(at(8, 1)) && !Impossible.implies(at(1, 0)) && !Unknown.implies(at(2, 0))
        );
    }
}
