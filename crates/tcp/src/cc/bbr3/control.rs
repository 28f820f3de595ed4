//! From the model to pacing rate, burst and window.

use super::{BW_SCALE, BW_UNIT, Bbr3, CaState, GAIN_SCALE, NO_LIMIT, RateSample, State, Tp};

/// Largest burst in bytes: 64 KB, and in dialect `linux` less the kernel's room for headers.
const BURST_MAX_BYTES: u64 = 65_536;
const BURST_MAX_BYTES_LINUX: u64 = BURST_MAX_BYTES - 1 - 320;
/// Least burst, segments.
const BURST_MIN: u64 = 2;
/// Dialect `linux`: a burst lasts 2⁻¹⁰ s at the pacing rate, and every 2⁹ µs of the smallest round
/// trip halve the 64 KB that it may be longer.
const BURST_SHIFT: u32 = 10;
const BURST_RTT_SHIFT: u32 = 9;
/// Dialect `linux`: most of the rate that aggregation may add, µs.
const EXTRA_ACKED_MAX_US: u64 = 100_000;

impl Bbr3 {
    /// `bw` times `gain` in payload bytes/s, less `margin` per cent.
    pub(super) fn rate_of(tp: &Tp, bw: u64, gain: u64, margin: u64) -> u64 {
        let bytes = (u128::from(bw * u64::from(tp.mss)) * u128::from(gain)) >> GAIN_SCALE;
        let rate = (bytes * u128::from(10_000 * (100 - margin))) >> BW_SCALE;
        (rate as u64).max(1)
    }

    //= draft-ietf-ccwg-bbr §5.6.2
    //# in this case it sets an initial pacing rate based on the transport sender implementation's
    //# initial congestion window
    pub(super) fn pace_from_rtt(&mut self, tp: &mut Tp) {
        let mut rtt_us = 1000;
        if tp.srtt_us > 0 {
            rtt_us = u64::from(tp.srtt_us >> 3).max(1);
            self.has_seen_rtt = true;
        }
        let bw = u64::from(tp.snd_cwnd) * BW_UNIT / rtt_us;
        let margin = if self.config.is_linux {
            self.config.pacing_margin_percent
        } else {
            0
        };
        tp.pacing_rate = Bbr3::rate_of(tp, bw, self.config.startup_pacing_gain, margin);
    }

    /// Sets the pacing rate; before the pipe is known to be full it only rises.
    pub(super) fn set_pacing_rate(&mut self, tp: &mut Tp, gain: u64) {
        let rate = Bbr3::rate_of(tp, self.bw(), gain, self.config.pacing_margin_percent);
        if !self.has_seen_rtt && tp.srtt_us > 0 {
            self.pace_from_rtt(tp);
        }
        if self.full_bw_reached || rate > tp.pacing_rate {
            tp.pacing_rate = rate;
        }
    }

    /// Segments that leave as one burst at the pacing rate.
    pub(super) fn send_quantum(&self, tp: &Tp) -> u32 {
        //= draft-ietf-ccwg-bbr §5.6.3
        //# C.send_quantum = C.pacing_rate * 1ms
        let bytes = if self.config.is_linux {
            let halvings = self.min_rtt_us >> BURST_RTT_SHIFT;
            let more = BURST_MAX_BYTES.checked_shr(halvings).unwrap_or(0);
            ((tp.pacing_rate >> BURST_SHIFT) + more).min(BURST_MAX_BYTES_LINUX)
        } else {
            (tp.pacing_rate / 1000).min(BURST_MAX_BYTES)
        };
        (bytes / u64::from(tp.mss)).max(BURST_MIN) as u32
    }

    /// `gain` × `bw` × the smallest round trip, segments, rounded up.
    pub(super) fn bdp(&self, bw: u64, gain: u64) -> u32 {
        // Before any sample (a SYN-ACK that was retransmitted) the initial window must do.
        if self.min_rtt_us == u32::MAX {
            return self.initial_cwnd;
        }
        let volume = u128::from(bw * u64::from(self.min_rtt_us)) * u128::from(gain);
        (volume >> GAIN_SCALE).div_ceil(u128::from(BW_UNIT)) as u32
    }

    //= draft-ietf-ccwg-bbr §5.5.8.1
    //# BBR.offload_budget = 3 * C.send_quantum
    fn quantization_budget(&self, tp: &Tp, inflight: u32) -> u32 {
        let inflight = inflight
            .max(3 * self.send_quantum(tp))
            .max(self.config.min_pipe_cwnd);
        inflight + if self.state == State::Up { 2 } else { 0 }
    }

    /// Segments in flight that `bw` at `gain` needs.
    pub(super) fn inflight(&self, tp: &Tp, bw: u64, gain: u64) -> u32 {
        self.quantization_budget(tp, self.bdp(bw, gain))
    }

    fn max_inflight(&self, tp: &Tp) -> u32 {
        let mut extra = self.aggregation.extra_acked();
        if self.config.is_linux {
            let most = u128::from(self.bw()) * u128::from(EXTRA_ACKED_MAX_US);
            extra = u128::from(extra).min(most / u128::from(BW_UNIT)) as u32;
        }
        self.quantization_budget(tp, self.bdp(self.bw(), self.cwnd_gain) + extra)
    }

    /// Keeps the window for the time after a recovery or PROBE_RTT.
    pub(super) fn save_cwnd(&mut self, tp: &Tp) {
        let is_undisturbed = tp.ca_state < CaState::Recovery && self.state != State::ProbeRtt;
        self.prior_cwnd = if is_undisturbed {
            tp.snd_cwnd
        } else {
            self.prior_cwnd.max(tp.snd_cwnd)
        };
    }

    pub(super) fn restore_cwnd(&mut self, tp: &mut Tp) {
        tp.snd_cwnd = tp.snd_cwnd.max(self.prior_cwnd);
        self.is_settled = false;
    }

    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        let share = self.bdp(self.bw(), self.config.probe_rtt_cwnd_gain);
        share.max(self.config.min_pipe_cwnd)
    }

    //= draft-ietf-ccwg-bbr §5.6.4.6
    //# When C.cwnd is below BBR.max_inflight, BBR raises C.cwnd gradually and cautiously,
    //# increasing C.cwnd by no more than the amount of data acknowledged
    pub(super) fn set_cwnd(&mut self, tp: &mut Tp, rs: &RateSample) {
        let acked = rs.acked_sacked;
        let mut cwnd = tp.snd_cwnd;
        if acked > 0 {
            let target = self.max_inflight(tp);
            self.is_settled = false;
            if self.full_bw_reached {
                cwnd += acked;
                self.is_settled = cwnd >= target;
                cwnd = cwnd.min(target);
            } else if cwnd < target || self.is_in_first_window(tp, cwnd) {
                cwnd += acked;
            } else {
                self.is_settled = true;
            }
            cwnd = cwnd.max(self.config.min_pipe_cwnd);
        }
        tp.snd_cwnd = cwnd.min(tp.snd_cwnd_clamp);
        if self.state == State::ProbeRtt {
            tp.snd_cwnd = tp.snd_cwnd.min(self.probe_rtt_cwnd());
        }
    }

    /// Whether so little was delivered that the model is not believed yet.
    fn is_in_first_window(&self, tp: &Tp, cwnd: u32) -> bool {
        if self.config.is_linux {
            cwnd < 2 * self.initial_cwnd
        } else {
            tp.delivered < u64::from(self.initial_cwnd)
        }
    }

    //= draft-ietf-ccwg-bbr §5.6.4.7
    //# BBR bounds C.cwnd based on recent congestion
    pub(super) fn bound_cwnd_for_model(&self, tp: &mut Tp) {
        let cap = match self.state {
            State::Startup | State::Drain => NO_LIMIT,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Up | State::Down | State::Refill => self.inflight_hi,
        };
        let cap = cap.min(self.inflight_lo).max(self.config.min_pipe_cwnd);
        tp.snd_cwnd = tp.snd_cwnd.min(cap);
    }
}
