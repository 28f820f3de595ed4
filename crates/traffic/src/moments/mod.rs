//! What traffic is like: predicted from its source, and estimated from a sample.
//!
//! - the mean rate, and the peak: the mean rate in the busiest state of the source;
//! - the coefficient of variation of gaps: standard deviation over mean; 1 of a Poisson process;
//! - the index of dispersion of counts, IDC(t): the variance over the mean of the packets in an interval t. It is 1
//!   of a Poisson process; its limit says how bursty traffic is to a queue (Gusella, "Characterizing the
//!   Variability of Arrival Processes with Indexes of Dispersion", 1991);
//! - the Hurst parameter: the variance of counts grows as t^2H; 0.5 of traffic without long memory.
//!
//! What does not exist, is infinite, or has no form that is computed here is `None`.

pub mod alternating;
pub mod markov;
pub mod renewal;
pub mod sample;

/// What a source's packets are like in the long run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Packets per second.
    pub mean_rate: Option<f64>,
    /// Packets per second in the busiest state.
    pub peak_rate: Option<f64>,
    /// Bytes of payload of a packet.
    pub mean_bytes: Option<f64>,
    /// The coefficient of variation of gaps.
    pub gap_cv: Option<f64>,
    /// The limit of the index of dispersion of counts in long intervals.
    pub dispersion_limit: Option<f64>,
    /// The Hurst parameter of counts; `None` too where counts repeat, as their variance does not grow.
    pub hurst: Option<f64>,
}

impl Predicted {
    /// Bits of payload per second.
    pub fn mean_bps(&self) -> Option<f64> {
        Some(self.mean_rate? * self.mean_bytes? * 8.0)
    }
}
