//! Translates addresses and identifiers of echoes.
//!
//! # What it does
//! A mapping is of source, destination and identifier; echo requests make them, replies use them. A
//! pattern is that of `IPRewriter`, whose source port stands for the identifier.
//!
//! # Example
//! ```click
//! // Pings go out from one address.
//! rw :: ICMPPingRewriter(pattern 1.0.0.1 - - - 0 1, drop);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(icmp type echo) -> [0] rw;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> IPClassifier(icmp type echo-reply) -> [1] rw;
//! rw[0] -> Discard; rw[1] -> Discard
//! ```
//!
//! # References
//! RFC 3022 (traditional NAT), RFC 1624 (incremental checksums).

use super::shared::rewriter::arguments::PING;
use super::shared::rewriter::element::{Class, Rewriter};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ICMPPingRewriter",
    "translates addresses and identifiers of pings",
    || Rewriter::boxed(Class::Ping),
)
.ports("1-/1-", "h/h")
.flow("x/x")
.params(PING)
.ops(
    "parse(20); parse(8); ht_lookup(3, 8, 6 * entries, 0) by 8; \
     ct_insertion(0, 72, entries, 0); deparse(8); 2 * inc_checksum(2); deparse(2); work(405)",
);
