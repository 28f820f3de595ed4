//! Histograms of times and counts in bounded memory, with quantiles to a chosen number of digits.
//!
//! Values fall into buckets whose width grows with the value, so that every quantile is right to
//! the digits asked for (HdrHistogram, Tene 2012). All buckets exist from the start: recording
//! allocates nothing. Count, sum, least and greatest value are kept beside the buckets and are
//! exact. What is too large for the buckets is counted in the last one, and [`Histogram::clamped`]
//! says how often that happened.

use trammel_core::time::Span;

/// What a histogram holds, in as few numbers as tell it: to be kept in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The bounds and digits that it was made with.
    pub shape: (u64, u64, u8),
    /// A value of each bucket that holds any, and how many it holds.
    pub counts: Vec<(u64, u32)>,
    /// The exact sum of all values.
    pub sum: u128,
    /// The exact least and greatest one; meaningless of no values.
    pub ends: (u64, u64),
    /// See [`Histogram::clamped`].
    pub clamped: u64,
}

/// Counts of `u64` values: picoseconds, or numbers of things.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Four bytes a bucket: with a thousand flows, what a histogram touches is what the caches
    /// miss.
    buckets: hdrhistogram::Histogram<u32>,
    sum: u128,
    min: u64,
    max: u64,
    clamped: u64,
}

/// Lowest and highest value that buckets tell apart, and their digits.
type Shape = (u64, u64, u8);

fn shape(of: &hdrhistogram::Histogram<u32>) -> Shape {
    (of.low(), of.high(), of.sigfig())
}

/// Buckets of a shape that was some buckets' own, or of two of them together.
fn empty((low, high, digits): Shape) -> hdrhistogram::Histogram<u32> {
    hdrhistogram::Histogram::new_with_bounds(low, high, digits)
        .expect("bounds of buckets are bounds for buckets")
}

impl Histogram {
    /// For picoseconds from 1 ns to 1000 s, to three digits; 125 KB.
    pub fn of_times() -> Histogram {
        Histogram::new(1_000, 1_000_000_000_000_000, 3)
    }

    /// For counts up to `highest`, to three digits; 8 KB for a highest count of 1000, 45 KB for a
    /// million.
    pub fn of_counts(highest: u64) -> Histogram {
        Histogram::new(1, highest, 3)
    }

    /// For values that are told apart from `lowest` on, up to `highest`, to `digits` decimal
    /// digits. Out of range, `lowest` becomes at least 1 and at most 2³², `highest` at least twice
    /// `lowest`, `digits` at least 1 and at most 5.
    pub fn new(lowest: u64, highest: u64, digits: u8) -> Histogram {
        let lowest = lowest.clamp(1, 1 << 32);
        let (highest, digits) = (highest.max(2 * lowest), digits.clamp(1, 5));
        Histogram {
            buckets: hdrhistogram::Histogram::new_with_bounds(lowest, highest, digits)
                .expect("the bounds were just brought into range"),
            sum: 0,
            min: u64::MAX,
            max: 0,
            clamped: 0,
        }
    }

    /// Counts `value` once.
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts `time` once, in picoseconds.
    pub fn record_time(&mut self, time: Span) {
        self.record(time.as_ps());
    }

    /// Counts `value` `times` times.
    pub fn record_n(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        if value > self.buckets.high() {
            self.clamped += times;
        }
        let in_bucket = u32::try_from(times).unwrap_or(u32::MAX);
        self.buckets.saturating_record_n(value, in_bucket);
        self.sum += u128::from(value) * u128::from(times);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Takes in all values of `other`. Where the two have other bounds or digits, this one first
    /// takes bounds that hold both, and the finer digits: no value of either ends in a bucket that
    /// is too low for it.
    pub fn merge(&mut self, other: &Histogram) {
        self.merge_n(other, 1);
    }

    /// Takes in all values of `other` `times` times, as [`Histogram::merge`] does.
    pub fn merge_n(&mut self, other: &Histogram, times: u64) {
        if times == 0 || other.is_empty() {
            return;
        }
        self.widen(other);
        if times == 1 && shape(&self.buckets) == shape(&other.buckets) {
            let fits = self.buckets.add(&other.buckets);
            fits.expect("histograms of one shape fit");
        } else {
            for bucket in other.buckets.iter_recorded() {
                let count = u64::from(bucket.count_at_value()).saturating_mul(times);
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                self.buckets
                    .saturating_record_n(bucket.value_iterated_to(), count);
            }
        }
        self.clamped = self
            .clamped
            .saturating_add(other.clamped.saturating_mul(times));
        self.sum += other.sum * u128::from(times);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Takes bounds and digits that hold the values of both.
    fn widen(&mut self, other: &Histogram) {
        let ((low, high, digits), theirs) = (shape(&self.buckets), shape(&other.buckets));
        if self.is_empty() {
            self.buckets = empty(theirs);
            return;
        }
        let wide = (low.min(theirs.0), high.max(theirs.1), digits.max(theirs.2));
        if wide == (low, high, digits) {
            return;
        }
        let narrow = std::mem::replace(&mut self.buckets, empty(wide));
        for bucket in narrow.iter_recorded() {
            self.buckets
                .saturating_record_n(bucket.value_iterated_to(), bucket.count_at_value());
        }
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.reset();
        (self.sum, self.min, self.max, self.clamped) = (0, u64::MAX, 0, 0);
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }
    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
    /// How many values were above the highest that the buckets tell apart.
    pub fn clamped(&self) -> u64 {
        self.clamped
    }
    /// The exact mean; `None` of no values.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count() as f64)
    }
    /// The exact least value; `None` of no values.
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min)
    }
    /// The exact greatest value; `None` of no values.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// The smallest value that at least `fraction` (0 to 1) of the values do not exceed, rounded up
    /// within its bucket but never beyond [`Histogram::max`]. `None` of no values and for a
    /// fraction outside 0 to 1.
    pub fn quantile(&self, fraction: f64) -> Option<u64> {
        if self.is_empty() || !(0.0..=1.0).contains(&fraction) {
            return None;
        }
        // What was clamped lies in the last bucket and above it: all that is known of it is the
        // greatest value.
        let rank = (fraction * self.count() as f64).ceil() as u64;
        if fraction == 1.0 || rank > self.count() - self.clamped.min(self.count()) {
            return Some(self.max);
        }
        let value = self.buckets.value_at_quantile(fraction);
        Some(value.clamp(self.min, self.max))
    }

    /// [`Histogram::quantile`] of picoseconds as a time.
    pub fn quantile_time(&self, fraction: f64) -> Option<Span> {
        self.quantile(fraction).map(Span::from_ps)
    }

    /// The fraction of the values that are at most `value`, to the width of its bucket. `None` of
    /// no values.
    pub fn fraction_at_most(&self, value: u64) -> Option<f64> {
        (!self.is_empty()).then(|| {
            if value >= self.max {
                1.0
            } else {
                self.buckets.quantile_below(value)
            }
        })
    }

    /// The points of the cumulative distribution: the upper end of each bucket that holds values,
    /// and the fraction of the values up to it.
    pub fn cdf_points(&self) -> impl Iterator<Item = (u64, f64)> {
        let (total, mut seen) = (self.count() as f64, 0_u64);
        self.buckets.iter_recorded().map(move |bucket| {
            seen += u64::from(bucket.count_at_value());
            (
                bucket.value_iterated_to().min(self.max),
                seen as f64 / total,
            )
        })
    }

    /// What it holds.
    pub fn contents(&self) -> Contents {
        let of = &self.buckets;
        let counts = of.iter_recorded();
        Contents {
            shape: shape(of),
            counts: counts
                .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
                .collect(),
            sum: self.sum,
            ends: (self.min, self.max),
            clamped: self.clamped,
        }
    }

    /// The histogram that held `contents`.
    pub fn of_contents(contents: &Contents) -> Histogram {
        let (lowest, highest, digits) = contents.shape;
        let mut back = Histogram::new(lowest, highest, digits);
        for (value, times) in &contents.counts {
            back.buckets.saturating_record_n(*value, *times);
        }
        back.sum = contents.sum;
        (back.min, back.max) = contents.ends;
        back.clamped = contents.clamped;
        back
    }

    /// The bytes that the buckets take, whatever is recorded.
    pub fn memory_bytes(&self) -> usize {
        self.buckets.distinct_values() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trammel_core::rng::Rng;

    #[test]
    fn an_empty_histogram_has_no_numbers() {
        let empty = Histogram::of_times();
        assert_eq!(
            (empty.count(), empty.mean(), empty.min(), empty.max()),
            (0, None, None, None)
        );
        assert_eq!(
            (empty.quantile(0.5), empty.fraction_at_most(1)),
            (None, None)
        );
        assert_eq!(empty.cdf_points().count(), 0);
    }

    #[test]
    fn quantiles_of_a_known_sample() {
        let mut latency = Histogram::of_times();
        for us in 1..=1000 {
            latency.record_time(Span::from_us(us));
        }
        for (fraction, us) in [(0.001, 1.0), (0.5, 500.0), (0.99, 990.0), (0.999, 999.0)] {
            let found = latency.quantile_time(fraction).unwrap().as_secs_f64() * 1e6;
            assert!((found / us - 1.0).abs() < 1e-3, "{fraction}: {found} us");
        }
        assert_eq!(latency.quantile_time(0.0), Some(Span::from_us(1)));
        assert_eq!(latency.quantile_time(1.0), Some(Span::from_us(1000)));
        assert_eq!(
            (latency.quantile(-0.1), latency.quantile(f64::NAN)),
            (None, None)
        );
        assert_eq!(latency.mean(), Some(500.5e6));
        let half = latency.fraction_at_most(500_000_000).unwrap();
        assert!((half - 0.5).abs() < 2e-3, "{half}");
        assert_eq!(latency.cdf_points().last(), Some((1_000_000_000, 1.0)));
    }

    #[test]
    fn what_is_too_large_is_counted_and_told() {
        let mut latency = Histogram::of_times();
        latency.record_time(Span::from_secs(999));
        assert_eq!(latency.clamped(), 0);
        latency.record_time(Span::MAX);
        assert_eq!((latency.count(), latency.clamped()), (2, 1));
        assert_eq!(latency.max(), Some(u64::MAX));
        assert_eq!(latency.quantile(1.0), Some(u64::MAX));
    }

    #[test]
    fn its_contents_are_all_of_it() {
        let mut latency = Histogram::of_times();
        let mut rng = Rng::new(1, "contents");
        for _ in 0..10_000 {
            let bits = rng.below(64);
            latency.record(rng.below(1 << bits));
        }
        for latency in [latency, Histogram::of_counts(7)] {
            let contents = latency.contents();
            let back = Histogram::of_contents(&contents);
            assert_eq!(back.contents(), contents);
            let numbers = |of: &Histogram| (of.count(), of.mean(), of.min(), of.max());
            assert_eq!(numbers(&back), numbers(&latency));
            for fraction in [0.0, 0.01, 0.5, 0.999, 1.0] {
                assert_eq!(back.quantile(fraction), latency.quantile(fraction));
            }
        }
    }

    #[test]
    fn memory_is_bounded_from_the_start() {
        let mut latency = Histogram::of_times();
        let before = latency.memory_bytes();
        assert!(before <= 256 * 1024, "{before}");
        let mut rng = Rng::new(1, "memory");
        for _ in 0..10_000 {
            latency.record(rng.below(u64::MAX));
        }
        assert_eq!(latency.memory_bytes(), before);
        assert!(Histogram::of_counts(1000).memory_bytes() <= 20_000);
        assert!(Histogram::of_counts(1_000_000).memory_bytes() <= 100_000);
    }

    #[test]
    fn bounds_out_of_range_are_mended() {
        for (lowest, highest, digits) in [(0, 0, 0), (u64::MAX, 0, 9), (1 << 32, u64::MAX, 5)] {
            let mut histogram = Histogram::new(lowest, highest, digits);
            histogram.record(5);
            assert_eq!(histogram.quantile(0.5), Some(5));
        }
    }

    #[test]
    fn clearing_forgets_all() {
        let mut queue = Histogram::of_counts(100);
        queue.record_n(7, 3);
        queue.record_n(9, 0);
        assert_eq!((queue.count(), queue.max()), (3, Some(7)));
        queue.clear();
        queue.record(1);
        assert_eq!(
            (queue.count(), queue.mean(), queue.max()),
            (1, Some(1.0), Some(1))
        );
    }

    #[test]
    fn merging_shapes_that_differ_keeps_totals_and_quantiles() {
        let mut small = Histogram::of_counts(1000);
        let mut large = Histogram::new(1, 1_000_000, 2);
        large.record_n(500, 3);
        large.record(5000);
        small.record(1);
        small.merge(&large);
        assert_eq!((small.count(), small.clamped()), (5, 0));
        assert_eq!((small.min(), small.max()), (Some(1), Some(5000)));
        assert_eq!(small.mean(), Some(6501.0 / 5.0));
        let median = small.quantile(0.5).unwrap();
        assert!(median.abs_diff(500) <= 5, "{median}");
    }

    /// Two flows, of which the first has no round trip: the percentile was 51.3 ms where all
    /// samples of the second are above it.
    #[test]
    fn an_empty_histogram_of_another_range_changes_no_quantile() {
        let mut bulk = Histogram::of_counts(100_000_000);
        for us in (50_000..100_000).step_by(10) {
            bulk.record(us);
        }
        for nothing in [Histogram::of_counts(2), Histogram::of_times()] {
            let (mut first, mut last) = (nothing.clone(), bulk.clone());
            first.merge(&bulk);
            last.merge(&nothing);
            for fraction in [0.0, 0.05, 0.5, 0.95, 0.99, 1.0] {
                let alone = bulk.quantile(fraction);
                assert_eq!(first.quantile(fraction), alone, "{fraction}");
                assert_eq!(last.quantile(fraction), alone, "{fraction}");
            }
        }
    }

    #[test]
    fn a_quantile_among_clamped_values_is_the_greatest() {
        let mut narrow = Histogram::of_counts(1000);
        narrow.record(10);
        narrow.record_n(70_000, 9);
        assert_eq!(
            (narrow.quantile(0.1), narrow.quantile(0.5)),
            (Some(10), Some(70_000))
        );
    }

    proptest! {
        #[test]
        fn merging_is_recording(
            a in prop::collection::vec(0..10_000_000_u64, 0..50),
            b in prop::collection::vec(0..10_000_000_u64, 0..50),
            times in 0..4_u64,
        ) {
            let of = |values: &[u64]| {
                let mut histogram = Histogram::new(1, 1_000_000, 3);
                for value in values {
                    histogram.record(*value);
                }
                histogram
            };
            let mut merged = of(&a);
            merged.merge(&of(&b));
            merged.merge_n(&of(&b), times);
            let more = (0..=times).flat_map(|_| &b);
            let all: Vec<u64> = a.iter().chain(more).copied().collect();
            let recorded = of(&all);
            prop_assert_eq!(merged.count(), recorded.count());
            prop_assert_eq!(merged.mean(), recorded.mean());
            prop_assert_eq!(merged.min(), recorded.min());
            prop_assert_eq!(merged.clamped(), recorded.clamped());
            for fraction in [0.0, 0.3, 0.5, 0.99, 1.0] {
                prop_assert_eq!(merged.quantile(fraction), recorded.quantile(fraction));
            }
        }

        #[test]
        fn merging_any_shapes_keeps_quantiles_to_their_digits(
            a in prop::collection::vec(0..1_000_000_u64, 0..40),
            b in prop::collection::vec(0..1_000_000_u64, 0..40),
            highest in prop::sample::select(vec![2_u64, 1000, 1_000_000, 1_000_000_000]),
        ) {
            let of = |values: &[u64], highest: u64| {
                let mut histogram = Histogram::of_counts(highest);
                for value in values {
                    histogram.record(*value);
                }
                histogram
            };
            // What is clamped before the merge cannot come back: only one that holds its values.
            let a: Vec<u64> = a.into_iter().map(|value| value % (highest + 1)).collect();
            let mut merged = of(&a, highest);
            merged.merge(&of(&b, 1_000_000));
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            let recorded = of(&all, 1_000_000_000);
            prop_assert_eq!(merged.count(), recorded.count());
            prop_assert_eq!((merged.min(), merged.max()), (recorded.min(), recorded.max()));
            for fraction in [0.0, 0.05, 0.5, 0.95, 1.0] {
                let (found, right) = (merged.quantile(fraction), recorded.quantile(fraction));
                let near = found.zip(right).is_none_or(|(a, b)| a.abs_diff(b) <= 1 + b / 400);
                prop_assert!(near, "{:?} {:?}", found, right);
            }
        }

        #[test]
        fn quantiles_are_right_to_three_digits(
            mut values in prop::collection::vec(1..1_000_000_000_u64, 1..100),
            fraction in 0.001..1.0_f64,
        ) {
            let mut histogram = Histogram::new(1, 1_000_000_000, 3);
            for value in &values {
                histogram.record(*value);
            }
            values.sort_unstable();
            let rank = (fraction * values.len() as f64).ceil() as usize;
            let exact = values[rank.max(1) - 1] as f64;
            let found = histogram.quantile(fraction).unwrap() as f64;
            prop_assert!((found / exact - 1.0).abs() <= 1e-3, "{} {}", found, exact);
        }
    }
}
