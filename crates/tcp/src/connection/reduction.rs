//! Reduction of the congestion window: PRR, rate halving, at once (RFC 6937, RFC 6675).

use super::Connection;
use super::parts::ack_news::AckNews;
use crate::cc::{CaEvent, CaState, INFINITE_SSTHRESH};
use crate::stack::Reduction;

/// Segments that a dubious ACK may release where the rate is halved.
const MAX_BURST: u32 = 3;

impl Connection {
    /// The threshold to come back to: what the window had earned.
    pub(super) fn current_ssthresh(&self) -> u32 {
        if matches!(self.tp.ca_state, CaState::Cwr | CaState::Recovery) {
            self.tp.snd_ssthresh
        } else {
            let cwnd = self.tp.snd_cwnd;
            self.tp.snd_ssthresh.max((cwnd >> 1) + (cwnd >> 2))
        }
    }

    /// Begins a reduction to the variant's threshold.
    pub(super) fn start_reduction(&mut self) {
        self.recovery.high_seq = self.tp.snd_nxt;
        self.probe.end = None;
        self.tp.snd_cwnd_cnt = 0;
        self.tp.prior_cwnd = self.tp.snd_cwnd;
        self.recovery.reduction.prr_delivered = 0;
        self.recovery.reduction.prr_out = 0;
        self.recovery.reduction.halving_ack = false;
        self.tp.snd_ssthresh = self.cc.ssthresh(&mut self.tp);
        self.recovery.reduction.cwr_pending |= self.is_classic_ecn();
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
        self.recovery.reduction.prr_delivered += news.delivered;
        let send = if in_flight > target {
            let due = (u64::from(target) * u64::from(self.recovery.reduction.prr_delivered))
                .div_ceil(u64::from(self.tp.prior_cwnd));
            due as i64 - i64::from(self.recovery.reduction.prr_out)
        } else {
            // The slow-start bound where the ACK advances and finds no new loss, else conservation.
            let mut send = (i64::from(self.recovery.reduction.prr_delivered)
                - i64::from(self.recovery.reduction.prr_out))
            .max(i64::from(news.delivered));
            if news.advanced && lost == 0 {
                send += 1;
            }
            send.min(i64::from(target - in_flight))
        };
        // The first retransmission always goes out.
        let send = send.max(i64::from(self.recovery.reduction.prr_out == 0));
        self.tp.snd_cwnd = (i64::from(in_flight) + send).max(1) as u32;
    }

    /// Rate halving (Mathis, Semke, Mahdavi, Lahey 1999): a step down for every second ACK as far
    /// as the variant lets it, never above what is in flight.
    fn halve_rate(&mut self, news: &AckNews) {
        if news.delivered == 0 && !news.not_duplicate && !news.dsack {
            return;
        }
        self.recovery.reduction.halving_ack = !self.recovery.reduction.halving_ack;
        if !self.recovery.reduction.halving_ack && self.tp.snd_cwnd > self.cc.min_cwnd(&self.tp) {
            self.tp.snd_cwnd -= 1;
        }
        self.tp.snd_cwnd = self.tp.snd_cwnd.min(self.tp.packets_in_flight() + 1).max(1);
    }

    pub(super) fn end_reduction(&mut self) {
        if self.owns_window {
            return;
        }
        if self.tp.snd_ssthresh < INFINITE_SSTHRESH
            && (self.tp.ca_state == CaState::Cwr || self.recovery.undo.marker.is_some())
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
        self.recovery.undo.prior_ssthresh = 0;
        if self.tp.ca_state < CaState::Cwr {
            self.counters.ecn_reductions += 1;
            self.recovery.undo.marker = None;
            self.start_reduction();
            self.enter(CaState::Cwr);
        }
    }

    /// The variant has set the threshold and the state itself: carry its reduction out.
    pub(super) fn adopt_reduction(&mut self) {
        self.recovery.high_seq = self.tp.snd_nxt;
        self.probe.end = None;
        self.recovery.reduction.prr_delivered = 0;
        self.recovery.reduction.prr_out = 0;
        self.recovery.reduction.halving_ack = false;
        self.recovery.undo.marker = None;
        self.recovery.reduction.cwr_pending |= self.is_classic_ecn();
    }

    /// A tail loss that only the probe saw: reduce at once, to the threshold.
    pub(super) fn begin_cwr_for_probe(&mut self) {
        self.cc.cwnd_event(&mut self.tp, CaEvent::TailLossRepaired);
        self.start_reduction();
        self.enter(CaState::Cwr);
        self.end_reduction();
        self.keep_open();
    }

    /// Linux of rate halving sends no bursts: after a dubious ACK the window is what is in flight
    /// and three.
    pub(super) fn moderate_window(&mut self) {
        if self.stack.reduction == Reduction::RateHalving && !self.owns_window {
            let most = self.tp.packets_in_flight() + MAX_BURST;
            self.tp.snd_cwnd = self.tp.snd_cwnd.min(most);
        }
    }
}
