//! What a connection tells of itself: the fields of Linux's `tcp_info` that have a meaning here.

use super::Connection;
use trammel_core::time::Time;

/// A snapshot of a connection, its fields named after `tcp_info` (tcp(7), `TCP_INFO`) without their prefix
/// `tcpi_`. What [`Tp`](crate::cc::Tp) and [`Counters`](super::Counters) show already is not repeated.
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
    /// Window scale that the peer asked for and the one that we asked for; both are 0 where none was agreed on.
    pub wscale: (u8, u8),
    /// The largest segment that the peer was seen to send, payload bytes.
    pub rcv_mss: u32,
    /// The segment size that our SYN offered, less what timestamps take, payload bytes.
    pub advmss: u32,
    /// Degree of reordering, segments.
    pub reordering: u32,
    /// Time since data was last received; since the connection was established where none was.
    pub last_data_recv: Time,
    /// Time since data was last sent.
    pub last_data_sent: Time,
}

impl Connection {
    /// What the connection tells of itself at `now`.
    pub fn info(&self, now: Time) -> Info {
        let timestamps = if self.ts_ok { 12 } else { 0 };
        let since = |us: u64| Time::from_us(now.as_us().saturating_sub(us));
        Info {
            retransmits: self.retransmits,
            probes: self.unanswered_probes,
            backoff: self.backoff.max(self.probes),
            timestamps: self.ts_ok,
            sack: self.sack_ok,
            wscale: if self.peer_scales {
                (self.snd_wscale, self.receiver.wscale)
            } else {
                (0, 0)
            },
            rcv_mss: self.receiver.largest_segment(),
            advmss: u32::from(self.stack.mss) - timestamps,
            reordering: self.reordering,
            last_data_recv: since(self.receiver.last_data_us()),
            last_data_sent: since(self.tp.lsndtime_us),
        }
    }
}
