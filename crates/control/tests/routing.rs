//! PW-OSPF between routers that have the rest of the software and a card each.

mod common;
mod ospf;

use common::card::{Card, Verdict};
use common::frames::{from_host, ip as packet};
use common::{Router, config, host, own};
use ospf::{MASK, NOBODY, hello, ip, lsu};
use std::net::Ipv4Addr;
use trammel_control::config::{cpuhw, rtable};
use trammel_control::{Config, Control};
use trammel_core::{Span, Time};

/// A ring: port 0 of each router is a cable to port 1 of the next; port 2 has a network of hosts.
struct Ring {
    routers: Vec<(Control, Card)>,
    now: Time,
    /// Whether the cable from a router to the next is whole.
    cables: Vec<bool>,
}

impl Ring {
    fn new(count: usize) -> Ring {
        let router = |number: usize| {
            let before = (number + count - 1) % count;
            let cpuhw = format!(
                "eth0 10.0.{number}.1 255.255.255.0 2:0:0:0:{number}:0\n\
                 eth1 10.0.{before}.2 255.255.255.0 2:0:0:0:{number}:1\n\
                 eth2 10.1.{number}.1 255.255.255.0 2:0:0:0:{number}:2\n"
            );
            let interfaces = cpuhw::read("cpuhw", &cpuhw).unwrap();
            // The first router is the way out.
            let rtable = if number == 0 {
                "0.0.0.0 10.1.0.9 0.0.0.0 eth2"
            } else {
                ""
            };
            let routes = rtable::read("rtable", rtable, &interfaces).unwrap();
            let control = Control::new(Config::new(interfaces, routes)).unwrap();
            (control, Card::new(3))
        };
        Ring {
            routers: (0..count).map(router).collect(),
            now: Time::ZERO,
            cables: vec![true; count],
        }
    }

    fn advance(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            self.exchange();
            let timeouts = self
                .routers
                .iter()
                .filter_map(|(control, _)| control.next_timeout());
            let Some(next) = timeouts.min().filter(|at| *at <= end) else {
                break;
            };
            self.now = next.max(self.now);
            for (control, card) in &mut self.routers {
                control.handle_timeout(self.now, card);
            }
        }
        self.now = end;
    }

    /// Carries frames until none is left.
    fn exchange(&mut self) {
        let count = self.routers.len();
        loop {
            let mut frames = Vec::new();
            for (number, (control, _)) in self.routers.iter_mut().enumerate() {
                while let Some((port, frame)) = control.poll_transmit() {
                    frames.push((number, port, frame));
                }
            }
            if frames.is_empty() {
                return;
            }
            for (number, port, frame) in frames {
                let (to, port, cable) = match port {
                    0 => ((number + 1) % count, 1, number),
                    1 => (
                        (number + count - 1) % count,
                        0,
                        (number + count - 1) % count,
                    ),
                    _ => continue,
                };
                let (control, card) = &mut self.routers[to];
                if self.cables[cable] && card.receive(port, &frame) == Verdict::Software {
                    control.receive(self.now, port, &frame, card);
                }
            }
        }
    }

    /// The gateway of a router's card to a network of hosts.
    fn gateway(&self, of: usize, network: [u8; 4]) -> Option<Ipv4Addr> {
        let routes = &self.routers[of].1.routes;
        let found = routes
            .iter()
            .find(|route| route.network.octets() == network);
        found.map(|route| route.next_hop)
    }
}

#[test]
fn a_ring_learns_and_relearns() {
    let mut ring = Ring::new(3);
    ring.advance(Span::from_secs(11));
    assert_eq!(
        ring.gateway(0, [10, 1, 1, 0]),
        Some(Ipv4Addr::new(10, 0, 0, 2))
    );
    assert_eq!(
        ring.gateway(1, [10, 1, 0, 0]),
        Some(Ipv4Addr::new(10, 0, 0, 1))
    );
    assert_eq!(
        ring.gateway(1, [0, 0, 0, 0]),
        Some(Ipv4Addr::new(10, 0, 0, 1))
    );
    assert_eq!(
        ring.gateway(2, [0, 0, 0, 0]),
        Some(Ipv4Addr::new(10, 0, 2, 2))
    );
    ring.cables[0] = false;
    ring.advance(Span::from_secs(16));
    assert_eq!(
        ring.gateway(0, [10, 1, 1, 0]),
        Some(Ipv4Addr::new(10, 0, 2, 1))
    );
    assert_eq!(
        ring.gateway(1, [0, 0, 0, 0]),
        Some(Ipv4Addr::new(10, 0, 1, 2))
    );
}

#[test]
fn commands_reach_the_protocol() {
    let mut ring = Ring::new(3);
    ring.advance(Span::from_secs(11));
    let now = ring.now;
    let mut cli = |line: &str| {
        let (control, card) = &mut ring.routers[1];
        control.command(now, line, card).to_string()
    };
    let neighbours = cli("show pwospf iface");
    assert!(
        neighbours.contains("eth0       10.0.2.1   10.0.1.2"),
        "{neighbours}"
    );
    assert!(
        neighbours.contains("eth1       10.0.0.1   10.0.0.1"),
        "{neighbours}"
    );
    assert!(cli("show pwospf router").contains("10.1.0.0"));
    assert!(cli("show ip route").contains("10.1.0.0  255.255.255.0  10.0.0.1  eth1       pwospf"));
    assert_eq!(cli("ip interface eth1 down"), "eth1 is down");
    assert!(!cli("show pwospf iface").contains("eth1"));
    assert_eq!(cli("set aid 7"), "the area is 0.0.0.7");
    assert!(cli("show pwospf info").contains("area: 0.0.0.7"));
    assert!(cli("set hello interval 70000").contains("SECONDS"));
    assert!(!cli("show pwospf iface").contains("10.0.2.1"));
    ring.advance(Span::from_secs(5));
    // Alone in its area, it learns nothing.
    assert_eq!(ring.gateway(1, [10, 1, 0, 0]), None);
}

#[test]
fn a_static_route_is_better_than_a_learned_one() {
    let mut ring = Ring::new(3);
    ring.advance(Span::from_secs(11));
    let (control, card) = &mut ring.routers[1];
    control.command(
        ring.now,
        "ip route add 10.1.0.0 10.0.1.2 255.255.255.0 eth0",
        card,
    );
    assert_eq!(
        ring.gateway(1, [10, 1, 0, 0]),
        Some(Ipv4Addr::new(10, 0, 1, 2))
    );
    let (control, card) = &mut ring.routers[1];
    control.command(ring.now, "ip route del 10.1.0.0 255.255.255.0", card);
    assert_eq!(
        ring.gateway(1, [10, 1, 0, 0]),
        Some(Ipv4Addr::new(10, 0, 0, 1))
    );
}

#[test]
fn a_learned_route_that_no_static_one_might_be_is_refused() {
    let config = config();
    let mut router = Router::new(Config::new(config.interfaces, config.routes));
    let id = ip("9.9.9.9");
    let send = |router: &mut Router, destination, payload: &[u8]| {
        router.arrive(
            1,
            &from_host(1, &packet(host(1), destination, 89, 1, payload)),
        );
        router.advance(Span::from_ms(200));
    };
    send(&mut router, ip("224.0.0.5"), &hello(id, MASK, 5));
    let adverts = [
        (ip("10.0.1.0"), MASK, own(0)),
        (ip("50.0.0.0"), ip("255.0.255.0"), NOBODY),
        (ip("60.0.0.0"), ip("255.0.0.0"), NOBODY),
        (ip("224.0.0.0"), ip("255.0.0.0"), NOBODY),
    ];
    send(&mut router, own(1), &lsu(id, 1, 64, &adverts));
    let learned: Vec<_> = router.card.routes.iter().skip(4).collect();
    let networks: Vec<_> = learned
        .iter()
        .map(|route| route.network.octets()[0])
        .collect();
    assert_eq!(networks, [20, 60]);
    assert_eq!((learned[1].next_hop, learned[1].port), (host(1), 1));
    let refused = ("learned_routes_refused", 2);
    assert!(router.control.counters().contains(&refused));
}
