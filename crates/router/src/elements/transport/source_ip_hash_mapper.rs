//! Chooses one of several patterns for new flows of a rewriter by the source address.
//!
//! # What it does
//! The first argument is the number of points that each server has on a circle, and a seed; each
//! other one a pattern, its two outputs and the number of its server. A source address falls on the
//! circle too and goes to the server of the next point, so that adding or removing a server moves
//! few sources. The points are drawn, for one server number after the other, by the generator that
//! `srandom(seed)` starts. The choice is Click's for every source; the patterns belong to the
//! servers in the order of the servers' numbers.
//!
//! # Example
//! ```click
//! // A client's flows all go to one of two servers.
//! m :: SourceIPHashMapper(500 0xbadbeef, - - 1.0.0.1 - 0 1 1, - - 1.0.0.2 - 0 1 2);
//! rw :: IPRewriter(m, drop); FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> [0] rw;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> [1] rw; rw[0] -> Discard; rw[1] -> Discard
//! ```
//!
//! # References
//! Karger et al. 1997, Consistent hashing and random trees.

use super::shared::rewriter::mapper::Mapper;
use crate::args::{Kind, Need, param};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "SourceIPHashMapper",
    "chooses patterns of a rewriter by source address",
    Mapper::by_source,
)
.ports("0/0", "a/a")
.phase(-1)
.params(&[param(
    "PATTERN",
    Need::Rest,
    Kind::Raw,
    "",
    "`NNODES SEED`, then patterns with two outputs and a server's number",
)]);
