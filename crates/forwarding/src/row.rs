//! A trial as it stands in tables: of the simulated device one, of this machine the median of
//! several windows.

use trammel_bench::trial::TrialOutcome;
use trammel_core::time::Span;
use trammel_scenario::forwarding::Test;
use trammel_workbench::recovery::Recovery;

/// A trial that was made.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// What it was made for.
    pub(super) test: Test,
    /// Its load as a share of the throughput, where it was set so.
    pub(super) share: Option<f64>,
    /// Frames a second that were to be offered.
    pub(super) intended: f64,
    /// How long the sending took.
    pub(super) effective: Span,
    /// Frames.
    pub(super) offered: u64,
    pub(super) forwarded: u64,
    /// The share of them that did not come out.
    pub(super) loss: f64,
    /// Latencies that half of the frames, and 99 % of them, do not exceed.
    pub(super) p50: Option<Span>,
    pub(super) p99: Option<Span>,
    /// Whether it lost nothing.
    pub(super) passed: bool,
    /// How the device recovered, where that was the test.
    pub(super) recovery: Option<Recovery>,
    /// Windows of which this is the median; none where it is one trial.
    pub(super) windows: Option<Windows>,
}

/// Windows behind a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// Those in which the machine kept its pace.
    pub(super) kept: usize,
    /// From the least of them to the greatest, over the median: of the 99th percentile, the loss or
    /// the delay.
    pub(super) spread: Option<f64>,
}

impl Row {
    /// One trial.
    pub(super) fn of(test: Test, share: Option<f64>, intended: f64, outcome: &TrialOutcome) -> Row {
        let quantile = |fraction| outcome.latency.as_ref()?.quantile_time(fraction);
        Row {
            test,
            share,
            intended,
            effective: outcome.effective,
            offered: outcome.offered,
            forwarded: outcome.forwarded,
            loss: outcome.loss_ratio(),
            p50: quantile(0.5),
            p99: quantile(0.99),
            passed: outcome.lost() == 0,
            recovery: None,
            windows: None,
        }
    }
}

/// A time in microseconds.
pub(super) fn us(time: Span) -> f64 {
    time.as_ps() as f64 / 1e6
}
