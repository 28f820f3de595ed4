//! Counter-Strike: a player's packets, at a constant rate.
//!
//! # What it does
//! 24 packets a second (*observed* of D-ITG: a median gap of 41.8 ms). Of an active player sizes
//! follow the quantiles *observed* over 90 s (2,137 packets of 21 to 64 bytes); of an inactive one
//! they are 27 bytes five times of six.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! app = "counter-strike"
//! ```
//!
//! # Parameters
//! `player`.
//!
//! # References
//! D-ITG, `CSa` and `CSi`; Dainotti, Botta, Pescapé and Ventre, "Searching for Invariants in
//! Network Games Traffic", 2006, which D-ITG names as the source of its model.

use super::{D_ITG, Entry};
use crate::sources::laws::Laws;
use crate::sources::sizes::Sizes;
use crate::sources::{discrete, empirical};
use trammel_core::entry::{About, Kind, Param};
use trammel_stats::arrivals::Spans;

/// Packets a second.
const PER_SECOND: f64 = 24.0;

/// Bytes, and the share of an active player's packets of at most so many.
const ACTIVE: [(f64, f64); 11] = [
    (21.0, 0.0),
    (26.0, 0.01),
    (30.0, 0.05),
    (32.0, 0.1),
    (37.0, 0.25),
    (46.0, 0.5),
    (50.0, 0.75),
    (53.0, 0.9),
    (54.0, 0.95),
    (57.0, 0.99),
    (64.0, 1.0),
];

/// Bytes, and how many of 2,154 packets of an inactive player had so many.
const INACTIVE: [(f64, f64); 8] = [
    (27.0, 1778.0),
    (28.0, 4.0),
    (29.0, 103.0),
    (30.0, 40.0),
    (31.0, 199.0),
    (32.0, 3.0),
    (33.0, 24.0),
    (35.0, 3.0),
];

/// Counter-Strike in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "counter-strike",
        aliases: &["cs"],
        summary: "a player of Counter-Strike, active or not",
        references: &[
            D_ITG,
            "Dainotti, Botta, Pescapé and Ventre, Searching for Invariants in Network Games \
             Traffic, 2006",
        ],
        params: &[Param {
            name: "player",
            kind: Kind::Choice(&["active", "inactive"]),
            default: "active",
            unit: "",
            help: "what the player does",
        }],
    },
    build: |params| {
        let gaps = Spans::constant_rate(PER_SECOND).expect("the rate is above 0");
        let sizes = if params.text("player") == "active" {
            empirical(&ACTIVE)?
        } else {
            discrete(&INACTIVE)?
        };
        let laws = Sizes::new(sizes, 21, 64).and_then(|sizes| Laws::new(gaps, sizes));
        Ok(Box::new(laws.map_err(|error| error.to_string())?))
    },
};
