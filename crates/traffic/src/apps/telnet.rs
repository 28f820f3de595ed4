//! Telnet: what a person types, in packets of few bytes with very uneven gaps.
//!
//! # What it does
//! Gaps follow a truncated Pareto law: its shape, 0.95, is *published* (Paxson and Floyd 1995,
//! upper tail of the gaps within connections), its smallest gap of 1.163 ms and the largest of 6.84
//! s are *fitted* to the gaps *observed* of D-ITG over 90 s, whose median is 2.40 ms, ninth decile
//! 12.9 ms and longest 6.2 s. The mean rate is the *observed* 83 packets a second, which is what a
//! fast script types, not a person. Sizes: the *observed* 4 to 15 bytes, nine of ten of them 4.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! app = "telnet"
//! ```
//!
//! # Parameters
//! None.
//!
//! # References
//! Paxson and Floyd, "Wide-Area Traffic: The Failure of Poisson Modeling", 1995; D-ITG, `Telnet`.

use super::{D_ITG, Entry};
use crate::sources::laws::Laws;
use crate::sources::sizes::Sizes;
use crate::sources::{discrete, law};
use trammel_core::entry::About;
use trammel_stats::arrivals::Spans;

/// Packets a second.
const PER_SECOND: f64 = 83.0;

/// Bytes, and how many of 7,170 packets had so many.
const SIZES: [(f64, f64); 12] = [
    (4.0, 6424.0),
    (5.0, 227.0),
    (6.0, 76.0),
    (7.0, 65.0),
    (8.0, 70.0),
    (9.0, 75.0),
    (10.0, 40.0),
    (11.0, 46.0),
    (12.0, 43.0),
    (13.0, 39.0),
    (14.0, 32.0),
    (15.0, 33.0),
];

/// Telnet in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "telnet",
        aliases: &[],
        summary: "keystrokes with heavy-tailed gaps",
        references: &[
            "Paxson and Floyd, Wide-Area Traffic: The Failure of Poisson Modeling, 1995",
            D_ITG,
        ],
        params: &[],
    },
    build: |_| {
        let gaps = law(
            "pareto",
            &[("shape", 0.95), ("scale", 1.163e-3), ("bound", 6.84)],
        )?;
        let gaps = Spans::at_rate(gaps, PER_SECOND).expect("a bounded law has a mean");
        let laws = Sizes::new(discrete(&SIZES)?, 4, 15).and_then(|sizes| Laws::new(gaps, sizes));
        Ok(Box::new(laws.map_err(|error| error.to_string())?))
    },
};
