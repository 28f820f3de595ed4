//! The transmit timer, its back-offs, and the tail loss probe.

use trammel_core::time::Time;

/// What the transmit timer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// Nothing.
    None,
    /// An ACK (RFC 6298).
    Retransmission,
    /// Reordering to settle (RFC 8985 §6.2).
    Reordering,
    /// The time to probe for a tail loss (RFC 8985 §7.2).
    TailLossProbe,
    /// The peer's window to open (RFC 9293 §3.8.6.1).
    Persist,
    /// Stray segments to die (RFC 9293 §3.6.1).
    TimeWait,
}

/// The transmit timer. One event at a time can be pending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// What it waits for.
    pub(crate) pending: Pending,
    /// When it fires; [`Time::MAX`] for never.
    pub(crate) due: Time,
    /// When it was armed.
    pub(crate) armed_at: Time,
    /// `due` has been rounded to the kernel's clock.
    pub(crate) is_exact: bool,
    /// Doublings of the retransmission timeout.
    pub(crate) backoff: u32,
    /// Timeouts in a row without an answer.
    pub(crate) retransmits: u32,
    /// When the first of them was, µs.
    pub(crate) first_timeout_us: u64,
    /// Probes of a closed window since it closed.
    pub(crate) probes: u32,
    /// Probes in a row without an answer.
    pub(crate) unanswered_probes: u32,
    /// How long data may go unacknowledged once it was sent again, µs; 0 for the usual number of
    /// retransmissions (`TCP_USER_TIMEOUT`).
    pub(crate) user_timeout_us: u64,
}

impl Timers {
    pub(crate) fn new() -> Timers {
        Timers {
            pending: Pending::None,
            due: Time::MAX,
            armed_at: Time::ZERO,
            is_exact: true,
            backoff: 0,
            retransmits: 0,
            first_timeout_us: 0,
            probes: 0,
            unanswered_probes: 0,
            user_timeout_us: 0,
        }
    }

    /// Stops the timer.
    pub(crate) fn disarm(&mut self) {
        self.pending = Pending::None;
        self.due = Time::MAX;
    }
}

/// The outstanding tail loss probe (RFC 8985 §7).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TailLossProbe {
    /// Sequence number that ends it; `None` without one.
    pub(crate) end: Option<u32>,
    /// It repeated the last segment, rather than sending new data.
    pub(crate) is_retransmission: bool,
}
