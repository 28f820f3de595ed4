//! Numbers: whole, true or false, floating, fixed point; and how handlers print them.
//!
//! Fractions are read exactly, as an integer of at most 28 decimal digits times a power of
//! ten, and rounded once, half upwards, to the unit asked for.

use super::Error;

/// Digits of a fraction that count; 10^28 times the largest factor, 2^33, is below 2^127.
const KEPT_DIGITS: usize = 28;

/// The whole number that `text` begins with, and how many bytes it has.
///
/// `base` 0 goes by the prefix: `0x`, `0b`, `0` for octal. A number too large for the type is its
/// bound.
pub(crate) fn int_prefix(text: &str, base: u32, signed: bool) -> Option<(i128, usize)> {
    let bytes = text.as_bytes();
    let negative = signed && bytes.first() == Some(&b'-');
    let sign = usize::from(negative || bytes.first() == Some(&b'+'));
    let digits = &bytes[sign..];
    let mark = |letter: u8| {
        digits.len() > 2 && digits[0] == b'0' && digits[1].eq_ignore_ascii_case(&letter)
    };
    let (base, skip) = match base {
        0 | 16 if mark(b'x') => (16, 2),
        0 if mark(b'b') => (2, 2),
        0 if digits.first() == Some(&b'0') => (8, 0),
        0 => (10, 0),
        other => (other.clamp(2, 36), 0),
    };
    let mut value: i128 = 0;
    let mut end = None;
    for (at, &byte) in digits.iter().enumerate().skip(skip) {
        if let Some(digit) = char::from(byte).to_digit(base) {
            value = value
                .saturating_mul(i128::from(base))
                .saturating_add(i128::from(digit));
            end = Some(at + 1);
        } else if byte != b'_' || end != Some(at) {
            break;
        }
    }
    // After a mark without digits, the `0` of the mark is the number.
    let end = end.or(if skip > 0 { Some(1) } else { None })?;
    Some((if negative { -value } else { value }, sign + end))
}

fn whole(text: &str, base: u32, signed: bool) -> Result<i128, Error> {
    match int_prefix(text, base, signed) {
        Some((value, end)) if end == text.len() => Ok(value),
        _ => Err(Error::NotANumber),
    }
}

/// A whole number from `min` to `max`.
pub(crate) fn parse_int(text: &str, min: i64, max: i64) -> Result<i64, Error> {
    let value = whole(text, 0, true)?;
    let nearest = value.clamp(i128::from(min.min(max)), i128::from(max));
    if nearest == value {
        Ok(nearest as i64)
    } else {
        Err(Error::Beyond(nearest.to_string()))
    }
}

/// A whole number without a minus sign, up to `max`.
pub(crate) fn parse_uint(text: &str, max: u64) -> Result<u64, Error> {
    parse_uint_base(text, 0, max)
}

/// A whole number in `base`, without a minus sign, up to `max`.
pub(crate) fn parse_uint_base(text: &str, base: u32, max: u64) -> Result<u64, Error> {
    let value = whole(text, base, false)?;
    u64::try_from(value)
        .ok()
        .filter(|v| *v <= max)
        .ok_or_else(|| Error::Beyond(max.to_string()))
}

/// `true`, `yes`, `t`, `y`, `1` and their opposites.
pub(crate) fn parse_bool(text: &str) -> Result<bool, Error> {
    match text {
        "1" | "y" | "t" | "yes" | "true" => Ok(true),
        "0" | "n" | "f" | "no" | "false" => Ok(false),
        _ => Err(Error::Malformed),
    }
}

/// A number with a fraction, as C reads it (hexadecimal ones whole only).
pub(crate) fn parse_double(text: &str) -> Result<f64, Error> {
    let unsigned = text.trim_start_matches(['-', '+']);
    if unsigned
        .get(..2)
        .is_some_and(|mark| mark.eq_ignore_ascii_case("0x"))
    {
        return whole(text, 16, true)
            .map(|v| v as f64)
            .map_err(|_| Error::Malformed);
    }
    let value: f64 = text.parse().map_err(|_| Error::Malformed)?;
    let written = unsigned
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_digit() || b == b'.');
    let mantissa = unsigned.split(['e', 'E']).next().unwrap_or_default();
    if value.is_infinite() && written {
        Err(Error::Beyond(
            if value > 0.0 { "inf" } else { "-inf" }.into(),
        ))
    } else if value == 0.0 && mantissa.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        Err(Error::Underflow)
    } else {
        Ok(value)
    }
}

/// A decimal number, exact up to its [`KEPT_DIGITS`]th digit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    /// Whether a minus sign stands before it.
    pub(super) negative: bool,
    digits: u128,
    exponent: i64,
}

impl Decimal {
    /// All of `text`: digits with `_` between them, perhaps a point, perhaps an exponent.
    pub(super) fn read(text: &str, signed: bool) -> Option<Decimal> {
        let bytes = text.as_bytes();
        let negative = signed && bytes.first() == Some(&b'-');
        let sign = usize::from(negative || bytes.first() == Some(&b'+'));
        let mut number = Decimal {
            negative,
            digits: 0,
            exponent: 0,
        };
        let (mut kept, mut any, mut point) = (0, false, false);
        let mut at = sign;
        while let Some(&byte) = bytes.get(at) {
            let after_digit = at > sign && bytes[at - 1].is_ascii_digit();
            match byte {
                b'0'..=b'9' => {
                    any = true;
                    let fits = kept < KEPT_DIGITS;
                    if fits {
                        number.digits = number.digits * 10 + u128::from(byte - b'0');
                        kept += usize::from(number.digits > 0);
                    }
                    number.exponent += i64::from(!fits) - i64::from(point);
                }
                b'_' if after_digit && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {}
                b'.' if !point && (after_digit || at == sign) => point = true,
                b'e' | b'E' if any => {
                    let exponent = text.get(at + 1..)?;
                    let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
                    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                        return None;
                    }
                    // Beyond nine digits the number is 0 or out of every range all the same.
                    let size: i64 = digits
                        .trim_start_matches('0')
                        .bytes()
                        .take(9)
                        .fold(0, |n, b| n * 10 + i64::from(b - b'0'));
                    number.exponent += if exponent.starts_with('-') {
                        -size
                    } else {
                        size
                    };
                    return Some(number);
                }
                _ => return None,
            }
            at += 1;
        }
        any.then_some(number)
    }

    /// The number's size times `times` times 10 to the `power`, rounded half upwards; `None` where
    /// it is beyond 64 bits.
    pub(super) fn scaled(&self, times: u64, power: i64) -> Option<u64> {
        let product = self.digits.checked_mul(u128::from(times))?;
        let exponent = self.exponent + power;
        let ten = |n: u32| 10_u128.checked_pow(n);
        let whole = match u32::try_from(exponent.unsigned_abs()).ok().and_then(ten) {
            _ if product == 0 => 0,
            Some(factor) if exponent >= 0 => product.checked_mul(factor)?,
            Some(divisor) => {
                let rest = product % divisor;
                product / divisor + u128::from(rest >= divisor - rest)
            }
            None if exponent >= 0 => return None,
            // 10^39 and more are over twice the product.
            None => 0,
        };
        u64::try_from(whole).ok()
    }
}

/// A number without a sign in units of 2 to the minus `bits`, within 32 bits.
pub(crate) fn parse_fixed(text: &str, bits: u8) -> Result<u32, Error> {
    let number = Decimal::read(text, false).ok_or(Error::Malformed)?;
    let units = number
        .scaled(1 << bits.min(32), 0)
        .and_then(|v| u32::try_from(v).ok());
    units.ok_or_else(|| Error::Beyond(unparse_fixed(i64::from(u32::MAX), bits)))
}

/// A number without a sign in units of 10 to the minus `digits`, within 32 bits.
pub(crate) fn parse_decimal(text: &str, digits: u8) -> Result<u32, Error> {
    let number = Decimal::read(text, false).ok_or(Error::Malformed)?;
    let units = number
        .scaled(1, i64::from(digits))
        .and_then(|v| u32::try_from(v).ok());
    units.ok_or(Error::OutOfRange)
}

/// Prints a number in units of 2 to the minus `bits`: the shortest decimal that reads back as it.
// Differs from Click where that has ten digits: with 28 bits it prints wrong ones, or 0.339 for
// 3.39e-7.
pub(crate) fn unparse_fixed(value: i64, bits: u8) -> String {
    let bits = bits.min(32);
    let sign = if value < 0 { "-" } else { "" };
    let size = u128::from(value.unsigned_abs());
    let one = 1_u128 << bits;
    // 2^-32 is told apart by ten digits.
    for digits in 0..=10 {
        let ten = 10_u128.pow(digits);
        let near = (size * ten * 2 + one) / (one * 2);
        if (near * one * 2 + ten) / (ten * 2) == size {
            return format!("{sign}{}", point(near, digits));
        }
    }
    format!("{sign}{}", point(size * 10_u128.pow(10) / one, 10))
}

/// `value` with a point before its last `digits`, zeros at the end taken off.
pub(super) fn point(value: u128, digits: u32) -> String {
    let ten = 10_u128.pow(digits);
    let (whole, part) = (value / ten, value % ten);
    if part == 0 {
        return whole.to_string();
    }
    let part = format!("{part:0width$}", width = digits as usize);
    format!("{whole}.{}", part.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn beyond<T>(bound: &str) -> Result<T, Error> {
        Err(Error::Beyond(bound.into()))
    }

    #[test]
    fn whole_numbers_have_four_bases_and_single_underscores() {
        let int = |text| parse_int(text, i64::MIN, i64::MAX);
        for (text, value) in [
            ("1_000", 1000),
            ("+7", 7),
            ("-0x1f", -31),
            ("0b101", 5),
            ("017", 15),
            ("0_7", 7),
            ("-0", 0),
            ("0X_F", -1),
            ("-9223372036854775808", i64::MIN),
        ] {
            let expected = if text == "0X_F" {
                Err(Error::NotANumber)
            } else {
                Ok(value)
            };
            assert_eq!(int(text), expected, "{text}");
        }
        for text in [
            "", "-", "_1", "1_", "1__0", "08", "0x", "0b2", "12 ", " 12", "1.5", "ten",
        ] {
            assert_eq!(int(text), Err(Error::NotANumber), "{text}");
        }
    }

    #[test]
    fn the_bound_that_was_crossed_is_told() {
        assert_eq!(parse_int("300", 0, 255), beyond("255"));
        assert_eq!(parse_int("-3", -2, 255), beyond("-2"));
        assert_eq!(parse_uint("256", 255), beyond("255"));
        assert_eq!(
            parse_uint("99999999999999999999999999999999999999999999", u64::MAX),
            beyond("18446744073709551615")
        );
        assert_eq!(parse_uint("-1", 255), Err(Error::NotANumber));
    }

    #[test]
    fn a_prefix_of_a_text_is_a_number() {
        assert_eq!(int_prefix("80/tcp", 0, false), Some((80, 2)));
        assert_eq!(int_prefix("0xyz", 0, false), Some((0, 1)));
        assert_eq!(int_prefix("ff,", 16, false), Some((255, 2)));
        assert_eq!(int_prefix("-5", 0, false), None);
    }

    #[test]
    fn truth_is_in_lower_case() {
        assert_eq!(parse_bool("yes"), Ok(true));
        assert_eq!(parse_bool("f"), Ok(false));
        assert_eq!(parse_bool("True"), Err(Error::Malformed));
    }

    #[test]
    fn floating_numbers_overflow_and_underflow_aloud() {
        assert_eq!(parse_double("1.5e2"), Ok(150.0));
        assert_eq!(parse_double("-.5"), Ok(-0.5));
        assert_eq!(parse_double("0x10"), Ok(16.0));
        assert_eq!(parse_double("0e9"), Ok(0.0));
        assert_eq!(parse_double("1e999"), beyond("inf"));
        assert_eq!(parse_double("-1e999"), beyond("-inf"));
        assert_eq!(parse_double("1e-999"), Err(Error::Underflow));
        assert_eq!(parse_double(" 1"), Err(Error::Malformed));
    }

    #[test]
    fn fixed_points_round_half_upwards() {
        assert_eq!(parse_fixed("0.5", 1), Ok(1));
        assert_eq!(parse_fixed("0.25", 1), Ok(1));
        assert_eq!(parse_fixed("0.02", 16), Ok(1311));
        assert_eq!(parse_fixed("65536", 16), beyond("65535.99998"));
        assert_eq!(parse_fixed("-0.5", 1), Err(Error::Malformed));
        assert_eq!(parse_decimal("1_000.2345", 3), Ok(1_000_235));
        assert_eq!(parse_decimal("1.5e-1", 3), Ok(150));
        assert_eq!(parse_decimal("5000000", 3), Err(Error::OutOfRange));
        for text in ["", ".", "1.2.3", "1e", "e1", "1__0", "1_.5"] {
            assert_eq!(parse_decimal(text, 3), Err(Error::Malformed), "{text}");
        }
    }

    #[test]
    fn numbers_print_without_digits_that_say_nothing() {
        assert_eq!(unparse_fixed(6554, 16), "0.1");
        assert_eq!(unparse_fixed(-3, 1), "-1.5");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-+0-9a-fA-FxX_.eE ]{0,60}|\\PC{0,12}") {
            let _ = (int_prefix(&text, 0, true), int_prefix(&text, 99, false));
            let _ = parse_int(&text, 5, 9);
            let _ = (parse_double(&text), parse_decimal(&text, 9));
            let _ = (parse_fixed(&text, 32), parse_bool(&text));
        }

        #[test]
        fn what_is_printed_reads_back(value: u32, bits in 0_u8..=32, whole: i64) {
            prop_assert_eq!(parse_fixed(&unparse_fixed(i64::from(value), bits), bits), Ok(value));
            prop_assert_eq!(parse_int(&whole.to_string(), i64::MIN, i64::MAX), Ok(whole));
        }
    }
}
