//! What elements of the group `queueing` share: the ring, its lengths and early drops.

pub(crate) mod early_drop;
pub(crate) mod queue_lengths;
pub(crate) mod queue_ring;
