//! The model of the path: delivery rate, aggregation, gain cycle, full pipe, smallest round trip.

use super::policer::Verdict;
use super::{BW_UNIT, Bbr, CYCLE, GAIN_SCALE, Mode, RateSample, Tp, UNIT};

/// An aggregation epoch is begun anew before its count leaves 20 bits.
const EPOCH_ACKED_MAX: u64 = 1 << 20;

impl Bbr {
    /// Takes the ACK of `rs` into the model and sets mode and gains.
    pub(super) fn update_model(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.update_bw(tp, rs);
        self.update_ack_aggregation(tp, rs);
        if self.mode == Mode::ProbeBw && self.is_next_cycle_phase(tp, rs) {
            self.advance_cycle_phase(tp);
        }
        self.check_full_bw_reached(rs);
        self.check_drain(tp);
        self.update_min_rtt(tp, rs);
        self.update_gains();
    }

    fn update_bw(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.round_start = false;
        if rs.delivered < 0 || rs.interval_us <= 0 {
            return;
        }
        if rs.prior_delivered >= self.next_rtt_delivered {
            self.next_rtt_delivered = tp.delivered;
            self.rtt_cnt = self.rtt_cnt.wrapping_add(1);
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.sample_policer(tp, rs);
        let bw = rs.delivered as u64 * BW_UNIT / rs.interval_us as u64;
        // A sample that the application limited is a lower bound only.
        if !rs.is_app_limited || bw >= self.max_bw() {
            self.bw.update(self.config.bw_rtts, self.rtt_cnt, bw);
        }
    }

    pub(super) fn sample_policer(&mut self, tp: &mut Tp, rs: &RateSample) {
        let (margin, mss) = (self.config.pacing_margin_percent, tp.mss);
        let verdict = self.policer.update(
            &self.config.policer,
            tp,
            rs,
            self.round_start,
            self.mode == Mode::ProbeBw,
            |bw| super::control::bytes_per_sec(bw, UNIT, mss, margin),
        );
        match verdict {
            Verdict::Unchanged => {}
            Verdict::Found => self.pacing_gain = UNIT,
            Verdict::Expired => self.enter_probe_bw(tp),
        }
    }

    /// Measures by how much ACKs run ahead of the rate, over two half windows of rounds.
    fn update_ack_aggregation(&mut self, tp: &Tp, rs: &RateSample) {
        let no_sample = rs.acked_sacked == 0 || rs.delivered < 0 || rs.interval_us <= 0;
        if self.config.extra_acked_gain == 0 || no_sample {
            return;
        }
        if self.round_start {
            self.extra_acked_rounds += 1;
            if self.extra_acked_rounds >= self.config.extra_acked_win_rtts {
                self.extra_acked_rounds = 0;
                self.extra_acked_idx ^= 1;
                self.extra_acked[self.extra_acked_idx] = 0;
            }
        }
        let epoch_us = tp
            .delivered_mstamp_us
            .saturating_sub(self.ack_epoch_mstamp_us);
        let acked = u64::from(rs.acked_sacked);
        let mut expected =
            (u128::from(self.current_bw()) * u128::from(epoch_us) / u128::from(BW_UNIT)) as u64;
        // The rate has caught up: the burst, if it was one, is over.
        if self.ack_epoch_acked <= expected || self.ack_epoch_acked + acked >= EPOCH_ACKED_MAX {
            self.ack_epoch_acked = 0;
            self.ack_epoch_mstamp_us = tp.delivered_mstamp_us;
            expected = 0;
        }
        self.ack_epoch_acked = (self.ack_epoch_acked + acked).min(EPOCH_ACKED_MAX - 1);
        let extra = (self.ack_epoch_acked - expected).min(u64::from(tp.snd_cwnd)) as u32;
        let slot = &mut self.extra_acked[self.extra_acked_idx];
        *slot = (*slot).max(extra);
    }

    fn is_next_cycle_phase(&self, tp: &Tp, rs: &RateSample) -> bool {
        let elapsed_us = tp.delivered_mstamp_us.saturating_sub(self.cycle_mstamp_us);
        let full_length = elapsed_us > u64::from(self.min_rtt_us);
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let inflight = self.packets_in_net(tp, rs.prior_in_flight);
        if self.pacing_gain > UNIT {
            // A probe lasts until it has put its queue into the network, or lost by trying.
            return full_length
                && (rs.losses > 0
                    || inflight >= self.inflight(tp, self.max_bw(), self.pacing_gain));
        }
        full_length || inflight <= self.inflight(tp, self.max_bw(), UNIT)
    }

    fn advance_cycle_phase(&mut self, tp: &Tp) {
        self.cycle_idx = (self.cycle_idx + 1) % CYCLE.len();
        self.cycle_mstamp_us = tp.delivered_mstamp_us;
    }

    pub(super) fn enter_probe_bw(&mut self, tp: &mut Tp) {
        self.mode = Mode::ProbeBw;
        // Any phase but the draining one, at random, so that flows do not probe in step.
        let back = tp.rng.below(self.config.cycle_rand) as usize;
        self.cycle_idx = CYCLE.len() - 1 - back;
        self.advance_cycle_phase(tp);
    }

    fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_reached || !self.round_start || rs.is_app_limited {
            return;
        }
        if self.max_bw() >= (self.full_bw * self.config.full_bw_thresh) >> GAIN_SCALE {
            self.full_bw = self.max_bw();
            self.full_bw_cnt = 0;
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= self.config.full_bw_cnt;
    }

    fn check_drain(&mut self, tp: &mut Tp) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            tp.snd_ssthresh = self.inflight(tp, self.max_bw(), UNIT);
        }
        if self.mode == Mode::Drain
            && self.packets_in_net(tp, tp.packets_in_flight())
                <= self.inflight(tp, self.max_bw(), UNIT)
        {
            self.enter_probe_bw(tp);
        }
    }

    fn update_min_rtt(&mut self, tp: &mut Tp, rs: &RateSample) {
        let now = tp.jiffies();
        let hz = u64::from(tp.hz);
        let expired = now > self.min_rtt_jiffies + self.config.min_rtt_win_sec * hz;
        if rs.rtt_us >= 0
            && (rs.rtt_us < i64::from(self.min_rtt_us) || (expired && !rs.is_ack_delayed))
        {
            self.min_rtt_us = rs.rtt_us as u32;
            self.min_rtt_jiffies = now;
        }
        let may_probe = self.config.probe_rtt_mode_ms > 0 && !self.idle_restart;
        if expired && may_probe && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(tp);
            self.probe_rtt_done_jiffies = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.run_probe_rtt(tp);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn run_probe_rtt(&mut self, tp: &mut Tp) {
        // What is delivered now says nothing about the path's rate.
        tp.app_limited = (tp.delivered + u64::from(tp.packets_in_flight())).max(1);
        if self.probe_rtt_done_jiffies.is_none() {
            if tp.packets_in_flight() <= self.config.cwnd_min_target {
                let hold = (self.config.probe_rtt_mode_ms * u64::from(tp.hz)).div_ceil(1000);
                self.probe_rtt_done_jiffies = Some(tp.jiffies() + hold);
                self.probe_rtt_round_done = false;
                self.next_rtt_delivered = tp.delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(tp);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, tp: &mut Tp) {
        let now = tp.jiffies();
        if self.probe_rtt_done_jiffies.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt_jiffies = now;
        tp.snd_cwnd = tp.snd_cwnd.max(self.prior_cwnd);
        if self.full_bw_reached {
            self.enter_probe_bw(tp);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        let config = &self.config;
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (config.high_gain, config.high_gain),
            Mode::Drain => (config.drain_gain, config.high_gain),
            Mode::ProbeBw if self.policer.rate().is_some() => (UNIT, config.cwnd_gain),
            Mode::ProbeBw => (CYCLE[self.cycle_idx], config.cwnd_gain),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}
