//! An axis of a plot: its scale, its range and its marks.

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By factors.
    Log,
    /// By factors beyond this distance from zero and evenly within it, so that zero has its place.
    SymLog(f64),
}

impl Scale {
    /// A value whose differences are distances on the axis.
    pub(super) fn forward(self, v: f64) -> f64 {
        match self {
            Scale::Linear => v,
            Scale::Log => v.ln(),
            Scale::SymLog(near) => (v / near).asinh(),
        }
    }
    /// The place of `v` on an axis from `low` (0) to `high` (1).
    pub(super) fn place(self, (low, high): (f64, f64), v: f64) -> f64 {
        (self.forward(v) - self.forward(low)) / (self.forward(high) - self.forward(low))
    }
}

/// One axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows: `loss probability`.
    pub title: String,
    /// In what unit: `Mbit/s`; may be empty.
    pub unit: String,
    /// How it is divided.
    pub scale: Scale,
    /// From where to where; from the data where there is none.
    pub range: Option<(f64, f64)>,
    /// Where its marks are: the values of a sweep. Round numbers where there are none.
    pub marks: Vec<f64>,
    /// Whether it begins at zero, however near to each other the values are.
    pub is_from_zero: bool,
}

/// Marks of a sweep that an axis still shows one by one.
const MOST_MARKS: usize = 9;

/// Values nearer to each other than this part of their size are not drawn further apart: a change
/// of one per cent must not look like a collapse.
const LEAST_SPAN: f64 = 0.1;

impl Axis {
    /// An even axis.
    pub fn linear(title: &str, unit: &str) -> Axis {
        let (title, unit) = (title.to_owned(), unit.to_owned());
        Axis {
            title,
            unit,
            scale: Scale::Linear,
            range: None,
            marks: Vec::new(),
            is_from_zero: false,
        }
    }
    /// A logarithmic axis.
    pub fn log(title: &str, unit: &str) -> Axis {
        let scale = Scale::Log;
        Axis {
            scale,
            ..Axis::linear(title, unit)
        }
    }
    /// This axis from `low` to `high`.
    pub fn with_range(mut self, low: f64, high: f64) -> Axis {
        self.range = Some((low, high));
        self
    }
    /// The axis of a sweep over `values`: by factors where each is at least 1.6 times the last or
    /// all span more than a decade, with a place for zero where it is among them, and with a mark
    /// for each of a few.
    pub fn swept(title: &str, unit: &str, values: &[f64]) -> Axis {
        const WIDE: f64 = 11.0;
        const FACTOR: f64 = 1.6;
        let mut marks: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let has_signs = marks.first().is_some_and(|least| *least < 0.0);
        let positive: Vec<f64> = marks.iter().copied().filter(|v| *v > 0.0).collect();
        let mut scale = Scale::Linear;
        if let (Some(least), Some(most), false) = (positive.first(), positive.last(), has_signs) {
            let grows = positive.len() > 2 && positive.windows(2).all(|p| p[1] >= FACTOR * p[0]);
            if grows || most / least > WIDE {
                scale = if positive.len() < marks.len() {
                    Scale::SymLog(least / 2.0)
                } else {
                    Scale::Log
                };
            }
        }
        if scale == Scale::Linear || marks.len() > MOST_MARKS {
            marks.clear();
        }
        Axis {
            scale,
            marks,
            ..Axis::linear(title, unit)
        }
    }
    /// This axis by factors, where `values` are positive and the largest is more than `far` times
    /// the least.
    pub fn by_factors_beyond(mut self, far: f64, values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        if low > 0.0 && high / low > far {
            self.scale = Scale::Log;
        }
        self
    }
    /// This axis from zero on.
    pub fn from_zero(mut self) -> Axis {
        self.is_from_zero = true;
        self
    }
    /// The title with the unit: `time (s)`.
    pub fn text(&self) -> String {
        if self.unit.is_empty() {
            self.title.clone()
        } else {
            format!("{} ({})", self.title, self.unit)
        }
    }
    /// From where to where an axis shows values between `low` and `high`. `assets/axes.js`
    /// follows the same rules.
    pub(super) fn with_room(&self, low: f64, high: f64) -> (f64, f64) {
        match self.scale {
            Scale::Log => (low / 1.15, high * 1.15),
            Scale::SymLog(_) => (if low >= 0.0 { 0.0 } else { low * 1.15 }, high * 1.15),
            // A curve in the upper half of the plot is better seen from zero.
            Scale::Linear if low >= 0.0 && (self.is_from_zero || low < high * 0.5) => {
                (0.0, high * 1.05)
            }
            Scale::Linear => {
                let least = LEAST_SPAN * low.abs().max(high.abs());
                let span = (high - low).max(least);
                let middle = f64::midpoint(low, high);
                (middle - span * 0.55, middle + span * 0.55)
            }
        }
    }
    pub(super) fn shows(&self, v: f64) -> bool {
        v.is_finite() && (self.scale != Scale::Log || v > 0.0)
    }
}

/// The least and greatest of `values` that `axis` shows, widened where they are one.
pub(super) fn span<'a>(axis: &Axis, values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    let shown = values.copied().filter(|v| axis.shows(*v));
    let (low, high) = shown.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    match (axis.scale, low < high) {
        (_, true) => (low, high),
        (Scale::Log, false) if low == high => (low / 2.0, high * 2.0),
        (Scale::Log, false) => (1.0, 10.0),
        (_, false) if low == 0.0 => (0.0, 1.0),
        (_, false) if low == high => (low - 0.05 * low.abs(), high + 0.05 * high.abs()),
        (_, false) => (0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_of_a_sweep_is_divided_as_its_values_are() {
        let scale = |values: &[f64]| Axis::swept("x", "", values).scale;
        assert_eq!(scale(&[0.5, 1.0, 4.0]), Scale::Log, "doubling");
        assert_eq!(scale(&[10.0, 20.0, 30.0]), Scale::Linear, "even steps");
        assert_eq!(scale(&[0.0, 1e-5, 1e-4, 1e-3]), Scale::SymLog(5e-6));
        assert_eq!(scale(&[-3.0, 0.0, 900.0]), Scale::Linear);
        assert_eq!(
            Axis::swept("x", "", &[4.0, 1.0, 0.5, 1.0]).marks,
            [0.5, 1.0, 4.0]
        );
        let place = |v| Scale::SymLog(5e-6).place((0.0, 1e-3), v);
        assert_eq!((place(0.0), place(1e-3)), (0.0, 1.0));
        assert!(place(1e-5) > 0.15 && place(1e-4) > place(1e-5) + 0.3);
    }
}
