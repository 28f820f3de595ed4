//! Runs a controller of quinn-proto as a congestion control of Trammel.
//!
//! ```text
//!   Trammel's sender                       quinn-proto's Controller
//!   cong_control, for every ACK   ──────►  on_sent, on_ack, on_end_acks
//!   lost, for every lost segment  ──────►  on_congestion_event, after the ACK that told it
//!   set_state(Loss), a timeout    ──────►  on_congestion_event, persistent
//!   snd_cwnd, pacing_rate         ◄──────  window(); quinn's pacer: 5/4 of it a round trip
//! ```
//! A segment's payload stands for a packet. QUIC gives a retransmission a number of its own; here a
//! segment counts as sent when its bytes were first sent.

mod abi;
mod rtt;

pub use abi::{ABI, Cc, LostSegment, RateSample, Tp};
use quinn_proto::congestion::{Controller, ControllerFactory};
use rtt::Places;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A controller that has not met its flow yet, or runs it.
pub struct Flow {
    /// The controller; nothing before `init`.
    controller: Option<Box<dyn Controller>>,
    /// Instants have no zero; only spans between them count.
    zero: Instant,
    places: Places,
    /// Next sequence numbers, each with when it was reached.
    sent: VecDeque<(u32, u64)>,
    /// The latest sending time of the segments that this ACK tells lost, and their bytes.
    lost: Option<(u64, u64)>,
}

impl Flow {
    fn new() -> Option<Flow> {
        Some(Flow {
            controller: None,
            zero: Instant::now(),
            places: Places::find()?,
            sent: VecDeque::new(),
            lost: None,
        })
    }

    fn at(&self, us: u64) -> Instant {
        self.zero + Duration::from_micros(us)
    }

    /// When the segment at `seq` was first sent.
    fn sent_at(&self, seq: u32) -> u64 {
        let is_before = |next: u32| next.wrapping_sub(seq) as i32 <= 0;
        let all = self.sent.iter().rev();
        let known = all.clone().find(|(next, _)| is_before(*next));
        known.or(self.sent.front()).map_or(0, |(_, us)| *us)
    }

    fn apply(&self, tp: &mut Tp) {
        let Some(controller) = &self.controller else {
            return;
        };
        let window = controller.window();
        tp.snd_cwnd = ((window / u64::from(tp.mss)) as u32).max(1);
        if tp.srtt_us > 0 {
            let srtt_us = u64::from(tp.srtt_us) / 8;
            tp.pacing_rate = window * 5 / 4 * 1_000_000 / srtt_us.max(1);
        }
    }

    fn init(&mut self, factory: Arc<dyn Factory>, tp: &mut Tp) {
        let mtu = u16::try_from(tp.mss).unwrap_or(u16::MAX);
        self.controller = Some(factory.make(self.at(tp.now_us), mtu));
        self.sent.push_back((tp.snd_nxt, tp.now_us));
        tp.pacing = 1;
        self.apply(tp);
    }

    fn acked(&mut self, tp: &mut Tp, rs: &RateSample) {
        let now = self.at(tp.now_us);
        let mss = u64::from(tp.mss);
        // What was sent since the last ACK was sent right after it.
        let (before, when) = *self.sent.back().expect("`init` put one");
        let then = self.at(when);
        let fresh = tp.snd_nxt.wrapping_sub(before);
        let rtt_us = if rs.rtt_us > 0 {
            rs.rtt_us as u64
        } else {
            u64::from(tp.srtt_us) / 8
        };
        let sent = self.at(tp.now_us.saturating_sub(rtt_us));
        let smoothed = Duration::from_micros(u64::from(tp.srtt_us).max(8) / 8);
        let least = match tp.min_rtt_us {
            u32::MAX => smoothed,
            us => Duration::from_micros(u64::from(us)),
        };
        let rtt = self.places.estimator(smoothed, least);
        let lost = self.lost.take().map(|(us, bytes)| (self.at(us), bytes));
        let Some(controller) = &mut self.controller else {
            return;
        };
        let number = |seq: u32| u64::from(seq) / mss;
        if fresh > 0 {
            controller.on_sent(then, u64::from(fresh), number(tp.snd_nxt));
        }
        let is_limited = rs.is_app_limited != 0;
        for _ in 0..rs.acked_sacked {
            controller.on_ack(now, sent, mss, is_limited, &rtt);
        }
        let out = tp.packets_out + tp.retrans_out;
        let in_flight = u64::from(out.saturating_sub(tp.sacked_out + tp.lost_out)) * mss;
        let largest = (rs.acked_sacked > 0).then(|| number(tp.snd_una));
        controller.on_end_acks(now, in_flight, is_limited, largest);
        if let Some((sent, bytes)) = lost {
            controller.on_congestion_event(now, sent, false, bytes);
        }
        self.sent.push_back((tp.snd_nxt, tp.now_us));
        // Two records are left below the first unacknowledged byte.
        while self.sent.len() > 2 && self.sent[1].0.wrapping_sub(tp.snd_una) as i32 <= 0 {
            self.sent.pop_front();
        }
        self.apply(tp);
    }

    fn lost(&mut self, tp: &Tp, segment: &LostSegment) {
        let sent = self.sent_at(segment.seq).min(tp.now_us);
        let bytes = u64::from(segment.end.wrapping_sub(segment.seq));
        let (before, sum) = self.lost.unwrap_or((0, 0));
        self.lost = Some((before.max(sent), sum + bytes));
    }

    fn timed_out(&mut self, tp: &mut Tp) {
        let now = self.at(tp.now_us);
        let bytes = self
            .lost
            .take()
            .map_or(u64::from(tp.mss), |(_, bytes)| bytes);
        if let Some(controller) = &mut self.controller {
            controller.on_congestion_event(now, now, true, bytes);
        }
        self.apply(tp);
    }
}

/// What makes a controller: `ControllerFactory` takes an `Arc` of itself.
pub trait Factory {
    /// A controller for a flow that starts at `now` with packets of `mtu` bytes.
    fn make(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller>;
}

impl<T: ControllerFactory> Factory for T {
    fn make(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        self.build(now, mtu)
    }
}

/// Hooks, as `export!` puts them into the table.
///
/// # Safety
/// Objects are of `create`, the other pointers are Trammel's: valid for the call.
pub mod hooks {
    use super::*;

    pub unsafe extern "C" fn create(_: *const f64) -> *mut c_void {
        Flow::new().map_or(std::ptr::null_mut(), |flow| {
            Box::into_raw(Box::new(flow)).cast()
        })
    }
    pub unsafe extern "C" fn destroy(object: *mut c_void) {
        drop(unsafe { Box::from_raw(object.cast::<Flow>()) });
    }
    pub unsafe extern "C" fn init<T: ControllerFactory + Default + 'static>(
        object: *mut c_void,
        tp: *mut Tp,
    ) {
        unsafe { (*object.cast::<Flow>()).init(Arc::new(T::default()), &mut *tp) }
    }
    pub unsafe extern "C" fn ssthresh(_: *mut c_void, tp: *mut Tp) -> u32 {
        unsafe { (*tp).snd_cwnd.max(2) }
    }
    pub unsafe extern "C" fn set_state(object: *mut c_void, tp: *mut Tp, state: u32) {
        if state == abi::CA_LOSS {
            unsafe { (*object.cast::<Flow>()).timed_out(&mut *tp) }
        }
    }
    pub unsafe extern "C" fn undo_cwnd(_: *mut c_void, tp: *mut Tp) -> u32 {
        unsafe { (*tp).snd_cwnd }
    }
    pub unsafe extern "C" fn cong_control(object: *mut c_void, tp: *mut Tp, rs: *const RateSample) {
        unsafe { (*object.cast::<Flow>()).acked(&mut *tp, &*rs) }
    }
    pub unsafe extern "C" fn lost(object: *mut c_void, tp: *mut Tp, one: *const LostSegment) {
        unsafe { (*object.cast::<Flow>()).lost(&*tp, &*one) }
    }
}

/// Defines `trammel_congestion_control` for a configuration of quinn-proto.
#[macro_export]
macro_rules! export {
    ($name:expr, $summary:expr, $config:ty) => {
        static CC: $crate::Cc = $crate::Cc {
            abi: $crate::ABI,
            tp_bytes: size_of::<$crate::Tp>() as u32,
            name: $name.as_ptr(),
            summary: $summary.as_ptr(),
            params: std::ptr::null(),
            n_params: 0,
            flags: 0,
            create: Some($crate::hooks::create),
            destroy: Some($crate::hooks::destroy),
            init: Some($crate::hooks::init::<$config>),
            ssthresh: Some($crate::hooks::ssthresh),
            cong_avoid: None,
            set_state: Some($crate::hooks::set_state),
            cwnd_event: None,
            pkts_acked: None,
            undo_cwnd: Some($crate::hooks::undo_cwnd),
            cong_control: Some($crate::hooks::cong_control),
            lost: Some($crate::hooks::lost),
            observe: None,
        };

        /// What Trammel calls when it loads the library.
        #[unsafe(no_mangle)]
        pub extern "C" fn trammel_congestion_control(
            _host: *const std::ffi::c_void,
        ) -> *const $crate::Cc {
            &CC
        }
    };
}
