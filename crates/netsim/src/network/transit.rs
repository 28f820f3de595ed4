//! How packets get from link to link, and to the hosts and sinks at the ends of their routes.

use super::stretch::Route;
use super::{Network, SharedMedium};
use crate::link::Link;
use crate::packet::{Course, Packet};
use trammel_core::slots::Slots;
use trammel_core::time::Time;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// To the link at a hop of its route.
    Hop(u8),
    Host {
        flow: usize,
        end: usize,
    },
    Sink(usize),
}

impl Network {
    #[inline]
    pub(super) fn on_link(&mut self, index: usize) {
        if self.is_capturing {
            self.record_arrival(index);
        }
        let link = &self.links[index];
        let Some(packet) = link.arrived(self.now) else {
            return self.on_link_slowly(index);
        };
        let (route, target) = self.target(packet);
        match target {
            Target::Host { flow, end } => {
                // The host looks at the segment where it lies in the pipe.
                let ends = &mut self.flows[flow].ends;
                if let Some(ends) = ends {
                    ends.end[end].on_segment(self.now, &packet.segment);
                }
                self.remove(index);
                self.delivered += 1;
                self.after_segment(flow, end);
            }
            Target::Hop(hop) => {
                let (packet, route) = (*packet, *route);
                self.remove(index);
                self.enter(&route, hop, &packet);
            }
            Target::Sink(stream) => {
                let packet = *packet;
                self.remove(index);
                self.sink(stream, &packet);
            }
        }
    }

    /// Removes the packet that has arrived from the pipe of link `index`.
    #[inline]
    fn remove(&mut self, index: usize) {
        let link = &mut self.links[index];
        link.remove();
        let next = link.next();
        self.slots.set(index, next);
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
            let (route, target) = self.target(&packet);
            match target {
                Target::Host { flow, end } => {
                    if let Some(ends) = &mut self.flows[flow].ends {
                        ends.end[end].on_segment(self.now, &packet.segment);
                    }
                    self.delivered += 1;
                    self.after_segment(flow, end);
                }
                Target::Hop(hop) => {
                    let route = *route;
                    self.enter(&route, hop, &packet);
                }
                Target::Sink(stream) => self.sink(stream, &packet),
            }
        }
    }

    /// Where a packet goes that has crossed one more link of its route.
    #[inline]
    fn target(&self, packet: &Packet) -> (&Route, Target) {
        let index = packet.flow as usize;
        let host = |end| Target::Host { flow: index, end };
        let (route, last) = match packet.course {
            Course::Forward => (&self.flow_routes[index][0], host(1)),
            Course::Backward => (&self.flow_routes[index][1], host(0)),
            Course::Datagram => (&self.stream_routes[index], Target::Sink(index)),
        };
        let hop = packet.hop + 1;
        let is_over = hop >= route.hops;
        (route, if is_over { last } else { Target::Hop(hop) })
    }

    fn sink(&mut self, stream: usize, packet: &Packet) {
        self.delivered += 1;
        self.streams[stream].receive(self.now, packet);
    }

    /// A packet enters the link at `hop` of its route, and crosses the stretch that begins there.
    #[inline]
    pub(super) fn enter(&mut self, route: &Route, hop: u8, packet: &Packet) {
        let first = route.link(hop);
        if !self.links[first].is_foreseen() {
            let packet = Packet { hop, ..*packet };
            if self.links[first].accept(self.now, &packet) {
                self.note_link(first);
            }
            return;
        }
        let slot = self.links[route.link(route.end(hop))].slot();
        *slot = *packet;
        let (links, slots) = (&mut self.links, &mut self.slots);
        cross(links, slots, self.now, route, hop, packet.wire_bytes);
    }

    /// A link may have something to do earlier than thought.
    #[inline]
    pub(super) fn note_link(&mut self, link: usize) {
        if let Some(number) = self.links[link].medium() {
            self.feed(number);
        }
        let next = self.links[link].next();
        self.slots.set(link, next);
    }

    /// Gives a medium a packet of each end that has one and is free.
    #[cold]
    pub(super) fn feed(&mut self, number: usize) {
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

    pub(super) fn on_medium(&mut self, number: usize) {
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

    #[cold]
    pub(super) fn record_arrival(&mut self, link: usize) {
        if let Some(packet) = self.links[link].arrived(self.now) {
            let packet = *packet;
            self.record(link, &packet);
        }
    }

    #[cold]
    pub(super) fn record(&mut self, link: usize, packet: &Packet) {
        self.links[link].settle(self.now);
        let dropped = self.links[link].counters().dropped_pkts();
        for capture in self.captures.iter_mut().filter(|capture| capture.has(link)) {
            capture.record(self.now, link, packet, dropped);
        }
    }
}

/// The packet in the slot of the last link of the stretch that begins with `hop` crosses the stretch.
#[inline]
pub(super) fn cross(
    links: &mut [Link],
    slots: &mut Slots,
    now: Time,
    route: &Route,
    hop: u8,
    wire_bytes: u32,
) {
    let end = route.end(hop);
    let mut at = now;
    for hop in hop..=end {
        match links[route.link(hop)].cross(now, at, wire_bytes) {
            Some(arrives) => at = arrives,
            None => return,
        }
    }
    let last = route.link(end);
    let link = &mut links[last];
    link.slot().hop = end;
    if link.lay(at) {
        slots.set(last, at);
    }
}
