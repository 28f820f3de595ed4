//! One router: neighbours, limits, settings that change.

mod ospf;

use ospf::{Bench, MASK, NOBODY, config, hello, ip, lsu, peer, subnet};
use std::net::Ipv4Addr;
use trammel_control::pwospf::{Config, Limits, Refusal};
use trammel_core::{Span, Time};

#[test]
fn an_interface_has_several_neighbours_and_an_advert_for_each() {
    let mut bench = Bench::new();
    for host in [4, 2, 3] {
        bench.hear(0, host, &hello(Ipv4Addr::new(10, 1, 0, host), MASK, 5));
    }
    bench.run(Span::from_ms(10));
    let own = bench.router.database(bench.now).next().expect("its own");
    let adverts: Vec<_> = own
        .adverts
        .iter()
        .map(|a| (a.network, a.router_id))
        .collect();
    let id = |host| Ipv4Addr::new(10, 1, 0, host);
    let mut expected: Vec<_> = (2..5).map(|host| (subnet(0), id(host))).collect();
    expected.extend([(subnet(1), NOBODY), (subnet(2), NOBODY)]);
    assert_eq!(adverts, expected);
    // Each got its update, and one made for all.
    let receivers = bench
        .lsus()
        .into_iter()
        .filter(|(at, _)| *at == Time::from_ms(10));
    let receivers: Vec<_> = receivers.map(|(_, packet)| packet.destination).collect();
    assert_eq!(receivers, [ip("10.0.0.2"), ip("10.0.0.3"), ip("10.0.0.4")]);
    bench.refused(&[]);
}

#[test]
fn a_new_neighbour_is_answered_ahead_of_time_once_a_second() {
    let mut bench = Bench::new();
    bench.run(Span::from_ms(300));
    bench.meet(0);
    bench.hear(0, 3, &hello(ip("10.1.0.3"), MASK, 5));
    bench.run(Span::from_ms(5700));
    let hellos = bench
        .sent
        .iter()
        .filter(|(_, p)| p.payload[1] == 1 && p.interface == 0);
    let at: Vec<_> = hellos.map(|(at, _)| *at).collect();
    assert_eq!(at, [Time::ZERO, Time::from_secs(1), Time::from_secs(6)]);
}

#[test]
fn a_full_database_and_a_full_interface_refuse_and_keep_what_they_have() {
    let limits = Limits {
        routers: 2,
        neighbours: 1,
        ..Limits::default()
    };
    let mut bench = Bench::with(Config { limits, ..config() });
    bench.meet(0);
    bench.hear(0, 3, &hello(ip("10.1.0.3"), MASK, 5));
    for last in 1..=3 {
        bench.hear(0, 2, &lsu(Ipv4Addr::new(10, 2, 0, last), 1, 64, &[]));
    }
    bench.hear(0, 2, &lsu(ip("10.2.0.1"), 2, 64, &[]));
    assert_eq!(bench.router.neighbours().count(), 1);
    assert_eq!(bench.router.database(bench.now).count(), 3);
    bench.refused(&[(Refusal::TooManyNeighbours, 1), (Refusal::DatabaseFull, 1)]);
}

#[test]
fn intervals_change_while_the_router_runs() {
    let mut bench = Bench::new();
    bench
        .router
        .set_hello_interval(bench.now, Span::from_secs(10))
        .expect("right");
    bench
        .router
        .set_lsu_interval(Span::from_secs(7))
        .expect("right");
    bench.meet(0);
    bench.hear(0, 2, &hello(peer(0), MASK, 10));
    bench.refused(&[(Refusal::HelloInterval, 1)]);
    bench.run(Span::from_secs(29));
    let hellos = bench
        .sent
        .iter()
        .filter(|(_, p)| p.payload[1] == 1 && p.interface == 1);
    let at: Vec<_> = hellos.map(|(at, p)| (*at, p.payload[29])).collect();
    let s = Time::from_secs;
    assert_eq!(at, [(s(0), 5), (s(0), 10), (s(10), 10), (s(20), 10)]);
    let lsus: Vec<_> = bench.lsus().into_iter().map(|(at, _)| at).collect();
    assert_eq!(lsus, [10, 7010, 14_010, 21_010, 28_010].map(Time::from_ms));
    let wrong = bench.router.set_hello_interval(bench.now, Span::from_ms(1));
    assert!(wrong.is_err() && bench.router.config().hello_interval == Span::from_secs(10));
}

#[test]
fn updates_can_be_switched_off_and_sent_on_request() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.run(Span::from_secs(2));
    bench.lsus();
    bench.router.set_lsu_broadcast(bench.now, false);
    bench.router.send_lsu(bench.now);
    bench.meet(1);
    for _ in 0..20 {
        bench.run(Span::from_secs(5));
        bench.meet(0);
    }
    assert_eq!(bench.lsus(), []);
    bench.router.set_lsu_broadcast(bench.now, true);
    bench.run(Span::from_secs(2));
    assert_eq!(bench.lsus().len(), 1);
    bench.router.send_lsu(bench.now);
    bench.router.send_hello(bench.now);
    bench.run(Span::from_ms(10));
    let kinds: Vec<_> = bench.sent.iter().map(|(_, p)| p.payload[1]).collect();
    assert_eq!(kinds[kinds.len() - 4..], [1, 1, 1, 4]);
    bench.refused(&[]);
}

#[test]
fn an_address_can_change() {
    let mut bench = Bench::new();
    bench.meet(0);
    let address = ip("10.77.0.1");
    bench
        .router
        .set_interface_address(bench.now, 0, address, MASK)
        .expect("it exists");
    bench.run(Span::from_secs(1));
    assert_eq!(bench.router.neighbours().count(), 0);
    assert!(
        bench
            .router
            .routes()
            .iter()
            .any(|r| r.network == ip("10.77.0.0"))
    );
    bench
        .router
        .receive(bench.now, 0, ip("10.77.0.2"), &hello(peer(0), MASK, 5));
    assert_eq!(bench.router.neighbours().count(), 1);
    bench.refused(&[]);
}

#[test]
fn nothing_leaves_by_an_interface_that_went_down() {
    let mut bench = Bench::new();
    bench.router.send_hello(bench.now);
    let down = bench.router.set_interface_up(bench.now, 1, false);
    down.expect("it exists");
    bench.sent.clear();
    bench.run(Span::from_secs(20));
    let by: Vec<_> = bench.sent.iter().map(|(_, p)| p.interface).collect();
    assert!(
        by.contains(&0) && by.contains(&2) && !by.contains(&1),
        "{by:?}"
    );
    bench.refused(&[]);
}
