//! Moments of on–off bursts.
//!
//! A gap X on the clock of the "on" periods meets N ends of such periods, each of which adds a
//! silence. With the two processes in independent phases, E N = X / E on, and the gap that is seen
//! has the variance
//!
//! ```text
//! Var X (1 + E off / E on)² + (E X / E on) Var off + (E off)² E[Var N(X)]
//! ```
//!
//! The counts are those of the gaps in the time that is "on", A(t), whose variance grows as
//! ((E off)² Var on + (E on)² Var off) / (E on + E off)³ · t (Cox, "Renewal Theory", 1962, §7.4,
//! for cumulative processes):
//!
//! ```text
//! IDC(∞) = Var X / (E X)² + ((E off)² Var on + (E on)² Var off) / ((E on + E off)² E on E X)
//! ```
//!
//! With periods of infinite variance there is no limit, and H = (3 − a) / 2 for the heavier tail
//! x^−a (Taqqu, Willinger and Sherman 1997).

use super::renewal::{self, Counts};
use super::{Numeric, Predicted, markov};
use trammel_stats::arrivals::Spans;
use trammel_stats::arrivals::modulated::Chain;

/// Points of the numeric mean over gaps.
const QUANTILES: u32 = 1000;

/// The laws of bursts: of the periods of sending, of those of silence, and of the gaps between
/// packets.
#[derive(Clone, Copy)]
pub(crate) struct Laws<'a> {
    pub(crate) on: &'a Spans,
    pub(crate) off: &'a Spans,
    pub(crate) gaps: &'a Spans,
}

/// What bursts are like, but for their sizes.
pub(crate) fn predicted(laws: Laws<'_>) -> Predicted {
    let Laws { on, off, gaps } = laws;
    let means = || Some((on.mean_secs()?, off.mean_secs()?, gaps.mean_secs()?));
    let Some((mean_on, mean_off, mean_gap)) = means() else {
        return Predicted::default();
    };
    if !(mean_on > 0.0 && mean_gap > 0.0) {
        return Predicted::default();
    }
    let variances = || {
        Some((
            on.variance_secs2()?,
            off.variance_secs2()?,
            gaps.variance_secs2()?,
        ))
    };
    let mean_seen = mean_gap * (1.0 + mean_off / mean_on);
    let gap_cv = || {
        let (var_off, var_gap) = (off.variance_secs2()?, gaps.variance_secs2()?);
        let variance = var_gap * (1.0 + mean_off / mean_on).powi(2)
            + mean_gap / mean_on * var_off
            + mean_off * mean_off * boundary_variance(on, gaps)?;
        Some(variance.sqrt() / mean_seen)
    };
    let limit = variances().map(|(var_on, var_off, var_gap)| {
        let wandering = mean_off * mean_off * var_on + mean_on * mean_on * var_off;
        var_gap / (mean_gap * mean_gap)
            + wandering / ((mean_on + mean_off).powi(2) * mean_on * mean_gap)
    });
    let hurst = match limit {
        Some(0.0) => None,
        Some(_) => Some(0.5),
        None => [on, off, gaps]
            .into_iter()
            .filter(|spans| spans.variance_secs2().is_none())
            .map(renewal::tail_index)
            .try_fold(2.0, |least: f64, index| Some(least.min(index?)))
            .map(|index| (3.0 - index) / 2.0),
    };
    Predicted {
        mean_rate: Some(1.0 / mean_seen),
        peak_rate: Some(1.0 / mean_gap),
        mean_bytes: None,
        size_cv: None,
        gap_cv: gap_cv(),
        dispersion_limit: limit,
        hurst,
    }
}

/// Which of these come of a numeric method.
pub(crate) fn numeric(laws: Laws<'_>) -> Numeric {
    let Laws { on, off, gaps } = laws;
    let mut all = [on, off, gaps].into_iter();
    Numeric {
        gaps: !renewal::is_exponential(on),
        hurst: all.any(|spans| spans.variance_secs2().is_none()),
        ..Numeric::default()
    }
}

/// E[Var N(X)]: the mean over `gaps` of the variance of the ends of `on` periods in a gap.
fn boundary_variance(on: &Spans, gaps: &Spans) -> Option<f64> {
    let (mean_on, mean_gap) = (on.mean_secs()?, gaps.mean_secs()?);
    if renewal::is_exponential(on) {
        return Some(mean_gap / mean_on);
    }
    if gaps.variance_secs2() == Some(0.0) {
        return Counts::of(on, mean_gap)?.variance(mean_gap);
    }
    let gap_at = |number: u32| {
        let tail = 1.0 - (f64::from(number) + 0.5) / f64::from(QUANTILES);
        renewal::quantile_from_above(gaps, tail)
    };
    let counts = Counts::of(on, gap_at(QUANTILES - 1))?;
    let sum = (0..QUANTILES).try_fold(0.0, |sum, number| {
        Some(sum + counts.variance(gap_at(number))?)
    });
    Some(sum? / f64::from(QUANTILES))
}

/// IDC(t) at t = `secs`: closed where gaps and periods are all exponential, an interrupted Poisson
/// process.
pub(crate) fn dispersion(laws: Laws<'_>, secs: f64) -> Option<f64> {
    let Laws { on, off, gaps } = laws;
    if ![on, off, gaps].into_iter().all(renewal::is_exponential) {
        return None;
    }
    let sojourns = [on.mean_secs()?, off.mean_secs()?];
    let chain = Chain::two([1.0 / gaps.mean_secs()?, 0.0], sojourns).ok()?;
    markov::dispersion(&chain, secs)
}
