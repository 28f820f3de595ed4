//! BBR version 1: paces at the bottleneck's rate, holds about its bandwidth-delay product in
//! flight.
//!
//! # What it does
//! It models the path by two measurements, the largest delivery rate of the last ten rounds (`bw`)
//! and the smallest round trip of the last ten seconds (`min_rtt`), and sets
//!
//! ```text
//! pacing rate = gain × bw × 0.99        cwnd = gain × bw × min_rtt + aggregation + 3 bursts
//!
//!  STARTUP ──bw grew < 25 % in 3 rounds──▶ DRAIN ──inflight ≤ bdp──▶ PROBE_BW ◀──┐
//!    2.89                                  1/2.89             5/4, 3/4, 1 × 6    │
//!     ▲                                                           │ min_rtt is   │
//!     └──────────── pipe not yet known to be full ── PROBE_RTT ◀──┘ 10 s old ────┘
//! ```
//!
//! PROBE_RTT holds four segments for 200 ms and a round. Losses matter in three places only: the
//! first round of a recovery conserves packets, the gain of 5/4 ends early, and two intervals of
//! like rate with more than a fifth lost reveal a policer, whose rate is then used for 48 rounds.
//!
//! Rates are segments per µs × 2²⁴ and gains are in 256ths, as in the kernel. The burst of the
//! window's budget follows the kernel's `tso_segs_goal`, which looks at the pacing rate alone: a
//! device without segmentation offload does not make it smaller.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { limit = "5 bdp" }
//! [[flow]]
//! variant = "bbr"
//! ```
//!
//! # Parameters
//! The kernel's constants, by the kernel's names without `bbr_`.
//!
//! # References
//! Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: congestion-based congestion control", 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00; behaviour as in Linux 6.12.

mod control;
mod filter;
mod model;
mod policer;
#[cfg(test)]
mod tests;

use super::{CaEvent, CaState, CongestionControl, Entry, INFINITE_SSTHRESH, Phase, RateSample, Tp};
use filter::MaxFilter;
use policer::Policer;
use trammel_core::entry::{About, Param, Params};

/// BBR in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "bbr",
        aliases: &["bbr1", "bbrv1"],
        summary: "model of the path: its rate and its unloaded round trip",
        references: &[
            "Cardwell et al. 2016",
            "draft-cardwell-iccrg-bbr-congestion-control-00",
            "Linux 6.12 net/ipv4/tcp_bbr.c",
        ],
        params: &[
            Param::int(
                "bw_rtts",
                1,
                1000,
                "10",
                "rounds",
                "window of the bandwidth filter",
            ),
            Param::int(
                "min_rtt_win_sec",
                1,
                3600,
                "10",
                "s",
                "window of the round-trip filter",
            ),
            Param::int(
                "probe_rtt_mode_ms",
                0,
                60_000,
                "200",
                "ms",
                "time in PROBE_RTT; 0 never enters it",
            ),
            Param::int(
                "pacing_margin_percent",
                0,
                99,
                "1",
                "%",
                "share of the rate left free",
            ),
            Param::int(
                "high_gain",
                257,
                4096,
                "739",
                "/256",
                "gain of STARTUP: 2/ln 2",
            ),
            Param::int(
                "drain_gain",
                1,
                256,
                "88",
                "/256",
                "pacing gain of DRAIN: ln 2/2",
            ),
            Param::int(
                "cwnd_gain",
                256,
                4096,
                "512",
                "/256",
                "window gain of PROBE_BW",
            ),
            Param::int(
                "cycle_rand",
                1,
                8,
                "7",
                "phases",
                "range of the random first phase of PROBE_BW",
            ),
            Param::int(
                "cwnd_min_target",
                1,
                1000,
                "4",
                "segments",
                "window in PROBE_RTT, and the least",
            ),
            Param::int(
                "full_bw_thresh",
                257,
                4096,
                "320",
                "/256",
                "growth a round that STARTUP expects",
            ),
            Param::int(
                "full_bw_cnt",
                1,
                100,
                "3",
                "rounds",
                "rounds without it that end STARTUP",
            ),
            Param::int(
                "lt_intvl_min_rtts",
                1,
                30,
                "4",
                "rounds",
                "least length of a policer interval",
            ),
            Param::int(
                "lt_loss_thresh",
                1,
                256,
                "50",
                "/256",
                "losses that make an interval suspect",
            ),
            Param::int(
                "lt_bw_ratio",
                0,
                256,
                "32",
                "/256",
                "difference of two intervals of one policer",
            ),
            Param::int(
                "lt_bw_diff",
                0,
                1_000_000,
                "500",
                "bytes/s",
                "the same, absolutely",
            ),
            Param::int(
                "lt_bw_max_rtts",
                1,
                127,
                "48",
                "rounds",
                "rounds for which the policer's rate is used",
            ),
            Param::int(
                "extra_acked_gain",
                0,
                4096,
                "256",
                "/256",
                "weight of ACK aggregation in the window",
            ),
            Param::int(
                "extra_acked_win_rtts",
                1,
                31,
                "5",
                "rounds",
                "half the aggregation filter's window",
            ),
            Param::int(
                "extra_acked_max_us",
                0,
                10_000_000,
                "100000",
                "us",
                "most of the rate that aggregation may add",
            ),
        ],
    },
    build: |params| Box::new(Bbr::new(Config::new(params))),
};

/// Fraction bits of a rate in segments per µs: one segment in 2²⁴ µs still is not zero.
const BW_SCALE: u32 = 24;
const BW_UNIT: u64 = 1 << BW_SCALE;
/// Fraction bits of a gain.
const GAIN_SCALE: u32 = 8;
/// A gain of 1.
const UNIT: u64 = 1 << GAIN_SCALE;
/// Pacing gains of PROBE_BW's phases, one `min_rtt` each: probe, drain what the probe queued,
/// cruise.
const CYCLE: [u64; 8] = [
    UNIT * 5 / 4,
    UNIT * 3 / 4,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
];
/// The window that counts before the path is known (RFC 6928).
const INITIAL_CWND: u32 = 10;

/// The parameters.
#[derive(Clone, Debug)]
struct Config {
    bw_rtts: u32,
    min_rtt_win_sec: u64,
    probe_rtt_mode_ms: u64,
    pacing_margin_percent: u64,
    high_gain: u64,
    drain_gain: u64,
    cwnd_gain: u64,
    cycle_rand: u64,
    cwnd_min_target: u32,
    full_bw_thresh: u64,
    full_bw_cnt: u32,
    extra_acked_gain: u64,
    extra_acked_win_rtts: u32,
    extra_acked_max_us: u64,
    policer: policer::Config,
}

impl Config {
    fn new(params: &Params) -> Config {
        let long = |name| params.int(name) as u64;
        let short = |name| params.int(name) as u32;
        Config {
            bw_rtts: short("bw_rtts"),
            min_rtt_win_sec: long("min_rtt_win_sec"),
            probe_rtt_mode_ms: long("probe_rtt_mode_ms"),
            pacing_margin_percent: long("pacing_margin_percent"),
            high_gain: long("high_gain"),
            drain_gain: long("drain_gain"),
            cwnd_gain: long("cwnd_gain"),
            cycle_rand: long("cycle_rand"),
            cwnd_min_target: short("cwnd_min_target"),
            full_bw_thresh: long("full_bw_thresh"),
            full_bw_cnt: short("full_bw_cnt"),
            extra_acked_gain: long("extra_acked_gain"),
            extra_acked_win_rtts: short("extra_acked_win_rtts"),
            extra_acked_max_us: long("extra_acked_max_us"),
            policer: policer::Config {
                min_rounds: short("lt_intvl_min_rtts"),
                loss_thresh: long("lt_loss_thresh"),
                bw_ratio: long("lt_bw_ratio"),
                bw_diff: long("lt_bw_diff"),
                max_rounds: short("lt_bw_max_rtts"),
            },
        }
    }
}

/// The phase of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Rates are in segments per µs × 2²⁴, stamps called `jiffies` in clock ticks.
#[derive(Debug)]
struct Bbr {
    config: Config,
    mode: Mode,
    pacing_gain: u64,
    cwnd_gain: u64,

    min_rtt_us: u32,
    min_rtt_jiffies: u64,
    /// When PROBE_RTT may end; none until the window has drained.
    probe_rtt_done_jiffies: Option<u64>,
    probe_rtt_round_done: bool,

    bw: MaxFilter,
    rtt_cnt: u32,
    /// `delivered` that ends the round.
    next_rtt_delivered: u64,
    round_start: bool,
    policer: Policer,

    cycle_idx: usize,
    cycle_mstamp_us: u64,
    full_bw: u64,
    full_bw_cnt: u32,
    full_bw_reached: bool,

    prev_ca_state: CaState,
    packet_conservation: bool,
    /// The window before a recovery or PROBE_RTT.
    prior_cwnd: u32,
    idle_restart: bool,
    has_seen_rtt: bool,

    ack_epoch_mstamp_us: u64,
    ack_epoch_acked: u64,
    extra_acked: [u32; 2],
    extra_acked_idx: usize,
    extra_acked_rounds: u32,
}

impl Bbr {
    fn new(config: Config) -> Bbr {
        Bbr {
            mode: Mode::Startup,
            pacing_gain: config.high_gain,
            cwnd_gain: config.high_gain,
            min_rtt_us: u32::MAX,
            min_rtt_jiffies: 0,
            probe_rtt_done_jiffies: None,
            probe_rtt_round_done: false,
            bw: MaxFilter::default(),
            rtt_cnt: 0,
            next_rtt_delivered: 0,
            round_start: false,
            policer: Policer::default(),
            cycle_idx: 0,
            cycle_mstamp_us: 0,
            full_bw: 0,
            full_bw_cnt: 0,
            full_bw_reached: false,
            prev_ca_state: CaState::Open,
            packet_conservation: false,
            prior_cwnd: 0,
            idle_restart: false,
            has_seen_rtt: false,
            ack_epoch_mstamp_us: 0,
            ack_epoch_acked: 0,
            extra_acked: [0; 2],
            extra_acked_idx: 0,
            extra_acked_rounds: 0,
            config,
        }
    }

    /// The largest delivery rate of the window.
    fn max_bw(&self) -> u64 {
        self.bw.get()
    }

    /// The rate in use: the policer's where one was found.
    fn current_bw(&self) -> u64 {
        self.policer.rate().unwrap_or_else(|| self.max_bw())
    }
}

impl CongestionControl for Bbr {
    fn init(&mut self, tp: &mut Tp) {
        *self = Bbr::new(self.config.clone());
        tp.snd_ssthresh = INFINITE_SSTHRESH;
        tp.pacing = true;
        self.next_rtt_delivered = tp.delivered;
        self.min_rtt_us = tp.min_rtt_us;
        self.min_rtt_jiffies = tp.jiffies();
        self.ack_epoch_mstamp_us = tp.now_us;
        self.policer.reset(tp);
        self.pace_from_rtt(tp);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        self.save_cwnd(tp);
        tp.snd_ssthresh
    }

    fn cong_avoid(&mut self, _tp: &mut Tp, _ack: u32, _acked: u32) {}

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        if new == CaState::Loss {
            self.prev_ca_state = CaState::Loss;
            self.full_bw = 0;
            // A timeout ends a round, and its losses start the search for a policer.
            self.round_start = true;
            let losses = RateSample {
                losses: 1,
                ..RateSample::default()
            };
            self.sample_policer(tp, &losses);
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        if event != CaEvent::TxStart || tp.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.ack_epoch_mstamp_us = tp.now_us;
        self.ack_epoch_acked = 0;
        // After an idle time the pipe is empty: the rate alone fills it, no gain is needed.
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(tp, self.current_bw(), UNIT),
            Mode::ProbeRtt => self.check_probe_rtt_done(tp),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        // A spurious loss may have made the pipe look full.
        self.full_bw = 0;
        self.full_bw_cnt = 0;
        self.policer.reset(tp);
        tp.snd_cwnd
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.update_model(tp, rs);
        let bw = self.current_bw();
        self.set_pacing_rate(tp, bw, self.pacing_gain);
        self.set_cwnd(tp, rs, bw, self.cwnd_gain);
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }

    fn min_tso_segs(&self, tp: &Tp) -> u32 {
        control::min_tso_segs(tp)
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        let pps = |bw: u64| bw as f64 * 1e6 / BW_UNIT as f64;
        let phase = match self.mode {
            Mode::Startup => Phase::Startup,
            Mode::Drain => Phase::Drain,
            Mode::ProbeRtt => Phase::ProbeRtt,
            Mode::ProbeBw if self.pacing_gain > UNIT => Phase::ProbeUp,
            Mode::ProbeBw if self.pacing_gain < UNIT => Phase::ProbeDown,
            Mode::ProbeBw => Phase::Cruise,
        };
        vec![
            ("mode", f64::from(self.mode as u8)),
            ("state", f64::from(phase as u8)),
            ("bw_pps", pps(self.current_bw())),
            ("bw_hi_pps", pps(self.max_bw())),
            ("round_count", f64::from(self.rtt_cnt)),
            ("full_bw_count", f64::from(self.full_bw_cnt)),
            ("full_bw_reached", f64::from(u8::from(self.full_bw_reached))),
            ("idle_restart", f64::from(u8::from(self.idle_restart))),
            (
                "extra_acked",
                f64::from(self.extra_acked[0].max(self.extra_acked[1])),
            ),
            ("min_rtt_us", f64::from(self.min_rtt_us)),
            ("pacing_gain", self.pacing_gain as f64 / UNIT as f64),
            ("cwnd_gain", self.cwnd_gain as f64 / UNIT as f64),
        ]
    }
}
