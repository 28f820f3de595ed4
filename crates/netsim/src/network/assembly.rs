//! What a network is put together from, before it runs.

use super::Network;
use super::parts::devices::SharedMedium;
use super::parts::event::Event;
use super::parts::routes::Route;
use crate::flow::{FlowSpec, MakeCc, RunningFlow};
use crate::ids::{FlowId, LinkId, StreamId, WorkloadId};
use crate::link::{Link, LinkSpec};
use crate::packet::Labels;
use crate::pcapng::Capture;
use crate::stream::{Stream, StreamSpec};
use crate::wifi::{Medium, WifiSpec};
use crate::workload::{Workload, WorkloadSpec};
use std::io::{self, Write};
use trammel_core::time::{Span, Time};

impl Network {
    /// Adds a link; returns its index. All links are added before the run starts.
    pub fn add_link(&mut self, spec: LinkSpec) -> LinkId {
        assert!(!self.started, "links are added before the run");
        self.links.push(Link::new(spec))
    }

    /// Adds a path over 802.11g; returns the links from the access point to the station and back.
    pub fn add_wifi(&mut self, spec: WifiSpec) -> (LinkId, LinkId) {
        assert!(!self.started, "links are added before the run");
        let medium = Medium::new(&spec);
        let number = self.mediums.next_id();
        let directions = spec.queues.into_iter().zip(["down", "up"]).enumerate();
        let links = directions.map(|(side, (queue, direction))| {
            let name = format!("{}:{direction}", spec.name);
            let mut link = LinkSpec::wire(&name, Span::ZERO);
            link.rate = Some(medium.rate(side).rate());
            link.queue = queue;
            link.seed = spec.seed;
            self.links
                .push(Link::over_medium(link, number, side as u32))
        });
        let links: Vec<_> = links.collect();
        let (down, up) = (links[0], links[1]);
        self.mediums.push(SharedMedium {
            medium,
            links: [down, up],
        });
        (down, up)
    }

    /// Adds a flow; returns its index.
    pub fn add_flow(&mut self, spec: FlowSpec) -> FlowId {
        assert!(!self.started, "traffic is added before the run");
        let index = self.traffic.flows.next_id();
        self.routes
            .flows
            .push([Route::new(&spec.forward), Route::new(&spec.backward)]);
        self.events.push(spec.start, Event::Start(index));
        if spec.stop != Time::MAX {
            self.events.push(spec.stop, Event::Stop(index));
        }
        let reading_app = self.reading_app(&spec, index);
        self.traffic.flows.push(RunningFlow {
            reading_app,
            ..RunningFlow::new(spec)
        });
        index
    }

    /// The connections of `flow` get their congestion controls from `make`, the sender the first;
    /// returns what made them until now.
    pub fn set_control(&mut self, flow: FlowId, make: MakeCc) -> MakeCc {
        assert!(!self.started, "controls are set before the run");
        std::mem::replace(&mut self.traffic.flows[flow].spec.cc, make)
    }

    /// Packets of a flow carry `labels`, for queues that look at them.
    pub fn label_flow(&mut self, flow: FlowId, labels: Labels) {
        for route in self.routes.flows[flow] {
            for hop in 0..route.hops {
                self.links[route.link(hop)].label(false, flow.index(), labels);
            }
        }
    }

    /// Packets of a stream carry `labels`, for queues that look at them.
    pub fn label_stream(&mut self, stream: StreamId, labels: Labels) {
        let route = self.routes.streams[stream];
        for hop in 0..route.hops {
            self.links[route.link(hop)].label(true, stream.index(), labels);
        }
    }

    /// Adds a stream of datagrams; returns its index.
    pub fn add_stream(&mut self, spec: StreamSpec) -> StreamId {
        assert!(!self.started, "traffic is added before the run");
        let index = self.traffic.streams.next_id();
        self.routes.streams.push(Route::new(&spec.route));
        let mut stream = Stream::new(spec);
        if let Some(first) = stream.next_departure() {
            self.events.push(first, Event::Emit(index));
        }
        self.traffic.streams.push(stream);
        index
    }

    /// Adds a workload over links that exist; returns its index.
    pub fn add_workload(&mut self, spec: WorkloadSpec) -> WorkloadId {
        assert!(!self.started, "traffic is added before the run");
        let index = self.traffic.workloads.next_id();
        self.routes.workloads.push([
            Route::new(&spec.flow.forward),
            Route::new(&spec.flow.backward),
        ]);
        let mut workload = Workload::new(spec, &self.links);
        for time in workload.first_openings() {
            self.events.push(time, Event::Open(index));
        }
        self.traffic.workloads.push(workload);
        index
    }

    /// Results count from here as well as from the start.
    pub fn set_warmup(&mut self, warmup: Time) {
        self.events.push(warmup, Event::Warm);
    }

    /// Samples every queue at this interval.
    pub fn trace_queues(&mut self, interval: Span) {
        self.observers.queue_interval = Some(interval);
        self.events.push(Time::ZERO + interval, Event::Queues);
    }

    /// Writes what leaves any of `links` to `out` as pcapng, until [`Network::finish_captures`].
    /// With both directions of a path in one file, analysers find every segment that an ACK speaks
    /// of.
    pub fn capture(&mut self, links: &[LinkId], out: Box<dyn Write + Send>) {
        assert!(!self.started, "captures are added before the run");
        let named: Vec<_> = links
            .iter()
            .map(|at| (*at, self.links[*at].name.as_str()))
            .collect();
        self.observers.captures.push(Capture::new(&named, out));
        self.observers.is_capturing = true;
    }

    /// Ends all captures; the first error of writing, if there was one.
    pub fn finish_captures(&mut self) -> io::Result<()> {
        self.observers.is_capturing = false;
        let mut result = Ok(());
        for capture in self.observers.captures.drain(..) {
            let totals = |index: LinkId| {
                let link = &self.links[index];
                let counters = link.counters();
                (counters.arrived_pkts, counters.dropped_pkts())
            };
            let totals: Vec<_> = capture.links().map(totals).collect();
            result = result.and(capture.finish(self.now, &totals));
        }
        result
    }
}
