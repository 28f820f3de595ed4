//! ProbeBW: DOWN, CRUISE, REFILL and UP, and how probes move the bound on what is in flight.

use super::{AckPhase, Bbr3, GAIN_SCALE, NO_LIMIT, RateSample, State, Tp, UNIT};

/// The slope of `inflight_hi` doubles each round, up to 2³⁰ segments.
const UP_ROUNDS_MAX: u32 = 30;

impl Bbr3 {
    /// Draining what the last probe has queued; the clocks of the next one begin.
    pub(super) fn start_down(&mut self, tp: &mut Tp) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = NO_LIMIT;
        self.pick_probe_wait(tp);
        self.cycle_stamp_us = tp.now_us;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round(tp);
        self.enter(State::Down);
    }

    pub(super) fn start_cruise(&mut self) {
        if self.config.is_linux && self.inflight_lo != NO_LIMIT {
            self.inflight_lo = self.inflight_lo.min(self.inflight_hi);
        }
        self.enter(State::Cruise);
    }

    pub(super) fn start_refill(&mut self, tp: &Tp) {
        //= draft-ietf-ccwg-bbr §5.3.3.3
        //# BBR first resets the short-term model parameters
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round(tp);
        self.enter(State::Refill);
    }

    fn start_up(&mut self, tp: &Tp, rate: u64) {
        self.is_bw_probe_sample = true;
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round(tp);
        if self.config.is_linux {
            self.cycle_stamp_us = tp.now_us;
        }
        self.reset_full_bw();
        self.full_bw = rate;
        self.enter(State::Up);
        self.raise_slope(tp);
    }

    /// One step of the cycle, for every ACK once the pipe was full.
    pub(super) fn update_cycle(&mut self, tp: &mut Tp, rs: &RateSample, rate: u64) {
        if !self.full_bw_reached || self.adapt_long_term_model(tp, rs) {
            return;
        }
        match self.state {
            State::Down => self.drain_or_probe(tp, rs),
            State::Cruise => {
                self.probe_if_due(tp);
            }
            //= draft-ietf-ccwg-bbr §5.3.3.3
            //# The flow exits ProbeBW_REFILL after one packet-timed round trip, and enters
            //# ProbeBW_UP.
            State::Refill if self.round_start => self.start_up(tp, rate),
            State::Up => self.probe_up(tp, rs, rate),
            _ => {}
        }
    }

    fn drain_or_probe(&mut self, tp: &Tp, rs: &RateSample) {
        if !self.probe_if_due(tp) && self.is_time_to_cruise(tp, rs) {
            self.start_cruise();
        }
    }

    fn probe_up(&mut self, tp: &mut Tp, rs: &RateSample, rate: u64) {
        if self.is_time_to_go_down(tp, rs, rate) {
            self.prev_probe_too_high = false;
            self.start_down(tp);
        }
    }

    /// Follows the probe's ACKs, and raises the bound where they show that more is safe. Returns
    /// whether it has changed the state.
    fn adapt_long_term_model(&mut self, tp: &mut Tp, rs: &RateSample) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !rs.is_app_limited {
                    self.advance_max_bw_filter();
                }
                //= draft-ietf-ccwg-bbr §5.3.3.6
                //# the flow immediately returns to ProbeBW_REFILL to probe for bandwidth again
                //# (bypassing the usual cruise phase)
                if self.prev_probe_precautionary && !self.prev_probe_too_high {
                    self.start_refill(tp);
                    return true;
                }
            }
        }
        if self.is_too_high(tp, rs.lost, rs.tx_in_flight) || self.is_marked_too_much(rs) {
            if self.config.is_linux && self.is_bw_probe_sample {
                self.inflight_was_too_high(tp, rs.tx_in_flight, rs.is_app_limited);
            }
        } else if self.inflight_hi != NO_LIMIT {
            self.inflight_hi = self.inflight_hi.max(rs.tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_hi_upward(tp, rs);
            }
        }
        false
    }

    pub(super) fn raise_slope(&mut self, tp: &Tp) {
        let growth = 1_u32 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(UP_ROUNDS_MAX);
        self.probe_up_acked_per_inc = (tp.snd_cwnd / growth).max(1);
    }

    pub(super) fn probe_inflight_hi_upward(&mut self, tp: &Tp, rs: &RateSample) {
        if !tp.cwnd_limited || tp.snd_cwnd < self.inflight_hi {
            return;
        }
        //= draft-ietf-ccwg-bbr §5.3.3.5
        //# The additive increase to BBR.inflight_longterm doubles each round trip
        self.bw_probe_up_acked += rs.acked_sacked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_hi = self.inflight_hi.saturating_add(delta).min(NO_LIMIT - 1);
            self.is_settled = false;
        }
        if self.round_start {
            self.raise_slope(tp);
        }
    }

    /// Begins a probe where time or rounds say so.
    fn probe_if_due(&mut self, tp: &Tp) -> bool {
        if let Some(rounds) = self.reprobe_after_marks(tp) {
            self.start_refill(tp);
            self.bw_probe_up_rounds = rounds;
            return true;
        }
        let is_due = tp.now_us > self.cycle_stamp_us + self.probe_wait_us
            || self.rounds_since_probe_up >= self.reno_rounds(tp);
        if is_due {
            self.start_refill(tp);
        }
        is_due
    }

    //= draft-ietf-ccwg-bbr §5.3.3.8
    //# T_reno = min(reno_bdp, T_reno_bound) round trips
    fn reno_rounds(&self, tp: &Tp) -> u32 {
        self.target_inflight(tp).min(self.config.probe_max_rounds)
    }

    fn pick_probe_wait(&mut self, tp: &mut Tp) {
        self.rounds_since_probe_up = tp.rng.below(2) as u32;
        let random_us = match self.config.probe_wait_random_us {
            0 => 0,
            most => tp.rng.below(most),
        };
        self.probe_wait_us = self.config.probe_wait_us + random_us;
    }

    fn is_time_to_cruise(&self, tp: &Tp, rs: &RateSample) -> bool {
        let in_flight = self.in_flight(tp, rs);
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.inflight(tp, self.max_bw(), UNIT)
    }

    fn is_time_to_go_down(&mut self, tp: &Tp, rs: &RateSample, rate: u64) -> bool {
        //= draft-ietf-ccwg-bbr §5.3.3.6
        //# BBR transitions to ProbeBW_DOWN as soon as C.inflight reaches this risky level of
        //# BBR.inflight_longterm
        // It is reached by what was in flight before this ACK: the window is bounded by the level,
        // so that afterwards there is always less.
        let reached = if self.config.is_linux {
            self.in_flight(tp, rs)
        } else {
            rs.prior_in_flight
        };
        if self.prev_probe_too_high && reached >= self.inflight_hi {
            self.prev_probe_precautionary = true;
            return true;
        }
        if tp.cwnd_limited && tp.snd_cwnd >= self.inflight_hi {
            // The bound, not the path, keeps the rate from growing.
            self.reset_full_bw();
            self.full_bw = rate;
            return false;
        }
        self.full_bw_now
    }

    /// What the state machine takes for in flight: dialect `linux` as it was before this ACK, and
    /// in UP with the burst that leaves next.
    // Differs from google's v3: the next departure is taken to be now, as in `bbr`.
    fn in_flight(&self, tp: &Tp, rs: &RateSample) -> u32 {
        match self.config.is_linux {
            true if self.pacing_gain > UNIT => rs.prior_in_flight + self.send_quantum(tp),
            true => rs.prior_in_flight,
            false => tp.packets_in_flight(),
        }
    }

    /// The bound less some room for others.
    pub(super) fn inflight_with_headroom(&self) -> u32 {
        if self.inflight_hi == NO_LIMIT {
            return NO_LIMIT;
        }
        let headroom = (u64::from(self.inflight_hi) * self.config.headroom) >> GAIN_SCALE;
        let free = self.inflight_hi.saturating_sub((headroom as u32).max(1));
        free.max(self.config.min_pipe_cwnd)
    }

    /// The estimated product, unless congestion has cut the window below it.
    pub(super) fn target_inflight(&self, tp: &Tp) -> u32 {
        let bdp = if self.config.is_linux {
            self.inflight(tp, self.bw(), UNIT)
        } else {
            self.bdp(self.bw(), UNIT)
        };
        bdp.min(tp.snd_cwnd)
    }
}
