//! DNS: now and then a message.
//!
//! # What it does
//! A Poisson process (*assumed*) of 0.84 messages a second (*observed* of D-ITG over 4 s). Sizes
//! follow the deciles *observed* over 90 s, 103 to 316 bytes. Differs from D-ITG, whose gaps are
//! nearly constant within a run and differ between seeds (1.19 s, 1.79 s).
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! app = "dns:per-second=20"
//! ```
//!
//! # Parameters
//! `per-second`.
//!
//! # References
//! D-ITG, `DNS`.

use super::{D_ITG, Entry};
use crate::sources::laws::Laws;
use crate::sources::sizes::Sizes;
use crate::sources::{empirical, law};
use trammel_core::entry::{About, Kind, Param};
use trammel_stats::arrivals::Spans;

/// Bytes, and the share of 51 messages of at most so many.
const SIZES: [(f64, f64); 8] = [
    (103.0, 0.0),
    (115.0, 0.05),
    (123.0, 0.1),
    (139.0, 0.25),
    (180.0, 0.5),
    (273.0, 0.75),
    (296.0, 0.9),
    (316.0, 1.0),
];

/// DNS in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "dns",
        aliases: &[],
        summary: "name look-up messages",
        references: &[D_ITG],
        params: &[Param {
            name: "per-second",
            kind: Kind::Float(0.0, 1e9),
            default: "0.84",
            unit: "",
            help: "messages per second, above 0",
        }],
    },
    build: |params| {
        let per_second = params.float("per-second");
        let gaps = Spans::at_rate(law("exponential", &[])?, per_second)
            .ok_or_else(|| format!("`per-second` must be above 0, not {per_second}"))?;
        let laws =
            Sizes::new(empirical(&SIZES)?, 103, 316).and_then(|sizes| Laws::new(gaps, sizes));
        Ok(Box::new(laws.map_err(|error| error.to_string())?))
    },
};
