//! Takes several patterns in turn for new flows of a rewriter.
//!
//! # What it does
//! Each argument is a pattern with its two outputs. A new flow gets the next one that has room for
//! it.
//!
//! # Example
//! ```click
//! // New flows to two servers in turn.
//! m :: RoundRobinIPMapper(- - 1.0.0.1 - 0 1, - - 1.0.0.2 - 0 1);
//! rw :: IPRewriter(m, drop); FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> [0] rw;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> [1] rw; rw[0] -> Discard; rw[1] -> Discard
//! ```

use super::shared::rewriter::mapper::Mapper;
use crate::args::{Kind, Need, param};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "RoundRobinIPMapper",
    "chooses patterns of a rewriter in turn",
    Mapper::in_turn,
)
.ports("0/0", "a/a")
.phase(-1)
.params(&[param(
    "PATTERN",
    Need::Rest,
    Kind::Raw,
    "",
    "a pattern and two outputs",
)]);
