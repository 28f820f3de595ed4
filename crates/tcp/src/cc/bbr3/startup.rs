//! STARTUP and DRAIN: the rate doubles a round until the pipe is full, then the queue is drained.

use super::{Bbr3, CaState, RateSample, State, Tp, UNIT};

/// Rounds after which DRAIN ends whatever is in flight.
const DRAIN_ROUNDS: u32 = 3;

impl Bbr3 {
    //= draft-ietf-ccwg-bbr §5.3.1.3
    //# The loss rate over the time scale of a single full round trip exceeds BBR.LossThresh (2%).
    /// Ends STARTUP where a round of recovery lost too much.
    pub(super) fn check_startup_high_loss(&mut self, tp: &mut Tp, rs: &RateSample) {
        if self.full_bw_reached {
            return;
        }
        if self.config.is_linux && rs.losses > 0 {
            self.losses_in_round += 1;
        }
        // In the draft a mark counts as a loss.
        let is_reduced = tp.ca_state == CaState::Cwr && !self.config.is_linux;
        let is_in_recovery = tp.ca_state == CaState::Recovery || is_reduced;
        let is_over = if tp.sack_ok || self.config.is_linux {
            self.loss_round_start
                && is_in_recovery
                && self.losses_in_round >= self.config.startup_full_loss_count
                && self.is_too_high(tp, rs.lost + self.marks_as_losses(rs), rs.tx_in_flight)
        } else {
            is_in_recovery && rs.losses > 0
        };
        if is_over {
            self.queue_is_too_high(tp);
        }
        if self.loss_round_start {
            self.losses_in_round = 0;
        }
    }

    pub(super) fn queue_is_too_high(&mut self, tp: &Tp) {
        let is_linux = self.config.is_linux;
        self.undo.state = Some(State::Startup);
        self.full_bw_reached = true;
        self.full_bw_now |= !is_linux;
        let bdp = if is_linux {
            self.inflight(tp, self.max_bw(), UNIT)
        } else {
            self.bdp(self.bw(), UNIT)
        };
        self.inflight_hi = bdp.max(self.inflight_latest);
    }

    pub(super) fn check_startup_done(&mut self, tp: &mut Tp) {
        if self.state != State::Startup || !self.full_bw_reached {
            return;
        }
        self.enter(State::Drain);
        self.drain_start_round = self.round_count;
        // The kernel shows by the threshold that STARTUP is over; nothing else looks at it.
        tp.snd_ssthresh = self.inflight(tp, self.max_bw(), UNIT).max(2);
        if self.config.is_linux {
            self.reset_congestion_signals();
        }
    }

    pub(super) fn check_drain_done(&mut self, tp: &mut Tp) {
        if self.state != State::Drain {
            return;
        }
        //= draft-ietf-ccwg-bbr §5.3.2
        //# In that case, BBR enters ProbeBW after 3 round trips
        let is_late = self.round_count.wrapping_sub(self.drain_start_round) > DRAIN_ROUNDS;
        let bw = if self.config.is_linux {
            self.max_bw()
        } else {
            self.bw()
        };
        if tp.packets_in_flight() <= self.inflight(tp, bw, UNIT)
            || (is_late && !self.config.is_linux)
        {
            self.start_down(tp);
        }
    }
}
