//! Flow start, stop and sampling; the end of the warm-up.

use super::Network;
use super::parts::event::Event;
use crate::flow::Ends;
use crate::ids::{End, FlowId, StreamId};
use crate::trace::Pace;
use trammel_core::rng::Rng;
use trammel_tcp::connection::Connection;

impl Network {
    pub(super) fn start_flow(&mut self, index: FlowId) {
        let flow = &mut self.traffic.flows[index];
        let spec = &flow.spec;
        let stream = |end: &str| Rng::new(spec.seed, &format!("flow:{}:{end}", spec.name));
        let mut sender = Connection::client(&spec.client, (spec.cc)(), stream("client"));
        let mut receiver = Connection::server(&spec.server, (spec.cc)(), stream("server"));
        if spec.reader.is_some() {
            receiver.set_auto_read(false);
        }
        let (bytes, pace) = (spec.bytes, spec.pace);
        if let Pace::Interval(interval) = pace {
            self.events.push(self.now + interval, Event::Sample(index));
        }
        let has_rate = self.begin_writing(index, &mut sender);
        match bytes {
            _ if has_rate => {}
            Some(bytes) => sender.write(bytes),
            None => sender.write_forever(),
        }
        sender.connect(self.now);
        if bytes.is_some() && !has_rate {
            sender.close_when_written();
        }
        self.start_ends(index, [sender, receiver]);
    }

    /// Gives flow `index` its connections, of which the first has something to send.
    pub(super) fn start_ends(&mut self, index: FlowId, end: [Connection; 2]) {
        let slot = self.agenda.open(index);
        let flow = &mut self.traffic.flows[index];
        flow.slot = slot;
        flow.ends = Some(Box::new(Ends::new(end)));
        self.drain(index, End::Client);
    }

    pub(super) fn stop_flow(&mut self, index: FlowId) {
        let flow = &mut self.traffic.flows[index];
        flow.stopped = true;
        if let Some(ends) = &mut flow.ends {
            ends[End::Client].stop_writing();
        }
    }

    pub(super) fn sample(&mut self, index: FlowId) {
        let flow = &mut self.traffic.flows[index];
        let Pace::Interval(interval) = flow.spec.pace else {
            return;
        };
        if let Some(sample) = flow.sample(self.now) {
            flow.trace.push(sample);
            // The trace of a flow that has stopped ends when nothing of it is on its way any more.
            let is_over = flow.stopped && sample.in_flight == 0;
            if !is_over {
                self.events.push(self.now + interval, Event::Sample(index));
            }
        }
    }

    pub(super) fn emit(&mut self, index: StreamId) {
        let packet = self.traffic.streams[index].emit(index, self.now);
        if let Some(next) = self.traffic.streams[index].next_departure() {
            self.events.push(next.max(self.now), Event::Emit(index));
        }
        let route = self.routes.streams[index];
        self.enter(&route, 0, &packet);
    }

    pub(super) fn warm(&mut self) {
        for flow in self.traffic.flows.iter_mut() {
            flow.update_result();
            flow.result.bytes_acked_warm = flow.result.bytes_acked;
            flow.result.bytes_delivered_warm = flow.result.bytes_delivered;
            if let Some(rtt) = &mut flow.rtt {
                rtt.clear();
            }
        }
    }

    pub(super) fn sample_queues(&mut self) {
        self.settle();
        let now = self.now;
        for (link, trace) in self.links.iter_mut().zip(self.observers.queues.iter_mut()) {
            let (packets, bytes) = link.waiting(now);
            let sample = (now, packets, bytes);
            trace.thinning.push(&mut trace.samples, sample);
        }
        if let Some(interval) = self.observers.queue_interval {
            self.events.push(now + interval, Event::Queues);
        }
    }
}
