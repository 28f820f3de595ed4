//! Where an axis has its marks, and how they read. `assets/axes.js` follows the same rules.
//!
//! Linear: steps of 1, 2 or 5 times a power of ten. Logarithmic: powers of ten, thinned to fit;
//! with fewer than two decades the 2 and 5 of each as well. With a place for zero: zero and the
//! powers of ten on either side. A sweep's own values come first, as many as do not run into each
//! other.

use super::axis::{Axis, Scale};
use trammel_stats::table::format_float;

/// The marks from `low` to `high`, about `count` of them.
pub(super) fn ticks(scale: Scale, low: f64, high: f64, count: usize) -> Vec<f64> {
    match scale {
        Scale::Linear => linear(low, high, count),
        Scale::Log => logarithmic(low, high, count),
        Scale::SymLog(near) => around_zero(near, low, high, count),
    }
}

/// The marks of `axis`: its own, at least a share of 1/`count` of the axis apart, or round ones.
pub(super) fn marks(axis: &Axis, low: f64, high: f64, count: usize) -> Vec<f64> {
    let place = |v: f64| axis.scale.place((low, high), v);
    let mut kept: Vec<f64> = Vec::new();
    for mark in &axis.marks {
        let is_free = kept
            .last()
            .is_none_or(|last| place(*mark) - place(*last) >= 0.8 / count.max(1) as f64);
        if (-1e-9..=1.0 + 1e-9).contains(&place(*mark)) && is_free {
            kept.push(*mark);
        }
    }
    if kept.len() < 2 {
        return ticks(axis.scale, low, high, count);
    }
    kept
}

fn around_zero(near: f64, low: f64, high: f64, count: usize) -> Vec<f64> {
    let side = |end: f64| {
        if end > near {
            logarithmic(near * 2.0, end, count)
        } else {
            Vec::new()
        }
    };
    let below = side(-low).into_iter().rev().map(|v| -v);
    let zero = (low <= 0.0 && high >= 0.0).then_some(0.0);
    below.chain(zero).chain(side(high)).collect()
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

/// The text of a mark of `axis`: a value of the sweep as it is.
pub(super) fn mark_text(axis: &Axis, v: f64) -> String {
    let is_own = axis.marks.contains(&v) && v.abs().log10().abs() < 4.5;
    tick_text(if is_own { Scale::Linear } else { axis.scale }, v)
}

/// A mark's text: `0.05`, `12 000`, and on a logarithmic axis beyond 0.1 and 100 `10⁻³`.
pub(super) fn tick_text(scale: Scale, v: f64) -> String {
    let exponent = v.abs().log10();
    let is_power = (exponent - exponent.round()).abs() < 1e-6;
    if scale != Scale::Linear && is_power && !(-1.5..2.5).contains(&exponent) {
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
pub fn group_thousands(number: &str) -> String {
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
        assert_eq!(
            texts(Scale::SymLog(5e-6), 0.0, 1e-3),
            ["0", "10⁻⁵", "10⁻⁴", "10⁻³"]
        );
    }

    #[test]
    fn the_values_of_a_sweep_are_marked() {
        let axis = Axis::swept("limit", "bdp", &[0.5, 1.0, 4.0]);
        assert_eq!(marks(&axis, 0.5, 4.0, 6), [0.5, 1.0, 4.0]);
        assert_eq!(marks(&axis, 0.5, 4.0, 2), [0.5, 4.0], "those that fit");
    }
}
