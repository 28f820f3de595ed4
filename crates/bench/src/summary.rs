//! What tables say of the numbers that a test's repetitions gave, and of the latencies of its
//! frames.

use trammel_core::time::Span;
use trammel_stats::histogram::Histogram;
use trammel_stats::stats::{Moments, percentiles};
use trammel_stats::table::Cell;

/// Mean, standard deviation, least and most; empty of no values.
pub fn spread(values: &[f64]) -> [Cell; 4] {
    let moments: Moments = values.iter().copied().collect();
    [
        moments.mean(),
        moments.std_dev(),
        moments.min(),
        moments.max(),
    ]
    .map(Cell::from)
}

/// Median, 1st and 99th percentile: how RFC 8219 §7 summarises repetitions; empty of no values.
pub fn middle(values: &[f64]) -> [Cell; 3] {
    let found = percentiles(values, &[50.0, 1.0, 99.0]);
    let at = |i: usize| found.as_ref().map(|found| found[i]).into();
    [at(0), at(1), at(2)]
}

/// Least, median, 99th and 99.9th percentile and most, in microseconds; empty of no frames.
pub fn latencies(of: &Histogram) -> [Cell; 5] {
    [0.0, 0.5, 0.99, 0.999, 1.0].map(|fraction| of.quantile_time(fraction).map(us).into())
}

/// Microseconds.
pub fn us(time: Span) -> f64 {
    time.as_ps() as f64 / 1e6
}

/// Milliseconds.
pub fn ms(time: Span) -> f64 {
    time.as_ps() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_are_summed_up_and_none_are_empty() {
        let values: Vec<f64> = (1..=101).map(f64::from).collect();
        let numbers = |cells: &[Cell]| cells.iter().map(Cell::float).collect::<Vec<_>>();
        assert_eq!(
            numbers(&middle(&values)),
            [Some(51.0), Some(2.0), Some(100.0)]
        );
        let spread_of = numbers(&spread(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]));
        assert_eq!(
            (spread_of[0], spread_of[2], spread_of[3]),
            (Some(5.0), Some(2.0), Some(9.0))
        );
        // Seven degrees of freedom.
        assert!((spread_of[1].unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(numbers(&spread(&[])), [None; 4]);
        assert_eq!(numbers(&latencies(&Histogram::of_times())), [None; 5]);
        assert_eq!((us(Span::from_ms(2)), ms(Span::from_us(2))), (2e3, 2e-3));
    }
}
