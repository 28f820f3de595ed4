//! Packets enter and leave the devices between links.

use super::Network;
use super::parts::devices::PlacedMiddlebox;
use crate::ids::{LinkId, MiddleboxId};
use crate::middlebox::{Arrival, Middlebox};
use crate::packet::{Course, Packet};

impl Network {
    /// Puts a device before `links`: what routes lead into one of them from another link goes
    /// through the device. A link has one device before it at most, and is not the first of the
    /// route of a flow.
    pub fn add_middlebox(
        &mut self,
        middlebox: Box<dyn Middlebox>,
        links: &[LinkId],
    ) -> MiddleboxId {
        assert!(!self.started, "devices are added before the run");
        for link in links {
            self.links[*link].stand_behind(self.middleboxes.next_id());
        }
        self.middleboxes
            .push(PlacedMiddlebox::new(middlebox, links.to_vec()))
    }

    /// The device with this number.
    pub fn middlebox(&self, number: MiddleboxId) -> &dyn Middlebox {
        self.middleboxes[number].middlebox.as_ref()
    }

    /// Packets that a device has or has dropped.
    pub fn not_let_out(&self, number: MiddleboxId) -> usize {
        self.middleboxes[number].held.iter().flatten().count()
    }

    /// A packet that link `from` brought and whose next link is behind a device.
    #[cold]
    pub(super) fn enter_middlebox(
        &mut self,
        number: MiddleboxId,
        [from, link]: [LinkId; 2],
        packet: &Packet,
    ) {
        let now = self.now;
        let placed = &mut self.middleboxes[number];
        placed.entered += 1;
        let token = placed.free.pop().unwrap_or_else(|| {
            placed.held.push(None);
            u32::try_from(placed.held.len() - 1).expect("fewer than 2^32 packets are held")
        });
        placed.held[token as usize] = Some(*packet);
        let side = placed.links.iter().position(|behind| *behind == link);
        placed.middlebox.accept(
            now,
            Arrival {
                from,
                side: side.expect("the link says that this device is before it"),
                wire_bytes: packet.wire_bytes,
                // Streams are numbered from 0 as flows are.
                flow: packet.flow << 1 | u32::from(packet.course == Course::Datagram),
                token,
            },
        );
        self.agenda
            .set_middlebox(number, placed.middlebox.next().max(now));
    }

    pub(super) fn on_middlebox(&mut self, number: MiddleboxId) {
        let now = self.now;
        let placed = &mut self.middleboxes[number];
        let mut left = std::mem::take(&mut placed.left);
        placed.middlebox.advance(now, &mut left);
        for token in left.drain(..) {
            let placed = &mut self.middleboxes[number];
            let Some(packet) = placed.held.get_mut(token as usize).and_then(Option::take) else {
                debug_assert!(false, "a packet leaves once");
                continue;
            };
            placed.free.push(token);
            placed.let_out += 1;
            let link = self.routes.link_of(&packet);
            if self.links[link].accept(now, &packet) {
                self.note_link(link);
            }
        }
        let placed = &mut self.middleboxes[number];
        placed.left = left;
        let next = placed.middlebox.next();
        // What happens at this very time happens, but time goes on.
        self.agenda.set_middlebox(number, next.max(now));
    }

    /// The first time of each device.
    pub(super) fn start_middleboxes(&mut self) {
        let is_behind = |link: LinkId| self.links[link].middlebox().is_some();
        let routes = &self.routes;
        let brief = || routes.workloads.iter().chain(routes.apps.iter());
        let flows = || routes.flows.iter().chain(brief());
        assert!(
            flows().flatten().all(|route| !is_behind(route.link(0))),
            "a route of a flow begins with a link before the device"
        );
        for number in self.middleboxes.ids() {
            let next = self.middleboxes[number].middlebox.next();
            self.agenda.set_middlebox(number, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkSpec;
    use crate::stream::{StreamSpec, sized};
    use std::collections::VecDeque;
    use trammel_core::Span;
    use trammel_core::rng::Rng;
    use trammel_core::time::Time;
    use trammel_stats::arrivals::{Renewal, Spans};
    use trammel_stats::dist::constant::Constant;

    /// Lets packets out one by one, each so long after the one before, and drops what does not fit.
    #[derive(Debug)]
    struct Server {
        service: Span,
        room: usize,
        waiting: VecDeque<(Time, u32)>,
        dropped: u32,
    }

    impl Middlebox for Server {
        fn accept(&mut self, now: Time, packet: Arrival) {
            if self.waiting.len() == self.room {
                self.dropped += 1;
                return;
            }
            let free = self.waiting.back().map_or(now, |(at, _)| *at);
            let at = free.max(now) + self.service;
            self.waiting.push_back((at, packet.token));
        }

        fn next(&mut self) -> Time {
            self.waiting.front().map_or(Time::MAX, |(at, _)| *at)
        }

        fn advance(&mut self, now: Time, left: &mut Vec<u32>) {
            while let Some((_, token)) = self.waiting.pop_front_if(|(at, _)| *at <= now) {
                left.push(token);
            }
        }
    }

    #[test]
    fn a_device_delays_and_drops_what_goes_through_it() {
        let mut net = Network::new();
        let before = net.add_link(LinkSpec::wire("before", Span::from_ms(1)));
        let behind = net.add_link(LinkSpec::wire("behind", Span::from_ms(1)));
        let server = Server {
            service: Span::from_ms(2),
            room: 5,
            waiting: VecDeque::new(),
            dropped: 0,
        };
        let number = net.add_middlebox(Box::new(server), &[behind]);
        // 1000 packets a second through a device that lets 500 out.
        let gaps = Spans::constant_rate(1000.0).unwrap();
        let stream = net.add_stream(StreamSpec {
            name: "udp".into(),
            plan: sized(
                Renewal::new(Time::ZERO, gaps, Rng::new(1, "plan")),
                Box::new(Constant::new(1000.0)),
                Rng::new(1, "size"),
                1472,
                42,
            ),
            stop: Time::from_secs(1),
            route: vec![before, behind],
            keeps_arrivals: false,
        });
        net.run_until(Time::from_secs(2));
        let received = net.stream(stream).received_pkts;
        // It lets one out every 2 ms until what it holds is out.
        assert!((500..=506).contains(&received), "{received}");
        let sent = net.link(before).counters().delivered_pkts;
        assert_eq!(sent, received + net.not_let_out(number) as u64);
        assert_eq!(net.link(behind).counters().arrived_pkts, received);
    }
}
