//! What the sender of one flow sends and what comes to it, segment by segment.

use super::Network;
use crate::packet::{Course, Packet};
use trammel_core::time::Time;
use trammel_tcp::segment::Segment;

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

/// The flow that is watched, and what was seen of it.
#[derive(Debug)]
pub(super) struct Watched {
    flow: u32,
    passed: Vec<Passed>,
}

impl Network {
    /// Keeps all segments that the sender of flow `index` sends and gets, in their order.
    pub fn watch_sender(&mut self, index: usize) {
        assert!(!self.started, "what is watched is said before the run");
        self.watched = Some(Box::new(Watched {
            flow: index as u32,
            passed: Vec::new(),
        }));
        self.is_capturing = true;
    }

    /// What has passed since this was asked last.
    pub fn take_passed(&mut self) -> Vec<Passed> {
        let passed = self.watched.as_mut().map(|of| &mut of.passed);
        passed.map(std::mem::take).unwrap_or_default()
    }
}

impl Watched {
    /// Notes a packet of the flow that goes by `course`.
    #[cold]
    pub(super) fn note(&mut self, now: Time, packet: &Packet, course: Course) {
        if packet.course == course && packet.flow == self.flow {
            self.passed.push(Passed {
                at: now,
                is_sent: course == Course::Forward,
                segment: packet.segment,
            });
        }
    }
}
