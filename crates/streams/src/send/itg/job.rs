//! What a sender of D-ITG's flows is asked to do besides the flows.

use crate::log_file::LogTo;
use trammel_traffic::pace::Wait;

/// What is to be done besides the flows.
#[derive(Clone, Debug)]
pub struct ItgJob {
    /// The number of the first flow, 1 or more.
    pub first: u32,
    /// The seed of flows that have none (`-s`); each has its own by its number.
    pub seed: u64,
    /// How packets' times are waited for.
    pub wait: Wait,
    /// Whether the sender runs before all programs of usual priority.
    pub is_real_time: bool,
    /// Where our log goes.
    pub log: Option<LogTo>,
}
