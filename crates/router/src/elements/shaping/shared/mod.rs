//! What elements of the group `shaping` share: rates, meters and timed releases.

pub(crate) mod meter;
pub(crate) mod rate_bucket;
pub(crate) mod rated_splitter;
pub(crate) mod rated_unqueue;
pub(crate) mod shaper;
pub(crate) mod timed_unqueue;
