//! Translates addresses and identifiers of echoes.
//!
//! # What it does
//! A mapping is of source, destination and identifier; echo requests make them, replies use them. A
//! pattern is that of `IPRewriter`, whose source port stands for the identifier.
//!
//! # References
//! RFC 3022 (traditional NAT), RFC 1624 (incremental checksums).

use crate::elements::Entry;
use crate::rewriter::arguments::PING;
use crate::rewriter::element::{Class, Rewriter};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ICMPPingRewriter",
    "translates addresses and identifiers of pings",
    || Rewriter::boxed(Class::Ping),
)
.ports("1-/1-", "h/h")
.flow("x/x")
.params(PING);
