//! The engine: links, flows and streams, and the loop that moves them through virtual time.

mod inspect;
pub(crate) mod reader;
mod seldom;

use self::reader::Sink;
use crate::flow::{Flow, FlowSpec};
use crate::link::{Link, LinkSpec};
use crate::packet::{Course, Packet};
use crate::pcapng::Capture;
use crate::stream::{Stream, StreamSpec};
use crate::trace::Pace;
use crate::wifi::{Medium, WifiSpec};
use crate::workload::{Workload, WorkloadSpec};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::LazyLock;
use trammel_core::events::EventQueue;
use trammel_core::histogram::Histogram;
use trammel_core::rng::Rng;
use trammel_core::slots::Slots;
use trammel_core::time::Time;
use trammel_tcp::connection::{Connection, State};

/// Things that happen seldom: everything but packets and the timers of connections.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start(u32),
    Stop(u32),
    Read(u32),
    Slack(u32),
    Sample(u32),
    Emit(u32),
    Open(u32),
    Turn(u32),
    Warm,
    Queues,
}

/// The round trips of a flow that has had none.
static NO_RTT: LazyLock<Histogram> = LazyLock::new(|| Histogram::of_counts(2));

/// How long the index of a workload's connection that is over is not used again; by then none of its
/// packets are on their way.
const QUARANTINE: Time = Time::from_secs(10);

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
enum Target {
    Link(usize),
    Host { flow: usize, end: usize },
    Sink(usize),
}

/// Links of the longest route.
const MAX_HOPS: usize = 8;

/// A route as the loop reads it.
#[derive(Clone, Copy, Debug, Default)]
struct Route {
    links: [u16; MAX_HOPS],
    hops: u8,
}

impl Route {
    fn new(links: &[usize]) -> Route {
        assert!(
            links.len() <= MAX_HOPS,
            "a route has at most {MAX_HOPS} links"
        );
        let mut route = Route {
            hops: links.len() as u8,
            ..Route::default()
        };
        for (to, from) in route.links.iter_mut().zip(links) {
            *to = *from as u16;
        }
        route
    }
}

/// The queue of a link over time.
#[derive(Clone, Debug, Default)]
pub struct QueueTrace {
    /// When, packets, bytes.
    pub samples: Vec<(Time, u32, u64)>,
}

/// A medium and the links that are its two directions.
#[derive(Debug)]
struct SharedMedium {
    medium: Medium,
    links: [usize; 2],
}

/// A network in virtual time.
#[derive(Debug)]
pub struct Network {
    now: Time,
    links: Vec<Link>,
    mediums: Vec<SharedMedium>,
    flows: Vec<Flow>,
    /// The applications that read in intervals.
    sinks: Vec<Sink>,
    streams: Vec<Stream>,
    workloads: Vec<Workload>,
    workload_routes: Vec<[Route; 2]>,
    /// Flows of workloads that are over, and since when.
    retired: VecDeque<(Time, u32)>,
    /// Forward and backward route of each flow, then one a stream.
    flow_routes: Vec<[Route; 2]>,
    stream_routes: Vec<Route>,
    /// One timer a link, one a medium, that of the events, then two a flow with open connections.
    slots: Slots,
    /// The slot of the events.
    event_slot: usize,
    /// Whom the slots of connections belong to.
    owners: Vec<u32>,
    free_slots: Vec<usize>,
    events: EventQueue<Event>,
    started: bool,
    queue_interval: Option<Time>,
    queues: Vec<QueueTrace>,
    captures: Vec<Capture>,
    is_capturing: bool,
    /// Packets handed to a host.
    delivered: u64,
}

impl Default for Network {
    fn default() -> Network {
        Network::new()
    }
}

impl Network {
    /// An empty network at time zero.
    pub fn new() -> Network {
        Network {
            now: Time::ZERO,
            links: Vec::new(),
            mediums: Vec::new(),
            flows: Vec::new(),
            sinks: Vec::new(),
            streams: Vec::new(),
            workloads: Vec::new(),
            workload_routes: Vec::new(),
            retired: VecDeque::new(),
            flow_routes: Vec::new(),
            stream_routes: Vec::new(),
            slots: Slots::new(2),
            event_slot: 0,
            owners: Vec::new(),
            free_slots: Vec::new(),
            events: EventQueue::new(),
            started: false,
            queue_interval: None,
            queues: Vec::new(),
            captures: Vec::new(),
            is_capturing: false,
            delivered: 0,
        }
    }

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
        let index = self.flows.len();
        self.flow_routes
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
        let index = self.streams.len();
        self.stream_routes.push(Route::new(&spec.route));
        let mut stream = Stream::new(spec);
        if let Some(first) = stream.next_departure() {
            self.events.push(first, Event::Emit(index as u32));
        }
        self.streams.push(stream);
        index
    }

    /// Adds a workload over links that exist; returns its index.
    pub fn add_workload(&mut self, spec: WorkloadSpec) -> usize {
        let index = self.workloads.len();
        self.workload_routes.push([
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
                (link.counters.arrived_pkts, link.counters.dropped_pkts())
            };
            let totals: Vec<_> = capture.links().map(totals).collect();
            result = result.and(capture.finish(self.now, &totals));
        }
        result
    }

    #[cold]
    fn record_arrival(&mut self, link: usize) {
        if let Some(packet) = self.links[link].arrived(self.now) {
            let packet = *packet;
            self.record(link, &packet);
        }
    }

    #[cold]
    fn record(&mut self, link: usize, packet: &Packet) {
        let dropped = self.links[link].counters.dropped_pkts();
        for capture in self.captures.iter_mut().filter(|capture| capture.has(link)) {
            capture.record(self.now, link, packet, dropped);
        }
    }

    fn start(&mut self) {
        self.started = true;
        self.event_slot = self.links.len() + self.mediums.len();
        self.slots = Slots::new(self.event_slot + 1);
        for (number, shared) in self.mediums.iter().enumerate() {
            self.slots
                .set(self.links.len() + number, shared.medium.next());
        }
        if self.queue_interval.is_some() {
            self.queues = vec![QueueTrace::default(); self.links.len()];
        }
        self.note_events();
    }

    fn note_events(&mut self) {
        let next = self.events.peek_time().unwrap_or(Time::MAX);
        self.slots.set(self.event_slot, next);
    }

    /// Runs until everything up to and including `end` has happened.
    pub fn run_until(&mut self, end: Time) {
        if !self.started {
            self.start();
        }
        self.note_events();
        loop {
            let (slot, time) = self.slots.earliest();
            if time > end {
                break;
            }
            debug_assert!(time >= self.now, "time never goes back");
            self.now = time;
            if slot < self.links.len() {
                self.on_link(slot);
            } else if slot > self.event_slot {
                self.on_connection_timer(slot);
            } else if slot == self.event_slot {
                self.on_event();
            } else {
                self.on_medium(slot - self.links.len());
            }
        }
        self.now = self.now.max(end);
    }

    #[inline]
    fn on_link(&mut self, index: usize) {
        if self.is_capturing {
            self.record_arrival(index);
        }
        let link = &self.links[index];
        let Some(packet) = link.arrived(self.now) else {
            return self.on_link_slowly(index);
        };
        let target = self.target(packet);
        match target {
            Target::Host { flow, end } => {
                // The host looks at the segment where it lies in the pipe.
                let ends = &mut self.flows[flow].ends;
                if let Some(ends) = ends {
                    ends.end[end].on_segment(self.now, &packet.segment);
                }
                let link = &mut self.links[index];
                link.remove();
                let next = link.next();
                self.slots.set(index, next);
                self.delivered += 1;
                self.after_segment(flow, end);
            }
            Target::Link(_) | Target::Sink(_) => {
                let packet = *packet;
                let link = &mut self.links[index];
                link.remove();
                let next = link.next();
                self.slots.set(index, next);
                self.pass_on(packet, target);
            }
        }
    }

    /// A link whose pipe has nothing to deliver: its queue is served, or a late packet arrives.
    fn on_link_slowly(&mut self, index: usize) {
        let mut packet = Packet::default();
        let link = &mut self.links[index];
        let arrived = link.advance(self.now, &mut packet);
        let next = link.next();
        self.slots.set(index, next);
        if arrived {
            if self.is_capturing {
                self.record(index, &packet);
            }
            match self.target(&packet) {
                Target::Host { flow, end } => {
                    if let Some(ends) = &mut self.flows[flow].ends {
                        ends.end[end].on_segment(self.now, &packet.segment);
                    }
                    self.delivered += 1;
                    self.after_segment(flow, end);
                }
                target => self.pass_on(packet, target),
            }
        }
    }

    /// Where a packet goes that has crossed one more link.
    #[inline]
    fn target(&self, packet: &Packet) -> Target {
        let index = packet.flow as usize;
        let (route, host) = match packet.course {
            Course::Forward => (
                &self.flow_routes[index][0],
                Target::Host {
                    flow: index,
                    end: 1,
                },
            ),
            Course::Backward => (
                &self.flow_routes[index][1],
                Target::Host {
                    flow: index,
                    end: 0,
                },
            ),
            Course::Datagram => (&self.stream_routes[index], Target::Sink(index)),
        };
        let hop = packet.hop + 1;
        if hop < route.hops {
            Target::Link(usize::from(route.links[usize::from(hop)]))
        } else {
            host
        }
    }

    fn pass_on(&mut self, mut packet: Packet, target: Target) {
        match target {
            Target::Link(link) => {
                packet.hop += 1;
                self.enter(link, &packet);
            }
            Target::Sink(stream) => {
                self.delivered += 1;
                self.streams[stream].receive(self.now, &packet);
            }
            Target::Host { .. } => unreachable!("hosts take segments where they lie"),
        }
    }

    #[inline]
    fn enter(&mut self, link: usize, packet: &Packet) {
        if self.links[link].accept(self.now, packet) {
            self.note_link(link);
        }
    }

    /// A connection has taken in a segment.
    #[inline]
    fn after_segment(&mut self, flow: usize, end: usize) {
        if self.flows[flow].job.is_some() {
            self.after_job_segment(flow, end);
        } else if end == 0 {
            self.after_ack(flow);
        } else if self.flows[flow].spec.bytes.is_some() {
            self.after_data(flow);
        }
        self.drain(flow, end);
        let sink = self.flows[flow].sink;
        if sink != reader::NO_SINK && self.sinks[sink as usize].due.0 <= self.now {
            self.on_arrival_in_slack(sink as usize, flow, end);
        }
    }

    /// A link may have something to do earlier than thought.
    #[inline]
    fn note_link(&mut self, link: usize) {
        if let Some(number) = self.links[link].medium() {
            self.feed(number);
        }
        let next = self.links[link].next();
        self.slots.set(link, next);
    }

    /// Gives a medium a packet of each end that has one and is free.
    #[cold]
    fn feed(&mut self, number: usize) {
        let SharedMedium { medium, links } = &mut self.mediums[number];
        for (side, link) in links.iter().enumerate() {
            if !medium.is_free(side) {
                continue;
            }
            if let Some(packet) = self.links[*link].take(self.now) {
                medium.offer(self.now, side, packet);
            }
        }
        self.slots.set(self.links.len() + number, medium.next());
    }

    fn on_medium(&mut self, number: usize) {
        let SharedMedium { medium, links } = &mut self.mediums[number];
        let outcomes = medium.advance(self.now);
        for (outcome, link) in outcomes.into_iter().zip(*links) {
            if let Some(outcome) = outcome {
                self.links[link].leave(self.now, outcome.packet, outcome.is_received);
                let next = self.links[link].next();
                self.slots.set(link, next);
            }
        }
        self.feed(number);
    }

    /// The sender has processed an ACK.
    #[inline]
    fn after_ack(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let Some(ends) = &flow.ends else { return };
        let sender = &ends.end[0];
        let rtt_us = sender.last_rtt_us();
        if flow.result.established.is_none() && sender.state() == State::Established {
            flow.result.established = Some(self.now);
        }
        if let Some(rtt_us) = rtt_us {
            flow.record_rtt(rtt_us);
        }
        if flow.spec.pace == Pace::EveryAck
            && let Some(sample) = flow.sample(self.now)
        {
            flow.trace.push(sample);
        }
    }

    /// The receiver of a flow of finite size has processed a segment.
    fn after_data(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let Some(ends) = &mut flow.ends else { return };
        if flow.result.completed.is_none()
            && flow
                .spec
                .bytes
                .is_some_and(|bytes| ends.end[1].counters().bytes_delivered >= bytes)
        {
            flow.result.completed = Some(self.now);
        }
        if ends.end[1].state() == State::CloseWait {
            ends.end[1].close();
        }
    }

    /// One end of a workload's connection has processed a segment.
    fn after_job_segment(&mut self, index: usize, end: usize) {
        let flow = &mut self.flows[index];
        let (Some(ends), Some(job)) = (&mut flow.ends, &mut flow.job) else {
            return;
        };
        let workload = &mut self.workloads[job.workload as usize];
        if end == 1 {
            return workload.on_server(self.now, job, &mut ends.end[1]);
        }
        if let Some(turn_at) = workload.on_client(self.now, job, &mut ends.end[0]) {
            flow.turn_at = turn_at;
            self.events.push(turn_at, Event::Turn(index as u32));
            self.note_events();
        }
    }

    /// Opens the next connection of a workload.
    fn open(&mut self, number: usize) {
        let workload = &mut self.workloads[number];
        let (mut job, next) = workload.open(self.now, number as u32);
        if let Some(next) = next {
            self.events
                .push(next.max(self.now), Event::Open(number as u32));
        }
        let name = format!("workload:{}:{}", workload.name(), workload.opened());
        let shape = &workload.spec.flow;
        let stream = |end: &str| Rng::new(workload.spec.seed, &format!("{name}:{end}"));
        let mut client = Connection::client(&shape.client, (shape.cc)(), stream("client"));
        let server = Connection::server(&shape.server, (shape.cc)(), stream("server"));
        let mut flow = Flow::waiting(shape);
        if let Some(turn_at) = workload.begin(self.now, &mut job, &mut client) {
            flow.turn_at = turn_at;
        }
        flow.job = Some(Box::new(job));
        let turn_at = flow.turn_at;
        let routes = self.workload_routes[number];
        let index = match self.retired.front() {
            Some((since, index)) if *since + QUARANTINE <= self.now => {
                let index = *index as usize;
                self.retired.pop_front();
                self.flows[index] = flow;
                self.flow_routes[index] = routes;
                index
            }
            _ => {
                self.flows.push(flow);
                self.flow_routes.push(routes);
                self.flows.len() - 1
            }
        };
        if turn_at != Time::MAX {
            self.events.push(turn_at, Event::Turn(index as u32));
        }
        client.connect(self.now);
        self.start_ends(index, [client, server]);
    }

    /// The time that a workload's connection asked for has come.
    fn turn(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let (Some(ends), Some(job)) = (&mut flow.ends, &mut flow.job) else {
            return;
        };
        if flow.turn_at != self.now {
            // The connection that asked for it is gone.
            return;
        }
        let workload = &mut self.workloads[job.workload as usize];
        let next = workload.turn(self.now, job, &mut ends.end[0]);
        flow.turn_at = next.unwrap_or(Time::MAX);
        if let Some(next) = next {
            self.events.push(next, Event::Turn(index as u32));
        }
        self.drain(index, 0);
    }

    /// Sends what a connection has to send, and notes its next timer.
    #[inline]
    fn drain(&mut self, index: usize, end: usize) {
        let flow = &mut self.flows[index];
        let Some(ends) = &mut flow.ends else { return };
        let connection = &mut ends.end[end];
        let first = usize::from(self.flow_routes[index][end].links[0]);
        let course = if end == 0 {
            Course::Forward
        } else {
            Course::Backward
        };
        let overhead = flow.spec.overhead_bytes;
        let mut earlier = false;
        let link = &mut self.links[first];
        loop {
            // Segments are written where they will lie in the pipe.
            let packet = link.slot();
            if !connection.poll_transmit_into(self.now, &mut packet.segment) {
                break;
            }
            packet.flow = index as u32;
            packet.course = course;
            packet.hop = 0;
            packet.wire_bytes = packet.segment.ip_bytes() + overhead;
            earlier |= link.enter(self.now);
        }
        let timer = connection.next_timer();
        let slot = flow.slot + end;
        if timer < self.slots.get(slot) {
            self.slots.set(slot, timer);
        }
        if earlier {
            self.note_link(first);
        }
        let flow = &self.flows[index];
        if flow.spec.bytes.is_some() || flow.job.is_some() {
            self.release_if_done(index);
        }
    }

    /// Frees the connections of a flow that is over.
    fn release_if_done(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let Some(ends) = &flow.ends else { return };
        let over = |state| matches!(state, State::Closed | State::TimeWait);
        let [client, server] = [ends.end[0].state(), ends.end[1].state()];
        // Whom the client of a workload has left does not count.
        let is_left = flow.job.is_some() && client == State::Closed;
        if is_left || (over(client) && over(server)) {
            let failed = ends.end[0].failure().is_some();
            flow.update_result();
            flow.ends = None;
            if let Some(job) = flow.job.take() {
                if failed {
                    self.workloads[job.workload as usize].note_failure();
                }
                self.retired.push_back((self.now, index as u32));
            }
            let slot = flow.slot;
            self.slots.set(slot, Time::MAX);
            self.slots.set(slot + 1, Time::MAX);
            self.free_slots.push(slot);
        }
    }

    fn on_connection_timer(&mut self, slot: usize) {
        let base = self.event_slot + 1;
        let index = self.owners[(slot - base) / 2] as usize;
        let end = (slot - base) % 2;
        let Some(ends) = &mut self.flows[index].ends else {
            self.slots.set(slot, Time::MAX);
            return;
        };
        let connection = &mut ends.end[end];
        // The timer may have moved away since the slot was set.
        if connection.next_timer() <= self.now {
            connection.on_timer(self.now);
        }
        let next = connection.next_timer();
        self.slots.set(slot, next);
        self.drain(index, end);
    }

    fn on_event(&mut self) {
        let now = self.now;
        while let Some((_, event)) = self.events.pop_until(now) {
            match event {
                Event::Start(flow) => self.start_flow(flow as usize),
                Event::Stop(flow) => self.stop_flow(flow as usize),
                Event::Read(sink) => self.on_read(sink as usize),
                Event::Slack(sink) => self.on_slack(sink as usize),
                Event::Sample(flow) => self.sample(flow as usize),
                Event::Emit(stream) => self.emit(stream as usize),
                Event::Open(workload) => self.open(workload as usize),
                Event::Turn(flow) => self.turn(flow as usize),
                Event::Warm => self.warm(),
                Event::Queues => self.sample_queues(),
            }
        }
        self.note_events();
    }
}
