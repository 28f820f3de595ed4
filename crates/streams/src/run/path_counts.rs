//! Counters of the path between sender and receiver, over one simulated run.

/// What the simulated path counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathCounts {
    /// Bits that came, as a share of what the path carries in the run.
    pub load: f64,
    /// Bits that it carried in the run, of those that it could have.
    pub utilisation: f64,
    /// The mean time in the queue of those that were sent, without their own time of sending.
    pub wait_mean_us: Option<f64>,
    /// The share that the queue dropped.
    pub dropped: Option<f64>,
    /// The share of the rest that was lost behind it.
    pub lost: Option<f64>,
    /// Most packets in the queue, the one being sent included.
    pub peak_pkts: u32,
}
