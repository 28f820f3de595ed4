//! Paths: the both-ends rule, ties, the default route, and what ends a route.

mod ospf;

use ospf::{Bench, MASK, NOBODY, ip, lsu, peer, peer_lsu, subnet};
use std::net::Ipv4Addr;
use trammel_control::pwospf::Refusal;
use trammel_core::Span;

/// Network, next hop, interface and hops of the routes that are not the router's own subnets.
fn learnt(bench: &Bench) -> Vec<(Ipv4Addr, Ipv4Addr, usize, usize)> {
    let routes = bench.router.routes().iter().filter(|route| route.hops > 0);
    routes
        .map(|r| (r.network, r.next_hop, r.interface, r.hops))
        .collect()
}

#[test]
fn own_subnets_are_routes_at_once_and_follow_their_interfaces() {
    let mut bench = Bench::new();
    bench.run(Span::from_ms(10));
    let own = |bench: &Bench| -> Vec<_> {
        let routes = bench.router.routes().iter();
        routes
            .map(|r| (r.network, r.next_hop, r.interface, r.hops))
            .collect()
    };
    let all: Vec<_> = (0..3).map(|i| (subnet(i), NOBODY, i, 0)).collect();
    assert_eq!(own(&bench), all);
    let generation = bench.router.generation();
    bench
        .router
        .set_interface_up(bench.now, 1, false)
        .expect("it exists");
    bench.run(Span::from_secs(1));
    assert_eq!(own(&bench), [all[0], all[2]]);
    assert_eq!(bench.router.generation(), generation + 1);
}

#[test]
fn dead_neighbour_is_noticed_after_three_intervals() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.hear(0, 2, &peer_lsu(0, 1, &[(ip("10.9.0.0"), MASK, NOBODY)]));
    bench.run(Span::from_ms(14_999));
    assert_eq!(bench.router.neighbours().count(), 1);
    assert_eq!(learnt(&bench), [(ip("10.9.0.0"), ip("10.0.0.2"), 0, 1)]);
    bench.run(Span::from_ms(1));
    assert_eq!(bench.router.neighbours().count(), 0);
    bench.run(Span::from_ms(100));
    assert_eq!(learnt(&bench), []);
    assert_eq!(bench.router.counters().neighbours_lost, 1);
    bench.refused(&[]);
}

#[test]
fn a_link_counts_if_both_ends_advertise_it() {
    let far = ip("10.2.0.1");
    let link = ip("10.8.0.0");
    let mut bench = Bench::new();
    bench.meet(0);
    // The peer does not say that it hears the router.
    bench.hear(
        0,
        2,
        &lsu(peer(0), 1, 64, &[(ip("10.9.0.0"), MASK, NOBODY)]),
    );
    bench.run(Span::from_secs(1));
    assert_eq!(learnt(&bench), []);
    // It does, and has a link to another router, which does not say so.
    bench.hear(0, 2, &peer_lsu(0, 2, &[(link, MASK, far)]));
    bench.hear(0, 2, &lsu(far, 1, 64, &[(ip("10.9.1.0"), MASK, NOBODY)]));
    bench.run(Span::from_secs(1));
    let to = |network, hops| (network, ip("10.0.0.2"), 0, hops);
    assert_eq!(learnt(&bench), [to(link, 1)]);
    // It says so, of another subnet.
    let other = [(ip("10.7.0.0"), MASK, peer(0))];
    bench.hear(0, 2, &lsu(far, 2, 64, &other));
    bench.run(Span::from_secs(1));
    assert_eq!(learnt(&bench), [to(link, 1)]);
    // It says so of the same.
    let both = [(link, MASK, peer(0)), (ip("10.9.1.0"), MASK, NOBODY)];
    bench.hear(0, 2, &lsu(far, 3, 64, &both));
    bench.run(Span::from_secs(1));
    assert_eq!(learnt(&bench), [to(link, 1), to(ip("10.9.1.0"), 2)]);
    bench.refused(&[]);
}

#[test]
fn nearest_router_has_the_subnet_and_ties_go_to_the_lowest_id() {
    let shared = (ip("10.9.0.0"), MASK, NOBODY);
    let mut bench = Bench::new();
    for interface in [2, 1, 0] {
        bench.meet(interface);
        bench.hear(interface, 2, &peer_lsu(interface, 1, &[shared]));
        bench.run(Span::from_secs(1));
        let route = (
            shared.0,
            Ipv4Addr::new(10, 0, interface as u8, 2),
            interface,
            1,
        );
        assert_eq!(learnt(&bench), [route]);
    }
    bench.refused(&[]);
}

#[test]
fn default_route_and_masks_in_the_order_of_precedence() {
    let mut bench = Bench::new();
    bench.meet(0);
    let more = [
        (NOBODY, NOBODY, NOBODY),
        (ip("10.0.0.0"), ip("255.0.0.0"), NOBODY),
        (ip("10.9.0.4"), ip("255.255.255.252"), NOBODY),
    ];
    bench.hear(0, 2, &peer_lsu(0, 1, &more));
    bench.run(Span::from_secs(1));
    let networks: Vec<_> = bench
        .router
        .routes()
        .iter()
        .map(|r| (r.network, r.mask))
        .collect();
    let mut expected = vec![(ip("10.9.0.4"), ip("255.255.255.252"))];
    expected.extend((0..3).map(|interface| (subnet(interface), MASK)));
    expected.extend([(ip("10.0.0.0"), ip("255.0.0.0")), (NOBODY, NOBODY)]);
    assert_eq!(networks, expected);
    // Who originates a default route does not follow another's.
    bench.router.set_originated(bench.now, &[(NOBODY, NOBODY)]);
    bench.run(Span::from_secs(1));
    assert!(
        bench
            .router
            .routes()
            .iter()
            .all(|route| route.mask != NOBODY)
    );
    let own = bench.router.database(bench.now).next().expect("its own");
    assert_eq!(
        (own.adverts[0].network, own.adverts[0].mask),
        (NOBODY, NOBODY)
    );
    bench.refused(&[]);
}

#[test]
fn area_change_forgets_the_old_area() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.hear(0, 2, &peer_lsu(0, 1, &[(ip("10.9.0.0"), MASK, NOBODY)]));
    bench.run(Span::from_secs(1));
    bench.router.set_area(bench.now, 5);
    bench.run(Span::from_secs(1));
    assert_eq!(
        (bench.router.neighbours().count(), learnt(&bench)),
        (0, vec![])
    );
    assert_eq!(bench.router.database(bench.now).count(), 1);
    bench.meet(0);
    bench.refused(&[(Refusal::Area, 1)]);
    let (_, last) = bench.sent.pop().expect("a packet");
    assert_eq!(last.payload[8..12], [0, 0, 0, 5]);
}
