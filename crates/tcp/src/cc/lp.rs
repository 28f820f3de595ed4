//! TCP-LP: Reno that yields to everyone, told by the one-way delay.
//!
//! # What it does
//! Timestamps give the delay of the data path alone (up to an offset of the two clocks). When its
//! smoothed value is more than 15 % of the way from the least to the largest, others are present:
//! the window is halved and an inference phase of three round trips begins, without growth; a
//! second sign within it means a window of one segment.
//!
//! The clocks are compared by the kernel's arithmetic in 32 bits, so that the peer's random
//! timestamp offset matters as it does there. The smoothed delay is kept eightfold and thus loses
//! its three highest bits: with seven offsets of eight it is always far below the least delay, and
//! LP is Reno. With the others a delay that is not below the threshold counts as congestion, so
//! also one that equals both the least and the largest.
//!
//! # Example
//! ```toml
//! duration = "60 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { limit = "2 bdp" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "lp"
//! ```
//!
//! # References
//! Kuzmanovic, Knightly, "TCP-LP: low-priority service via end-point congestion control", 2006;
//! behaviour as in Linux 6.12.

use super::{AckSample, CongestionControl, Entry, Tp};
use trammel_core::entry::About;

/// TCP-LP in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "lp",
        aliases: &["tcp-lp"],
        summary: "Reno that yields to everyone, by one-way delay",
        references: &["Kuzmanovic, Knightly 2006", "Linux 6.12 net/ipv4/tcp_lp.c"],
        params: &[],
    },
    build: |_| Box::new(Lp::default()),
};

/// Ticks per second of our timestamps and of the delay.
const RESOLUTION_HZ: u32 = 1000;
/// Share of the delay's range that means congestion, per cent.
const THRESHOLD_PERCENT: u32 = 15;

/// Delays in ms modulo 2³².
#[derive(Debug)]
struct Lp {
    /// Smoothed one-way delay × 8.
    sowd: u32,
    owd_min: u32,
    owd_max: u32,
    /// The largest delay, of which only the second largest is believed.
    owd_max_reserve: u32,
    /// Rate of the peer's timestamp clock; 0 until measured.
    remote_hz: u32,
    remote_ref: u32,
    local_ref: u32,
    /// When the window was last reduced, ms; 0 for never.
    last_drop: u32,
    /// Length of the inference phase, ms.
    inference: u32,
    within_inference: bool,
}

impl Default for Lp {
    fn default() -> Lp {
        Lp {
            sowd: 0,
            owd_min: u32::MAX,
            owd_max: 0,
            owd_max_reserve: 0,
            remote_hz: 0,
            remote_ref: 0,
            local_ref: 0,
            last_drop: 0,
            inference: 0,
            within_inference: false,
        }
    }
}

impl Lp {
    /// Follows the peer's clock rate: a 64th of each error counts.
    fn measure_remote_hz(&mut self, tp: &Tp) {
        let mut scaled = i64::from(self.remote_hz) << 6;
        let referenced = self.remote_ref != 0 && self.local_ref != 0;
        let moved = tp.rcv_tsval != self.remote_ref && tp.rcv_tsecr != self.local_ref;
        if referenced && moved {
            let remote = tp.rcv_tsval.wrapping_sub(self.remote_ref);
            let local = tp.rcv_tsecr.wrapping_sub(self.local_ref);
            let hz = i64::from(RESOLUTION_HZ.wrapping_mul(remote) / local);
            scaled = if scaled > 0 {
                scaled + hz - (scaled >> 6)
            } else {
                hz << 6
            };
        }
        self.remote_ref = tp.rcv_tsval;
        self.local_ref = tp.rcv_tsecr;
        // The fraction is lost between two samples, as in the kernel: small errors upwards do not
        // count.
        self.remote_hz = (scaled >> 6) as u32;
    }

    fn one_way_delay(&mut self, tp: &Tp) -> Option<u32> {
        self.measure_remote_hz(tp);
        if self.remote_hz == 0 {
            return None;
        }
        let remote_ms = tp.rcv_tsval.wrapping_mul(RESOLUTION_HZ / self.remote_hz);
        Some(remote_ms.wrapping_sub(tp.rcv_tsecr)).filter(|owd| *owd > 0)
    }

    fn sample(&mut self, owd: u32) {
        self.owd_min = self.owd_min.min(owd);
        if owd > self.owd_max {
            if owd > self.owd_max_reserve {
                self.owd_max = match self.owd_max_reserve {
                    0 => owd,
                    second => second,
                };
                self.owd_max_reserve = owd;
            } else {
                self.owd_max = owd;
            }
        }
        self.sowd = if self.sowd == 0 {
            owd << 3
        } else {
            self.sowd.wrapping_add(owd.wrapping_sub(self.sowd >> 3))
        };
    }

    fn within_threshold(&self) -> bool {
        let range = self.owd_max.wrapping_sub(self.owd_min);
        let share = THRESHOLD_PERCENT.wrapping_mul(range) / 100;
        self.sowd >> 3 < self.owd_min.wrapping_add(share)
    }
}

impl CongestionControl for Lp {
    fn init(&mut self, _tp: &mut Tp) {
        *self = Lp::default();
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_ssthresh()
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        if !self.within_inference {
            tp.reno_cong_avoid(acked);
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        let now = (tp.now_us / 1000) as u32;
        if sample.rtt_us > 0
            && let Some(owd) = self.one_way_delay(tp)
        {
            self.sample(owd);
        }
        let round_trip = now.wrapping_sub(tp.rcv_tsecr);
        if round_trip as i32 > 0 {
            self.inference = round_trip.wrapping_mul(3);
        }
        self.within_inference =
            self.last_drop != 0 && now.wrapping_sub(self.last_drop) < self.inference;
        if self.within_threshold() {
            return;
        }
        // The range starts anew around the present delay, or a changed route would be taken for a
        // queue.
        self.owd_min = self.sowd >> 3;
        self.owd_max = self.sowd >> 2;
        self.owd_max_reserve = self.sowd >> 2;
        tp.snd_cwnd = if self.within_inference {
            1
        } else {
            (tp.snd_cwnd >> 1).max(1)
        };
        self.last_drop = now;
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("owd_ms", f64::from(self.sowd >> 3)),
            ("owd_min_ms", f64::from(self.owd_min)),
            ("remote_hz", f64::from(self.remote_hz)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    /// ACKs 20 ms apart over `delays_ms`, with a peer whose clock is `offset` ahead; returns the
    /// window after each.
    fn run(offset: u32, delays_ms: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut tp = Tp::new(1000, 1448, Rng::new(1, "flow"));
        tp.snd_ssthresh = 10;
        let mut cc = Lp::default();
        cc.init(&mut tp);
        let sample = AckSample {
            pkts_acked: 1,
            rtt_us: 50_000,
            in_flight: 1,
        };
        delays_ms
            .enumerate()
            .map(|(i, delay)| {
                let sent = 1000 + 20 * i as u32;
                tp.rcv_tsecr = sent;
                tp.rcv_tsval = offset.wrapping_add(sent + delay);
                tp.now_us = u64::from(sent + delay + 25) * 1000;
                cc.pkts_acked(&mut tp, &sample);
                tp.snd_cwnd
            })
            .collect()
    }

    /// 25 ms at first, then a queue that grows by 1 ms an ACK, slowly enough to leave the estimate
    /// of the peer's clock alone.
    fn rising_queue() -> impl Iterator<Item = u32> {
        std::iter::repeat_n(25, 50).chain(25..75)
    }

    #[test]
    fn the_first_delay_is_taken_for_congestion_as_it_is_not_below_itself() {
        let windows = run(0, std::iter::repeat_n(25, 100));
        assert_eq!(windows.last(), Some(&500));
    }

    #[test]
    fn a_growing_queue_halves_then_drops_to_one() {
        let mut tp = Tp::new(1000, 1448, Rng::new(1, "flow"));
        let mut cc = Lp {
            owd_min: 25,
            owd_max: 125,
            inference: 225,
            ..Lp::default()
        };
        let mut sign = |cc: &mut Lp, now_ms: u64, owd: u32| {
            tp.now_us = now_ms * 1000;
            tp.rcv_tsecr = tp.now_us as u32 / 1000 - 75;
            cc.sowd = owd << 3;
            let sample = AckSample {
                pkts_acked: 1,
                rtt_us: -1,
                in_flight: 1,
            };
            cc.pkts_acked(&mut tp, &sample);
            tp.snd_cwnd
        };
        // The threshold lies 15 % of the range above the least delay.
        assert_eq!(sign(&mut cc, 1000, 39), 1000);
        assert_eq!(sign(&mut cc, 1010, 40), 500);
        // Again within three round trips, the range having begun anew.
        assert_eq!(sign(&mut cc, 1050, 46), 1);
    }

    #[test]
    fn a_large_clock_offset_hides_the_queue() {
        let windows = run(0xc000_0000, rising_queue());
        assert!(windows.iter().all(|cwnd| *cwnd == 1000));
    }

    #[test]
    fn does_not_grow_within_the_inference_phase() {
        let mut tp = Tp::new(10, 1448, Rng::new(1, "flow"));
        tp.cwnd_limited = true;
        let mut cc = Lp {
            within_inference: true,
            ..Lp::default()
        };
        cc.cong_avoid(&mut tp, 1, 5);
        assert_eq!(tp.snd_cwnd, 10);
        cc.within_inference = false;
        cc.cong_avoid(&mut tp, 1, 5);
        assert_eq!(tp.snd_cwnd, 15);
    }
}
