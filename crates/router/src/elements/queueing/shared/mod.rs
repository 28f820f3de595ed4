//! What elements of the group `queueing` share: the ring, its lengths and early drops.

pub mod early_drop;
pub mod queue_lengths;
pub mod queue_ring;
