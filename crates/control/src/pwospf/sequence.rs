//! Order of 16-bit sequence numbers that wrap around (RFC 1982, "Serial Number Arithmetic").

use std::cmp::Ordering;

/// Half of the numbers: the distance for which RFC 1982 leaves the order open.
const HALF: u16 = 1 << 15;

/// Whether `a` was assigned before or after `b`.
///
/// At the distance of 32,768 the larger number counts as later. RFC 1982 leaves that case open; all
/// routers must decide it alike, or two of them would exchange their copies for ever.
pub(super) fn order(a: u16, b: u16) -> Ordering {
    match a.wrapping_sub(b) {
        0 => Ordering::Equal,
        HALF => a.cmp(&b),
        1..HALF => Ordering::Greater,
        _ => Ordering::Less,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_around() {
        assert_eq!(order(0, 65_535), Ordering::Greater);
        assert_eq!(order(65_535, 0), Ordering::Less);
        assert_eq!(order(100, 65_000), Ordering::Greater);
        assert_eq!(order(7, 7), Ordering::Equal);
        assert_eq!(order(32_767, 0), Ordering::Greater);
        assert_eq!(order(32_769, 0), Ordering::Less);
    }

    #[test]
    fn is_antisymmetric_at_every_distance() {
        for distance in 0..=u16::MAX {
            for base in [0, 1, 32_767, 32_768, 65_535] {
                let other = distance.wrapping_add(base);
                assert_eq!(order(other, base), order(base, other).reverse());
            }
        }
    }
}
