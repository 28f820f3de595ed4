//! Westwood+: Reno that falls to the bandwidth-delay product it measured, not to half the window.
//!
//! # What it does
//! Bytes acknowledged in a window of time (longer than a round trip and than 50 ms) over its length
//! give a bandwidth sample; two cascaded filters smooth it:
//!
//! ```text
//! ns_est ← (7·ns_est + bytes/ticks) / 8        est ← (7·est + ns_est) / 8
//! ```
//!
//! When a window reduction ends, and at a timeout, `ssthresh` is est · rtt_min / mss, at least 2;
//! the end of a reduction sets the window to it too. The window grows as Reno's. A duplicate ACK
//! counts a segment and the cumulative ACK that follows is relieved of what was counted. `rtt_min`
//! starts anew after a timeout. Times are in clock ticks, round trips rounded up.
//!
//! Dialect `linux-2.6` is the module of Linux 2.6.22: round trips are the smoothed ones, and a
//! timeout takes half the window as Reno does (the module waited for an event that only F-RTO, off
//! by default, sent).
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! loss = { model = "gilbert-elliott", p = 0.002, r = 0.2 }
//! [[flow]]
//! variant = "westwood"
//! ```
//!
//! # References
//! Mascolo et al., "TCP Westwood: Bandwidth Estimation for Enhanced Transport over Wireless Links",
//! 2001; Grieco, Mascolo 2004 (Westwood+); Linux 6.12 `tcp_westwood`.

use super::{AckFlags, AckSample, CaEvent, CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param};

/// Westwood+ in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "westwood",
        aliases: &["westwood+"],
        summary: "falls to the measured bandwidth times the smallest round trip",
        references: &[
            "Mascolo, Casetti, Gerla, Sanadidi, Wang 2001, TCP Westwood",
            "Grieco, Mascolo 2004, Performance Evaluation and Comparison of Westwood+, New Reno \
             and Vegas",
            "Linux 6.12 net/ipv4/tcp_westwood.c",
        ],
        params: &[Param {
            name: "dialect",
            kind: Kind::Choice(&["linux", "linux-2.6"]),
            default: "linux",
            unit: "",
            help: "Linux 6.12, or Linux 2.6.22 with smoothed round trips and Reno's answer to \
                   timeouts",
        }],
    },
    build: |params| {
        Box::new(Westwood {
            is_2_6: params.text("dialect") == "linux-2.6",
            ..Westwood::default()
        })
    },
};

/// The state of Westwood+. Bandwidths are bytes a clock tick, times are ticks.
#[derive(Debug, Default)]
struct Westwood {
    is_2_6: bool,
    /// After the first filter.
    bw_ns_est: u32,
    /// After both filters.
    bw_est: u32,
    /// When the present sample began.
    sample_start: u64,
    /// Bytes acknowledged in the present sample.
    sample_bytes: u32,
    /// `snd_una` at the last ACK.
    snd_una: u32,
    /// Bytes counted for duplicate ACKs and not yet covered by a cumulative one.
    accounted: u32,
    /// The newest round trip.
    rtt: u32,
    /// The smallest round trip since the last timeout.
    rtt_min: u32,
    is_first_ack: bool,
    is_rtt_min_stale: bool,
}

impl Westwood {
    fn close_sample(&mut self, tp: &Tp) {
        // The first ACK may cover the SYN; counting starts behind it.
        if self.is_first_ack {
            self.snd_una = tp.snd_una;
            self.is_first_ack = false;
        }
        let now = tp.jiffies();
        let elapsed = (now - self.sample_start) as u32;
        if self.rtt == 0 || elapsed <= self.rtt.max(tp.hz / 20) {
            return;
        }
        let sample = self.sample_bytes / elapsed;
        if self.bw_ns_est == 0 && self.bw_est == 0 {
            (self.bw_ns_est, self.bw_est) = (sample, sample);
        } else {
            self.bw_ns_est = (7 * self.bw_ns_est + sample) >> 3;
            self.bw_est = (7 * self.bw_est + self.bw_ns_est) >> 3;
        }
        self.sample_bytes = 0;
        self.sample_start = now;
    }

    /// Bytes for an ACK off the fast path, with duplicate ACKs counted as a segment each.
    fn bytes_of_ack(&mut self, tp: &Tp) -> u32 {
        let advanced = tp.snd_una.wrapping_sub(self.snd_una);
        if advanced == 0 {
            self.accounted += tp.mss;
            tp.mss
        } else if advanced <= tp.mss {
            advanced
        } else if self.accounted >= advanced {
            self.accounted -= advanced;
            tp.mss
        } else {
            advanced - std::mem::take(&mut self.accounted)
        }
    }

    /// The estimated bandwidth-delay product, segments.
    fn bdp(&self, tp: &Tp) -> u32 {
        (self.bw_est.wrapping_mul(self.rtt_min) / tp.mss).max(2)
    }
}

impl CongestionControl for Westwood {
    fn init(&mut self, tp: &mut Tp) {
        // Twenty seconds stand for "no sample yet".
        let no_rtt = 20 * tp.hz;
        *self = Westwood {
            is_2_6: self.is_2_6,
            sample_start: tp.jiffies(),
            snd_una: tp.snd_una,
            rtt: no_rtt,
            rtt_min: no_rtt,
            is_first_ack: true,
            is_rtt_min_stale: true,
            ..Westwood::default()
        };
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_ssthresh()
    }

    fn min_cwnd(&self, tp: &Tp) -> u32 {
        self.bdp(tp)
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        tp.reno_cong_avoid(acked);
    }

    fn in_ack_event(&mut self, tp: &mut Tp, flags: AckFlags) {
        self.close_sample(tp);
        self.sample_bytes += if flags.fast_path {
            tp.snd_una.wrapping_sub(self.snd_una)
        } else {
            self.bytes_of_ack(tp)
        };
        self.snd_una = tp.snd_una;
        self.rtt_min = if std::mem::take(&mut self.is_rtt_min_stale) {
            self.rtt
        } else {
            self.rtt.min(self.rtt_min)
        };
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if self.is_2_6 {
            if sample.pkts_acked > 0 {
                // That kernel kept round trips in ticks, of at least one.
                let ticks = u64::from(tp.srtt_us >> 3) * u64::from(tp.hz) / 1_000_000;
                self.rtt = (ticks as u32).max(1);
            }
        } else if sample.rtt_us > 0 {
            self.rtt = tp.us_to_jiffies(sample.rtt_us as u64) as u32;
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        match event {
            CaEvent::CompleteCwr => {
                tp.snd_ssthresh = self.bdp(tp);
                tp.snd_cwnd = tp.snd_ssthresh;
            }
            CaEvent::Loss if !self.is_2_6 => {
                tp.snd_ssthresh = self.bdp(tp);
                self.is_rtt_min_stale = true;
            }
            _ => {}
        }
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("bw_bytes_per_tick", f64::from(self.bw_est)),
            ("rtt_min_ticks", f64::from(self.rtt_min)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::cc_harness::{Sender, trace};

    #[test]
    fn falls_to_the_bandwidth_delay_product() {
        let mut sender = Sender::new("westwood", &[], 100_000);
        // 500 segments/s over 100 ms: 50 segments; the window of 80 keeps 30 queued.
        sender.service_us = 2_000;
        sender.tp.snd_cwnd = 80;
        sender.tp.snd_ssthresh = 80;
        for _ in 0..40 {
            sender.round();
            sender.tp.snd_cwnd = 80;
        }
        sender.lose();
        // The filters cut fractions, the round trip is rounded up.
        assert!(
            (46..=51).contains(&sender.tp.snd_cwnd),
            "{}",
            sender.tp.snd_cwnd
        );
        assert_eq!(sender.tp.snd_ssthresh, sender.tp.snd_cwnd);
    }

    #[test]
    fn takes_a_new_smallest_round_trip_after_a_timeout() {
        let mut sender = Sender::new("westwood", &[], 100_000);
        sender.rounds(3);
        assert_eq!(sender.observed("rtt_min_ticks"), 100.0);
        sender.rtt_us = 150_000;
        sender.rounds(3);
        assert_eq!(sender.observed("rtt_min_ticks"), 100.0);
        sender.timeout();
        sender.rounds(1);
        assert_eq!(sender.observed("rtt_min_ticks"), 150.0);
    }

    #[test]
    fn windows_by_rounds() {
        insta::assert_snapshot!(trace("westwood", &[]), @r"
            20 40 80 160
            4 5 6 7 8 9 10 11 12 13 14 15 16
            12 13 14 15 16 17 18 19 20 21 22 23 24
            ");
    }
}
