//! How packets get from link to link, and to the hosts and sinks at the ends of their routes.

use super::gather::{Timer, catch_up, note_first};
use super::stretch::{Route, Target};
use super::{Network, SharedMedium};
use crate::link::Link;
use crate::packet::{Course, Packet};
use trammel_core::time::Time;

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
        let (route, target) = self.routes.target(packet);
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
                if self.links[route.link(hop)].is_foreseen() {
                    let (end, wire_bytes) = (route.end(hop), packet.wire_bytes);
                    let now = self.now;
                    let arrives = cross(&mut self.links, now, now, route, hop, wire_bytes);
                    let last = route.link(end);
                    if let Some(at) = arrives
                        && hand_on(&mut self.links, index, last, end, at)
                    {
                        self.slots.set(last, at);
                    }
                    self.remove(index);
                } else {
                    let (packet, route) = (*packet, *route);
                    self.remove(index);
                    self.enter(&route, hop, &packet);
                }
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
        if self.links[index].due <= self.now {
            return self.gather(index);
        }
        let mut packet = Packet::default();
        let link = &mut self.links[index];
        let arrived = link.advance(self.now, &mut packet);
        let next = link.next();
        self.slots.set(index, next);
        if arrived {
            if self.is_capturing {
                self.record(index, &packet);
            }
            let (route, target) = self.routes.target(&packet);
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

    /// Makes link `index` catch up with what has come to it, if it gathers.
    pub(super) fn gather(&mut self, index: usize) {
        if let Timer::Gathering(number) = self.timers[index] {
            let (links, slots) = (&mut self.links, &mut self.slots);
            let gather = &mut self.gathers[number as usize];
            catch_up(links, slots, gather, &self.routes, self.now);
        }
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
            if let Some(number) = self.links[first].between() {
                return self.enter_middlebox(number, first, &packet);
            }
            if self.links[first].accept(self.now, &packet) {
                self.note_link(first);
            }
            return;
        }
        let now = self.now;
        if let Some(at) = cross(&mut self.links, now, now, route, hop, packet.wire_bytes) {
            let hop = route.end(hop);
            let last = route.link(hop);
            let link = &mut self.links[last];
            *link.slot() = Packet { hop, ..*packet };
            if link.lay(at) {
                let (links, slots) = (&mut self.links, &mut self.slots);
                note_first(links, slots, &mut self.gathers, &self.timers, last, at);
            }
        }
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
        let (_, target) = self.routes.target(packet);
        if let (Some(watched), Target::Host { .. }) = (&mut self.watched, target) {
            watched.note(self.now, packet, Course::Backward);
        }
        self.gather(link);
        self.links[link].settle(self.now);
        let dropped = self.links[link].counters().dropped_pkts();
        for capture in self.captures.iter_mut().filter(|capture| capture.has(link)) {
            capture.record(self.now, link, packet, dropped);
        }
    }
}

/// A packet crosses at once the stretch that begins with `hop`, to which it comes at `at`: when it arrives at the end of it, if it does.
#[inline]
pub(super) fn cross(
    links: &mut [Link],
    now: Time,
    at: Time,
    route: &Route,
    hop: u8,
    wire_bytes: u32,
) -> Option<Time> {
    let mut at = links[route.link(hop)].cross(at, wire_bytes)?;
    for behind in hop + 1..=route.end(hop) {
        at = links[route.link(behind)].cross_ahead(now, at, wire_bytes)?;
    }
    Some(at)
}

/// Lays the packet that has arrived from link `from` into the pipe of link `last`, which is at `hop` of its
/// route; it comes out at `arrives`. Returns whether it is the first there.
#[inline]
pub(super) fn hand_on(
    links: &mut [Link],
    from: usize,
    last: usize,
    hop: u8,
    arrives: Time,
) -> bool {
    let Ok([from, last]) = links.get_disjoint_mut([from, last]) else {
        unreachable!("a route leads from link to link");
    };
    let slot = last.slot();
    *slot = *from.first();
    slot.hop = hop;
    last.lay(arrives)
}
