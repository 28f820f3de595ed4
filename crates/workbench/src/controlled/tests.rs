//! Control software over a router's own tables: routes by hand, and by PW-OSPF.

use super::*;
use std::net::Ipv4Addr;
use trammel_control::config::cpuhw;
use trammel_control::pwospf;
use trammel_control::{Dataplane, Neighbour, Route};

/// Two routers in a row: `10.0.A.1` on port 0 to hosts, `10.0.9.A` on port 1 to the other.
fn router(number: u8, speaks: bool) -> ControlledRouter {
    let text = format!(
        "eth0 10.0.{number}.1 255.255.255.0 2:0:0:0:{number}:1\n\
         eth1 10.0.9.{number} 255.255.255.0 2:0:0:0:{number}:2\n"
    );
    let interfaces = cpuhw::read("cpuhw", &text).unwrap();
    let router_id = interfaces[0].address;
    let mut config = Config::new(interfaces, Vec::new());
    config.pwospf = speaks.then(|| pwospf::Config::new(router_id, Vec::new()));
    ControlledRouter::new(config).unwrap()
}

/// A UDP packet of 18 bytes from a host at `10.0.from.5`.
fn packet(from: u8, to: [u8; 4], ttl: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, from, 1, 2, 0, 0, 0, from, 5, 8, 0];
    frame.extend([0x45, 0, 0, 46, 0, 0, 0, 0, ttl, 17, 0, 0, 10, 0, from, 5]);
    frame.extend(to);
    frame.extend([0; 26]);
    crate::frames::mend(&mut frame);
    frame
}

/// What answers a request of ARP from `10.0.from.5`.
fn arp_reply(request: &[u8]) -> Vec<u8> {
    let (sender, target) = (&request[22..32], &request[38..42]);
    let mac = [2, 0, 0, 0, target[2], 5];
    let mut reply = [&sender[..6], &mac, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2], &mac].concat();
    reply.extend_from_slice(target);
    reply.extend_from_slice(sender);
    reply.resize(60, 0);
    reply
}

fn is_arp_request(frame: &[u8]) -> bool {
    frame[12..14] == [8, 6] && frame[20..22] == [0, 1]
}

/// Two routers joined at port 1; hosts answer ARP at port 0. What leaves for hosts otherwise.
struct Pair {
    routers: [ControlledRouter; 2],
    now: Time,
    arrived: Vec<(usize, Vec<u8>)>,
}

impl Pair {
    fn new(speak: bool) -> Pair {
        Pair {
            routers: [1, 2].map(|number| router(number, speak)),
            now: Time::ZERO,
            arrived: Vec::new(),
        }
    }

    fn run(&mut self, until: Time) {
        while self.now < until {
            let next = self
                .routers
                .iter_mut()
                .filter_map(ControlledRouter::next_at);
            self.now = next.min().unwrap_or(until).max(self.now).min(until);
            for at in 0..2 {
                self.routers[at].advance(self.now);
                while let Some((port, out, frame)) = self.routers[at].take() {
                    if port == 1 {
                        self.routers[1 - at].give(1, out, frame);
                    } else if is_arp_request(&frame) {
                        self.routers[at].give(0, out, arp_reply(&frame));
                    } else {
                        self.arrived.push((at, frame));
                    }
                }
            }
            if self.routers.iter_mut().all(|one| one.next_at().is_none()) {
                self.now = until;
            }
        }
    }

    /// Sends a packet to the hosts of the second router from one of the first.
    fn send(&mut self, ttl: u8) -> Vec<(usize, Vec<u8>)> {
        self.arrived.clear();
        let at = self.now;
        self.routers[0].give(0, at, packet(1, [10, 0, 2, 5], ttl));
        self.run(at + Span::from_ms(100));
        std::mem::take(&mut self.arrived)
            .into_iter()
            .filter(|(_, frame)| frame[12..14] == [8, 0] && frame[30..34] != [224, 0, 0, 5])
            .collect()
    }
}

/// Type and code of an ICMP message.
fn icmp(frame: &[u8]) -> Option<(u8, u8)> {
    (frame[23] == 1).then(|| (frame[34], frame[35]))
}

#[test]
fn static_routes_change_what_a_running_router_forwards() {
    let mut pair = Pair::new(false);
    pair.run(Time::from_ms(1));
    // Without a route the software answers: network unknown.
    let answers = pair.send(64);
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!((answers[0].0, icmp(&answers[0].1)), (0, Some((3, 6))));
    assert!(
        pair.routers[0]
            .command("ip route add 10.0.2.0 10.0.9.2 255.255.255.0 eth1")
            .is_ok()
    );
    let arrived = pair.send(64);
    assert_eq!(arrived.len(), 1, "{arrived:?}");
    let (at, frame) = &arrived[0];
    assert_eq!(
        (*at, &frame[..12]),
        (1, &[2, 0, 0, 0, 2, 5, 2, 0, 0, 0, 2, 1][..])
    );
    assert_eq!((frame[22], icmp(frame)), (62, None));
    // The router forwarded it itself: its software saw nothing but ARP.
    let forwarded = pair.routers[0].command("hw pckts fwd").to_string();
    assert_eq!(forwarded, "num pkts forwarded: 1");
    // TTL 1 is an exception.
    let answers = pair.send(1);
    assert_eq!(
        answers
            .iter()
            .map(|(at, frame)| (*at, icmp(frame)))
            .collect::<Vec<_>>(),
        [(0, Some((11, 0)))]
    );
    assert!(
        pair.routers[0]
            .command("ip route del 10.0.2.0 255.255.255.0")
            .is_ok()
    );
    assert_eq!(icmp(&pair.send(64)[0].1), Some((3, 6)));
}

#[test]
fn pwospf_writes_the_routes_of_a_running_router() {
    let mut pair = Pair::new(true);
    pair.run(Time::from_secs(12));
    let table = pair.routers[0].command("show hw rtable").to_string();
    assert!(
        table.contains("10.0.2.0  255.255.255.0  10.0.9.2"),
        "{table}"
    );
    let arrived = pair.send(64);
    assert_eq!(
        arrived
            .iter()
            .map(|(at, frame)| (*at, icmp(frame)))
            .collect::<Vec<_>>(),
        [(1, None)]
    );
    // The other router goes down at this link: its hosts are out of reach after three HELLOs.
    assert!(pair.routers[1].command("ip interface eth1 down").is_ok());
    let later = pair.now + Span::from_secs(17);
    pair.run(later);
    let answers = pair.send(64);
    assert_eq!(
        answers
            .iter()
            .map(|(at, frame)| (*at, icmp(frame)))
            .collect::<Vec<_>>(),
        [(0, Some((3, 6)))]
    );
}

#[test]
fn tables_are_read_back_from_the_elements() {
    let mut router = router(1, false);
    router.advance(Time::ZERO);
    let macs = router.macs.clone();
    let mut tables = RouterTables::new(router.simulation.router(), &macs);
    let own = [[10, 0, 1, 1], [10, 0, 9, 1], [224, 0, 0, 5]].map(Ipv4Addr::from);
    assert_eq!(tables.own_addresses(), own);
    let route = |third: u8, mask: [u8; 4]| Route {
        network: [20, 0, third, 0].into(),
        mask: mask.into(),
        next_hop: [10, 0, 9, 2].into(),
        port: 1,
    };
    let long = route(1, [255, 255, 255, 0]);
    let default = Route {
        network: Ipv4Addr::UNSPECIFIED,
        mask: Ipv4Addr::UNSPECIFIED,
        ..route(0, [0; 4])
    };
    // The second of a prefix, and a mask that is none, have no place.
    let twice = Route { port: 0, ..long };
    let odd = route(0, [255, 0, 255, 0]);
    assert_eq!(tables.set_routes(&[long, twice, odd, default]), Ok(()));
    assert_eq!(tables.routes(), [long, default]);
    assert_eq!(tables.own_addresses(), own);
    assert_eq!(tables.set_routes(&[]), Ok(()));
    assert_eq!(
        (tables.routes(), tables.own_addresses()),
        (Vec::new(), own.to_vec())
    );
    let all = [1, 2].map(|last| Neighbour {
        address: [10, 0, 9, last + 1].into(),
        mac: [2, 0, 0, 0, 9, last],
    });
    assert_eq!(tables.set_neighbours(&all), Ok(()));
    assert_eq!(tables.neighbours(), all);
    assert_eq!(tables.set_neighbours(&all[1..]), Ok(()));
    assert_eq!(tables.neighbours(), all[1..]);
    assert_eq!(
        (tables.ports(), tables.mac(1), tables.mac(7)),
        (2, macs[1], [0; 6])
    );
}
