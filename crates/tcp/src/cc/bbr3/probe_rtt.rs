//! The smallest round trip, PROBE_RTT that looks for it, and the restart after an idle time.

use super::{AckPhase, Bbr3, RateSample, State, Tp, UNIT};

impl Bbr3 {
    //= draft-ietf-ccwg-bbr §5.3.4.3
    //# On every ACK BBR executes UpdateMinRTT() to update its ProbeRTT scheduling state
    pub(super) fn update_min_rtt(&mut self, tp: &Tp, rs: &RateSample) {
        let now = self.clock_us(tp);
        let is_linux = self.config.is_linux;
        self.probe_rtt_expired =
            now > self.probe_rtt_min_stamp_us + self.config.probe_rtt_interval_us;
        if rs.rtt_us >= 0 {
            // The kernel does not let an ACK that was held back raise the estimate.
            let may_rise = self.probe_rtt_expired && !(is_linux && rs.is_ack_delayed);
            if rs.rtt_us < i64::from(self.probe_rtt_min_us) || may_rise {
                self.probe_rtt_min_us = rs.rtt_us as u32;
                self.probe_rtt_min_stamp_us = now;
            }
        }
        let is_expired = now > self.min_rtt_stamp_us + self.config.min_rtt_window_us;
        let is_smaller = self.probe_rtt_min_us < self.min_rtt_us
            || (is_linux && self.probe_rtt_min_us == self.min_rtt_us);
        if is_smaller || is_expired {
            self.min_rtt_us = self.probe_rtt_min_us;
            self.min_rtt_stamp_us = self.probe_rtt_min_stamp_us;
        }
    }

    pub(super) fn check_probe_rtt(&mut self, tp: &mut Tp, rs: &RateSample) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(tp);
            self.enter(State::ProbeRtt);
            self.probe_rtt_done_us = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round(tp);
        }
        if self.state == State::ProbeRtt {
            self.run_probe_rtt(tp);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn run_probe_rtt(&mut self, tp: &mut Tp) {
        // What is delivered now says nothing about the path's rate.
        tp.app_limited = (tp.delivered + u64::from(tp.packets_in_flight())).max(1);
        if self.probe_rtt_done_us.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(tp);
            }
        } else if tp.packets_in_flight() <= self.probe_rtt_cwnd() {
            //= draft-ietf-ccwg-bbr §5.3.4.1
            //# After maintaining C.inflight at BBR.ProbeRTTCwndGain*BBR.bdp for at least
            //# BBR.ProbeRTTDuration (200 ms) and at least one packet-timed round trip
            self.probe_rtt_done_us = Some(self.clock_us(tp) + self.config.probe_rtt_duration_us);
            self.probe_rtt_round_done = false;
            self.start_round(tp);
        }
    }

    fn check_probe_rtt_done(&mut self, tp: &mut Tp) {
        let now = self.clock_us(tp);
        if self.probe_rtt_done_us.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min_stamp_us = now;
        self.restore_cwnd(tp);
        //= draft-ietf-ccwg-bbr §5.3.4.4
        //# When transitioning out of ProbeRTT, BBR calls ResetShortTermModel()
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_down(tp);
            self.start_cruise();
        } else {
            self.enter(State::Startup);
        }
    }

    //= draft-ietf-ccwg-bbr §5.4.1
    //# if the flow's BBR.state is ProbeBW, and the flow is application-limited, and there are no
    //# packets in flight currently, then before the flow sends one or more packets BBR sets
    //# C.pacing_rate to exactly BBR.bw.
    pub(super) fn restart_from_idle(&mut self, tp: &mut Tp) {
        self.idle_restart = true;
        self.aggregation.restart(tp.now_us);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(tp, UNIT);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(tp);
        }
    }
}
