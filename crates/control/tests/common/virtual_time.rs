//! The router in virtual time as a bench of SCONE's tests.

use super::Router;
use super::frames::Frame;
use super::scone::Bench;
use std::net::Ipv4Addr;
use trammel_control::dataplane::Mac;
use trammel_control::{Dataplane, Neighbour, Route};
use trammel_core::{Span, Time};

impl Bench for Router {
    fn arrive(&mut self, port: usize, frame: &[u8]) {
        Router::arrive(self, port, frame);
    }

    fn punt(&mut self, port: usize, frame: &[u8]) -> bool {
        Router::punt(self, port, frame);
        true
    }

    fn take(&mut self) -> Vec<(usize, Frame)> {
        Router::take(self)
    }

    fn next(&mut self) -> (Time, usize, Frame) {
        while self.sent.is_empty() {
            let next = self.control.next_timeout().expect("something is due");
            self.advance(next.saturating_since(self.now));
        }
        let (at, port, frame) = self.sent.remove(0);
        (at, port, Frame::parse(&frame))
    }

    fn now(&self) -> Time {
        self.now
    }

    fn advance(&mut self, span: Span) {
        Router::advance(self, span);
    }

    fn assert_at(&self, at: Time, due: Time) {
        assert_eq!(at, due);
    }

    fn arp_interval(&self) -> Span {
        super::config().arp_interval
    }

    fn cli(&mut self, line: &str) -> (bool, String) {
        let reply = Router::cli(self, line);
        (reply.is_ok(), reply.to_string())
    }

    fn ask(&mut self, line: &str) {
        let reply = Router::cli(self, line);
        self.asked = Some(reply.waits().expect("an answer comes later"));
    }

    fn answer(&mut self) -> String {
        let (number, reply) = self.control.poll_reply().expect("it answered");
        assert_eq!(Some(number), self.asked.take());
        reply.to_string()
    }

    fn own_addresses(&mut self) -> Vec<Ipv4Addr> {
        self.card.own.clone()
    }

    fn routes(&mut self) -> Vec<Route> {
        self.card.routes.clone()
    }

    fn neighbours(&mut self) -> Vec<Neighbour> {
        self.card.neighbours.clone()
    }

    fn mac(&mut self, port: usize) -> Mac {
        Dataplane::mac(&self.card, port)
    }

    fn is_up(&mut self, port: usize) -> bool {
        self.card.up[port]
    }

    fn software(&mut self) -> Vec<(String, u64)> {
        let counters = self.control.counters().into_iter();
        counters
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn assert_card_and_ports(&mut self, expected: &[(&str, u64)], _: &[(usize, u64)]) {
        // What ports refuse because they are off, these tables do not count.
        Router::assert_card(self, expected);
    }
}
