//! Delivery-rate samples (draft-ietf-ccwg-bbr, "Delivery Rate Samples").

use crate::cc::RateSample;

/// Samples the delivery rate, once for each ACK.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    /// The sample of the present ACK.
    pub(crate) sample: RateSample,
    /// The last sample that was not limited by the application or exceeded the one before: segments
    /// delivered, and the time that they took, µs.
    pub(crate) last_good: (u64, u64),
}
