//! Texts by a format, as C's `printf` makes them: `%05d`, `%-8s`, `%#x`.

use crate::args::numbers::{parse_int, parse_uint};
use crate::args::text::{parse_text, take_word, unquote};
use std::fmt::Write;

/// A number as C's `%.12g` writes it.
pub(crate) fn real(value: f64) -> String {
    const DIGITS: i32 = 12;
    if value.is_nan() {
        return if value.is_sign_negative() {
            "-nan"
        } else {
            "nan"
        }
        .to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (digits, exponent) = scientific.split_once('e').expect("`e` writes an exponent");
    let exponent: i32 = exponent.parse().expect("`e` writes a whole exponent");
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if !(-4..DIGITS).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(digits), exponent.abs());
    }
    let places = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
    trimmed(&format!("{value:.places$}"))
}

/// The most that a field may be wide, so that a script cannot ask for all memory.
const WIDEST: usize = 65_536;

#[derive(Default)]
struct Field {
    zeros: bool,
    alternate: bool,
    left: bool,
    space: bool,
    plus: bool,
    width: usize,
    precision: Option<usize>,
}

impl Field {
    /// `sign` and `digits` in the field.
    fn number(&self, sign: &str, prefix: &str, digits: &str) -> String {
        let least = self.precision.unwrap_or(1);
        let mut body = if least == 0 && digits == "0" {
            String::new()
        } else {
            digits.to_owned()
        };
        if body.len() < least {
            body.insert_str(0, &"0".repeat(least - body.len()));
        }
        let used = sign.len() + prefix.len() + body.len();
        if self.zeros && !self.left && self.precision.is_none() && used < self.width {
            body.insert_str(0, &"0".repeat(self.width - used));
        }
        self.pad(&format!("{sign}{prefix}{body}"))
    }

    fn pad(&self, text: &str) -> String {
        let width = self.width;
        if self.left {
            format!("{text:<width$}")
        } else {
            format!("{text:>width$}")
        }
    }
}

/// The first word of `text` as a format, filled with the words after it.
pub(crate) fn sprintf(text: &str) -> Result<String, String> {
    let wrong = || "syntax error".to_owned();
    let mut rest = text;
    let format = unquote(take_word(&mut rest).unwrap_or(""));
    let mut out = String::new();
    let mut left = format.chars().peekable();
    while let Some(c) = left.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut field = Field::default();
        while let Some(flag) = left.next_if(|c| "0#- +".contains(*c)) {
            match flag {
                '0' => field.zeros = true,
                '#' => field.alternate = true,
                '-' => field.left = true,
                ' ' => field.space = true,
                _ => field.plus = true,
            }
        }
        let mut next = || take_word(&mut rest).unwrap_or("").to_owned();
        if left.next_if_eq(&'*').is_some() {
            let width = parse_int(&next(), i64::from(i32::MIN), i64::from(i32::MAX));
            let width = width.map_err(|_| wrong())?;
            field.left |= width < 0;
            field.width = width.unsigned_abs() as usize;
        }
        while let Some(digit) = left.next_if(char::is_ascii_digit) {
            field.width = field.width.saturating_mul(10) + digit as usize - '0' as usize;
        }
        if left.next_if_eq(&'.').is_some() {
            let mut precision = 0_usize;
            if left.next_if_eq(&'*').is_some() {
                let given = parse_uint(&next(), u64::from(u32::MAX)).map_err(|_| wrong())?;
                precision = given as usize;
            }
            while let Some(digit) = left.next_if(char::is_ascii_digit) {
                precision = precision.saturating_mul(10) + digit as usize - '0' as usize;
            }
            field.precision = Some(precision);
        }
        if field.width > WIDEST || field.precision.is_some_and(|p| p > WIDEST) {
            return Err(wrong());
        }
        let mut short = false;
        while let Some(size) = left.next_if(|c| "hlLq".contains(*c)) {
            short = size == 'h';
        }
        match left.next() {
            Some('%') => out.push('%'),
            Some('s') => {
                let mut text = parse_text(&next()).map_err(|_| wrong())?;
                if let Some(most) = field.precision {
                    text = text.chars().take(most).collect();
                }
                out += &field.pad(&text);
            }
            Some('d' | 'i') => {
                let value = parse_int(&next(), i64::MIN, i64::MAX).map_err(|_| wrong())?;
                let value = if short {
                    i64::from(value as i16)
                } else {
                    value
                };
                let sign = match value {
                    ..0 => "-",
                    _ if field.plus => "+",
                    _ if field.space => " ",
                    _ => "",
                };
                out += &field.number(sign, "", &value.unsigned_abs().to_string());
            }
            Some(letter @ ('o' | 'x' | 'X' | 'u')) => {
                let word = next();
                let value = parse_uint(&word, u64::MAX).map_err(|_| wrong())?;
                let value = if short {
                    u64::from(value as u16)
                } else {
                    value
                };
                let mut digits = String::new();
                let hex = if value != 0 && field.alternate {
                    letter
                } else {
                    'u'
                };
                let written = match letter {
                    'o' => write!(digits, "{value:o}"),
                    'x' => write!(digits, "{value:x}"),
                    'X' => write!(digits, "{value:X}"),
                    _ => write!(digits, "{value}"),
                };
                written.expect("a string takes any text");
                if hex == 'o' {
                    digits.insert(0, '0');
                }
                let prefix = match hex {
                    'x' => "0x",
                    'X' => "0X",
                    _ => "",
                };
                out += &field.number("", prefix, &digits);
            }
            _ => return Err(wrong()),
        }
    }
    if rest.is_empty() {
        Ok(out)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_have_twelve_digits_and_no_needless_ones() {
        for (value, text) in [
            (1.0 / 3.0, "0.333333333333"),
            (1e20 / 3.0, "3.33333333333e+19"),
            (3.375e-9, "3.375e-09"),
            (3.0, "3"),
            (1e6, "1000000"),
            (-0.5, "-0.5"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(real(value), text);
        }
    }

    #[test]
    fn formats_are_filled() {
        for (call, text) in [
            (r#""%05d|%-5s|%x" 3 ab 255"#, "00003|ab   |ff"),
            ("%+d%%%.3d 5 7", "+5%007"),
            ("%#x,%#o,%X 255 8 0xab", "0xff,010,AB"),
            ("%hd 70000", "4464"),
            ("%*d 4 2", "   2"),
            ("%8.3s abcdef", "     abc"),
        ] {
            assert_eq!(sprintf(call).as_deref(), Ok(text), "{call}");
        }
        for call in ["%d a", "%d", "%y 1", "x 1", "%99999999999d 1"] {
            assert_eq!(sprintf(call), Err("syntax error".into()), "{call}");
        }
    }
}
