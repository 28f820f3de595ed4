//! Which segments are lost: by time (RACK), by the forward-most SACK (FACK), or by duplicate ACKs.

use super::Connection;
use super::parts::rack::{Rack, sent_after};
use crate::cc::{CaState, LostSegment};
use crate::scoreboard::mark;
use crate::seq::after;
use crate::stack::{LossDetection, Reduction};

/// Slack on the reordering timer, µs: two ticks.
const TIMER_SLACK_US: u64 = 2_000;

impl Connection {
    /// Marks segment `index` lost.
    pub(super) fn mark_lost(&mut self, index: u64) {
        let sent = self.board.get_mut(index);
        if sent.is(mark::SACKED) {
            return;
        }
        if sent.is(mark::LOST) {
            if sent.is(mark::RETRANS) {
                // The retransmission is lost as well.
                sent.marks &= !mark::RETRANS;
                self.tp.retrans_out -= 1;
                self.tp.lost += 1;
                self.recovery.retransmit_hint = self.recovery.retransmit_hint.min(index);
                self.tell_lost(index);
            }
            return;
        }
        sent.marks |= mark::LOST;
        if sent.is(mark::RETRANS) {
            sent.marks &= !mark::RETRANS;
            self.tp.retrans_out -= 1;
        }
        self.tp.lost_out += 1;
        self.tp.lost += 1;
        self.recovery.retransmit_hint = self.recovery.retransmit_hint.min(index);
        if !self.handshake.sack {
            self.tp.sacked_out = self.tp.sacked_out.min(self.most_duplicates());
        }
        self.tell_lost(index);
    }

    /// Tells a controller that asks that segment `index` was marked lost.
    #[inline]
    fn tell_lost(&mut self, index: u64) {
        if !self.wants_flight {
            return;
        }
        let sent = self.board.get(index);
        if sent.is(mark::SAMPLED) {
            // It was delivered once and the receiver took that back: the network lost nothing.
            return;
        }
        let flight = self.board.flight(index);
        let segment = LostSegment {
            seq: sent.seq,
            end: sent.end,
            tx_in_flight: flight.segments,
            lost: (self.tp.lost as u32).wrapping_sub(flight.lost),
            is_app_limited: sent.is(mark::APP_LIMITED),
        };
        self.cc.lost(&mut self.tp, &segment);
    }

    /// The reordering window, µs (RFC 8985 §6.2, step 4).
    fn reordering_window_us(&self) -> u32 {
        if !self.rack.reordering_seen
            && (self.tp.ca_state >= CaState::Recovery
                || self.tp.sacked_out >= self.recovery.reordering)
        {
            return 0;
        }
        let quarter = self.tp.min_rtt_us.min(u32::MAX >> 4) / 4;
        quarter
            .saturating_mul(self.rack.window_steps)
            .min(self.tp.srtt_us >> 3)
    }

    /// RACK's detection (RFC 8985 §6.2, step 5): marks what was sent long enough before something
    /// delivered. Returns how long the youngest candidate has still to wait, µs.
    pub(super) fn rack_detect(&mut self) -> u32 {
        let window = self.reordering_window_us();
        let now = self.tp.now_us as u32;
        let wait = |rack: &Rack, sent_us: u32| {
            rack.rtt_us
                .wrapping_add(window)
                .wrapping_sub(now.wrapping_sub(sent_us)) as i32
        };
        let mut longest = 0;

        // Originals lie in the order of sending, so the first that may wait ends the search.
        let mut index = self.rack.first_original.max(self.board.head());
        let mut contiguous = true;
        while index < self.board.tail() {
            let sent = self.board.get(index);
            if sent.is(mark::SACKED | mark::LOST | mark::EVER_RETRANS) {
                index += 1;
                if contiguous {
                    self.rack.first_original = index;
                }
                continue;
            }
            if !sent_after(self.rack.sent_us, self.rack.end, sent.tx_us, sent.end) {
                break;
            }
            let remaining = wait(&self.rack, sent.tx_us);
            if remaining > 0 {
                longest = remaining;
                break;
            }
            contiguous = false;
            self.mark_lost(index);
            index += 1;
        }
        if longest > 0 {
            longest = self
                .latest_wait(index)
                .map_or(longest, |sent_us| wait(&self.rack, sent_us));
        }

        while let Some(&(index, sent_us)) = self.rack.retransmitted.front() {
            let live = index >= self.board.head() && index < self.board.tail() && {
                let sent = self.board.get(index);
                let in_flight = sent.is(mark::RETRANS) || !sent.is(mark::LOST);
                sent.tx_us == sent_us && in_flight && !sent.is(mark::SACKED)
            };
            if live {
                let end = self.board.get(index).end;
                if !sent_after(self.rack.sent_us, self.rack.end, sent_us, end) {
                    break;
                }
                let remaining = wait(&self.rack, sent_us);
                if remaining > 0 {
                    longest = longest.max(remaining);
                    break;
                }
                self.rack.retransmitted.pop_front();
                self.mark_lost(index);
            } else {
                self.rack.retransmitted.pop_front();
            }
        }
        longest.max(0) as u32
    }

    /// When the youngest original that RACK still waits for was sent; originals from `from` on.
    fn latest_wait(&self, from: u64) -> Option<u32> {
        let mut index = self.sack.highest.min(self.board.tail());
        while index > from {
            index -= 1;
            let sent = self.board.get(index);
            if !sent.is(mark::SACKED | mark::LOST | mark::EVER_RETRANS)
                && sent_after(self.rack.sent_us, self.rack.end, sent.tx_us, sent.end)
            {
                return Some(sent.tx_us);
            }
        }
        None
    }

    /// Finds losses after an ACK, by the stack's method. Returns whether a retransmission was found
    /// lost and whether the timer now waits for reordering to settle.
    pub(super) fn identify_loss(&mut self, now: trammel_core::time::Time) -> bool {
        if self.board.is_empty() {
            return false;
        }
        let retransmissions = self.tp.retrans_out;
        match self.detection() {
            LossDetection::Rack => {
                if self.rack.advanced {
                    self.rack.advanced = false;
                    let wait = self.rack_detect();
                    if wait > 0 {
                        self.arm_reordering_timer(now, u64::from(wait) + TIMER_SLACK_US);
                    }
                }
            }
            LossDetection::Fack => {
                self.mark_overtaken_retransmissions();
                self.mark_below_highest_sack();
            }
            LossDetection::DupThresh => self.mark_by_duplicates(),
        }
        self.tp.retrans_out < retransmissions
    }

    /// RACK and FACK need SACK; without it duplicate ACKs decide.
    pub(super) fn detection(&self) -> LossDetection {
        if self.handshake.sack {
            self.stack.detection
        } else {
            LossDetection::DupThresh
        }
    }

    /// FACK: a retransmission is lost when an original that was sent after it is SACKed.
    fn mark_overtaken_retransmissions(&mut self) {
        let end = self.sack.highest.min(self.board.tail());
        if end <= self.board.head() {
            return;
        }
        let highest = *self.board.get(end - 1);
        if highest.is(mark::EVER_RETRANS) {
            return;
        }
        while let Some(&(index, sent_us)) = self.rack.retransmitted.front() {
            if index >= self.board.head() {
                if highest.tx_us.wrapping_sub(sent_us) as i32 <= 0 {
                    break;
                }
                let sent = self.board.get(index);
                if sent.is(mark::RETRANS) && sent.tx_us == sent_us {
                    self.mark_lost(index);
                }
            }
            self.rack.retransmitted.pop_front();
        }
    }

    /// FACK: everything more than the reordering degree below the highest SACK is lost.
    fn mark_below_highest_sack(&mut self) {
        let forward = (self.sack.highest.max(self.board.head()) - self.board.head()) as u32;
        if forward <= self.recovery.reordering && self.tp.ca_state < CaState::Recovery {
            return;
        }
        let lost = forward
            .saturating_sub(self.recovery.reordering)
            .max(u32::from(self.fast_retransmit()));
        let end = self.board.head() + u64::from(lost);
        let mut index = self.rack.first_original.max(self.board.head());
        while index < end {
            if !self
                .board
                .get(index)
                .is(mark::SACKED | mark::LOST | mark::EVER_RETRANS)
            {
                self.mark_lost(index);
            }
            index += 1;
        }
        self.rack.first_original = self.rack.first_original.max(end);
    }

    /// In recovery the first segment is always held for lost (RFC 5681 §3.2).
    fn fast_retransmit(&self) -> bool {
        self.tp.ca_state == CaState::Recovery
    }

    /// RFC 6675 §4, `IsLost`: three segments SACKed above; without SACK the first hole alone (RFC
    /// 6582).
    fn mark_by_duplicates(&mut self) {
        if !self.handshake.sack {
            let head = self.board.head();
            if (self.recovery.dupacks >= self.recovery.reordering
                || self.tp.ca_state == CaState::Recovery)
                && !self.board.get(head).is(mark::LOST | mark::EVER_RETRANS)
            {
                self.mark_lost(head);
                //= rfc6582 §3.2
                //# If this is a partial acknowledgement, […] retransmit the first unacknowledged
                //# segment.
                self.output.first_lost_at_once |= self.stack.reduction == Reduction::Immediate;
            }
            return;
        }
        let mut above = 0;
        let mut index = self.sack.highest.min(self.board.tail());
        let head = self.board.head();
        // From the top down: after the third SACKed segment all that is not SACKed is lost.
        while index > head && above < self.recovery.reordering {
            index -= 1;
            above += u32::from(self.board.get(index).is(mark::SACKED));
        }
        let end = if above >= self.recovery.reordering {
            index
        } else {
            head
        };
        let mut index = self.rack.first_original.max(head);
        while index < end {
            if !self
                .board
                .get(index)
                .is(mark::SACKED | mark::LOST | mark::EVER_RETRANS)
            {
                self.mark_lost(index);
            }
            index += 1;
        }
        self.rack.first_original = self.rack.first_original.max(end);
        if self.fast_retransmit()
            && !self
                .board
                .get(head)
                .is(mark::SACKED | mark::LOST | mark::EVER_RETRANS)
        {
            self.mark_lost(head);
        }
    }

    /// Reordering was seen: a segment came `metric` sequence numbers late.
    pub(super) fn note_reordering(&mut self, low: u32) {
        if self.sack.highest <= self.board.head() {
            return;
        }
        let top = self
            .board
            .get(self.sack.highest.min(self.board.tail()) - 1)
            .end;
        if !after(top, low) {
            return;
        }
        let metric = top.wrapping_sub(low);
        if metric > self.recovery.reordering.saturating_mul(self.tp.mss) {
            self.recovery.reordering = metric.div_ceil(self.tp.mss).min(300);
        }
        self.rack.reordering_seen = true;
    }

    /// A DSACK widens RACK's window once a round trip (RFC 8985 §6.2, step 4).
    pub(super) fn widen_reordering_window(&mut self) {
        let open = self
            .rack
            .dsack_round
            .is_none_or(|round| !after(round, self.tp.snd_una));
        if open {
            self.rack.dsack_round = Some(self.tp.snd_nxt);
            self.rack.window_steps = (self.rack.window_steps + 1).min(255);
            self.rack.window_persist = 16;
        }
    }

    /// A recovery ended without a DSACK: the widened window wears off after sixteen of them.
    pub(super) fn settle_reordering_window(&mut self) {
        if self.rack.window_persist > 0 {
            self.rack.window_persist -= 1;
            if self.rack.window_persist == 0 {
                self.rack.window_steps = 1;
            }
        }
    }

    /// Whether a segment sent at `tx_us` has waited longer than RACK's round trip, for a timeout.
    pub(super) fn rack_expired(&self, tx_us: u32) -> bool {
        let age = (self.tp.now_us as u32).wrapping_sub(tx_us);
        self.rack.rtt_us.wrapping_sub(age) as i32 <= 0
    }
}
