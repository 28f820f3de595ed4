//! What elements of the group `ip` share: checks, options and text of IPv4.

pub(crate) mod icmp_encap;
pub(crate) mod ip_check;
pub(crate) mod ip_options;
pub(crate) mod ip_text;
