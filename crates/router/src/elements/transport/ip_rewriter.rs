//! Translates addresses and ports of TCP and UDP.
//!
//! # What it does
//! Each input has a specification for packets without a mapping: `drop`, `pass OUTPUT`, `keep FOUTPUT
//! ROUTPUT`, `pattern SADDR SPORT DADDR DPORT FOUTPUT ROUTPUT` or the name of a mapper. Packets with a
//! mapping are rewritten whichever input they come by. Mappings of TCP and of UDP are apart.
//!
//! # Example
//! `rw :: IPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop)`
//!
//! # References
//! RFC 3022 (traditional NAT), RFC 1624 (incremental checksums).

use crate::elements::Entry;
use crate::rewriter::arguments::IP;
use crate::rewriter::element::{Class, Rewriter};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "IPRewriter",
    "translates addresses and ports of TCP and UDP",
    || Rewriter::boxed(Class::Ip),
)
.ports("1-/1-", "h/h")
.flow("x/x")
.params(IP)
.ops(
    "parse(20); parse(8); ht_lookup(3, 8, 6 * entries, 0) by 8; \
     ct_insertion(0, 72, entries, 0); deparse(8); 2 * inc_checksum(2); deparse(4); work(460)",
);
