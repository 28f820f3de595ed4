//! Four defects of SCONE, the original software, that this one does not have.

mod ospf;

use ospf::{Bench, MASK, NOBODY, hello, ip, lsu, peer, peer_lsu};
use trammel_control::network::{Change, Network, Settings, Topology};
use trammel_control::pwospf::Refusal;
use trammel_core::{Span, Time};

/// There, the test compares an address in host order with one in network order.
#[test]
fn own_id_is_told_from_its_mirror_image() {
    let mut bench = Bench::new();
    bench.hear(0, 2, &hello(ip("10.0.0.1"), MASK, 5));
    bench.refused(&[(Refusal::OwnId, 1)]);
    bench.hear(0, 2, &hello(ip("1.0.0.10"), MASK, 5));
    bench.refused(&[(Refusal::OwnId, 1)]);
    let ids: Vec<_> = bench
        .router
        .neighbours()
        .map(|(_, n)| n.router_id)
        .collect();
    assert_eq!(ids, [ip("1.0.0.10")]);
}

/// There, 0 after 65,535 is old.
#[test]
fn sequence_wraps_around() {
    let mut bench = Bench::new();
    bench.meet(0);
    for sequence in [65_534, 65_535, 0, 1] {
        bench.run(Span::from_secs(1));
        let network = ip(&format!("10.9.{}.0", sequence % 256));
        bench.hear(0, 2, &peer_lsu(0, sequence, &[(network, MASK, NOBODY)]));
        bench.run(Span::from_secs(1));
        let routes = bench.router.routes().iter();
        assert_eq!(
            routes.filter(|r| r.network == network).count(),
            1,
            "{sequence}"
        );
    }
    bench.refused(&[]);
    bench.hear(0, 2, &peer_lsu(0, 65_535, &[]));
    bench.refused(&[(Refusal::StaleSequence, 1)]);
}

/// The own number wraps as well.
#[test]
fn own_sequence_wraps_around() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.run(Span::from_secs(1));
    // Numbers are set ahead by an update from "before a restart", twice by less than half.
    for sequence in [32_000, 64_000, 65_534] {
        bench.hear(0, 2, &lsu(ip("10.0.0.1"), sequence, 64, &[]));
        bench.run(Span::from_secs(1));
        let own = bench.router.database(bench.now).next().expect("its own");
        assert_eq!(own.sequence, sequence + 1);
    }
    bench.router.send_lsu(bench.now);
    bench.run(Span::from_secs(1));
    let own = bench.router.database(bench.now).next().expect("its own");
    assert_eq!(own.sequence, 0);
    assert_eq!(bench.router.counters().sequence_jumps, 3);
    bench.refused(&[]);
}

/// There, a router that restarted is ignored until its old entry ages out, 90 s later.
#[test]
fn restarted_router_is_heard_at_once() {
    // Ten minutes bring the sequence to some 20. The router is away for less than the dead
    // interval, so that no neighbour notices.
    let changes = [
        (Time::from_secs(601), Change::RouterDown(1)),
        (Time::from_secs(603), Change::RouterUp(1)),
    ];
    let mut network = Network::new(Topology::ring(5), Settings::default(), &changes);
    network.run_until(Time::from_secs(603));
    let old = network.router(0).expect("it lives");
    let of_r1 =
        |entry: &trammel_control::pwospf::DatabaseEntry<'_>| entry.router_id == ip("10.0.1.1");
    let before = old
        .database(Time::from_secs(603))
        .find(of_r1)
        .expect("an entry")
        .sequence;
    assert!(before > 20, "{before}");
    network.run_until(Time::from_secs(609));
    let router = network.router(1).expect("it lives");
    assert_eq!(router.counters().sequence_jumps, 1);
    assert_eq!(router.database(Time::from_secs(609)).count(), 5);
    for other in [0, 2, 3, 4] {
        let other = network.router(other).expect("it lives");
        let entry = other
            .database(Time::from_secs(609))
            .find(of_r1)
            .expect("an entry");
        assert!(entry.sequence > before && entry.sequence < before + 5);
        assert_eq!(entry.adverts.len(), 3);
    }
    let report = network.into_report();
    let restart = &report.episodes[2];
    assert!(
        restart
            .restored
            .is_some_and(|span| span <= Span::from_secs(5)),
        "{report}"
    );
}

/// There, a HELLO with a wrong mask leaves with the lock held, and the router hangs.
#[test]
fn wrong_mask_leaves_the_interface_in_order() {
    let mut bench = Bench::new();
    bench.hear(0, 2, &hello(peer(0), ip("255.255.0.0"), 5));
    bench.meet(0);
    bench.meet(1);
    assert_eq!(bench.router.neighbours().count(), 2);
    bench.run(Span::from_secs(6));
    // Three at the start, two answers after a second, and the third interface's and theirs.
    assert_eq!(bench.router.counters().hellos_sent, 8);
    bench.refused(&[(Refusal::Mask, 1)]);
}

/// There, the subnet of a new advert is masked with itself.
#[test]
fn subnet_of_an_advert_is_masked_with_its_mask() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.hear(0, 2, &peer_lsu(0, 1, &[(ip("10.9.8.77"), MASK, NOBODY)]));
    bench.run(Span::from_secs(1));
    let route = bench
        .router
        .routes()
        .iter()
        .find(|r| r.hops == 1 && r.network.octets()[1] == 9);
    assert_eq!(route.expect("a route").network, ip("10.9.8.0"));
    let entry = bench.router.database(bench.now).nth(1).expect("the peer's");
    assert!(
        entry
            .adverts
            .iter()
            .any(|advert| advert.network == ip("10.9.8.0"))
    );
    bench.refused(&[]);
}
