//! Virtual time: integer picoseconds, for instants and for spans alike.
//!
//! A picosecond is exact for every byte at every rate up to 8 Tbit/s that divides 10¹², and 64 bits of
//! them last 213 days. Integers make two runs on two platforms equal to the bit.
//!
//! Sums and products that would be later than [`Time::MAX`] are `Time::MAX`, in every build: what comes after the last instant never
//! comes. No span is below zero: a difference that would be is a fault of the program and ends it, in every build.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant since the start of a run, or a span between two instants, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of a run, or an empty span.
    pub const ZERO: Time = Time(0);
    /// Later than any instant of any run: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }
    /// `ns` nanoseconds; more than 213 days become [`Time::MAX`].
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns.saturating_mul(1_000))
    }
    /// `us` microseconds; more than 213 days become [`Time::MAX`].
    pub const fn from_us(us: u64) -> Time {
        Time(us.saturating_mul(1_000_000))
    }
    /// `ms` milliseconds; more than 213 days become [`Time::MAX`].
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms.saturating_mul(1_000_000_000))
    }
    /// `s` whole seconds; more than 213 days become [`Time::MAX`].
    pub const fn from_secs(s: u64) -> Time {
        Time(s.saturating_mul(1_000_000_000_000))
    }
    /// `s` seconds rounded to the nearest picosecond; negative and not-a-number become zero, more
    /// than 213 days become [`Time::MAX`].
    pub fn from_secs_f64(s: f64) -> Time {
        Time((s * 1e12).round() as u64)
    }

    /// Whole picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// Whole nanoseconds, rounded down.
    pub const fn as_ns(self) -> u64 {
        self.0 / 1_000
    }
    /// Whole microseconds, rounded down.
    pub const fn as_us(self) -> u64 {
        self.0 / 1_000_000
    }
    /// Whole milliseconds, rounded down.
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000_000_000
    }
    /// Seconds, to the precision of a double.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// The span since `earlier`, or zero where `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, or [`Time::MAX`] where that overflows.
    pub const fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, span: Time) -> Time {
        self.saturating_add(span)
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, span: Time) {
        *self = *self + span;
    }
}
impl Sub for Time {
    type Output = Time;
    fn sub(self, earlier: Time) -> Time {
        match self.0.checked_sub(earlier.0) {
            Some(ps) => Time(ps),
            None => before(self, earlier),
        }
    }
}
/// Apart from the subtraction, which is everywhere.
#[cold]
#[inline(never)]
fn before(instant: Time, earlier: Time) -> ! {
    panic!("{instant} is before {earlier}: there is no span between them")
}

impl SubAssign for Time {
    fn sub_assign(&mut self, span: Time) {
        *self = *self - span;
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, times: u64) -> Time {
        Time(self.0.saturating_mul(times))
    }
}
impl Div<u64> for Time {
    type Output = Time;
    fn div(self, parts: u64) -> Time {
        Time(self.0 / parts)
    }
}

impl fmt::Display for Time {
    /// The largest unit that leaves a number of at least one: `1.5 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] = [
            (1_000_000_000_000, "s"),
            (1_000_000_000, "ms"),
            (1_000_000, "us"),
            (1_000, "ns"),
            (1, "ps"),
        ];
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        let (size, unit) = *UNITS
            .iter()
            .find(|(size, _)| self.0 >= *size)
            .expect("1 ps is listed");
        write!(f, "{} {unit}", self.0 as f64 / size as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_largest_fitting_unit() {
        assert_eq!(Time::from_us(1_500).to_string(), "1.5 ms");
        assert_eq!(Time::from_secs(100).to_string(), "100 s");
        assert_eq!(Time::ZERO.to_string(), "0 s");
    }

    #[test]
    fn what_comes_after_the_last_instant_never_comes() {
        let day = Time::from_secs(86_400);
        assert_eq!(day * 300, Time::MAX);
        assert_eq!(Time::MAX + day, Time::MAX);
        assert_eq!(Time::from_secs_f64(1e15) + Time::from_ps(1), Time::MAX);
        assert_eq!(Time::from_secs(u64::MAX), Time::MAX);
        let mut instant = Time::MAX;
        instant += Time::from_ns(1);
        assert_eq!(instant, Time::MAX);
        assert_eq!(day * 3 - day, day * 2);
    }

    #[test]
    #[should_panic(expected = "1 s is before 2 s")]
    fn no_span_is_below_zero() {
        let _ = Time::from_secs(1) - Time::from_secs(2);
    }

    #[test]
    fn seconds_survive_a_round_trip() {
        for s in [0.0, 1e-12, 0.05, 1.0, 86_400.5] {
            assert_eq!(Time::from_secs_f64(s).as_secs_f64(), s);
        }
        assert_eq!(Time::from_secs_f64(-1.0), Time::ZERO);
        assert_eq!(Time::from_secs_f64(f64::NAN), Time::ZERO);
    }
}
