//! Reno: slow start and additive increase, multiplicative decrease.
//!
//! # What it does
//! In slow start the window grows by a segment for each segment acknowledged; above `ssthresh` by
//! one segment a window. A loss halves it.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! queue = { limit = "1 bdp" }
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # References
//! RFC 5681 §3.1; RFC 6582 for the recovery that `newreno` means.

use super::{CongestionControl, Entry, Tp};
use trammel_core::entry::About;

/// Reno in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "reno",
        aliases: &["newreno"],
        summary: "additive increase, multiplicative decrease: the standard",
        references: &["RFC 5681", "RFC 6582"],
        params: &[],
    },
    build: |_| Box::new(Reno),
};

/// Reno keeps no state of its own.
#[derive(Debug)]
struct Reno;

impl CongestionControl for Reno {
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_ssthresh()
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        tp.reno_cong_avoid(acked);
    }
}
