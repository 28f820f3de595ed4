//! State of RACK: the latest delivery, and the reordering window (RFC 8985 §5).

use crate::seq::after;
use std::collections::VecDeque;

/// State of RACK (RFC 8985 §5).
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// When the most recently sent segment among those delivered was sent, µs modulo 2³².
    pub(crate) sent_us: u32,
    /// Where it ends.
    pub(crate) end: u32,
    /// Its round trip, µs.
    pub(crate) rtt_us: u32,
    /// A delivery has moved the two above.
    pub(crate) advanced: bool,
    /// Any delivery has been seen.
    pub(crate) started: bool,
    /// Reordering has been seen.
    pub(crate) reordering_seen: bool,
    /// Multiple of a quarter of the minimum RTT that the reordering window takes.
    pub(crate) window_steps: u32,
    /// Recoveries for which a widened window persists.
    pub(crate) window_persist: u32,
    /// `snd_nxt` when a DSACK last widened the window.
    pub(crate) dsack_round: Option<u32>,
    /// First index that may hold an original transmission not yet SACKed or marked.
    pub(crate) first_original: u64,
    /// Retransmissions in the order of sending: index and time.
    pub(crate) retransmitted: VecDeque<(u64, u32)>,
}

/// Whether a segment sent at `a` that ends at `a_end` was sent after another.
#[inline]
pub(crate) fn sent_after(a: u32, a_end: u32, b: u32, b_end: u32) -> bool {
    let later = a.wrapping_sub(b) as i32;
    later > 0 || (later == 0 && after(a_end, b_end))
}

impl Rack {
    pub(crate) fn new() -> Rack {
        Rack {
            window_steps: 1,
            ..Rack::default()
        }
    }

    /// A segment sent at `sent_us` that ends at `end` was delivered.
    #[inline]
    pub(crate) fn delivered(
        &mut self,
        now_us: u32,
        min_rtt_us: u32,
        sent_us: u32,
        end: u32,
        retransmitted: bool,
    ) {
        let rtt_us = now_us.wrapping_sub(sent_us);
        if retransmitted && rtt_us < min_rtt_us {
            // More likely the delivery of the original: says nothing of the retransmission.
            return;
        }
        self.advanced = true;
        self.rtt_us = rtt_us;
        if !self.started || sent_after(sent_us, end, self.sent_us, self.end) {
            self.started = true;
            self.sent_us = sent_us;
            self.end = end;
        }
    }

    /// Segment `index` was retransmitted.
    pub(crate) fn retransmission(&mut self, index: u64, sent_us: u32) {
        self.retransmitted.push_back((index, sent_us));
    }

    /// Marks were taken back: every original may be lost again.
    pub(crate) fn rescan(&mut self, head: u64) {
        self.first_original = head;
        self.advanced = true;
    }
}
