//! Translates addresses and ports of UDP, TCP and DCCP alike.
//!
//! # What it does
//! As `IPRewriter`, with one table for all protocols, and without looking at the state of
//! connections.
//!
//! # Example
//! ```click
//! rw :: UDPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(udp) -> [0] rw;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> IPClassifier(udp) -> [1] rw;
//! rw[0] -> Discard; rw[1] -> Discard
//! ```
//!
//! # References
//! RFC 3022 (traditional NAT), RFC 1624 (incremental checksums).

use super::shared::rewriter::arguments::UDP_ONLY;
use super::shared::rewriter::element::{Class, Rewriter};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "UDPRewriter",
    "translates addresses and ports of UDP, and of TCP without its state",
    || Rewriter::boxed(Class::Udp),
)
.ports("1-/1-", "h/h")
.flow("x/x")
.params(UDP_ONLY)
.ops(
    "parse(20); parse(8); ht_lookup(3, 8, 6 * entries, 0) by 8; \
     ct_insertion(0, 72, entries, 0); deparse(8); 2 * inc_checksum(2); deparse(4); work(460)",
);
