//! What elements of the group `ip6` share: neighbour discovery and translation.

pub mod neighbour_message;
pub mod siit;
