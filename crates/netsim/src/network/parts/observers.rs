//! What a run records: queue samples, captures, and the segments of senders.

use crate::ids::{FlowId, LinkId, Table};
use crate::packet::{Course, Packet};
use crate::pcapng::Capture;
use crate::trace::Thinning;
use trammel_core::time::{Span, Time};
use trammel_tcp::segment::Segment;

/// The queue of a link over time.
#[derive(Clone, Debug, Default)]
pub struct QueueTrace {
    /// When, packets, bytes.
    pub samples: Vec<(Time, u32, u64)>,
    pub(crate) thinning: Thinning,
}

/// A segment at a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// When.
    pub at: Time,
    /// Whether the sender sent it.
    pub is_sent: bool,
    /// The segment.
    pub segment: Segment,
}

/// The flow whose sender is watched, and what was seen of it.
#[derive(Debug)]
pub(crate) struct WatchedSender {
    pub(crate) flow: FlowId,
    pub(crate) passed: Vec<Passed>,
}

impl WatchedSender {
    /// Nothing seen yet of the sender of `flow`.
    pub(crate) fn new(flow: FlowId) -> WatchedSender {
        WatchedSender {
            flow,
            passed: Vec::new(),
        }
    }

    /// Notes a packet of the flow that goes by `course`.
    #[cold]
    pub(crate) fn note(&mut self, now: Time, packet: &Packet, course: Course) {
        if packet.course == course && packet.flow as usize == self.flow.index() {
            self.passed.push(Passed {
                at: now,
                is_sent: course == Course::Forward,
                segment: packet.segment,
            });
        }
    }
}

/// Everything that records.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    /// Whether packets that reach the end of a link are recorded one by one.
    pub(crate) is_capturing: bool,
    pub(crate) captures: Vec<Capture>,
    pub(crate) senders: Vec<WatchedSender>,
    /// Time between samples of the queues.
    pub(crate) queue_interval: Option<Span>,
    pub(crate) queues: Table<LinkId, QueueTrace>,
}
