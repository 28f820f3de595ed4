//! The sender's state, as the hooks of a congestion control in Python have it.
//!
//! For the time of a hook the state itself is in the object, and goes back after it: what is read
//! is the state, what is written counts, and an object that a hook has kept reads something old
//! and writes to nobody.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};
use trammel_core::rng::Rng;
use trammel_tcp::cc::{CaState, Tp as State};

/// The largest window that Python may set, segments: more than any path holds.
const LARGEST: f64 = 1e9;

/// `tp` of Linux: the sender's state, by the kernel's names.
#[pyclass(frozen, module = "trammel", name = "Sender")]
#[derive(Debug)]
pub(crate) struct Sender {
    state: Mutex<State>,
    /// What `cwnd` has beyond a whole segment, and the whole segments that it belongs to.
    part: Mutex<(u32, f64)>,
}

impl Sender {
    pub(super) fn new() -> Sender {
        Sender {
            // It is overwritten before a hook sees it.
            state: Mutex::new(State::new(1, 1, Rng::new(0, "no sender"))),
            part: Mutex::new((0, 0.0)),
        }
    }

    fn tp(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("nothing panics while it reads or writes")
    }

    /// Has `tp` in it from now on, or gives it back: what was in the one is in the other.
    pub(super) fn swap(&self, tp: &mut State) {
        std::mem::swap(tp, &mut self.tp());
    }
}

/// The word for a state of recovery.
pub(super) fn word(state: CaState) -> &'static str {
    match state {
        CaState::Open => "open",
        CaState::Disorder => "disorder",
        CaState::Cwr => "cwr",
        CaState::Recovery => "recovery",
        CaState::Loss => "loss",
    }
}

/// A window of whole segments within what the stack can bear.
pub(super) fn whole(segments: f64, what: &str) -> PyResult<u32> {
    if segments.is_nan() {
        return Err(PyValueError::new_err(format!("`{what}` is not a number")));
    }
    Ok(segments.clamp(1.0, LARGEST) as u32)
}

#[pymethods]
impl Sender {
    /// Congestion window, segments.
    #[getter]
    fn snd_cwnd(&self) -> u32 {
        self.tp().snd_cwnd
    }
    #[setter]
    fn set_snd_cwnd(&self, segments: f64) -> PyResult<()> {
        self.tp().snd_cwnd = whole(segments, "snd_cwnd")?;
        Ok(())
    }
    /// Congestion window with the part of a segment that was set here, segments.
    #[getter]
    fn cwnd(&self) -> f64 {
        let now = self.tp().snd_cwnd;
        let (of, part) = *self.part.lock().expect("nothing panics while it is held");
        f64::from(now) + if of == now { part } else { 0.0 }
    }
    #[setter]
    fn set_cwnd(&self, segments: f64) -> PyResult<()> {
        let now = whole(segments, "cwnd")?;
        self.tp().snd_cwnd = now;
        let part = (segments - f64::from(now)).clamp(0.0, 1.0);
        *self.part.lock().expect("nothing panics while it is held") = (now, part);
        Ok(())
    }
    /// ACKed segments counted towards the next increase.
    #[getter]
    fn snd_cwnd_cnt(&self) -> u32 {
        self.tp().snd_cwnd_cnt
    }
    #[setter]
    fn set_snd_cwnd_cnt(&self, segments: u32) {
        self.tp().snd_cwnd_cnt = segments;
    }
    /// Upper bound of the congestion window, segments.
    #[getter]
    fn snd_cwnd_clamp(&self) -> u32 {
        self.tp().snd_cwnd_clamp
    }
    #[setter]
    fn set_snd_cwnd_clamp(&self, segments: f64) -> PyResult<()> {
        self.tp().snd_cwnd_clamp = whole(segments, "snd_cwnd_clamp")?;
        Ok(())
    }
    /// Slow-start threshold, segments; 2³¹ − 1 before the first loss.
    #[getter]
    fn snd_ssthresh(&self) -> u32 {
        self.tp().snd_ssthresh
    }
    #[setter]
    fn set_snd_ssthresh(&self, segments: f64) -> PyResult<()> {
        self.tp().snd_ssthresh = whole(segments, "snd_ssthresh")?;
        Ok(())
    }
    /// Pacing rate, bytes/s; none without a limit.
    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        let rate = self.tp().pacing_rate;
        (rate != u64::MAX).then_some(rate as f64)
    }
    #[setter]
    fn set_pacing_rate(&self, rate: Option<f64>) -> PyResult<()> {
        if rate.is_some_and(|rate| rate.is_nan() || rate < 1.0) {
            return Err(PyValueError::new_err("`pacing_rate` is at least 1 byte/s"));
        }
        let mut tp = self.tp();
        tp.pacing_rate = rate.map_or(u64::MAX, |rate| rate as u64);
        tp.pacing = rate.is_some();
        Ok(())
    }
    /// Whether segments are paced; at `pacing_rate`, else at the stack's own.
    #[getter]
    fn pacing(&self) -> bool {
        self.tp().pacing
    }
    #[setter]
    fn set_pacing(&self, is_paced: bool) {
        self.tp().pacing = is_paced;
    }
    /// State of recovery: `open`, `disorder`, `cwr`, `recovery` or `loss`.
    #[getter]
    fn ca_state(&self) -> &'static str {
        word(self.tp().ca_state)
    }
    /// Congestion window before the last reduction began, segments.
    #[getter]
    fn prior_cwnd(&self) -> u32 {
        self.tp().prior_cwnd
    }
    /// Segments sent and not yet cumulatively acknowledged.
    #[getter]
    fn packets_out(&self) -> u32 {
        self.tp().packets_out
    }
    /// Of these, segments SACKed.
    #[getter]
    fn sacked_out(&self) -> u32 {
        self.tp().sacked_out
    }
    /// Of these, segments held for lost.
    #[getter]
    fn lost_out(&self) -> u32 {
        self.tp().lost_out
    }
    /// Retransmissions in flight.
    #[getter]
    fn retrans_out(&self) -> u32 {
        self.tp().retrans_out
    }
    /// Most segments outstanding in the last window that was not limited by `snd_cwnd`.
    #[getter]
    fn max_packets_out(&self) -> u32 {
        self.tp().max_packets_out
    }
    /// First unacknowledged sequence number.
    #[getter]
    fn snd_una(&self) -> u32 {
        self.tp().snd_una
    }
    /// Next sequence number to send.
    #[getter]
    fn snd_nxt(&self) -> u32 {
        self.tp().snd_nxt
    }
    /// Payload bytes of a full segment.
    #[getter]
    fn mss(&self) -> u32 {
        self.tp().mss
    }
    /// Smoothed round-trip time, µs × 8; 0 before the first sample.
    #[getter]
    fn srtt_us(&self) -> u32 {
        self.tp().srtt_us
    }
    /// Medium deviation of the round-trip time, µs × 4.
    #[getter]
    fn mdev_us(&self) -> u32 {
        self.tp().mdev_us
    }
    /// Smallest round-trip time of the last five minutes, µs; 2³² − 1 before the first sample.
    #[getter]
    fn min_rtt_us(&self) -> u32 {
        self.tp().min_rtt_us
    }
    /// Segments delivered so far.
    #[getter]
    fn delivered(&self) -> u64 {
        self.tp().delivered
    }
    /// Of these, segments reported as marked.
    #[getter]
    fn delivered_ce(&self) -> u64 {
        self.tp().delivered_ce
    }
    /// When `delivered` last grew, µs.
    #[getter]
    fn delivered_mstamp_us(&self) -> u64 {
        self.tp().delivered_mstamp_us
    }
    /// Segments ever marked lost.
    #[getter]
    fn lost(&self) -> u64 {
        self.tp().lost
    }
    /// `delivered` at which the present application-limited phase ends; 0 outside one.
    #[getter]
    fn app_limited(&self) -> u64 {
        self.tp().app_limited
    }
    /// Payload bytes acknowledged so far.
    #[getter]
    fn bytes_acked(&self) -> u64 {
        self.tp().bytes_acked
    }
    /// When data was last sent, µs.
    #[getter]
    fn lsndtime_us(&self) -> u64 {
        self.tp().lsndtime_us
    }
    /// The time of the event, µs.
    #[getter]
    fn now_us(&self) -> u64 {
        self.tp().now_us
    }
    /// The kernel's clock ticks a second.
    #[getter]
    fn hz(&self) -> u32 {
        self.tp().hz
    }
    /// ECN was negotiated.
    #[getter]
    fn ecn_ok(&self) -> bool {
        self.tp().ecn_ok
    }
    /// SACK was negotiated.
    #[getter]
    fn sack_ok(&self) -> bool {
        self.tp().sack_ok
    }
    /// Accurate ECN was negotiated.
    #[getter]
    fn accurate_ecn(&self) -> bool {
        self.tp().accurate_ecn
    }
    /// Segments believed to be in the network.
    #[getter]
    fn packets_in_flight(&self) -> u32 {
        self.tp().packets_in_flight()
    }
    /// Whether the window is below the slow-start threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.tp().in_slow_start()
    }
    /// Whether the flow uses its window, so that it may grow.
    #[getter]
    fn is_cwnd_limited(&self) -> bool {
        self.tp().is_cwnd_limited()
    }
    /// Slow start over `acked` segments; gives those left for congestion avoidance.
    fn slow_start(&self, acked: u32) -> u32 {
        let mut tp = self.tp();
        if tp.in_slow_start() {
            tp.slow_start(acked)
        } else {
            acked
        }
    }
    /// One segment more for every `w` of the `acked` segments.
    fn cong_avoid_ai(&self, w: u32, acked: u32) {
        self.tp().cong_avoid_ai(w.max(1), acked);
    }
    /// Reno's growth, whole: slow start, then one segment a window.
    fn reno_cong_avoid(&self, acked: u32) {
        self.tp().reno_cong_avoid(acked);
    }
    /// A number from 0 to below 1 from the flow's own stream of random numbers.
    fn random(&self) -> f64 {
        self.tp().rng.unit()
    }
    fn __repr__(&self) -> String {
        let tp = self.tp();
        format!(
            "<sender: cwnd {}, ssthresh {}, {} in flight, {}>",
            tp.snd_cwnd,
            tp.snd_ssthresh,
            tp.packets_in_flight(),
            word(tp.ca_state)
        )
    }
}
