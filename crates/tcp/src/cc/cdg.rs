//! CDG: backs off at random with the gradient of the round-trip time.
//!
//! # What it does
//! Once a round the changes of the smallest and the largest round trip, summed over the last
//! `window` rounds, give a gradient `g` in µs. While it rises the window is multiplied by 0.7 with
//! probability
//!
//! ```text
//! P = 1 − exp(−g × backoff_factor / 10⁶)
//! ```
//!
//! After `use_ineff` back-offs without a fall of the round trip others must be filling the queue,
//! and it stops backing off until it falls. A shadow window remembers what Reno would have, so that
//! a loss does not cost twice. With `use_tolerance` losses while the queue is not full are taken
//! for random ones. Slow start ends by the ACK train or the delay of HyStart.
//!
//! A back-off is the stack's own reduction: the controller sets `ca_state` to `Cwr`, `prior_cwnd`
//! and `snd_ssthresh`, and the connection reduces as after an ECN mark.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "30 ms"
//! queue = { limit = "4 bdp" }
//! [[flow]]
//! variant = "cdg"
//! ```
//!
//! # Parameters
//! As in the kernel's module; `window` is rounded up to a power of two, which the kernel demands.
//!
//! # References
//! Hayes, Armitage, "Revisiting TCP congestion control using delay gradients", 2011; behaviour as
//! in Linux 6.12.

use super::{AckSample, CaEvent, CaState, CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param};

/// CDG in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "cdg",
        aliases: &[],
        summary: "backs off at random with the gradient of the round trip",
        references: &["Hayes, Armitage 2011", "Linux 6.12 net/ipv4/tcp_cdg.c"],
        params: &[
            Param {
                name: "window",
                kind: Kind::Int(1, 256),
                default: "8",
                unit: "rounds",
                help: "rounds over which gradients are smoothed",
            },
            Param {
                name: "backoff_beta",
                kind: Kind::Int(1, 1024),
                default: "724",
                unit: "/1024",
                help: "share of the window kept by a back-off",
            },
            Param {
                name: "backoff_factor",
                kind: Kind::Int(0, 1_000_000),
                default: "42",
                unit: "",
                help: "weight of the gradient in the back-off probability",
            },
            Param {
                name: "hystart_detect",
                kind: Kind::Int(0, 3),
                default: "3",
                unit: "",
                help: "end of slow start: 1 by ACK trains, 2 by delay, 3 by both, 0 by neither",
            },
            Param {
                name: "use_ineff",
                kind: Kind::Int(0, 1_000_000),
                default: "5",
                unit: "back-offs",
                help: "ineffectual back-offs after which it stops; 0 never stops",
            },
            Param {
                name: "use_shadow",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "keep a shadow window for losses",
            },
            Param {
                name: "use_tolerance",
                kind: Kind::Bool,
                default: "false",
                unit: "",
                help: "keep the window at losses while the queue is not full",
            },
        ],
    },
    build: |params| {
        let rounds = (params.int("window") as usize).next_power_of_two();
        Box::new(Cdg {
            config: Config {
                rounds,
                backoff_beta: params.int("backoff_beta") as u64,
                backoff_factor: params.int("backoff_factor") as u32,
                hystart_detect: params.int("hystart_detect") as u32,
                use_ineff: params.int("use_ineff") as u32,
                use_shadow: params.bool("use_shadow"),
                use_tolerance: params.bool("use_tolerance"),
            },
            state: State::new(rounds, 0, 0),
        })
    },
};

const HYSTART_ACK_TRAIN: u32 = 1;
const HYSTART_DELAY: u32 = 2;
/// ACKs further apart belong to two trains.
const TRAIN_GAP_US: u64 = 3000;
/// Noise of round trips: shorter thresholds would end slow start by chance.
const DELAY_FLOOR_US: i32 = 125;
/// Round trips of a round before its delay is judged.
const DELAY_SAMPLES: u32 = 8;
/// A fall of the gradient sum by this much shows that a back-off had an effect.
const EFFECT_US: i32 = 32;

#[derive(Clone, Debug)]
struct Config {
    rounds: usize,
    backoff_beta: u64,
    backoff_factor: u32,
    hystart_detect: u32,
    use_ineff: u32,
    use_shadow: bool,
    use_tolerance: bool,
}

/// Smallest and largest round trip of a round in µs, or changes of them; 0 means none yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MinMax {
    min: i32,
    max: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Unknown,
    NotFull,
    Full,
    /// A back-off for delay is under way: `ssthresh` is not for a loss.
    Backoff,
}

#[derive(Debug)]
struct State {
    rtt: MinMax,
    rtt_prev: MinMax,
    gradients: Vec<MinMax>,
    sum: MinMax,
    /// The window of gradients is full.
    filled: bool,
    tail: usize,
    queue: Queue,
    /// ACKs of single segments that are still taken for delayed ones.
    delack: u32,
    rtt_seq: u32,
    shadow_wnd: u32,
    backoff_cnt: u32,
    sample_cnt: u32,
    delay_min_us: i32,
    last_ack_us: u64,
    round_start_us: u64,
}

impl State {
    fn new(rounds: usize, rtt_seq: u32, shadow_wnd: u32) -> State {
        State {
            rtt: MinMax::default(),
            rtt_prev: MinMax::default(),
            // A window of one keeps no history: the gradient is the last change.
            gradients: vec![MinMax::default(); if rounds > 1 { rounds } else { 0 }],
            sum: MinMax::default(),
            filled: false,
            tail: 0,
            queue: Queue::Unknown,
            delack: 0,
            rtt_seq,
            shadow_wnd,
            backoff_cnt: 0,
            sample_cnt: 0,
            delay_min_us: 0,
            last_ack_us: 0,
            round_start_us: 0,
        }
    }
}

/// The smaller of two, where 0 is none.
fn min_not_zero(a: i32, b: i32) -> i32 {
    if a == 0 || b == 0 { a.max(b) } else { a.min(b) }
}

/// exp(−`micros` × 10⁻⁶) × (2³² − 1), by integers.
///
/// The lowest eight bits act linearly; each higher bit multiplies by exp(−2.56 × 10⁻⁴ × 2ⁱ) in
/// 65536ths.
fn negative_exponential(micros: u32) -> u32 {
    const FACTORS: [u64; 16] = [
        65519, 65502, 65469, 65402, 65268, 65002, 64471, 63423, 61379, 57485, 50424, 38796, 22966,
        8048, 988, 15,
    ];
    let high = micros >> 8;
    // Less than 222 × 2⁻³².
    if high > u32::from(u16::MAX) {
        return 0;
    }
    let start = u32::MAX - (micros & 0xff) * (u32::MAX / 1_000_000);
    FACTORS
        .iter()
        .enumerate()
        .filter(|(bit, _)| high >> bit & 1 == 1)
        .fold(start, |product, (_, factor)| {
            ((u64::from(product) * factor) >> 16) as u32
        })
}

/// `a / 64` to the nearest whole number, halves away from zero.
fn round_64th(a: i32) -> i32 {
    (a + if a > 0 { 32 } else { -32 }) / 64
}

/// Goes on by congestion avoidance from the present window.
// Differs from Linux 6.12: never from one segment, which a timeout may have left.
fn end_slow_start(tp: &mut Tp) {
    tp.snd_ssthresh = tp.snd_cwnd.max(2);
}

#[derive(Debug)]
struct Cdg {
    config: Config,
    state: State,
}

impl Cdg {
    /// Ends slow start by HyStart's two signs.
    fn hystart(&mut self, tp: &mut Tp) {
        let s = &mut self.state;
        s.delay_min_us = min_not_zero(s.delay_min_us, s.rtt.min);
        if s.delay_min_us == 0 {
            return;
        }
        if self.config.hystart_detect & HYSTART_ACK_TRAIN != 0 {
            let now_us = tp.now_us;
            if s.last_ack_us == 0 || !tp.is_cwnd_limited() {
                s.last_ack_us = now_us;
                s.round_start_us = now_us;
            } else if now_us < s.last_ack_us + TRAIN_GAP_US {
                let half = (s.delay_min_us / 2).max(DELAY_FLOOR_US);
                s.last_ack_us = now_us;
                if now_us > s.round_start_us + half as u64 {
                    end_slow_start(tp);
                    return;
                }
            }
        }
        if self.config.hystart_detect & HYSTART_DELAY != 0 {
            if s.sample_cnt < DELAY_SAMPLES {
                s.sample_cnt += 1;
            } else if s.rtt.min > (s.delay_min_us + s.delay_min_us / 8).max(DELAY_FLOOR_US) {
                end_slow_start(tp);
            }
        }
    }

    /// The gradient of the round trip over the window of rounds, µs.
    fn gradient(&mut self) -> i32 {
        let rounds = self.config.rounds as i32;
        let s = &mut self.state;
        let mut change = MinMax {
            min: s.rtt.min - s.rtt_prev.min,
            max: s.rtt.max - s.rtt_prev.max,
        };
        if let Some(oldest) = s.gradients.get_mut(s.tail) {
            s.sum.min += change.min - oldest.min;
            s.sum.max += change.max - oldest.max;
            *oldest = change;
            s.tail = (s.tail + 1) % self.config.rounds;
            change = s.sum;
        }
        let mut gradient = if change.min > 0 {
            change.min
        } else {
            change.max
        };
        // A window that is not full yet is extrapolated.
        if !s.filled {
            if s.tail == 0 {
                s.filled = true;
            } else {
                gradient = gradient * rounds / s.tail as i32;
            }
        }
        if change.min <= -EFFECT_US || change.max <= -EFFECT_US {
            s.backoff_cnt = 0;
        }
        if self.config.use_tolerance {
            let (min, max) = (round_64th(change.min), round_64th(change.max));
            if min > 0 && max <= 0 {
                s.queue = Queue::Full;
            } else if (min > 0 && max > 0) || max < 0 {
                s.queue = Queue::NotFull;
            }
        }
        gradient
    }

    /// Backs off with the probability of `gradient`; whether it did.
    fn back_off(&mut self, tp: &mut Tp, gradient: i32) -> bool {
        let exponent = (gradient as u32).wrapping_mul(self.config.backoff_factor);
        if tp.rng.below(1 << 32) <= u64::from(negative_exponential(exponent)) {
            return false;
        }
        if self.config.use_ineff > 0 {
            self.state.backoff_cnt += 1;
            if self.state.backoff_cnt > self.config.use_ineff {
                return false;
            }
        }
        self.state.shadow_wnd = self.state.shadow_wnd.max(tp.snd_cwnd);
        self.state.queue = Queue::Backoff;
        self.enter_cwr(tp);
        true
    }

    /// Asks the connection for a reduction that is not for a loss.
    fn enter_cwr(&mut self, tp: &mut Tp) {
        if tp.ca_state >= CaState::Cwr {
            return;
        }
        tp.snd_cwnd_cnt = 0;
        tp.prior_cwnd = tp.snd_cwnd;
        tp.snd_ssthresh = self.ssthresh(tp);
        self.set_state(tp, CaState::Cwr);
        tp.ca_state = CaState::Cwr;
    }
}

fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl CongestionControl for Cdg {
    fn init(&mut self, tp: &mut Tp) {
        self.state = State::new(self.config.rounds, tp.snd_nxt, tp.snd_cwnd);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        if self.state.queue == Queue::Backoff {
            let kept = (u64::from(tp.snd_cwnd) * self.config.backoff_beta) >> 10;
            return (kept as u32).max(2);
        }
        if self.state.queue == Queue::NotFull && self.config.use_tolerance {
            return tp.snd_cwnd.max(2);
        }
        self.state.shadow_wnd = (self.state.shadow_wnd >> 1).min(tp.snd_cwnd);
        let half = tp.reno_ssthresh();
        if self.config.use_shadow {
            half.max(self.state.shadow_wnd)
        } else {
            half
        }
    }

    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32) {
        if tp.in_slow_start() && self.config.hystart_detect != 0 {
            self.hystart(tp);
        }
        let none = MinMax::default();
        if after(ack, self.state.rtt_seq) && self.state.rtt != none {
            let gradient = if self.state.rtt_prev == none {
                0
            } else {
                self.gradient()
            };
            let s = &mut self.state;
            s.rtt_seq = tp.snd_nxt;
            s.rtt_prev = s.rtt;
            s.rtt = none;
            s.last_ack_us = 0;
            s.sample_cnt = 0;
            if gradient > 0 && self.back_off(tp, gradient) {
                return;
            }
        }
        if !tp.is_cwnd_limited() {
            self.state.shadow_wnd = self.state.shadow_wnd.min(tp.snd_cwnd);
            return;
        }
        let before = tp.snd_cwnd;
        tp.reno_cong_avoid(acked);
        // The window falls here where it was above its clamp, as an initial window may be.
        let grown = tp.snd_cwnd.saturating_sub(before);
        self.state.shadow_wnd = self.state.shadow_wnd.saturating_add(grown);
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        match event {
            CaEvent::CwndRestart => self.init(tp),
            CaEvent::CompleteCwr => {
                let s = &mut self.state;
                s.queue = Queue::Unknown;
                s.rtt_seq = tp.snd_nxt;
                s.rtt_prev = s.rtt;
                s.rtt = MinMax::default();
            }
            CaEvent::TxStart
            | CaEvent::Loss
            | CaEvent::TailLossRepaired
            | CaEvent::EcnNoCe
            | CaEvent::EcnIsCe => {}
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if sample.rtt_us <= 0 {
            return;
        }
        let s = &mut self.state;
        // A single segment acknowledged after pairs may have waited for the receiver's timer: it
        // counts only where it is smaller still (Hayes, CAIA report 100219A).
        if tp.sacked_out == 0 {
            if sample.pkts_acked == 1 && s.delack > 0 {
                s.rtt.min = s.rtt.min.min(sample.rtt_us);
                s.delack -= 1;
                return;
            }
            if sample.pkts_acked > 1 && s.delack < 5 {
                s.delack += 1;
            }
        }
        s.rtt.min = min_not_zero(s.rtt.min, sample.rtt_us);
        s.rtt.max = s.rtt.max.max(sample.rtt_us);
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("gradient_min_us", f64::from(self.state.sum.min)),
            ("gradient_max_us", f64::from(self.state.sum.max)),
            ("shadow_wnd", f64::from(self.state.shadow_wnd)),
            ("backoff_cnt", f64::from(self.state.backoff_cnt)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn started(window: usize) -> (Cdg, Tp) {
        let mut tp = Tp::new(100, 1448, Rng::new(1, "flow"));
        tp.snd_ssthresh = 50;
        tp.cwnd_limited = true;
        let mut cc = Cdg {
            config: Config {
                rounds: window,
                backoff_beta: 724,
                backoff_factor: 42,
                hystart_detect: 3,
                use_ineff: 5,
                use_shadow: true,
                use_tolerance: false,
            },
            state: State::new(window, 0, 0),
        };
        cc.init(&mut tp);
        (cc, tp)
    }

    #[test]
    fn a_window_above_its_clamp_falls_to_it_and_the_shadow_stays() {
        // An initial window may be larger than the clamp that a scenario gives.
        let (mut cc, mut tp) = started(8);
        (tp.snd_cwnd, tp.snd_cwnd_clamp) = (40, 12);
        let shadow = cc.state.shadow_wnd;
        cc.cong_avoid(&mut tp, 1, 1);
        assert!(tp.snd_cwnd <= 12, "{}", tp.snd_cwnd);
        assert_eq!(cc.state.shadow_wnd, shadow);
    }

    #[test]
    fn the_integer_exponential_is_exact_to_a_thousandth() {
        for micros in [
            0_u32, 1, 255, 256, 1000, 42_000, 500_000, 1_000_000, 5_000_000,
        ] {
            let exact = (-f64::from(micros) * 1e-6).exp();
            let ours = f64::from(negative_exponential(micros)) / f64::from(u32::MAX);
            assert!(
                (ours / exact - 1.0).abs() < 1e-3,
                "{micros}: {ours} {exact}"
            );
        }
        assert_eq!(negative_exponential(1 << 24), 0);
    }

    #[test]
    fn backs_off_with_the_probability_of_the_gradient() {
        // 42 × 10 ms: 1 − exp(−0.42) = 34 %; four standard deviations of 4000 draws are 3 %.
        let (mut cc, mut tp) = started(8);
        cc.config.use_ineff = 0;
        let backed_off = (0..4000)
            .filter(|_| {
                tp.ca_state = CaState::Open;
                cc.back_off(&mut tp, 10_000)
            })
            .count();
        assert!((1254..=1490).contains(&backed_off), "{backed_off}");
    }

    #[test]
    fn a_back_off_keeps_seven_tenths_and_enters_cwr() {
        let (mut cc, mut tp) = started(8);
        while !cc.back_off(&mut tp, 1_000_000) {}
        assert_eq!((tp.ca_state, tp.snd_ssthresh), (CaState::Cwr, 70));
        assert_eq!(tp.prior_cwnd, 100);
        // A loss after it is judged by the window that Reno would have had.
        tp.snd_cwnd = 70;
        cc.cwnd_event(&mut tp, CaEvent::CompleteCwr);
        assert_eq!(cc.ssthresh(&mut tp), 50);
    }

    #[test]
    fn gives_up_after_five_back_offs_without_effect_until_the_round_trip_falls() {
        let (mut cc, mut tp) = started(1);
        let mut backed_off = 0;
        for _ in 0..100 {
            tp.ca_state = CaState::Open;
            backed_off += u32::from(cc.back_off(&mut tp, 1_000_000));
        }
        assert_eq!(backed_off, 5);
        cc.state.rtt_prev = MinMax { min: 900, max: 900 };
        cc.state.rtt = MinMax { min: 860, max: 860 };
        assert_eq!(cc.gradient(), -40);
        assert_eq!(cc.state.backoff_cnt, 0);
    }

    #[test]
    fn the_gradient_is_summed_over_eight_rounds_and_extrapolated_before() {
        let (mut cc, _) = started(8);
        let mut gradients = Vec::new();
        for round in 1..=9 {
            cc.state.rtt_prev = cc.state.rtt;
            cc.state.rtt = MinMax {
                min: 1000 + 10 * round,
                max: 2000 + 10 * round,
            };
            if round > 1 {
                gradients.push(cc.gradient());
            }
        }
        assert_eq!(gradients, [80; 8]);
    }

    #[test]
    fn long_ack_trains_and_delay_end_slow_start() {
        for (detect, gap_us, rtt_us, ends) in [
            (HYSTART_ACK_TRAIN, 1000, 20_000, true),
            (HYSTART_ACK_TRAIN, 4000, 20_000, false),
            (HYSTART_DELAY, 4000, 22_600, true),
            (HYSTART_DELAY, 4000, 22_400, false),
        ] {
            let (mut cc, mut tp) = started(8);
            cc.config.hystart_detect = detect;
            tp.snd_ssthresh = 1000;
            cc.state.delay_min_us = 20_000;
            cc.state.rtt = MinMax {
                min: rtt_us,
                max: rtt_us,
            };
            for i in 1..=12 {
                tp.now_us = i * gap_us;
                cc.hystart(&mut tp);
            }
            assert_eq!(
                tp.snd_ssthresh == tp.snd_cwnd,
                ends,
                "{detect} {gap_us} {rtt_us}"
            );
        }
    }

    #[test]
    fn lone_segments_after_pairs_count_only_where_they_are_smaller() {
        let (mut cc, mut tp) = started(8);
        for (pkts_acked, rtt_us) in [(2, 1000), (1, 40_000), (2, 1000), (1, 900)] {
            let sample = AckSample {
                pkts_acked,
                rtt_us,
                in_flight: 1,
            };
            cc.pkts_acked(&mut tp, &sample);
        }
        assert_eq!(
            cc.state.rtt,
            MinMax {
                min: 900,
                max: 1000
            }
        );
    }
}
