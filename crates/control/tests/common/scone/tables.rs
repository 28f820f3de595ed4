//! Commands and files, and what stands in the tables because of them.

use super::super::frames::{self, echo, from_host, ip, udp};
use super::super::{host, host_mac, own, own_mac};
use super::{Bench, NOWHERE, assert_error};
use std::net::Ipv4Addr;
use trammel_control::Route;
use trammel_core::{Span, Time};

pub fn ip_rtableadd(router: &mut impl Bench) {
    router.know_hosts();
    let frame = udp(0, NOWHERE, 64);
    router.arrive(0, &frame);
    assert_error(&router.take_one(), 0, (3, 6), &frame);
    let line = "ip route add 30.0.0.0 10.0.2.2 255.0.0.0 eth2";
    assert_eq!(
        router.cli(line).1,
        "30.0.0.0 mask 255.0.0.0 goes to 10.0.2.2 by eth2"
    );
    router.arrive(0, &frame);
    let (port, forwarded) = router.take_one();
    assert_eq!((port, forwarded.to), (2, host_mac(2)));
    assert!(router.cli("ip route del 30.0.0.0 255.0.0.0").0);
    router.arrive(0, &frame);
    assert_error(&router.take_one(), 0, (3, 6), &frame);
    router.assert_software(&[("no_route", 2), ("icmp_errors_sent", 2)]);
    router.assert_card(&[("lpm_num_misses", 2), ("num_pkts_forwarded", 1)]);
}

/// Of 100 packets each from port 0 to port 1 and back, those that leave.
fn crossing(router: &mut impl Bench) -> usize {
    for _ in 0..100 {
        router.arrive(0, &udp(0, host(1), 64));
        router.arrive(1, &udp(1, host(0), 64));
    }
    let sent = router.take();
    sent.iter()
        .filter(|(_, frame)| frame.packet().protocol == 17)
        .count()
}

pub fn disabled_interfaces(router: &mut impl Bench) {
    router.know_hosts();
    assert_eq!(crossing(router), 200);
    assert!(router.cli("ip interface eth1 down").0);
    assert_eq!(crossing(router), 0);
    // What reaches the software all the same is dropped there.
    let past = u64::from(router.punt(1, &echo(1, own(1), 64)));
    assert_eq!(router.take(), []);
    // From port 0 the network of port 1 is unknown; nothing is taken from port 1.
    router.assert_software(&[
        ("no_route", 100),
        ("icmp_errors_sent", 100),
        ("dropped_interface_down", past),
    ]);
    let card = [("num_pkts_forwarded", 200), ("lpm_num_misses", 100)];
    router.assert_card_and_ports(&card, &[(1, 100)]);
}

pub fn interface_downtoup(router: &mut impl Bench) {
    router.know_hosts();
    assert!(router.cli("ip interface eth1 down").0);
    assert!(router.cli("ip interface eth1 up").0);
    assert_eq!(crossing(router), 200);
    router.assert_software(&[]);
    router.assert_card(&[("num_pkts_forwarded", 200)]);
}

pub fn send_receive(router: &mut impl Bench) {
    router.know_hosts();
    let travel = Span::from_us(250);
    for port in 0..4 {
        for _ in 0..20 {
            router.ask(&format!("sping {}", host(port)));
            let (_, left, frame) = router.next();
            assert_eq!((left, frame.to), (port, host_mac(port)));
            let mut message = frame.packet().payload.clone();
            message = frames::icmp(0, 0, &message[4..]);
            router.advance(travel);
            router.arrive(
                port,
                &from_host(port, &ip(host(port), own(port), 1, 61, &message)),
            );
            let answer = router.answer();
            let wanted = format!("{} answered after ", host(port));
            assert!(
                answer.starts_with(&wanted) && answer.ends_with("\nttl: 61"),
                "{answer}"
            );
            let us = answer
                .lines()
                .nth(1)
                .and_then(|line| line.strip_prefix("round trip us: "));
            let us: f64 = us.and_then(|us| us.parse().ok()).expect("a time");
            router.assert_at(Time::from_us(us as u64), Time::ZERO + travel);
        }
    }
    assert_eq!(router.take(), []);
    router.assert_software(&[("icmp_echo_replies", 80)]);
    router.assert_card(&[("num_filtered_pkts", 80)]);
}

pub fn ip_set(router: &mut impl Bench) {
    let all_routers = Ipv4Addr::new(224, 0, 0, 5);
    assert_eq!(
        router.own_addresses(),
        [own(0), own(1), own(2), own(3), all_routers]
    );
    let address = Ipv4Addr::new(10, 9, 9, 9);
    assert!(router.cli("ip interface eth3 10.9.9.9 255.255.0.0").0);
    assert_eq!(
        router.own_addresses(),
        [own(0), own(1), own(2), address, all_routers]
    );
    assert!(router.cli("ip interface eth0 down").0);
    assert_eq!(
        router.own_addresses(),
        [own(1), own(2), address, all_routers]
    );
    let shown = router.cli("show hw iface").1;
    assert!(shown.ends_with("0      10.0.1.1\n1      10.0.2.1\n2      10.9.9.9\n3      224.0.0.5"));
}

pub fn mac_set(router: &mut impl Bench) {
    for port in 0..4 {
        assert_eq!(router.mac(port), own_mac(port));
        assert!(router.is_up(port));
    }
}

pub fn rtable_set(router: &mut impl Bench) {
    let connected = |port: usize| Route {
        network: Ipv4Addr::new(10, 0, port as u8, 0),
        mask: Ipv4Addr::new(255, 255, 255, 0),
        next_hop: Ipv4Addr::UNSPECIFIED,
        port,
    };
    let file = Route {
        network: Ipv4Addr::new(20, 0, 0, 0),
        mask: Ipv4Addr::new(255, 0, 0, 0),
        next_hop: host(1),
        port: 1,
    };
    let all = [connected(0), connected(1), connected(2), connected(3), file];
    assert_eq!(router.routes(), all);
    router.cli("ip route add 0.0.0.0 10.0.3.2 0.0.0.0 eth3");
    router.cli("ip route add 20.1.0.0 10.0.2.2 255.255.0.0 eth2");
    let masks: Vec<_> = router
        .routes()
        .iter()
        .map(|route| route.mask.octets())
        .collect();
    let [c, b, a, none] = [[255, 255, 255, 0], [255, 255, 0, 0], [255, 0, 0, 0], [0; 4]];
    assert_eq!(masks, [c, c, c, c, b, a, none]);
}
