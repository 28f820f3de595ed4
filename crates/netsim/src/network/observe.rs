//! Watching the sender of one flow, segment by segment.

use super::Network;
use super::parts::observers::{Passed, WatchedSender};
use crate::ids::FlowId;

impl Network {
    /// Keeps all segments that the sender of `flow` sends and gets, in their order.
    pub fn watch_sender(&mut self, flow: FlowId) {
        assert!(!self.started, "what is watched is chosen before the run");
        self.observers.sender = Some(Box::new(WatchedSender::new(flow)));
        self.observers.is_capturing = true;
    }

    /// The segments of that sender since the last call.
    pub fn take_passed(&mut self) -> Vec<Passed> {
        let passed = self.observers.sender.as_mut().map(|of| &mut of.passed);
        passed.map(std::mem::take).unwrap_or_default()
    }
}
