//! What may be known of a network, before, during and after a run.

use super::{NO_RTT, Network, QueueTrace};
use crate::flow::FlowResult;
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
    pub fn link(&self, index: usize) -> &Link {
        &self.links[index]
    }
    /// The medium that link `index` is a direction of.
    pub fn medium(&self, index: usize) -> Option<&Medium> {
        Some(&self.mediums[self.links[index].medium()?].medium)
    }
    /// Number of links.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }
    /// Packets and bytes that wait at a link now, the one being sent not included.
    pub fn waiting(&mut self, index: usize) -> (u32, u64) {
        let now = self.now;
        self.links[index].waiting(now)
    }
    /// Packets and bytes in the queue of a link now, the one being sent included.
    pub fn backlog(&mut self, index: usize) -> (u32, u64) {
        let now = self.now;
        self.links[index].backlog(now)
    }
    /// A link's queue over time, where it was traced.
    pub fn queue_trace(&self, index: usize) -> Option<&QueueTrace> {
        self.queues.get(index)
    }
    /// Number of streams.
    pub fn stream_count(&self) -> usize {
        self.streams.len()
    }
    /// A stream.
    pub fn stream(&self, index: usize) -> &Stream {
        &self.streams[index]
    }
    /// What has arrived of a stream since this was asked last, in the order of arrival, where it keeps that.
    pub fn take_arrivals(&mut self, index: usize) -> Vec<Arrival> {
        std::mem::take(&mut self.streams[index].arrivals)
    }
    /// A workload.
    pub fn workload(&self, index: usize) -> &Workload {
        &self.workloads[index]
    }
    /// What each workload has got through so far: with its connections that are over and those that are open.
    pub fn workloads_passed(&self) -> Vec<Passed> {
        let mut all: Vec<Passed> = self.workloads.iter().map(Workload::over).collect();
        for flow in &self.flows {
            if let (Some(job), Some(ends)) = (&flow.job, &flow.ends) {
                let at = job.workload as usize;
                all[at].add(self.workloads[at].passed(&ends.end));
            }
        }
        all
    }
    /// Flows in memory: the named ones and those of workloads, with what is left of them.
    pub fn flow_places(&self) -> usize {
        self.flows.len()
    }
    /// Packets that reached a host.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    /// What flow `index` has achieved so far.
    pub fn flow(&mut self, index: usize) -> &FlowResult {
        self.flows[index].update_result();
        &self.flows[index].result
    }
    /// Round trips of flow `index`, µs.
    pub fn flow_rtt(&self, index: usize) -> &Histogram {
        self.flows[index].rtt.as_deref().unwrap_or(&NO_RTT)
    }
    /// Trace of flow `index`.
    pub fn flow_trace(&self, index: usize) -> &Trace {
        &self.flows[index].trace
    }
    /// Sender and receiver of flow `index`, while they exist.
    pub fn connections(&self, index: usize) -> Option<(&Connection, &Connection)> {
        let [sender, receiver] = &self.flows[index].ends.as_ref()?.end;
        Some((sender, receiver))
    }
}
