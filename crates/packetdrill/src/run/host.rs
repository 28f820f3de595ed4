//! The host under test: its connections, what they have sent, and the clock.

use super::wire::Wire;
use crate::script::SegmentLine;
use std::collections::VecDeque;
use trammel_core::time::{Span, Time};
use trammel_tcp::connection::{Bound, Connection, State};
use trammel_tcp::segment::{Flags, Segment};

/// A script's time 0: a clock that has run for a while, as a kernel's has.
pub(super) const EPOCH: Time = Time::from_secs(1);

/// A connection and how the script names its numbers.
pub(super) struct End {
    pub(super) connection: Connection,
    pub(super) wire: Wire,
    /// The listening socket that it came in by.
    pub(super) listener: Option<i64>,
    pub(super) limits: Limits,
}

/// For how long data waited, and for what: `tcpi_busy_time`, `tcpi_rwnd_limited`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// Until when it was counted.
    at: Time,
    is_busy: bool,
    is_held_by_peer: bool,
    /// Data was on the way or waited.
    pub(super) busy: Span,
    /// It waited for the peer's window.
    pub(super) held_by_peer: Span,
}

impl Limits {
    /// Counts until `now`, from which on `connection` is as it is.
    fn count(&mut self, connection: &Connection, now: Time) {
        let passed = now.saturating_since(self.at);
        if self.is_busy {
            self.busy += passed;
        }
        if self.is_held_by_peer {
            self.held_by_peer += passed;
        }
        self.at = now;
        let waits = connection.unsent() > 0;
        let is_open = connection.state() == State::Established;
        self.is_busy = is_open && (waits || connection.tp().packets_out > 0);
        self.is_held_by_peer = is_open && waits && connection.bound() == Bound::PeerWindow;
    }
}

/// A segment that was sent and that the script has not looked at.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) at: Time,
    pub(super) end: usize,
    pub(super) segment: Segment,
}

/// Connections in the order of their making. What arrives is for the last of them, as scripts have
/// one at a time, or opens another where somebody listens.
pub(super) struct Host {
    pub(super) now: Time,
    pub(super) ends: Vec<End>,
    pub(super) sent: VecDeque<Sent>,
    /// One line for each segment.
    pub(super) trace: Vec<String>,
}

impl Host {
    pub(super) fn new() -> Host {
        Host {
            now: EPOCH,
            ends: Vec::new(),
            sent: VecDeque::new(),
            trace: Vec::new(),
        }
    }

    /// A line of the trace.
    pub(super) fn note(&mut self, text: &str) {
        let seconds = (self.now - EPOCH).as_secs_f64();
        self.trace.push(format!("{seconds:.6} {text}"));
    }

    /// Adds an end; returns its number.
    pub(super) fn add(&mut self, connection: Connection, listener: Option<i64>) -> usize {
        let wire = Wire::new(connection.tp().snd_nxt);
        self.ends.push(End {
            connection,
            wire,
            listener,
            limits: Limits::default(),
        });
        self.ends.len() - 1
    }

    /// When the next timer is due; [`Time::MAX`] for never.
    pub(super) fn next_timer(&self) -> Time {
        let timers = self.ends.iter().map(|end| end.connection.next_timer());
        timers.min().unwrap_or(Time::MAX)
    }

    /// Lets the timers that are due at `at` act.
    pub(super) fn fire(&mut self, at: Time) {
        self.now = self.now.max(at);
        for number in 0..self.ends.len() {
            let connection = &mut self.ends[number].connection;
            if connection.next_timer() <= self.now {
                connection.on_timer(self.now);
                self.drain(number);
            }
        }
    }

    /// Takes what a connection has to send.
    pub(super) fn drain(&mut self, number: usize) {
        while let Some(segment) = self.ends[number].connection.poll_transmit(self.now) {
            let line = self.ends[number].wire.outbound(&segment);
            self.note(&format!("> {line}"));
            self.sent.push_back(Sent {
                at: self.now,
                end: number,
                segment,
            });
        }
        self.count(number);
    }

    /// Counts for how long the data of a connection waited.
    pub(super) fn count(&mut self, number: usize) {
        let end = &mut self.ends[number];
        end.limits.count(&end.connection, self.now);
    }

    /// A segment arrives for the last connection.
    pub(super) fn deliver(&mut self, line: &SegmentLine) {
        self.note(&format!("< {line}"));
        let number = self.ends.len() - 1;
        let end = &mut self.ends[number];
        let segment = end.wire.inbound(line);
        end.connection.on_segment(self.now, &segment);
        self.drain(number);
    }

    /// Whether a segment that arrives opens a connection of its own, where somebody listens.
    pub(super) fn opens(&self, line: &SegmentLine) -> bool {
        let is_first = line.flags.has(Flags::SYN) && !line.flags.has(Flags::ACK);
        // A SYN for a connection that is being opened is a repeated one, or crosses ours.
        let opening = |state| matches!(state, State::SynSent | State::SynReceived);
        let last = self.ends.last().map(|end| end.connection.state());
        is_first && !last.is_some_and(opening)
    }
}
