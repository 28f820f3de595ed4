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
use super::ack::AckNews;
use crate::cc::{CaEvent, CaState, INFINITE_SSTHRESH};
use crate::scoreboard::mark;
use crate::seq::{after, before};
use crate::stack::{LossDetection, Reduction};
use trammel_core::time::Time;

/// Segments that a dubious ACK may release where the rate is halved.
const MAX_BURST: u32 = 3;

impl Connection {
    /// An ACK that is not plain progress, or one in a state other than Open. Returns whether lost segments
    /// may be retransmitted now.
    pub(super) fn alert(&mut self, now: Time, news: &mut AckNews, duplicate: bool) -> bool {
        if news.ece {
            self.prior_ssthresh = 0;
        }
        if duplicate && !self.sack_ok {
            self.count_duplicate();
        }
        let done = !before(self.tp.snd_una, self.high_seq);
        match self.tp.ca_state {
            CaState::Open => self.retrans_stamp_us = 0,
            CaState::Cwr if done && self.tp.snd_una != self.high_seq => {
                self.end_reduction();
                self.enter(CaState::Open);
            }
            CaState::Recovery if done => {
                self.dupacks = 0;
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
                    self.partial_acked = true;
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
        let armed_before = self.pending;
        let lost_again = self.identify_loss(now);
        if self.pending == super::timeout::Pending::Reordering
            && armed_before != super::timeout::Pending::Reordering
        {
            news.set_timer = false;
        }
        lost_again
    }

    fn is_time_to_recover(&self) -> bool {
        self.tp.lost_out > 0
            || (self.detection() != LossDetection::Rack && self.duplicates() > self.reordering)
    }

    /// Duplicate ACKs, or what stands for them under SACK.
    fn duplicates(&self) -> u32 {
        if self.sack_ok {
            self.tp.sacked_out + 1
        } else {
            self.dupacks
        }
    }

    /// Without SACK every duplicate ACK says that one more segment has left the network.
    fn count_duplicate(&mut self) {
        self.dupacks += 1;
        if self.tp.sacked_out < self.most_duplicates() {
            self.tp.sacked_out += 1;
            self.tp.delivered += 1;
        }
    }

    /// Without SACK: how many segments may have left the network out of order; one at least is missing.
    pub(super) fn most_duplicates(&self) -> u32 {
        self.tp.packets_out.saturating_sub(self.tp.lost_out.max(1))
    }

    /// Without SACK: segments acknowledged are no longer counted as having left the network out of order.
    pub(super) fn take_duplicates_back(&mut self, acked: u32, news: &AckNews) {
        if acked == 0 {
            return;
        }
        // One of those acknowledged was the hole itself.
        let counted = acked.saturating_sub(1).min(self.tp.sacked_out);
        self.tp.sacked_out -= counted;
        self.tp.delivered -= u64::from(counted);
        if self.tp.ca_state != CaState::Recovery || !before(self.tp.snd_una, self.high_seq) {
            self.dupacks = 0;
        }
        if self.board.is_empty() || news.retransmitted_acked && self.tp.ca_state == CaState::Open {
            self.tp.sacked_out = 0;
        }
        self.tp.sacked_out = self.tp.sacked_out.min(self.most_duplicates());
    }

    pub(super) fn enter(&mut self, state: CaState) {
        self.cc.set_state(&mut self.tp, state);
        self.tp.ca_state = state;
    }

    fn enter_recovery(&mut self, ece: bool) {
        self.counters.recoveries += 1;
        self.partial_acked = false;
        self.prior_ssthresh = 0;
        self.start_undo();
        if !matches!(self.tp.ca_state, CaState::Cwr | CaState::Recovery) {
            if !ece {
                self.prior_ssthresh = self.current_ssthresh();
            }
            self.start_reduction();
        }
        self.enter(CaState::Recovery);
        if self.stack.reduction == Reduction::Immediate && !self.owns_window {
            self.tp.snd_cwnd = self.tp.snd_ssthresh;
            //= rfc6675 §5
            //# (4.3) Retransmit the first data segment presumed dropped
            self.must_resend = true;
        }
    }

    //= rfc6582 §3.2
    //# For the first partial ACK that arrives during fast recovery, also reset the retransmit timer.
    /// Whether a partial ACK came before, so that the timer runs on: a hole a round trip must not take longer
    /// than a timeout. Differs from Linux, which sets it anew for each of them.
    pub(super) fn timer_is_held(&self) -> bool {
        self.partial_acked
            && !self.sack_ok
            && self.stack.reduction == Reduction::Immediate
            && self.tp.ca_state == CaState::Recovery
            && self.pending == super::timeout::Pending::Retransmission
    }

    fn start_undo(&mut self) {
        self.undo_marker = Some(self.tp.snd_una);
        self.undo_retrans = if self.tp.retrans_out > 0 {
            i64::from(self.tp.retrans_out)
        } else {
            -1
        };
    }

    /// The threshold to come back to: what the window had earned.
    fn current_ssthresh(&self) -> u32 {
        if matches!(self.tp.ca_state, CaState::Cwr | CaState::Recovery) {
            self.tp.snd_ssthresh
        } else {
            let cwnd = self.tp.snd_cwnd;
            self.tp.snd_ssthresh.max((cwnd >> 1) + (cwnd >> 2))
        }
    }

    /// Begins a reduction to the variant's threshold.
    fn start_reduction(&mut self) {
        self.high_seq = self.tp.snd_nxt;
        self.tlp_end = None;
        self.tp.snd_cwnd_cnt = 0;
        self.tp.prior_cwnd = self.tp.snd_cwnd;
        self.prr_delivered = 0;
        self.prr_out = 0;
        self.halving_ack = false;
        self.tp.snd_ssthresh = self.cc.ssthresh(&mut self.tp);
        self.cwr_pending |= self.tp.ecn_ok;
    }

    /// One ACK's part of a reduction.
    pub(super) fn reduce_window(&mut self, news: &AckNews, lost: u32) {
        match self.stack.reduction {
            Reduction::Prr => self.reduce_proportionally(news, lost),
            Reduction::RateHalving => self.halve_rate(news),
            Reduction::Immediate => {
                if self.tp.ca_state == CaState::Cwr {
                    self.tp.snd_cwnd = self.tp.snd_cwnd.min(self.tp.snd_ssthresh);
                }
            }
        }
    }

    //= rfc6937 §3
    //# If pipe > ssthresh […] sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out
    fn reduce_proportionally(&mut self, news: &AckNews, lost: u32) {
        if news.delivered == 0 || self.tp.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.tp.packets_in_flight();
        let target = self.tp.snd_ssthresh;
        self.prr_delivered += news.delivered;
        let send = if in_flight > target {
            let due = (u64::from(target) * u64::from(self.prr_delivered))
                .div_ceil(u64::from(self.tp.prior_cwnd));
            due as i64 - i64::from(self.prr_out)
        } else {
            // The slow-start bound where the ACK advances and finds no new loss, else conservation.
            let mut send = (i64::from(self.prr_delivered) - i64::from(self.prr_out))
                .max(i64::from(news.delivered));
            if news.advanced && lost == 0 {
                send += 1;
            }
            send.min(i64::from(target - in_flight))
        };
        // The first retransmission always goes out.
        let send = send.max(i64::from(self.prr_out == 0));
        self.tp.snd_cwnd = (i64::from(in_flight) + send).max(1) as u32;
    }

    /// Rate halving (Mathis, Semke, Mahdavi, Lahey 1999): a step down for every second ACK as far as the
    /// variant lets it, never above what is in flight.
    fn halve_rate(&mut self, news: &AckNews) {
        if news.delivered == 0 && !news.not_duplicate && !news.dsack {
            return;
        }
        self.halving_ack = !self.halving_ack;
        if !self.halving_ack && self.tp.snd_cwnd > self.cc.min_cwnd(&self.tp) {
            self.tp.snd_cwnd -= 1;
        }
        self.tp.snd_cwnd = self.tp.snd_cwnd.min(self.tp.packets_in_flight() + 1).max(1);
    }

    fn end_reduction(&mut self) {
        if self.owns_window {
            return;
        }
        if self.tp.snd_ssthresh < INFINITE_SSTHRESH
            && (self.tp.ca_state == CaState::Cwr || self.undo_marker.is_some())
        {
            self.tp.snd_cwnd = if self.stack.reduction == Reduction::RateHalving {
                self.tp.snd_cwnd.min(self.tp.snd_ssthresh)
            } else {
                self.tp.snd_ssthresh
            };
        }
        self.cc.cwnd_event(&mut self.tp, CaEvent::CompleteCwr);
    }

    /// Congestion was signalled without loss: reduce once a window.
    pub(super) fn enter_cwr(&mut self) {
        self.prior_ssthresh = 0;
        if self.tp.ca_state < CaState::Cwr {
            self.counters.ecn_reductions += 1;
            self.undo_marker = None;
            self.start_reduction();
            self.enter(CaState::Cwr);
        }
    }

    /// The variant has set the threshold and the state itself: carry its reduction out.
    pub(super) fn adopt_reduction(&mut self) {
        self.high_seq = self.tp.snd_nxt;
        self.tlp_end = None;
        self.prr_delivered = 0;
        self.prr_out = 0;
        self.halving_ack = false;
        self.undo_marker = None;
        self.cwr_pending |= self.tp.ecn_ok;
    }

    /// A tail loss that only the probe saw: reduce at once, to the threshold.
    pub(super) fn begin_cwr_for_probe(&mut self) {
        self.start_reduction();
        self.enter(CaState::Cwr);
        self.end_reduction();
        self.keep_open();
    }

    /// Linux of rate halving sends no bursts: after a dubious ACK the window is what is in flight and three.
    fn moderate_window(&mut self) {
        if self.stack.reduction == Reduction::RateHalving && !self.owns_window {
            let most = self.tp.packets_in_flight() + MAX_BURST;
            self.tp.snd_cwnd = self.tp.snd_cwnd.min(most);
        }
    }

    fn try_to_open(&mut self, news: &AckNews) {
        if self.tp.retrans_out == 0 {
            self.retrans_stamp_us = 0;
        }
        if news.ece {
            self.enter_cwr();
        }
        if self.tp.ca_state != CaState::Cwr {
            self.keep_open();
            self.moderate_window();
        }
    }

    fn keep_open(&mut self) {
        let tp = &self.tp;
        let state = if tp.sacked_out + tp.lost_out + tp.retrans_out > 0 {
            CaState::Disorder
        } else {
            CaState::Open
        };
        if self.tp.ca_state != state {
            self.enter(state);
            self.high_seq = self.tp.snd_nxt;
        }
    }

    /// Whether the acknowledged data was sent before the first retransmission (Eifel detection).
    fn echo_is_of_original(&self) -> bool {
        if !self.ts_ok || self.retrans_stamp_us == 0 || self.tp.rcv_tsecr == 0 {
            return false;
        }
        let stamp = self.retrans_stamp_us / 1000;
        before(self.tp.rcv_tsecr, stamp)
    }

    fn may_undo(&self) -> bool {
        self.stack.undo
            && self.undo_marker.is_some()
            && (self.undo_retrans == 0 || self.echo_is_of_original())
    }

    /// Takes a reduction back.
    fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            for index in self.board.head()..self.board.tail() {
                self.board.get_mut(index).marks &= !mark::LOST;
            }
            self.tp.lost_out = 0;
            self.retransmit_hint = self.board.tail();
        }
        if self.prior_ssthresh > 0 {
            self.tp.snd_cwnd = self.cc.undo_cwnd(&mut self.tp);
            if self.prior_ssthresh > self.tp.snd_ssthresh {
                self.tp.snd_ssthresh = self.prior_ssthresh;
                self.cwr_pending = false;
            }
        }
        self.undo_marker = None;
        self.counters.undos += 1;
        self.rack.rescan(self.board.head());
    }

    /// The recovery's end: undone if it was for nothing. Returns whether the state must be kept a while.
    fn undo_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.settle_reordering_window();
        }
        if self.tp.snd_una == self.high_seq && !self.sack_ok {
            // RFC 6582 §4: without SACK hold until something above high_seq is acknowledged, lest
            // stray duplicates start another recovery.
            self.retrans_stamp_us = 0;
            return true;
        }
        self.enter(CaState::Open);
        false
    }

    /// A partial ACK whose timestamp echoes an original: nothing was lost.
    fn undo_partial(&mut self, news: &mut AckNews) -> bool {
        if !(self.stack.undo && self.undo_marker.is_some() && self.echo_is_of_original()) {
            return false;
        }
        self.rack.reordering_seen = true;
        if self.tp.retrans_out > 0 {
            return true;
        }
        self.retrans_stamp_us = 0;
        self.undo_reduction(true);
        self.try_to_open(news);
        true
    }

    fn undo_by_dsack(&mut self) -> bool {
        if self.stack.undo && self.undo_marker.is_some() && self.undo_retrans == 0 {
            self.undo_reduction(false);
            return true;
        }
        false
    }

    fn undo_timeout(&mut self, spurious: bool) -> bool {
        if spurious || self.may_undo() {
            self.undo_reduction(true);
            self.retransmits = 0;
            if spurious || self.sack_ok {
                self.frto = false;
                self.enter(CaState::Open);
            }
            return true;
        }
        false
    }

    /// A retransmission timeout: everything not SACKed is lost, and the window is one segment.
    pub(super) fn enter_loss(&mut self) {
        let first = self.tp.ca_state < CaState::Recovery;
        self.mark_timed_out();
        // Linux reduces once a window, in fast recovery or for the timeout; the RFC for every first timeout.
        let by_rfc = self.stack.reduction == Reduction::Immediate;
        if self.tp.ca_state <= CaState::Disorder
            || !after(self.high_seq, self.tp.snd_una)
            || (self.retransmits == 0 && (by_rfc || self.tp.ca_state == CaState::Loss))
        {
            self.prior_ssthresh = self.current_ssthresh();
            self.tp.prior_cwnd = self.tp.snd_cwnd;
            self.tp.snd_ssthresh = self.cc.ssthresh(&mut self.tp);
            if by_rfc {
                //= rfc5681 §3.1
                //# the value of ssthresh MUST be set to no more than the value given in equation (4):
                //# ssthresh = max (FlightSize / 2, 2*SMSS)
                let most = (self.tp.packets_out / 2).max(2);
                self.tp.snd_ssthresh = self.tp.snd_ssthresh.min(most);
            }
            self.cc.cwnd_event(&mut self.tp, CaEvent::Loss);
            self.start_undo();
        }
        self.tp.snd_cwnd = self.tp.packets_in_flight() + 1;
        self.tp.snd_cwnd_cnt = 0;
        if self.tp.ca_state <= CaState::Disorder && self.tp.sacked_out >= self.stack.reordering {
            self.reordering = self.reordering.min(self.stack.reordering);
        }
        self.enter(CaState::Loss);
        self.high_seq = self.tp.snd_nxt;
        self.tlp_end = None;
        self.cwr_pending |= self.tp.ecn_ok;
        self.frto = self.stack.frto && self.sack_ok && (first || self.retransmits > 0);
    }

    fn mark_timed_out(&mut self) {
        if !self.sack_ok {
            self.tp.sacked_out = 0;
            self.dupacks = 0;
        }
        let head = self.board.head();
        // A SACKed head that was not acknowledged means that the receiver has taken back what it SACKed.
        let reneged = self.sack_ok && self.board.front().is_some_and(|sent| sent.is(mark::SACKED));
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
            self.forget_sack();
            self.highest_sacked = head;
        }
        self.retransmit_hint = head;
        self.rack.rescan(head);
        self.rack.advanced = false;
    }

    /// An ACK in Loss. `None` where the state was left or the ACK goes on to be judged as in Open;
    /// otherwise whether lost segments may be retransmitted.
    fn recover_from_timeout(&mut self, news: &AckNews, duplicate: bool) -> Option<bool> {
        let recovered = !before(self.tp.snd_una, self.high_seq);
        if news.advanced && self.undo_timeout(false) {
            return None;
        }
        if self.frto {
            //= rfc5682 §3.1
            //# the TCP sender SHOULD declare the timeout spurious
            if news.original_acked && self.undo_timeout(true) {
                return None;
            }
            if after(self.tp.snd_nxt, self.high_seq) {
                if news.sacked || duplicate {
                    self.frto = false;
                }
            } else if news.advanced && !recovered {
                self.high_seq = self.tp.snd_nxt;
                if self.queued() > 0 && after(self.window_end(), self.tp.snd_nxt) {
                    // Step 2b: send new data and see what it brings.
                    return Some(false);
                }
                self.frto = false;
            }
        }
        if recovered {
            self.undo_recovery();
            return Some(false);
        }
        if !self.sack_ok && news.advanced {
            self.dupacks = 0;
            self.tp.sacked_out = 0;
        }
        Some(true)
    }
}
