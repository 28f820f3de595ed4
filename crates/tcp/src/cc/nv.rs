//! New Vegas: compares the window with what the rate and the smallest round trip need.
//!
//! # What it does
//! About once a round, from the largest rate of the round (bytes in flight over the round trip of
//! each ACK)
//!
//! ```text
//! fit = max rate × min RTT / mss;   limit = fit + nv_pad
//! cwnd > limit:                     ssthresh = limit; cwnd falls by 30 % of the excess, at least 2
//! cwnd ≤ limit − nv_pad_buffer:     growth is allowed, as Reno's (slower after timeouts)
//! ```
//!
//! Verdicts wait for enough ACKs: 30 to leave the first slow start, 60 for a decrease, 20 for
//! growth. The smallest round trip is one of the last five seconds or so: its window ends at
//! random.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "50 Mbit/s"
//! rtt = "10 ms"
//! queue = { limit = "2 bdp" }
//! [[flow]]
//! variant = "nv"
//! ```
//!
//! # Parameters
//! As in the kernel's module.
//!
//! # References
//! Brakmo, "TCP-NV: an update to TCP-Vegas", 2010; behaviour as in Linux 6.12.

use super::{AckSample, CaState, CongestionControl, Entry, INFINITE_SSTHRESH, Tp};
use trammel_core::entry::{About, Param, Params};

/// NV in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "nv",
        aliases: &["newvegas"],
        summary: "compares the window with what rate and round trip need",
        references: &["Brakmo 2010", "Linux 6.12 net/ipv4/tcp_nv.c"],
        params: &[
            Param::int(
                "nv_pad",
                0,
                10_000,
                "10",
                "segments",
                "own packets allowed in the queue",
            ),
            Param::int(
                "nv_pad_buffer",
                0,
                10_000,
                "2",
                "segments",
                "space under the limit without change",
            ),
            Param::int(
                "nv_reset_period",
                1,
                3600,
                "5",
                "s",
                "mean life of the smallest round trip",
            ),
            Param::int(
                "nv_min_cwnd",
                2,
                10_000,
                "2",
                "segments",
                "least window after a decrease",
            ),
            Param::int(
                "nv_cong_dec_mult",
                0,
                128,
                "38",
                "/128",
                "share of the excess given up",
            ),
            Param::int(
                "nv_ssthresh_factor",
                1,
                64,
                "8",
                "/8",
                "ssthresh as a share of the limit",
            ),
            Param::int(
                "nv_rtt_factor",
                0,
                256,
                "128",
                "/256",
                "weight of a new round trip; 0 does not smooth",
            ),
            Param::int(
                "nv_loss_dec_factor",
                1,
                1024,
                "819",
                "/1024",
                "share of the window kept at a loss",
            ),
            Param::int(
                "nv_cwnd_growth_rate_neg",
                0,
                255,
                "8",
                "verdicts",
                "verdicts that double slowed growth again",
            ),
            Param::int(
                "nv_cwnd_growth_rate_pos",
                0,
                255,
                "0",
                "verdicts",
                "verdicts that double growth; 0 never",
            ),
            Param::int(
                "nv_dec_eval_min_calls",
                1,
                255,
                "60",
                "ACKs",
                "ACKs before a decrease",
            ),
            Param::int(
                "nv_inc_eval_min_calls",
                1,
                255,
                "20",
                "ACKs",
                "ACKs before growth is allowed",
            ),
            Param::int(
                "nv_ssthresh_eval_min_calls",
                1,
                255,
                "30",
                "ACKs",
                "ACKs before slow start ends",
            ),
            Param::int(
                "nv_stop_rtt_cnt",
                1,
                255,
                "10",
                "rounds",
                "rounds without verdict that stop growth",
            ),
            Param::int(
                "nv_rtt_min_cnt",
                1,
                255,
                "2",
                "rounds",
                "rounds before a decrease",
            ),
        ],
    },
    build: |params| Box::new(Nv::new(Config::new(params))),
};

/// Rates are in 100 bit/s: bytes × 8 × 10⁶ µs/s / 100.
const RATE_UNITS: u64 = 80_000;
/// Round trip before the first sample.
const NO_RTT_US: u32 = u32::MAX;
/// The window assumed to give one call a round, and its growth where it does.
const MIN_CWND: u32 = 4;
const MIN_CWND_GROW: u32 = 2;
const MIN_CWND_MAX: u32 = 81;
/// Growth is never more than a segment for this many ACKs.
const GROWTH_ACKS_MIN: u32 = 4;
/// Slowest growth: 2⁻⁸ of Reno's.
const GROWTH_FLOOR: i32 = -8;

#[derive(Clone, Debug)]
struct Config {
    pad: u32,
    pad_buffer: u32,
    reset_period_s: u64,
    min_cwnd: u32,
    cong_dec_mult: u32,
    ssthresh_factor: u64,
    rtt_factor: u64,
    loss_dec_factor: u64,
    growth_rate_neg: u32,
    growth_rate_pos: u32,
    dec_eval_min_calls: u32,
    inc_eval_min_calls: u32,
    ssthresh_eval_min_calls: u32,
    stop_rtt_cnt: u32,
    rtt_min_cnt: u32,
}

impl Config {
    fn new(params: &Params) -> Config {
        let short = |name| params.int(name) as u32;
        let long = |name| params.int(name) as u64;
        Config {
            pad: short("nv_pad"),
            pad_buffer: short("nv_pad_buffer"),
            reset_period_s: long("nv_reset_period"),
            min_cwnd: short("nv_min_cwnd"),
            cong_dec_mult: short("nv_cong_dec_mult"),
            ssthresh_factor: long("nv_ssthresh_factor"),
            rtt_factor: long("nv_rtt_factor"),
            loss_dec_factor: long("nv_loss_dec_factor"),
            growth_rate_neg: short("nv_cwnd_growth_rate_neg"),
            growth_rate_pos: short("nv_cwnd_growth_rate_pos"),
            dec_eval_min_calls: short("nv_dec_eval_min_calls"),
            inc_eval_min_calls: short("nv_inc_eval_min_calls"),
            ssthresh_eval_min_calls: short("nv_ssthresh_eval_min_calls"),
            stop_rtt_cnt: short("nv_stop_rtt_cnt"),
            rtt_min_cnt: short("nv_rtt_min_cnt"),
        }
    }
}

#[derive(Debug)]
struct Nv {
    config: Config,
    /// Start anew when the state is open again.
    reset: bool,
    allow_growth: bool,
    /// Reno's growth times two to this power.
    growth_factor: i32,
    /// Window under which a round may see one call only.
    min_cwnd: u32,
    no_cong_cnt: u32,
    /// ACKs and rounds since the last verdict.
    eval_calls: u32,
    rtt_cnt: u32,
    last_rtt_us: u32,
    min_rtt_us: u32,
    min_rtt_new_us: u32,
    min_rtt_reset_jiffies: u64,
    /// Largest rate since the last verdict, 100 bit/s.
    max_rate: u64,
    rtt_start_seq: u32,
    last_snd_una: u32,
}

impl Nv {
    fn new(config: Config) -> Nv {
        Nv {
            reset: false,
            allow_growth: true,
            growth_factor: 0,
            min_cwnd: MIN_CWND,
            no_cong_cnt: 0,
            eval_calls: 0,
            rtt_cnt: 0,
            last_rtt_us: 0,
            min_rtt_us: NO_RTT_US,
            min_rtt_new_us: NO_RTT_US,
            min_rtt_reset_jiffies: 0,
            max_rate: 0,
            rtt_start_seq: 0,
            last_snd_una: 0,
            config,
        }
    }

    fn restart(&mut self, tp: &Tp) {
        self.reset = false;
        self.no_cong_cnt = 0;
        self.rtt_cnt = 0;
        self.last_rtt_us = 0;
        self.max_rate = 0;
        self.rtt_start_seq = tp.snd_una;
        self.eval_calls = 0;
        self.last_snd_una = tp.snd_una;
    }

    fn smooth(&mut self, rtt_us: u32) -> u32 {
        let weight = self.config.rtt_factor;
        if weight == 0 {
            return rtt_us;
        }
        let average = if self.last_rtt_us > 0 {
            let sum = u64::from(rtt_us) * weight + u64::from(self.last_rtt_us) * (256 - weight);
            (sum >> 8) as u32
        } else {
            self.min_rtt_us = rtt_us << 1;
            rtt_us
        };
        self.last_rtt_us = average;
        average
    }

    fn update_min_rtt(&mut self, tp: &mut Tp, rtt_us: u32) {
        self.min_rtt_us = self.min_rtt_us.min(rtt_us);
        self.min_rtt_new_us = self.min_rtt_new_us.min(rtt_us);
        let now = tp.jiffies();
        if now < self.min_rtt_reset_jiffies {
            return;
        }
        self.min_rtt_us = self.min_rtt_new_us;
        self.min_rtt_new_us = NO_RTT_US;
        // Between 3/4 and 5/4 of the period, so that flows do not measure in step.
        let share = 384 + tp.rng.below(256);
        let period = (self.config.reset_period_s * share * u64::from(tp.hz)) >> 9;
        self.min_rtt_reset_jiffies = now + period;
        self.min_cwnd = (self.min_cwnd / 2).max(MIN_CWND);
    }

    /// Compares the window with the limit, where enough ACKs were seen.
    fn judge(&mut self, tp: &mut Tp) {
        let fit = self.max_rate * u64::from(self.min_rtt_us) / (RATE_UNITS * u64::from(tp.mss));
        let limit = (fit as u32).saturating_add(self.config.pad);
        let decided = if tp.snd_cwnd > limit {
            self.shrink(tp, limit)
        } else if tp.snd_cwnd <= limit.saturating_sub(self.config.pad_buffer) {
            self.let_grow()
        } else {
            false
        };
        if decided {
            self.eval_calls = 0;
            self.rtt_cnt = 0;
            self.max_rate = 0;
            tp.snd_cwnd = tp.snd_cwnd.max(self.config.min_cwnd);
        }
    }

    fn shrink(&mut self, tp: &mut Tp, limit: u32) -> bool {
        if self.rtt_cnt < self.config.rtt_min_cnt {
            return false;
        }
        if tp.snd_ssthresh == INFINITE_SSTHRESH {
            if self.eval_calls < self.config.ssthresh_eval_min_calls {
                return false;
            }
        } else if self.eval_calls < self.config.dec_eval_min_calls {
            if self.rtt_cnt > self.config.stop_rtt_cnt {
                self.allow_growth = false;
            }
            return false;
        }
        self.allow_growth = false;
        tp.snd_ssthresh = ((self.config.ssthresh_factor * u64::from(limit)) >> 3) as u32;
        let excess = tp.snd_cwnd - limit;
        if excess > 2 {
            tp.snd_cwnd -= ((excess * self.config.cong_dec_mult) >> 7).max(2);
        } else if self.config.cong_dec_mult > 0 {
            tp.snd_cwnd = limit;
        }
        self.growth_factor = self.growth_factor.min(0);
        self.no_cong_cnt = 0;
        true
    }

    fn let_grow(&mut self) -> bool {
        if self.eval_calls < self.config.inc_eval_min_calls {
            return false;
        }
        self.allow_growth = true;
        self.no_cong_cnt += 1;
        let verdicts = if self.growth_factor < 0 {
            self.config.growth_rate_neg
        } else {
            self.config.growth_rate_pos
        };
        if verdicts > 0 && self.no_cong_cnt > verdicts {
            self.growth_factor += 1;
            self.no_cong_cnt = 0;
        }
        true
    }
}

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl CongestionControl for Nv {
    fn init(&mut self, tp: &mut Tp) {
        *self = Nv::new(self.config.clone());
        self.restart(tp);
        self.min_rtt_reset_jiffies = tp.jiffies() + 2 * u64::from(tp.hz);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        (((u64::from(tp.snd_cwnd) * self.config.loss_dec_factor) >> 10) as u32).max(2)
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        if !self.allow_growth {
            return;
        }
        let Some(left) = tp.left_after_slow_start(acked) else {
            return;
        };
        let acks = if self.growth_factor < 0 {
            tp.snd_cwnd << -self.growth_factor
        } else {
            (tp.snd_cwnd >> self.growth_factor.min(31)).max(GROWTH_ACKS_MIN)
        };
        tp.cong_avoid_ai(acks, left);
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        match new {
            CaState::Open if self.reset => self.restart(tp),
            CaState::Open | CaState::Disorder => {}
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.reset = true;
                self.allow_growth = false;
                if new == CaState::Loss {
                    self.growth_factor = self.growth_factor.min(0);
                    if self.config.growth_rate_neg > 0 && self.growth_factor > GROWTH_FLOOR {
                        self.growth_factor -= 1;
                    }
                }
            }
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if sample.rtt_us < 0 || !matches!(tp.ca_state, CaState::Open | CaState::Disorder) {
            return;
        }
        let bytes_acked = tp.snd_una.wrapping_sub(self.last_snd_una);
        self.last_snd_una = tp.snd_una;
        if sample.in_flight == 0 {
            return;
        }
        let rtt_us = self.smooth(sample.rtt_us as u32);
        let in_flight_bytes = u64::from(sample.in_flight) * u64::from(tp.mss);
        let rate = in_flight_bytes * RATE_UNITS / u64::from(rtt_us.max(1));
        self.max_rate = self.max_rate.max(rate);
        self.eval_calls = (self.eval_calls + 1).min(255);
        self.update_min_rtt(tp, rtt_us);

        if !before(self.rtt_start_seq, tp.snd_una) {
            return;
        }
        self.rtt_start_seq = tp.snd_nxt;
        self.rtt_cnt = (self.rtt_cnt + 1).min(255);
        // One ACK for the whole window: it is too small to be judged, so it may grow unjudged.
        if self.eval_calls == 1
            && bytes_acked >= (self.min_cwnd - 1) * tp.mss
            && self.min_cwnd < MIN_CWND_MAX
        {
            self.min_cwnd = (self.min_cwnd + MIN_CWND_GROW).min(MIN_CWND_MAX);
            self.rtt_start_seq = tp.snd_nxt.wrapping_add(self.min_cwnd * tp.mss);
            self.eval_calls = 0;
            self.allow_growth = true;
            return;
        }
        self.judge(tp);
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("max_rate_bps", self.max_rate as f64 * 100.0),
            ("min_rtt_us", f64::from(self.min_rtt_us)),
            ("growth_factor", f64::from(self.growth_factor)),
            ("allow_growth", f64::from(u8::from(self.allow_growth))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    const MSS: u32 = 1448;

    fn started(cwnd: u32, ssthresh: u32) -> (Nv, Tp) {
        let mut tp = Tp::new(cwnd, MSS, Rng::new(1, "flow"));
        tp.snd_ssthresh = ssthresh;
        tp.cwnd_limited = true;
        let mut cc = Nv::new(Config::new(&Params::defaults(&ENTRY.about)));
        cc.init(&mut tp);
        (cc, tp)
    }

    /// One window over a pipe of `bdp` segments and 50 ms, ACK by ACK.
    fn round(cc: &mut Nv, tp: &mut Tp, bdp: u32) {
        let window = tp.snd_cwnd;
        let rtt_us = (50_000 * window.max(bdp) / bdp) as i32;
        tp.now_us += rtt_us as u64;
        let start = tp.snd_nxt;
        tp.snd_nxt = start.wrapping_add(window * MSS);
        for i in 1..=window {
            tp.snd_una = start.wrapping_add(i * MSS);
            let sample = AckSample {
                pkts_acked: 1,
                rtt_us,
                in_flight: window,
            };
            cc.pkts_acked(tp, &sample);
            cc.cong_avoid(tp, tp.snd_una, 1);
        }
    }

    #[test]
    fn settles_a_pad_above_what_the_pipe_holds() {
        let (mut cc, mut tp) = started(100, 100);
        for _ in 0..300 {
            round(&mut cc, &mut tp, 200);
        }
        let mut seen = Vec::new();
        for _ in 0..20 {
            round(&mut cc, &mut tp, 200);
            seen.push(tp.snd_cwnd);
        }
        assert!(
            seen.iter().all(|cwnd| (205..=225).contains(cwnd)),
            "{seen:?}"
        );
    }

    #[test]
    fn slow_start_ends_when_the_queue_exceeds_the_pad() {
        let (mut cc, mut tp) = started(10, INFINITE_SSTHRESH);
        while tp.snd_ssthresh == INFINITE_SSTHRESH {
            round(&mut cc, &mut tp, 200);
            assert!(tp.snd_cwnd < 5000);
        }
        // The smoothed round trip lags behind a window that doubles, so the limit is generous.
        assert!((210..300).contains(&tp.snd_ssthresh), "{}", tp.snd_ssthresh);
        assert!(!cc.allow_growth);
    }

    /// Linux 6.12 over 100 Mbit/s and 50 ms leaves slow start at 40 segments for an ssthresh of 29
    /// and then grows by one a round trip.
    #[test]
    fn leaves_the_first_slow_start_as_linux_does() {
        const US_PER_FRAME: f64 = 1514.0 * 0.08;
        let (mut cc, mut tp) = started(10, INFINITE_SSTHRESH);
        tp.srtt_us = 50_000 << 3;
        let mut pipe = std::collections::VecDeque::new();
        let mut link_free_us = 0.0_f64;
        let mut windows = Vec::new();
        while tp.now_us < 1_000_000 {
            while pipe.len() < tp.snd_cwnd as usize {
                tp.snd_nxt = tp.snd_nxt.wrapping_add(MSS);
                let start = link_free_us.max(tp.now_us as f64);
                link_free_us = start + US_PER_FRAME;
                pipe.push_back((tp.now_us, start + 50_000.0, pipe.len() as u32 + 1));
            }
            let (sent_us, ack_us, in_flight) = pipe.pop_front().unwrap();
            tp.now_us = ack_us as u64;
            tp.snd_una = tp.snd_una.wrapping_add(MSS);
            let sample = AckSample {
                pkts_acked: 1,
                rtt_us: (tp.now_us - sent_us) as i32,
                in_flight,
            };
            cc.pkts_acked(&mut tp, &sample);
            let ack = tp.snd_una;
            cc.cong_avoid(&mut tp, ack, 1);
            while windows.len() < (tp.now_us / 100_000) as usize {
                windows.push((tp.snd_cwnd, tp.snd_ssthresh));
            }
        }
        // One round trip after the handshake, as the trace has them every 100 ms.
        assert_eq!(windows[1..5], [(37, 29), (39, 29), (41, 29), (43, 29)]);
    }

    #[test]
    fn gives_up_three_tenths_of_the_excess() {
        let (mut cc, mut tp) = started(310, 100);
        cc.min_rtt_us = 50_000;
        cc.max_rate = u64::from(200 * MSS) * RATE_UNITS / 50_000;
        (cc.eval_calls, cc.rtt_cnt) = (60, 2);
        cc.judge(&mut tp);
        // The pipe holds 200, the pad is 10.
        assert_eq!(tp.snd_ssthresh, 210);
        assert_eq!(tp.snd_cwnd, 310 - 100 * 38 / 128);
        assert_eq!(cc.eval_calls, 0);
    }

    #[test]
    fn waits_for_enough_acks_before_a_verdict() {
        let (mut cc, mut tp) = started(310, 100);
        cc.min_rtt_us = 50_000;
        (cc.eval_calls, cc.rtt_cnt) = (59, 11);
        cc.judge(&mut tp);
        assert_eq!(tp.snd_cwnd, 310);
        // After ten rounds without verdict it at least stops growing.
        assert!(!cc.allow_growth);
    }

    #[test]
    fn timeouts_slow_the_growth_and_a_loss_keeps_eight_tenths() {
        let (mut cc, mut tp) = started(100, 50);
        assert_eq!(cc.ssthresh(&mut tp), 79);
        for _ in 0..10 {
            cc.set_state(&mut tp, CaState::Loss);
        }
        assert_eq!(cc.growth_factor, GROWTH_FLOOR);
        cc.set_state(&mut tp, CaState::Open);
        cc.allow_growth = true;
        for _ in 0..256 {
            cc.cong_avoid(&mut tp, 0, 100);
        }
        assert_eq!(tp.snd_cwnd, 101);
    }
}
