//! The states of recovery: Open, Disorder, CWR, Recovery, Loss; undo, and the window's reduction.
//!
//! ```text
//!            SACK, duplicate ACK              losses found
//!   Open ───────────────────────▶ Disorder ─────────────────▶ Recovery
//!    ▲ │ ECN-Echo                                                │ ▲
//!    │ └────────▶ CWR ── all of high_seq acknowledged ──▶ Open ◀─┘ │ timeout in any state
//!    └──────────────────────── all of high_seq acknowledged ◀── Loss
//! ```
//!
//! The states are those of Sarolahti and Kuznetsov, "Congestion Control in Linux TCP" (2002, §2). A
//! reduction is undone (Eifel, RFC 4015; DSACK, RFC 3708; F-RTO, RFC 5682) when it proves spurious.

use super::Connection;
use super::parts::ack_news::AckNews;
use super::parts::timers::Pending;
use crate::cc::{CaEvent, CaState};
use crate::scoreboard::mark;
use crate::seq::{after, before};
use crate::stack::{LossDetection, Reduction};
use trammel_core::time::Time;

impl Connection {
    /// An ACK that is not plain progress, or one in a state other than Open. Returns whether lost
    /// segments may be retransmitted now.
    pub(super) fn alert(&mut self, now: Time, news: &mut AckNews, duplicate: bool) -> bool {
        if news.ece {
            self.recovery.undo.prior_ssthresh = 0;
        }
        if duplicate && !self.handshake.sack {
            self.count_duplicate();
        }
        let done = !before(self.tp.snd_una, self.recovery.high_seq);
        match self.tp.ca_state {
            CaState::Open => self.recovery.retrans_stamp_us = 0,
            CaState::Cwr if done && self.tp.snd_una != self.recovery.high_seq => {
                self.end_reduction();
                self.enter(CaState::Open);
            }
            CaState::Recovery if done => {
                self.recovery.dupacks = 0;
                if self.undo_recovery() {
                    return false;
                }
                self.end_reduction();
            }
            _ => {}
        }

        match self.tp.ca_state {
            CaState::Recovery => {
                if news.advanced && self.undo_partial(news) {
                    return false;
                }
                if self.undo_by_dsack() {
                    self.try_to_open(news);
                }
                news.retransmission_lost |= self.find_losses(now, news);
                if news.advanced && self.tp.ca_state == CaState::Recovery {
                    news.set_timer &= !self.timer_is_held();
                    self.recovery.partial_acked = true;
                }
                if self.tp.ca_state != CaState::Recovery {
                    if !self.is_time_to_recover() {
                        self.try_to_open(news);
                        return false;
                    }
                    self.enter_recovery(news.ece);
                }
            }
            CaState::Loss => {
                if let Some(retransmit) = self.recover_from_timeout(news, duplicate) {
                    news.retransmission_lost |= self.find_losses(now, news);
                    if self.tp.ca_state != CaState::Open && !news.retransmission_lost {
                        return retransmit;
                    }
                    // The timeout was spurious, or retransmissions were lost again.
                    return self.recover_if_needed(now, news) || retransmit;
                }
                return self.recover_if_needed(now, news);
            }
            _ => return self.recover_if_needed(now, news),
        }
        true
    }

    /// Enters recovery if losses say so; whether lost segments may be retransmitted.
    fn recover_if_needed(&mut self, now: Time, news: &mut AckNews) -> bool {
        if self.tp.ca_state <= CaState::Disorder {
            self.undo_by_dsack();
        }
        news.retransmission_lost |= self.find_losses(now, news);
        if !self.is_time_to_recover() {
            self.try_to_open(news);
            return false;
        }
        self.enter_recovery(news.ece);
        true
    }

    /// Finds losses; where the timer now waits for reordering, the ACK does not set it anew.
    fn find_losses(&mut self, now: Time, news: &mut AckNews) -> bool {
        let armed_before = self.timers.pending;
        let lost_again = self.identify_loss(now);
        if self.timers.pending == Pending::Reordering && armed_before != Pending::Reordering {
            news.set_timer = false;
        }
        lost_again
    }

    fn is_time_to_recover(&self) -> bool {
        self.tp.lost_out > 0
            || (self.detection() != LossDetection::Rack
                && self.duplicates() > self.recovery.reordering)
    }

    pub(super) fn enter(&mut self, state: CaState) {
        self.cc.set_state(&mut self.tp, state);
        self.tp.ca_state = state;
    }

    fn enter_recovery(&mut self, ece: bool) {
        self.counters.recoveries += 1;
        self.recovery.partial_acked = false;
        self.recovery.undo.prior_ssthresh = 0;
        self.start_undo();
        if !matches!(self.tp.ca_state, CaState::Cwr | CaState::Recovery) {
            if !ece {
                self.recovery.undo.prior_ssthresh = self.current_ssthresh();
            }
            self.start_reduction();
        }
        self.enter(CaState::Recovery);
        if self.stack.reduction == Reduction::Immediate && !self.owns_window {
            self.tp.snd_cwnd = self.tp.snd_ssthresh;
            //= rfc6675 §5
            //# (4.3) Retransmit the first data segment presumed dropped
            self.output.first_lost_at_once = true;
        }
    }

    //= rfc6582 §3.2
    //# For the first partial ACK that arrives during fast recovery, also reset the retransmit
    //# timer.
    /// Whether a partial ACK came before, so that the timer runs on: a hole a round trip must not
    /// take longer than a timeout. Differs from Linux, which sets it anew for each of them.
    pub(super) fn timer_is_held(&self) -> bool {
        self.recovery.partial_acked
            && !self.handshake.sack
            && self.stack.reduction == Reduction::Immediate
            && self.tp.ca_state == CaState::Recovery
            && self.timers.pending == Pending::Retransmission
    }

    pub(super) fn try_to_open(&mut self, news: &AckNews) {
        if self.tp.retrans_out == 0 {
            self.recovery.retrans_stamp_us = 0;
        }
        if news.ece {
            self.enter_cwr();
        }
        if self.tp.ca_state != CaState::Cwr {
            self.keep_open();
            self.moderate_window();
        }
    }

    pub(super) fn keep_open(&mut self) {
        let tp = &self.tp;
        let state = if tp.sacked_out + tp.lost_out + tp.retrans_out > 0 {
            CaState::Disorder
        } else {
            CaState::Open
        };
        if self.tp.ca_state != state {
            self.enter(state);
            self.recovery.high_seq = self.tp.snd_nxt;
        }
    }

    /// A retransmission timeout: everything not SACKed is lost, and the window is one segment.
    pub(super) fn enter_loss(&mut self) {
        let first = self.tp.ca_state < CaState::Recovery;
        self.mark_timed_out();
        // Linux reduces once a window, in fast recovery or for the timeout; the RFC for every first
        // timeout.
        let by_rfc = self.stack.reduction == Reduction::Immediate;
        if self.tp.ca_state <= CaState::Disorder
            || !after(self.recovery.high_seq, self.tp.snd_una)
            || (self.timers.retransmits == 0 && (by_rfc || self.tp.ca_state == CaState::Loss))
        {
            self.recovery.undo.prior_ssthresh = self.current_ssthresh();
            self.tp.prior_cwnd = self.tp.snd_cwnd;
            self.tp.snd_ssthresh = self.cc.ssthresh(&mut self.tp);
            if by_rfc {
                //= rfc5681 §3.1
                //# the value of ssthresh MUST be set to no more than the value given in equation
                //# (4): ssthresh = max (FlightSize / 2, 2*SMSS)
                let most = (self.tp.packets_out / 2).max(2);
                self.tp.snd_ssthresh = self.tp.snd_ssthresh.min(most);
            }
            self.cc.cwnd_event(&mut self.tp, CaEvent::Loss);
            self.start_undo();
        }
        self.tp.snd_cwnd = self.tp.packets_in_flight() + 1;
        self.tp.snd_cwnd_cnt = 0;
        if self.tp.ca_state <= CaState::Disorder && self.tp.sacked_out >= self.stack.reordering {
            self.recovery.reordering = self.recovery.reordering.min(self.stack.reordering);
        }
        self.enter(CaState::Loss);
        self.recovery.high_seq = self.tp.snd_nxt;
        self.probe.end = None;
        self.recovery.reduction.cwr_pending |= self.is_classic_ecn();
        self.recovery.frto =
            self.stack.frto && self.handshake.sack && (first || self.timers.retransmits > 0);
    }

    fn mark_timed_out(&mut self) {
        if !self.handshake.sack {
            self.tp.sacked_out = 0;
            self.recovery.dupacks = 0;
        }
        let head = self.board.head();
        // A SACKed head that was not acknowledged means that the receiver has taken back what it
        // SACKed.
        let reneged =
            self.handshake.sack && self.board.front().is_some_and(|sent| sent.is(mark::SACKED));
        let rack = self.detection() == LossDetection::Rack;
        for index in head..self.board.tail() {
            if reneged && self.board.get(index).is(mark::SACKED) {
                self.board.get_mut(index).marks &= !mark::SACKED;
                self.tp.sacked_out -= 1;
            } else if rack && index != head && !self.rack_expired(self.board.get(index).tx_us) {
                // Sent too recently to be held for lost.
                continue;
            }
            self.mark_lost(index);
        }
        if reneged {
            self.sack.forget();
            self.sack.highest = head;
        }
        self.recovery.retransmit_hint = head;
        self.rack.rescan(head);
        self.rack.advanced = false;
    }

    /// An ACK in Loss. `None` where the state was left or the ACK goes on to be judged as in Open;
    /// otherwise whether lost segments may be retransmitted.
    fn recover_from_timeout(&mut self, news: &AckNews, duplicate: bool) -> Option<bool> {
        let recovered = !before(self.tp.snd_una, self.recovery.high_seq);
        if news.advanced && self.undo_timeout(false) {
            return None;
        }
        if self.recovery.frto {
            //= rfc5682 §3.1
            //# the TCP sender SHOULD declare the timeout spurious
            if news.original_acked && self.undo_timeout(true) {
                return None;
            }
            if after(self.tp.snd_nxt, self.recovery.high_seq) {
                if news.sacked || duplicate {
                    self.recovery.frto = false;
                }
            } else if news.advanced && !recovered {
                self.recovery.high_seq = self.tp.snd_nxt;
                if self.queued() > 0 && after(self.window_end(), self.tp.snd_nxt) {
                    // Step 2b: send new data and see what it brings.
                    return Some(false);
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.undo_recovery();
            return Some(false);
        }
        if !self.handshake.sack && news.advanced {
            self.recovery.dupacks = 0;
            self.tp.sacked_out = 0;
        }
        Some(true)
    }
}
