//! A router on a card in memory, and the frames that go in and come out.

#![allow(dead_code, unreachable_pub, unused_imports, unused_macros)]

pub mod card;
pub mod frames;
pub mod scone;
mod virtual_time;

use card::{Card, Verdict};
use frames::Frame;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use trammel_control::config::{cpuhw, rtable};
use trammel_control::dataplane::Mac;
use trammel_control::{Config, Control, Reply};
use trammel_core::{Span, Time};

pub const CPUHW: &str = "eth0 10.0.0.1 255.255.255.0 ca:fe:f0:0d:00:01\n\
                         eth1 10.0.1.1 255.255.255.0 ca:fe:f0:0d:00:02\n\
                         eth2 10.0.2.1 255.255.255.0 ca:fe:f0:0d:00:03\n\
                         eth3 10.0.3.1 255.255.255.0 ca:fe:f0:0d:00:04\n";
pub const RTABLE: &str = "20.0.0.0 10.0.1.2 255.0.0.0 eth1\n";

/// The router's address on a port.
pub fn own(port: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, port as u8, 1)
}

/// The router's MAC address on a port.
pub fn own_mac(port: usize) -> Mac {
    [0xca, 0xfe, 0xf0, 0x0d, 0, port as u8 + 1]
}

/// The host on a port.
pub fn host(port: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, port as u8, 2)
}

/// The MAC address of the host on a port.
pub fn host_mac(port: usize) -> Mac {
    [2, 0, 0, 0, port as u8, 2]
}

/// Both files, and no PW-OSPF: what it sends is not these tests'.
pub fn config() -> Config {
    let interfaces = cpuhw::read("cpuhw", CPUHW).unwrap();
    let routes = rtable::read("rtable", RTABLE, &interfaces).unwrap();
    Config {
        pwospf: None,
        ..Config::new(interfaces, routes)
    }
}

/// A router: card, software and the instant.
pub struct Router {
    pub control: Control,
    pub card: Card,
    pub now: Time,
    /// Frames that left, with instant and port.
    pub sent: Vec<(Time, usize, Vec<u8>)>,
    /// The number of a command that is answered later.
    pub asked: Option<u64>,
}

impl Router {
    pub fn new(config: Config) -> Router {
        let mut router = Router {
            control: Control::new(config).unwrap(),
            card: Card::new(4),
            now: Time::ZERO,
            sent: Vec::new(),
            asked: None,
        };
        router.advance(Span::ZERO);
        router
    }

    /// A router of both files that knows the hosts of all ports.
    pub fn with_hosts() -> Router {
        Router::with_hosts_of(config())
    }

    /// A router of this configuration that knows the hosts of all ports.
    pub fn with_hosts_of(config: Config) -> Router {
        let mut router = Router::new(config);
        for port in 0..4 {
            let (address, mac) = (host(port), host_mac(port));
            let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
            assert!(router.cli(&format!("ip arp add {address} {mac}")).is_ok());
        }
        router
    }

    /// A frame arrives at a port of the card.
    pub fn arrive(&mut self, port: usize, frame: &[u8]) {
        match self.card.receive(port, frame) {
            Verdict::Forward(port, frame) => self.sent.push((self.now, port, frame)),
            Verdict::Software => self.punt(port, frame),
            Verdict::Drop => {}
        }
    }

    /// A frame reaches the software past the card.
    pub fn punt(&mut self, port: usize, frame: &[u8]) {
        self.control.receive(self.now, port, frame, &mut self.card);
        self.collect();
    }

    pub fn cli(&mut self, line: &str) -> Reply {
        let reply = self.control.command(self.now, line, &mut self.card);
        self.collect();
        reply
    }

    /// Lets time pass.
    pub fn advance(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(at) = self.control.next_timeout().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.control.handle_timeout(self.now, &mut self.card);
            self.collect();
        }
        self.now = end;
    }

    fn collect(&mut self) {
        while let Some((port, frame)) = self.control.poll_transmit() {
            self.sent.push((self.now, port, frame));
        }
    }

    /// What left since the last call, without instants.
    pub fn take(&mut self) -> Vec<(usize, Frame)> {
        let sent = std::mem::take(&mut self.sent);
        let parsed = sent
            .into_iter()
            .map(|(_, port, frame)| (port, Frame::parse(&frame)));
        parsed.collect()
    }

    /// The one frame that left since the last call.
    pub fn take_one(&mut self) -> (usize, Frame) {
        let mut all = self.take();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// Asserts that these counters of the software have these values and all others are 0, and that
    /// each received frame had one fate.
    pub fn assert_software(&self, expected: &[(&str, u64)]) {
        assert_software(&self.control.counters(), expected);
    }

    /// Asserts that these counters of the card have these values and all others are 0.
    pub fn assert_card(&self, expected: &[(&str, u64)]) {
        let counters: Vec<_> = self.card.counts.iter().map(|(n, v)| (*n, *v)).collect();
        assert_same(&counters, expected);
    }
}

/// Fates that the software counts.
pub const FATES: usize = 29;

/// Asserts that these counters of the software have these values and all others are 0, and that
/// each received frame had one fate.
pub fn assert_software<N: AsRef<str>>(counters: &[(N, u64)], expected: &[(&str, u64)]) {
    assert_same(&counters[1..], expected);
    let fates: u64 = counters[1..=FATES].iter().map(|(_, value)| value).sum();
    assert_eq!((counters[0].0.as_ref(), counters[0].1), ("received", fates));
    assert_eq!(counters[FATES].0.as_ref(), "dropped_transport");
}

fn assert_same<N: AsRef<str>>(counters: &[(N, u64)], expected: &[(&str, u64)]) {
    fn positive<N: AsRef<str>>(of: &[(N, u64)]) -> BTreeMap<&str, u64> {
        let all = of.iter().filter(|(_, value)| *value > 0);
        all.map(|(name, value)| (name.as_ref(), *value)).collect()
    }
    assert_eq!(positive(counters), positive(expected));
}
