//! From the model to pacing rate and window.

use super::{
    BW_SCALE, BW_UNIT, Bbr, CaState, GAIN_SCALE, INITIAL_CWND, Mode, RateSample, Tp, UNIT,
};

/// Under this pacing rate, bytes/s, one segment is sent at a time: 1.2 Mbit/s.
const SINGLE_SEGMENT_RATE: u64 = 1_200_000 >> 3;
/// A burst lasts 2⁻¹⁰ s at the pacing rate (`sk_pacing_shift`).
const BURST_SHIFT: u32 = 10;
/// Largest burst in bytes: 64 KiB less the kernel's room for headers.
const BURST_MAX_BYTES: u64 = 65_536 - 1 - 320;
const BURST_MAX_SEGS: u64 = 127;

/// Least super-segment, segments.
pub(super) fn min_tso_segs(tp: &Tp) -> u32 {
    if tp.pacing_rate < SINGLE_SEGMENT_RATE {
        1
    } else {
        2
    }
}

/// `bw` times `gain` in payload bytes/s, less the margin. Payload is also what pacing counts, so
/// headers neither slow the flow down nor speed it up.
pub(super) fn bytes_per_sec(bw: u64, gain: u64, mss: u32, margin_percent: u64) -> u64 {
    let scaled = (bw * u64::from(mss) * gain) >> GAIN_SCALE;
    ((u128::from(scaled) * u128::from(10_000 * (100 - margin_percent))) >> BW_SCALE) as u64
}

impl Bbr {
    fn rate_of(&self, tp: &Tp, bw: u64, gain: u64) -> u64 {
        let margin = self.config.pacing_margin_percent;
        bytes_per_sec(bw, gain, tp.mss, margin)
    }

    /// Starts from the first window and round trip, or from 1 ms where none was measured.
    pub(super) fn pace_from_rtt(&mut self, tp: &mut Tp) {
        let mut rtt_us = 1000;
        if tp.srtt_us > 0 {
            rtt_us = u64::from(tp.srtt_us >> 3).max(1);
            self.has_seen_rtt = true;
        }
        let bw = u64::from(tp.snd_cwnd) * BW_UNIT / rtt_us;
        tp.pacing_rate = self.rate_of(tp, bw, self.config.high_gain);
    }

    /// Sets the pacing rate; before the pipe is known to be full it only rises.
    pub(super) fn set_pacing_rate(&mut self, tp: &mut Tp, bw: u64, gain: u64) {
        let rate = self.rate_of(tp, bw, gain);
        if !self.has_seen_rtt && tp.srtt_us > 0 {
            self.pace_from_rtt(tp);
        }
        if self.full_bw_reached || rate > tp.pacing_rate {
            tp.pacing_rate = rate;
        }
    }

    /// Segments of one burst at the pacing rate, whatever the device can send at once.
    fn tso_segs_goal(tp: &Tp) -> u32 {
        let bytes = (tp.pacing_rate >> BURST_SHIFT).min(BURST_MAX_BYTES);
        let segs = (bytes / u64::from(tp.mss)).max(u64::from(min_tso_segs(tp)));
        segs.min(BURST_MAX_SEGS) as u32
    }

    /// `gain` × `bw` × the smallest round trip, segments, rounded up.
    fn bdp(&self, bw: u64, gain: u64) -> u32 {
        // Before any sample (a SYN-ACK that was retransmitted) the initial window must do.
        if self.min_rtt_us == u32::MAX {
            return INITIAL_CWND;
        }
        let volume =
            (u128::from(bw) * u128::from(self.min_rtt_us) * u128::from(gain)) >> GAIN_SCALE;
        volume.div_ceil(u128::from(BW_UNIT)) as u32
    }

    /// Adds room for the burst in the sender, the one in the receiver and one between, and for
    /// delayed ACKs an even number.
    fn quantization_budget(&self, tp: &Tp, cwnd: u32) -> u32 {
        let cwnd = (cwnd + 3 * Bbr::tso_segs_goal(tp)).next_multiple_of(2);
        // A gain of 5/4 has to show even where the product is small.
        let probing = self.mode == Mode::ProbeBw && self.cycle_idx == 0;
        cwnd + if probing { 2 } else { 0 }
    }

    /// Segments in flight that `bw` at `gain` needs.
    pub(super) fn inflight(&self, tp: &Tp, bw: u64, gain: u64) -> u32 {
        self.quantization_budget(tp, self.bdp(bw, gain))
    }

    /// Segments in the network when the next one leaves.
    // Differs from Linux 6.12: the next departure is taken to be now. Single segments are paced, so
    // at most one segment is delivered in between.
    pub(super) fn packets_in_net(&self, tp: &Tp, in_flight: u32) -> u32 {
        if self.pacing_gain > UNIT {
            in_flight + Bbr::tso_segs_goal(tp)
        } else {
            in_flight
        }
    }

    fn ack_aggregation_cwnd(&self) -> u32 {
        if self.config.extra_acked_gain == 0 || !self.full_bw_reached {
            return 0;
        }
        let most = u128::from(self.current_bw()) * u128::from(self.config.extra_acked_max_us)
            / u128::from(BW_UNIT);
        let extra = u64::from(self.extra_acked[0].max(self.extra_acked[1]));
        let extra = (self.config.extra_acked_gain * extra) >> GAIN_SCALE;
        u128::from(extra).min(most) as u32
    }

    /// Keeps the window for the time after a recovery or PROBE_RTT.
    pub(super) fn save_cwnd(&mut self, tp: &Tp) {
        let undisturbed = self.prev_ca_state < CaState::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if undisturbed {
            tp.snd_cwnd
        } else {
            self.prior_cwnd.max(tp.snd_cwnd)
        };
    }

    /// The window as losses leave it, and whether packets are conserved instead of following the
    /// model.
    fn recover_or_restore(&mut self, tp: &Tp, rs: &RateSample) -> (u32, bool) {
        let mut cwnd = tp.snd_cwnd;
        if rs.losses > 0 {
            cwnd = cwnd.saturating_sub(rs.losses).max(1);
        }
        let (before, now) = (self.prev_ca_state, tp.ca_state);
        if now == CaState::Recovery && before != CaState::Recovery {
            // One segment out for one in, for the first round of a recovery.
            self.packet_conservation = true;
            self.next_rtt_delivered = tp.delivered;
            cwnd = tp.packets_in_flight() + rs.acked_sacked;
        } else if before >= CaState::Recovery && now < CaState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.prev_ca_state = now;
        if self.packet_conservation {
            return (cwnd.max(tp.packets_in_flight() + rs.acked_sacked), true);
        }
        (cwnd, false)
    }

    /// Moves the window towards the model's target by at most what was acknowledged.
    pub(super) fn set_cwnd(&mut self, tp: &mut Tp, rs: &RateSample, bw: u64, gain: u64) {
        let mut cwnd = tp.snd_cwnd;
        let acked = rs.acked_sacked;
        if acked > 0 {
            let (recovered, conserving) = self.recover_or_restore(tp, rs);
            cwnd = recovered;
            if !conserving {
                let target = self.bdp(bw, gain) + self.ack_aggregation_cwnd();
                let target = self.quantization_budget(tp, target);
                if self.full_bw_reached {
                    cwnd = (cwnd + acked).min(target);
                } else if cwnd < target || tp.delivered < u64::from(INITIAL_CWND) {
                    cwnd += acked;
                }
                cwnd = cwnd.max(self.config.cwnd_min_target);
            }
        }
        tp.snd_cwnd = cwnd.min(tp.snd_cwnd_clamp);
        if self.mode == Mode::ProbeRtt {
            tp.snd_cwnd = tp.snd_cwnd.min(self.config.cwnd_min_target);
        }
    }
}
