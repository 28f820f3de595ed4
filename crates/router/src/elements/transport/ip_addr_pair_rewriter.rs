//! Translates addresses by pairs.
//!
//! # What it does
//! A mapping is of a source and a destination address together. A pattern is
//! `SADDR[-SADDR2] DADDR`.
//!
//! # Example
//! ```click
//! rw :: IPAddrPairRewriter(pattern 1.0.0.1 2.0.0.2 0 1, drop);
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
    "IPAddrPairRewriter",
    "translates addresses by pairs of source and destination",
    || Rewriter::boxed(Class::Pair),
)
.ports("1-/1-", "h/h")
.flow("x/x")
.params(ADDRESSES)
.ops(
    "parse(20); parse(8); ht_lookup(3, 8, 6 * entries, 0) by 8; \
     ct_insertion(0, 72, entries, 0); deparse(8); 2 * inc_checksum(2); work(405)",
);
