//! A congestion control whose hooks are methods of an object of Python's.

use super::call::{attached, freeing, of_no_use};
use super::class::Object;
use super::samples::{AckSample as Ack, IntervalSample, LostSegment as Lost, RateSample as Sample};
use super::sender::{Sender, whole, word};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use trammel_core::entry::Params;
use trammel_core::raised::Raised;
use trammel_environment::interval::Interval;
use trammel_tcp::cc::{
    AckFlags, AckSample, CaEvent, CaState, CongestionControl, LostSegment, RateSample, Tp,
};

type Hook = Option<Py<PyAny>>;

/// One flow's object.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "hooks have the kernel's names")]
pub(super) struct Control {
    of: Object,
    sender: Py<Sender>,
    init: Hook,
    ssthresh: Hook,
    cong_avoid: Hook,
    set_state: Hook,
    cwnd_event: Hook,
    in_ack_event: Hook,
    pkts_acked: Hook,
    undo_cwnd: Hook,
    cong_control: Hook,
    lost: Hook,
    /// What is gathered between two calls of `on_interval`.
    interval: Option<(Py<PyAny>, Interval)>,
}

/// Makes the controller that `params` are for.
pub(super) fn build(params: &Params) -> Box<dyn CongestionControl> {
    let of = Object::new(params).unwrap_or_else(|words| Raised(words).raise());
    let hook = |name| of.hook(name);
    let every = of.class.every;
    let interval = hook("on_interval").zip(every.map(Interval::new));
    let name = of.class.name;
    Box::new(Control {
        sender: attached(name, |py| Py::new(py, Sender::new())),
        init: hook("init"),
        ssthresh: hook("ssthresh"),
        cong_avoid: hook("cong_avoid"),
        set_state: hook("set_state"),
        cwnd_event: hook("cwnd_event"),
        in_ack_event: hook("in_ack_event"),
        pkts_acked: hook("pkts_acked"),
        undo_cwnd: hook("undo_cwnd"),
        cong_control: hook("cong_control"),
        lost: hook("lost"),
        interval,
        of,
    })
}

/// Gives everything of Python's back while it is attached.
impl Drop for Control {
    fn drop(&mut self) {
        // Else each object is given back by itself, at some later call.
        let hooks = [
            &mut self.init,
            &mut self.ssthresh,
            &mut self.cong_avoid,
            &mut self.set_state,
            &mut self.cwnd_event,
            &mut self.in_ack_event,
            &mut self.pkts_acked,
            &mut self.undo_cwnd,
            &mut self.cong_control,
            &mut self.lost,
        ];
        let interval = self.interval.take();
        freeing(|| {
            let _ = hooks.map(Option::take);
            drop(interval);
        });
    }
}

impl Control {
    /// Calls `hook` with the sender's state and the rest of what `told` gives; `answer` reads what
    /// it gave.
    fn call<T>(
        &self,
        hook: &Py<PyAny>,
        tp: &mut Tp,
        told: impl for<'py> FnOnce(Python<'py>, Py<Sender>) -> PyResult<Bound<'py, PyTuple>>,
        answer: impl FnOnce(Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        attached(self.of.class.name, |py| {
            let sender = self.sender.get();
            let told = told(py, self.sender.clone_ref(py))?;
            sender.swap(tp);
            let given = hook.bind(py).call1(told);
            sender.swap(tp);
            answer(given?)
        })
    }

    /// The window that `hook` gives, segments.
    fn window(&self, hook: &Py<PyAny>, what: &'static str, tp: &mut Tp) -> u32 {
        self.call(
            hook,
            tp,
            |py, tp| (tp,).into_pyobject(py),
            |given| {
                let segments = given.extract::<f64>();
                whole(
                    segments.map_err(|_| of_no_use(what, "segments", &given))?,
                    what,
                )
            },
        )
    }
}

impl CongestionControl for Control {
    fn init(&mut self, tp: &mut Tp) {
        if let Some(hook) = &self.init {
            self.call(hook, tp, |py, tp| (tp,).into_pyobject(py), |_| Ok(()));
        }
        if let Some((_, interval)) = &mut self.interval {
            interval.begin(tp);
        }
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        match &self.ssthresh {
            Some(hook) => self.window(hook, "ssthresh", tp).max(2),
            None => tp.reno_ssthresh(),
        }
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        match &self.cong_avoid {
            Some(hook) => self.call(hook, tp, |py, tp| (tp, acked).into_pyobject(py), |_| Ok(())),
            None => tp.reno_cong_avoid(acked),
        }
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        if let Some(hook) = &self.set_state {
            self.call(
                hook,
                tp,
                |py, tp| (tp, word(new)).into_pyobject(py),
                |_| Ok(()),
            );
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        if let Some(hook) = &self.cwnd_event {
            let event = match event {
                CaEvent::TxStart => "tx_start",
                CaEvent::CwndRestart => "cwnd_restart",
                CaEvent::CompleteCwr => "complete_cwr",
                CaEvent::Loss => "loss",
                CaEvent::TailLossRepaired => "tail_loss_repaired",
                CaEvent::EcnNoCe => "ecn_no_ce",
                CaEvent::EcnIsCe => "ecn_is_ce",
            };
            self.call(hook, tp, |py, tp| (tp, event).into_pyobject(py), |_| Ok(()));
        }
    }

    fn in_ack_event(&mut self, tp: &mut Tp, flags: AckFlags) {
        if let Some(hook) = &self.in_ack_event {
            self.call(
                hook,
                tp,
                |py, tp| (tp, flags.ece).into_pyobject(py),
                |_| Ok(()),
            );
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if let Some(hook) = &self.pkts_acked {
            let sample = Ack::from(sample);
            self.call(
                hook,
                tp,
                |py, tp| (tp, sample).into_pyobject(py),
                |_| Ok(()),
            );
        }
    }

    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        match &self.undo_cwnd {
            Some(hook) => self.window(hook, "undo_cwnd", tp),
            None => tp.reno_undo_cwnd(),
        }
    }

    fn has_cong_control(&self) -> bool {
        self.cong_control.is_some() || self.interval.is_some()
    }

    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        if let Some(hook) = &self.cong_control {
            let sample = Sample::from(rs);
            self.call(
                hook,
                tp,
                |py, tp| (tp, sample).into_pyobject(py),
                |_| Ok(()),
            );
        }
        let Some((hook, mut interval)) = self.interval.take() else {
            return;
        };
        if let Some(summary) = interval.ack(tp, rs) {
            let sample = IntervalSample::from(&summary);
            self.call(
                &hook,
                tp,
                |py, tp| (tp, sample).into_pyobject(py),
                |_| Ok(()),
            );
            interval.decided(tp);
        }
        self.interval = Some((hook, interval));
    }

    fn wants_flight(&self) -> bool {
        self.lost.is_some()
    }

    fn lost(&mut self, tp: &mut Tp, segment: &LostSegment) {
        if let Some(hook) = &self.lost {
            let segment = Lost::from(segment);
            self.call(
                hook,
                tp,
                |py, tp| (tp, segment).into_pyobject(py),
                |_| Ok(()),
            );
        }
    }

    fn needs_ecn(&self) -> bool {
        let flags = &self.of.class.flags;
        flags.contains("needs_ecn") || flags.contains("needs_accurate_ecn")
    }

    fn needs_accurate_ecn(&self) -> bool {
        self.of.class.flags.contains("needs_accurate_ecn")
    }

    fn sends_ect1(&self) -> bool {
        self.of.class.flags.contains("sends_ect1")
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        let variables = self.of.class.variables.iter();
        variables
            .map(|name| (*name, self.of.number(name)))
            .collect()
    }
}
