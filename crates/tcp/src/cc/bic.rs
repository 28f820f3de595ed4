//! BIC: binary search between the window before a loss and the one after it.
//!
//! # What it does
//! Below `last_max`, the window of the last loss, a round adds a quarter of the distance to it, at
//! most `max_increment`; within a few segments of it the growth slows to 4/smooth_part a round;
//! beyond it the growth quickens again (max probing):
//!
//! ```text
//! d = (last_max − w)/4       d > max_increment: +max_increment   d ≤ 1: +4/smooth_part   else +d
//! w < last_max + 4: +4/smooth_part     w < last_max + 3·max_increment: +(w − last_max)/3
//! beyond: +max_increment
//! ```
//!
//! A loss keeps beta/1024 of the window; below `low_window` BIC is Reno. With fast convergence a
//! loss below `last_max` sets it half way down. Before the first loss growth is at least one
//! segment in 20. All is divided by the delayed-ACK ratio, a running mean of segments per ACK in
//! sixteenths (an ACK per segment gives 31/16, by cutting). Linux 6.12 counts segments, not ACKs,
//! towards the increase and still divides: growth is that many times the design's, eightfold where
//! the receiver stretches ACKs to eight. The increment is taken anew when the window changed or
//! 1/32 s passed. A timeout forgets everything. Linux 2.6.22 has the same law but sets its count of
//! ACKs to 0 at each increase.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "80 ms"
//! queue = { limit = "0.5 bdp" }
//! [[flow]]
//! variant = "bic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # References
//! Xu, Harfoush, Rhee, "Binary Increase Congestion Control for Fast Long-Distance Networks", 2004;
//! Linux 6.12 `tcp_bic`.

use super::{AckSample, CaState, CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param, Params};

/// BIC in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "bic",
        aliases: &[],
        summary: "binary search for the window between the last loss and the present",
        references: &[
            "Xu, Harfoush, Rhee 2004, Binary Increase Congestion Control for Fast Long-Distance \
             Networks",
            "Linux 6.12 net/ipv4/tcp_bic.c",
        ],
        params: &[
            Param {
                name: "fast_convergence",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "leave room for others after a loss below the last maximum",
            },
            Param {
                name: "max_increment",
                kind: Kind::Int(1, 1_000_000),
                default: "16",
                unit: "packets",
                help: "largest growth in a round",
            },
            Param {
                name: "low_window",
                kind: Kind::Int(0, 1_000_000),
                default: "14",
                unit: "packets",
                help: "Reno up to this window",
            },
            Param {
                name: "beta",
                kind: Kind::Int(1, 1024),
                default: "819",
                unit: "",
                help: "share of the window that a loss leaves, of 1024",
            },
            Param {
                name: "initial_ssthresh",
                kind: Kind::Int(0, 0x7fff_ffff),
                default: "0",
                unit: "packets",
                help: "slow-start threshold at the start; 0: none",
            },
            Param {
                name: "smooth_part",
                kind: Kind::Int(1, 1_000_000),
                default: "20",
                unit: "",
                help: "rounds to pass the last maximum in, times 4 packets",
            },
        ],
    },
    build: |params| Box::new(Bic::new(params)),
};

/// A share is of 1024.
const SHARE: u64 = 1024;
/// The search halves twice at once: a quarter of the distance a round.
const QUARTER: u32 = 4;
/// Two segments per ACK, in sixteenths.
const DELAYED_ACK: u32 = 2 << 4;

/// The state of BIC.
#[derive(Debug)]
struct Bic {
    fast_convergence: bool,
    max_increment: u32,
    low_window: u32,
    beta: u64,
    initial_ssthresh: u32,
    smooth_part: u32,
    /// Segments to be acknowledged for the next increase.
    cnt: u32,
    /// Window at the last loss, or less by fast convergence; 0 before one.
    last_max: u32,
    /// Window and time, in clock ticks, of the last update of `cnt`.
    last_update: (u32, u64),
    /// Segments per ACK in the running mean, sixteenths.
    delayed_ack: u32,
}

impl Bic {
    fn new(params: &Params) -> Bic {
        Bic {
            fast_convergence: params.bool("fast_convergence"),
            max_increment: params.int("max_increment") as u32,
            low_window: params.int("low_window") as u32,
            beta: params.int("beta") as u64,
            initial_ssthresh: params.int("initial_ssthresh") as u32,
            smooth_part: params.int("smooth_part") as u32,
            cnt: 0,
            last_max: 0,
            last_update: (0, 0),
            delayed_ack: DELAYED_ACK,
        }
    }

    fn reset(&mut self) {
        self.cnt = 0;
        self.last_max = 0;
        self.last_update = (0, 0);
        self.delayed_ack = DELAYED_ACK;
    }

    fn update(&mut self, cwnd: u32, tp: &Tp) {
        let now = tp.jiffies();
        if self.last_update.0 == cwnd && now - self.last_update.1 <= u64::from(tp.hz / 32) {
            return;
        }
        self.last_update = (cwnd, now);
        if cwnd <= self.low_window {
            self.cnt = cwnd;
            return;
        }
        let (max, step) = (self.last_max, self.max_increment);
        let plateau = cwnd.saturating_mul(self.smooth_part) / QUARTER;
        self.cnt = if cwnd < max {
            match (max - cwnd) / QUARTER {
                distance if distance > step => cwnd / step,
                0 | 1 => plateau,
                distance => cwnd / distance,
            }
        } else if cwnd < max + QUARTER {
            plateau
        } else if cwnd < max + step * (QUARTER - 1) {
            cwnd * (QUARTER - 1) / (cwnd - max)
        } else {
            cwnd / step
        };
        if max == 0 {
            self.cnt = self.cnt.min(20);
        }
        self.cnt = ((self.cnt << 4) / self.delayed_ack).max(1);
    }
}

impl CongestionControl for Bic {
    fn init(&mut self, tp: &mut Tp) {
        self.reset();
        if self.initial_ssthresh > 0 {
            tp.snd_ssthresh = self.initial_ssthresh.max(2);
        }
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        let cwnd = u64::from(tp.snd_cwnd);
        self.last_max = if self.fast_convergence && tp.snd_cwnd < self.last_max {
            (cwnd * (SHARE + self.beta) / (2 * SHARE)) as u32
        } else {
            tp.snd_cwnd
        };
        if tp.snd_cwnd <= self.low_window {
            tp.reno_ssthresh()
        } else {
            ((cwnd * self.beta / SHARE) as u32).max(2)
        }
    }

    fn min_cwnd(&self, tp: &Tp) -> u32 {
        tp.snd_ssthresh
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        let Some(left) = tp.left_after_slow_start(acked) else {
            return;
        };
        self.update(tp.snd_cwnd, tp);
        tp.cong_avoid_ai(self.cnt, left);
    }

    fn set_state(&mut self, _tp: &mut Tp, new: CaState) {
        if new == CaState::Loss {
            self.reset();
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if tp.ca_state == CaState::Open {
            self.delayed_ack = self.delayed_ack + sample.pkts_acked - (self.delayed_ack >> 4);
        }
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("last_max_pkts", f64::from(self.last_max)),
            ("cnt", f64::from(self.cnt)),
            ("pkts_per_ack", f64::from(self.delayed_ack) / 16.0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::cc_harness::{Sender, trace};

    #[test]
    fn keeps_819_of_1024_and_halves_small_windows() {
        for (cwnd, left) in [(1000, 799), (15, 11), (14, 7)] {
            let mut sender = Sender::new("bic", &[], 50_000);
            sender.tp.snd_cwnd = cwnd;
            sender.lose();
            assert_eq!(sender.tp.snd_cwnd, left);
        }
    }

    #[test]
    fn a_second_loss_below_the_maximum_lowers_it() {
        let mut sender = Sender::new("bic", &[], 50_000);
        sender.tp.snd_cwnd = 1000;
        sender.lose();
        sender.lose();
        // 799 · (1024 + 819) / 2048, cut.
        assert_eq!(sender.observed("last_max_pkts"), 719.0);
    }

    #[test]
    fn the_mean_of_segments_per_ack_rests_below_two_in_sixteenths() {
        let mut sender = Sender::new("bic", &[], 50_000);
        sender.rounds(4);
        // An ACK per segment: 31/16 gains one and loses one, so the cut mean stays far above one.
        assert_eq!(sender.observed("pkts_per_ack"), 31.0 / 16.0);
    }

    #[test]
    fn windows_by_rounds() {
        insta::assert_snapshot!(trace("bic", &[]), @r"
            20 40 80 160
            127 139 146 151 153 153 154 154 154 155 155 155 156
            124 129 133 133 133 134 134 134 135 135 136 136 136
            ");
    }
}
