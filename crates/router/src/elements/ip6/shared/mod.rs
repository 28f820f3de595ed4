//! What elements of the group `ip6` share: neighbour discovery and translation.

pub(crate) mod neighbour_message;
pub(crate) mod siit;
