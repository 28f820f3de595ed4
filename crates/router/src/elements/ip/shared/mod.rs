//! What elements of the group `ip` share: checks, options and text of IPv4.

pub mod icmp_encap;
pub mod ip_check;
pub mod ip_options;
pub mod ip_text;
