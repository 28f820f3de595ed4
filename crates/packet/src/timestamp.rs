//! Times of day in nanoseconds, as packets carry them.

use std::fmt;
use std::ops::{Add, Sub};

/// Nanoseconds since 1970, or a difference of two such times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// No time: what a packet has that was never stamped.
    pub const ZERO: Timestamp = Timestamp(0);

    /// From whole seconds.
    pub const fn from_secs(s: i64) -> Timestamp {
        Timestamp(s * 1_000_000_000)
    }

    /// From seconds and nanoseconds.
    pub const fn new(s: i64, ns: i64) -> Timestamp {
        Timestamp(s * 1_000_000_000 + ns)
    }

    /// From seconds; rounded to the nanosecond.
    pub fn from_secs_f64(s: f64) -> Timestamp {
        Timestamp((s * 1e9).round() as i64)
    }

    /// Whole seconds, rounded down.
    pub const fn secs(self) -> i64 {
        self.0.div_euclid(1_000_000_000)
    }

    /// The nanoseconds after [`Timestamp::secs`].
    pub const fn subsec_ns(self) -> i64 {
        self.0.rem_euclid(1_000_000_000)
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Whether this is [`Timestamp::ZERO`].
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add for Timestamp {
    type Output = Timestamp;
    fn add(self, other: Timestamp) -> Timestamp {
        Timestamp(self.0.saturating_add(other.0))
    }
}

impl Sub for Timestamp {
    type Output = Timestamp;
    fn sub(self, other: Timestamp) -> Timestamp {
        Timestamp(self.0.saturating_sub(other.0))
    }
}

/// Seconds with nine digits after the point; a negative one has one minus sign before it.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, ns) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        write!(f, "{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_nine_digits_and_one_sign() {
        assert_eq!(Timestamp::new(1, 5).to_string(), "1.000000005");
        assert_eq!(Timestamp(-1_500_000_000).to_string(), "-1.500000000");
        assert_eq!(Timestamp(-1).secs(), -1);
        assert_eq!(Timestamp(-1).subsec_ns(), 999_999_999);
    }
}
