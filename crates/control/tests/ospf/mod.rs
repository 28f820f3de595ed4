//! Packets written by hand, and a router between them. Shares no code with the crate.

#![allow(dead_code, reason = "each test uses a part")]

use std::net::Ipv4Addr;
use trammel_control::pwospf::{Config, Counters, InterfaceConfig, Outgoing, Pwospf, Refusal};
use trammel_core::{Span, Time};

pub(crate) const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);
pub(crate) const NOBODY: Ipv4Addr = Ipv4Addr::UNSPECIFIED;

/// Subnet, mask and neighbour.
pub(crate) type Advert = (Ipv4Addr, Ipv4Addr, Ipv4Addr);

pub(crate) fn ip(text: &str) -> Ipv4Addr {
    text.parse().expect("an address")
}

/// Sets the checksum: the complement of the sum of 16-bit words, without the authentication.
pub(crate) fn seal(mut packet: Vec<u8>) -> Vec<u8> {
    packet[12..14].fill(0);
    let words = packet[..16].chunks(2).chain(packet[24..].chunks(2));
    let mut sum: u32 = words
        .map(|w| u32::from(w[0]) << 8 | u32::from(w.get(1).copied().unwrap_or(0)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[12..14].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    packet
}

pub(crate) fn header(kind: u8, length: usize, id: Ipv4Addr) -> Vec<u8> {
    let mut packet = vec![2, kind];
    packet.extend((length as u16).to_be_bytes());
    packet.extend(id.octets());
    packet.extend([0; 16]);
    packet
}

pub(crate) fn hello(id: Ipv4Addr, mask: Ipv4Addr, interval: u16) -> Vec<u8> {
    let mut packet = header(1, 32, id);
    packet.extend(mask.octets());
    packet.extend(interval.to_be_bytes());
    packet.extend([0, 0]);
    seal(packet)
}

pub(crate) fn lsu(id: Ipv4Addr, sequence: u16, ttl: u16, adverts: &[Advert]) -> Vec<u8> {
    let mut packet = header(4, 32 + 12 * adverts.len(), id);
    packet.extend(sequence.to_be_bytes());
    packet.extend(ttl.to_be_bytes());
    packet.extend((adverts.len() as u32).to_be_bytes());
    for (network, mask, neighbour) in adverts {
        packet.extend(network.octets());
        packet.extend(mask.octets());
        packet.extend(neighbour.octets());
    }
    seal(packet)
}

/// A router 10.0.0.1 with interfaces 10.0.0.1, 10.0.1.1, 10.0.2.1, each /24.
pub(crate) fn config() -> Config {
    let interfaces = (0..3).map(|third| InterfaceConfig {
        address: Ipv4Addr::new(10, 0, third, 1),
        mask: MASK,
        up: true,
    });
    Config::new(ip("10.0.0.1"), interfaces.collect())
}

/// A router that is run by hand.
pub(crate) struct Bench {
    pub(crate) router: Pwospf,
    pub(crate) now: Time,
    /// What it sent, and when.
    pub(crate) sent: Vec<(Time, Outgoing)>,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench::with(config())
    }

    pub(crate) fn with(config: Config) -> Bench {
        let router = Pwospf::new(config, Time::ZERO).expect("right settings");
        let mut bench = Bench {
            router,
            now: Time::ZERO,
            sent: Vec::new(),
        };
        bench.run(Span::ZERO);
        bench
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            while let Some(packet) = self.router.poll_transmit() {
                self.sent.push((self.now, packet));
            }
            let next = self.router.next_timeout().max(self.now);
            if next > end {
                break;
            }
            self.now = next;
            self.router.handle_timeout(next);
        }
        self.now = end;
    }

    /// A packet arrives from host `host` of an interface's subnet.
    pub(crate) fn hear(&mut self, interface: usize, host: u8, packet: &[u8]) {
        let source = Ipv4Addr::new(10, 0, interface as u8, host);
        self.router.receive(self.now, interface, source, packet);
        self.run(Span::ZERO);
    }

    /// Host 2 of interface 0's subnet says HELLO as 10.1.0.1, and so on for the others.
    pub(crate) fn meet(&mut self, interface: usize) {
        self.hear(interface, 2, &hello(peer(interface), MASK, 5));
    }

    /// Updates sent since the last call: when, interface, destination and bytes.
    pub(crate) fn lsus(&mut self) -> Vec<(Time, Outgoing)> {
        let all = std::mem::take(&mut self.sent).into_iter();
        all.filter(|(_, packet)| packet.payload[1] == 4).collect()
    }

    /// Asserts that packets were refused for these reasons, so often, and for no others.
    pub(crate) fn refused(&self, expected: &[(Refusal, u64)]) {
        assert_refused(self.router.counters(), expected);
    }
}

pub(crate) fn assert_refused(counters: &Counters, expected: &[(Refusal, u64)]) {
    for reason in Refusal::ALL {
        let known = expected.iter().find(|(known, _)| known == reason);
        let number = known.map_or(0, |(_, number)| *number);
        assert_eq!(counters.refused(*reason), number, "{}", reason.name());
    }
}

/// The router that [`Bench::meet`] introduces on an interface.
pub(crate) fn peer(interface: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 1, interface as u8, 1)
}

/// The subnet of an interface.
pub(crate) fn subnet(interface: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, interface as u8, 0)
}

/// An update by the peer of an interface, which says that the router is its neighbour there.
pub(crate) fn peer_lsu(interface: usize, sequence: u16, more: &[Advert]) -> Vec<u8> {
    let mut adverts = vec![(subnet(interface), MASK, ip("10.0.0.1"))];
    adverts.extend(more);
    lsu(peer(interface), sequence, 64, &adverts)
}
