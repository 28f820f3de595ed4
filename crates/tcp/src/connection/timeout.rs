//! The transmit timer: retransmission, tail loss probe, reordering, persist, TIME-WAIT. One runs at
//! a time.

use super::Connection;
use super::parts::ack_news::AckNews;
use super::parts::status::Failure;
use super::parts::status::State;
use super::parts::timers::Pending;
use crate::cc::CaState;
use crate::timer::jiffies_after;
use trammel_core::time::{Span, Time};

/// Retransmissions of the same data before giving up (`tcp_retries2`).
const MAX_RETRANSMITS: u32 = 15;
/// Retransmissions of a SYN before giving up (`tcp_syn_retries`).
const MAX_SYN_RETRANSMITS: u32 = 6;
/// Slack that a probe leaves for the ACK of a full flight, µs: two ticks.
const PROBE_SLACK_US: u64 = 2_000;
/// Twice the maximum segment lifetime, as Linux takes it.
const TIME_WAIT: Span = Span::from_secs(60);

impl Connection {
    /// The retransmission timeout with its back-off, µs.
    pub(super) fn rto_us(&self) -> u64 {
        let backed_off = self
            .rtt
            .rto_us
            .saturating_mul(1 << self.timers.backoff.min(16));
        backed_off.min(self.stack.max_rto.as_us())
    }

    /// Arms the timer. What is kept is when it would fire on an exact clock; the kernel's clock,
    /// which is never early, is asked only when that instant comes: most timers are set anew long
    /// before.
    fn arm(&mut self, now: Time, pending: Pending, delay_us: u64) {
        self.timers.pending = pending;
        self.timers.armed_at = now;
        self.timers.due = now + Span::from_us(delay_us.min(self.stack.max_rto.as_us()));
        self.timers.is_exact = self.stack.hz == 0;
    }

    /// The exact instant has come: whether the kernel's clock lets the timer fire now too. If not,
    /// it is set to when it does.
    pub(super) fn ticks_agree(&mut self, now: Time) -> bool {
        if !self.timers.is_exact {
            let delay_us = (self.timers.due - self.timers.armed_at).as_us();
            self.timers.due = jiffies_after(self.timers.armed_at, delay_us, self.stack.hz);
            self.timers.is_exact = true;
        }
        self.timers.due <= now
    }

    /// After an ACK of something: a tail loss probe where one may be sent, else the retransmission
    /// timer.
    pub(super) fn set_transmit_timer(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.rearm_retransmission(now);
        }
    }

    /// Starts the retransmission timer, or stops it where nothing is outstanding. Time that another
    /// timer has waited since the head was sent counts.
    #[inline]
    pub(super) fn rearm_retransmission(&mut self, now: Time) {
        if self.board.is_empty() {
            if self.timers.pending != Pending::Persist {
                self.timers.disarm();
            }
            return;
        }
        let mut delay = self.rto_us();
        if matches!(
            self.timers.pending,
            Pending::Reordering | Pending::TailLossProbe
        ) {
            delay = self.until_rto_us().max(1);
        }
        if self.timers.retransmits > 0 {
            delay = self.within_user_timeout(delay);
        }
        self.arm(now, Pending::Retransmission, delay);
    }

    /// `delay`, or what is left of the user's timeout, µs.
    #[cold]
    fn within_user_timeout(&self, delay: u64) -> u64 {
        let left = self.user_timeout_left_us().unwrap_or(u64::MAX);
        delay.min(left.max(1))
    }

    /// What is left of the timeout since the head was last sent, µs; 0 where it is over.
    fn until_rto_us(&self) -> u64 {
        let head = self
            .board
            .front()
            .map_or(self.tp.now_us as u32, |sent| sent.tx_us);
        let waited = u64::from((self.tp.now_us as u32).wrapping_sub(head));
        self.rto_us().saturating_sub(waited)
    }

    //= rfc8985 §7.2
    //# The timer is set to two round-trip times, and more when a lone segment's ACK may be delayed.
    /// Schedules a tail loss probe; false where none may be sent now.
    pub(super) fn schedule_probe(&mut self, now: Time, from_ack: bool) -> bool {
        if !self.stack.tail_loss_probe
            || !self.handshake.sack
            || self.board.is_empty()
            || !matches!(self.tp.ca_state, CaState::Open | CaState::Cwr)
        {
            return false;
        }
        let mut delay = if self.tp.srtt_us > 0 {
            let two_rtts = u64::from(self.tp.srtt_us >> 2);
            if self.tp.packets_out == 1 {
                two_rtts + self.stack.min_rto.as_us()
            } else {
                two_rtts + PROBE_SLACK_US
            }
        } else {
            self.stack.initial_rto.as_us()
        };
        let limit = if from_ack {
            self.rto_us()
        } else {
            self.until_rto_us()
        };
        if limit > 0 {
            delay = delay.min(limit);
        }
        self.arm(now, Pending::TailLossProbe, delay);
        true
    }

    pub(super) fn arm_reordering_timer(&mut self, now: Time, delay_us: u64) {
        self.arm(now, Pending::Reordering, delay_us);
    }

    pub(super) fn arm_persist(&mut self, now: Time) {
        let delay = self
            .rtt
            .rto_us
            .saturating_mul(1 << self.timers.probes.min(16));
        self.arm(now, Pending::Persist, delay);
    }

    pub(super) fn arm_time_wait(&mut self, now: Time) {
        self.timers.pending = Pending::TimeWait;
        self.timers.due = now + TIME_WAIT;
        self.timers.is_exact = true;
    }

    pub(super) fn arm_syn(&mut self, now: Time) {
        let doublings = self
            .timers
            .retransmits
            .saturating_sub(self.syn_linear_timeouts());
        let delay = self.stack.initial_rto.as_us() << doublings.min(16);
        self.arm(now, Pending::Retransmission, delay);
    }

    /// Timeouts of our SYN that are not doubled. Those of an answer to a SYN all are.
    fn syn_linear_timeouts(&self) -> u32 {
        match self.state {
            State::SynSent => self.stack.syn_linear_timeouts,
            _ => 0,
        }
    }

    /// The transmit timer is due.
    pub(super) fn on_retransmission_timer(&mut self, now: Time) {
        let pending = self.timers.pending;
        self.timers.disarm();
        match pending {
            Pending::None => {}
            Pending::TimeWait => self.state = State::Closed,
            Pending::Reordering => {
                let prior = self.tp.packets_in_flight();
                self.rack_detect();
                if prior != self.tp.packets_in_flight() {
                    if self.tp.ca_state != CaState::Recovery {
                        let mut news = AckNews::default();
                        self.alert(now, &mut news, false);
                        if self.tp.ca_state == CaState::Recovery && !self.owns_window {
                            // The window comes down from the first retransmission on: without it
                            // all that is lost would leave at once.
                            news.delivered = 1;
                            self.reduce_window(&news, 0);
                        }
                    }
                    self.output.retransmission = true;
                    self.output.new_data = true;
                }
                if self.timers.pending != Pending::Retransmission && !self.board.is_empty() {
                    self.timers.pending = Pending::Reordering;
                    self.rearm_retransmission(now);
                }
            }
            Pending::TailLossProbe => self.on_probe_timer(now),
            Pending::Persist => {
                if self.board.is_empty() && self.queued() > 0 {
                    //= rfc9293 §3.8.6.1
                    //# As long as the receiving TCP peer continues to send acknowledgments in
                    //# response to the probe segments, the sending TCP peer MUST allow the
                    //# connection to stay open
                    if self.timers.unanswered_probes >= MAX_RETRANSMITS {
                        self.fail(Failure::TimedOut);
                        return;
                    }
                    self.timers.unanswered_probes += 1;
                    self.timers.probes += 1;
                    self.output.probe = true;
                    self.output.rare = true;
                    self.arm_persist(now);
                }
            }
            Pending::Retransmission => self.on_timeout(now),
        }
    }

    fn on_timeout(&mut self, now: Time) {
        match self.state {
            State::SynSent | State::SynReceived => {
                if self.timers.retransmits >= MAX_SYN_RETRANSMITS + self.syn_linear_timeouts() {
                    self.fail(Failure::TimedOut);
                } else {
                    self.counters.timeouts += 1;
                    self.timers.retransmits += 1;
                    self.send_syn_again();
                }
                return;
            }
            _ if self.board.is_empty() => return,
            _ => {}
        }
        if self.has_given_up() {
            self.fail(Failure::TimedOut);
            return;
        }
        if self.timers.retransmits == 0 {
            self.timers.first_timeout_us = self.tp.now_us;
        }
        self.counters.timeouts += 1;
        self.enter_loss();
        self.timers.retransmits += 1;
        self.timers.backoff += 1;
        self.output.retransmission = true;
        self.output.first_lost_at_once = true;
        let delay = self.within_user_timeout(self.rto_us());
        self.arm(now, Pending::Retransmission, delay);
    }

    /// Whether the present timeout is the last.
    fn has_given_up(&self) -> bool {
        match self.user_timeout_left_us() {
            Some(left) => left == 0,
            None => self.timers.retransmits >= MAX_RETRANSMITS,
        }
    }

    /// What is left of the user's timeout, which counts from the first retransmission.
    fn user_timeout_left_us(&self) -> Option<u64> {
        let most = self.timers.user_timeout_us;
        if most == 0 {
            return None;
        }
        if self.timers.retransmits == 0 {
            return Some(most);
        }
        let elapsed = self.tp.now_us - self.timers.first_timeout_us;
        Some(most.saturating_sub(elapsed))
    }

    /// A probe: new data where there is some and the window lets it, else the last segment again.
    fn on_probe_timer(&mut self, now: Time) {
        if self.probe.end.is_none() && !self.board.is_empty() {
            self.probe.is_retransmission = false;
            self.output.probe = true;
            self.output.rare = true;
        } else {
            // One is outstanding: what the timer has waited since the head was sent counts.
            self.timers.pending = Pending::TailLossProbe;
            self.rearm_retransmission(now);
        }
    }

    /// Judges what an ACK says of the outstanding probe (RFC 8985 §7.4).
    pub(super) fn answer_tail_loss_probe(&mut self, ack: u32, news: &AckNews) {
        let Some(end) = self.probe.end else { return };
        if crate::seq::before(ack, end) {
            return;
        }
        if !self.probe.is_retransmission || news.dsack_of_probe {
            // New data was acknowledged, or original and probe both arrived: nothing was lost.
            self.probe.end = None;
        } else if crate::seq::after(ack, end) {
            // The probe repaired a loss that nothing else saw: the window pays for it.
            self.lost_tail();
        } else if !news.advanced && !news.not_duplicate && !news.sacked {
            self.probe.end = None;
        }
    }
}
