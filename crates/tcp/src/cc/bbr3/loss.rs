//! Losses: the bounds they set while probing and otherwise, and what is taken back when they were
//! spurious.

use super::{Bbr3, CaState, GAIN_SCALE, LostSegment, NO_BW, NO_LIMIT, State, Tp, UNIT, Undo};

impl Bbr3 {
    /// Whether `lost` of `tx_in_flight` segments are more than a path may lose in a round.
    pub(super) fn is_too_high(&self, tp: &Tp, lost: u32, tx_in_flight: u32) -> bool {
        if lost == 0 {
            return false;
        }
        let most = u64::from(tx_in_flight) * self.config.loss_thresh;
        (tx_in_flight > 0 && u64::from(lost) << GAIN_SCALE > most)
            || (!tp.sack_ok && !self.config.is_linux)
    }

    //= draft-ietf-ccwg-bbr §5.2.4
    //# On every packet loss event where the transport protocol marks some packet P as lost, the
    //# BBR algorithm calls HandleLostPacket(P)
    pub(super) fn take_loss(&mut self, tp: &mut Tp, segment: &LostSegment) {
        self.note_loss(tp);
        if !self.config.is_linux && self.last_lost_end != Some(segment.seq) {
            self.losses_in_round += 1;
        }
        self.last_lost_end = Some(segment.end);
        if self.is_bw_probe_sample && self.is_too_high(tp, segment.lost, segment.tx_in_flight) {
            let in_flight = self.inflight_at_loss(segment);
            self.inflight_was_too_high(tp, in_flight, segment.is_app_limited);
        }
    }

    /// A tail loss probe has repaired a loss: no segment was marked, but one was lost.
    pub(super) fn tail_loss_repaired(&mut self, tp: &mut Tp) {
        self.note_loss(tp);
        // Segments that flew with the lost one: those that were delivered, and itself.
        let tx_in_flight = self.inflight_latest + 1;
        if self.is_bw_probe_sample && self.is_too_high(tp, 1, tx_in_flight) {
            self.inflight_was_too_high(tp, tx_in_flight, tp.app_limited > 0);
        }
    }

    pub(super) fn note_loss(&mut self, tp: &Tp) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = tp.delivered;
            if !self.config.is_linux {
                self.losses_in_round = 0;
                self.last_lost_end = None;
                self.save_state_upon_loss(tp);
            }
        }
        self.is_loss_in_round = true;
        self.is_loss_in_cycle = true;
    }

    //= draft-ietf-ccwg-bbr §5.5.10.2
    //# At what prefix of "packet" P did losses exceed BBR.LossThresh?
    // Differs from the draft: where earlier losses were too many already, no part of the segment
    // fitted, and not a negative one.
    fn inflight_at_loss(&self, segment: &LostSegment) -> u32 {
        let thresh = self.config.loss_thresh;
        let before = segment.tx_in_flight.saturating_sub(1);
        let lost_before = u64::from(segment.lost.saturating_sub(1));
        // The kernel rounds what may be lost up to a whole segment.
        let rest = if self.config.is_linux { UNIT - 1 } else { 0 };
        let may_lose = (u64::from(before) * thresh + rest) >> GAIN_SCALE;
        let prefix = (may_lose.saturating_sub(lost_before) << GAIN_SCALE)
            .checked_div(UNIT.saturating_sub(thresh))
            .unwrap_or(0);
        before + prefix as u32
    }

    /// A probe put too much into the network: bounds what may be in flight, once a probe.
    pub(super) fn inflight_was_too_high(&mut self, tp: &mut Tp, in_flight: u32, app_limited: bool) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !app_limited {
            let least = (u64::from(self.target_inflight(tp)) * self.config.beta) >> GAIN_SCALE;
            self.inflight_hi = in_flight.max(least as u32);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(tp);
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.is_loss_in_cycle = false;
        self.marks.is_in_round = false;
        self.marks.is_in_cycle = false;
        self.bw_latest = 0;
        self.inflight_latest = 0;
    }

    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_lo = NO_BW;
        self.inflight_lo = NO_LIMIT;
    }

    /// At the end of a round with losses: rate and volume follow what is delivered, down to 70 %.
    pub(super) fn adapt_lower_bounds(&mut self, tp: &Tp) {
        //= draft-ietf-ccwg-bbr §5.5.10.3
        //# When not explicitly accelerating to probe for bandwidth (Drain, ProbeRTT, ProbeBW_DOWN,
        //# ProbeBW_CRUISE), BBR responds to loss by slowing down to some extent.
        if self.state.is_probing() {
            return;
        }
        let by_marks = self.bound_by_marks(tp).unwrap_or(NO_LIMIT);
        if self.is_loss_in_round {
            self.bound_by_loss(tp);
        }
        self.inflight_lo = self.inflight_lo.min(by_marks);
    }

    fn bound_by_loss(&mut self, tp: &Tp) {
        let beta = self.config.beta;
        if self.bw_lo == NO_BW {
            self.bw_lo = self.max_bw();
        }
        if self.inflight_lo == NO_LIMIT {
            self.inflight_lo = tp.snd_cwnd;
        }
        let bw_lo = (u128::from(self.bw_lo) * u128::from(beta)) >> GAIN_SCALE;
        let inflight_lo = (u64::from(self.inflight_lo) * beta) >> GAIN_SCALE;
        self.bw_lo = self.bw_latest.max(bw_lo as u64).max(1);
        self.inflight_lo = self.inflight_latest.max(inflight_lo as u32);
    }

    /// Keeps what losses may change, once an episode of them.
    // Differs from the draft, whose pseudocode saves in every round with a loss and forgets `state`
    // in doing so: of several segments found lost in one ACK the first may end UP, and the second
    // would save what the first has left. Its text says that the values are those from before the
    // episode (§5.5.11.1).
    fn save_state_upon_loss(&mut self, tp: &Tp) {
        self.save_cwnd(tp);
        if self.is_undo_saved {
            return;
        }
        self.is_undo_saved = true;
        self.save_undo();
    }

    fn save_undo(&mut self) {
        self.undo = Undo {
            state: None,
            bw_lo: self.bw_lo,
            inflight_lo: self.inflight_lo,
            inflight_hi: self.inflight_hi,
        };
    }

    /// Fast recovery or the recovery from a timeout begins.
    pub(super) fn recovery_begins(&mut self, tp: &Tp) {
        if self.config.is_linux {
            self.save_cwnd(tp);
            self.save_undo();
        } else {
            self.save_state_upon_loss(tp);
        }
    }

    /// The state of recovery becomes `new`.
    pub(super) fn recovery_changes(&mut self, tp: &mut Tp, new: CaState) {
        let old = tp.ca_state;
        if self.config.is_linux {
            if new == CaState::Loss {
                self.reset_full_bw();
                if !self.state.is_probing() && self.inflight_lo == NO_LIMIT {
                    self.inflight_lo = tp.snd_cwnd.max(self.prior_cwnd);
                }
            } else if old == CaState::Loss {
                self.restore_cwnd(tp);
            }
        } else if old >= CaState::Recovery && new < CaState::Recovery {
            //= draft-ietf-ccwg-bbr §5.6.4.4
            //# When BBR exits loss recovery it restores C.cwnd to the "last known good" value that
            //# C.cwnd held before entering recovery.
            self.restore_cwnd(tp);
            self.is_undo_saved = false;
        }
    }

    //= draft-ietf-ccwg-bbr §5.5.11.2
    //# It restores the congestion window, resets the loss round state and the full bandwidth
    //# detector, and restores the short-term and long-term model parameters to be at least the
    //# values saved before the loss episode.
    /// Returns the window of before.
    pub(super) fn losses_were_spurious(&mut self, tp: &Tp) -> u32 {
        self.is_loss_in_round = false;
        self.is_settled = false;
        self.is_undo_saved = false;
        self.reset_full_bw();
        self.bw_lo = self.bw_lo.max(self.undo.bw_lo);
        self.inflight_lo = self.inflight_lo.max(self.undo.inflight_lo);
        self.inflight_hi = self.inflight_hi.max(self.undo.inflight_hi);
        if self.config.is_linux {
            return self.prior_cwnd.max(1);
        }
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter(State::Startup);
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_refill(tp);
            }
            _ => {}
        }
        tp.snd_cwnd.max(self.prior_cwnd)
    }
}
