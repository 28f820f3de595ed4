//! A congestion control whose hooks are functions of a library.

use crate::abi::{self, Ack, Flag, Ops, Rate, Segment, Tp, Variable};
use core::ffi::{CStr, c_void};
use core::fmt;
use core::ptr::NonNull;
use trammel_tcp::cc::{
    AckSample, CaEvent, CaState, CongestionControl, LostSegment, RateSample, Tp as Sender,
};

/// Variables that a library may show in traces.
const MOST_VARIABLES: usize = 32;

/// One flow's object of a library.
pub(crate) struct Foreign {
    ops: &'static Ops,
    object: NonNull<c_void>,
}

// SAFETY: an object belongs to one flow, which one thread at a time has; the header forbids a
// library to share anything between objects.
unsafe impl Send for Foreign {}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").finish_non_exhaustive()
    }
}

impl Foreign {
    /// A new object with the values of the library's parameters; none if the library has none to
    /// give.
    pub(crate) fn new(ops: &'static Ops, values: &[f64]) -> Option<Foreign> {
        let create = ops.create?;
        // SAFETY: the library asks for `n_params` values, and gets them.
        let object = NonNull::new(unsafe { create(values.as_ptr()) })?;
        Some(Foreign { ops, object })
    }

    /// Calls a hook with a copy of `tp`, and takes over what it wrote.
    fn call<T>(&self, tp: &mut Sender, hook: impl FnOnce(*mut c_void, *mut Tp) -> T) -> T {
        let mut copy = Tp::of(tp);
        let result = hook(self.object.as_ptr(), &raw mut copy);
        copy.give_back(tp);
        result
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(destroy) = self.ops.destroy {
            // SAFETY: `create` made the object, and nothing uses it any more.
            unsafe { destroy(self.object.as_ptr()) }
        }
    }
}

impl CongestionControl for Foreign {
    fn init(&mut self, tp: &mut Sender) {
        if let Some(init) = self.ops.init {
            // SAFETY: the object is the library's own, and `tp` lasts as long as the call. So it is
            // in each hook below.
            self.call(tp, |object, tp| unsafe { init(object, tp) });
        }
    }

    fn ssthresh(&mut self, tp: &mut Sender) -> u32 {
        let Some(ssthresh) = self.ops.ssthresh else {
            return tp.reno_ssthresh();
        };
        // SAFETY: as in `init`.
        let segments = self.call(tp, |object, tp| unsafe { ssthresh(object, tp) });
        segments.max(2)
    }

    fn cong_avoid(&mut self, tp: &mut Sender, ack: u32, acked: u32) {
        if let Some(cong_avoid) = self.ops.cong_avoid {
            // SAFETY: as in `init`.
            self.call(tp, |object, tp| unsafe {
                cong_avoid(object, tp, ack, acked);
            });
        }
    }

    fn set_state(&mut self, tp: &mut Sender, new: CaState) {
        if let Some(set_state) = self.ops.set_state {
            // SAFETY: as in `init`.
            self.call(tp, |object, tp| unsafe {
                set_state(object, tp, abi::state(new));
            });
        }
    }

    fn cwnd_event(&mut self, tp: &mut Sender, event: CaEvent) {
        if let Some(cwnd_event) = self.ops.cwnd_event {
            // SAFETY: as in `init`.
            self.call(tp, |object, tp| unsafe {
                cwnd_event(object, tp, abi::event(event));
            });
        }
    }

    fn pkts_acked(&mut self, tp: &mut Sender, sample: &AckSample) {
        if let Some(pkts_acked) = self.ops.pkts_acked {
            let sample = Ack::from(sample);
            // SAFETY: as in `init`.
            self.call(tp, |object, tp| unsafe {
                pkts_acked(object, tp, &raw const sample);
            });
        }
    }

    fn undo_cwnd(&mut self, tp: &mut Sender) -> u32 {
        let Some(undo_cwnd) = self.ops.undo_cwnd else {
            return tp.reno_undo_cwnd();
        };
        // SAFETY: as in `init`.
        let segments = self.call(tp, |object, tp| unsafe { undo_cwnd(object, tp) });
        segments.max(1)
    }

    fn has_cong_control(&self) -> bool {
        self.ops.cong_control.is_some()
    }

    fn cong_control(&mut self, tp: &mut Sender, rs: &RateSample) {
        if let Some(cong_control) = self.ops.cong_control {
            let rs = Rate::from(rs);
            // SAFETY: as in `init`.
            self.call(tp, |object, tp| unsafe {
                cong_control(object, tp, &raw const rs);
            });
        }
    }

    fn wants_flight(&self) -> bool {
        self.ops.lost.is_some()
    }

    fn lost(&mut self, tp: &mut Sender, segment: &LostSegment) {
        if let Some(lost) = self.ops.lost {
            let segment = Segment::from(segment);
            // SAFETY: as in `init`.
            self.call(tp, |object, tp| unsafe {
                lost(object, tp, &raw const segment);
            });
        }
    }

    fn needs_ecn(&self) -> bool {
        self.ops.has(Flag::NeedsEcn) || self.needs_accurate_ecn()
    }

    fn needs_accurate_ecn(&self) -> bool {
        self.ops.has(Flag::NeedsAccurateEcn)
    }

    fn sends_ect1(&self) -> bool {
        self.ops.has(Flag::SendsEct1)
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        let Some(observe) = self.ops.observe else {
            return Vec::new();
        };
        let none = Variable {
            name: core::ptr::null(),
            value: 0.0,
        };
        let mut variables = [none; MOST_VARIABLES];
        // SAFETY: the object is the library's own, and there is room for as many as are said.
        let count =
            unsafe { observe(self.object.as_ptr(), variables.as_mut_ptr(), MOST_VARIABLES) };
        let filled = &variables[..count.min(MOST_VARIABLES)];
        let named = filled.iter().filter(|variable| !variable.name.is_null());
        named
            .filter_map(|variable| {
                // SAFETY: the library wrote the name, which lives as long as it is loaded: for
                // ever.
                let name: &'static CStr = unsafe { CStr::from_ptr(variable.name) };
                Some((name.to_str().ok()?, variable.value))
            })
            .collect()
    }
}
