//! Translates addresses and ports of TCP and UDP.
//!
//! # What it does
//! Each input has a specification for packets without a mapping: `drop`, `pass OUTPUT`,
//! `keep FOUTPUT ROUTPUT`, `pattern SADDR SPORT DADDR DPORT FOUTPUT ROUTPUT` or the name of a
//! mapper. Packets with a mapping are rewritten whichever input they come by. Mappings of TCP and
//! of UDP are apart.
//!
//! # Input specifications
//! | an input's argument | what becomes of a packet that has no mapping |
//! | --- | --- |
//! | `drop`, `discard` | it is dropped |
//! | `pass [OUTPUT]`, `nochange`, `passthrough` | it leaves by OUTPUT (0), unchanged, and no mapping is made |
//! | `keep FOUTPUT ROUTPUT` | a mapping is made that changes nothing: this way packets leave by FOUTPUT, replies by ROUTPUT |
//! | `pattern SADDR SPORT DADDR DPORT FOUTPUT ROUTPUT` | a mapping is made by the pattern; `-` keeps a part as it is |
//! | `pattern NAME FOUTPUT ROUTPUT` | the same, by a pattern of IPRewriterPatterns |
//! | `NAME` | the mapper of this name chooses: RoundRobinIPMapper, SourceIPHashMapper |
//!
//! SADDR is an address, a range `1.0.0.1-1.0.0.9` or a network; SPORT a port or a range
//! `1024-65535`. Of a range a new mapping takes the flow's own value where that is free; with `#`
//! at the end the next one in turn, and with `?` one that is drawn.
//!
//! # Example
//! ```click
//! // NAT: what comes from inside leaves from one address; only answers come back in.
//! rw :: IPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> [0] rw;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> [1] rw; rw[0] -> Discard; rw[1] -> Discard
//! ```
//!
//! # References
//! RFC 3022 (traditional NAT), RFC 1624 (incremental checksums).

use super::shared::rewriter::arguments::IP;
use super::shared::rewriter::element::{Class, Rewriter};
use crate::elements::Entry;

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
