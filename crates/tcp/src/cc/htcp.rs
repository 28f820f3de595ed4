//! H-TCP: the longer since the last loss, the faster the growth.
//!
//! # What it does
//! With Δ seconds since the last congestion the window grows by α segments a round trip, and a loss
//! multiplies it by β:
//!
//! ```text
//! α = 2(1 − β) × f(Δ),   f = 1 for Δ ≤ 1 s, else 1 + 10(Δ − 1) + ((Δ − 1)/2)²
//! β = RTTmin/RTTmax in [0.5, 0.8],   0.5 while throughput before losses varies by more than a fifth
//! ```
//!
//! RTT scaling divides f by 0.1 s/RTTmin, kept in \[0.5, 10\], so that flows of different round
//! trips grow alike in time. Times are whole clock ticks, as in the kernel.
//!
//! Dialect `linux-2.6` is the module of Linux 2.6.22: round trips are the smoothed ones, the
//! longest is not learnt in the first slow start nor within three rounds of a loss, and Δ counts
//! from the end of recovery.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "80 ms"
//! queue = { limit = "0.5 bdp" }
//! [[flow]]
//! variant = "htcp"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! `use_rtt_scaling`, `use_bandwidth_switch`: as in the kernel's module.
//!
//! # References
//! Leith, Shorten, "H-TCP: TCP for high-speed and long-distance networks", 2004;
//! draft-leith-tcp-htcp-06; behaviour as in Linux 6.12.

use super::{AckSample, CaState, CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param};

/// H-TCP in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "htcp",
        aliases: &["h-tcp"],
        summary: "the longer since the last loss, the faster the growth",
        references: &[
            "Leith, Shorten 2004",
            "draft-leith-tcp-htcp-06",
            "Linux 6.12 net/ipv4/tcp_htcp.c",
        ],
        params: &[
            Param {
                name: "dialect",
                kind: Kind::Choice(&["linux", "linux-2.6"]),
                default: "linux",
                unit: "",
                help: "Linux 6.12, or Linux 2.6.22 with smoothed round trips and Δ from the end of \
                       recovery",
            },
            Param {
                name: "use_rtt_scaling",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "scale the growth by the round-trip time",
            },
            Param {
                name: "use_bandwidth_switch",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "halve where the throughput before losses changed by more than a fifth",
            },
        ],
    },
    build: |params| {
        Box::new(Htcp {
            is_2_6: params.text("dialect") == "linux-2.6",
            use_rtt_scaling: params.bool("use_rtt_scaling"),
            use_bandwidth_switch: params.bool("use_bandwidth_switch"),
            ..Htcp::default()
        })
    },
};

/// α and β are kept in 128ths.
const SHIFT: u32 = 7;
const ALPHA_BASE: u64 = 1 << SHIFT;
const BETA_MIN: u64 = 1 << (SHIFT - 1);
/// 0.8 in 128ths.
const BETA_MAX: u64 = 102;

/// What a reduction overwrites, kept until it is known to be real.
#[derive(Clone, Copy, Debug)]
struct Undo {
    last_cong: u64,
    max_rtt: u64,
    old_max_b: u32,
}

/// Times in clock ticks, throughputs in segments per second.
#[derive(Debug, Default)]
struct Htcp {
    is_2_6: bool,
    use_rtt_scaling: bool,
    use_bandwidth_switch: bool,
    alpha: u64,
    beta: u64,
    /// The adaptive β may be used at the next loss.
    adaptive: bool,
    /// Segments that the next call of `cong_avoid` counts.
    pkts_acked: u32,
    min_rtt: u64,
    max_rtt: u64,
    last_cong: u64,
    undo: Option<Undo>,
    packetcount: u32,
    /// When the running throughput measurement began; none before the first one ended.
    lasttime: Option<u64>,
    min_b: u32,
    max_b: u32,
    old_max_b: u32,
    bi: u32,
}

/// The smoothed round trip in whole clock ticks, as Linux 2.6 keeps it.
fn smoothed_ticks(tp: &Tp) -> u64 {
    u64::from(tp.srtt_us >> 3) * u64::from(tp.hz) / 1_000_000
}

impl Htcp {
    fn measure_rtt(&mut self, tp: &Tp, rtt: u64) {
        if self.min_rtt > rtt || self.min_rtt == 0 {
            self.min_rtt = rtt;
        }
        // Linux 2.6.22 leaves out the first slow start and the rounds just after a back-off.
        let is_steady = !self.is_2_6
            || (tp.snd_ssthresh < 0xffff
                && (tp.jiffies() - self.last_cong) / self.min_rtt.max(1) > 3);
        if tp.ca_state == CaState::Open && is_steady {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            // A jump of more than 20 ms is taken for an outlier.
            let credible = self.max_rtt + u64::from(tp.hz) / 50;
            if self.max_rtt < rtt && rtt <= credible {
                self.max_rtt = rtt;
            }
        }
    }

    fn measure_throughput(&mut self, tp: &Tp, pkts_acked: u32) {
        let now = tp.jiffies();
        if !matches!(tp.ca_state, CaState::Open | CaState::Disorder) {
            self.packetcount = 0;
            self.lasttime = Some(now);
            return;
        }
        self.packetcount += pkts_acked;
        let step = ((self.alpha >> SHIFT) as u32).max(1);
        // The kernel's first interval began when its tick counter was zero, long ago.
        let elapsed = self.lasttime.map_or(u64::MAX, |last| now - last);
        let whole_window = self.packetcount >= tp.snd_cwnd.wrapping_sub(step);
        if !whole_window || elapsed < self.min_rtt || self.min_rtt == 0 {
            return;
        }
        let current = u64::from(self.packetcount) * u64::from(tp.hz) / elapsed.max(1);
        let current = current as u32;
        if (now - self.last_cong) / self.min_rtt <= 3 {
            // Just after a back-off.
            self.min_b = current;
            self.max_b = current;
            self.bi = current;
        } else {
            self.bi = (3 * self.bi + current) / 4;
            self.max_b = self.max_b.max(self.bi);
            self.min_b = self.min_b.min(self.max_b);
        }
        self.packetcount = 0;
        self.lasttime = Some(now);
    }

    fn update_beta(&mut self, hz: u64) {
        if self.use_bandwidth_switch {
            let (new, old) = (u64::from(self.max_b), u64::from(self.old_max_b));
            self.old_max_b = self.max_b;
            if !(4 * old..=6 * old).contains(&(5 * new)) {
                self.beta = BETA_MIN;
                self.adaptive = false;
                return;
            }
        }
        if self.adaptive && self.min_rtt > hz / 100 && self.max_rtt > 0 {
            self.beta = ((self.min_rtt << SHIFT) / self.max_rtt).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.adaptive = true;
        }
    }

    fn update_alpha(&mut self, tp: &Tp) {
        let hz = u64::from(tp.hz);
        let mut factor = 1;
        let since = tp.jiffies() - self.last_cong;
        if since > hz {
            let since = since - hz;
            factor = 1 + (10 * since + (since / 2) * (since / 2) / hz) / hz;
        }
        if self.use_rtt_scaling && self.min_rtt > 0 {
            // 0.1 s over the round trip, in eighths, between 0.5 and 10.
            let scale = ((hz << 3) / (10 * self.min_rtt)).clamp(1 << 2, 10 << 3);
            factor = ((factor << 3) / scale).max(1);
        }
        self.alpha = 2 * factor * ((1 << SHIFT) - self.beta);
        if self.alpha == 0 {
            self.alpha = ALPHA_BASE;
        }
    }
}

impl CongestionControl for Htcp {
    fn init(&mut self, tp: &mut Tp) {
        *self = Htcp {
            is_2_6: self.is_2_6,
            use_rtt_scaling: self.use_rtt_scaling,
            use_bandwidth_switch: self.use_bandwidth_switch,
            alpha: ALPHA_BASE,
            beta: BETA_MIN,
            pkts_acked: 1,
            last_cong: tp.jiffies(),
            ..Htcp::default()
        };
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        let (min_rtt, max_rtt) = (self.min_rtt, self.max_rtt);
        self.update_beta(u64::from(tp.hz));
        self.update_alpha(tp);
        // The memory of the longest round trip fades, so that a new route is learnt.
        if min_rtt > 0 && max_rtt > min_rtt {
            self.max_rtt = min_rtt + (max_rtt - min_rtt) * 95 / 100;
        }
        (((u64::from(tp.snd_cwnd) * self.beta) >> SHIFT) as u32).max(2)
    }

    fn min_cwnd(&self, tp: &Tp) -> u32 {
        tp.snd_ssthresh
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        if !tp.is_cwnd_limited() {
            return;
        }
        if tp.in_slow_start() {
            tp.slow_start(acked);
            return;
        }
        if self.is_2_6 {
            self.measure_rtt(tp, smoothed_ticks(tp));
        }
        if (u64::from(tp.snd_cwnd_cnt) * self.alpha) >> SHIFT >= u64::from(tp.snd_cwnd) {
            if tp.snd_cwnd < tp.snd_cwnd_clamp {
                tp.snd_cwnd += 1;
            }
            tp.snd_cwnd_cnt = 0;
            self.update_alpha(tp);
        } else {
            tp.snd_cwnd_cnt += self.pkts_acked;
        }
        self.pkts_acked = 1;
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        match new {
            CaState::Open => {
                if self.undo.take().is_some() || self.is_2_6 {
                    self.last_cong = tp.jiffies();
                }
            }
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.undo = Some(Undo {
                    last_cong: self.last_cong,
                    max_rtt: self.max_rtt,
                    old_max_b: self.old_max_b,
                });
                self.last_cong = tp.jiffies();
            }
            CaState::Disorder => {}
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if tp.ca_state == CaState::Open {
            self.pkts_acked = sample.pkts_acked;
        }
        if sample.rtt_us > 0 && !self.is_2_6 {
            let rtt = (sample.rtt_us as u64 * u64::from(tp.hz)).div_ceil(1_000_000);
            self.measure_rtt(tp, rtt);
        }
        if self.use_bandwidth_switch {
            self.measure_throughput(tp, sample.pkts_acked);
        }
    }

    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        if let Some(undo) = self.undo.take() {
            self.last_cong = undo.last_cong;
            self.max_rtt = undo.max_rtt;
            self.old_max_b = undo.old_max_b;
        }
        tp.reno_undo_cwnd()
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("alpha", self.alpha as f64 / ALPHA_BASE as f64),
            ("beta", self.beta as f64 / ALPHA_BASE as f64),
            ("bandwidth_pps", f64::from(self.bi)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn started(rtt_us: i32) -> (Htcp, Tp) {
        let mut cc = Htcp {
            use_rtt_scaling: true,
            use_bandwidth_switch: true,
            ..Htcp::default()
        };
        let mut tp = Tp::new(100, 1448, Rng::new(1, "flow"));
        tp.snd_ssthresh = 50;
        tp.cwnd_limited = true;
        cc.init(&mut tp);
        ack(&mut cc, &mut tp, rtt_us, 1);
        (cc, tp)
    }

    fn ack(cc: &mut Htcp, tp: &mut Tp, rtt_us: i32, pkts_acked: u32) {
        let sample = AckSample {
            pkts_acked,
            rtt_us,
            in_flight: 1,
        };
        cc.pkts_acked(tp, &sample);
    }

    #[test]
    fn alpha_follows_the_law_after_the_first_second() {
        // At 100 ms the scale is 1 and α = f(Δ), as β is 0.5.
        let (mut cc, mut tp) = started(100_000);
        for (seconds, alpha) in [(1, 1), (2, 11), (3, 22), (5, 45), (11, 126)] {
            tp.now_us = seconds * 1_000_000;
            cc.update_alpha(&tp);
            assert_eq!(cc.alpha, alpha * ALPHA_BASE, "after {seconds} s");
        }
    }

    #[test]
    fn short_round_trips_grow_less_a_round() {
        // 50 ms: the scale is 2, so that f = 11 becomes 5.
        let (mut cc, mut tp) = started(50_000);
        tp.now_us = 2_000_000;
        cc.update_alpha(&tp);
        assert_eq!(cc.alpha, 5 * ALPHA_BASE);
        cc.use_rtt_scaling = false;
        cc.update_alpha(&tp);
        assert_eq!(cc.alpha, 11 * ALPHA_BASE);
    }

    #[test]
    fn backs_off_by_the_ratio_of_round_trips_where_throughput_is_steady() {
        let (mut cc, mut tp) = started(50_000);
        for rtt_us in [60_000, 70_000, 80_000] {
            ack(&mut cc, &mut tp, rtt_us, 1);
        }
        (cc.max_b, cc.old_max_b) = (1000, 1000);
        // The first steady loss arms the adaptive back-off, the second uses it.
        assert_eq!(cc.ssthresh(&mut tp), 50);
        cc.max_rtt = 80;
        assert_eq!(cc.ssthresh(&mut tp), 62);
        assert_eq!(cc.max_rtt, 50 + 30 * 95 / 100);
        // A change of more than a fifth halves.
        cc.max_b = 1300;
        assert_eq!(cc.ssthresh(&mut tp), 50);
    }

    #[test]
    fn an_undone_reduction_restores_the_clock_of_growth() {
        let (mut cc, mut tp) = started(100_000);
        tp.now_us = 3_000_000;
        cc.set_state(&mut tp, CaState::Recovery);
        assert_eq!(cc.last_cong, 3000);
        tp.prior_cwnd = 100;
        tp.snd_cwnd = 50;
        assert_eq!(cc.undo_cwnd(&mut tp), 100);
        assert_eq!(cc.last_cong, 0);
        // Without an undo the clock starts when the state is open again.
        cc.set_state(&mut tp, CaState::Recovery);
        tp.now_us = 3_100_000;
        cc.set_state(&mut tp, CaState::Open);
        assert_eq!(cc.last_cong, 3100);
    }

    #[test]
    fn throughput_is_a_window_over_its_time() {
        let (mut cc, mut tp) = started(100_000);
        cc.lasttime = Some(0);
        tp.now_us = 100_000;
        ack(&mut cc, &mut tp, 100_000, 98);
        assert_eq!(cc.bi, 99 * 1000 / 100);
    }
}
