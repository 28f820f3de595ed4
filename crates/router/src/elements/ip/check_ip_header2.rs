//! Checks IPv4 headers, but not their checksums.
//!
//! # What it does
//! As CheckIPHeader, with `CHECKSUM` false unless it is given.
//!
//! # Example
//! ```click
//! // As CheckIPHeader, without the checksum.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader2 -> Discard
//! ```

use super::check_ip_header::CheckIpHeader;
use super::shared::ip_check::{IpCheck, PARAMS};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "CheckIPHeader2",
    "checks IPv4 headers without checksums",
    || Box::new(CheckIpHeader(IpCheck::new(false))),
)
.ports("1/1-2", "a/ah")
.references(&["RFC 1812, §5.2.2"])
.params(PARAMS)
.ops("parse(20); work(75)");
