//! Headers within packets: marks, checks and checksums that several element groups use.

pub mod crc32;
pub mod header_faults;
pub mod ip6_packet;
pub mod ip_packet;
