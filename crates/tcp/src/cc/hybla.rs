//! Hybla: the growth of a connection with a 25 ms round trip, whatever the real one.
//!
//! # What it does
//! With rho = rtt/rtt0, at least 1 and in eighths, an ACK adds 2^rho − 1 segments in slow start and
//! rho²/w in congestion avoidance, so that the *rate* grows as that of a flow with round trip rtt0.
//! Fractions of a segment are kept in 128ths. The first window is rho segments and the largest
//! 65535; rho follows the smallest smoothed round trip. Losses halve, and outside the Open state
//! the window grows as Reno's.
//!
//! Two traits of Linux are kept: an ACK counts once however many segments it covers, and where
//! rho²/w falls below 1/128 the growth is one segment per `cwnd` ACKs. Linux 2.6.22 differs in the
//! grain of the round trip only (clock ticks, not microseconds).
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "600 ms"
//! queue = { limit = "1 bdp" }
//! loss = { model = "bernoulli", probability = 0.001 }
//! [[flow]]
//! variant = "hybla"
//! ```
//!
//! # References
//! Caini, Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", 2004; Linux 6.12
//! `tcp_hybla`.

use super::{CaState, CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param};

/// Hybla in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "hybla",
        aliases: &[],
        summary: "grows as a flow of 25 ms would: for satellite paths",
        references: &[
            "Caini, Firrincieli 2004, TCP Hybla: a TCP enhancement for heterogeneous networks",
            "Linux 6.12 net/ipv4/tcp_hybla.c",
        ],
        params: &[Param {
            name: "rtt0",
            kind: Kind::Int(1, 1_000_000),
            default: "25",
            unit: "ms",
            help: "the reference round trip",
        }],
    },
    build: |params| {
        Box::new(Hybla {
            rtt0_us: params.int("rtt0") as u32 * 1000,
            rho_eighths: 0,
            rho2_128ths: 0,
            min_srtt_us: 0,
            cwnd_128ths: 0,
            is_enabled: false,
        })
    },
};

/// 128 · 2^(i/8), for the fraction of rho in the exponent.
const EIGHTH_POWERS: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

/// The state of Hybla.
#[derive(Debug)]
struct Hybla {
    rtt0_us: u32,
    /// rho in eighths, at least 8.
    rho_eighths: u32,
    /// rho² in 128ths.
    rho2_128ths: u32,
    /// Smallest smoothed round trip, µs × 8.
    min_srtt_us: u32,
    /// Fraction of the window, 128ths of a segment.
    cwnd_128ths: u32,
    /// Hybla decides, not Reno: the state is Open.
    is_enabled: bool,
}

impl Hybla {
    fn take_rho(&mut self, tp: &Tp) {
        // The smoothed round trip is kept in eighths already.
        self.rho_eighths = (tp.srtt_us / self.rtt0_us).max(8);
        self.rho2_128ths = self.rho_eighths.wrapping_mul(self.rho_eighths) << 1;
        self.min_srtt_us = tp.srtt_us;
    }

    /// 2^rho − 1 in 128ths of a segment.
    fn slow_start_increment(&self) -> u32 {
        let (whole, eighth) = (self.rho_eighths >> 3, self.rho_eighths & 7);
        // The exponent is bounded so that the product fits.
        (1 << whole.min(16)) * EIGHTH_POWERS[eighth as usize] - 128
    }
}

impl CongestionControl for Hybla {
    fn init(&mut self, tp: &mut Tp) {
        self.cwnd_128ths = 0;
        self.is_enabled = true;
        tp.snd_cwnd_clamp = 65_535;
        self.take_rho(tp);
        tp.snd_cwnd = self.rho_eighths >> 3;
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_ssthresh()
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        if tp.srtt_us < self.min_srtt_us {
            self.take_rho(tp);
        }
        if !tp.is_cwnd_limited() {
            return;
        }
        if !self.is_enabled {
            tp.reno_cong_avoid(acked);
            return;
        }
        let is_slow_start = tp.snd_cwnd < tp.snd_ssthresh;
        let increment = if is_slow_start {
            self.slow_start_increment()
        } else {
            self.rho2_128ths / tp.snd_cwnd
        };
        if !is_slow_start && increment < 128 {
            tp.snd_cwnd_cnt += 1;
        }
        tp.snd_cwnd += increment >> 7;
        self.cwnd_128ths += increment & 127;
        if self.cwnd_128ths >= 128 {
            tp.snd_cwnd += self.cwnd_128ths >> 7;
            self.cwnd_128ths &= 127;
            tp.snd_cwnd_cnt = 0;
        }
        if increment == 0 && tp.snd_cwnd_cnt >= tp.snd_cwnd {
            tp.snd_cwnd += 1;
            tp.snd_cwnd_cnt = 0;
        }
        if is_slow_start {
            tp.snd_cwnd = tp.snd_cwnd.min(tp.snd_ssthresh);
        }
        tp.snd_cwnd = tp.snd_cwnd.min(tp.snd_cwnd_clamp);
    }

    fn set_state(&mut self, _tp: &mut Tp, new: CaState) {
        self.is_enabled = new == CaState::Open;
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![("rho", f64::from(self.rho_eighths) / 8.0)]
    }
}

#[cfg(test)]
mod tests {
    use crate::cc_harness::{Sender, trace};

    #[test]
    fn starts_with_rho_segments_and_grows_two_to_the_rho_fold() {
        for (rtt_us, rho) in [(10_000, 1.0), (25_000, 1.0), (50_000, 2.0), (87_500, 3.5)] {
            let mut sender = Sender::new("hybla", &[], rtt_us);
            assert_eq!(sender.observed("rho"), rho);
            assert_eq!(sender.tp.snd_cwnd, rho as u32);
            // Each ACK of the first window adds 2^rho − 1 segments, in 128ths with a cut table.
            let first = f64::from(sender.tp.snd_cwnd);
            sender.round();
            let expected = first * rho.exp2();
            assert!(
                (f64::from(sender.tp.snd_cwnd) - expected).abs() < 1.0,
                "{rtt_us}"
            );
        }
    }

    /// ACKs that add the next segment to a window of `cwnd` at twice the reference round trip.
    fn acks_for_one(cwnd: u32) -> u32 {
        let mut sender = Sender::new("hybla", &[], 50_000);
        sender.tp.cwnd_limited = true;
        sender.tp.snd_cwnd = cwnd;
        sender.tp.snd_ssthresh = 2;
        let mut acks = 0;
        while sender.tp.snd_cwnd == cwnd {
            sender.cc.cong_avoid(&mut sender.tp, 0, 1);
            acks += 1;
        }
        acks
    }

    #[test]
    fn adds_rho_squared_a_window_in_whole_128ths() {
        // 4/w in 128ths, cut: 5 at 100, 1 from 257 to 512, nothing beyond; there one per window.
        assert_eq!(acks_for_one(100), 26);
        assert_eq!(acks_for_one(420), 128);
        assert_eq!(acks_for_one(512), 128);
        assert_eq!(acks_for_one(600), 600);
    }

    #[test]
    fn windows_by_rounds() {
        insta::assert_snapshot!(trace("hybla", &[]), @r"
            8 32 128 512
            256 258 260 262 264 266 268 270 272 275 277 279 281
            140 143 147 150 154 157 161 165 169 172 175 177 180
            ");
    }
}
