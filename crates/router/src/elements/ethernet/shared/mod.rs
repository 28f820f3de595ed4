//! What elements of the group `ethernet` share: places of addresses, VLAN tags, learning.

pub mod ether_place;
pub mod learning_switch;
pub mod vlan;
