//! Where an axis has its marks, and how they read. `assets/report.js` follows the same rules.
//!
//! Linear: steps of 1, 2 or 5 times a power of ten. Logarithmic: powers of ten, thinned to fit; with
//! fewer than two decades the 2 and 5 of each as well.

use super::figure::Scale;
use trammel_core::table::format_float;

/// The marks from `low` to `high`, about `count` of them.
pub(super) fn ticks(scale: Scale, low: f64, high: f64, count: usize) -> Vec<f64> {
    match scale {
        Scale::Linear => linear(low, high, count),
        Scale::Log => logarithmic(low, high, count),
    }
}

fn linear(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count.max(1) as f64;
    // A span of nothing has one mark.
    if !rough.is_normal() {
        return vec![low];
    }
    let power = 10_f64.powf(rough.log10().floor());
    let sizes = [1.0, 2.0, 5.0, 10.0];
    let size = sizes.into_iter().find(|size| size * power >= rough * 0.999);
    let step = size.unwrap_or(10.0) * power;
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let count = (last - first) as i64;
    (0..=count).map(|i| (first + i as f64) * step).collect()
}

fn logarithmic(low: f64, high: f64, count: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = high.log10() - low.log10();
    let factors: &[f64] = if decades < 2.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let every = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
    (first..=last)
        .filter(|exponent| exponent.rem_euclid(every) == 0)
        .flat_map(|exponent| factors.iter().map(move |f| f * 10_f64.powi(exponent)))
        .filter(|v| (low * 0.999..=high * 1.001).contains(v))
        .collect()
}

/// A mark's text: `0.05`, `12 000`, and on a logarithmic axis beyond 0.1 and 100 `10⁻³`.
pub(super) fn tick_text(scale: Scale, v: f64) -> String {
    let exponent = v.abs().log10();
    let is_power = (exponent - exponent.round()).abs() < 1e-6;
    if scale == Scale::Log && is_power && !(-1.5..2.5).contains(&exponent) {
        return format!("10{}", superscript(exponent.round() as i32));
    }
    group_thousands(&format_float(v, 6))
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
    exponent.to_string().chars().map(raise).collect()
}

/// Narrow blanks between thousands from five digits on.
pub(crate) fn group_thousands(number: &str) -> String {
    let end = number.find(['.', 'e']).unwrap_or(number.len());
    let start = usize::from(number.starts_with('-'));
    if end < start + 5 || number.contains("inf") {
        return number.to_owned();
    }
    let mut out = number[..start].to_owned();
    for (i, digit) in number[start..end].chars().enumerate() {
        if i > 0 && (end - start - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out + &number[end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, low: f64, high: f64) -> Vec<String> {
        let marks = ticks(scale, low, high, 6);
        marks.into_iter().map(|v| tick_text(scale, v)).collect()
    }

    #[test]
    fn marks_are_round() {
        assert_eq!(
            texts(Scale::Linear, 0.0, 1.0),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        assert_eq!(
            texts(Scale::Linear, 0.0, 41_000.0).last().unwrap(),
            "40\u{202f}000"
        );
        assert_eq!(texts(Scale::Log, 1.5e-7, 1.5e-4), ["10⁻⁶", "10⁻⁵", "10⁻⁴"]);
        assert_eq!(texts(Scale::Log, 1.0, 20.0), ["1", "2", "5", "10", "20"]);
        assert_eq!(texts(Scale::Linear, 3.0, 3.0), ["3"]);
    }
}
