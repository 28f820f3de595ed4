//! Watching the senders of flows, segment by segment.

use super::Network;
use super::parts::observers::{Passed, WatchedSender};
use crate::ids::FlowId;

impl Network {
    /// Keeps all segments that the sender of `flow` sends and gets, in their order.
    pub fn watch_sender(&mut self, flow: FlowId) {
        assert!(!self.started, "what is watched is chosen before the run");
        self.observers.senders.push(WatchedSender::new(flow));
        self.observers.is_capturing = true;
    }

    /// The segments of the sender of `flow` since the last call.
    pub fn take_passed(&mut self, flow: FlowId) -> Vec<Passed> {
        let mut senders = self.observers.senders.iter_mut();
        let watched = senders.find(|of| of.flow == flow);
        let passed = watched.map(|of| &mut of.passed);
        passed.map(std::mem::take).unwrap_or_default()
    }
}
