//! Illinois: loss decides when to turn, queueing delay by how much.
//!
//! # What it does
//! Once a round it sets the additive increase α and the multiplicative decrease β from the round's
//! mean queueing delay `da` and the largest one ever seen, `dm`:
//!
//! ```text
//! α = 10 for da ≤ dm/100,   then falling as k1/(k2 + da) to 0.3 at da = dm
//! β = 1/8 for da ≤ dm/10,   1/2 for da ≥ 8dm/10,   a straight line between
//! ```
//!
//! After a round with delay α returns to 10 only when `theta` rounds without delay have passed. A
//! window under `win_thresh` and a timeout mean Reno's α = 1, β = 1/2.
//!
//! Dialect `linux-2.6.22` is the module of that version and the next, which took β for the share
//! that a loss leaves: an eighth where the queue was short.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "80 ms"
//! queue = { limit = "0.5 bdp" }
//! [[flow]]
//! variant = "illinois"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! `win_thresh`, `theta`: as in the kernel's module.
//!
//! # References
//! Liu, Başar, Srikant, "TCP-Illinois: a loss and delay-based congestion control algorithm for
//! high-speed networks", 2006; behaviour as in Linux 6.12.

use super::{AckSample, CaState, CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param};

/// Illinois in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "illinois",
        aliases: &[],
        summary: "loss decides when, queueing delay by how much",
        references: &[
            "Liu, Başar, Srikant 2006",
            "Linux 6.12 net/ipv4/tcp_illinois.c",
        ],
        params: &[
            Param {
                name: "dialect",
                kind: Kind::Choice(&["linux", "linux-2.6.22"]),
                default: "linux",
                unit: "",
                help: "Linux 6.12, or Linux 2.6.22 with the loss turned round",
            },
            Param {
                name: "win_thresh",
                kind: Kind::Int(0, 1_000_000),
                default: "15",
                unit: "segments",
                help: "window under which it behaves as Reno",
            },
            Param {
                name: "theta",
                kind: Kind::Int(0, 255),
                default: "5",
                unit: "rounds",
                help: "rounds without delay before the increase returns to its maximum",
            },
        ],
    },
    build: |params| {
        Box::new(Illinois {
            is_inverted: params.text("dialect") == "linux-2.6.22",
            win_thresh: params.int("win_thresh") as u32,
            theta: params.int("theta") as u32,
            alpha: ALPHA_MAX,
            beta: BETA_BASE,
            base_rtt_us: u32::MAX,
            max_rtt_us: 0,
            sum_rtt_us: 0,
            samples: 0,
            end_seq: 0,
            acked: 0,
            delayed: false,
            quiet_rounds: 0,
        })
    },
};

/// α is kept in 128ths, so that 0.3 has three digits and 10 × the longest round trip fits 32 bits.
const ALPHA_SHIFT: u32 = 7;
const ALPHA_BASE: u32 = 1 << ALPHA_SHIFT;
const ALPHA_MIN: u32 = 3 * ALPHA_BASE / 10;
const ALPHA_MAX: u32 = 10 * ALPHA_BASE;
/// β is kept in 64ths.
const BETA_SHIFT: u32 = 6;
const BETA_MIN: u32 = (1 << BETA_SHIFT) / 8;
const BETA_MAX: u32 = (1 << BETA_SHIFT) / 2;
const BETA_BASE: u32 = BETA_MAX;
/// Longer samples are cut here, which keeps α's numerator inside 32 bits.
const RTT_MAX_US: u32 = u32::MAX / ALPHA_MAX;

#[derive(Debug)]
struct Illinois {
    is_inverted: bool,
    win_thresh: u32,
    theta: u32,
    /// Segments added a window × 128.
    alpha: u32,
    /// Share of the window taken away × 64.
    beta: u32,
    base_rtt_us: u32,
    max_rtt_us: u32,
    sum_rtt_us: u64,
    samples: u32,
    /// The round ends when this is acknowledged.
    end_seq: u32,
    /// Segments of the ACK in hand.
    acked: u32,
    /// A round with queueing delay was seen since α was last at its maximum.
    delayed: bool,
    quiet_rounds: u32,
}

impl Illinois {
    fn start_round(&mut self, tp: &Tp) {
        self.end_seq = tp.snd_nxt;
        self.samples = 0;
        self.sum_rtt_us = 0;
    }

    fn end_round(&mut self, tp: &Tp) {
        if tp.snd_cwnd < self.win_thresh {
            (self.alpha, self.beta) = (ALPHA_BASE, BETA_BASE);
        } else if self.samples > 0 {
            let mean_us = (self.sum_rtt_us / u64::from(self.samples)) as u32;
            let (da, dm) = (
                mean_us - self.base_rtt_us,
                self.max_rtt_us - self.base_rtt_us,
            );
            self.alpha = self.next_alpha(da, dm);
            self.beta = beta(da, dm);
        }
        self.start_round(tp);
    }

    /// α for the mean delay `da` where the largest is `dm`, with the wait after a round of delay.
    fn next_alpha(&mut self, da: u32, dm: u32) -> u32 {
        let free = dm / 100;
        if da > free {
            self.delayed = true;
            return falling_alpha(da - free, dm - free);
        }
        if self.delayed {
            // A quiet round may only mean that the others backed off: wait for several.
            self.quiet_rounds += 1;
            if self.quiet_rounds < self.theta {
                return self.alpha;
            }
            self.quiet_rounds = 0;
            self.delayed = false;
        }
        ALPHA_MAX
    }
}

/// The hyperbola through `ALPHA_MAX` at 0 and `ALPHA_MIN` at `dm`.
fn falling_alpha(da: u32, dm: u32) -> u32 {
    dm * ALPHA_MAX / (dm + da * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
}

fn beta(da: u32, dm: u32) -> u32 {
    let low = dm / 10;
    let high = 8 * dm / 10;
    if da <= low {
        BETA_MIN
    } else if da >= high || high <= low {
        BETA_MAX
    } else {
        (BETA_MIN * high + (BETA_MAX - BETA_MIN) * da - BETA_MAX * low) / (high - low)
    }
}

fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl CongestionControl for Illinois {
    fn init(&mut self, tp: &mut Tp) {
        self.start_round(tp);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        let share = ((u64::from(tp.snd_cwnd) * u64::from(self.beta)) >> BETA_SHIFT) as u32;
        if self.is_inverted {
            share.max(2)
        } else {
            (tp.snd_cwnd - share).max(2)
        }
    }

    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32) {
        if after(ack, self.end_seq) {
            self.end_round(tp);
        }
        if !tp.is_cwnd_limited() {
            return;
        }
        if tp.in_slow_start() {
            tp.slow_start(acked);
            return;
        }
        tp.snd_cwnd_cnt += self.acked;
        // A second call for the same ACK counts as one segment.
        self.acked = 1;
        let due = ((u64::from(tp.snd_cwnd_cnt) * u64::from(self.alpha)) >> ALPHA_SHIFT) as u32;
        if due >= tp.snd_cwnd {
            tp.snd_cwnd = (tp.snd_cwnd + due / tp.snd_cwnd).min(tp.snd_cwnd_clamp);
            // The remainder is given away, as the kernel does.
            tp.snd_cwnd_cnt = 0;
        }
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        if new == CaState::Loss {
            (self.alpha, self.beta) = (ALPHA_BASE, BETA_BASE);
            self.delayed = false;
            self.quiet_rounds = 0;
            self.start_round(tp);
        }
    }

    fn pkts_acked(&mut self, _tp: &mut Tp, sample: &AckSample) {
        self.acked = sample.pkts_acked;
        if sample.rtt_us < 0 {
            return;
        }
        let rtt_us = (sample.rtt_us as u32).min(RTT_MAX_US);
        self.base_rtt_us = self.base_rtt_us.min(rtt_us);
        self.max_rtt_us = self.max_rtt_us.max(rtt_us);
        self.samples += 1;
        self.sum_rtt_us += u64::from(rtt_us);
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("alpha", f64::from(self.alpha) / f64::from(ALPHA_BASE)),
            ("beta", f64::from(self.beta) / f64::from(1 << BETA_SHIFT)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::{Params, Value};
    use trammel_core::rng::Rng;

    fn tp(cwnd: u32) -> Tp {
        let mut tp = Tp::new(cwnd, 1448, Rng::new(1, "flow"));
        tp.snd_ssthresh = 2;
        tp.cwnd_limited = true;
        tp
    }

    /// Acknowledges one round of `cwnd` segments of `rtt_us`.
    fn round(cc: &mut dyn CongestionControl, tp: &mut Tp, rtt_us: i32) {
        let mut ack = tp.snd_nxt;
        tp.snd_nxt = tp.snd_nxt.wrapping_add(tp.snd_cwnd);
        for _ in 0..tp.snd_cwnd {
            ack = ack.wrapping_add(1);
            let sample = AckSample {
                pkts_acked: 1,
                rtt_us,
                in_flight: 1,
            };
            cc.pkts_acked(tp, &sample);
            cc.cong_avoid(tp, ack, 1);
        }
    }

    fn alpha_beta(cc: &dyn CongestionControl) -> (f64, f64) {
        let seen = cc.observe();
        (seen[0].1, seen[1].1)
    }

    #[test]
    fn the_curves_have_the_papers_end_points() {
        assert_eq!(falling_alpha(0, 99_000), ALPHA_MAX);
        assert_eq!(falling_alpha(99_000, 99_000), ALPHA_MIN);
        assert_eq!(beta(10_000, 100_000), BETA_MIN);
        assert_eq!(beta(80_000, 100_000), BETA_MAX);
        assert_eq!(beta(45_000, 100_000), u32::midpoint(BETA_MIN, BETA_MAX));
        // Delays of a few microseconds leave no room for a slope.
        assert_eq!(beta(1, 1), BETA_MAX);
    }

    #[test]
    fn grows_by_ten_a_window_on_an_empty_queue_and_by_less_on_a_full_one() {
        let mut cc = (ENTRY.build)(&Params::defaults(&ENTRY.about));
        let mut tp = tp(1000);
        cc.init(&mut tp);
        round(&mut *cc, &mut tp, 50_000);
        assert!((1009..=1010).contains(&tp.snd_cwnd), "{}", tp.snd_cwnd);
        round(&mut *cc, &mut tp, 100_000);
        round(&mut *cc, &mut tp, 100_000);
        let (alpha, beta) = alpha_beta(&*cc);
        assert!((0.28..0.32).contains(&alpha), "{alpha}");
        assert_eq!(beta, 0.5);
        assert_eq!(cc.ssthresh(&mut tp), tp.snd_cwnd - tp.snd_cwnd / 2);
    }

    #[test]
    fn waits_theta_quiet_rounds_before_it_is_fast_again() {
        let mut cc = (ENTRY.build)(&Params::defaults(&ENTRY.about));
        let mut tp = tp(1000);
        cc.init(&mut tp);
        for rtt_us in [50_000, 100_000, 100_000] {
            round(&mut *cc, &mut tp, rtt_us);
        }
        let mut waited = 0;
        while alpha_beta(&*cc).0 < 10.0 {
            round(&mut *cc, &mut tp, 50_000);
            waited += 1;
        }
        // A round is judged in the one after it.
        assert_eq!(waited, 6);
    }

    #[test]
    fn is_reno_under_the_threshold_and_after_a_timeout() {
        let mut cc = (ENTRY.build)(&Params::defaults(&ENTRY.about));
        let mut tp = tp(10);
        cc.init(&mut tp);
        round(&mut *cc, &mut tp, 50_000);
        round(&mut *cc, &mut tp, 50_000);
        assert_eq!(alpha_beta(&*cc), (1.0, 0.5));
        tp.snd_cwnd = 100;
        round(&mut *cc, &mut tp, 50_000);
        round(&mut *cc, &mut tp, 50_000);
        assert_eq!(alpha_beta(&*cc), (10.0, 0.125));
        cc.set_state(&mut tp, CaState::Loss);
        assert_eq!(alpha_beta(&*cc), (1.0, 0.5));
    }

    #[test]
    fn linux_2_6_22_keeps_the_share_that_the_paper_takes_away() {
        for (dialect, left) in [("linux", 140), ("linux-2.6.22", 20)] {
            let given = [("dialect".to_owned(), Value::Text(dialect.to_owned()))];
            let params = Params::resolve(&ENTRY.about, &given).unwrap();
            let (mut cc, mut tp) = ((ENTRY.build)(&params), tp(160));
            cc.init(&mut tp);
            // A round without queueing delay: β is an eighth.
            let sample = AckSample {
                pkts_acked: 1,
                rtt_us: 50_000,
                in_flight: 160,
            };
            cc.pkts_acked(&mut tp, &sample);
            let end = tp.snd_nxt.wrapping_add(1);
            cc.cong_avoid(&mut tp, end, 1);
            tp.snd_cwnd = 160;
            assert_eq!(cc.ssthresh(&mut tp), left, "{dialect}");
        }
    }
}
