//! Times on the command line: one rule for all of them.

use trammel_core::time::Span;
use trammel_core::units::{Dimension, Quantity};

/// The longest.
const MOST_SECS: f64 = 1e7;

/// A time: `10s`, `500 ms`; a number alone is of seconds.
pub(super) fn parse(text: &str) -> Result<Span, String> {
    let wanted = [Dimension::Time, Dimension::Ratio];
    let is_share = text.trim_end().ends_with('%');
    let quantity = Quantity::parse_as(text, &wanted).map_err(|why| why.to_string());
    let secs = match quantity {
        Ok(quantity) if !is_share => quantity.value,
        Ok(_) => return Err("give a time, such as `10 s`".to_owned()),
        Err(why) => return Err(why),
    };
    if (0.0..=MOST_SECS).contains(&secs) {
        return Ok(Span::from_secs_f64(secs));
    }
    Err("it must be from 0 to 10,000,000 s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_is_of_seconds() {
        for (text, ms) in [
            ("10", 10_000),
            ("0.5", 500),
            ("10s", 10_000),
            ("250 ms", 250),
            ("2min", 120_000),
        ] {
            assert_eq!(parse(text), Ok(Span::from_ms(ms)), "{text}");
        }
        for text in ["-1", "50 %", "10 kpps", "soon", "1e9", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
