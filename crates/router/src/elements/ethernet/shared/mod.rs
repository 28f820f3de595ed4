//! What elements of the group `ethernet` share: places of addresses, VLAN tags, learning.

pub(crate) mod ether_place;
pub(crate) mod learning_switch;
pub(crate) mod vlan;
