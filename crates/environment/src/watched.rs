//! A congestion control that does what it would, and is watched as an agent's is.

use crate::agent::{Shared, locked};
use trammel_tcp::cc::{
    AckFlags, AckSample, CaEvent, CaState, CongestionControl, LostSegment, PathModel, RateSample,
    Tp,
};

/// A variant with an observer. Rate samples are for variants that ask for them, so an ACK is put
/// together from the sums that every sender keeps.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) inner: Box<dyn CongestionControl>,
    pub(crate) seat: Shared,
    /// What the next ACK adds to: delivered, marked and lost segments so far.
    so_far: (u64, u64, u64),
}

impl Watched {
    pub(crate) fn new(inner: Box<dyn CongestionControl>, seat: Shared) -> Watched {
        Watched {
            inner,
            seat,
            so_far: (0, 0, 0),
        }
    }

    /// An ACK as the sums of the state tell it, with its round trip.
    fn hear(&mut self, tp: &mut Tp, rtt_us: i64) {
        let (delivered, marked, lost) = self.so_far;
        let sample = RateSample {
            acked_sacked: (tp.delivered - delivered) as u32,
            delivered_ce: (tp.delivered_ce - marked) as i64,
            losses: (tp.lost - lost) as u32,
            rtt_us,
            ..RateSample::default()
        };
        self.so_far = (tp.delivered, tp.delivered_ce, tp.lost);
        locked(&self.seat).hear(tp, &sample);
    }
}

impl CongestionControl for Watched {
    fn init(&mut self, tp: &mut Tp) {
        self.inner.init(tp);
        self.so_far = (tp.delivered, tp.delivered_ce, tp.lost);
        locked(&self.seat).open(tp);
    }
    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        self.inner.pkts_acked(tp, sample);
        self.hear(tp, i64::from(sample.rtt_us));
    }
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        self.inner.ssthresh(tp)
    }
    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32) {
        self.inner.cong_avoid(tp, ack, acked);
    }
    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        self.inner.set_state(tp, new);
    }
    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        self.inner.cwnd_event(tp, event);
    }
    fn in_ack_event(&mut self, tp: &mut Tp, flags: AckFlags) {
        self.inner.in_ack_event(tp, flags);
    }
    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        self.inner.undo_cwnd(tp)
    }
    fn has_cong_control(&self) -> bool {
        self.inner.has_cong_control()
    }
    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.inner.cong_control(tp, rs);
    }
    fn wants_flight(&self) -> bool {
        self.inner.wants_flight()
    }
    fn lost(&mut self, tp: &mut Tp, segment: &LostSegment) {
        self.inner.lost(tp, segment);
    }
    fn needs_ecn(&self) -> bool {
        self.inner.needs_ecn()
    }
    fn needs_accurate_ecn(&self) -> bool {
        self.inner.needs_accurate_ecn()
    }
    fn sends_ect1(&self) -> bool {
        self.inner.sends_ect1()
    }
    fn min_cwnd(&self, tp: &Tp) -> u32 {
        self.inner.min_cwnd(tp)
    }
    fn sndbuf_expand(&self) -> u32 {
        self.inner.sndbuf_expand()
    }
    fn min_tso_segs(&self, tp: &Tp) -> u32 {
        self.inner.min_tso_segs(tp)
    }
    fn path_model(&self, tp: &Tp) -> PathModel {
        self.inner.path_model(tp)
    }
    fn observe(&self) -> Vec<(&'static str, f64)> {
        self.inner.observe()
    }
}
