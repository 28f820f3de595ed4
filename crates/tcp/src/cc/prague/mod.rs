//! Prague: DCTCP for the Internet, as a sender of the L4S service.
//!
//! # What it does
//! The network marks its segments, which are ECT(1), early and often; the receiver counts the marks
//! by accurate ECN. Once a round the sender updates its estimate α of the marked share, at most
//! once a round it reduces its window by half of that, and every segment that was not marked adds
//! to the window:
//!
//! ```text
//! α ← α + (F − α)/16        cwnd ← cwnd(1 − α/2)        cwnd ← cwnd + s/cwnd
//! ```
//!
//! **RTT independence.** Without it flows of short round trips take all. From `rtt_transition`
//! rounds after slow start a flow whose round trip R is below the target T acts like one with the
//! target's: s = (R/T)², α is updated and the window reduced once a target.
//!
//! | `rtt_scaling` | s | for flows of |
//! | --- | --- | --- |
//! | `none` | 1 | |
//! | `rate` | (R/T)² | the rate of a flow with round trip T |
//! | `scalable` | between R/8R₀ and more, R₀ = 16 ms | at least a mark every eighth round |
//! | `additive` | (R/(T + R))² | round trips longer by T |
//!
//! The window is fractional: what is less than a segment is carried over, and it moves by a segment
//! an ACK, so that a reduction takes up to a round. A loss halves it. Segments are paced at the
//! window over the smoothed round trip.
//!
//! **Classic ECN.** A queue that marks as RFC 3168 has it would be unfair to others if α were
//! taken for it. With `ecn_fallback` a queue that varies like such a one is detected, by the
//! deviation of the round trip (750 µs) and by its depth (2 ms), and α is then at least 0.6.
//!
//! Without accurate ECN it is Reno, and nothing is sent ECN-capable.
//!
//! # Example
//! ```toml
//! duration = "10 s"
//! [path]
//! rate = "50 Mbit/s"
//! rtt = "10 ms"
//! queue = { discipline = "threshold", threshold = 10, limit = "200 packets" }
//! [[flow]]
//! variant = "prague"
//! [[flow]]
//! variant = "prague"
//! ```
//!
//! # Parameters
//! As in the kernel's module, without `prague_`.
//!
//! # References
//! draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331 §4; Briscoe and Ahmed, "TCP Prague
//! Fall-back on Detection of a Classic ECN AQM", 2021; behaviour as version 0.6 in Linux 5.15.

mod classic;
mod rtt;
#[cfg(test)]
mod tests;

use super::{AckSample, CaEvent, CaState, CongestionControl, Entry, RateSample, Tp};
use classic::{Detector, Fallback};
use rtt::Scaling;
use trammel_core::entry::{About, Kind, Param};

/// Prague in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "prague",
        aliases: &[],
        summary: "DCTCP for the L4S service: paced, independent of round trips",
        references: &[
            "draft-briscoe-iccrg-prague-congestion-control-04",
            "RFC 9331",
            "Linux 5.15 of L4STeam, net/ipv4/tcp_prague.c 0.6",
        ],
        params: &[
            Param {
                name: "rtt_scaling",
                kind: Kind::Choice(&["none", "rate", "scalable", "additive"]),
                default: "rate",
                unit: "",
                help: "how flows of short round trips make room for others",
            },
            Param::int(
                "rtt_target",
                0,
                1_000_000,
                "25000",
                "us",
                "round trip below which flows get the same rate; 0 for none",
            ),
            Param::int(
                "rtt_transition",
                0,
                1_000_000,
                "500",
                "rounds",
                "rounds after slow start before that begins",
            ),
            Param {
                name: "ecn_fallback",
                kind: Kind::Choice(&["none", "on", "detect"]),
                default: "none",
                unit: "",
                help: "a queue that marks as RFC 3168: ignored, yielded to, or only detected",
            },
        ],
    },
    build: |params| {
        Box::new(Prague {
            scaling: Scaling::new(
                params.text("rtt_scaling"),
                params.int("rtt_target") as u64,
                params.int("rtt_transition") as u32,
            ),
            detector: Detector::new(match params.text("ecn_fallback") {
                "on" => Fallback::On,
                "detect" => Fallback::Detect,
                _ => Fallback::None,
            }),
            ..Prague::default()
        })
    },
};

/// Fraction bits of α.
const ALPHA_BITS: u32 = 20;
const ALPHA_MAX: u64 = 1 << ALPHA_BITS;
/// A new round's weight in α is 2⁻⁴.
const GAIN_SHIFT: u32 = 4;
/// Fraction bits of windows.
const UNIT_BITS: u32 = 20;
const UNIT: i64 = 1 << UNIT_BITS;
/// Least window, segments.
const LEAST_WINDOW: u32 = 2;
/// Bytes of headers that the kernel's pacing rate counts: IPv4, TCP, timestamps.
const HEADERS: u64 = 52;
/// A super-segment lasts 2⁻¹² s at the pacing rate.
const BURST_SHIFT: u32 = 12;

#[derive(Debug, Default)]
struct Prague {
    scaling: Scaling,
    detector: Detector,
    /// Accurate ECN was not agreed on.
    is_reno: bool,
    /// The marked share × 16, so that no remainder is lost.
    upscaled_alpha: u64,
    /// When α was last updated and the window last reduced for a mark, µs.
    alpha_us: u64,
    cwr_us: u64,
    /// Growth for a segment that was not marked, of a window of one.
    increase: u64,
    /// What the window is to move by.
    carry: i64,
    /// Window and carry before the last loss.
    loss_window: u32,
    loss_carry: i64,
    /// The round ends here; what had been delivered and marked when it began.
    next_seq: u32,
    old_delivered: u64,
    old_delivered_ce: u64,
    /// A mark has been seen: the path has a queue that marks.
    saw_mark: bool,
    /// The window is being reduced for a loss.
    in_loss: bool,
    /// Segments of a super-segment.
    burst: u32,
}

impl Prague {
    fn alpha(&self) -> u64 {
        self.upscaled_alpha >> GAIN_SHIFT
    }

    fn start_round(&mut self, tp: &Tp) {
        self.next_seq = tp.snd_nxt;
        self.old_delivered = tp.delivered;
        self.old_delivered_ce = tp.delivered_ce;
        self.scaling.count_round(tp);
        self.increase = self.scaling.increase(tp);
    }

    /// Whether α may be updated: once a round, and once a target where round trips are scaled.
    fn is_round_over(&self, tp: &Tp) -> bool {
        let is_over = tp.snd_una.wrapping_sub(self.next_seq) as i32 >= 0;
        is_over && self.scaling.has_elapsed(tp, self.alpha_us)
    }

    fn end_round(&mut self, tp: &mut Tp) {
        // Before the first mark nothing shows that any queue marks.
        if self.saw_mark {
            self.detector.update(tp);
            let delivered = (tp.delivered - self.old_delivered).max(1);
            let marked = tp.delivered_ce - self.old_delivered_ce;
            let share = (marked << ALPHA_BITS) / delivered;
            self.upscaled_alpha = (self.upscaled_alpha - (self.upscaled_alpha >> GAIN_SHIFT)
                + share)
                .min(ALPHA_MAX << GAIN_SHIFT);
            self.alpha_us = tp.now_us;
        }
        self.start_round(tp);
    }

    /// The window's growth for what an ACK reports, and its step towards what the carry says.
    fn move_window(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.saw_mark |= rs.delivered_ce > 0;
        let mut unmarked = i64::from(rs.acked_sacked) - rs.delivered_ce;
        if unmarked > 0 && !self.in_loss && tp.is_cwnd_limited() {
            if tp.in_slow_start() {
                unmarked = i64::from(tp.slow_start(unmarked as u32));
                if unmarked == 0 {
                    self.increase = self.scaling.increase(tp);
                    return;
                }
            }
            let window = u64::from(tp.snd_cwnd);
            let grown = (unmarked as u64 * self.increase + window / 2) / window;
            self.carry += (grown as i64).max(unmarked);
        }
        if self.carry <= -UNIT {
            self.carry += UNIT;
            tp.snd_cwnd -= 1;
            if tp.snd_cwnd < LEAST_WINDOW {
                tp.snd_cwnd = LEAST_WINDOW;
                self.carry = 0;
            }
            tp.snd_ssthresh = tp.snd_cwnd;
            self.increase = self.scaling.increase(tp);
        } else if self.carry >= UNIT {
            self.carry -= UNIT;
            tp.snd_cwnd = (tp.snd_cwnd + 1).min(tp.snd_cwnd_clamp);
            self.increase = self.scaling.increase(tp);
        }
    }

    fn set_pacing_rate(&mut self, tp: &mut Tp) {
        if tp.srtt_us == 0 {
            return;
        }
        let packet = u64::from(tp.mss) + HEADERS;
        let mut per_round = packet * u64::from(tp.snd_cwnd.max(tp.packets_in_flight()));
        if tp.snd_cwnd < tp.snd_ssthresh / 2 {
            per_round *= 2;
        }
        tp.pacing_rate = per_round * 8_000_000 / u64::from(tp.srtt_us);
        self.burst = ((tp.pacing_rate / packet) >> BURST_SHIFT).max(1) as u32;
    }

    fn reduce_for_loss(&mut self, tp: &Tp) {
        self.loss_window = tp.snd_cwnd;
        self.loss_carry = self.carry;
        self.carry -= (i64::from(tp.snd_cwnd) << (UNIT_BITS - 1)) + (self.carry >> 1);
        self.in_loss = true;
        self.increase = self.scaling.increase(tp);
    }

    fn reduce_for_marks(&mut self, tp: &Tp) {
        if !self.scaling.has_elapsed(tp, self.cwr_us) {
            return;
        }
        self.cwr_us = tp.now_us;
        let alpha = self.detector.at_least(self.alpha());
        let window = u64::from(tp.snd_cwnd) << UNIT_BITS;
        self.carry -= ((alpha * window + ALPHA_MAX) >> (ALPHA_BITS + 1)) as i64;
    }
}

impl CongestionControl for Prague {
    fn init(&mut self, tp: &mut Tp) {
        self.is_reno = !tp.accurate_ecn;
        if self.is_reno {
            return;
        }
        tp.pacing = true;
        self.set_pacing_rate(tp);
        self.upscaled_alpha = ALPHA_MAX << GAIN_SHIFT;
        self.alpha_us = tp.now_us;
        self.saw_mark = tp.delivered_ce > 0;
        self.burst = 1;
        self.detector.start(tp);
        self.start_round(tp);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        if self.is_reno {
            return tp.reno_ssthresh();
        }
        self.detector.set_gain(tp.snd_ssthresh);
        // The window moves step by step, and takes the threshold with it.
        tp.snd_ssthresh
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        tp.reno_cong_avoid(acked);
    }

    fn pkts_acked(&mut self, _tp: &mut Tp, sample: &AckSample) {
        if sample.rtt_us >= 0 {
            self.detector.sample(sample.rtt_us as u64);
        }
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        if self.is_reno || new == tp.ca_state {
            return;
        }
        match new {
            CaState::Recovery => self.reduce_for_loss(tp),
            CaState::Cwr => self.reduce_for_marks(tp),
            CaState::Open => self.in_loss = false,
            CaState::Disorder | CaState::Loss => {}
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        if event == CaEvent::Loss && !self.is_reno {
            self.reduce_for_loss(tp);
        }
    }

    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        if self.is_reno {
            return tp.reno_undo_cwnd();
        }
        self.carry += self.carry - self.loss_carry;
        self.loss_window.max(tp.snd_cwnd)
    }

    fn has_cong_control(&self) -> bool {
        !self.is_reno
    }

    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.move_window(tp, rs);
        if self.is_round_over(tp) {
            self.end_round(tp);
        }
        self.set_pacing_rate(tp);
    }

    fn needs_ecn(&self) -> bool {
        true
    }

    fn needs_accurate_ecn(&self) -> bool {
        true
    }

    fn sends_ect1(&self) -> bool {
        true
    }

    fn min_tso_segs(&self, _tp: &Tp) -> u32 {
        self.burst.max(2)
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("alpha", self.alpha() as f64 / ALPHA_MAX as f64),
            ("carry", self.carry as f64 / UNIT as f64),
            ("increase", self.increase as f64 / UNIT as f64),
            ("classic_ecn", self.detector.indicator()),
        ]
    }
}
