//! Virtual time in integer picoseconds: [`Time`] for instants, [`Span`] for what lies between two.
//!
//! A picosecond is exact for every byte at every rate up to 8 Tbit/s that divides 10¹², and 64 bits
//! of them last 213 days. Integers make two runs on two platforms equal to the bit.
//!
//! Two types keep apart what only looks alike: the sum of two instants or twice an instant mean
//! nothing and do not compile.
//!
//! ```
//! use trammel_core::{Span, Time};
//!
//! let sent = Time::from_ms(10);
//! let acked = sent + Span::from_ms(30);
//! let rtt: Span = acked - sent;
//! assert_eq!(rtt * 2, Span::from_ms(60));
//! assert_eq!(sent.saturating_since(acked), Span::ZERO);
//! ```
//!
//! ```compile_fail
//! use trammel_core::Time;
//!
//! let sum = Time::from_ms(10) + Time::from_ms(30);
//! ```
//!
//! Sums and products above the maximum are the maximum, in every build: what is due after the last
//! instant never happens. Nothing is below zero: a difference that would be is a fault of the
//! program and panics, in every build.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant, in picoseconds since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// What both have: units in and out. `$what` names what the number counts.
macro_rules! units {
    ($type:ident, $zero:literal, $max:literal, $what:literal) => {
        impl $type {
            #[doc = $zero]
            pub const ZERO: $type = $type(0);
            #[doc = $max]
            pub const MAX: $type = $type(u64::MAX);

            #[doc = concat!("`ps` picoseconds", $what, ".")]
            pub const fn from_ps(ps: u64) -> $type {
                $type(ps)
            }
            #[doc = concat!("`ns` nanoseconds", $what, "; more than 213 days become `MAX`.")]
            pub const fn from_ns(ns: u64) -> $type {
                $type(ns.saturating_mul(1_000))
            }
            #[doc = concat!("`us` microseconds", $what, "; more than 213 days become `MAX`.")]
            pub const fn from_us(us: u64) -> $type {
                $type(us.saturating_mul(1_000_000))
            }
            #[doc = concat!("`ms` milliseconds", $what, "; more than 213 days become `MAX`.")]
            pub const fn from_ms(ms: u64) -> $type {
                $type(ms.saturating_mul(1_000_000_000))
            }
            #[doc = concat!("`s` whole seconds", $what, "; more than 213 days become `MAX`.")]
            pub const fn from_secs(s: u64) -> $type {
                $type(s.saturating_mul(1_000_000_000_000))
            }
            #[doc = concat!("`s` seconds", $what, ", rounded to the nearest picosecond;")]
            /// negative and not-a-number become zero, more than 213 days become `MAX`.
            pub fn from_secs_f64(s: f64) -> $type {
                $type((s * 1e12).round() as u64)
            }

            #[doc = concat!("Whole picoseconds", $what, ".")]
            pub const fn as_ps(self) -> u64 {
                self.0
            }
            #[doc = concat!("Whole nanoseconds", $what, ", rounded down.")]
            pub const fn as_ns(self) -> u64 {
                self.0 / 1_000
            }
            #[doc = concat!("Whole microseconds", $what, ", rounded down.")]
            pub const fn as_us(self) -> u64 {
                self.0 / 1_000_000
            }
            #[doc = concat!("Whole milliseconds", $what, ", rounded down.")]
            pub const fn as_ms(self) -> u64 {
                self.0 / 1_000_000_000
            }
            #[doc = concat!("Seconds", $what, ", to the precision of a double.")]
            pub fn as_secs_f64(self) -> f64 {
                self.0 as f64 / 1e12
            }
        }

        impl fmt::Display for $type {
            /// The largest unit that leaves a number of at least one: `1.5 ms`.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_ps(self.0, f)
            }
        }
    };
}

units!(
    Time,
    "The start of a run.",
    "Later than any instant of any run: \"never\".",
    " after the start"
);
units!(Span, "No time at all.", "Longer than any run.", "");

impl Time {
    /// The span since the start of the run.
    pub const fn since_start(self) -> Span {
        Span(self.0)
    }
    /// The span since `earlier`, or zero where `earlier` is later.
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, or [`Time::MAX`] where that overflows; as `+`, in constants.
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
    /// `self - span`, or the start where the run is younger.
    pub const fn saturating_sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Span {
    /// `self - other`, or zero where `other` is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
    /// `self + other`, or [`Span::MAX`] where that overflows; as `+`, in constants.
    pub const fn saturating_add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

/// `instant - earlier` in picoseconds.
#[inline]
fn difference(instant: u64, earlier: u64) -> u64 {
    match instant.checked_sub(earlier) {
        Some(ps) => ps,
        None => below_zero(instant, earlier),
    }
}

/// Apart from the subtraction, which is everywhere.
#[cold]
#[inline(never)]
fn below_zero(from: u64, taken: u64) -> ! {
    panic!("{} - {} is below zero", Span(from), Span(taken))
}

impl Sub for Time {
    type Output = Span;
    /// # Panics
    ///
    /// Where `earlier` is later.
    fn sub(self, earlier: Time) -> Span {
        Span(difference(self.0, earlier.0))
    }
}
impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        self.saturating_add(span)
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    /// # Panics
    ///
    /// Where the run is younger than `span`.
    fn sub(self, span: Span) -> Time {
        Time(difference(self.0, span.0))
    }
}
impl SubAssign<Span> for Time {
    fn sub_assign(&mut self, span: Span) {
        *self = *self - span;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        self.saturating_add(other)
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}
impl Sub for Span {
    type Output = Span;
    /// # Panics
    ///
    /// Where `other` is longer.
    fn sub(self, other: Span) -> Span {
        Span(difference(self.0, other.0))
    }
}
impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}
impl Div<u64> for Span {
    type Output = Span;
    fn div(self, parts: u64) -> Span {
        Span(self.0 / parts)
    }
}
impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Span::add)
    }
}

fn write_ps(ps: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const UNITS: [(u64, &str); 5] = [
        (1_000_000_000_000, "s"),
        (1_000_000_000, "ms"),
        (1_000_000, "us"),
        (1_000, "ns"),
        (1, "ps"),
    ];
    match UNITS.iter().find(|(size, _)| ps >= *size) {
        Some((size, unit)) => write!(f, "{} {unit}", ps as f64 / *size as f64),
        None => f.write_str("0 s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_largest_fitting_unit() {
        assert_eq!(Span::from_us(1_500).to_string(), "1.5 ms");
        assert_eq!(Time::from_secs(100).to_string(), "100 s");
        assert_eq!(Time::ZERO.to_string(), "0 s");
    }

    #[test]
    fn what_is_due_after_the_last_instant_never_happens() {
        let day = Span::from_secs(86_400);
        assert_eq!(day * 300, Span::MAX);
        assert_eq!(Time::MAX + day, Time::MAX);
        assert_eq!(Time::from_secs_f64(1e15) + Span::from_ps(1), Time::MAX);
        assert_eq!(Time::from_secs(u64::MAX), Time::MAX);
        let mut instant = Time::MAX;
        instant += Span::from_ns(1);
        assert_eq!(instant, Time::MAX);
        assert_eq!(day * 3 - day, day * 2);
        assert_eq!([day, Span::MAX].into_iter().sum::<Span>(), Span::MAX);
    }

    #[test]
    fn an_instant_moves_by_a_span_and_two_have_one_between_them() {
        let (start, span) = (Time::from_ms(5), Span::from_ms(3));
        let later = start + span;
        assert_eq!(later, Time::from_ms(8));
        assert_eq!(later - start, span);
        assert_eq!(later - span, start);
        assert_eq!(start.saturating_since(later), Span::ZERO);
        assert_eq!(start.saturating_sub(span * 2), Time::ZERO);
        assert_eq!(later.since_start(), Span::from_ms(8));
    }

    #[test]
    #[should_panic(expected = "1 s - 2 s is below zero")]
    fn no_span_is_below_zero() {
        let _ = Time::from_secs(1) - Time::from_secs(2);
    }

    #[test]
    #[should_panic(expected = "1 s - 2 s is below zero")]
    fn no_instant_is_before_the_start() {
        let _ = Time::from_secs(1) - Span::from_secs(2);
    }

    #[test]
    fn seconds_survive_a_round_trip() {
        for s in [0.0, 1e-12, 0.05, 1.0, 86_400.5] {
            assert_eq!(Time::from_secs_f64(s).as_secs_f64(), s);
            assert_eq!(Span::from_secs_f64(s).as_secs_f64(), s);
        }
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
    }
}
