//! Rare events: everything but packets and the timers of connections.

use crate::ids::{FlowId, ReadingAppId, StreamId, UserId, WorkloadId};

/// A rare event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A flow connects.
    Start(FlowId),
    /// A flow stops sending.
    Stop(FlowId),
    /// An application reads, or its timer fires at the latest.
    Read(ReadingAppId),
    /// The slack of an application's timer begins, or a packet leaves a queue within it.
    Slack(ReadingAppId),
    /// The application of a flow with a rate writes.
    Write(FlowId),
    /// A flow is sampled for its trace.
    Sample(FlowId),
    /// A stream sends a datagram.
    Emit(StreamId),
    /// A workload opens a connection.
    Open(WorkloadId),
    /// A workload's connection goes on: the time that it asked for has come.
    Turn(FlowId),
    /// The user of an application begins, or is told of the time or of a connection that failed.
    User(UserId),
    /// The warm-up ends.
    Warm,
    /// All queues are sampled.
    Queues,
}
