//! What elements of the group `shaping` share: rates, meters and timed releases.

pub mod meter;
pub mod rate_bucket;
pub mod rated_splitter;
pub mod rated_unqueue;
pub mod shaper;
pub mod timed_unqueue;
