//! What a network is put together from, before it runs.

use super::stretch::Route;
use super::{Event, Network, SharedMedium};
use crate::flow::{Flow, FlowSpec};
use crate::link::{Link, LinkSpec};
use crate::pcapng::Capture;
use crate::stream::{Stream, StreamSpec};
use crate::wifi::{Medium, WifiSpec};
use crate::workload::{Workload, WorkloadSpec};
use std::io::{self, Write};
use trammel_core::time::Time;

impl Network {
    /// Adds a link; returns its index. All links are added before the run starts.
    pub fn add_link(&mut self, spec: LinkSpec) -> usize {
        assert!(!self.started, "links are added before the run");
        self.links.push(Link::new(spec));
        self.links.len() - 1
    }

    /// Adds a path over 802.11g; returns the links from the access point to the station and back.
    pub fn add_wifi(&mut self, spec: WifiSpec) -> (usize, usize) {
        let medium = Medium::new(&spec);
        let number = self.mediums.len() as u32;
        let first = self.links.len();
        let ways = spec.queues.into_iter().zip(["down", "up"]).enumerate();
        for (side, (queue, way)) in ways {
            let name = format!("{}:{way}", spec.name);
            let mut link = LinkSpec::wire(&name, Time::ZERO);
            link.rate = Some(medium.rate(side).rate());
            link.queue = queue;
            link.seed = spec.seed;
            assert!(!self.started, "links are added before the run");
            self.links
                .push(Link::over_medium(link, number, side as u32));
        }
        self.mediums.push(SharedMedium {
            medium,
            links: [first, first + 1],
        });
        (first, first + 1)
    }

    /// Adds a flow; returns its index.
    pub fn add_flow(&mut self, spec: FlowSpec) -> usize {
        assert!(!self.started, "traffic is added before the run");
        let index = self.flows.len();
        self.routes
            .flows
            .push([Route::new(&spec.forward), Route::new(&spec.backward)]);
        self.events.push(spec.start, Event::Start(index as u32));
        if spec.stop != Time::MAX {
            self.events.push(spec.stop, Event::Stop(index as u32));
        }
        let sink = self.sink_of(&spec, index as u32);
        self.flows.push(Flow::new(spec));
        self.flows[index].sink = sink;
        index
    }

    /// Adds a stream of datagrams; returns its index.
    pub fn add_stream(&mut self, spec: StreamSpec) -> usize {
        assert!(!self.started, "traffic is added before the run");
        let index = self.streams.len();
        self.routes.streams.push(Route::new(&spec.route));
        let mut stream = Stream::new(spec);
        if let Some(first) = stream.next_departure() {
            self.events.push(first, Event::Emit(index as u32));
        }
        self.streams.push(stream);
        index
    }

    /// Adds a workload over links that exist; returns its index.
    pub fn add_workload(&mut self, spec: WorkloadSpec) -> usize {
        assert!(!self.started, "traffic is added before the run");
        let index = self.workloads.len();
        self.routes.workloads.push([
            Route::new(&spec.flow.forward),
            Route::new(&spec.flow.backward),
        ]);
        let mut workload = Workload::new(spec, &self.links);
        for time in workload.first_openings() {
            self.events.push(time, Event::Open(index as u32));
        }
        self.workloads.push(workload);
        index
    }

    /// Results count from here as well as from the start.
    pub fn set_warmup(&mut self, warmup: Time) {
        self.events.push(warmup, Event::Warm);
    }

    /// Samples every queue at this interval.
    pub fn trace_queues(&mut self, interval: Time) {
        self.queue_interval = Some(interval);
        self.events.push(interval, Event::Queues);
    }

    /// Writes what leaves any of `links` to `out` as pcapng, until [`Network::finish_captures`]. With both
    /// directions of a path in one file, analysers find every segment that an ACK speaks of.
    pub fn capture(&mut self, links: &[usize], out: Box<dyn Write + Send>) {
        assert!(!self.started, "captures are added before the run");
        let named: Vec<_> = links
            .iter()
            .map(|at| (*at, self.links[*at].name.as_str()))
            .collect();
        self.captures.push(Capture::new(&named, out));
        self.is_capturing = true;
    }

    /// Ends all captures; the first error of writing, if there was one.
    pub fn finish_captures(&mut self) -> io::Result<()> {
        self.is_capturing = false;
        let mut result = Ok(());
        for capture in self.captures.drain(..) {
            let totals = |index: usize| {
                let link = &self.links[index];
                {
                    let counters = link.counters();
                    (counters.arrived_pkts, counters.dropped_pkts())
                }
            };
            let totals: Vec<_> = capture.links().map(totals).collect();
            result = result.and(capture.finish(self.now, &totals));
        }
        result
    }
}
