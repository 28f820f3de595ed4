//! Rates over time: moving averages, even gaps, and shares by stride.

pub mod gap_rate;
pub mod rate;
pub mod strides;
