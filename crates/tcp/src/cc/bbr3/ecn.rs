//! Marks of congestion: as a loss in the draft, by their share on a low-latency route in `linux`.

use super::{AckFlags, Bbr3, CaState, NO_LIMIT, RateSample, Tp};

/// Shares are of 256, as the kernel counts them.
const ALL: u32 = 256;
/// Weight of a round's share in the running mean, of 256.
const ALPHA_GAIN: u32 = ALL / 16;
/// The part of α by which a round with marks cuts the volume.
const FACTOR: u32 = ALL / 3;
/// Share of marks that ends a probe.
const THRESH: u32 = ALL / 2;
/// Rounds over it that end STARTUP.
const STARTUP_ROUNDS: u32 = 2;

/// The state of the response to marks.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// The route has shallow thresholds and a short round trip: marks are answered by their share.
    is_eligible: bool,
    /// Running mean of the share.
    alpha: u32,
    last_delivered: u64,
    last_marked: u64,
    /// The present ACK echoes a mark.
    is_echo: bool,
    pub(super) is_in_round: bool,
    pub(super) is_in_cycle: bool,
    /// Rounds of STARTUP over the threshold.
    startup_rounds: u32,
    /// Receiver side: the last segment was marked.
    ce_state: bool,
}

impl Marks {
    pub(super) fn new() -> Marks {
        Marks {
            is_eligible: false,
            // A flow whose path is congested when it begins answers at once.
            alpha: ALL,
            last_delivered: 0,
            last_marked: 0,
            is_echo: false,
            is_in_round: false,
            is_in_cycle: false,
            startup_rounds: 0,
            ce_state: false,
        }
    }

    /// The mean share of marks, of 1024; 0 where it has no say.
    pub(super) fn alpha(&self) -> u16 {
        if self.is_eligible {
            (self.alpha * 4) as u16
        } else {
            0
        }
    }
}

impl Bbr3 {
    pub(super) fn note_echo(&mut self, flags: AckFlags) {
        self.marks.is_echo = flags.ece;
    }

    /// What an ACK tells of marks, before the model looks at it.
    pub(super) fn take_marks(&mut self, tp: &mut Tp, rs: &RateSample) {
        if !tp.ecn_ok {
            return;
        }
        if !self.config.is_linux {
            if std::mem::take(&mut self.marks.is_echo) {
                self.mark_is_a_loss(tp, rs);
            }
            return;
        }
        if self.round_start {
            self.update_alpha(tp);
        }
        let is_echo = std::mem::take(&mut self.marks.is_echo);
        self.marks.is_in_round |= self.marks.is_eligible && is_echo;
    }

    //= draft-ietf-ccwg-bbr §3.7
    //# the congestion controller response MUST treat any CE marks as congestion.
    /// The draft says no more: marks count as lost segments.
    fn mark_is_a_loss(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.note_loss(tp);
        self.losses_in_round += 1;
        if self.is_bw_probe_sample && self.is_too_high(tp, rs.lost + rs.marked, rs.tx_in_flight) {
            self.inflight_was_too_high(tp, rs.tx_in_flight, rs.is_app_limited);
        }
    }

    /// How many marks of `rs` count as losses.
    pub(super) fn marks_as_losses(&self, rs: &RateSample) -> u32 {
        if self.config.is_linux { 0 } else { rs.marked }
    }

    fn update_alpha(&mut self, tp: &Tp) {
        self.marks.is_eligible |=
            self.config.ecn_low && self.min_rtt_us <= self.config.ecn_max_rtt_us;
        let marks = &mut self.marks;
        let delivered = tp.delivered - marks.last_delivered;
        if !marks.is_eligible || delivered == 0 {
            return;
        }
        let marked = tp.delivered_ce - marks.last_marked;
        let share = (marked * u64::from(ALL) / delivered) as u32;
        let kept = ((ALL - ALPHA_GAIN) * marks.alpha) / ALL;
        marks.alpha = (kept + ALPHA_GAIN * share / ALL).min(ALL);
        marks.last_delivered = tp.delivered;
        marks.last_marked = tp.delivered_ce;
        if self.full_bw_reached {
            return;
        }
        if share >= THRESH {
            marks.startup_rounds += 1;
        } else {
            marks.startup_rounds = 0;
        }
        if marks.startup_rounds >= STARTUP_ROUNDS {
            self.queue_is_too_high(tp);
        }
    }

    /// Whether too many of the segments of `rs` were marked for a probe to go on.
    pub(super) fn is_marked_too_much(&self, rs: &RateSample) -> bool {
        let most = rs.delivered.max(0) as u64 * u64::from(THRESH) / u64::from(ALL);
        self.marks.is_eligible && rs.marked > 0 && u64::from(rs.marked) > most
    }

    /// The volume that a round with marks leaves; none without marks.
    pub(super) fn bound_by_marks(&mut self, tp: &Tp) -> Option<u32> {
        if !self.marks.is_in_round {
            return None;
        }
        if self.inflight_lo == NO_LIMIT {
            self.inflight_lo = tp.snd_cwnd;
        }
        let kept = ALL - self.marks.alpha * FACTOR / ALL;
        Some((u64::from(self.inflight_lo) * u64::from(kept) / u64::from(ALL)) as u32)
    }

    /// Once marks have ceased in a cycle without losses the flow probes at once, by steps that make
    /// about half of its bound in the first round: the logarithm of that.
    pub(super) fn reprobe_after_marks(&self, tp: &Tp) -> Option<u32> {
        let marks = &self.marks;
        let has_ceased = marks.is_eligible
            && marks.is_in_cycle
            && !self.is_loss_in_cycle
            && tp.ca_state == CaState::Open;
        has_ceased.then(|| (self.inflight_hi / 2).max(1).ilog2())
    }

    /// Receiver side: every ACK says of its own segments alone whether they were marked.
    pub(super) fn echo(&mut self, tp: &mut Tp, is_marked: bool) {
        tp.send_ack_now |= self.marks.ce_state != is_marked;
        self.marks.ce_state = is_marked;
        tp.ecn_demand_cwr = is_marked;
    }
}
