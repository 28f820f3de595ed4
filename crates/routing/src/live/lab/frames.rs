//! What becomes of frames on links: carried with delay and rate, cut, taken by hosts.

use super::{Arrival, Event, LATE_LOOKS, Lab, To};
use crate::devices::frame::{self, Content};
use crate::devices::{BESIDE, LEAST, node};
use crate::live::measured::Unmeasured;
use std::rc::Rc;
use trammel_control::network::Fate;
use trammel_core::Time;
use trammel_core::units::TxTime;

impl Lab<'_> {
    /// A frame that came from the router of `end`.
    pub(super) fn leave(&mut self, end: usize, frame: &Rc<[u8]>) {
        let (router, subnet) = (self.wires.ends[end].router, self.wires.ends[end].subnet);
        if !self.works.routers[router] {
            return;
        }
        let content = frame::content(frame);
        if let Content::Control(kind, bytes) = content {
            self.found.sent(kind, bytes);
        }
        if !self.works.subnets[subnet] {
            if matches!(content, Content::Control(..)) {
                self.found.swallowed();
            }
            return;
        }
        let on_line = (frame.len() as u64).max(LEAST) + BESIDE;
        let sent = match self.topology.subnets[subnet].rate {
            Some(rate) => {
                let free = &mut self.free[end];
                *free = self.now.max(*free) + TxTime::new(rate).of(on_line);
                *free
            }
            None => self.now,
        };
        self.carry(subnet, Some(end), sent, frame);
    }

    /// Has a frame that left `from`, or the host, cross a subnet.
    fn carry(&mut self, subnet: usize, from: Option<usize>, sent: Time, frame: &Rc<[u8]>) {
        let at = sent + self.topology.subnets[subnet].delay;
        let is_for = |mac: &[u8; 6]| frame[0] & 1 != 0 || frame[..6] == mac[..];
        let mut all: Vec<To> = Vec::new();
        for (number, end) in self.wires.ends.iter().enumerate() {
            let is_other = end.subnet == subnet && Some(number) != from;
            if is_other && is_for(&node::router_mac(end.router, end.port)) {
                all.push(To::End(number, self.routers[end.router].incarnation));
            }
        }
        let host = self
            .looks
            .sources
            .iter()
            .position(|one| one.subnet == subnet);
        if from.is_some() && is_for(&node::host_mac(subnet)) {
            all.extend(host.map(To::Host));
        }
        let subnet = (subnet, self.failures[subnet]);
        for to in all {
            let frame = Rc::clone(frame);
            self.events
                .push(at, Event::Arrival(Arrival { to, frame, subnet }));
        }
    }

    pub(super) fn arrive(&mut self, arrival: &Arrival) -> Result<(), Unmeasured> {
        let (subnet, failures) = arrival.subnet;
        let is_on_its_way = self.works.subnets[subnet] && self.failures[subnet] == failures;
        match arrival.to {
            To::End(end, incarnation)
                if is_on_its_way
                    && self.works.routers[self.wires.ends[end].router]
                    && self.routers[self.wires.ends[end].router].incarnation == incarnation =>
            {
                let sent = self.wires.send(end, &arrival.frame);
                sent.map_err(|why| Unmeasured::Failed(format!("a wire fails: {why}")))?;
            }
            To::Host(host) if is_on_its_way => self.host_takes(host, &arrival.frame),
            _ if matches!(frame::content(&arrival.frame), Content::Control(..)) => {
                self.found.swallowed();
            }
            _ => {}
        }
        Ok(())
    }

    /// The host at place `host` takes a frame.
    fn host_takes(&mut self, host: usize, frame: &[u8]) {
        let source = self.looks.sources[host];
        let (mac, address) = (
            node::host_mac(source.subnet),
            self.topology.host(source.subnet),
        );
        if let Some(answer) = frame::arp_answer(frame, mac, address) {
            self.carry(source.subnet, None, self.now, &answer.into());
        } else if let Some(number) = frame::exceeded(frame) {
            self.looks.note(number, Fate::Loops);
        } else if let (Content::Probe(number), Some(to)) =
            (frame::content(frame), frame::destination(frame))
            && self.looks.is_there(source.subnet, source.router, to)
        {
            self.looks.note(number, Fate::Arrives);
        }
    }

    pub(super) fn look(&mut self) {
        self.looks.end(LATE_LOOKS - 1, &mut self.found);
        for sending in self.looks.begin(self.now, self.topology, &self.works) {
            let source = self.looks.sources[sending.source];
            let mut ends = self.wires.ends.iter();
            let end = ends.find(|end| end.subnet == source.subnet);
            let end = end.expect("a subnet of hosts has a router with an end there");
            let (to, from) = (
                node::router_mac(end.router, end.port),
                node::host_mac(source.subnet),
            );
            let address = self.topology.host(source.subnet);
            let frame = frame::probe(to, from, address, sending.target, sending.number);
            self.carry(source.subnet, None, self.now, &frame.into());
        }
    }
}
