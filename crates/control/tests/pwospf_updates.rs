//! Updates: made, passed on, answered, aged.

mod ospf;

use ospf::{Bench, MASK, NOBODY, config, hello, ip, lsu, peer_lsu};
use std::net::Ipv4Addr;
use trammel_control::pwospf::{Config, Limits, Refusal};
use trammel_core::{Span, Time};

#[test]
fn updates_come_each_lsuint_and_after_changes_once_a_second() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.run(Span::from_ms(100));
    bench.meet(1);
    bench.run(Span::from_ms(100));
    bench.meet(2);
    for _ in 0..10 {
        bench.run(Span::from_secs(4));
        (0..3).for_each(|interface| bench.meet(interface));
    }
    let to_first = bench.lsus().into_iter().filter(|(_, p)| p.interface == 0);
    let at: Vec<_> = to_first.map(|(at, _)| at).collect();
    // The second and third neighbour share one update a second after the first; then a refresh.
    let expected = [10, 1010, 31_010].map(Time::from_ms);
    assert_eq!(at, expected);
    bench.refused(&[]);
}

#[test]
fn updates_go_to_all_but_the_sender_with_one_hop_less() {
    let mut bench = Bench::new();
    (0..3).for_each(|interface| bench.meet(interface));
    bench.run(Span::from_secs(2));
    bench.lsus();
    let far = ip("10.2.0.1");
    bench.hear(1, 2, &lsu(far, 9, 64, &[(ip("10.9.0.0"), MASK, NOBODY)]));
    let sent = bench.lsus();
    let to: Vec<_> = sent
        .iter()
        .map(|(_, p)| (p.interface, p.destination))
        .collect();
    assert_eq!(to, [(0, ip("10.0.0.2")), (2, ip("10.0.2.2"))]);
    let expected = lsu(far, 9, 63, &[(ip("10.9.0.0"), MASK, NOBODY)]);
    assert!(
        sent.iter()
            .all(|(_, packet)| packet.payload[..] == expected)
    );
    // The same from another side is a duplicate, and an older one is answered with the newer.
    bench.hear(0, 2, &expected);
    bench.hear(0, 2, &lsu(far, 8, 64, &[]));
    let answer: Vec<_> = bench
        .lsus()
        .into_iter()
        .map(|(_, p)| (p.interface, p.payload))
        .collect();
    assert_eq!(answer, [(0, expected.into())]);
    bench.refused(&[(Refusal::Duplicate, 1), (Refusal::StaleSequence, 1)]);
}

#[test]
fn a_sender_with_two_links_gets_no_copy_by_the_other() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.meet(1);
    bench.hear(2, 2, &hello(ip("10.1.0.1"), MASK, 5));
    bench.run(Span::from_secs(2));
    bench.lsus();
    bench.hear(0, 2, &lsu(ip("10.2.0.1"), 9, 64, &[]));
    let to: Vec<_> = (bench.lsus().iter()).map(|(_, p)| p.destination).collect();
    assert_eq!(to, [ip("10.0.1.2")]);
    // The own update goes by both.
    bench.router.send_lsu(bench.now);
    bench.run(Span::from_secs(1));
    assert_eq!(bench.lsus().len(), 3);
    bench.refused(&[]);
}

#[test]
fn last_hop_keeps_an_update_for_itself() {
    let mut bench = Bench::new();
    (0..3).for_each(|interface| bench.meet(interface));
    bench.run(Span::from_secs(2));
    bench.lsus();
    bench.hear(1, 2, &lsu(ip("10.2.0.1"), 9, 1, &[]));
    assert_eq!(bench.lsus(), []);
    assert_eq!(bench.router.database(bench.now).count(), 2);
    assert_eq!(bench.router.counters().lsus_expired, 1);
    bench.refused(&[]);
}

#[test]
fn only_the_newest_of_a_burst_is_passed_on() {
    let mut bench = Bench::new();
    (0..3).for_each(|interface| bench.meet(interface));
    bench.run(Span::from_secs(2));
    bench.lsus();
    let start = bench.now;
    for sequence in 1..=100 {
        bench.hear(1, 2, &lsu(ip("10.2.0.1"), sequence, 64, &[]));
        bench.run(Span::from_ms(1));
    }
    bench.run(Span::from_secs(1));
    let sent: Vec<_> = bench
        .lsus()
        .into_iter()
        .map(|(at, p)| (at - start, p.payload[25]))
        .collect();
    let half = Span::from_ms(500);
    assert_eq!(
        sent,
        [(Span::ZERO, 1), (Span::ZERO, 1), (half, 100), (half, 100)]
    );
    assert_eq!(bench.router.counters().lsus_accepted, 100);
    bench.refused(&[]);
}

#[test]
fn entries_age_out_after_three_lsuints() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.hear(0, 2, &lsu(ip("10.2.0.1"), 9, 64, &[]));
    bench.run(Span::from_ms(89_999));
    assert_eq!(bench.router.database(bench.now).count(), 2);
    bench.run(Span::from_ms(1));
    assert_eq!(bench.router.database(bench.now).count(), 1);
    assert_eq!(bench.router.counters().entries_aged, 1);
    bench.refused(&[]);
}

#[test]
fn a_new_neighbour_gets_no_entry_that_missed_its_refresh() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.hear(0, 2, &lsu(ip("10.2.0.1"), 9, 64, &[]));
    bench.run(Span::from_ms(1));
    bench.hear(0, 2, &lsu(ip("10.2.0.2"), 9, 64, &[]));
    bench.run(Span::from_ms(59_999));
    bench.lsus();
    bench.meet(1);
    let sent = bench
        .lsus()
        .into_iter()
        .map(|(_, p)| p.payload[4..8].to_vec());
    assert_eq!(sent.collect::<Vec<_>>(), [[10, 2, 0, 2]]);
    assert_eq!(bench.router.database(bench.now).count(), 3);
    bench.refused(&[]);
}

#[test]
fn a_new_neighbour_gets_the_database() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.hear(0, 2, &peer_lsu(0, 7, &[]));
    bench.hear(0, 2, &lsu(ip("10.2.0.1"), 9, 64, &[]));
    bench.run(Span::from_secs(2));
    bench.lsus();
    bench.meet(1);
    let sent: Vec<_> = bench.lsus().into_iter().map(|(_, p)| p).collect();
    assert!(
        sent.iter()
            .all(|packet| packet.destination == ip("10.0.1.2"))
    );
    let ids: Vec<_> = sent
        .iter()
        .map(|packet| packet.payload[4..8].to_vec())
        .collect();
    assert_eq!(ids, [[10, 1, 0, 1], [10, 2, 0, 1]]);
    bench.refused(&[]);
}

#[test]
fn adverts_beyond_the_limit_are_cut_and_counted() {
    let limits = Limits {
        adverts: 4,
        ..Limits::default()
    };
    let mut bench = Bench::with(Config { limits, ..config() });
    bench.router.set_originated(bench.now, &[(NOBODY, NOBODY)]);
    for host in 2..4 {
        bench.hear(0, host, &hello(Ipv4Addr::new(10, 1, 0, host), MASK, 5));
    }
    bench.run(Span::from_ms(10));
    let own = bench.router.database(bench.now).next().expect("its own");
    assert_eq!(own.adverts.len(), 4);
    assert_eq!(bench.router.counters().adverts_cut, 1);
}

#[test]
fn own_update_that_comes_back_makes_one_more_and_no_others() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.run(Span::from_secs(2));
    let (_, first) = bench.lsus().pop().expect("an update");
    // It might be the repetition of one from before a restart.
    bench.hear(0, 2, &first.payload);
    bench.run(Span::from_secs(2));
    let (_, own) = bench.lsus().pop().expect("another");
    assert_eq!(own.payload[24..26], [0, 3]);
    bench.hear(0, 2, &own.payload);
    bench.run(Span::from_secs(2));
    assert_eq!(bench.lsus(), []);
    bench.refused(&[(Refusal::OwnLsu, 2)]);
    // An older one is answered with the current.
    bench.hear(0, 2, &lsu(ip("10.0.0.1"), 1, 64, &[]));
    let answers: Vec<_> = bench.lsus().into_iter().map(|(_, p)| p).collect();
    assert_eq!(answers, [own]);
    bench.refused(&[(Refusal::OwnLsu, 2), (Refusal::StaleSequence, 1)]);
    assert_eq!(bench.router.counters().sequence_jumps, 0);
}

#[test]
fn a_restarted_router_continues_above_its_old_number() {
    let mut bench = Bench::new();
    bench.meet(0);
    bench.run(Span::from_secs(2));
    bench.lsus();
    bench.hear(0, 2, &lsu(ip("10.0.0.1"), 40, 60, &[]));
    bench.run(Span::from_secs(1));
    let sent = bench.lsus();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1.payload[24..28], [0, 41, 0, 64]);
    // The same number with other contents: the greater contents win on both sides.
    let greater = [(ip("255.0.0.0"), MASK, NOBODY)];
    bench.hear(0, 2, &lsu(ip("10.0.0.1"), 41, 60, &greater));
    bench.run(Span::from_secs(2));
    assert_eq!(bench.lsus()[0].1.payload[24..26], [0, 42]);
    assert_eq!(bench.router.counters().sequence_jumps, 2);
    bench.refused(&[]);
}
