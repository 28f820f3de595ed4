//! Headers within packets: marks, checks and checksums that several element groups use.

pub(crate) mod answer;
pub(crate) mod crc32;
pub(crate) mod header_faults;
pub(crate) mod ip6_packet;
pub(crate) mod ip_packet;
