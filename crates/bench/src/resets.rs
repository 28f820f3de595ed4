//! For how long a reset keeps a device from forwarding, by the two methods of RFC 6201, and the
//! kinds of resets it knows.
//!
//! ```text
//! frame loss:  frames lost / offered rate
//! timestamps:  first frame after the interruption − last frame before it
//! ```
//! The stream has the smallest frames of the run, so that the time is told most finely.
//!
//! RFC 6201 §1.3, §4.

use crate::procedures::{Bench, Entry, Error, load};
use crate::summary::ms;
use crate::testbed::{Plan, Reset, Traffic, Unable};
use trammel_core::time::{Span, Time};
use trammel_stats::table::{Cell, Table};

/// The words with which the names of resets begin, and what they mean.
//= rfc6201 §4
//# There are three types of resets considered in this document: 1. Hardware resets 2. Software
//# resets 3. Power interruption
pub const TAXONOMY: [(&str, &str); 6] = [
    ("power", "power interruption (RFC 6201 §4.3.1)"),
    (
        "hardware-rp",
        "hardware, route processor (RFC 6201 §4.1.1.1)",
    ),
    (
        "hardware-switchover",
        "hardware, switchover of route processors (RFC 6201 §4.1.1.2)",
    ),
    ("hardware-lc", "hardware, line card (RFC 6201 §4.1.2)"),
    (
        "software-os",
        "software, operating system (RFC 6201 §4.2.1)",
    ),
    ("software-process", "software, process (RFC 6201 §4.2.2)"),
];

/// What the reset called `kind` is by RFC 6201.
pub fn taxonomy(kind: &str) -> &'static str {
    let word = kind.split([':', ' ']).next().unwrap_or_default();
    let found = TAXONOMY.iter().find(|(known, _)| *known == word);
    found.map_or("none of RFC 6201", |(_, meaning)| meaning)
}

/// When a reset is caused and how long the stream goes on.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Frames a second.
    pub fps: f64,
    /// Forwarding before it.
    pub before: Span,
    /// What is left of the stream after it.
    pub watch: Span,
}

/// What one reset did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interruption {
    /// Frames that were lost.
    pub lost: u64,
    /// Its length by the frames that were lost, ms.
    pub by_loss_ms: f64,
    /// Its length by time stamps, ms, where the testbed tells it.
    pub by_stamps_ms: Option<f64>,
    /// Frames came again before the stream ended.
    pub is_over: bool,
}

impl Interruption {
    /// Its length: by time stamps where these are known.
    pub fn ms(&self) -> f64 {
        self.by_stamps_ms.unwrap_or(self.by_loss_ms)
    }
}

/// Causes the reset `kind` so many times; what each did.
pub fn caused(
    bench: &mut Bench<'_>,
    times: i64,
    traffic: &Traffic,
    kind: &str,
    course: Course,
) -> Result<Vec<Interruption>, Error> {
    let plan = Plan {
        reset: Some(Reset {
            kind: kind.to_owned(),
            at: Time::ZERO + course.before,
        }),
        ..Plan::of(&[load(
            course.fps,
            course.before.saturating_add(course.watch),
        )?])
    };
    bench.repeat(times, traffic, &plan, |observed| {
        let outcome = &observed.outcome;
        //= rfc6201 §1.3
        //# Frames_lost (packets) Reset_time = --- Offered_rate (packets per second)
        let by_loss_ms =
            1e3 * outcome.lost() as f64 / outcome.offered_rate().max(f64::MIN_POSITIVE);
        //= rfc6201 §1.3
        //# The difference between Timestamp B and Timestamp A is the reset time.
        let outage = observed.outage.filter(|_| outcome.lost() > 0);
        Interruption {
            lost: outcome.lost(),
            by_loss_ms,
            by_stamps_ms: outage.map(|outage| ms(outage.to.saturating_since(outage.from))),
            // Of a stream that never came again, all that was left is lost, but for a few frames on
            // their way.
            is_over: by_loss_ms < 0.999 * ms(course.watch),
        }
    })
}

/// The table of a test whose rows are the resets of a testbed, at the throughput under the smallest
/// frames: the cells that `row` gives for a kind and the throughput.
pub(crate) fn tabulate(
    bench: &mut Bench<'_>,
    entry: &Entry,
    mut row: impl FnMut(&mut Bench<'_>, &Traffic, &str, f64) -> Result<Vec<Cell>, Error>,
) -> Result<Table, Error> {
    let kinds = bench.bed().resets();
    if kinds.is_empty() {
        return Err(Unable("this testbed cannot reset the device".to_owned()).into());
    }
    //= rfc2544 §26.6
    //# First determine the throughput for the DUT for the minimum frame size on the media used in
    //# the testing.
    let smallest = [bench.smallest()];
    bench.of(entry, &smallest, |bench, traffic, table| {
        for kind in &kinds {
            let own = match bench.throughput_fps(traffic)? {
                Some(fps) => row(bench, traffic, kind, fps)?,
                None => vec![Cell::Empty; entry.columns.len()],
            };
            bench.push(table, traffic, own);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_resets_say_what_they_are() {
        assert!(taxonomy("power").contains("§4.3.1"));
        assert!(taxonomy("hardware-lc: slot 2").contains("line card"));
        assert!(taxonomy("software-process ospfd").contains("process"));
        assert_eq!(taxonomy("powerful"), "none of RFC 6201");
    }
}
