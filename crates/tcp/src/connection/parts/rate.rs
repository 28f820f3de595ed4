//! Delivery-rate samples (draft-ietf-ccwg-bbr, "Delivery Rate Samples").

use crate::cc::RateSample;
use crate::scoreboard::Flight;

/// Samples the delivery rate, once for each ACK.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    /// The sample of the present ACK.
    pub(crate) sample: RateSample,
    /// The last sample that was not limited by the application or exceeded the one before: segments
    /// delivered, and the time that they took, µs.
    pub(crate) last_good: (u64, u64),
    /// What was in flight and lost when the sampled segment was sent, for a controller that asks.
    pub(crate) sent_with: Flight,
}
