//! Controllers and stacks that violate a requirement: what each case must fail.

use trammel_core::time::Span;
use trammel_tcp::cc::{
    AckFlags, AckSample, CaEvent, CaState, CongestionControl, LostSegment, PathModel, RateSample,
    Tp,
};
use trammel_tcp::stack::{AckPolicy, Stack};

/// A rule of a controller that is violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// A loss does not lower the window.
    NoReduction,
    /// The window grows with every ACK, whether or not the flow uses it.
    GrowsUnused,
    /// Each ACK adds twice what it may.
    DoubleGrowth,
    /// Slow start has no threshold.
    NoThreshold,
    /// The threshold after a loss is one segment.
    TinyThreshold,
    /// A reduction that proves spurious is not undone.
    NoUndo,
    /// A timeout leaves half the window.
    KeepsWindow,
    /// The first duplicate ACK already halves the window.
    Hasty,
    /// The window stays inflated when recovery ends.
    StaysInflated,
    /// Retransmitted segments give samples of the round trip.
    SamplesRetransmissions,
    /// Marks are ignored.
    IgnoresMarks,
    /// Each timeout lowers the threshold again.
    LowersTwice,
    /// Idle time counts as time since the last loss.
    CountsIdle,
    /// Samples of a sender without data count as samples of the path.
    IgnoresAppLimit,
}

const CONTROLLERS: [(&str, Mutation); 14] = [
    ("no-reduction", Mutation::NoReduction),
    ("grows-unused", Mutation::GrowsUnused),
    ("double-growth", Mutation::DoubleGrowth),
    ("no-threshold", Mutation::NoThreshold),
    ("tiny-threshold", Mutation::TinyThreshold),
    ("no-undo", Mutation::NoUndo),
    ("keeps-window", Mutation::KeepsWindow),
    ("hasty", Mutation::Hasty),
    ("stays-inflated", Mutation::StaysInflated),
    ("samples-retransmissions", Mutation::SamplesRetransmissions),
    ("ignores-marks", Mutation::IgnoresMarks),
    ("lowers-twice", Mutation::LowersTwice),
    ("counts-idle", Mutation::CountsIdle),
    ("ignores-app-limit", Mutation::IgnoresAppLimit),
];

/// A change of a stack.
pub(crate) type StackChange = fn(&mut Stack);

const STACKS: [(&str, StackChange); 9] = [
    ("initial-window-20", |stack| stack.initial_window = 20),
    ("reordering-20", |stack| stack.reordering = 20),
    ("ack-every-8", |stack| {
        stack.ack_policy = AckPolicy::Stretched(8, Span::from_ms(100));
    }),
    ("ack-after-900-ms", |stack| {
        stack.ack_policy = AckPolicy::Delayed(Span::from_ms(900));
    }),
    ("initial-rto-200-ms", |stack| {
        stack.initial_rto = Span::from_ms(200);
    }),
    ("min-rto-5-ms", |stack| stack.min_rto = Span::from_ms(5)),
    ("min-rto-5-s", |stack| stack.min_rto = Span::from_secs(5)),
    ("max-rto-300-ms", |stack| stack.max_rto = Span::from_ms(300)),
    ("no-idle-restart", |stack| {
        stack.slow_start_after_idle = false;
    }),
];

impl Mutation {
    /// The mutation of a controller that is called `name`.
    pub(crate) fn find(name: &str) -> Option<Mutation> {
        let mut all = CONTROLLERS.iter();
        all.find(|(known, _)| *known == name).map(|(_, one)| *one)
    }

    /// `inner`, violating the rule.
    pub(crate) fn around(self, inner: Box<dyn CongestionControl>) -> Box<dyn CongestionControl> {
        Box::new(Mutant { inner, rule: self })
    }
}

/// The change of a stack that is called `name`.
pub(crate) fn stack(name: &str) -> Option<StackChange> {
    let mut all = STACKS.iter();
    all.find(|(known, _)| *known == name).map(|(_, one)| *one)
}

/// The names of all, for messages.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let controllers = CONTROLLERS.iter().map(|(name, _)| *name);
    controllers.chain(STACKS.iter().map(|(name, _)| *name))
}

#[derive(Debug)]
struct Mutant {
    inner: Box<dyn CongestionControl>,
    rule: Mutation,
}

impl Mutant {
    /// Whether the controller is not told: some lower their window when they hear of a loss, not
    /// when they are asked for a threshold.
    fn is_silent(&self, is_of_loss: bool) -> bool {
        self.rule == Mutation::NoReduction && is_of_loss
    }
}

impl CongestionControl for Mutant {
    fn init(&mut self, tp: &mut Tp) {
        self.inner.init(tp);
    }
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        let before = tp.snd_cwnd;
        let threshold = self.inner.ssthresh(tp);
        match self.rule {
            Mutation::NoReduction => before.max(threshold),
            Mutation::TinyThreshold => 1,
            _ => threshold,
        }
    }
    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32) {
        if self.rule == Mutation::NoThreshold {
            tp.snd_ssthresh = trammel_tcp::cc::INFINITE_SSTHRESH;
        }
        let before = tp.snd_cwnd;
        self.inner.cong_avoid(tp, ack, acked);
        match self.rule {
            Mutation::GrowsUnused => tp.snd_cwnd += acked,
            Mutation::DoubleGrowth => tp.snd_cwnd += tp.snd_cwnd.saturating_sub(before).max(1),
            _ => {}
        }
    }
    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        if self.is_silent(matches!(new, CaState::Recovery | CaState::Loss)) {
            return;
        }
        self.inner.set_state(tp, new);
        match (self.rule, new) {
            (Mutation::Hasty, CaState::Disorder) => tp.snd_cwnd = (tp.snd_cwnd / 2).max(1),
            (Mutation::KeepsWindow, CaState::Loss) => tp.snd_cwnd = 5,
            (Mutation::LowersTwice, CaState::Loss) => {
                tp.snd_ssthresh = (tp.snd_ssthresh / 2).max(1);
            }
            _ => {}
        }
    }
    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        if self.rule == Mutation::CountsIdle && event == CaEvent::TxStart {
            return;
        }
        if self.is_silent(event == CaEvent::Loss) {
            return;
        }
        self.inner.cwnd_event(tp, event);
        if self.rule == Mutation::StaysInflated && event == CaEvent::CompleteCwr {
            tp.snd_cwnd += 3;
        }
    }
    fn in_ack_event(&mut self, tp: &mut Tp, flags: AckFlags) {
        let flags = match self.rule {
            Mutation::IgnoresMarks => AckFlags {
                ece: false,
                ..flags
            },
            _ => flags,
        };
        self.inner.in_ack_event(tp, flags);
    }
    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        self.inner.pkts_acked(tp, sample);
        if self.rule == Mutation::SamplesRetransmissions && sample.rtt_us < 0 {
            tp.srtt_us += tp.srtt_us / 2;
        }
    }
    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        match self.rule {
            Mutation::NoUndo => tp.snd_cwnd,
            _ => self.inner.undo_cwnd(tp),
        }
    }
    fn has_cong_control(&self) -> bool {
        self.inner.has_cong_control()
    }
    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        let rs = RateSample {
            is_app_limited: rs.is_app_limited && self.rule != Mutation::IgnoresAppLimit,
            ..*rs
        };
        self.inner.cong_control(tp, &rs);
    }
    fn wants_flight(&self) -> bool {
        self.inner.wants_flight()
    }
    fn lost(&mut self, tp: &mut Tp, segment: &LostSegment) {
        self.inner.lost(tp, segment);
    }
    fn path_model(&self, tp: &Tp) -> PathModel {
        self.inner.path_model(tp)
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
    fn observe(&self) -> Vec<(&'static str, f64)> {
        self.inner.observe()
    }
}
