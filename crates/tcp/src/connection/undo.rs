//! Undo: a reduction of the window is taken back when it proves spurious.
//!
//! Proofs are timestamps (Eifel, RFC 4015), duplicates reported by the receiver (DSACK, RFC 3708),
//! and originals that are acknowledged after a timeout (F-RTO, RFC 5682).

use super::Connection;
use super::parts::ack_news::AckNews;
use crate::cc::CaState;
use crate::scoreboard::mark;
use crate::seq::before;

impl Connection {
    //= rfc8985 §6.2
    //# ignore a segment as invalid if any of its sequence range has been retransmitted before and
    //# if either of two conditions is true
    /// Whether the peer's echo tells that what was sent at `sent_us` came by an earlier sending.
    pub(super) fn echo_is_before(&self, sent_us: u32) -> bool {
        let age = (self.tp.now_us as u32).wrapping_sub(sent_us);
        let sent_ms = (self.tp.now_us.saturating_sub(u64::from(age)) / 1000) as u32;
        self.handshake.timestamps && self.tp.rcv_tsecr != 0 && before(self.tp.rcv_tsecr, sent_ms)
    }

    pub(super) fn start_undo(&mut self) {
        self.recovery.undo.marker = Some(self.tp.snd_una);
        self.recovery.undo.retrans = if self.tp.retrans_out > 0 {
            i64::from(self.tp.retrans_out)
        } else {
            -1
        };
    }

    /// Whether the acknowledged data was sent before the first retransmission (Eifel detection).
    fn echo_is_of_original(&self) -> bool {
        if !self.handshake.timestamps
            || self.recovery.retrans_stamp_us == 0
            || self.tp.rcv_tsecr == 0
        {
            return false;
        }
        let stamp = self.recovery.retrans_stamp_us / 1000;
        before(self.tp.rcv_tsecr, stamp)
    }

    fn may_undo(&self) -> bool {
        self.stack.undo
            && self.recovery.undo.marker.is_some()
            && (self.recovery.undo.retrans == 0 || self.echo_is_of_original())
    }

    /// Takes a reduction back.
    fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            for index in self.board.head()..self.board.tail() {
                self.board.get_mut(index).marks &= !mark::LOST;
            }
            self.tp.lost_out = 0;
            self.recovery.retransmit_hint = self.board.tail();
        }
        if self.recovery.undo.prior_ssthresh > 0 {
            self.tp.snd_cwnd = self.cc.undo_cwnd(&mut self.tp);
            if self.recovery.undo.prior_ssthresh > self.tp.snd_ssthresh {
                self.tp.snd_ssthresh = self.recovery.undo.prior_ssthresh;
                self.recovery.reduction.cwr_pending = false;
            }
        }
        self.recovery.undo.marker = None;
        self.counters.undos += 1;
        self.rack.rescan(self.board.head());
    }

    /// The recovery's end: undone if it was for nothing. Returns whether the state must be kept a
    /// while.
    pub(super) fn undo_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.settle_reordering_window();
        }
        if self.tp.snd_una == self.recovery.high_seq && !self.handshake.sack {
            // RFC 6582 §4: without SACK hold until something above high_seq is acknowledged, lest
            // stray duplicates start another recovery.
            self.recovery.retrans_stamp_us = 0;
            return true;
        }
        self.enter(CaState::Open);
        false
    }

    /// A partial ACK whose timestamp echoes an original: nothing was lost.
    pub(super) fn undo_partial(&mut self, news: &mut AckNews) -> bool {
        if !(self.stack.undo && self.recovery.undo.marker.is_some() && self.echo_is_of_original()) {
            return false;
        }
        self.rack.reordering_seen = true;
        if self.tp.retrans_out > 0 {
            return true;
        }
        self.recovery.retrans_stamp_us = 0;
        self.undo_reduction(true);
        self.try_to_open(news);
        true
    }

    pub(super) fn undo_by_dsack(&mut self) -> bool {
        if self.stack.undo && self.recovery.undo.marker.is_some() && self.recovery.undo.retrans == 0
        {
            self.undo_reduction(false);
            return true;
        }
        false
    }

    pub(super) fn undo_timeout(&mut self, spurious: bool) -> bool {
        if spurious || self.may_undo() {
            self.undo_reduction(true);
            self.timers.retransmits = 0;
            if spurious || self.handshake.sack {
                self.recovery.frto = false;
                self.enter(CaState::Open);
            }
            return true;
        }
        false
    }
}
