//! Rates over time: moving averages, even gaps, and shares by stride.

pub(crate) mod gap_rate;
pub(crate) mod rate;
pub(crate) mod strides;
