//! What a connection tells of itself: the fields of Linux's `tcp_info` that have a meaning here.

use super::Connection;
use super::parts::counters::Counters;
use super::parts::status::Failure;
use super::parts::status::State;
use super::parts::usage::Bound;
use crate::cc::{CongestionControl, Tp};
use crate::segment::Ecn;
use crate::stack::Stack;
use trammel_core::time::{Span, Time};

/// A snapshot of a connection, its fields named after `tcp_info` (tcp(7), `TCP_INFO`) without their
/// prefix `tcpi_`. What [`Tp`](crate::cc::Tp) and [`Counters`](super::Counters) show already is not
/// repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Timeouts in a row without an answer.
    pub retransmits: u32,
    /// Probes of a closed window in a row without an answer.
    pub probes: u32,
    /// How often the retransmission timeout has been doubled.
    pub backoff: u32,
    /// Timestamps were agreed on.
    pub timestamps: bool,
    /// SACK was agreed on.
    pub sack: bool,
    /// Window scale that the peer asked for and the one that we asked for; both are 0 where none
    /// was agreed on.
    pub wscale: (u8, u8),
    /// The largest segment that the peer was seen to send, payload bytes.
    pub rcv_mss: u32,
    /// The segment size that our SYN offered, less what timestamps take, payload bytes.
    pub advmss: u32,
    /// Degree of reordering, segments.
    pub reordering: u32,
    /// Time since data was last received; since the connection was established where none was.
    pub last_data_recv: Span,
    /// Time since data was last sent.
    pub last_data_sent: Span,
}

impl Connection {
    /// Round trip of the last ACK that gave one, µs, if it came with the present event.
    #[inline]
    pub fn last_rtt_us(&self) -> Option<u32> {
        u32::try_from(self.rate.sample.rtt_us)
            .ok()
            .filter(|_| self.rate.sample.acked_sacked > 0)
    }

    /// State of the connection.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why the connection failed, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// The congestion control's view of the sender.
    pub fn tp(&self) -> &Tp {
        &self.tp
    }

    /// The congestion control.
    pub fn congestion_control(&self) -> &dyn CongestionControl {
        &*self.cc
    }

    /// Counters since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The stack's behaviour.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The window that the peer offers, bytes.
    pub fn peer_window(&self) -> u32 {
        self.peer_window.size
    }

    /// Payload bytes that the peer reported to have come with this ECN field (RFC 9768 §3.2.3),
    /// modulo 2³².
    pub fn bytes_reported(&self, field: Ecn) -> u32 {
        self.accurate.delivered.get(field)
    }

    /// What keeps it from sending more.
    pub fn bound(&self) -> Bound {
        self.usage.bound
    }

    /// Payload bytes that came out of order and wait for what lies before them.
    pub fn bytes_held(&self) -> u64 {
        self.receiver.bytes_held()
    }

    /// The end of the microsecond in which payload last came, or in which the handshake ended where
    /// none did.
    pub fn last_data(&self) -> Time {
        Time::from_us(self.receiver.last_data_us() + 1)
    }

    /// Retransmission timeout with its back-off.
    pub fn rto(&self) -> Span {
        Span::from_us(self.rto_us())
    }

    /// Delivery rate of the last good sample in bytes/s; 0 before one.
    pub fn delivery_rate(&self) -> u64 {
        let (segments, us) = self.rate.last_good;
        (segments * u64::from(self.tp.mss) * 1_000_000)
            .checked_div(us)
            .unwrap_or(0)
    }

    /// What the connection tells of itself at `now`.
    pub fn info(&self, now: Time) -> Info {
        let timestamps = if self.handshake.timestamps { 12 } else { 0 };
        let since = |us: u64| Span::from_us(now.as_us().saturating_sub(us));
        Info {
            retransmits: self.timers.retransmits,
            probes: self.timers.unanswered_probes,
            backoff: self.timers.backoff.max(self.timers.probes),
            timestamps: self.handshake.timestamps,
            sack: self.handshake.sack,
            wscale: if self.handshake.scaling {
                (self.peer_window.scale, self.receiver.wscale)
            } else {
                (0, 0)
            },
            rcv_mss: self.receiver.largest_segment(),
            advmss: u32::from(self.stack.mss) - timestamps,
            reordering: self.recovery.reordering,
            last_data_recv: since(self.receiver.last_data_us()),
            last_data_sent: since(self.tp.lsndtime_us),
        }
    }
}
