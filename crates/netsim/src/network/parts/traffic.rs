//! Everything that sends: flows, streams, workloads, applications; and those that read in
//! intervals.

use super::apps::{RunningApp, User};
use super::reading::ReadingApp;
use crate::apps::Order;
use crate::flow::RunningFlow;
use crate::ids::{AppId, FlowId, ReadingAppId, StreamId, Table, UserId, WorkloadId};
use crate::network::Writer;
use crate::stream::Stream;
use crate::workload::Workload;
use std::collections::{BTreeMap, VecDeque};
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
    pub(crate) apps: Table<AppId, RunningApp>,
    pub(crate) users: Table<UserId, User>,
    /// What an application wants, while it is asked; kept for its room.
    pub(crate) orders: Vec<Order>,
    /// Applications of flows that write at a rate.
    pub(crate) writers: BTreeMap<FlowId, Writer>,
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
