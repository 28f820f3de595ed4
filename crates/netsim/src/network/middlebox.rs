//! A device between links, which takes packets and says which of them leaves when.
//!
//! The network knows nothing of what is inside: a packet that would enter one of the links *behind* the device
//! goes into the device instead, and enters that link when the device lets it out. What it never lets out is
//! dropped. In `lab`, a simulated router stands here.

use super::Network;
use crate::packet::{Course, Packet};
use std::fmt::Debug;
use trammel_core::time::Time;

/// A packet as a device sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The link behind the device that it is on its way to: its place among those of the device.
    pub side: usize,
    /// Bytes that links count.
    pub wire_bytes: u32,
    /// The flow or stream that it belongs to.
    pub flow: u32,
    /// What the device tells it by when it leaves.
    pub token: u32,
}

/// A device between links.
pub trait Middlebox: Debug + Send {
    /// A packet has come at `now`; times never go back.
    fn accept(&mut self, now: Time, packet: Arrival);

    /// When it does something next, or a packet leaves; [`Time::MAX`] for never.
    fn next(&mut self) -> Time;

    /// Lets time pass until `now`, and appends the tokens of the packets that leave by then to `left`, in their
    /// order. A token may be given once.
    fn advance(&mut self, now: Time, left: &mut Vec<u32>);
}

/// A device and the packets that it has.
#[derive(Debug)]
pub(super) struct Between {
    middlebox: Box<dyn Middlebox>,
    links: Vec<usize>,
    /// By token. A token is used again when its packet has left; those of dropped packets are not.
    held: Vec<Option<Packet>>,
    free: Vec<u32>,
    left: Vec<u32>,
}

impl Network {
    /// Puts a device before `links`: what routes lead into one of them from another link goes through the device.
    /// A link has one device before it at most, and is not the first of the route of a flow.
    pub fn add_middlebox(&mut self, middlebox: Box<dyn Middlebox>, links: &[usize]) -> usize {
        assert!(!self.started, "devices are added before the run");
        for link in links {
            self.links[*link].stand_behind(self.betweens.len() as u32);
        }
        self.betweens.push(Between {
            middlebox,
            links: links.to_vec(),
            held: Vec::new(),
            free: Vec::new(),
            left: Vec::new(),
        });
        self.betweens.len() - 1
    }

    /// The device with this number.
    pub fn middlebox(&self, number: usize) -> &dyn Middlebox {
        self.betweens[number].middlebox.as_ref()
    }

    /// Packets that a device has or has dropped.
    pub fn not_let_out(&self, number: usize) -> usize {
        self.betweens[number].held.iter().flatten().count()
    }

    fn slot_of(&self, number: usize) -> usize {
        self.links.len() + self.mediums.len() + number
    }

    /// A packet whose next hop is behind a device.
    #[cold]
    pub(super) fn enter_middlebox(&mut self, number: usize, link: usize, packet: &Packet) {
        let (slot, now) = (self.slot_of(number), self.now);
        let between = &mut self.betweens[number];
        let token = between.free.pop().unwrap_or_else(|| {
            between.held.push(None);
            u32::try_from(between.held.len() - 1).expect("fewer than 2^32 packets are held")
        });
        between.held[token as usize] = Some(*packet);
        let side = between.links.iter().position(|behind| *behind == link);
        between.middlebox.accept(
            now,
            Arrival {
                side: side.expect("the link says that this device is before it"),
                wire_bytes: packet.wire_bytes,
                // Streams are numbered from 0 as flows are.
                flow: packet.flow << 1 | u32::from(packet.course == Course::Datagram),
                token,
            },
        );
        self.slots.set(slot, between.middlebox.next().max(now));
    }

    pub(super) fn on_middlebox(&mut self, number: usize) {
        let (slot, now) = (self.slot_of(number), self.now);
        let between = &mut self.betweens[number];
        let mut left = std::mem::take(&mut between.left);
        between.middlebox.advance(now, &mut left);
        for token in left.drain(..) {
            let between = &mut self.betweens[number];
            let Some(packet) = between.held.get_mut(token as usize).and_then(Option::take) else {
                debug_assert!(false, "a packet leaves once");
                continue;
            };
            between.free.push(token);
            let link = self.routes.link_of(&packet);
            if self.links[link].accept(now, &packet) {
                self.note_link(link);
            }
        }
        let between = &mut self.betweens[number];
        between.left = left;
        let next = between.middlebox.next();
        // What happens at this very time happens, but time goes on.
        self.slots.set(slot, next.max(now));
    }

    /// The first time of each device.
    pub(super) fn start_middleboxes(&mut self) {
        let is_behind = |link: usize| self.links[link].between().is_some();
        let flows = || self.routes.flows.iter().chain(&self.routes.workloads);
        assert!(
            flows().flatten().all(|route| !is_behind(route.link(0))),
            "a route of a flow begins with a link before the device"
        );
        for number in 0..self.betweens.len() {
            let next = self.betweens[number].middlebox.next();
            let slot = self.slot_of(number);
            self.slots.set(slot, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkSpec;
    use crate::stream::{StreamSpec, sized};
    use std::collections::VecDeque;
    use trammel_core::rng::Rng;
    use trammel_stats::arrivals::{Renewal, Spans};
    use trammel_stats::dist::constant::Constant;

    /// Lets packets out one by one, each so long after the one before, and drops what does not fit.
    #[derive(Debug)]
    struct Server {
        service: Time,
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
        let before = net.add_link(LinkSpec::wire("before", Time::from_ms(1)));
        let behind = net.add_link(LinkSpec::wire("behind", Time::from_ms(1)));
        let server = Server {
            service: Time::from_ms(2),
            room: 5,
            waiting: VecDeque::new(),
            dropped: 0,
        };
        let number = net.add_middlebox(Box::new(server), &[behind]);
        // 1000 packets a second through a device that lets 500 out.
        let gaps = Spans::constant_rate(1000.0).unwrap();
        net.add_stream(StreamSpec {
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
        let received = net.stream(0).received_pkts;
        // It lets one out every 2 ms until what it holds is out.
        assert!((500..=506).contains(&received), "{received}");
        let sent = net.link(before).counters().delivered_pkts;
        assert_eq!(sent, received + net.not_let_out(number) as u64);
        assert_eq!(net.link(behind).counters().arrived_pkts, received);
    }
}
