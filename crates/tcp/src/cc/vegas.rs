//! Vegas: keeps two to four segments queued, measured once a round by the round's smallest RTT.
//!
//! # What it does
//! `base_rtt` is the smallest round trip seen since the last idle time, `rtt` the smallest of the
//! round that just ended. Once a round, given three samples,
//!
//! ```text
//! target = cwnd · base_rtt / rtt          the window that would leave the queue empty
//! diff   = cwnd · (rtt − base_rtt) / base_rtt     segments queued, in units of the base RTT
//! slow start:            diff > gamma  →  cwnd = min(cwnd, target + 1), slow start ends
//! congestion avoidance:  diff > beta   →  cwnd − 1
//!                        diff < alpha  →  cwnd + 1
//! ```
//!
//! Losses are answered as Reno does, and outside the Open state the window grows as Reno's. Linux
//! doubles every round trip in slow start, not every other one as the paper does, and forgets
//! `base_rtt` when the connection sends again after an idle time. It does not ask whether the flow
//! uses its window.
//!
//! Dialect `linux-2.6` is the module of Linux 2.6.22: the backlog is w · (1 − base_rtt/rtt) as in
//! the paper, counted in half segments, where w is what was sent between the beginnings of the last
//! two rounds and not the window; the window moves from that of the last round; the end of slow
//! start sets `ssthresh` to 2, after which the ACK still adds its segment.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! queue = { limit = "2 bdp" }
//! [[flow]]
//! variant = "vegas"
//! [[flow]]
//! variant = "vegas"
//! ```
//!
//! # References
//! Brakmo, Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", 1995;
//! Linux 6.12 `tcp_vegas`.

use super::{AckSample, CaEvent, CaState, CongestionControl, Entry, Tp};
use std::cmp::Ordering;
use trammel_core::entry::{About, Kind, Param, Params};

/// Vegas in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "vegas",
        aliases: &[],
        summary: "holds a few segments in the queue by the round-trip time",
        references: &[
            "Brakmo, Peterson 1995, TCP Vegas: End to End Congestion Avoidance on a Global \
             Internet",
            "Linux 6.12 net/ipv4/tcp_vegas.c",
        ],
        params: &[
            Param {
                name: "dialect",
                kind: Kind::Choice(&["linux", "linux-2.6"]),
                default: "linux",
                unit: "",
                help: "Linux 6.12, or Linux 2.6.22, which judges what was sent, in half segments",
            },
            Param {
                name: "alpha",
                kind: Kind::Int(0, 1_000_000),
                default: "2",
                unit: "packets",
                help: "fewer segments queued than this: grow",
            },
            Param {
                name: "beta",
                kind: Kind::Int(0, 1_000_000),
                default: "4",
                unit: "packets",
                help: "more segments queued than this: shrink",
            },
            Param {
                name: "gamma",
                kind: Kind::Int(0, 1_000_000),
                default: "1",
                unit: "packets",
                help: "more segments queued than this end slow start",
            },
        ],
    },
    build: |params| Box::new(Vegas::new(params)),
};

/// The value of a minimum before its first sample.
pub(crate) const NO_RTT: u32 = 0x7fff_ffff;

/// Round-trip times by rounds, where a round ends when data sent after its beginning is
/// acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttRound {
    /// Smallest round trip since the creation, µs.
    pub base_rtt: u32,
    /// Smallest round trip of this round, µs.
    pub min_rtt: u32,
    /// Samples in this round.
    pub cnt_rtt: u32,
    /// `snd_nxt` when the round began: an ACK beyond it ends the round.
    pub beg_snd_nxt: u32,
}

impl RttRound {
    /// No sample yet.
    pub(crate) fn new() -> RttRound {
        RttRound {
            base_rtt: NO_RTT,
            min_rtt: NO_RTT,
            cnt_rtt: 0,
            beg_snd_nxt: 0,
        }
    }

    /// Begins a round at the next segment to be sent, without samples; `base_rtt` stays.
    pub(crate) fn enable(&mut self, tp: &Tp) {
        self.beg_snd_nxt = tp.snd_nxt;
        self.forget_round();
    }

    /// Counts a sample. The microsecond that is added keeps the divisors above zero.
    pub(crate) fn sample(&mut self, rtt_us: i32) {
        let Ok(rtt) = u32::try_from(rtt_us) else {
            return;
        };
        let rtt = rtt + 1;
        self.base_rtt = self.base_rtt.min(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
        self.cnt_rtt += 1;
    }

    /// Whether `ack` ends the round.
    pub(crate) fn is_over(&self, ack: u32) -> bool {
        (self.beg_snd_nxt.wrapping_sub(ack) as i32) < 0
    }

    /// Drops this round's samples.
    pub(crate) fn forget_round(&mut self) {
        self.cnt_rtt = 0;
        self.min_rtt = NO_RTT;
    }
}

/// The state of Vegas.
#[derive(Debug)]
struct Vegas {
    is_2_6: bool,
    alpha: u64,
    beta: u64,
    gamma: u64,
    rtt: RttRound,
    /// Where the round before the present one began, and the window then; `linux-2.6` only.
    last_round: (u32, u32),
    /// Vegas decides, not Reno: the state is Open.
    is_enabled: bool,
}

impl Vegas {
    fn new(params: &Params) -> Vegas {
        Vegas {
            is_2_6: params.text("dialect") == "linux-2.6",
            alpha: params.int("alpha") as u64,
            beta: params.int("beta") as u64,
            gamma: params.int("gamma") as u64,
            rtt: RttRound::new(),
            last_round: (0, 0),
            is_enabled: false,
        }
    }

    /// The decision at the end of a round as Linux 2.6.22 takes it.
    fn end_round_2_6(&mut self, tp: &mut Tp, acked: u32) {
        let (began, old_cwnd) = self.last_round;
        let sent = u64::from(self.rtt.beg_snd_nxt.wrapping_sub(began) / tp.mss);
        self.last_round = (self.rtt.beg_snd_nxt, tp.snd_cwnd);
        if self.rtt.cnt_rtt <= 2 {
            tp.reno_cong_avoid(acked);
            return;
        }
        let target = 2 * sent * u64::from(self.rtt.base_rtt) / u64::from(self.rtt.min_rtt);
        let diff = 2 * sent - target;
        if tp.in_slow_start() {
            if diff > 2 * self.gamma {
                tp.snd_ssthresh = 2;
                tp.snd_cwnd = u64::from(tp.snd_cwnd).min(target / 2 + 1) as u32;
            }
            // Not bounded by the threshold just set.
            tp.snd_cwnd += acked;
        } else {
            let wanted = if diff > 2 * self.beta {
                old_cwnd.saturating_sub(1)
            } else {
                old_cwnd + u32::from(diff < 2 * self.alpha)
            };
            tp.snd_cwnd = match wanted.cmp(&tp.snd_cwnd) {
                Ordering::Less => tp.snd_cwnd - 1,
                Ordering::Equal => tp.snd_cwnd,
                Ordering::Greater => tp.snd_cwnd + 1,
            };
        }
        tp.snd_cwnd = tp.snd_cwnd.max(2).min(tp.snd_cwnd_clamp);
    }

    /// The decision at the end of a round.
    fn end_round(&mut self, tp: &mut Tp, acked: u32) {
        // With one or two samples the minimum may be a delayed ACK's, which says nothing of the
        // queue.
        if self.rtt.cnt_rtt <= 2 {
            tp.reno_cong_avoid(acked);
            return;
        }
        let (cwnd, base) = (u64::from(tp.snd_cwnd), u64::from(self.rtt.base_rtt));
        let rtt = u64::from(self.rtt.min_rtt);
        let target = cwnd * base / rtt;
        let diff = cwnd * (rtt - base) / base;
        if tp.in_slow_start() {
            if diff > self.gamma {
                tp.snd_cwnd = tp.snd_cwnd.min(target as u32 + 1);
                tp.snd_ssthresh = tp.snd_ssthresh.min(tp.snd_cwnd.max(2));
            } else {
                tp.slow_start(acked);
            }
        } else if diff > self.beta {
            tp.snd_cwnd = tp.snd_cwnd.saturating_sub(1);
            tp.snd_ssthresh = tp.snd_ssthresh.min(tp.snd_cwnd.max(2));
        } else if diff < self.alpha {
            tp.snd_cwnd += 1;
        }
        tp.snd_cwnd = tp.snd_cwnd.max(2).min(tp.snd_cwnd_clamp);
        tp.snd_ssthresh = current_ssthresh(tp);
    }
}

/// The threshold that a restart would keep: three quarters of the window at least, outside a
/// reduction.
pub(crate) fn current_ssthresh(tp: &Tp) -> u32 {
    if matches!(tp.ca_state, CaState::Cwr | CaState::Recovery) {
        tp.snd_ssthresh
    } else {
        tp.snd_ssthresh.max((tp.snd_cwnd >> 1) + (tp.snd_cwnd >> 2))
    }
}

impl CongestionControl for Vegas {
    fn init(&mut self, tp: &mut Tp) {
        // Differs from Linux 2.6.22, whose first round begins at sequence number 0 wherever the
        // stream does.
        self.last_round = (tp.snd_nxt, tp.snd_cwnd);
        self.rtt = RttRound::new();
        self.rtt.enable(tp);
        self.is_enabled = true;
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_ssthresh()
    }

    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32) {
        if !self.is_enabled {
            tp.reno_cong_avoid(acked);
        } else if self.rtt.is_over(ack) {
            if self.is_2_6 {
                self.end_round_2_6(tp, acked);
            } else {
                self.end_round(tp, acked);
            }
            self.rtt.beg_snd_nxt = tp.snd_nxt;
            self.rtt.forget_round();
        } else if tp.in_slow_start() {
            tp.slow_start(acked);
        }
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        self.is_enabled = new == CaState::Open;
        if self.is_enabled {
            self.rtt.enable(tp);
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        // After an idle time neither the old base RTT nor the old round says anything of the path.
        if matches!(event, CaEvent::CwndRestart | CaEvent::TxStart) {
            self.init(tp);
        }
    }

    fn pkts_acked(&mut self, _tp: &mut Tp, sample: &AckSample) {
        self.rtt.sample(sample.rtt_us);
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("base_rtt_us", f64::from(self.rtt.base_rtt)),
            ("min_rtt_us", f64::from(self.rtt.min_rtt)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::cc_harness::{Sender, trace};

    #[test]
    fn keeps_between_alpha_and_beta_segments_in_the_queue() {
        let mut sender = Sender::new("vegas", &[], 50_000);
        // 1000 segments/s over 50 ms: 50 segments fill the path.
        sender.service_us = 1_000;
        sender.rounds(120);
        assert!(
            (50 + 2..=50 + 5).contains(&sender.tp.snd_cwnd),
            "{}",
            sender.tp.snd_cwnd
        );
        let settled = sender.tp.snd_cwnd;
        assert_eq!(sender.rounds(20), [settled; 20]);
        // Its own lower bound of ten segments moves the window by as much.
        let mut sender = Sender::new("vegas", &[("alpha", "10"), ("beta", "12")], 50_000);
        sender.service_us = 1_000;
        sender.rounds(120);
        assert!(
            (60..=63).contains(&sender.tp.snd_cwnd),
            "{}",
            sender.tp.snd_cwnd
        );
    }

    #[test]
    fn leaves_slow_start_when_a_segment_queues() {
        let mut sender = Sender::new("vegas", &[], 50_000);
        sender.rounds(3);
        assert!(sender.tp.in_slow_start());
        // Longer by a tenth: 80 segments seem to have eight queued.
        sender.rtt_us = 55_000;
        sender.rounds(3);
        assert!(!sender.tp.in_slow_start());
    }

    #[test]
    fn forgets_the_base_rtt_after_an_idle_time() {
        let mut sender = Sender::new("vegas", &[], 50_000);
        sender.rounds(2);
        sender.idle(10_000_000);
        sender.rtt_us = 80_000;
        sender.rounds(1);
        assert_eq!(sender.observed("base_rtt_us"), 80_001.0);
    }

    #[test]
    fn windows_by_rounds() {
        insta::assert_snapshot!(trace("vegas", &[]), @r"
            20 40 80 160
            80 80 81 82 83 84 85 86 87 88 89 90 91
            45 45 46 47 48 49 50 51 52 53 54 55 56
            ");
    }
}
