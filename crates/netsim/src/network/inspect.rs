//! What may be known of a network, before, during and after a run.

use super::Network;
use super::parts::observers::QueueTrace;
use crate::flow::{FlowResult, Job, NO_RTT};
use crate::ids::{FlowId, LinkId, StreamId, WorkloadId};
use crate::link::Link;
use crate::stream::{Arrival, Stream};
use crate::trace::Trace;
use crate::wifi::Medium;
use crate::workload::{Passed, Workload};
use trammel_core::time::Time;
use trammel_stats::histogram::Histogram;
use trammel_tcp::connection::Connection;

impl Network {
    /// Virtual time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// A link.
    pub fn link(&self, index: LinkId) -> &Link {
        &self.links[index]
    }
    /// The medium that link `index` is a direction of.
    pub fn medium(&self, index: LinkId) -> Option<&Medium> {
        Some(&self.mediums[self.links[index].medium()?].medium)
    }
    /// All links, in the order in which they were added.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + use<> {
        self.links.ids()
    }
    /// Packets and bytes that wait at a link now, the one being sent not included.
    pub fn waiting(&mut self, index: LinkId) -> (u32, u64) {
        let now = self.now;
        self.links[index].waiting(now)
    }
    /// Packets and bytes in the queue of a link now, the one being sent included.
    pub fn backlog(&mut self, index: LinkId) -> (u32, u64) {
        let now = self.now;
        self.links[index].backlog(now)
    }
    /// A link's queue over time, where it was traced.
    pub fn queue_trace(&self, index: LinkId) -> Option<&QueueTrace> {
        self.observers.queues.get(index)
    }
    /// All streams, in the order in which they were added.
    pub fn streams(&self) -> impl Iterator<Item = StreamId> + use<> {
        self.traffic.streams.ids()
    }
    /// A stream.
    pub fn stream(&self, index: StreamId) -> &Stream {
        &self.traffic.streams[index]
    }
    /// What has arrived of a stream since this was asked last, in the order of arrival, where it
    /// keeps that.
    pub fn take_arrivals(&mut self, index: StreamId) -> Vec<Arrival> {
        std::mem::take(&mut self.traffic.streams[index].arrivals)
    }
    /// A workload.
    pub fn workload(&self, index: WorkloadId) -> &Workload {
        &self.traffic.workloads[index]
    }
    /// What each workload has got through so far: with its connections that are over and those that
    /// are open.
    pub fn workloads_passed(&self) -> Vec<Passed> {
        let mut all: Vec<Passed> = self.traffic.workloads.iter().map(Workload::over).collect();
        for flow in self.traffic.flows.iter() {
            if let (Some(Job::Workload(job)), Some(ends)) = (flow.job.as_deref(), &flow.ends) {
                let passed = self.traffic.workloads[job.workload].passed(ends.both());
                all[job.workload.index()].add(passed);
            }
        }
        all
    }
    /// Flows in memory: the named ones and those of workloads, with what is left of them.
    pub fn flow_places(&self) -> usize {
        self.traffic.flows.len()
    }
    /// Packets that reached a host.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    /// What flow `index` has achieved so far.
    pub fn flow(&mut self, index: FlowId) -> &FlowResult {
        self.traffic.flows[index].update_result();
        &self.traffic.flows[index].result
    }
    /// Round trips of flow `index`, µs.
    pub fn flow_rtt(&self, index: FlowId) -> &Histogram {
        self.traffic.flows[index].rtt.as_deref().unwrap_or(&NO_RTT)
    }
    /// The links that the data of flow `index` crosses, in their order.
    pub fn flow_route(&self, index: FlowId) -> impl Iterator<Item = LinkId> + use<> {
        let [forward, _] = self.routes.flows[index];
        (0..forward.hops).map(move |hop| forward.link(hop))
    }
    /// Trace of flow `index`.
    pub fn flow_trace(&self, index: FlowId) -> &Trace {
        &self.traffic.flows[index].trace
    }
    /// Sender and receiver of flow `index`, while they exist.
    pub fn connections(&self, index: FlowId) -> Option<(&Connection, &Connection)> {
        let [sender, receiver] = self.traffic.flows[index].ends.as_ref()?.both();
        Some((sender, receiver))
    }
}
