//! What the hosts do with the segments that come and with their timers.

use super::Network;
use super::parts::event::Event;
use super::parts::gather::{cross, note_first};
use super::parts::routes::Route;
use crate::flow::{Job, RunningFlow};
use crate::ids::{End, FlowId, TimerSlot, WorkloadId};
use crate::packet::{Course, Labels};
use crate::trace::Pace;
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_tcp::connection::{Connection, State};

impl Network {
    /// A connection has taken in a segment.
    #[inline]
    pub(super) fn after_segment(&mut self, flow: FlowId, end: End) {
        if self.traffic.flows[flow].job.is_some() {
            self.after_job_segment(flow, end);
        } else if end == End::Client {
            self.after_ack(flow);
        } else if self.traffic.flows[flow].spec.bytes.is_some() {
            self.after_data(flow);
        }
        self.drain(flow, end);
        if let Some(app) = self.traffic.flows[flow].reading_app
            && self.traffic.readers[app].due.0 <= self.now
        {
            self.on_arrival_in_slack(app, flow, end);
        }
    }

    /// The sender has processed an ACK.
    #[inline]
    pub(super) fn after_ack(&mut self, index: FlowId) {
        let flow = &mut self.traffic.flows[index];
        let Some(ends) = &flow.ends else { return };
        let sender = &ends[End::Client];
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
    pub(super) fn after_data(&mut self, index: FlowId) {
        let flow = &mut self.traffic.flows[index];
        let Some(ends) = &mut flow.ends else { return };
        if flow.result.completed.is_none()
            && flow
                .spec
                .bytes
                .is_some_and(|bytes| ends[End::Server].counters().bytes_delivered >= bytes)
        {
            flow.result.completed = Some(self.now);
        }
        if ends[End::Server].state() == State::CloseWait {
            ends[End::Server].close();
        }
    }

    /// One end of a workload's connection has processed a segment.
    pub(super) fn after_job_segment(&mut self, index: FlowId, end: End) {
        let flow = &mut self.traffic.flows[index];
        let (Some(ends), Some(job)) = (&mut flow.ends, flow.job.as_deref_mut()) else {
            return;
        };
        let job = match job {
            Job::Workload(job) => job,
            Job::App(_) => return self.after_app_segment(index, end),
        };
        let workload = &mut self.traffic.workloads[job.workload];
        if end == End::Server {
            return workload.on_server(self.now, job, &mut ends[End::Server]);
        }
        if let Some(turn_at) = workload.on_client(self.now, job, &mut ends[End::Client]) {
            flow.turn_at = turn_at;
            self.events.push(turn_at, Event::Turn(index));
            self.note_events();
        }
    }

    /// Opens the next connection of a workload.
    pub(super) fn open(&mut self, number: WorkloadId) {
        let workload = &mut self.traffic.workloads[number];
        let (mut job, next) = workload.open(self.now, number);
        if let Some(next) = next {
            self.events.push(next.max(self.now), Event::Open(number));
        }
        let name = format!("workload:{}:{}", workload.name(), workload.opened());
        let shape = &workload.spec.flow;
        let stream = |end: &str| Rng::new(workload.spec.seed, &format!("{name}:{end}"));
        let mut client = Connection::client(&shape.client, (shape.cc)(), stream("client"));
        let server = Connection::server(&shape.server, (shape.cc)(), stream("server"));
        let mut flow = RunningFlow::waiting(shape);
        if let Some(turn_at) = workload.begin(self.now, &mut job, &mut client) {
            flow.turn_at = turn_at;
        }
        flow.job = Some(Box::new(Job::Workload(job)));
        let turn_at = flow.turn_at;
        let routes = self.routes.workloads[number];
        let index = self.place(flow, routes);
        if self.traffic.apps.len() > 0 {
            // An application may have had the place before.
            self.label_flow(index, Labels::default());
        }
        if turn_at != Time::MAX {
            self.events.push(turn_at, Event::Turn(index));
        }
        client.connect(self.now);
        self.start_ends(index, [client, server]);
    }

    /// Gives a flow that comes during the run a place.
    pub(super) fn place(&mut self, flow: RunningFlow, routes: [Route; 2]) -> FlowId {
        match self.traffic.reuse(self.now) {
            Some(index) => {
                self.traffic.flows[index] = flow;
                self.routes.flows[index] = routes;
                index
            }
            None => {
                self.routes.flows.push(routes);
                self.traffic.flows.push(flow)
            }
        }
    }

    /// The time that a workload's connection asked for has come.
    pub(super) fn turn(&mut self, index: FlowId) {
        let flow = &mut self.traffic.flows[index];
        let (Some(ends), Some(Job::Workload(job))) = (&mut flow.ends, flow.job.as_deref_mut())
        else {
            return;
        };
        if flow.turn_at != self.now {
            // The connection that asked for it is gone.
            return;
        }
        let workload = &mut self.traffic.workloads[job.workload];
        let next = workload.turn(self.now, job, &mut ends[End::Client]);
        flow.turn_at = next.unwrap_or(Time::MAX);
        if let Some(next) = next {
            self.events.push(next, Event::Turn(index));
        }
        self.drain(index, End::Client);
    }

    /// Sends what a connection has to send, and notes its next timer.
    #[inline]
    pub(super) fn drain(&mut self, index: FlowId, end: End) {
        let flow = &mut self.traffic.flows[index];
        let Some(ends) = &mut flow.ends else { return };
        let connection = &mut ends[end];
        let route = &self.routes.flows[index][end as usize];
        let course = if end == End::Client {
            Course::Forward
        } else {
            Course::Backward
        };
        let overhead = flow.spec.overhead_bytes;
        let first = route.link(0);
        let hop = route.end(0);
        let last = route.link(hop);
        let is_foreseen = self.links[first].is_foreseen();
        let (links, now) = (&mut self.links, self.now);
        let mut earlier = false;
        let watched = &mut self.observers.senders;
        while connection.wants_to_transmit() {
            // Segments are written where they will lie in the pipe.
            let link = &mut links[last];
            let packet = link.slot();
            if !connection.poll_transmit_into(now, &mut packet.segment) {
                break;
            }
            let wire_bytes = packet.segment.ip_bytes() + overhead;
            packet.flow = index.index() as u32;
            packet.course = course;
            packet.wire_bytes = wire_bytes;
            packet.hop = hop;
            for watched in watched.iter_mut() {
                watched.note(now, packet, Course::Forward);
            }
            if !is_foreseen {
                let packet = *packet;
                earlier |= link.accept(now, &packet);
                continue;
            }
            let arrives = match hop {
                0 => link.cross(now, wire_bytes),
                _ => cross(links, now, now, route, 0, wire_bytes),
            };
            if let Some(at) = arrives
                && links[last].lay(at)
            {
                let ahead = &mut self.lookahead;
                let (gathers, timers) = (&mut ahead.gathers, &ahead.timers);
                note_first(links, &mut self.agenda, gathers, timers, last, at);
            }
        }
        let timer = connection.next_timer();
        let slot = flow.slot.of_end(end);
        if timer < self.agenda.timer(slot) {
            self.agenda.set_timer(slot, timer);
        }
        if earlier {
            self.note_link(first);
        }
        let flow = &self.traffic.flows[index];
        if flow.spec.bytes.is_some() || flow.job.is_some() {
            self.release_if_done(index);
        }
    }

    /// Frees the connections of a flow that is over.
    pub(super) fn release_if_done(&mut self, index: FlowId) {
        let flow = &mut self.traffic.flows[index];
        let Some(ends) = &flow.ends else { return };
        let over = |state| matches!(state, State::Closed | State::TimeWait);
        let [client, server] = [ends[End::Client].state(), ends[End::Server].state()];
        // Whom the client of a workload has left does not count.
        let is_left = flow.job.is_some() && client == State::Closed;
        if is_left || (over(client) && over(server)) {
            let failed = ends[End::Client].failure().is_some();
            flow.update_result();
            let gone = flow.ends.take();
            let slot = flow.slot;
            if let Some(job) = flow.job.take() {
                match *job {
                    Job::Workload(job) => {
                        let workload = &mut self.traffic.workloads[job.workload];
                        if let Some(ends) = gone {
                            workload.note_over(workload.passed(ends.both()));
                        }
                        if failed {
                            workload.note_failure();
                        }
                    }
                    Job::App(job) => self.note_app_connection_over(&job),
                }
                self.traffic.retire(self.now, index);
            }
            self.agenda.close(slot);
        }
    }

    pub(super) fn on_connection_timer(&mut self, slot: TimerSlot) {
        let (index, end) = self.agenda.owner(slot);
        let Some(ends) = &mut self.traffic.flows[index].ends else {
            self.agenda.set_timer(slot, Time::MAX);
            return;
        };
        let connection = &mut ends[end];
        // The timer may have moved away since the slot was set.
        if connection.next_timer() <= self.now {
            connection.on_timer(self.now);
        }
        let next = connection.next_timer();
        self.agenda.set_timer(slot, next);
        self.drain(index, end);
    }
}
