//! CUBIC: the window is a cubic function of the time since the last loss; HyStart ends slow start.
//!
//! # What it does
//! ```text
//! W(t) = C·(t − K)³ + W_max      K = ∛((W_max − w)/C), w the window at the epoch's first increase
//! ```
//!
//! with C = 410/1024 segments/s³, t one smallest round trip ahead of the present and in 1024ths of
//! a second. The distance to W(t) is spread over a window of segments, at most one for every two
//! (1.5-fold a round). Where Reno with the same reduction, which grows by
//! 3·(1024 − beta)/(1024 + beta) segments a round, would be ahead, CUBIC follows it. A loss keeps
//! beta/1024 of the window; with fast convergence a loss below W_max lowers W_max to half way
//! between w and w·beta/1024. An idle time shifts the epoch so that it does not count; a timeout
//! forgets everything.
//!
//! HyStart sets `ssthresh` to the window in the first slow start, from `hystart_low_window` on,
//! once
//!
//! ```text
//! train: ACKs at most hystart_ack_delta_us apart span more than half the smallest RTT (all of it if paced)
//! delay: the least RTT of a round's first 8 exceeds the smallest by an eighth of it, 4 to 16 ms
//! ```
//!
//! `slow_start = "hystart++"` takes its place by RFC 9406: a round trip that has grown by an eighth
//! lets the window grow by a quarter for five rounds, and then sets `ssthresh`.
//!
//! Dialect `linux-2.6` is CUBIC 2.1 of Linux 2.6.22: beta 819, no HyStart, growth beyond W_max of
//! at most `max_increment` per 100 ms, increases per ACK corrected by the mean of segments per ACK,
//! and no shift of the epoch. It also enters the first congestion avoidance with one segment per
//! 50, not per 20.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "50 Mbit/s"
//! rtt = "30 ms"
//! queue = { limit = "1 bdp" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "cubic"
//! params = { hystart = false }
//! ```
//!
//! # References
//! Ha, Rhee, Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant", 2008; Ha, Rhee, "Taming the
//! Elephants: New TCP Slow Start", 2011; RFC 9438; RFC 9406 for HyStart++; Linux 6.12 `tcp_cubic`.

use super::{AckSample, CaEvent, CaState, CongestionControl, Entry, Tp};
use crate::hystart_plus_plus::HyStartPlusPlus;
use trammel_core::entry::{About, Kind, Param, Params};

/// CUBIC in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "cubic",
        aliases: &[],
        summary: "a cubic function of the time since the last loss: the default of Linux",
        references: &[
            "Ha, Rhee, Xu 2008, CUBIC: A New TCP-Friendly High-Speed TCP Variant",
            "Ha, Rhee 2011, Taming the Elephants: New TCP Slow Start",
            "RFC 9438",
            "RFC 9406",
            "Linux 6.12 net/ipv4/tcp_cubic.c",
        ],
        params: &[
            Param {
                name: "dialect",
                kind: Kind::Choice(&["linux", "linux-2.6"]),
                default: "linux",
                unit: "",
                help: "Linux 6.12, or CUBIC 2.1 of Linux 2.6.22 without HyStart",
            },
            Param {
                name: "fast_convergence",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "leave room for others after a loss below the last maximum",
            },
            Param {
                name: "beta",
                kind: Kind::Int(0, 1023),
                default: "0",
                unit: "",
                help: "share of the window that a loss leaves, of 1024; 0: the dialect's, 717 or \
                       819",
            },
            Param {
                name: "initial_ssthresh",
                kind: Kind::Int(0, 0x7fff_ffff),
                default: "0",
                unit: "packets",
                help: "slow-start threshold at the start, where HyStart is off; 0: none",
            },
            Param {
                name: "bic_scale",
                kind: Kind::Int(1, 100_000),
                default: "41",
                unit: "",
                help: "the factor C in 1/102.4 packets/s^3",
            },
            Param {
                name: "tcp_friendliness",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "grow at least as Reno with the same reduction would",
            },
            Param {
                name: "hystart",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "leave slow start before the first loss",
            },
            Param {
                name: "slow_start",
                kind: Kind::Choice(&["hystart", "hystart++", "classic"]),
                default: "hystart",
                unit: "",
                help: "how it ends before the first loss: as in Linux, by RFC 9406, or not",
            },
            Param {
                name: "hystart_detect",
                kind: Kind::Int(0, 3),
                default: "3",
                unit: "",
                help: "what HyStart looks at: 1 ACK train, 2 delay, 3 both",
            },
            Param {
                name: "hystart_low_window",
                kind: Kind::Int(0, 1_000_000),
                default: "16",
                unit: "packets",
                help: "smallest window for HyStart to act",
            },
            Param {
                name: "hystart_ack_delta_us",
                kind: Kind::Int(0, 1_000_000_000),
                default: "2000",
                unit: "us",
                help: "largest gap within an ACK train",
            },
            Param {
                name: "max_increment",
                kind: Kind::Int(1, 1_000_000),
                default: "16",
                unit: "packets",
                help: "largest growth in 100 ms beyond the last maximum; linux-2.6 only",
            },
        ],
    },
    build: |params| Box::new(Cubic::new(params)),
};

/// A share is of 1024.
const SHARE: u64 = 1024;
/// t and K are in seconds divided by 2^10.
const TIME_BITS: u32 = 10;
/// C·t³ with C in 1024ths and t in 1024ths of a second.
const CUBE_BITS: u32 = 10 + 3 * TIME_BITS;
/// RTT samples of a round before HyStart judges their minimum.
const HYSTART_SAMPLES: u8 = 8;
/// Bytes of the largest super-segment, whose sending may delay an ACK train.
const SUPER_SEGMENT_BYTES: u64 = 65_215;

/// The state of CUBIC.
#[derive(Debug)]
struct Cubic {
    is_2_6: bool,
    fast_convergence: bool,
    tcp_friendliness: bool,
    beta: u64,
    initial_ssthresh: u32,
    /// C in 1024ths.
    scale: u64,
    max_increment: u64,
    /// Segments to be acknowledged for the next increase.
    cnt: u32,
    /// Window at the last loss, or less by fast convergence; 0 before one.
    last_max: u32,
    /// Window and time, in clock ticks, of the last update of `cnt`.
    last_update: (u32, u64),
    /// The window that the cubic function passes at K.
    origin: u32,
    k: u64,
    /// Smallest round trip, µs; 0 before the first.
    delay_min: u32,
    /// When the epoch began, clock ticks.
    epoch_start: Option<u64>,
    /// Segments acknowledged and not yet counted into `reno_cwnd`.
    ack_cnt: u32,
    /// Reno's window in this epoch.
    reno_cwnd: u32,
    /// Segments per ACK in the running mean, sixteenths; `linux-2.6` only.
    delayed_ack: u32,
    hystart: HyStart,
    /// Takes the place of `hystart` where it is asked for.
    plus_plus: Option<HyStartPlusPlus>,
}

/// The state of HyStart, a round of it at a time.
#[derive(Debug)]
struct HyStart {
    is_on: bool,
    by_train: bool,
    by_delay: bool,
    low_window: u32,
    ack_delta_us: u64,
    /// Slow start has been ended; not again before a timeout.
    found: bool,
    round_start_us: u64,
    /// The last ACK of the train.
    last_ack_us: u64,
    /// An ACK beyond this sequence number ends the round.
    end_seq: u32,
    /// Smallest round trip of this round, µs.
    curr_rtt: u32,
    samples: u8,
}

impl HyStart {
    fn begin_round(&mut self, tp: &Tp) {
        self.round_start_us = tp.now_us;
        self.last_ack_us = tp.now_us;
        self.end_seq = tp.snd_nxt;
        self.curr_rtt = u32::MAX;
        self.samples = 0;
    }

    fn update(&mut self, tp: &mut Tp, delay: u32, delay_min: u32) {
        if (self.end_seq.wrapping_sub(tp.snd_una) as i32) < 0 {
            self.begin_round(tp);
        }
        if tp.snd_cwnd < self.low_window {
            return;
        }
        if self.by_train && tp.now_us - self.last_ack_us <= self.ack_delta_us {
            self.last_ack_us = tp.now_us;
            let mut longest = u64::from(delay_min) + super_segment_us(tp);
            if !tp.pacing {
                // Pacing may spread the sending over half a round trip; without it half is full.
                longest >>= 1;
            }
            self.found |= tp.now_us - self.round_start_us > longest;
        }
        if self.by_delay {
            self.curr_rtt = self.curr_rtt.min(delay);
            if self.samples < HYSTART_SAMPLES {
                self.samples += 1;
            } else {
                let allowed = (delay_min >> 3).clamp(4_000, 16_000);
                self.found |= self.curr_rtt > delay_min + allowed;
            }
        }
        if self.found {
            tp.snd_ssthresh = tp.snd_cwnd;
        }
    }
}

/// Time that a sender may spend on four super-segments at its pacing rate, at most a millisecond.
fn super_segment_us(tp: &Tp) -> u64 {
    let rate = if tp.pacing_rate == u64::MAX {
        // Linux keeps a pacing rate for connections that are not paced too: twice the window a
        // round trip in slow start, 1.2 times from half of `ssthresh` on.
        let percent = if tp.snd_cwnd < tp.snd_ssthresh / 2 {
            200
        } else {
            120
        };
        let bytes = u64::from(tp.mss) * u64::from(tp.snd_cwnd.max(tp.packets_out));
        bytes * 80_000 * percent / u64::from(tp.srtt_us.max(1))
    } else {
        tp.pacing_rate
    };
    (SUPER_SEGMENT_BYTES * 4 * 1_000_000)
        .checked_div(rate)
        .map_or(0, |us| us.min(1_000))
}

/// The largest whole number whose cube is at most `n`.
// Differs from Linux 6.12: exact, where the kernel's table and one Newton step err by 0.2 %.
fn cube_root(n: u64) -> u64 {
    let mut root = 0_u64;
    for bit in (0..22).rev() {
        let trial = root | 1 << bit;
        if u128::from(trial).pow(3) <= u128::from(n) {
            root = trial;
        }
    }
    root
}

impl Cubic {
    fn new(params: &Params) -> Cubic {
        let is_2_6 = params.text("dialect") == "linux-2.6";
        let detect = params.int("hystart_detect");
        Cubic {
            is_2_6,
            fast_convergence: params.bool("fast_convergence"),
            tcp_friendliness: params.bool("tcp_friendliness"),
            beta: match params.int("beta") {
                0 if is_2_6 => 819,
                0 => 717,
                beta => beta as u64,
            },
            initial_ssthresh: params.int("initial_ssthresh") as u32,
            scale: params.int("bic_scale") as u64 * 10,
            max_increment: params.int("max_increment") as u64,
            cnt: 0,
            last_max: 0,
            last_update: (0, 0),
            origin: 0,
            k: 0,
            delay_min: 0,
            epoch_start: None,
            ack_cnt: 0,
            reno_cwnd: 0,
            delayed_ack: 2 << 4,
            hystart: HyStart {
                is_on: params.bool("hystart") && !is_2_6 && params.text("slow_start") == "hystart",
                by_train: detect & 1 != 0,
                by_delay: detect & 2 != 0,
                low_window: params.int("hystart_low_window") as u32,
                ack_delta_us: params.int("hystart_ack_delta_us") as u64,
                found: false,
                round_start_us: 0,
                last_ack_us: 0,
                end_seq: 0,
                curr_rtt: u32::MAX,
                samples: 0,
            },
            plus_plus: (params.text("slow_start") == "hystart++").then(HyStartPlusPlus::new),
        }
    }

    fn reset(&mut self) {
        self.cnt = 0;
        self.last_max = 0;
        self.last_update = (0, 0);
        self.origin = 0;
        self.k = 0;
        self.delay_min = 0;
        self.epoch_start = None;
        self.ack_cnt = 0;
        self.reno_cwnd = 0;
        self.delayed_ack = 2 << 4;
        self.hystart.found = false;
    }

    fn begin_epoch(&mut self, cwnd: u32, now: u64, acked: u32) -> u64 {
        self.epoch_start = Some(now);
        self.ack_cnt = acked;
        self.reno_cwnd = cwnd;
        let below = self.last_max.saturating_sub(cwnd);
        self.k = cube_root(((1_u64 << CUBE_BITS) / self.scale).saturating_mul(u64::from(below)));
        self.origin = self.last_max.max(cwnd);
        now
    }

    /// Takes the number of segments per increase from the cubic function at the present time.
    fn follow_curve(&mut self, cwnd: u32, tp: &Tp, epoch_start: u64) {
        let ticks = tp.jiffies() - epoch_start + tp.us_to_jiffies(u64::from(self.delay_min));
        let t = (ticks << TIME_BITS) / u64::from(tp.hz);
        let offset = u128::from(t.abs_diff(self.k));
        let rise = (u128::from(self.scale) * offset.pow(3)) >> CUBE_BITS;
        let rise = rise.min(u128::from(u32::MAX / 2)) as u32;
        let target = if t < self.k {
            self.origin.saturating_sub(rise)
        } else {
            self.origin.saturating_add(rise)
        };
        self.cnt = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            // A very small increment.
            cwnd.saturating_mul(100)
        };
        if self.is_2_6 && self.delay_min > 0 && t >= self.k {
            let least = u64::from(cwnd) * 100_000;
            let least = least / (self.max_increment * u64::from(self.delay_min));
            self.cnt = self.cnt.max(least as u32);
        }
        // Without a maximum the function starts too flat.
        if self.last_max == 0 {
            self.cnt = if self.is_2_6 { 50 } else { self.cnt.min(20) };
        }
    }

    fn follow_reno(&mut self, cwnd: u32) {
        let growth = 8 * (SHARE + self.beta) / 3 / (SHARE - self.beta);
        let per_segment = ((u64::from(cwnd) * growth) >> 3).max(1) as u32;
        // The last segment is granted by the ACK after the one that completes it.
        let grown = self.ack_cnt.saturating_sub(1) / per_segment;
        self.ack_cnt -= grown * per_segment;
        self.reno_cwnd += grown;
        if self.reno_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.reno_cwnd - cwnd));
        }
    }

    fn update(&mut self, cwnd: u32, acked: u32, tp: &Tp) {
        let now = tp.jiffies();
        self.ack_cnt += acked;
        if self.last_update.0 == cwnd && now - self.last_update.1 <= u64::from(tp.hz / 32) {
            return;
        }
        // The curve moves at most once a tick; Reno's window moves with every ACK.
        let is_new_tick = self.is_2_6 || now != self.last_update.1;
        if self.epoch_start.is_none() || is_new_tick {
            self.last_update = (cwnd, now);
            let epoch_start = self
                .epoch_start
                .unwrap_or_else(|| self.begin_epoch(cwnd, now, acked));
            self.follow_curve(cwnd, tp, epoch_start);
        }
        if self.tcp_friendliness {
            self.follow_reno(cwnd);
        }
        self.cnt = if self.is_2_6 {
            ((self.cnt << 4) / self.delayed_ack).max(1)
        } else {
            self.cnt.max(2)
        };
    }
}

impl CongestionControl for Cubic {
    fn init(&mut self, tp: &mut Tp) {
        self.reset();
        if let Some(plus_plus) = &mut self.plus_plus {
            plus_plus.begin(tp);
        }
        if self.hystart.is_on {
            self.hystart.begin_round(tp);
        } else if self.initial_ssthresh > 0 {
            tp.snd_ssthresh = self.initial_ssthresh.max(2);
        }
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        self.epoch_start = None;
        let cwnd = u64::from(tp.snd_cwnd);
        self.last_max = if self.fast_convergence && tp.snd_cwnd < self.last_max {
            (cwnd * (SHARE + self.beta) / (2 * SHARE)) as u32
        } else {
            tp.snd_cwnd
        };
        ((cwnd * self.beta / SHARE) as u32).max(2)
    }

    fn min_cwnd(&self, tp: &Tp) -> u32 {
        tp.snd_ssthresh
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        if let Some(plus_plus) = &mut self.plus_plus
            && plus_plus.is_active(tp)
        {
            return plus_plus.grow(tp, acked);
        }
        let Some(left) = tp.left_after_slow_start(acked) else {
            return;
        };
        self.update(tp.snd_cwnd, left, tp);
        if !self.is_2_6 {
            tp.cong_avoid_ai(self.cnt, left);
        } else if tp.snd_cwnd_cnt >= self.cnt {
            tp.snd_cwnd = (tp.snd_cwnd + 1).min(tp.snd_cwnd_clamp);
            tp.snd_cwnd_cnt = 0;
        } else {
            tp.snd_cwnd_cnt += left;
        }
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        if new == CaState::Loss {
            self.reset();
            self.hystart.begin_round(tp);
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        if event != CaEvent::TxStart || self.is_2_6 {
            return;
        }
        if let Some(start) = self.epoch_start {
            let now = tp.jiffies();
            let last_sent = tp.lsndtime_us * u64::from(tp.hz) / 1_000_000;
            self.epoch_start = Some((start + now.saturating_sub(last_sent)).min(now));
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if self.is_2_6 && tp.ca_state == CaState::Open && sample.pkts_acked > 0 {
            self.delayed_ack = self.delayed_ack + sample.pkts_acked - (self.delayed_ack >> 4);
        }
        let Ok(delay) = u32::try_from(sample.rtt_us) else {
            return;
        };
        // Samples within a second of a loss are of a queue that is being drained.
        if (self.epoch_start).is_some_and(|start| tp.jiffies() - start < u64::from(tp.hz)) {
            return;
        }
        let delay = delay.max(1);
        if self.delay_min == 0 || delay < self.delay_min {
            self.delay_min = delay;
        }
        if self.hystart.is_on && !self.hystart.found && tp.in_slow_start() {
            self.hystart.update(tp, delay, self.delay_min);
        } else if let Some(plus_plus) = &mut self.plus_plus {
            plus_plus.take_rtt(tp, delay);
        }
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        let mut all = vec![
            ("w_max_pkts", f64::from(self.origin)),
            ("k_s", self.k as f64 / (1 << TIME_BITS) as f64),
            ("cnt", f64::from(self.cnt)),
            ("reno_cwnd_pkts", f64::from(self.reno_cwnd)),
        ];
        all.extend(self.plus_plus.as_ref().map(HyStartPlusPlus::observe));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc_harness::{Sender, trace};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cube_root_is_exact(n: u64) {
            let root = u128::from(cube_root(n));
            prop_assert!(root.pow(3) <= u128::from(n) && u128::from(n) < (root + 1).pow(3));
        }
    }

    #[test]
    fn reaches_the_last_maximum_after_k_seconds() {
        for (given, beta) in [("linux", 0.7), ("linux-2.6", 0.8)] {
            let mut sender = Sender::new("cubic", &[("dialect", given)], 100_000);
            sender.tp.snd_cwnd = 1_000;
            sender.lose();
            assert!((f64::from(sender.tp.snd_cwnd) - 1_000.0 * beta).abs() < 1.5);
            sender.round();
            //= rfc9438 §4.2
            //# K = cubic_root((W_max - cwnd_epoch) / C)
            let k = (1_000.0 * (1.0 - beta) / 0.4_f64).cbrt();
            assert!(
                (sender.observed("k_s") - k).abs() < 0.02,
                "{}",
                sender.observed("k_s")
            );
            // A tenth of a second is a round; the curve is within 0.4 · 0.5³ segments of flat at K.
            let windows = sender.rounds((k * 10.0) as usize);
            let (early, late) = (windows[40], windows.last().expect("some"));
            assert!(
                early < 995 && (998..=1_001).contains(late),
                "{given}: {early} {late}"
            );
        }
    }

    #[test]
    fn follows_the_kernel_through_an_epoch() {
        // Linux 6.12 at 100 Mbit/s over 50 ms: seconds after a recovery, and the window then. The
        // loss before had left 610 segments, this one came at 832.
        const KERNEL: [(f64, u32); 9] = [
            (0.39, 603),
            (0.89, 625),
            (1.39, 645),
            (2.39, 674),
            (4.39, 703),
            (6.39, 708),
            (10.39, 726),
            (12.39, 776),
            (13.39, 821),
        ];
        let mut sender = Sender::new("cubic", &[], 50_000);
        sender.service_us = 121;
        for cwnd in [872, 833] {
            sender.tp.snd_cwnd = cwnd;
            sender.tp.snd_ssthresh = cwnd;
            sender.round();
            sender.tp.snd_cwnd = cwnd;
            sender.lose();
        }
        assert_eq!(sender.tp.snd_cwnd, 583);
        let start = sender.tp.now_us;
        for (seconds, window) in KERNEL {
            while sender.tp.now_us < start + (seconds * 1e6) as u64 {
                sender.round();
            }
            let ours = sender.tp.snd_cwnd;
            // The rounds here and there end at other times, by up to 6 segments at the steepest.
            assert!(
                ours.abs_diff(window) * 100 <= window,
                "{seconds} s: {ours}, {window}"
            );
        }
    }

    #[test]
    fn follows_reno_on_short_paths() {
        // At 5 ms and 100 segments Reno with the same reduction regains the loss long before K.
        let windows = |friendly| {
            let mut sender = Sender::new("cubic", &[("tcp_friendliness", friendly)], 5_000);
            sender.tp.snd_cwnd = 100;
            sender.lose();
            sender.rounds(60)[59]
        };
        // 3·(1 − β)/(1 + β) = 0.53 segments a round (RFC 9438 §4.3), here 8/15.
        let reno = 70 + 60 * 8 / 15;
        assert!(windows("true").abs_diff(reno) <= 3, "{}", windows("true"));
        assert!(windows("false") < reno - 5, "{}", windows("false"));
    }

    #[test]
    fn grows_at_most_by_half_a_round() {
        let mut sender = Sender::new("cubic", &[], 100_000);
        sender.tp.snd_cwnd = 100;
        sender.lose();
        sender.rounds(3);
        // Half a minute within a round, which no idle time excuses: the curve is thousands above.
        sender.send();
        sender.tp.now_us += 30_000_000;
        sender.round();
        let windows = sender.rounds(4);
        for pair in windows.windows(2) {
            assert!(pair[1].abs_diff(pair[0] * 3 / 2) <= 1, "{windows:?}");
        }
    }

    #[test]
    fn an_ack_train_of_half_a_round_trip_ends_slow_start() {
        let ended_at = |given: &[(&str, &str)]| {
            let mut sender = Sender::new("cubic", given, 50_000);
            // The path holds 500 segments; ACKs come 100 µs apart.
            sender.service_us = 100;
            sender.rounds(6);
            sender.tp.snd_ssthresh
        };
        // The train passes (50 ms + 1 ms)/2 while some 255 segments are acknowledged.
        let both = ended_at(&[]);
        assert!((255..=600).contains(&both), "{both}");
        assert_eq!(both, ended_at(&[("hystart_detect", "1")]));
        assert_eq!(
            ended_at(&[("hystart_detect", "2")]),
            crate::cc::INFINITE_SSTHRESH
        );
        assert_eq!(
            ended_at(&[("hystart_ack_delta_us", "50")]),
            crate::cc::INFINITE_SSTHRESH
        );
        assert_eq!(
            ended_at(&[("dialect", "linux-2.6")]),
            crate::cc::INFINITE_SSTHRESH
        );
    }

    #[test]
    fn a_longer_round_trip_ends_slow_start() {
        // The eighth of 50 ms that is allowed is 6250 µs.
        for (longer_us, ends) in [(6_000, false), (6_500, true)] {
            let mut sender = Sender::new("cubic", &[], 50_000);
            sender.rounds(2);
            sender.rtt_us += longer_us;
            sender.rounds(3);
            assert_eq!(sender.tp.snd_ssthresh < 1_000, ends, "{longer_us}");
        }
    }

    #[test]
    fn idle_time_does_not_count_as_growth() {
        let window_after = |idle_us| {
            let mut sender = Sender::new("cubic", &[], 50_000);
            sender.tp.snd_cwnd = 1_000;
            sender.lose();
            sender.rounds(20);
            sender.idle(idle_us);
            sender.rounds(20)[19]
        };
        let (without, with) = (window_after(1_000), window_after(60_000_000));
        assert!(with.abs_diff(without) < 20, "{without} {with}");
    }

    #[test]
    fn windows_by_rounds() {
        insta::assert_snapshot!(trace("cubic", &[]), @r"
            20 40 80 160
            112 114 115 117 118 119 121 122 123 124 126 127 128
            89 90 91 92 92 94 94 94 96 96 96 98 98
            ");
        insta::assert_snapshot!(trace("cubic", &[("dialect", "linux-2.6")]), @r"
            20 40 80 160
            127 129 130 131 132 133 134 135 136 137 138 138 139
            111 112 113 113 114 114 115 116 116 117 117 117 118
            ");
    }
}
