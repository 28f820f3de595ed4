//! How packets get from link to link, and to the hosts and sinks at the ends of their routes.

use super::Network;
use super::parts::devices::SharedMedium;
use super::parts::gather::{Timer, catch_up, cross, hand_on, note_first};
use super::parts::routes::{Route, Target};
use crate::ids::{LinkId, MediumId, StreamId};
use crate::packet::{Course, Packet};

impl Network {
    #[inline]
    pub(super) fn on_link(&mut self, index: LinkId) {
        if self.observers.is_capturing {
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
                let ends = &mut self.traffic.flows[flow].ends;
                if let Some(ends) = ends {
                    ends[end].on_segment(self.now, &packet.segment);
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
                        self.agenda.set_link(last, at);
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
    fn remove(&mut self, index: LinkId) {
        let link = &mut self.links[index];
        link.remove();
        let next = link.next();
        self.agenda.set_link(index, next);
    }

    /// A link whose pipe has nothing to deliver: its queue is served, or a late packet arrives.
    fn on_link_slowly(&mut self, index: LinkId) {
        if self.links[index].due <= self.now {
            return self.gather(index);
        }
        let mut packet = Packet::default();
        let link = &mut self.links[index];
        let arrived = link.advance(self.now, &mut packet);
        let next = link.next();
        self.agenda.set_link(index, next);
        if arrived {
            if self.observers.is_capturing {
                self.record(index, &packet);
            }
            let (route, target) = self.routes.target(&packet);
            match target {
                Target::Host { flow, end } => {
                    if let Some(ends) = &mut self.traffic.flows[flow].ends {
                        ends[end].on_segment(self.now, &packet.segment);
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
    pub(super) fn gather(&mut self, index: LinkId) {
        if let Timer::Gathering(number) = self.lookahead.timers[index] {
            let (links, agenda) = (&mut self.links, &mut self.agenda);
            let gather = &mut self.lookahead.gathers[number];
            catch_up(links, agenda, gather, &self.routes, self.now);
        }
    }

    fn sink(&mut self, stream: StreamId, packet: &Packet) {
        self.delivered += 1;
        let of = &mut self.traffic.streams[stream];
        of.receive(self.now, packet);
        if let Some((user, to)) = of.user {
            self.on_app_datagram(user, to, packet);
        }
    }

    /// A packet enters the link at `hop` of its route, and crosses the chain that begins there.
    #[inline]
    pub(super) fn enter(&mut self, route: &Route, hop: u8, packet: &Packet) {
        let first = route.link(hop);
        if !self.links[first].is_foreseen() {
            let packet = Packet { hop, ..*packet };
            if let Some(number) = self.links[first].middlebox() {
                let from = route.link(hop - 1);
                return self.enter_middlebox(number, [from, first], &packet);
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
                let (links, agenda) = (&mut self.links, &mut self.agenda);
                note_first(
                    links,
                    agenda,
                    &mut self.lookahead.gathers,
                    &self.lookahead.timers,
                    last,
                    at,
                );
            }
        }
    }

    /// A link may have something to do earlier than thought.
    #[inline]
    pub(super) fn note_link(&mut self, link: LinkId) {
        if let Some(number) = self.links[link].medium() {
            self.feed(number);
        }
        let next = self.links[link].next();
        self.agenda.set_link(link, next);
    }

    /// Gives a medium a packet of each end that has one and is free.
    #[cold]
    pub(super) fn feed(&mut self, number: MediumId) {
        let SharedMedium { medium, links } = &mut self.mediums[number];
        for (side, link) in links.iter().enumerate() {
            if !medium.is_free(side) {
                continue;
            }
            if let Some(packet) = self.links[*link].take(self.now) {
                medium.offer(self.now, side, packet);
            }
        }
        self.agenda.set_medium(number, medium.next());
    }

    pub(super) fn on_medium(&mut self, number: MediumId) {
        let SharedMedium { medium, links } = &mut self.mediums[number];
        let outcomes = medium.advance(self.now);
        for (outcome, link) in outcomes.into_iter().zip(*links) {
            if let Some(outcome) = outcome {
                self.links[link].leave(self.now, outcome.packet, outcome.is_received);
                let next = self.links[link].next();
                self.agenda.set_link(link, next);
            }
        }
        self.feed(number);
    }

    #[cold]
    pub(super) fn record_arrival(&mut self, link: LinkId) {
        if let Some(packet) = self.links[link].arrived(self.now) {
            let packet = *packet;
            self.record(link, &packet);
        }
    }

    #[cold]
    pub(super) fn record(&mut self, link: LinkId, packet: &Packet) {
        let (_, target) = self.routes.target(packet);
        if let Target::Host { .. } = target {
            for watched in &mut self.observers.senders {
                watched.note(self.now, packet, Course::Backward);
            }
        }
        self.gather(link);
        self.links[link].settle(self.now);
        let dropped = self.links[link].counters().dropped_pkts();
        for capture in self
            .observers
            .captures
            .iter_mut()
            .filter(|capture| capture.has(link))
        {
            capture.record(self.now, link, packet, dropped);
        }
    }
}
