//! Everything that sends: flows, streams, workloads; and the applications that read in intervals.

use super::reading::ReadingApp;
use crate::flow::RunningFlow;
use crate::ids::{FlowId, ReadingAppId, StreamId, Table, WorkloadId};
use crate::stream::Stream;
use crate::workload::Workload;
use std::collections::VecDeque;
use trammel_core::time::{Span, Time};

/// How long the place of a workload's connection that is over is not used again; by then none of
/// its packets are on their way.
const QUARANTINE: Span = Span::from_secs(10);

/// The traffic of a network.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) flows: Table<FlowId, RunningFlow>,
    pub(crate) streams: Table<StreamId, Stream>,
    pub(crate) workloads: Table<WorkloadId, Workload>,
    /// The applications that read in intervals.
    pub(crate) readers: Table<ReadingAppId, ReadingApp>,
    /// Flows of workloads that are over, and since when.
    retired: VecDeque<(Time, FlowId)>,
}

impl Traffic {
    /// A workload's connection `flow` is over at `now`.
    pub(crate) fn retire(&mut self, now: Time, flow: FlowId) {
        self.retired.push_back((now, flow));
    }

    /// A place at `now` that a workload's connection has left long enough ago.
    pub(crate) fn reuse(&mut self, now: Time) -> Option<FlowId> {
        let (since, flow) = *self.retired.front()?;
        if since + QUARANTINE > now {
            return None;
        }
        self.retired.pop_front();
        Some(flow)
    }
}
