//! Web search: queries, messages and background flows of a search cluster.
//!
//! # What it does
//! Flows come as a Poisson process (as the papers that use these sizes have it) and are sent over
//! one line, one after the other. Sizes are *published*: the preset `web-search` of the empirical
//! distribution, read off the paper's figure.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! app = "web-search:load=0.3,rate=8 Mbit/s"
//! ```
//!
//! # Parameters
//! `load`, `rate`, `segment`.
//!
//! # References
//! Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4.

use super::Entry;
use crate::sources::transfers::{LOAD, RATE, SEGMENT, published_flows};
use trammel_core::entry::About;

/// The largest flow in bytes.
const MOST_BYTES: f64 = 30e6;

/// Web search in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "web-search",
        aliases: &[],
        summary: "queries, messages and background flows of a search cluster",
        references: &["Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4"],
        params: &[LOAD, RATE, SEGMENT],
    },
    build: |params| published_flows("web-search", MOST_BYTES, params),
};
