//! IPv4 packets: what a received one must be, and those that the router makes.

pub(crate) mod header;
pub(crate) mod icmp;
pub(crate) mod transport;
