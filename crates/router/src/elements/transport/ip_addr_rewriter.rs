//! Translates the address of one end: basic NAT.
//!
//! # What it does
//! A mapping is of one address: packets from it get the new source address, packets to the new one
//! get it as their destination. A pattern is `SADDR[-SADDR2] -`.
//!
//! # Example
//! ```click
//! // Each inner address gets an outer one of its own.
//! rw :: IPAddrRewriter(pattern 1.0.0.1-1.0.0.254 - 0 1, drop);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> [0] rw;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> [1] rw; rw[0] -> Discard; rw[1] -> Discard
//! ```
//!
//! # References
//! RFC 3022 (traditional NAT), RFC 1624 (incremental checksums).

use super::shared::rewriter::arguments::ADDRESSES;
use super::shared::rewriter::element::{Class, Rewriter};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "IPAddrRewriter",
    "translates source addresses, and destinations of answers",
    || Rewriter::boxed(Class::Address),
)
.ports("1-/1-", "h/h")
.flow("x/x")
.params(ADDRESSES)
.ops(
    "parse(20); parse(8); ht_lookup(3, 8, 6 * entries, 0) by 8; \
     ct_insertion(0, 72, entries, 0); deparse(8); 2 * inc_checksum(2); work(405)",
);
