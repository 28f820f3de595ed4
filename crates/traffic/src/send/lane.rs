//! One stream among those that a thread sends.

use super::schedule::{Due, Schedule};
use super::{Carrier, Note, Packet, Sent};
use crate::pace::Calendar;
use crate::record::Record;
use crate::signal::message::Count;
use crate::stamp::Stamp;
use crate::stream::{Departure, Late, Stream};
use std::fmt;
use std::sync::atomic::AtomicBool;
use trammel_core::time::Span;
use trammel_io::clock::monotonic_ns;
use trammel_stats::histogram::Histogram;

/// A stream whose time is over goes on for a twentieth of it at most, and between these: a sender
/// that the machine has kept waiting for a moment still sends all.
const LATE_PART: i64 = 20;
const LEAST_LATE_NS: i64 = 100_000_000;
const MOST_LATE_NS: i64 = 1_000_000_000;
/// Packets that were not sent are counted up to so many.
const MOST_LEFT: u64 = 10_000_000;

/// A stream, what carries it, and what became of it so far.
pub struct Lane {
    flow: u32,
    carrier: Box<dyn Carrier>,
    schedule: Schedule<Box<dyn Iterator<Item = Departure> + Send>>,
    late: Late,
    /// The stream's start on the monotonic clock.
    start_ns: i64,
    /// When it ends, sent or not; none where its plan alone says.
    end_ns: Option<i64>,
    /// When packets were handed over last.
    now_ns: i64,
    /// Packets that were due and not handed over any more: nothing can follow them.
    is_cut: bool,
    sent: Sent,
    due: Vec<Due>,
    packets: Vec<Packet>,
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("flow", &self.flow)
            .field("sent", &self.sent.count)
            .finish_non_exhaustive()
    }
}

impl Lane {
    /// `stream` as flow `flow` by `carrier`; the start of the whole is at `origin_ns` of the
    /// monotonic clock.
    pub fn new(stream: &Stream, flow: u32, mut carrier: Box<dyn Carrier>, origin_ns: i64) -> Lane {
        let ns = |span: Span| i64::try_from(span.as_ns()).unwrap_or(i64::MAX);
        let start_ns = origin_ns.saturating_add(ns(stream.start.since_start()));
        let end_ns = stream.limits.duration.map(|most| {
            let late = (ns(most) / LATE_PART).clamp(LEAST_LATE_NS, MOST_LATE_NS);
            start_ns.saturating_add(ns(most)).saturating_add(late)
        });
        if let Some(end_ns) = end_ns {
            carrier.end_at(end_ns);
        }
        Lane {
            end_ns,
            now_ns: i64::MIN,
            is_cut: false,
            flow,
            schedule: Schedule::new(Box::new(stream.plan()), stream.late),
            late: stream.late,
            start_ns,
            sent: Sent::nothing(),
            due: Vec::with_capacity(carrier.most().0),
            packets: Vec::with_capacity(carrier.most().0),
            carrier,
        }
    }

    /// Its flow's number.
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// Whether its carrier waits for the other end.
    pub fn waits(&self) -> bool {
        self.carrier.waits()
    }

    /// Whether its time is over.
    fn is_over(&self) -> bool {
        self.end_ns.is_some_and(|end| self.now_ns >= end)
    }

    /// What became of it.
    pub fn sent(mut self) -> Sent {
        if self.is_over() && self.sent.fault.is_none() {
            let (left, more) = self.schedule.left(MOST_LEFT);
            self.sent.unsent += left;
            self.sent.unsent_more = more;
        }
        Sent {
            count: Count {
                lost: self.schedule.skipped,
                ..self.sent.count
            },
            overdue: self.sent.overdue + self.schedule.skipped,
            shift_ns: self.schedule.shift_ns,
            ..self.sent
        }
    }

    /// When its next packet is due; none where it is over.
    pub(super) fn next_ns(&mut self) -> Option<i64> {
        if self.sent.fault.is_some() || self.is_cut || self.is_over() {
            return None;
        }
        let next = self.schedule.next_ns()?;
        Some(self.start_ns.saturating_add(next))
    }

    /// Sends what is due at `now_ns`.
    pub(super) fn step(
        &mut self,
        now_ns: i64,
        calendar: Calendar,
        stop: &AtomicBool,
        note: Note<'_>,
    ) {
        let ((most, most_bytes), least_bytes) = (self.carrier.most(), self.carrier.least());
        let since_start = now_ns - self.start_ns;
        self.now_ns = now_ns;
        self.schedule.take(since_start, most, &mut self.due);
        let (flow, first) = (self.flow, self.sent.count.packets);
        let sent_ns = calendar.date_ns(now_ns);
        self.packets.clear();
        self.packets
            .extend((first..).zip(&self.due).map(|(sequence, due)| Packet {
                stamp: Stamp {
                    flow,
                    sequence,
                    sent_ns,
                },
                bytes: due.bytes.clamp(least_bytes, most_bytes),
            }));
        match self.carrier.hand_over(&self.packets, stop) {
            Ok(errors) => self.sent.errors += errors,
            Err(why) => {
                self.sent.fault = Some(why.to_string());
                return;
            }
        }
        let unsent = self.carrier.unsent();
        if unsent > 0 {
            self.is_cut = true;
            self.sent.unsent += unsent as u64;
            self.now_ns = monotonic_ns();
            self.due.truncate(self.due.len() - unsent);
            self.packets.truncate(self.packets.len() - unsent);
        }
        self.account(since_start, sent_ns);
        let pairs = self.due.iter().zip(&self.packets);
        let resized = pairs.filter(|(due, packet)| due.bytes != packet.bytes);
        self.sent.resized += resized.count() as u64;
        for (due, packet) in self.due.iter().zip(&self.packets) {
            note(&Record {
                flow,
                sequence: packet.stamp.sequence,
                bytes: packet.bytes,
                start_ns: calendar.date_ns(self.start_ns.saturating_add(due.at_ns)),
                end_ns: sent_ns,
            });
            self.sent.count.bytes += u64::from(packet.bytes);
        }
    }

    fn account(&mut self, since_start_ns: i64, date_ns: i64) {
        let (sent, due) = (&mut self.sent, &self.due);
        if due.is_empty() {
            return;
        }
        if sent.first_ns == 0 {
            sent.first_ns = date_ns;
        }
        sent.last_ns = date_ns;
        sent.count.packets += due.len() as u64;
        // All but the last of a burst were overdue, and so is one that puts the plan off.
        sent.overdue += match self.late {
            Late::Stretch => u64::from(due.len() > 1),
            _ => due.len() as u64 - 1,
        };
        for one in due {
            let late_ns = u64::try_from(since_start_ns - one.at_ns).unwrap_or(0);
            sent.lateness.record_time(Span::from_ns(late_ns));
        }
    }
}

impl Sent {
    /// Of a stream that nothing was sent of.
    #[must_use]
    pub fn nothing() -> Sent {
        Sent {
            count: Count::default(),
            first_ns: 0,
            last_ns: 0,
            errors: 0,
            resized: 0,
            overdue: 0,
            unsent: 0,
            unsent_more: false,
            shift_ns: 0,
            lateness: Histogram::of_times(),
            fault: None,
            chosen: None,
        }
    }
}
