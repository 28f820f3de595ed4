//! When to acknowledge.
//!
//! Under [`AckPolicy::Linux`] the rules are those observed of Linux 6.12 in virtual time: an ACK
//! leaves
//!
//! 1. when more than a full segment is unacknowledged and the window need not shrink,
//! 2. while quick ACKs are left: at the start, after a duplicate, and whenever the window's cap
//!    grew,
//! 3. when the last gap has been filled,
//! 4. for the first three segments above a gap; then compressed to one per twentieth of the
//!    shortest round trip known, at most a millisecond (and 0.1 ms of slack), or per 44 segments,
//!    or until the timer of 5. fires, which an ACK that leaves earlier does not stop,
//! 5. otherwise by a timer that adapts to the arrivals, from 40 ms to a round trip, and 200 ms at
//!    most,
//! 6. when the application has read, if more than a segment is unacknowledged or the window
//!    doubled.

use super::Receiver;
use crate::stack::{AckPolicy, Stack};
use crate::timer::jiffies_after;
use trammel_core::time::{Span, Time};

/// Quick ACKs at the start of a connection and after an irregularity.
pub(super) const MAX_QUICK_ACKS: u32 = 16;
/// Smallest delayed-ACK time, µs.
const ATO_MIN_US: u64 = 40_000;
/// Largest delayed-ACK time, µs.
const ATO_MAX_US: u64 = 200_000;
/// Duplicate ACKs that are never compressed: those that a fast retransmit may need.
const UNCOMPRESSED: u32 = 3;
/// ACKs compressed into one at most (`tcp_comp_sack_nr`).
const COMPRESSED_MAX: u32 = 44;
/// Time that an ACK is held back for compression at most, ns (`tcp_comp_sack_delay_ns`).
pub(super) const COMPRESSION_NS: u64 = 1_000_000;
/// Slack of the compression timer, ns (`tcp_comp_sack_slack_ns`); an otherwise idle host uses all
/// of it.
pub(super) const COMPRESSION_SLACK_NS: u64 = 100_000;

/// The longest that `stack` delays an ACK, µs: a tick less than the peer's least timeout, if that
/// is Linux's too (`tcp_delack_max`).
pub(super) fn longest_delay_us(stack: &Stack) -> u64 {
    let tick_us = match stack.hz {
        0 => 0,
        hz => 1_000_000 / u64::from(hz),
    };
    ATO_MAX_US.min(stack.min_rto.as_us().saturating_sub(tick_us))
}

impl Receiver {
    /// The delayed-ACK clock (in ticks of the kernel's clock, as far as there is one).
    pub(super) fn adapt(&mut self, now_us: u64) {
        if self.ato_us == 0 {
            self.quicken(MAX_QUICK_ACKS);
            self.ato_us = ATO_MIN_US;
        } else {
            let gap = now_us - self.last_data_us;
            if gap <= ATO_MIN_US / 2 {
                self.ato_us = self.ato_us / 2 + ATO_MIN_US / 2;
            } else if gap < self.ato_us {
                self.ato_us = (self.ato_us / 2 + gap).min(self.rto_us).min(ATO_MAX_US);
            } else if gap > self.rto_us {
                // The sender has been silent for so long that it starts anew.
                self.quicken(MAX_QUICK_ACKS);
            }
        }
        self.last_data_us = now_us;
    }

    pub(super) fn quicken(&mut self, most: u32) {
        let acks = self.rcv_wnd / (2 * self.rcv_mss.max(1));
        self.quick = self.quick.max(if acks == 0 { 2 } else { acks }.min(most));
    }

    pub(super) fn enter_quick(&mut self, acks: u32) {
        self.quicken(acks);
        self.interactive = false;
        self.ato_us = ATO_MIN_US;
    }

    /// Whether to acknowledge at once, or when.
    pub(super) fn decide(&mut self, now: Time) {
        match self.policy {
            AckPolicy::EverySegment => self.now = true,
            AckPolicy::Delayed(hold) => self.decide_by_count(now, 2, hold),
            AckPolicy::Stretched(segments, hold) => self.decide_by_count(now, segments, hold),
            AckPolicy::Linux => self.decide_as_linux(now),
        }
    }

    fn decide_by_count(&mut self, now: Time, segments: u32, hold: Span) {
        let unacked = self.rcv_nxt.wrapping_sub(self.rcv_wup);
        if !self.gaps.is_empty() || unacked >= segments.saturating_mul(self.mss) {
            self.now = true;
        } else if self.delayed == Time::MAX {
            self.delayed = now + hold;
        }
    }

    fn decide_as_linux(&mut self, now: Time) {
        let unacked = self.rcv_nxt.wrapping_sub(self.rcv_wup);
        let is_full = unacked > self.rcv_mss;
        if (is_full && self.offer() >= self.rcv_wnd) || (self.quick > 0 && !self.interactive) {
            self.now = true;
        }
        if is_full && !self.now && self.reads_at_once && self.gaps.is_empty() {
            // The window that was told while nothing waited is larger than any that can be offered
            // while a segment does, so none is acknowledged. The reader wakes at this instant, and
            // its read acknowledges. While a gap is open, rule 4 holds: it was observed with
            // readers that are not woken for each segment.
            self.settle();
            self.now = true;
        }
        if self.now {
            return;
        }
        if self.gaps.is_empty() {
            self.arm_delayed(now);
            return;
        }
        if !self.compress || self.compressed >= COMPRESSED_MAX {
            self.now = true;
            return;
        }
        if self.duplicates_at != self.rcv_nxt {
            self.duplicates_at = self.rcv_nxt;
            self.duplicates = 0;
        }
        if self.duplicates < UNCOMPRESSED {
            self.duplicates += 1;
            self.now = true;
            return;
        }
        self.compressed += 1;
        if self.compressed_due == Time::MAX {
            let hold = (self.least_round_trip_us() * 1000 / 20).min(COMPRESSION_NS);
            let due = now + Span::from_ns(hold + COMPRESSION_SLACK_NS);
            // A timer that is left of a delayed ACK sends what is held back, too.
            self.compressed_due = if self.delack > now {
                due.min(self.delack)
            } else {
                due
            };
        }
    }

    /// How long an ACK is delayed: no longer than the round trip, as far as that is known.
    pub(super) fn delay_us(&self) -> u64 {
        let round_trip = match self.srtt_us {
            0 => ATO_MAX_US,
            srtt => srtt.max(ATO_MIN_US),
        };
        self.ato_us
            .max(ATO_MIN_US)
            .min(round_trip)
            .min(self.ato_max_us)
    }

    /// The round trip as the data's rhythm shows it or as the connection's own segments do,
    /// whichever is shorter, µs.
    fn least_round_trip_us(&self) -> u64 {
        let seen = self.rtt_eighths >> 3;
        match self.srtt_us {
            0 => seen,
            srtt => seen.min(srtt),
        }
    }

    fn arm_delayed(&mut self, now: Time) {
        let ato = self.delay_us();
        let due = jiffies_after(now, ato, self.hz);
        if self.delayed == Time::MAX {
            self.delayed = due;
        } else if self.delayed <= now + Span::from_us(ato / 4) {
            // About to expire anyway.
            self.now = true;
            return;
        } else {
            self.delayed = self.delayed.min(due);
        }
        self.delack = self.delayed;
    }

    /// The delayed-ACK timer fired: the application was slower than thought, or the peer is.
    pub(crate) fn delayed_fired(&mut self) {
        if self.interactive {
            self.interactive = false;
            self.ato_us = ATO_MIN_US;
        } else {
            self.ato_us = (self.ato_us * 2).min(self.rto_us);
        }
        self.now = true;
    }

    /// The sender must hear soon, as of congestion.
    pub(crate) fn hurry(&mut self) {
        self.enter_quick(2);
    }

    /// An ACK leaves, alone or on data: clears what was owed.
    pub(crate) fn acknowledged(&mut self) {
        if self.quick > 0 && self.owed {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato_us = ATO_MIN_US;
            }
        }
        self.owed = false;
        self.now = false;
        self.delayed = Time::MAX;
        self.compressed = 0;
        self.compressed_due = Time::MAX;
    }
}
