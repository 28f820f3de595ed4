//! YeAH: Scalable while the queue is short, Reno while it is not.
//!
//! # What it does
//! Once a round it estimates its own packets in the queue, `Q = cwnd × (RTT − base)/RTT`, from the
//! round's smallest round trip.
//!
//! ```text
//! Q ≤ 80 and RTT − base ≤ base/8:  fast mode, one segment for 100 (or for a window) ACKed
//! otherwise:                       slow mode, one segment a window; and where Q > 80 the queue is
//!                                  emptied at once, down to a Reno flow's assumed window
//! loss:  cwnd − min(max(Q, cwnd/8), cwnd/2);  by half after 16 rounds of slow mode
//! ```
//!
//! Dialect `linux-2.6` is the module of Linux 2.6.22: the count of ACKed segments starts from 0 at
//! each increase, and fast mode counts segments, slow mode ACKs.
//!
//! The assumed window of a competing Reno flow (`reno_count`) keeps it from starving beside greedy
//! flows.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "80 ms"
//! queue = { limit = "0.5 bdp" }
//! [[flow]]
//! variant = "yeah"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # References
//! Baiocchi, Castellani, Vacirca, "YeAH-TCP: yet another highspeed TCP", 2007; behaviour as in
//! Linux 6.12.

use super::vegas::{NO_RTT, RttRound};
use super::{AckSample, CaEvent, CaState, CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param};

/// YeAH in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "yeah",
        aliases: &["yeah-tcp"],
        summary: "Scalable while the queue is short, Reno while it is not",
        references: &[
            "Baiocchi, Castellani, Vacirca 2007",
            "Linux 6.12 net/ipv4/tcp_yeah.c",
        ],
        params: &[Param {
            name: "dialect",
            kind: Kind::Choice(&["linux", "linux-2.6"]),
            default: "linux",
            unit: "",
            help: "Linux 6.12, or Linux 2.6.22, whose counts begin anew at each increase",
        }],
    },
    build: |params| {
        Box::new(Yeah {
            is_2_6: params.text("dialect") == "linux-2.6",
            ..Yeah::default()
        })
    },
};

/// Most own packets that may stand in the queue.
const QUEUE_MAX: u32 = 80;
/// Least share of the window given up at a loss: 2⁻³.
const LOSS_SHIFT: u32 = 3;
/// Largest share of the window given up to empty the queue: 2⁻¹.
const DRAIN_SHIFT: u32 = 1;
/// Queueing delay that means slow mode: base / 8.
const DELAY_DIVISOR: u32 = 8;
/// Rounds of slow mode after which the others are taken for Reno flows.
const RENO_ROUNDS: u32 = 16;
/// Rounds of fast mode after which the Reno flow's assumed window starts anew.
const FAST_ROUNDS: u32 = 50;
/// ACKed segments for one more segment in fast mode.
const FAST_SEGMENTS: u32 = 100;
/// A round needs more samples than this to be judged: with two ACKs both may have been delayed.
const FEW_SAMPLES: u32 = 2;

#[derive(Debug)]
struct Yeah {
    is_2_6: bool,
    /// Segments of the ACK in hand; `linux-2.6` only.
    pkts_acked: u32,
    round: RttRound,
    /// Own packets in the queue in the last judged round.
    last_queue: u32,
    /// Consecutive rounds of slow mode.
    slow_rounds: u32,
    /// The window that a competing Reno flow is assumed to have.
    reno_count: u32,
    fast_rounds: u32,
}

impl Default for Yeah {
    fn default() -> Yeah {
        Yeah {
            is_2_6: false,
            pkts_acked: 0,
            round: RttRound::new(),
            last_queue: 0,
            slow_rounds: 0,
            reno_count: 2,
            fast_rounds: 0,
        }
    }
}

impl Yeah {
    fn judge_round(&mut self, tp: &mut Tp) {
        let rtt_us = self.round.min_rtt;
        let delay_us = rtt_us - self.round.base_rtt;
        let queue = (u64::from(tp.snd_cwnd) * u64::from(delay_us) / u64::from(rtt_us)) as u32;
        if queue > QUEUE_MAX || delay_us > self.round.base_rtt / DELAY_DIVISOR {
            if queue > QUEUE_MAX && tp.snd_cwnd > self.reno_count {
                let drained = tp.snd_cwnd - queue.min(tp.snd_cwnd >> DRAIN_SHIFT);
                tp.snd_cwnd = drained.max(self.reno_count);
                tp.snd_ssthresh = tp.snd_cwnd;
            }
            self.reno_count = if self.reno_count <= 2 {
                (tp.snd_cwnd >> 1).max(2)
            } else {
                self.reno_count + 1
            };
            self.slow_rounds += 1;
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > FAST_ROUNDS {
                self.reno_count = 2;
                self.fast_rounds = 0;
            }
            self.slow_rounds = 0;
        }
        self.last_queue = queue;
    }

    fn grow_2_6(&mut self, tp: &mut Tp, acked: u32) {
        if tp.in_slow_start() {
            tp.slow_start(acked);
            return;
        }
        let is_due = if self.slow_rounds == 0 {
            // A second call for the same ACK counts as one segment.
            tp.snd_cwnd_cnt += std::mem::replace(&mut self.pkts_acked, 1);
            tp.snd_cwnd_cnt > tp.snd_cwnd.min(FAST_SEGMENTS)
        } else {
            tp.snd_cwnd_cnt += 1;
            tp.snd_cwnd_cnt >= tp.snd_cwnd
        };
        if is_due {
            tp.snd_cwnd = (tp.snd_cwnd + 1).min(tp.snd_cwnd_clamp);
            tp.snd_cwnd_cnt = 0;
        }
    }

    fn grow(&self, tp: &mut Tp, acked: u32) {
        let Some(left) = tp.left_after_slow_start(acked) else {
            return;
        };
        let segments = if self.slow_rounds == 0 {
            tp.snd_cwnd.min(FAST_SEGMENTS)
        } else {
            tp.snd_cwnd
        };
        tp.cong_avoid_ai(segments, left);
    }
}

impl CongestionControl for Yeah {
    fn init(&mut self, tp: &mut Tp) {
        *self = Yeah {
            is_2_6: self.is_2_6,
            ..Yeah::default()
        };
        self.round.enable(tp);
        // Keeps window × 128 inside 32 bits, as the kernel's module does.
        tp.snd_cwnd_clamp = tp.snd_cwnd_clamp.min(u32::MAX / 128);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        let half = (tp.snd_cwnd >> 1).max(2);
        let reduction = if self.slow_rounds < RENO_ROUNDS {
            self.last_queue.min(half).max(tp.snd_cwnd >> LOSS_SHIFT)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_count = (self.reno_count >> 1).max(2);
        tp.snd_cwnd.saturating_sub(reduction).max(2)
    }

    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32) {
        if !tp.is_cwnd_limited() {
            return;
        }
        if self.is_2_6 {
            self.grow_2_6(tp, acked);
        } else {
            self.grow(tp, acked);
        }
        if self.round.is_over(ack) {
            if self.round.cnt_rtt > FEW_SAMPLES {
                self.judge_round(tp);
            }
            self.round.enable(tp);
        }
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        if new == CaState::Open {
            self.round.enable(tp);
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        if matches!(event, CaEvent::CwndRestart | CaEvent::TxStart) {
            // The path may have changed while nothing was sent.
            self.round.base_rtt = NO_RTT;
            self.round.enable(tp);
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if tp.ca_state == CaState::Open {
            self.pkts_acked = sample.pkts_acked;
        }
        self.round.sample(sample.rtt_us);
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("queue_pkts", f64::from(self.last_queue)),
            ("slow_rounds", f64::from(self.slow_rounds)),
            ("reno_count", f64::from(self.reno_count)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn started(cwnd: u32) -> (Yeah, Tp) {
        let mut tp = Tp::new(cwnd, 1448, Rng::new(1, "flow"));
        tp.snd_ssthresh = 2;
        tp.cwnd_limited = true;
        let mut cc = Yeah::default();
        cc.init(&mut tp);
        (cc, tp)
    }

    /// One window of segments, each a unit of sequence space; the last ACK ends the round.
    fn round(cc: &mut Yeah, tp: &mut Tp, rtt_us: i32) {
        let window = tp.snd_cwnd;
        let mut ack = tp.snd_nxt;
        tp.snd_nxt = tp.snd_nxt.wrapping_add(window);
        for _ in 0..window {
            ack = ack.wrapping_add(1);
            let sample = AckSample {
                pkts_acked: 1,
                rtt_us,
                in_flight: window,
            };
            cc.pkts_acked(tp, &sample);
            cc.cong_avoid(tp, ack, 1);
        }
    }

    #[test]
    fn fast_mode_grows_by_a_hundredth() {
        let (mut cc, mut tp) = started(1000);
        round(&mut cc, &mut tp, 50_000);
        assert_eq!(tp.snd_cwnd, 1010);
    }

    #[test]
    fn a_long_queue_is_emptied_at_once_and_reno_follows() {
        let (mut cc, mut tp) = started(1000);
        round(&mut cc, &mut tp, 50_000);
        // A fifth of each round trip is queueing. The round's first ACK judges the one before it.
        tp.snd_cwnd = 1000;
        round(&mut cc, &mut tp, 62_500);
        let before = tp.snd_cwnd;
        round(&mut cc, &mut tp, 62_500);
        assert!(cc.last_queue.abs_diff(before / 5) <= 2, "{}", cc.last_queue);
        assert!(tp.snd_cwnd.abs_diff(before - cc.last_queue) <= 2);
        assert_eq!(cc.slow_rounds, 1);
        assert_eq!(cc.reno_count, tp.snd_ssthresh / 2);
    }

    #[test]
    fn a_loss_costs_the_queue_between_an_eighth_and_a_half() {
        let (mut cc, mut tp) = started(800);
        for (queue, left) in [(0, 700), (150, 650), (700, 400)] {
            cc.last_queue = queue;
            assert_eq!(cc.ssthresh(&mut tp), left);
        }
        (cc.last_queue, cc.slow_rounds) = (0, RENO_ROUNDS);
        assert_eq!(cc.ssthresh(&mut tp), 400);
    }

    #[test]
    fn fifty_fast_rounds_forget_the_reno_flow() {
        let (mut cc, mut tp) = started(100);
        cc.reno_count = 40;
        for _ in 0..=FAST_ROUNDS {
            round(&mut cc, &mut tp, 50_000);
            tp.snd_cwnd = 100;
        }
        assert_eq!(cc.reno_count, 40);
        round(&mut cc, &mut tp, 50_000);
        assert_eq!(cc.reno_count, 2);
    }
}
