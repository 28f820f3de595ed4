//! What happens seldom: flows that start and stop, samples, the end of the warm-up.

use super::{Event, Network};
use crate::flow::Ends;
use crate::trace::Pace;
use trammel_core::rng::Rng;
use trammel_tcp::connection::Connection;

impl Network {
    pub(super) fn start_flow(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let spec = &flow.spec;
        let stream = |end: &str| Rng::new(spec.seed, &format!("flow:{}:{end}", spec.name));
        let mut sender = Connection::client(&spec.client, (spec.cc)(), stream("client"));
        let mut receiver = Connection::server(&spec.server, (spec.cc)(), stream("server"));
        match spec.bytes {
            Some(bytes) => {
                sender.write(bytes);
            }
            None => sender.write_forever(),
        }
        if spec.reader.is_some() {
            receiver.set_auto_read(false);
        }
        if let Pace::Interval(interval) = spec.pace {
            self.events
                .push(self.now + interval, Event::Sample(index as u32));
        }
        sender.connect(self.now);
        if spec.bytes.is_some() {
            sender.close_when_written();
        }
        self.start_ends(index, [sender, receiver]);
    }

    /// Gives flow `index` its connections, of which the first has something to send.
    pub(super) fn start_ends(&mut self, index: usize, end: [Connection; 2]) {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            let slot = self.event_slot + 1 + 2 * self.owners.len();
            self.owners.push(0);
            self.slots.reserve(slot + 2);
            slot
        });
        self.owners[(slot - self.event_slot - 1) / 2] = index as u32;
        let flow = &mut self.flows[index];
        flow.slot = slot;
        flow.ends = Some(Box::new(Ends { end }));
        self.drain(index, 0);
    }

    pub(super) fn stop_flow(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        flow.stopped = true;
        if let Some(ends) = &mut flow.ends {
            ends.end[0].stop_writing();
        }
    }

    pub(super) fn sample(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let Pace::Interval(interval) = flow.spec.pace else {
            return;
        };
        if let Some(sample) = flow.sample(self.now) {
            flow.trace.push(sample);
            // The trace of a flow that has stopped ends when nothing of it is on its way any more.
            let is_over = flow.stopped && sample.in_flight == 0;
            if !is_over {
                self.events
                    .push(self.now + interval, Event::Sample(index as u32));
            }
        }
    }

    pub(super) fn emit(&mut self, index: usize) {
        let packet = self.streams[index].emit(index as u32, self.now);
        if let Some(next) = self.streams[index].next_departure() {
            self.events
                .push(next.max(self.now), Event::Emit(index as u32));
        }
        let route = self.routes.streams[index];
        self.enter(&route, 0, &packet);
    }

    pub(super) fn warm(&mut self) {
        for flow in &mut self.flows {
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
        for (link, trace) in self.links.iter_mut().zip(&mut self.queues) {
            let (packets, bytes) = link.waiting(now);
            let sample = (now, packets, bytes);
            trace.thinning.push(&mut trace.samples, sample);
        }
        if let Some(interval) = self.queue_interval {
            self.events.push(now + interval, Event::Queues);
        }
    }
}
