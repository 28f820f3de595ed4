//! When the warm-up of a run ends and when the run does, and rates over a window of time.

use trammel_core::time::{Span, Time};

/// The end of the warm-up and the end of the run.
pub(super) struct RunTimes {
    pub(super) warmup: Time,
    pub(super) end: Time,
}

/// Megabits a second of `bytes` within `window`; nothing of no time.
pub(super) fn mbps(bytes: u64, window: Span) -> Option<f64> {
    (window > Span::ZERO).then(|| bytes as f64 * 8e-6 / window.as_secs_f64())
}
