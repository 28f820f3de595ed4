//! Data mining: many tiny and a few huge flows of a cluster for data mining.
//!
//! # What it does
//! Flows come as a Poisson process (as the papers that use these sizes have it) and are sent over
//! one line, one after the other. Sizes are *published*: the preset `data-mining` of the empirical
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
//! app = "data-mining:load=0.3,rate=8 Mbit/s"
//! ```
//!
//! # Parameters
//! `load`, `rate`, `segment`.
//!
//! # References
//! Greenberg et al., VL2: A Scalable and Flexible Data Center Network, SIGCOMM 2009, figure 2.

use super::Entry;
use crate::sources::transfers::{LOAD, RATE, SEGMENT, published_flows};
use trammel_core::entry::About;

/// The largest flow in bytes.
const MOST_BYTES: f64 = 1e9;

/// Data mining in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "data-mining",
        aliases: &[],
        summary: "many tiny and a few huge flows of a data-mining cluster",
        references: &[
            "Greenberg et al., VL2: A Scalable and Flexible Data Center Network, SIGCOMM 2009, \
             figure 2",
        ],
        params: &[LOAD, RATE, SEGMENT],
    },
    build: |params| published_flows("data-mining", MOST_BYTES, params),
};
