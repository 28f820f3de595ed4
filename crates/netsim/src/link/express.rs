//! A drop-tail queue at a fixed rate: when a packet leaves is known as it comes.

use super::counters::LinkCounters;
use super::departure_jitter::DepartureJitter;
use crate::ring::Ring;
use trammel_core::time::{Span, Time};
use trammel_core::units::TxTime;

/// The queue, its rate, and what has been counted of it.
#[derive(Debug)]
pub(super) struct Express {
    limit_packets: u64,
    limit_bytes: u64,
    /// Time per byte; none where the link is infinitely fast.
    tx: Option<TxTime>,
    /// Depth of the token bucket in time at the link's rate.
    burst: Option<Span>,
    late: Option<DepartureJitter>,
    /// When the last packet that came has left the queue: as it came, where it did not wait,
    /// however late it then is.
    pub(super) left: Time,
    /// When the last packet has left, or when the bucket is full again.
    free_at: Time,
    /// Size of the last packet, and the time that it takes.
    last_bytes: u64,
    last_cost: Span,
    last_departure: Time,
    /// Packets that had not left when this was looked at last: when they do, and their bytes.
    waiting: Ring<(Time, u32)>,
    waiting_bytes: u64,
    pub(super) tally: Tally,
}

/// What is counted of packets that came; what was sent follows from it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) arrived_pkts: u64,
    pub(super) arrived_bytes: u64,
    pub(super) overflow_pkts: u64,
    pub(super) overflow_bytes: u64,
    pub(super) wait_ns: u64,
    pub(super) peak_pkts: u64,
}

impl Tally {
    /// As counters of a link that has lost `lost_pkts` packets behind its queue.
    pub(super) fn counters(&self, lost_pkts: u64) -> LinkCounters {
        LinkCounters {
            arrived_pkts: self.arrived_pkts,
            arrived_bytes: self.arrived_bytes,
            sent_pkts: self.arrived_pkts - self.overflow_pkts,
            sent_bytes: self.arrived_bytes - self.overflow_bytes,
            overflow_pkts: self.overflow_pkts,
            lost_pkts,
            wait_ns: self.wait_ns,
            peak_pkts: self.peak_pkts as u32,
            ..LinkCounters::default()
        }
    }
}

impl Express {
    pub(super) fn new(
        packets: u32,
        bytes: u64,
        tx: Option<TxTime>,
        burst: Option<Span>,
        late: Option<DepartureJitter>,
    ) -> Express {
        Express {
            // As many as a number of packets can say is no limit.
            limit_packets: match packets {
                u32::MAX => u64::MAX,
                packets => u64::from(packets),
            },
            limit_bytes: bytes,
            tx,
            burst,
            late,
            left: Time::ZERO,
            free_at: Time::ZERO,
            last_bytes: 0,
            last_cost: Span::ZERO,
            last_departure: Time::ZERO,
            waiting: Ring::new(),
            waiting_bytes: 0,
            tally: Tally::default(),
        }
    }

    /// Whether some packet may find the queue full.
    pub(super) fn has_limit(&self) -> bool {
        self.tx.is_some() && (self.limit_packets, self.limit_bytes) != (u64::MAX, u64::MAX)
    }

    /// Packets and bytes that have not left by `now`.
    pub(super) fn backlog(&mut self, now: Time) -> (u32, u64) {
        self.expire(now);
        (self.waiting.len() as u32, self.waiting_bytes)
    }

    /// Whether packets wait for tokens and take no time on the wire.
    pub(super) fn is_bucket(&self) -> bool {
        self.burst.is_some()
    }

    /// Bytes of the first packet that has not left, as of the last look.
    pub(super) fn first(&self) -> Option<u32> {
        self.waiting.front().map(|&(_, bytes)| bytes)
    }

    /// Forgets the packets that have left by `now`.
    #[inline]
    fn expire(&mut self, now: Time) {
        while let Some(&(departs, bytes)) = self.waiting.front() {
            if departs > now {
                break;
            }
            self.waiting_bytes -= u64::from(bytes);
            self.waiting.pop();
        }
    }

    /// When the first packet that waits at `now` leaves; [`Time::MAX`] where none does.
    pub(super) fn next_departure(&mut self, now: Time) -> Time {
        self.expire(now);
        let first = self.waiting.front();
        first.map_or(Time::MAX, |&(departs, _)| departs)
    }

    /// Takes in a packet that comes at `now`: when it leaves, or nothing where the queue is full.
    #[inline]
    pub(super) fn admit(&mut self, now: Time, bytes: u32) -> Option<Time> {
        let wire_bytes = u64::from(bytes);
        self.tally.arrived_pkts += 1;
        self.tally.arrived_bytes += wire_bytes;
        let Some(tx) = self.tx else {
            self.left = now;
            return Some(now);
        };
        // While fewer are remembered than ever waited, a packet more is neither too much nor the
        // most ever, so those that have left need not be forgotten yet.
        let is_watched = self.waiting.len() as u64 >= self.tally.peak_pkts
            || self.waiting_bytes + wire_bytes > self.limit_bytes;
        if is_watched {
            self.expire(now);
            if self.waiting.len() as u64 >= self.limit_packets
                || self.waiting_bytes + wire_bytes > self.limit_bytes
            {
                self.tally.overflow_pkts += 1;
                self.tally.overflow_bytes += wire_bytes;
                return None;
            }
        }
        let due = self.due(tx, now, wire_bytes);
        let departs = self.leave(due);
        self.left = if due > now { departs } else { now };
        if due > now {
            self.waiting.push((departs, bytes));
            self.waiting_bytes += wire_bytes;
            if is_watched {
                let most = self.tally.peak_pkts.max(self.waiting.len() as u64);
                self.tally.peak_pkts = most;
            }
        }
        self.tally.wait_ns += (self.left - now).as_ns();
        Some(departs)
    }

    /// When a packet leaves that comes at `now` to a queue without a limit; nothing is counted.
    #[inline]
    pub(super) fn pass(&mut self, now: Time, bytes: u32) -> Time {
        match self.tx {
            Some(tx) => {
                let due = self.due(tx, now, u64::from(bytes));
                let departs = self.leave(due);
                self.left = if due > now { departs } else { now };
                departs
            }
            None => {
                self.left = now;
                now
            }
        }
    }

    /// When a packet leaves that is due at `due`.
    #[inline]
    fn leave(&mut self, due: Time) -> Time {
        match &mut self.late {
            Some(late) => late.leaves(due),
            None => due,
        }
    }

    /// When a packet that comes at `now` has to leave by the rate.
    #[inline]
    fn due(&mut self, tx: TxTime, now: Time, bytes: u64) -> Time {
        // Nearly all packets of a link are of one size.
        if bytes != self.last_bytes {
            (self.last_bytes, self.last_cost) = (bytes, tx.of(bytes));
        }
        let cost = self.last_cost;
        let Some(burst) = self.burst else {
            self.free_at = self.free_at.max(now) + cost;
            return self.free_at;
        };
        // The bucket is full at `free_at`; a packet needs `cost` of its `burst`.
        let tokens_at = self.free_at.saturating_sub(burst.saturating_sub(cost));
        let departs = tokens_at.max(now).max(self.last_departure);
        self.free_at = self.free_at.max(departs) + cost;
        self.last_departure = departs;
        departs
    }
}
