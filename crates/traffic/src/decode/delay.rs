//! Delay: the second instant of a record less the first, by whatever clocks they were read.
//!
//! One-way delays of two hosts whose clocks differ may be negative. They are kept, and counted.

use super::spread::{Quantiles, Spread};
use trammel_stats::stats::Interval;

/// Delays, duplicates left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayReport {
    /// How many.
    pub pkts: u64,
    /// How many are below 0: the clocks differ, and all delays are wrong by as much.
    pub negative_pkts: u64,
    /// The least.
    pub min_ns: i64,
    /// The mean.
    pub mean_ns: f64,
    /// The greatest.
    pub max_ns: i64,
    /// The standard deviation, of the population (divided by n, as D-ITG does).
    pub sd_ns: f64,
    /// Quantiles, right to 0.1 % of their distance from 0; where the first delay is negative or
    /// above a second, from that one.
    pub quantiles: Quantiles,
    /// Student's interval of the mean, in nanoseconds; intervals of the series are taken to be
    /// independent, and count by their packets. `None` of fewer than two.
    pub mean_interval_ns: Option<Interval>,
}

/// Packet delay variation (RFC 5481 §4.2): delays less the least. A clock's offset does not matter
/// to it, its drift does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdvReport {
    /// The mean.
    pub mean_ns: f64,
    /// The greatest.
    pub max_ns: i64,
    /// Quantiles, as exact as those of delay.
    pub quantiles: Quantiles,
}

pub(super) fn delay(
    spread: &Spread,
    negative_pkts: u64,
    mean_interval_ns: Option<Interval>,
) -> Option<DelayReport> {
    Some(DelayReport {
        pkts: spread.count(),
        negative_pkts,
        min_ns: spread.min_ns()?,
        mean_ns: spread.mean_ns()?,
        max_ns: spread.max_ns()?,
        sd_ns: spread.population_sd_ns()?,
        quantiles: spread.quantiles()?,
        mean_interval_ns,
    })
}

pub(super) fn pdv(spread: &Spread) -> Option<PdvReport> {
    let min_ns = spread.min_ns()?;
    let of = |ns: i64| ns.saturating_sub(min_ns);
    let quantiles = spread.quantiles()?;
    Some(PdvReport {
        mean_ns: spread.mean_ns()? - min_ns as f64,
        max_ns: of(spread.max_ns()?),
        quantiles: Quantiles {
            p50_ns: of(quantiles.p50_ns),
            p90_ns: of(quantiles.p90_ns),
            p99_ns: of(quantiles.p99_ns),
            p999_ns: of(quantiles.p999_ns),
        },
    })
}
