//! Hostile packets: floods of identities, and random bytes.

#[path = "ospf/fuzz.rs"]
mod fuzz;
mod ospf;

use ospf::{Bench, MASK, NOBODY, assert_refused, config, hello, ip, lsu, peer, peer_lsu, seal};
use proptest::prelude::*;
use std::net::Ipv4Addr;
use trammel_control::pwospf::{Config, Limits, Refusal};
use trammel_core::{Rng, Span, Time};

fn identity(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0xac10_0000 + number)
}

#[test]
fn hellos_of_ten_thousand_identities_are_bounded() {
    let mut bench = Bench::new();
    bench.meet(1);
    bench.run(Span::from_secs(1));
    bench.sent.clear();
    // A HELLO a millisecond, each with an identity of its own.
    for number in 0..10_000 {
        bench.hear(
            0,
            2 + (number % 250) as u8,
            &hello(identity(number), MASK, 5),
        );
        bench.run(Span::from_ms(1));
        assert!(bench.router.neighbours().count() <= 17);
    }
    let counters = bench.router.counters();
    assert_refused(counters, &[(Refusal::TooManyNeighbours, 10_000 - 16)]);
    // Once a second an own update, to 17 neighbours; HELLOs on three interfaces.
    assert!(counters.spf_runs <= 110, "{counters:?}");
    assert!(bench.sent.len() <= 12 * 17 + 3 * 12, "{}", bench.sent.len());
    assert_eq!(counters.queue_drops, 0);
    // The neighbour from before is still there.
    bench.meet(1);
    assert!(
        bench
            .router
            .neighbours()
            .any(|(_, n)| n.router_id == peer(1))
    );
}

#[test]
fn updates_of_ten_thousand_identities_are_bounded() {
    let mut bench = Bench::new();
    (0..3).for_each(|interface| bench.meet(interface));
    let far = (ip("10.9.0.0"), MASK, NOBODY);
    bench.hear(1, 2, &peer_lsu(1, 1, &[far]));
    bench.run(Span::from_secs(2));
    bench.sent.clear();
    let before = bench.router.counters().clone();
    // Ten rounds of ten thousand updates in ten seconds, each with the most adverts, which
    // change each time.
    for round in 0..10 {
        let advert = |n| (identity(n << 8), MASK, identity(n + u32::from(round)));
        let adverts: Vec<_> = (0..120).map(advert).collect();
        for number in 0..10_000 {
            bench.hear(0, 2, &lsu(identity(number), round, 64, &adverts));
            if number % 10 == 9 {
                bench.run(Span::from_ms(1));
            }
        }
        (0..3).for_each(|interface| bench.meet(interface));
    }
    assert_eq!(bench.router.database(bench.now).count(), 1024);
    let counters = bench.router.counters();
    assert_refused(counters, &[(Refusal::DatabaseFull, 10 * (10_000 - 1022))]);
    assert_eq!(counters.lsus_accepted - before.lsus_accepted, 10 * 1022);
    // News fills the first 102 ms of each second, so paths are computed twice, and once for
    // neighbours. Each router's updates once in 500 ms, to two neighbours.
    assert!(counters.spf_runs - before.spf_runs <= 30);
    assert!(counters.lsus_sent - before.lsus_sent <= 10 * 1022 * 2);
    // What it knew before stands.
    bench.run(Span::from_ms(200));
    assert!(
        bench
            .router
            .routes()
            .iter()
            .any(|route| route.network == far.0)
    );
    // And when the flood is over, its entries age out.
    bench.run(Span::from_secs(100));
    assert_eq!(bench.router.database(bench.now).count(), 1);
}

#[test]
fn replayed_old_updates_draw_one_answer_a_second() {
    let mut bench = Bench::new();
    (0..3).for_each(|interface| bench.meet(interface));
    for number in 0..200 {
        bench.hear(0, 2, &lsu(identity(number), 10, 64, &[]));
    }
    bench.hear(0, 2, &peer_lsu(0, 10, &[]));
    bench.run(Span::from_secs(2));
    bench.sent.clear();
    // A thousand copies of a neighbour's own old update, and of a stranger's, in a second.
    for _ in 0..1000 {
        bench.hear(0, 2, &peer_lsu(0, 9, &[]));
        bench.hear(0, 2, &lsu(identity(3), 9, 64, &[]));
        bench.run(Span::from_ms(1));
    }
    // The database of 201 once, the own update anew to three neighbours, and two answers.
    assert_eq!(bench.lsus().len(), 201 + 3 + 2);
    bench.refused(&[(Refusal::StaleSequence, 2000)]);
}

#[test]
fn a_full_transmit_queue_drops_and_counts() {
    let limits = Limits {
        queue: 10,
        ..Limits::default()
    };
    let mut bench = Bench::with(Config { limits, ..config() });
    for number in 0..20 {
        bench.hear(0, 2, &lsu(identity(number), 10, 64, &[]));
    }
    // A new neighbour gets the database of 20, of which ten find room.
    let packet = hello(peer(0), MASK, 5);
    bench.router.receive(bench.now, 0, ip("10.0.0.2"), &packet);
    assert_eq!(
        std::iter::from_fn(|| bench.router.poll_transmit()).count(),
        10
    );
    assert_eq!(bench.router.counters().queue_drops, 10);
    bench.refused(&[]);
}

/// The inputs kept for the fuzzer, and mutations of each.
#[test]
fn what_the_fuzzer_keeps_is_survived() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/pwospf");
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    assert!(paths.len() >= 5);
    let mut rng = Rng::new(1, "mutations");
    let mut below = move |n: usize| rng.below(n.max(1) as u64) as usize;
    for path in paths {
        let kept = std::fs::read(path).expect("the file exists");
        fuzz::run(&kept);
        for _ in 0..300 {
            let mut bytes = kept.clone();
            for _ in 0..=below(8) {
                let at = below(bytes.len());
                match below(3) {
                    0 => bytes[at] = below(256) as u8,
                    1 => bytes.insert(at, below(256) as u8),
                    _ => bytes[at] ^= 1 << below(8),
                }
            }
            fuzz::run(&bytes);
        }
    }
}

/// Bytes that look more or less like a packet.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let id = || (0_u8..8).prop_map(|last| Ipv4Addr::new(10, 1, last, 1));
    let any_id = || prop_oneof![id(), Just(ip("10.0.0.1")), Just(NOBODY)];
    let subnet = (0_u8..6, any::<u8>()).prop_map(|(third, host)| Ipv4Addr::new(10, 0, third, host));
    let mask = || prop_oneof![Just(MASK), any::<u32>().prop_map(Ipv4Addr::from_bits)];
    let adverts = prop::collection::vec((subnet, mask(), any_id()), 0..8);
    let good = prop_oneof![
        (any_id(), mask(), prop_oneof![Just(5), any::<u16>()])
            .prop_map(|(id, mask, interval)| hello(id, mask, interval)),
        (any_id(), any::<u16>(), 0_u16..4, adverts)
            .prop_map(|(id, sequence, ttl, adverts)| lsu(id, sequence, ttl, &adverts)),
    ];
    let bent = (
        good,
        any::<prop::sample::Index>(),
        any::<u8>(),
        0_usize..4,
        any::<bool>(),
    );
    let bent = bent.prop_map(|(mut packet, at, value, cut, is_sealed)| {
        if cut == 0 {
            let at = at.index(packet.len());
            packet[at] = value;
        } else if cut == 1 {
            packet.truncate(at.index(packet.len()));
        }
        if is_sealed && packet.len() >= 24 {
            packet = seal(packet);
        }
        packet
    });
    prop_oneof![4 => bent, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_at_any_time_are_survived_and_counted_once(
        packets in prop::collection::vec(
            (packet(), 0_usize..4, any::<u8>(), 0_u64..3000), 0..100,
        ),
    ) {
        let mut bench = Bench::new();
        for (packet, interface, host, wait) in &packets {
            bench.hear(*interface, *host, packet);
            bench.run(Span::from_ms(*wait));
        }
        let counters = bench.router.counters();
        let refused: u64 = Refusal::ALL.iter().map(|reason| counters.refused(*reason)).sum();
        let taken = counters.hellos_accepted + counters.lsus_accepted + counters.sequence_jumps;
        prop_assert_eq!(refused + taken, packets.len() as u64);
        prop_assert!(bench.router.next_timeout() > bench.now);
        prop_assert!(bench.router.next_timeout() < Time::MAX);
    }
}
