//! BBR version 3: a model of the path with bounds on rate and volume that losses set.
//!
//! # What it does
//! Like version 1 it measures the largest delivery rate (`bw_hi`, over two cycles of probing) and
//! the smallest round trip (`min_rtt`, over ten seconds). Losses add two pairs of bounds. While it
//! probes, more than 2 % lost in a round set `inflight_hi`, the most that may be in flight from
//! then on. While it does not, each round with a loss lowers `bw_lo` and `inflight_lo` by up to
//! 30 %, and the next probe forgets them.
//!
//! ```text
//! pacing rate = gain × min(bw_hi, bw_lo) × 0.99
//! cwnd        = gain × bw × min_rtt + aggregation, at most inflight_hi and inflight_lo
//!
//!   STARTUP ──3 rounds without 25 % more, or 2 % lost──▶ DRAIN ──inflight ≤ bdp──┐
//!     2.77                                                0.5                    │
//!      ▲                                                                         ▼
//!      │            ┌──▶ REFILL ──a round──▶ UP ──loss, or no growth──▶ DOWN ◀───┘
//!   PROBE_RTT       │      1                1.25                        0.9
//!   5 s without a   └── CRUISE ◀──────────── inflight ≤ bdp, with headroom ─┘
//!   smaller rtt              1
//! ```
//!
//! CRUISE ends after 2 to 3 s, or after as many rounds as Reno would need to fill the path, at most
//! 63. PROBE_RTT holds half of the product in flight for 200 ms and a round.
//!
//! # Dialects
//! `draft` is the Internet-Draft, `linux` the module of google's branch `v3`, which was written
//! before it:
//!
//! ```text
//!                            draft               linux
//! gain of DRAIN, of DOWN     0.5, 0.9            0.34, 0.91
//! DRAIN ends at the latest   after 3 rounds      never
//! full pipe is looked for    once a round        in every ACK
//! loss ends STARTUP          6 ranges in a round 6 ACKs with losses in a round
//! aggregation                10 rounds           5 to 10 rounds, at most 100 ms of the rate
//! a sample over 2 % lost     is not looked at    ends the probe too, beside each loss
//! spurious losses in a probe begin it anew       leave it ended
//! a timeout                  bounds as a loss    bounds the volume at the window before it
//! a mark of congestion       counts as a loss    has no effect unless `ecn_low`
//! ```
//!
//! With `ecn_low` and a round trip of at most 5 ms, dialect `linux` keeps the mean share α of
//! marked segments. A round with marks takes α/3 of the volume, half of the segments marked end a
//! probe, and marks that cease begin one.
//!
//! Windows are whole segments and rates segments per µs × 2²⁴. The draft counts bytes.
//!
//! # In traces
//! `phase` is the state: `startup`, `drain`, `probe-rtt`, `probe-up`, `probe-down`, `cruise`,
//! `refill`. `bw_bps` is the rate in use, and `inflight_hi_pkts` and `inflight_lo_pkts` are empty
//! where nothing is bounded. A guest's kernel with google's module has the same columns.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { limit = "0.5 bdp" }
//! [[flow]]
//! variant = "bbr3"
//! [[flow]]
//! variant = "bbr3"
//! params = { dialect = "linux" }
//! ```
//!
//! # References
//! draft-ietf-ccwg-bbr, revision 4ce5e87 of 2026-08-03 in its repository; behaviour of dialect
//! `linux` as in google's branch v3 of 2023-11-22 on Linux 6.12.

mod aggregation;
mod control;
mod cycle;
mod ecn;
mod loss;
mod model;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;

use super::{AckFlags, CaEvent, CaState, CongestionControl, Entry, INFINITE_SSTHRESH};
use super::{LostSegment, PathModel, Phase, RateSample, Tp};
use aggregation::Aggregation;
use ecn::Marks;
use trammel_core::entry::{About, Kind, Param, Params};

/// Whose default a parameter has that the dialects disagree on.
const BY_DIALECT: &str = "0";

/// BBR version 3 in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "bbr3",
        aliases: &["bbrv3"],
        summary: "model of the path with bounds that losses set: BBR version 3",
        references: &[
            "draft-ietf-ccwg-bbr (2026-08-03)",
            "google/bbr branch v3 (2023-11-22)",
        ],
        params: &[
            Param {
                name: "dialect",
                kind: Kind::Choice(&["draft", "linux"]),
                default: "draft",
                unit: "",
                help: "the Internet-Draft, or google's module for Linux",
            },
            Param::float(
                "startup_pacing_gain",
                0.0,
                16.0,
                BY_DIALECT,
                "",
                "gain of STARTUP; 0: 2.77, 4 ln 2",
            ),
            Param::float(
                "drain_pacing_gain",
                0.0,
                1.0,
                BY_DIALECT,
                "",
                "gain of DRAIN; 0: the dialect's, 0.5 or 0.344",
            ),
            Param::float(
                "probe_down_pacing_gain",
                0.0,
                1.0,
                BY_DIALECT,
                "",
                "gain of DOWN; 0: the dialect's, 0.9 or 0.906",
            ),
            Param::float("probe_up_pacing_gain", 1.0, 4.0, "1.25", "", "gain of UP"),
            Param::float(
                "cwnd_gain",
                1.0,
                16.0,
                "2",
                "",
                "window gain, a quarter more in UP",
            ),
            Param::float(
                "loss_thresh",
                0.0,
                1.0,
                BY_DIALECT,
                "",
                "share lost in a round that ends a probe; 0: the dialect's, 0.02 or 5/256",
            ),
            Param::float(
                "beta",
                0.0,
                1.0,
                BY_DIALECT,
                "",
                "share that a loss leaves at least; 0: the dialect's, 0.7 or 180/256",
            ),
            Param::float(
                "headroom",
                0.0,
                1.0,
                BY_DIALECT,
                "",
                "share of inflight_hi left free in CRUISE; 0: the dialect's, 0.15 or 38/256",
            ),
            Param::int(
                "startup_full_loss_count",
                1,
                15,
                "6",
                "",
                "losses in a round that end STARTUP, if they are over the threshold",
            ),
            Param::int(
                "full_bw_count",
                1,
                100,
                "3",
                "rounds",
                "rounds without growth by a quarter that end STARTUP and UP",
            ),
            Param::time(
                "probe_wait",
                "2 s",
                "least time between two probes, unless Reno would probe earlier",
            ),
            Param::time("probe_wait_random", "1 s", "random time on top"),
            Param::int(
                "probe_max_rounds",
                1,
                255,
                "63",
                "rounds",
                "most rounds between two probes",
            ),
            Param::time("min_rtt_window", "10 s", "window of the round-trip filter"),
            Param::time(
                "probe_rtt_interval",
                "5 s",
                "time without a smaller round trip after which PROBE_RTT comes",
            ),
            Param::time("probe_rtt_duration", "200 ms", "time in PROBE_RTT"),
            Param::float(
                "probe_rtt_cwnd_gain",
                0.0,
                1.0,
                "0.5",
                "",
                "window gain of PROBE_RTT",
            ),
            Param::int(
                "pacing_margin_percent",
                0,
                99,
                "1",
                "%",
                "share of the rate left free",
            ),
            Param::int("min_pipe_cwnd", 1, 1000, "4", "segments", "least window"),
            Param::int(
                "extra_acked_rounds",
                1,
                31,
                "10",
                "rounds",
                "window of the aggregation filter; dialect linux looks back 5 to 10",
            ),
            Param {
                name: "ecn_low",
                kind: Kind::Bool,
                default: "false",
                unit: "",
                help: "the route has the feature `ecn_low`: marks are answered by their share; \
                       dialect linux",
            },
            Param::time("ecn_max_rtt", "5 ms", "longest round trip for that"),
        ],
    },
    build: |params| Box::new(Bbr3::new(Config::new(params))),
};

/// Fraction bits of a rate in segments per µs.
const BW_SCALE: u32 = 24;
const BW_UNIT: u64 = 1 << BW_SCALE;
/// Fraction bits of a gain: enough that the draft's decimal fractions are exact to 10⁻⁵ and the
/// kernel's 256ths without a rest.
const GAIN_SCALE: u32 = 16;
/// A gain of 1.
const UNIT: u64 = 1 << GAIN_SCALE;
/// A rate or volume without a bound.
const NO_BW: u64 = u64::MAX;
const NO_LIMIT: u32 = u32::MAX;

/// The parameters. Gains and shares are in units of 2⁻¹⁶.
#[derive(Clone, Debug)]
struct Config {
    is_linux: bool,
    startup_pacing_gain: u64,
    drain_pacing_gain: u64,
    down_pacing_gain: u64,
    up_pacing_gain: u64,
    cwnd_gain: u64,
    up_cwnd_gain: u64,
    loss_thresh: u64,
    beta: u64,
    headroom: u64,
    startup_full_loss_count: u32,
    full_bw_count: u32,
    probe_wait_us: u64,
    probe_wait_random_us: u64,
    probe_max_rounds: u32,
    min_rtt_window_us: u64,
    probe_rtt_interval_us: u64,
    probe_rtt_duration_us: u64,
    probe_rtt_cwnd_gain: u64,
    pacing_margin_percent: u64,
    min_pipe_cwnd: u32,
    extra_acked_rounds: u32,
    ecn_low: bool,
    ecn_max_rtt_us: u32,
}

impl Config {
    fn new(params: &Params) -> Config {
        let is_linux = params.text("dialect") == "linux";
        let gain = |name| (params.float(name) * UNIT as f64).round() as u64;
        // The kernel counts in 256ths and drops the rest.
        let own = |name, draft: f64, of_256: u64| match gain(name) {
            0 if is_linux => of_256 << (GAIN_SCALE - 8),
            0 => (draft * UNIT as f64).round() as u64,
            given => given,
        };
        let us = |name| params.time(name).as_us();
        let short = |name| params.int(name) as u32;
        Config {
            is_linux,
            startup_pacing_gain: own("startup_pacing_gain", 2.77, 710),
            drain_pacing_gain: own("drain_pacing_gain", 0.5, 88),
            down_pacing_gain: own("probe_down_pacing_gain", 0.9, 232),
            up_pacing_gain: gain("probe_up_pacing_gain"),
            cwnd_gain: gain("cwnd_gain"),
            up_cwnd_gain: gain("cwnd_gain") + UNIT / 4,
            loss_thresh: own("loss_thresh", 0.02, 5),
            beta: own("beta", 0.7, 180),
            headroom: own("headroom", 0.15, 38),
            startup_full_loss_count: short("startup_full_loss_count"),
            full_bw_count: short("full_bw_count"),
            probe_wait_us: us("probe_wait"),
            probe_wait_random_us: us("probe_wait_random"),
            probe_max_rounds: short("probe_max_rounds"),
            min_rtt_window_us: us("min_rtt_window"),
            probe_rtt_interval_us: us("probe_rtt_interval"),
            probe_rtt_duration_us: us("probe_rtt_duration"),
            probe_rtt_cwnd_gain: gain("probe_rtt_cwnd_gain"),
            pacing_margin_percent: params.int("pacing_margin_percent") as u64,
            min_pipe_cwnd: short("min_pipe_cwnd"),
            extra_acked_rounds: short("extra_acked_rounds"),
            ecn_low: is_linux && params.bool("ecn_low"),
            ecn_max_rtt_us: us("ecn_max_rtt").try_into().unwrap_or(u32::MAX),
        }
    }
}

/// The state of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeRtt,
    Up,
    Down,
    Cruise,
    Refill,
}

impl State {
    /// Whether this is one of the four states of ProbeBW.
    fn is_probe_bw(self) -> bool {
        matches!(
            self,
            State::Up | State::Down | State::Cruise | State::Refill
        )
    }

    /// By the numbers of `bbr_phase`.
    fn phase(self) -> Phase {
        match self {
            State::Startup => Phase::Startup,
            State::Drain => Phase::Drain,
            State::ProbeRtt => Phase::ProbeRtt,
            State::Up => Phase::ProbeUp,
            State::Down => Phase::ProbeDown,
            State::Cruise => Phase::Cruise,
            State::Refill => Phase::Refill,
        }
    }

    /// Whether the flow now tries to send more than it did.
    fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// What the ACKs that come in tell of the last probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    /// Nothing.
    Init,
    /// They are of data sent to fill the pipe.
    Refilling,
    /// The probe has begun, its ACKs are still to come.
    ProbeStarting,
    /// They are of data sent while probing.
    ProbeFeedback,
    /// They still are, but the probe has ended.
    ProbeStopping,
}

/// What is taken back when losses prove spurious.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// The state that the losses ended.
    state: Option<State>,
    bw_lo: u64,
    inflight_lo: u32,
    inflight_hi: u32,
}

/// Names are the draft's, but that the bounds are called as in the kernel and in traces:
/// `inflight_longterm` is `inflight_hi`, `bw_shortterm` and `inflight_shortterm` are `bw_lo` and
/// `inflight_lo`, and the two slots of `max_bw_filter` are `bw_hi`.
#[derive(Debug)]
struct Bbr3 {
    config: Config,
    state: State,
    pacing_gain: u64,
    cwnd_gain: u64,
    initial_cwnd: u32,

    round_count: u32,
    /// `delivered` that ends the round.
    next_round_delivered: u64,
    round_start: bool,

    /// The largest rate of the previous and of the present cycle.
    bw_hi: [u64; 2],
    bw_lo: u64,
    bw_latest: u64,
    inflight_hi: u32,
    inflight_lo: u32,
    inflight_latest: u32,
    aggregation: Aggregation,

    min_rtt_us: u32,
    min_rtt_stamp_us: u64,
    probe_rtt_min_us: u32,
    probe_rtt_min_stamp_us: u64,
    probe_rtt_expired: bool,
    /// When PROBE_RTT may end; none until the window has drained.
    probe_rtt_done_us: Option<u64>,
    probe_rtt_round_done: bool,

    full_bw: u64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u32,

    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
    is_loss_in_cycle: bool,
    marks: Marks,
    /// Losses of this round: ranges that do not touch, in dialect `linux` ACKs that found some.
    losses_in_round: u32,
    /// The end of the range that was lost last.
    last_lost_end: Option<u32>,

    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: u32,
    probe_up_acked_per_inc: u32,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u32,
    probe_wait_us: u64,
    cycle_stamp_us: u64,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,

    /// The window before a recovery or PROBE_RTT.
    prior_cwnd: u32,
    undo: Undo,
    /// `undo` is of the present episode of losses.
    is_undo_saved: bool,
    idle_restart: bool,
    has_seen_rtt: bool,
    /// Dialect `linux`: nothing but the rate can change the window before the next event.
    is_settled: bool,
}

impl Bbr3 {
    fn new(config: Config) -> Bbr3 {
        Bbr3 {
            state: State::Startup,
            pacing_gain: config.startup_pacing_gain,
            cwnd_gain: config.cwnd_gain,
            initial_cwnd: 10,
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            bw_hi: [0; 2],
            bw_lo: NO_BW,
            bw_latest: 0,
            inflight_hi: NO_LIMIT,
            inflight_lo: NO_LIMIT,
            inflight_latest: 0,
            aggregation: Aggregation::default(),
            min_rtt_us: u32::MAX,
            min_rtt_stamp_us: 0,
            probe_rtt_min_us: u32::MAX,
            probe_rtt_min_stamp_us: 0,
            probe_rtt_expired: false,
            probe_rtt_done_us: None,
            probe_rtt_round_done: false,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            is_loss_in_cycle: false,
            marks: Marks::new(),
            losses_in_round: 0,
            last_lost_end: None,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: NO_LIMIT,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            probe_wait_us: 0,
            cycle_stamp_us: 0,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            prior_cwnd: 0,
            undo: Undo::default(),
            is_undo_saved: false,
            idle_restart: false,
            has_seen_rtt: false,
            is_settled: false,
            config,
        }
    }

    /// Enters `state` with its gains.
    fn enter(&mut self, state: State) {
        let config = &self.config;
        self.state = state;
        self.is_settled = false;
        //= draft-ietf-ccwg-bbr §5.6.1
        //# The following table summarizes how BBR modulates the control parameters in each state.
        (self.pacing_gain, self.cwnd_gain) = match state {
            State::Startup => (config.startup_pacing_gain, config.cwnd_gain),
            State::Drain => (config.drain_pacing_gain, config.cwnd_gain),
            State::Up => (config.up_pacing_gain, config.up_cwnd_gain),
            State::Down => (config.down_pacing_gain, config.cwnd_gain),
            State::Cruise | State::Refill => (UNIT, config.cwnd_gain),
            State::ProbeRtt if config.is_linux => (UNIT, UNIT),
            State::ProbeRtt => (UNIT, config.probe_rtt_cwnd_gain),
        };
    }

    /// The wall clock, µs; the kernel's in dialect `linux`, which ticks.
    fn clock_us(&self, tp: &Tp) -> u64 {
        if self.config.is_linux {
            tp.jiffies() * 1_000_000 / u64::from(tp.hz)
        } else {
            tp.now_us
        }
    }
}

impl CongestionControl for Bbr3 {
    fn init(&mut self, tp: &mut Tp) {
        *self = Bbr3::new(self.config.clone());
        tp.snd_ssthresh = INFINITE_SSTHRESH;
        tp.pacing = true;
        self.initial_cwnd = tp.snd_cwnd;
        self.next_round_delivered = tp.delivered;
        let now = self.clock_us(tp);
        self.min_rtt_us = tp.min_rtt_us;
        self.min_rtt_stamp_us = now;
        self.probe_rtt_min_us = tp.min_rtt_us;
        self.probe_rtt_min_stamp_us = now;
        self.aggregation.restart(tp.now_us);
        self.loss_round_delivered = if self.config.is_linux {
            tp.delivered + 1
        } else {
            0
        };
        self.pace_from_rtt(tp);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        self.recovery_begins(tp);
        tp.snd_ssthresh
    }

    fn cong_avoid(&mut self, _tp: &mut Tp, _ack: u32, _acked: u32) {}

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        self.recovery_changes(tp, new);
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        match event {
            CaEvent::TxStart if tp.app_limited > 0 => self.restart_from_idle(tp),
            CaEvent::TailLossRepaired => self.tail_loss_repaired(tp),
            CaEvent::EcnIsCe if self.config.ecn_low => self.echo(tp, true),
            CaEvent::EcnNoCe if self.config.ecn_low => self.echo(tp, false),
            _ => {}
        }
    }

    fn in_ack_event(&mut self, _tp: &mut Tp, flags: AckFlags) {
        self.note_echo(flags);
    }

    fn needs_ecn(&self) -> bool {
        self.config.ecn_low
    }

    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        self.losses_were_spurious(tp)
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn wants_flight(&self) -> bool {
        true
    }

    fn lost(&mut self, tp: &mut Tp, segment: &LostSegment) {
        self.take_loss(tp, segment);
    }

    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.take_ack(tp, rs);
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }

    fn path_model(&self, tp: &Tp) -> PathModel {
        let bound = |volume: u32| if volume == NO_LIMIT { 0 } else { volume };
        let rate = |bw: u64| Bbr3::rate_of(tp, bw, UNIT, 0);
        let gain = |gain: u64| (gain >> (GAIN_SCALE - 8)) as u16;
        PathModel {
            phase: self.state.phase(),
            bw: rate(self.bw()),
            inflight_hi: bound(self.inflight_hi),
            inflight_lo: bound(self.inflight_lo),
            alpha: self.marks.alpha(),
            bw_hi: rate(self.max_bw()),
            bw_lo: if self.bw_lo == NO_BW {
                0
            } else {
                rate(self.bw_lo)
            },
            pacing_gain: gain(self.pacing_gain),
            cwnd_gain: gain(self.cwnd_gain),
            extra_acked: self.aggregation.extra_acked(),
        }
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        let pps = |bw: u64| match bw {
            NO_BW => 0.0,
            bw => bw as f64 * 1e6 / BW_UNIT as f64,
        };
        let bound = |volume: u32| match volume {
            NO_LIMIT => 0.0,
            volume => f64::from(volume),
        };
        let gain = |gain: u64| gain as f64 / UNIT as f64;
        vec![
            ("state", f64::from(self.state.phase() as u8)),
            ("bw_pps", pps(self.bw())),
            ("bw_hi_pps", pps(self.max_bw())),
            ("bw_lo_pps", pps(self.bw_lo)),
            ("inflight_hi", bound(self.inflight_hi)),
            ("inflight_lo", bound(self.inflight_lo)),
            ("min_rtt_us", bound(self.min_rtt_us)),
            ("pacing_gain", gain(self.pacing_gain)),
            ("cwnd_gain", gain(self.cwnd_gain)),
            ("extra_acked", f64::from(self.aggregation.extra_acked())),
            ("round_count", f64::from(self.round_count)),
            ("full_bw_count", f64::from(self.full_bw_count)),
            ("full_bw_now", f64::from(u8::from(self.full_bw_now))),
            ("full_bw_reached", f64::from(u8::from(self.full_bw_reached))),
            (
                "probe_too_high",
                f64::from(u8::from(self.prev_probe_too_high)),
            ),
            ("idle_restart", f64::from(u8::from(self.idle_restart))),
            ("alpha", f64::from(self.marks.alpha()) / 1024.0),
        ]
    }
}
