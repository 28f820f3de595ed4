//! Quake III Arena: a player's packets.
//!
//! # What it does
//! Gaps follow the quantiles *observed* of D-ITG over 90 s (12,927 packets, 143.6 a second; half of
//! the gaps near 10.85 ms), sizes a normal law of the *observed* mean and deviation. D-ITG names
//! Lang, Branch and Armitage 2004 as the source of its model; their parameters are not used here.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! app = "quake3"
//! ```
//!
//! # Parameters
//! None.
//!
//! # References
//! D-ITG, `Quake3`; Lang, Branch and Armitage, "A Synthetic Traffic Model for Quake3", 2004.

use super::{D_ITG, Entry};
use crate::sources::laws::Laws;
use crate::sources::sizes::Sizes;
use crate::sources::{empirical, law};
use trammel_core::entry::About;
use trammel_stats::arrivals::Spans;

/// Packets a second.
const PER_SECOND: f64 = 143.6;

/// Milliseconds, and the share of gaps of at most so many.
const GAPS_MS: [(f64, f64); 11] = [
    (0.013, 0.0),
    (0.137, 0.01),
    (0.455, 0.05),
    (0.905, 0.1),
    (2.462, 0.25),
    (7.643, 0.5),
    (10.845, 0.75),
    (10.859, 0.9),
    (11.016, 0.95),
    (17.944, 0.99),
    (35.163, 1.0),
];

/// Quake III in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "quake3",
        aliases: &[],
        summary: "a player of Quake III Arena",
        references: &[
            D_ITG,
            "Lang, Branch and Armitage, A Synthetic Traffic Model for Quake3, 2004",
        ],
        params: &[],
    },
    build: |_| {
        let gaps = Spans::at_rate(empirical(&GAPS_MS)?, PER_SECOND).expect("it has a mean");
        let sizes = law("normal", &[("mean", 63.66), ("std_dev", 3.18)])?;
        // The shortest and the longest that were observed.
        let laws = Sizes::new(sizes, 50, 75).and_then(|sizes| Laws::new(gaps, sizes));
        Ok(Box::new(laws.map_err(|error| error.to_string())?))
    },
};
