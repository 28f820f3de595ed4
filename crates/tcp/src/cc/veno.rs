//! Veno: Reno that tells random loss from congestion by Vegas' backlog estimate.
//!
//! # What it does
//! At each ACK the backlog is estimated in half segments, N = 2·cwnd − 2·cwnd·base_rtt/rtt. Below
//! 2·beta = 6 the path is held for uncongested: the window grows by one segment a round and a loss,
//! which is then random by assumption, takes a fifth of it. From 6 on it grows by one segment every
//! other round and a loss takes half.
//!
//! Linux keeps `base_rtt` since the last idle time and takes `rtt` from the newest sample, not from
//! a round's minimum. Linux 2.6.22 ships the same law.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! loss = { model = "bernoulli", probability = 0.01 }
//! [[flow]]
//! variant = "veno"
//! ```
//!
//! # References
//! Fu, Liew, "TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks", 2003;
//! Linux 6.12 `tcp_veno`.

use super::vegas::{NO_RTT, RttRound};
use super::{AckSample, CaEvent, CaState, CongestionControl, Entry, Tp};
use trammel_core::entry::About;

/// Veno in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "veno",
        aliases: &[],
        summary: "Reno that cuts less where the queue was short: for random loss",
        references: &[
            "Fu, Liew 2003, TCP Veno: TCP Enhancement for Transmission Over Wireless Access \
             Networks",
            "Linux 6.12 net/ipv4/tcp_veno.c",
        ],
        params: &[],
    },
    build: |_| {
        Box::new(Veno {
            rtt: RttRound::new(),
            backlog: 0,
            is_growth_due: true,
            is_enabled: false,
        })
    },
};

/// Backlog from which on the path is held for congested: 3 segments, in half segments.
const CONGESTED: u32 = 6;

/// The state of Veno.
#[derive(Debug)]
struct Veno {
    rtt: RttRound,
    /// The estimate at the last ACK, half segments.
    backlog: u32,
    /// In the congested state, this round's end adds a segment and the next one's does not.
    is_growth_due: bool,
    /// Veno decides, not Reno: the state is Open.
    is_enabled: bool,
}

impl Veno {
    fn estimate_backlog(&mut self, cwnd: u32) {
        let cwnd = u64::from(cwnd) * 2;
        let target = cwnd * u64::from(self.rtt.base_rtt) / u64::from(self.rtt.min_rtt);
        self.backlog = cwnd.saturating_sub(target) as u32;
    }

    fn avoid_congestion(&mut self, tp: &mut Tp, acked: u32) {
        if self.backlog < CONGESTED {
            tp.cong_avoid_ai(tp.snd_cwnd, acked);
        } else if tp.snd_cwnd_cnt < tp.snd_cwnd {
            tp.snd_cwnd_cnt += acked;
        } else {
            // The ACK that finds the round complete is not counted towards the next one.
            tp.snd_cwnd_cnt = 0;
            if self.is_growth_due && tp.snd_cwnd < tp.snd_cwnd_clamp {
                tp.snd_cwnd += 1;
                self.is_growth_due = false;
            } else {
                self.is_growth_due = true;
            }
        }
    }
}

impl CongestionControl for Veno {
    fn init(&mut self, _tp: &mut Tp) {
        // The count of samples survives a restart: only the first two of a connection are
        // distrusted.
        self.rtt.base_rtt = NO_RTT;
        self.rtt.min_rtt = NO_RTT;
        self.is_growth_due = true;
        self.is_enabled = true;
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        if self.backlog < CONGESTED {
            (tp.snd_cwnd * 4 / 5).max(2)
        } else {
            tp.reno_ssthresh()
        }
    }

    fn min_cwnd(&self, tp: &Tp) -> u32 {
        tp.snd_ssthresh
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        if !self.is_enabled {
            tp.reno_cong_avoid(acked);
            return;
        }
        if !tp.is_cwnd_limited() {
            return;
        }
        if self.rtt.cnt_rtt <= 2 {
            tp.reno_cong_avoid(acked);
        } else {
            self.estimate_backlog(tp.snd_cwnd);
            let mut left = acked;
            if tp.in_slow_start() {
                left = tp.slow_start(acked);
            }
            if left > 0 {
                self.avoid_congestion(tp, left);
            }
            tp.snd_cwnd = tp.snd_cwnd.max(2).min(tp.snd_cwnd_clamp);
        }
        self.rtt.min_rtt = NO_RTT;
    }

    fn set_state(&mut self, _tp: &mut Tp, new: CaState) {
        self.is_enabled = new == CaState::Open;
        if self.is_enabled {
            self.rtt.min_rtt = NO_RTT;
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        if matches!(event, CaEvent::CwndRestart | CaEvent::TxStart) {
            self.init(tp);
        }
    }

    fn pkts_acked(&mut self, _tp: &mut Tp, sample: &AckSample) {
        self.rtt.sample(sample.rtt_us);
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("backlog_pkts", f64::from(self.backlog) / 2.0),
            ("base_rtt_us", f64::from(self.rtt.base_rtt)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::cc_harness::{Sender, trace};

    #[test]
    fn a_loss_takes_a_fifth_where_nothing_queues_and_half_where_much_does() {
        for (longer_us, left) in [(0, 80), (10_000, 50)] {
            let mut sender = Sender::new("veno", &[], 50_000);
            sender.rounds(1);
            sender.tp.snd_cwnd = 100;
            sender.tp.snd_ssthresh = 100;
            sender.rtt_us += longer_us;
            // The round in flight still has the old round trip.
            sender.round();
            sender.round();
            sender.tp.snd_cwnd = 100;
            sender.lose();
            assert_eq!(sender.tp.snd_cwnd, left);
        }
    }

    #[test]
    fn grows_every_other_round_where_much_queues() {
        let mut sender = Sender::new("veno", &[], 50_000);
        sender.rounds(1);
        sender.tp.snd_cwnd = 100;
        sender.tp.snd_ssthresh = 100;
        sender.rtt_us = 60_000;
        let windows = sender.rounds(40);
        let grown = windows[39] - windows[9];
        assert!((14..=15).contains(&grown), "{windows:?}");
    }

    #[test]
    fn windows_by_rounds() {
        insta::assert_snapshot!(trace("veno", &[]), @r"
            20 40 80 160
            128 129 130 131 132 133 134 135 136 137 138 139 140
            112 113 114 115 116 117 118 119 120 121 122 123 124
            ");
    }
}
