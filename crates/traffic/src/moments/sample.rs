//! The same moments, of a sample.

use super::Predicted;
use trammel_core::time::{Span, Time};
use trammel_stats::stats::Moments;

/// What the gaps between `times` are like: mean rate and coefficient of variation; the rest is not
/// told by gaps. `None` in both of fewer than three times.
pub fn of_times(times: &[Time]) -> Predicted {
    let gaps = times
        .windows(2)
        .map(|pair| pair[1].saturating_since(pair[0]));
    let gaps: Moments = gaps.map(Span::as_secs_f64).collect();
    let mean = gaps.mean().filter(|mean| *mean > 0.0);
    Predicted {
        mean_rate: mean.map(f64::recip),
        gap_cv: mean.and_then(|mean| Some(gaps.std_dev()? / mean)),
        ..Predicted::default()
    }
}

/// What a list of gaps is like that is gone through over and over: the list is all there is, so the
/// variance is divided by its length.
pub(crate) fn of_repeated_gaps(gaps: &[Span]) -> Predicted {
    let moments: Moments = gaps.iter().map(|gap| gap.as_secs_f64()).collect();
    let Some(mean) = moments.mean().filter(|mean| *mean > 0.0) else {
        return Predicted::default();
    };
    let count = gaps.len() as f64;
    let variance = moments
        .variance()
        .map_or(0.0, |variance| variance * (count - 1.0) / count);
    Predicted {
        mean_rate: Some(1.0 / mean),
        gap_cv: Some(variance.sqrt() / mean),
        dispersion_limit: Some(0.0),
        ..Predicted::default()
    }
}

/// The mean and the coefficient of variation of sizes that are all there are, so that the variance
/// is divided by their number. `None` in both of none, in the latter too where all are 0.
pub(crate) fn of_all_sizes(sizes: impl Iterator<Item = u32>) -> (Option<f64>, Option<f64>) {
    let moments: Moments = sizes.map(f64::from).collect();
    let count = moments.count() as f64;
    let variance = moments
        .variance()
        .map_or(0.0, |variance| variance * (count - 1.0) / count);
    let mean = moments.mean();
    let cv = mean.filter(|mean| *mean > 0.0);
    (mean, cv.map(|mean| variance.sqrt() / mean))
}

/// The packets in each whole interval of `secs` from the first time to the last.
pub fn counts(times: &[Time], secs: f64) -> Vec<u32> {
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Vec::new();
    };
    let interval = Time::from_secs_f64(secs).as_ps().max(1);
    let whole = last.saturating_since(*first).as_ps() / interval;
    // More intervals than that hold no more of the truth than so many.
    let Some(whole) = usize::try_from(whole)
        .ok()
        .filter(|whole| *whole <= MOST_INTERVALS)
    else {
        return Vec::new();
    };
    let mut counts = vec![0; whole];
    for at in times {
        let place = at.saturating_since(*first).as_ps() / interval;
        if let Some(count) = counts.get_mut(place as usize) {
            *count += 1;
        }
    }
    counts
}

/// The most intervals that are counted.
const MOST_INTERVALS: usize = 1 << 28;

/// IDC(t) at t = `secs`, over intervals that do not overlap; `None` of fewer than two.
pub fn dispersion(times: &[Time], secs: f64) -> Option<f64> {
    let counts: Moments = counts(times, secs).into_iter().map(f64::from).collect();
    let mean = counts.mean().filter(|mean| *mean > 0.0)?;
    Some(counts.variance()? / mean)
}

/// IDC(t) over a ladder of intervals, each twice the one before, from `from_secs` up to what leaves
/// 16 intervals.
pub fn ladder(times: &[Time], from_secs: f64) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    let mut level: Vec<u64> = counts(times, from_secs)
        .into_iter()
        .map(u64::from)
        .collect();
    let mut secs = from_secs;
    while level.len() >= 16 {
        let moments: Moments = level.iter().map(|count| *count as f64).collect();
        if let (Some(mean), Some(variance)) = (moments.mean(), moments.variance()) {
            found.push((secs, variance / mean));
        }
        level = level
            .chunks_exact(2)
            .map(|pair| pair[0] + pair[1])
            .collect();
        secs *= 2.0;
    }
    found
}

/// An estimate of the Hurst parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hurst {
    /// The estimate.
    pub value: f64,
    /// Its standard error, as if the details were independent and normal; of traffic that is far
    /// from normal on the shortest scale the true one is larger.
    pub std_error: f64,
    /// The shortest and the longest scale, in seconds.
    pub scales_secs: (f64, f64),
}

/// The Hurst parameter of counts, from the scale `from_secs` up, by regression over wavelet
/// details: the logarithm of their mean square rises by 2H − 1 an octave, each octave weighted by
/// how well it is known (Abry and Veitch, "Wavelet Analysis of Long-Range-Dependent Traffic", 1998,
/// with Haar's wavelet). Octaves with fewer than 8 details are left out. `None` of fewer than three
/// octaves, or where counts do not vary.
pub fn hurst(times: &[Time], from_secs: f64) -> Option<Hurst> {
    let mut level: Vec<f64> = counts(times, from_secs)
        .into_iter()
        .map(f64::from)
        .collect();
    // Octave, log₂ of the mean square, weight.
    let mut octaves: Vec<(f64, f64, f64)> = Vec::new();
    for octave in 1.. {
        let details: Vec<f64> = level
            .chunks_exact(2)
            .map(|pair| (pair[0] - pair[1]) * std::f64::consts::FRAC_1_SQRT_2)
            .collect();
        if details.len() < 8 {
            break;
        }
        let count = details.len() as f64;
        let square = details.iter().map(|detail| detail * detail).sum::<f64>() / count;
        if square == 0.0 {
            return None;
        }
        // E log₂ of a mean of n squares is too small by about 1 / (n ln 2); its variance is 2 / (n
        // ln² 2).
        let unbiased = square.log2() + 1.0 / (count * std::f64::consts::LN_2);
        let weight = count * std::f64::consts::LN_2.powi(2) / 2.0;
        octaves.push((f64::from(octave), unbiased, weight));
        level = level
            .chunks_exact(2)
            .map(|pair| (pair[0] + pair[1]) * std::f64::consts::FRAC_1_SQRT_2)
            .collect();
    }
    if octaves.len() < 3 {
        return None;
    }
    let total: f64 = octaves.iter().map(|(_, _, weight)| weight).sum();
    let middle = octaves
        .iter()
        .map(|(octave, _, weight)| octave * weight)
        .sum::<f64>()
        / total;
    let spread: f64 = octaves
        .iter()
        .map(|(octave, _, weight)| weight * (octave - middle).powi(2))
        .sum();
    let rise: f64 = octaves
        .iter()
        .map(|(octave, log, weight)| weight * (octave - middle) * log)
        .sum();
    let longest = from_secs * 2_f64.powi(octaves.len() as i32);
    Some(Hurst {
        value: f64::midpoint(rise / spread, 1.0),
        std_error: 0.5 / spread.sqrt(),
        scales_secs: (from_secs, longest),
    })
}
