//! ARP: answers, requests, packets that wait, and next hops that do not answer.

use super::super::frames::{ALL, Body, Frame, arp, echo, udp};
use super::super::{host, host_mac, own, own_mac};
use super::{Bench, FAR, NOBODY, NOWHERE, answer, assert_error, request};
use std::net::Ipv4Addr;

pub fn arp_req(router: &mut impl Bench) {
    router.arrive(0, &arp(ALL, 1, (host_mac(0), host(0)), (NOBODY, own(0))));
    let body = Body::Arp {
        op: 2,
        sender: (own_mac(0), own(0)),
        target: (host_mac(0), host(0)),
    };
    let (to, from) = (host_mac(0), own_mac(0));
    assert_eq!(router.take(), [(0, Frame { to, from, body })]);
    router.arrive(0, &arp(ALL, 1, (host_mac(0), host(0)), (NOBODY, own(1))));
    assert_eq!(router.take(), []);
    let sent = ("arp_replies_sent", 1);
    router.assert_software(&[("arp_requests", 1), ("arp_for_others", 1), sent]);
    router.assert_card(&[("num_non_ip_rcvd", 2)]);
    // The one who asks will be answered: its address is known.
    assert_eq!(router.neighbours()[0].mac, host_mac(0));
}

pub fn arp_rpl(router: &mut impl Bench) {
    router.arrive(0, &echo(0, host(1), 64));
    assert_eq!(router.take(), [request(1, host(1))]);
    router.arrive(1, &answer(1));
    let (port, frame) = router.take_one();
    assert_eq!((port, frame.to, frame.from), (1, host_mac(1), own_mac(1)));
    assert_eq!(
        (frame.packet().destination, frame.packet().ttl),
        (host(1), 63)
    );
    // The card has the entry now.
    router.arrive(0, &echo(0, host(1), 64));
    assert_eq!(router.take_one().1, frame);
    router.assert_software(&[
        ("forwarded", 1),
        ("arp_replies", 1),
        ("arp_requests_sent", 1),
    ]);
    let card = [
        ("arp_num_misses", 1),
        ("num_non_ip_rcvd", 1),
        ("num_pkts_forwarded", 1),
    ];
    router.assert_card(&card);
}

/// `frame` arrives at port 0, and its next hop `absent` on `port` does not answer: a request each
/// interval, five in all, and then host unreachable.
fn unanswered(router: &mut impl Bench, port: usize, absent: Ipv4Addr, frame: &[u8]) {
    let (began, interval) = (router.now(), router.arp_interval());
    router.arrive(0, frame);
    for count in 0..5 {
        let (at, left, asked) = router.next();
        assert_eq!((left, asked), request(port, absent), "request {count}");
        router.assert_at(at, began + interval * count);
    }
    let (at, left, error) = router.next();
    assert_error(&(left, error), 0, (3, 1), frame);
    router.assert_at(at, began + interval * 5);
    router.advance(interval * 3);
    assert_eq!(router.take(), []);
}

pub fn arp_norpl(router: &mut impl Bench) {
    // The sender is known, so that the error reaches it.
    router.arrive(0, &arp(ALL, 1, (host_mac(0), host(0)), (NOBODY, own(0))));
    router.take();
    let frame = udp(0, host(1), 64);
    unanswered(router, 1, host(1), &frame);
    router.assert_software(&[
        ("arp_requests", 1),
        ("arp_replies_sent", 1),
        ("forwarded", 1),
        ("arp_requests_sent", 5),
        ("arp_unresolved", 1),
        ("icmp_errors_sent", 1),
    ]);
}

pub fn arp_quepkt(router: &mut impl Bench) {
    let sent: Vec<_> = (0..20).map(|ttl| udp(0, FAR, 40 + ttl)).collect();
    for frame in &sent {
        router.arrive(0, frame);
    }
    assert_eq!(router.take(), [request(1, host(1))]);
    let (_, port, frame) = router.next();
    assert_eq!((port, frame), request(1, host(1)));
    router.arrive(1, &answer(1));
    let ttls: Vec<_> = router
        .take()
        .iter()
        .map(|(_, frame)| frame.packet().ttl)
        .collect();
    assert_eq!(ttls, (39..59).collect::<Vec<_>>());
    router.assert_software(&[
        ("forwarded", 20),
        ("arp_replies", 1),
        ("arp_requests_sent", 2),
    ]);
}

pub fn ip_rtablemiss(router: &mut impl Bench) {
    router.know_hosts();
    // No entry of the table of routes: net unknown.
    let frame = udp(0, NOWHERE, 64);
    router.arrive(0, &frame);
    assert_error(&router.take_one(), 0, (3, 6), &frame);
    // A route, and a host that does not answer: five requests, then host unreachable.
    let absent = Ipv4Addr::new(10, 0, 2, 99);
    unanswered(router, 2, absent, &udp(0, absent, 64));
    router.assert_software(&[
        ("no_route", 1),
        ("forwarded", 1),
        ("arp_requests_sent", 5),
        ("arp_unresolved", 1),
        ("icmp_errors_sent", 2),
    ]);
    router.assert_card(&[("lpm_num_misses", 1), ("arp_num_misses", 1)]);
}
