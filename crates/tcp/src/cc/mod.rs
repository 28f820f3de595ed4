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
    /// It carried ECN-Echo.
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
    /// Segments whose delivery this ACK reported with ECN-Echo.
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
    /// reduction. Asked once, before the connection is opened.
    fn has_cong_control(&self) -> bool {
        false
    }

    /// Sets window and pacing rate for this ACK (`cong_control`). Called last, when the rate sample
    /// is complete and losses are marked.
    fn cong_control(&mut self, _tp: &mut Tp, _rs: &RateSample) {}

    /// Whether the sender marks its segments ECN-capable and reacts to marks by this variant's own
    /// law (`TCP_CONG_NEEDS_ECN`).
    fn needs_ecn(&self) -> bool {
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

    /// Internal variables for traces: name and value (`get_info`).
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
