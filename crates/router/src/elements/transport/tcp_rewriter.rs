//! Translates addresses, ports and sequence numbers of TCP.
//!
//! # What it does
//! As `IPRewriter`, for TCP only. Sequence numbers move where another element, such as
//! `FTPPortMapper`, changed the length of what was said.
//!
//! # Example
//! ```click
//! rw :: TCPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(tcp) -> [0] rw;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> IPClassifier(tcp) -> [1] rw;
//! rw[0] -> Discard; rw[1] -> Discard
//! ```
//!
//! # References
//! RFC 3022 (traditional NAT), RFC 1624 (incremental checksums).

use super::shared::rewriter::arguments::TCP_ONLY;
use super::shared::rewriter::element::{Class, Rewriter};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "TCPRewriter",
    "translates addresses, ports and sequence numbers of TCP",
    || Rewriter::boxed(Class::Tcp),
)
.ports("1-/1-", "h/h")
.flow("x/x")
.params(TCP_ONLY)
.ops(
    "parse(20); parse(8); ht_lookup(3, 8, 6 * entries, 0) by 8; \
     ct_insertion(0, 72, entries, 0); deparse(8); 2 * inc_checksum(2); deparse(4); work(495)",
);
