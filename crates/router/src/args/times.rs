//! Lengths of time and rates: numbers with units, and how handlers print them.
//!
//! Every value is exact and rounded once. Click multiplies fractions of minutes, hours and days
//! within 32 bits: its `0.0906 m` is 1.141 s; here it is 5.436 s.

use super::Error;
use super::numbers::{Decimal, point};
use std::fmt::Write;
use trammel_packet::timestamp::Timestamp;

/// A unit: its name, and how many of the basic one it is, `times` times 10 to the `power`.
struct Unit {
    name: &'static str,
    times: u64,
    power: i64,
}

const fn unit(name: &'static str, times: u64, power: i64) -> Unit {
    Unit { name, times, power }
}

/// Units of time in seconds; a text has the first that it ends with.
const SECONDS: &[Unit] = &[
    unit("s", 1, 0),
    unit("sec", 1, 0),
    unit("m", 60, 0),
    unit("min", 60, 0),
    unit("h", 3600, 0),
    unit("hr", 3600, 0),
    unit("d", 86_400, 0),
    unit("day", 86_400, 0),
];
const SECOND_PREFIXES: &[(char, i64)] = &[('m', -3), ('u', -6), ('n', -9)];

/// Units of rates in bytes a second; a bit is 125 thousandths of a byte.
const RATES: &[Unit] = &[
    unit("baud", 125, -3),
    unit("bps", 125, -3),
    unit("b/s", 125, -3),
    unit("Bps", 1, 0),
    unit("B/s", 1, 0),
];
const RATE_PREFIXES: &[(char, i64)] = &[('k', 3), ('K', 3), ('M', 6), ('G', 9)];

/// The number before the unit, and the unit's `times` and `power`, its prefix included.
fn split<'t>(
    text: &'t str,
    units: &[Unit],
    prefixes: &[(char, i64)],
) -> (&'t str, Option<(u64, i64)>) {
    for unit in units {
        let Some(number) = text.strip_suffix(unit.name) else {
            continue;
        };
        let prefix = prefixes
            .iter()
            .find(|(letter, _)| number.ends_with(*letter));
        let (number, power) = match prefix {
            Some((letter, power)) => (&number[..number.len() - letter.len_utf8()], *power),
            None => (number, 0),
        };
        let number = number.trim_end_matches(super::text::is_space);
        return (number, Some((unit.times, unit.power + power)));
    }
    (text, None)
}

fn scaled(
    text: &str,
    units: &[Unit],
    prefixes: &[(char, i64)],
    signed: bool,
    power: i64,
) -> Result<(bool, u64), Error> {
    let (number, unit) = split(text, units, prefixes);
    let (times, own) = unit.unwrap_or((1, 0));
    let number = Decimal::read(number, signed).ok_or(Error::Malformed)?;
    let value = number.scaled(times, own + power).ok_or(Error::OutOfRange)?;
    Ok((number.negative, value))
}

/// A length of time: a number of seconds, or of the unit after it.
pub(crate) fn parse_seconds(text: &str) -> Result<Timestamp, Error> {
    nanoseconds(text, false)
}

/// A time, which may be negative.
pub(crate) fn parse_timestamp(text: &str) -> Result<Timestamp, Error> {
    nanoseconds(text, true)
}

fn nanoseconds(text: &str, signed: bool) -> Result<Timestamp, Error> {
    let (negative, size) = scaled(text, SECONDS, SECOND_PREFIXES, signed, 9)?;
    let size = i64::try_from(size).map_err(|_| Error::OutOfRange)?;
    Ok(Timestamp(if negative { -size } else { size }))
}

/// A length of time in units of 10 to the minus `digits` seconds, rounded half upwards, within 32
/// bits.
pub(crate) fn parse_seconds_in(text: &str, digits: u8) -> Result<u32, Error> {
    let (_, value) = scaled(text, SECONDS, SECOND_PREFIXES, false, i64::from(digits))?;
    u32::try_from(value).map_err(|_| Error::OutOfRange)
}

/// A rate in bytes a second: a number of them, or of the unit after it.
// Differs from Click: rates of 4.3 GB/s and more are no error.
pub(crate) fn parse_bandwidth(text: &str) -> Result<u64, Error> {
    scaled(text, RATES, RATE_PREFIXES, false, 0).map(|(_, rate)| rate)
}

/// Whether `text` ends with a unit of rates.
pub(crate) fn has_bandwidth_unit(text: &str) -> bool {
    split(text, RATES, RATE_PREFIXES).1.is_some()
}

/// Prints a time as seconds with six digits after the point; with nine where six do not tell all.
pub(crate) fn unparse_timestamp(time: Timestamp) -> String {
    let (sign, ns) = (if time.0 < 0 { "-" } else { "" }, time.0.unsigned_abs());
    let (whole, part) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let mut out = format!("{sign}{whole}.");
    let written = match part % 1000 {
        0 => write!(out, "{:06}", part / 1000),
        _ => write!(out, "{part:09}"),
    };
    written.expect("a string takes any text");
    out
}

/// Prints a length of time: `250ms`, `15us`, `1.500000s`.
pub(crate) fn unparse_interval(time: Timestamp) -> String {
    match time.0 {
        ns @ 0..1_000_000_000 if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns @ 0..1_000_000_000 if ns % 1000 == 0 => format!("{}us", ns / 1000),
        ns @ 0..1_000_000_000 => format!("{ns}ns"),
        _ => unparse_timestamp(time) + "s",
    }
}

/// Prints a length of time given in microseconds: `250us`, `0.0015s`.
pub(crate) fn unparse_microseconds(us: u64) -> String {
    match us {
        1..1000 => format!("{us}us"),
        _ => point(u128::from(us), 6) + "s",
    }
}

/// Prints a rate given in bytes a second: `8kbps`, `1.5Mbps`, `2Gbps`; from 2^29 on,
/// `536.870912MBps`.
pub(crate) fn unparse_bandwidth(bytes_per_second: u64) -> String {
    let (bytes, bits) = (
        u128::from(bytes_per_second),
        u128::from(bytes_per_second) * 8,
    );
    match bytes_per_second {
        0x2000_0000.. => point(bytes, 6) + "MBps",
        125_000_000.. => point(bits, 9) + "Gbps",
        125_000.. => point(bits, 6) + "Mbps",
        _ => point(bits, 3) + "kbps",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_of_time_have_units() {
        for (text, ns) in [
            ("2", 2_000_000_000),
            ("1.5ms", 1_500_000),
            ("1 h", 3_600_000_000_000),
            ("2min", 120_000_000_000),
            ("0.5us", 500),
            ("7 nsec", 7),
            ("2e-3s", 2_000_000),
            (".5m", 30_000_000_000),
            ("1day", 86_400_000_000_000),
        ] {
            assert_eq!(parse_seconds(text), Ok(Timestamp(ns)), "{text}");
        }
        for text in ["", "s", "-1s", "1x", "1 2s", "ms"] {
            assert_eq!(parse_seconds(text), Err(Error::Malformed), "{text}");
        }
        assert_eq!(parse_seconds("1e12"), Err(Error::OutOfRange));
        assert_eq!(parse_timestamp("-1.5"), Ok(Timestamp(-1_500_000_000)));
    }

    #[test]
    fn lengths_of_time_round_to_the_unit_asked_for() {
        assert_eq!(parse_seconds_in("2.5s", 0), Ok(3));
        assert_eq!(parse_seconds_in("2.49s", 0), Ok(2));
        assert_eq!(parse_seconds_in("2.49s", 1), Ok(25));
        assert_eq!(parse_seconds_in("0.7hr", 0), Ok(2520));
        assert_eq!(parse_seconds_in("1e10", 0), Err(Error::OutOfRange));
    }

    #[test]
    fn rates_are_in_bytes_unless_they_say_bits() {
        for (text, rate) in [
            ("12", 12),
            ("16 baud", 2),
            ("10kbps", 1250),
            ("5MBps", 5_000_000),
            ("1Gbps", 125_000_000),
            ("3KB/s", 3000),
            ("100GBps", 100_000_000_000),
            ("0.5 b/s", 0),
            ("4bps", 1),
        ] {
            assert_eq!(parse_bandwidth(text), Ok(rate), "{text}");
        }
        assert_eq!(parse_bandwidth("10k"), Err(Error::Malformed));
        assert!(has_bandwidth_unit("1 MBps") && !has_bandwidth_unit("100"));
    }

    #[test]
    fn handlers_print_times_and_rates_as_clicks_do() {
        assert_eq!(unparse_interval(Timestamp(1_500_000_000)), "1.500000s");
        assert_eq!(unparse_interval(Timestamp(250_000_000)), "250ms");
        assert_eq!(unparse_interval(Timestamp(1_500_000)), "1500us");
        assert_eq!(unparse_interval(Timestamp(0)), "0ms");
        assert_eq!(unparse_interval(Timestamp(-5)), "-0.000000005s");
        assert_eq!(unparse_microseconds(999), "999us");
        assert_eq!(unparse_bandwidth(1250), "10kbps");
        assert_eq!(unparse_bandwidth(125_000_000), "1Gbps");
        assert_eq!(unparse_bandwidth(1_000_000_000), "1000MBps");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-0-9.e]{0,12} ?[a-zA-Z/]{0,5}|\\PC{0,12}") {
            let _ = (parse_timestamp(&text), parse_seconds_in(&text, 9), parse_bandwidth(&text));
        }

        #[test]
        fn what_is_printed_reads_back(ns: i64, rate: u64, short: u32) {
            prop_assume!(ns != i64::MIN);
            prop_assert_eq!(parse_timestamp(&unparse_timestamp(Timestamp(ns))), Ok(Timestamp(ns)));
            prop_assert_eq!(parse_timestamp(&unparse_interval(Timestamp(ns))), Ok(Timestamp(ns)));
            let interval = unparse_interval(Timestamp(i64::from(short)));
            prop_assert_eq!(parse_seconds(&interval), Ok(Timestamp(i64::from(short))));
            prop_assert_eq!(
                parse_seconds_in(&unparse_microseconds(u64::from(short)), 6),
                Ok(short)
            );
            prop_assert_eq!(parse_bandwidth(&unparse_bandwidth(rate)), Ok(rate));
        }
    }
}
