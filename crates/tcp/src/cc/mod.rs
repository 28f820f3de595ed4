//! Congestion controls: the trait, what its hooks are told, and one file a variant.
//!
//! The hooks have the kernel's names (`struct tcp_congestion_ops`), windows are whole segments and
//! times whole microseconds, so that a reader can lay a variant beside its paper and beside Linux.
//! A variant of another crate is made known with [`register`] and then works wherever a built-in
//! one does.

use std::fmt::Debug;
use trammel_core::entry::{About, Params};

pub use crate::tp::{CaState, INFINITE_SSTHRESH, Tp};

include!(concat!(env!("OUT_DIR"), "/cc.rs"));
trammel_core::family!("congestion control");

/// Events that a controller may care about (`enum tcp_ca_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaEvent {
    /// First transmission when nothing was in flight.
    TxStart,
    /// The window restarts after an idle time.
    CwndRestart,
    /// The end of a window reduction: the window is `ssthresh` now.
    CompleteCwr,
    /// A retransmission timeout.
    Loss,
    /// A tail loss probe has repaired a loss that nothing else saw.
    TailLossRepaired,
    /// A packet without Congestion Experienced arrived (receiver side).
    EcnNoCe,
    /// A packet with Congestion Experienced arrived (receiver side).
    EcnIsCe,
}

/// Properties of an ACK, for [`CongestionControl::in_ack_event`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFlags {
    /// It took the kernel's fast path: nothing was suspicious.
    pub fast_path: bool,
    /// It advanced the receive window.
    pub window_update: bool,
    /// It reported marks, by ECN-Echo or by a count.
    pub ece: bool,
}

/// Newly acknowledged segments, for [`CongestionControl::pkts_acked`] (`struct ack_sample`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    /// Segments newly acknowledged, cumulatively or selectively.
    pub pkts_acked: u32,
    /// Round trip of the newest of them in microseconds; negative if Karn's rule forbids a sample.
    pub rtt_us: i32,
    /// Segments delivered since the newest of them was sent: those in flight with it.
    pub in_flight: u32,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr §4.1; `struct rate_sample`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// When the sampled segment's predecessor was delivered, µs.
    pub prior_mstamp_us: u64,
    /// `delivered` when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Segments delivered over the interval; negative without a sample.
    pub delivered: i64,
    /// Segments that this ACK reported as marked.
    pub delivered_ce: i64,
    /// Length of the interval in µs; negative where there is no sample.
    pub interval_us: i64,
    /// The interval as the sender saw it, µs.
    pub snd_interval_us: i64,
    /// The interval as the receiver saw it, µs.
    pub rcv_interval_us: i64,
    /// Round trip of the last segment that was newly acknowledged or SACKed, µs; negative without
    /// one.
    pub rtt_us: i64,
    /// Segments newly marked lost by this ACK.
    pub losses: u32,
    /// Segments newly acknowledged or SACKed by this ACK.
    pub acked_sacked: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// The sequence number that ended the sampled segment.
    pub last_end_seq: u32,
    /// The sample was limited by the application, not the network.
    pub is_app_limited: bool,
    /// The sampled segment had been retransmitted.
    pub is_retrans: bool,
    /// The ACK was of a single small segment, and the receiver may have held it back.
    pub is_ack_delayed: bool,
    /// Segments in flight when the sampled segment was sent, itself included; 0 for a controller
    /// that does not [`want`](CongestionControl::wants_flight) it.
    pub tx_in_flight: u32,
    /// Segments marked lost since the sampled segment was sent; 0 for a controller that does not
    /// [`want`](CongestionControl::wants_flight) it.
    pub lost: u32,
    /// Segments whose delivery was reported with ECN-Echo since the sampled segment was sent; 0 for
    /// a controller that does not [`want`](CongestionControl::wants_flight) it.
    pub marked: u32,
}

/// A segment newly marked lost, for [`CongestionControl::lost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// Its first sequence number.
    pub seq: u32,
    /// The first sequence number after it.
    pub end: u32,
    /// Segments in flight when it was last sent, itself included.
    pub tx_in_flight: u32,
    /// Segments marked lost since it was last sent, itself included.
    pub lost: u32,
    /// It was sent while the application limited the flow.
    pub is_app_limited: bool,
}

/// What a variant that is built on a model of the path does just now, by the numbers of `bbr_phase`
/// in `inet_diag.h` of BBR's branch of Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The variant has no phases.
    #[default]
    None = 0,
    /// It looks for the rate, doubling its own every round.
    Startup = 1,
    /// It drains the queue of that.
    Drain = 2,
    /// It looks for the round trip without a queue.
    ProbeRtt = 3,
    /// It looks for a higher rate.
    ProbeUp = 4,
    /// It drains the queue of that.
    ProbeDown = 5,
    /// It sends at the rate it knows.
    Cruise = 6,
    /// It fills the pipe for the next probe.
    Refill = 7,
}

impl Phase {
    /// All, in the order of their numbers.
    pub const ALL: [Phase; 8] = [
        Phase::None,
        Phase::Startup,
        Phase::Drain,
        Phase::ProbeRtt,
        Phase::ProbeUp,
        Phase::ProbeDown,
        Phase::Cruise,
        Phase::Refill,
    ];

    /// The name for traces; empty for none.
    pub fn name(self) -> &'static str {
        match self {
            Phase::None => "",
            Phase::Startup => "startup",
            Phase::Drain => "drain",
            Phase::ProbeRtt => "probe-rtt",
            Phase::ProbeUp => "probe-up",
            Phase::ProbeDown => "probe-down",
            Phase::Cruise => "cruise",
            Phase::Refill => "refill",
        }
    }
}

/// A variant's model of the path, for traces (`union tcp_cc_info`). All is 0 of a variant that has
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathModel {
    /// What it does just now.
    pub phase: Phase,
    /// The rate in use, bytes/s.
    pub bw: u64,
    /// The most that may be in flight while it probes, segments; 0 without a bound.
    pub inflight_hi: u32,
    /// The most that may be in flight otherwise, segments; 0 without a bound.
    pub inflight_lo: u32,
    /// The share of its segments that are marked, of 1024.
    pub alpha: u16,
    /// The long-term estimate of the rate, bytes/s.
    pub bw_hi: u64,
    /// The short-term bound of the rate, bytes/s; 0 without.
    pub bw_lo: u64,
    /// Gain of the pacing rate, of 256.
    pub pacing_gain: u16,
    /// Gain of the window, of 256.
    pub cwnd_gain: u16,
    /// By how much ACKs ran ahead of the rate, segments.
    pub extra_acked: u32,
}

/// A congestion control, with the hooks of Linux's `struct tcp_congestion_ops`. `ssthresh` and
/// `cong_avoid` (or `cong_control`) make one; the rest is optional.
///
/// For each ACK the calls come in this order: `pkts_acked`, `in_ack_event`, then `cong_avoid`
/// (where the window may grow) or, for a variant that `has_cong_control`, `cong_control` for every
/// ACK.
pub trait CongestionControl: Debug + Send {
    /// Called once, when the connection is established and before data is sent (`init`). `tp.mss`
    /// and the initial window are set; `tp.srtt_us` is 0 where the handshake gave no sample.
    fn init(&mut self, _tp: &mut Tp) {}

    /// Returns the slow-start threshold after a loss or a mark, segments, at least 2 (`ssthresh`).
    /// Called once a reduction, before `tp.ca_state` and `tp.snd_cwnd` change.
    fn ssthresh(&mut self, tp: &mut Tp) -> u32;

    /// Grows the window for `acked` segments that `ack` acknowledged (`cong_avoid`). Called in the
    /// states Open, Disorder and Loss, never during a reduction. A variant that does not grow while
    /// the window is not used asks [`Tp::is_cwnd_limited`].
    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32);

    /// Called before each change of state (`set_state`): `tp.ca_state` is still the old one.
    fn set_state(&mut self, _tp: &mut Tp, _new: CaState) {}

    /// Notifies of a transmission, restart, loss or ECN event (`cwnd_event`); see [`CaEvent`].
    fn cwnd_event(&mut self, _tp: &mut Tp, _event: CaEvent) {}

    /// Called for every ACK while data is outstanding, once deliveries are counted and before
    /// losses are looked for (`in_ack_event`).
    fn in_ack_event(&mut self, _tp: &mut Tp, _flags: AckFlags) {}

    /// Called for every ACK while data is outstanding, before `in_ack_event` (`pkts_acked`).
    /// `sample.pkts_acked` is 0 where it acknowledges nothing, and `sample.rtt_us` is negative
    /// where it gives no round trip.
    fn pkts_acked(&mut self, _tp: &mut Tp, _sample: &AckSample) {}

    /// Returns the window after an undone reduction, segments (`undo_cwnd`). `tp.snd_ssthresh` is
    /// still the reduced one.
    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_undo_cwnd()
    }

    /// Whether `cong_control` takes the place of `cong_avoid` and of the stack's own window
    /// reduction. Asked before the connection is opened, and once more after [`init`](Self::init).
    fn has_cong_control(&self) -> bool {
        false
    }

    /// Sets window and pacing rate for this ACK (`cong_control`). Called last, when the rate sample
    /// is complete and losses are marked.
    fn cong_control(&mut self, _tp: &mut Tp, _rs: &RateSample) {}

    /// Whether the stack keeps for every segment what was in flight and lost when it was sent, for
    /// [`lost`](CongestionControl::lost) and for `tx_in_flight` and `lost` of a [`RateSample`].
    /// Asked once, before the connection is opened.
    fn wants_flight(&self) -> bool {
        false
    }

    /// A segment was marked lost (`skb_marked_lost` of BBR's branch of Linux). Called for each,
    /// before the state of recovery changes, and only for a variant that
    /// [`wants_flight`](CongestionControl::wants_flight).
    fn lost(&mut self, _tp: &mut Tp, _segment: &LostSegment) {}

    /// Whether the sender marks its segments ECN-capable and reacts to marks by this variant's own
    /// law (`TCP_CONG_NEEDS_ECN`).
    fn needs_ecn(&self) -> bool {
        false
    }

    /// Whether the variant's law is for marks counted one by one: it asks for accurate ECN (RFC
    /// 9768), and takes no classic ECN in its place (`TCP_CONG_NEEDS_ACCECN`,
    /// `TCP_CONG_NO_FALLBACK_RFC3168`). Such a variant [needs ECN](Self::needs_ecn) too.
    fn needs_accurate_ecn(&self) -> bool {
        false
    }

    /// Whether segments are marked ECT(1), which asks the network for the L4S service (RFC 9331
    /// §4.1), where accurate ECN is in use; otherwise ECT(0) (`TCP_CONG_ECT_1_NEGOTIATION`).
    fn sends_ect1(&self) -> bool {
        false
    }

    /// The lowest window to which rate halving may go, segments (`min_cwnd` of Linux 2.6). Asked
    /// only by stacks that halve the rate.
    fn min_cwnd(&self, tp: &Tp) -> u32 {
        tp.snd_ssthresh / 2
    }

    /// Multiple of `snd_cwnd` that the send buffer should hold (`sndbuf_expand`).
    fn sndbuf_expand(&self) -> u32 {
        2
    }

    /// Smallest super-segment under TSO autosizing, segments (`min_tso_segs`).
    fn min_tso_segs(&self, _tp: &Tp) -> u32 {
        2
    }

    /// The model of the path, for traces (`get_info`).
    fn path_model(&self, _tp: &Tp) -> PathModel {
        PathModel::default()
    }

    /// Internal variables: name and value.
    fn observe(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// One row of [`ALL`].
#[derive(Debug)]
pub struct Entry {
    /// Name, summary, references, parameters.
    pub about: About,
    /// Makes the controller.
    pub build: fn(&Params) -> Box<dyn CongestionControl>,
}
