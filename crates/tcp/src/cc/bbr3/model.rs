//! What every ACK adds to the model: rounds, the largest rate, the latest deliveries, a full pipe.

use super::{BW_UNIT, Bbr3, RateSample, Tp};

impl Bbr3 {
    /// The largest delivery rate of this and the previous cycle.
    pub(super) fn max_bw(&self) -> u64 {
        self.bw_hi[0].max(self.bw_hi[1])
    }

    /// The rate in use.
    pub(super) fn bw(&self) -> u64 {
        self.max_bw().min(self.bw_lo)
    }

    /// Takes the ACK of `rs` into the model, then sets pacing rate and window.
    pub(super) fn take_ack(&mut self, tp: &mut Tp, rs: &RateSample) {
        let rate = rate_of(rs);
        self.update_round(tp, rs);
        self.take_marks(tp, rs);
        self.update_latest_delivery(tp, rs, rate);
        if self.config.is_linux && self.is_steady_app_limited(rs, rate) {
            self.update_steady(tp, rs, rate);
        } else {
            self.update_model(tp, rs, rate);
            self.update_control(tp, rs);
        }
        self.advance_latest_delivery(rs, rate);
        self.is_loss_in_cycle |= rs.lost > 0;
        self.marks.is_in_cycle |= rs.marked > 0;
    }

    fn update_model(&mut self, tp: &mut Tp, rs: &RateSample, rate: u64) {
        self.update_congestion_signals(tp, rs, rate);
        self.update_aggregation(tp, rs);
        if self.config.is_linux {
            self.check_startup_high_loss(tp, rs);
            self.check_full_bw_in_every_ack(rs, rate);
        } else {
            self.check_full_bw_reached(rs, rate);
            self.check_startup_high_loss(tp, rs);
        }
        self.check_startup_done(tp);
        self.check_drain_done(tp);
        self.update_cycle(tp, rs, rate);
        self.update_min_rtt(tp, rs);
        self.check_probe_rtt(tp, rs);
    }

    fn update_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.set_pacing_rate(tp, self.pacing_gain);
        self.set_cwnd(tp, rs);
        self.bound_cwnd_for_model(tp);
    }

    /// Whether dialect `linux` leaves rate, aggregation and full pipe alone for this ACK: the
    /// application limits the flow, nothing is lost, and the window has reached its target.
    fn is_steady_app_limited(&self, rs: &RateSample, rate: u64) -> bool {
        self.is_settled
            && rs.is_app_limited
            && rate < self.max_bw()
            && !self.is_loss_in_round
            && !self.marks.is_in_round
    }

    /// What is left to do then; rate and window are set only where state or round trip changed.
    fn update_steady(&mut self, tp: &mut Tp, rs: &RateSample, rate: u64) {
        let before = (self.state, self.min_rtt_us);
        self.check_startup_done(tp);
        self.check_drain_done(tp);
        self.update_cycle(tp, rs, rate);
        self.update_min_rtt(tp, rs);
        self.check_probe_rtt(tp, rs);
        if (self.state, self.min_rtt_us) != before || !self.is_settled {
            self.update_control(tp, rs);
        }
    }

    fn update_round(&mut self, tp: &Tp, rs: &RateSample) {
        //= draft-ietf-ccwg-bbr §5.5.1
        //# BBR counts packet-timed round trips by recording state about a sentinel packet, and
        //# waiting for an ACK of any data packet that was sent after that sentinel packet
        let has_sample = rs.delivered >= 0 && (rs.interval_us > 0 || !self.config.is_linux);
        self.round_start = has_sample && rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round(tp);
            self.round_count = self.round_count.wrapping_add(1);
            self.rounds_since_probe_up = (self.rounds_since_probe_up + 1).min(255);
        }
    }

    pub(super) fn start_round(&mut self, tp: &Tp) {
        self.next_round_delivered = tp.delivered;
    }

    fn update_latest_delivery(&mut self, tp: &Tp, rs: &RateSample, rate: u64) {
        self.loss_round_start = false;
        if !has_rate(rs) {
            return;
        }
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered as u32);
        if rs.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = tp.delivered;
            self.loss_round_start = true;
        }
    }

    fn advance_latest_delivery(&mut self, rs: &RateSample, rate: u64) {
        if self.loss_round_start {
            self.bw_latest = rate;
            self.inflight_latest = rs.delivered as u32;
        }
    }

    fn update_congestion_signals(&mut self, tp: &Tp, rs: &RateSample, rate: u64) {
        if !has_rate(rs) {
            return;
        }
        //= draft-ietf-ccwg-bbr §5.5.4
        //# the estimator does use application-limited samples if the measured delivery rate
        //# happens to be larger than the current BBR.max_bw estimate
        if !rs.is_app_limited || rate >= self.max_bw() {
            self.bw_hi[1] = self.bw_hi[1].max(rate);
        }
        self.is_loss_in_round |= self.config.is_linux && rs.losses > 0;
        if self.loss_round_start {
            self.adapt_lower_bounds(tp);
            self.is_loss_in_round = false;
            self.marks.is_in_round = false;
        }
    }

    /// Forgets the cycle before the last. One without a sample is not remembered: an idle flow
    /// would know no rate.
    pub(super) fn advance_max_bw_filter(&mut self) {
        if self.bw_hi[1] > 0 {
            self.bw_hi = [self.bw_hi[1], 0];
        }
    }

    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = 0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    //= draft-ietf-ccwg-bbr §5.3.1.2
    //# if BBR counts several (three) non-application-limited rounds where attempts to
    //# significantly increase the delivery rate actually result in little increase (less than 25
    //# percent), then it estimates that it has fully utilized the per-flow available bandwidth
    fn check_full_bw_reached(&mut self, rs: &RateSample, rate: u64) {
        if self.full_bw_now || !self.round_start || rs.is_app_limited {
            return;
        }
        if rate >= self.full_bw + self.full_bw / 4 {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.count_round_without_growth();
    }

    /// As dialect `linux` does: growth counts in every ACK, its absence once a round.
    fn check_full_bw_in_every_ack(&mut self, rs: &RateSample, rate: u64) {
        if self.full_bw_now || rs.is_app_limited {
            return;
        }
        if rate >= (self.full_bw * 5) >> 2 {
            self.reset_full_bw();
            self.full_bw = rate;
        } else if self.round_start {
            self.count_round_without_growth();
        }
    }

    fn count_round_without_growth(&mut self) {
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= self.config.full_bw_count;
        self.full_bw_reached |= self.full_bw_now;
    }

    fn update_aggregation(&mut self, tp: &Tp, rs: &RateSample) {
        if rs.acked_sacked == 0 || rs.delivered < 0 || rs.interval_us <= 0 {
            return;
        }
        let bw = self.bw();
        if self.config.is_linux {
            let rounds = if self.full_bw_reached {
                self.config.extra_acked_rounds.div_ceil(2)
            } else {
                1
            };
            self.aggregation
                .take_in_halves(tp, rs.acked_sacked, bw, self.round_start, rounds);
        } else {
            let rounds = if self.full_bw_reached {
                self.config.extra_acked_rounds
            } else {
                1
            };
            self.aggregation
                .take(tp, rs.acked_sacked, bw, self.round_count, rounds);
        }
    }
}

/// Whether `rs` has a rate that counts.
fn has_rate(rs: &RateSample) -> bool {
    rs.interval_us > 0 && rs.delivered >= 0 && rs.acked_sacked > 0
}

/// The delivery rate of `rs`, 0 without one. Rounded up, so that a low rate can grow.
fn rate_of(rs: &RateSample) -> u64 {
    if rs.interval_us <= 0 || rs.delivered <= 0 {
        return 0;
    }
    (rs.delivered as u64 * BW_UNIT).div_ceil(rs.interval_us as u64)
}
