//! Frames that nobody sends in good faith: no panic, bounded tables, each refusal counted.

mod common;

use common::frames::{ALL, arp, echo, ethernet, from_host, icmp, ip, udp};
use common::{FATES, Router, config, host, host_mac, own, own_mac};
use proptest::prelude::*;
use std::net::Ipv4Addr;
use trammel_control::{Config, Control};
use trammel_core::{Span, Time};
use trammel_packet::headers::ipv4::set_checksum;

/// Asserts that each received frame had one fate.
fn assert_conserved(router: &Router) {
    let counters = router.control.counters();
    let fates: u64 = counters[1..=FATES].iter().map(|(_, value)| value).sum();
    assert_eq!(counters[0].1, fates);
}

fn counter(router: &Router, name: &str) -> u64 {
    let counters = router.control.counters();
    let found = counters.iter().find(|(of, _)| *of == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn arp_that_is_wrong_is_counted_and_teaches_nothing() {
    let mut router = Router::new(config());
    let good = arp(ALL, 1, (host_mac(0), host(0)), ([0; 6], own(0)));
    let changed = |at: usize, value: u8| {
        let mut frame = good.clone();
        frame[at] = value;
        frame
    };
    let multicast = Ipv4Addr::new(224, 0, 0, 5);
    let broadcast = Ipv4Addr::new(10, 0, 0, 255);
    let malformed = [
        changed(15, 2),
        changed(16, 9),
        changed(18, 7),
        changed(19, 16),
        changed(21, 3),
        changed(22, 1),
        good[..41].to_vec(),
        arp(ALL, 1, (host_mac(0), multicast), ([0; 6], own(0))),
        arp(ALL, 1, (host_mac(0), broadcast), ([0; 6], own(0))),
        arp(ALL, 2, ([0; 6], host(0)), (own_mac(0), own(0))),
    ];
    for frame in &malformed {
        router.punt(0, frame);
    }
    // Somebody claims an address of the router.
    router.punt(0, &arp(ALL, 1, (host_mac(0), own(0)), ([0; 6], own(0))));
    router.punt(0, &arp(ALL, 2, (host_mac(0), own(3)), (own_mac(0), own(0))));
    assert_eq!(router.take(), []);
    assert!(router.card.neighbours.is_empty());
    router.assert_software(&[("arp_malformed", 10), ("arp_conflicts", 2)]);
}

#[test]
fn a_probe_is_answered_and_teaches_nothing() {
    let mut router = Router::new(config());
    router.punt(
        0,
        &arp(
            ALL,
            1,
            (host_mac(0), Ipv4Addr::UNSPECIFIED),
            ([0; 6], own(0)),
        ),
    );
    assert_eq!(router.take().len(), 1);
    assert!(router.card.neighbours.is_empty());
    router.assert_software(&[("arp_requests", 1), ("arp_replies_sent", 1)]);
}

#[test]
fn a_static_entry_and_another_port_are_not_taken_over() {
    let mut router = Router::with_hosts();
    let before = router.card.neighbours.clone();
    router.punt(
        0,
        &arp(ALL, 2, ([2, 6, 6, 6, 6, 6], host(0)), (own_mac(0), own(0))),
    );
    router.punt(
        2,
        &arp(ALL, 2, ([2, 6, 6, 6, 6, 6], host(0)), (own_mac(2), own(2))),
    );
    assert_eq!(router.card.neighbours, before);
    router.assert_software(&[("arp_replies", 2)]);
}

#[test]
fn a_flood_of_arp_stays_within_the_cache() {
    let mut small = config();
    small.arp_entries = 100;
    small.interfaces[0].mask = Ipv4Addr::new(255, 0, 0, 0);
    let mut router = Router::new(small);
    for number in 0..5_000_u32 {
        let sender = Ipv4Addr::from_bits(0x0a40_0000 + number);
        router.now += Span::from_us(10);
        router.punt(0, &arp(ALL, 1, (host_mac(0), sender), ([0; 6], own(0))));
    }
    assert_eq!(counter(&router, "arp_evicted"), 4_900);
    // The card was given neighbours 64 times at once and then each 10 ms.
    let writes = router.card.writes - 3;
    assert!((64..=72).contains(&writes), "{writes}");
    router.advance(Span::from_ms(10));
    assert_eq!(router.cli("show ip arp").to_string().lines().count(), 101);
    assert_eq!(router.card.neighbours.len(), 32);
    assert_conserved(&router);
    // The entries die with time.
    router.advance(Span::from_secs(301));
    assert_eq!(counter(&router, "arp_polls_sent"), 200);
    assert_eq!(router.cli("show ip arp").to_string().lines().count(), 1);
    assert!(router.card.neighbours.is_empty());
}

#[test]
fn a_scan_of_absent_hosts_stays_within_the_queues() {
    let mut router = Router::new(Config {
        arp_queue: 3,
        arp_next_hops: 10,
        ..config()
    });
    for last in 10..30 {
        for _ in 0..5 {
            router.punt(0, &udp(0, Ipv4Addr::new(10, 0, 2, last), 64));
        }
    }
    router.assert_software(&[
        ("forwarded", 100),
        ("arp_requests_sent", 10),
        ("arp_queue_full", 20),
        ("arp_next_hops_full", 50),
    ]);
    router.advance(Span::from_secs(5));
    // The sender is absent as well: its errors wait, and then nothing is said about them.
    assert_eq!(counter(&router, "arp_unresolved"), 30);
    router.advance(Span::from_secs(100));
    assert_eq!(counter(&router, "icmp_errors_sent"), 30);
    assert_eq!(counter(&router, "arp_unresolved"), 33);
    assert_eq!(router.control.next_timeout(), None);
}

#[test]
fn no_error_about_what_may_have_none() {
    let mut router = Router::with_hosts();
    let nowhere = Ipv4Addr::new(30, 0, 0, 1);
    let mut fragment = ip(host(0), nowhere, 17, 64, &[0; 16]);
    fragment[7] = 2;
    set_checksum(&mut fragment);
    let error = icmp(3, 1, &[0; 32]);
    for packet in [fragment, ip(host(0), nowhere, 1, 64, &error)] {
        router.punt(0, &from_host(0, &packet));
    }
    let forbidden = ("icmp_errors_forbidden", 2);
    router.assert_software(&[("no_route", 2), forbidden]);
    // Sources that are no host's, and the router's own.
    let sources = [
        [0, 0, 0, 0],
        [127, 0, 0, 1],
        [224, 0, 0, 1],
        [255; 4],
        [10, 0, 3, 255],
    ];
    for source in sources.into_iter().chain([own(2).octets()]) {
        router.punt(
            0,
            &from_host(0, &ip(source.into(), nowhere, 17, 64, &[0; 8])),
        );
    }
    router.assert_software(&[("no_route", 2), forbidden, ("dropped_martian", 6)]);
    // Destinations that are groups, or hosts in a frame to all.
    for group in [
        [10, 0, 0, 255],
        [10, 0, 2, 255],
        [255; 4],
        [224, 0, 0, 5],
        [239, 1, 1, 1],
    ] {
        router.punt(
            0,
            &from_host(0, &ip(host(0), group.into(), 17, 64, &[0; 8])),
        );
    }
    for to in [own(0), host(1)] {
        let packet = ip(host(0), to, 17, 64, &[0; 8]);
        router.punt(0, &ethernet(ALL, host_mac(0), [8, 0], &packet));
    }
    assert_eq!(router.take(), []);
    router.assert_software(&[
        ("no_route", 2),
        forbidden,
        ("dropped_martian", 6),
        ("dropped_group", 7),
    ]);
}

#[test]
fn errors_are_limited_and_echoes_are_not() {
    let mut router = Router::with_hosts_of(Config {
        icmp_errors_per_second: 10,
        icmp_errors_burst: 5,
        ..config()
    });
    for _ in 0..50 {
        router.punt(0, &udp(0, own(0), 64));
        router.punt(0, &echo(0, own(0), 64));
    }
    assert_eq!(router.take().len(), 55);
    router.advance(Span::from_ms(300));
    for _ in 0..50 {
        router.punt(0, &udp(0, own(0), 64));
    }
    assert_eq!(router.take().len(), 3);
    router.assert_software(&[
        ("udp_closed_port", 100),
        ("icmp_echo", 50),
        ("icmp_errors_sent", 8),
        ("icmp_errors_limited", 92),
    ]);
}

#[test]
fn frames_from_ports_and_of_lengths_that_do_not_exist_are_counted() {
    let mut router = Router::with_hosts();
    let frame = udp(0, own(0), 64);
    router.punt(4, &frame);
    router.punt(usize::MAX, &frame);
    router.punt(0, &frame[..13]);
    router.punt(0, &[]);
    router.punt(0, &[&frame[..], &[0; 1500]].concat());
    router.punt(1, &frame);
    router.assert_software(&[
        ("dropped_no_interface", 2),
        ("dropped_frame_length", 3),
        ("dropped_other_station", 1),
    ]);
}

#[test]
fn a_configuration_that_cannot_work_is_refused() {
    let mut bad = config();
    bad.routes[0].port = 9;
    bad.arp_requests = 0;
    let error = Control::new(bad).expect_err("two faults").to_string();
    assert_eq!(error.lines().count(), 2, "{error}");
}

#[test]
fn time_does_not_go_back() {
    let mut router = Router::with_hosts();
    router.advance(Span::from_secs(10));
    router.control.handle_timeout(Time::ZERO, &mut router.card);
    router
        .control
        .receive(Time::ZERO, 0, &udp(0, own(0), 64), &mut router.card);
    router.control.handle_timeout(Time::MAX, &mut router.card);
    router.control.receive(
        Time::MAX,
        0,
        &udp(0, Ipv4Addr::new(10, 0, 2, 9), 64),
        &mut router.card,
    );
    assert_conserved(&router);
}

/// Frames that are nearly right: some bytes of a good one changed, its checksums repaired or not.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let good = prop::sample::select(vec![
        udp(0, own(0), 64),
        udp(0, Ipv4Addr::new(20, 0, 0, 1), 2),
        echo(0, own(0), 64),
        echo(0, host(2), 1),
        common::frames::tcp(0, own(0), 23, 2),
        arp(ALL, 1, (host_mac(0), host(0)), ([0; 6], own(0))),
        arp(own_mac(0), 2, (host_mac(0), host(0)), (own_mac(0), own(0))),
        from_host(0, &ip(host(0), own(0), 89, 1, &[2; 64])),
        from_host(0, &ip(host(0), own(0), 1, 64, &icmp(11, 0, &[0x45; 60]))),
    ]);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let length = prop_oneof![3 => Just(usize::MAX), 1 => 0_usize..80];
    (good, changes, length, any::<bool>()).prop_map(|(mut frame, changes, length, repair)| {
        for (at, value) in changes {
            let at = at.index(frame.len());
            frame[at] = value;
        }
        frame.truncate(length);
        if repair && frame.len() > 14 && frame[12..14] == [8, 0] {
            set_checksum(&mut frame[14..]);
        }
        frame
    })
}

proptest! {
    #[test]
    fn random_bytes_never_panic(
        frames in prop::collection::vec(
            (0_usize..5, prop::collection::vec(any::<u8>(), 0..1600)),
            0..40,
        ),
    ) {
        let mut router = Router::new(config());
        for (port, frame) in frames {
            router.punt(port, &frame);
        }
        assert_conserved(&router);
    }

    #[test]
    fn frames_that_are_nearly_right_never_panic_and_stay_bounded(
        steps in prop::collection::vec((0_usize..4, nearly(), 0_u64..3_000), 0..120),
    ) {
        let full = Config {
            arp_entries: 4,
            arp_queue: 2,
            arp_next_hops: 3,
            ..Config::new(config().interfaces, config().routes)
        };
        let mut router = Router::new(full);
        for (port, mut frame, wait) in steps {
            if frame.len() > 6 && frame[..6] == own_mac(0) {
                frame[..6].copy_from_slice(&own_mac(port));
            }
            router.punt(port, &frame);
            router.advance(Span::from_ms(wait));
            prop_assert!(router.card.neighbours.len() <= 4);
        }
        // What left is right: `take` takes every frame apart.
        router.take();
        assert_conserved(&router);
    }

    #[test]
    fn the_data_plane_has_the_tables_that_commands_make(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "ip interface eth0 down", "ip interface eth0 up", "ip interface eth1 down",
                "ip interface eth1 up", "ip interface eth2 10.7.0.1 255.255.0.0",
                "ip route add 20.1.0.0 10.0.2.2 255.255.0.0 eth2",
                "ip route del 20.0.0.0 255.0.0.0", "ip route add 0.0.0.0 10.0.0.2 0.0.0.0 eth0",
                "ip arp add 10.0.0.2 2:0:0:0:0:2", "ip arp del 10.0.0.2", "nuke arp",
                "ip arp add 10.0.1.2 2:0:0:0:1:2",
            ]),
            0..30,
        ),
    ) {
        let mut router = Router::new(config());
        for line in lines {
            router.cli(line);
            let text = router.cli("show ip route").json();
            let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
            let in_force: Vec<_> = shown["routes"].as_array().unwrap().iter()
                .filter(|row| row["in_force"] == true)
                .map(|row| row["network"].as_str().unwrap().to_owned())
                .collect();
            let card: Vec<_> = router.card.routes.iter()
                .map(|route| route.network.to_string())
                .collect();
            prop_assert_eq!(card, in_force);
            for (port, up) in router.card.up.iter().enumerate() {
                let has_routes = router.card.routes.iter().any(|route| route.port == port);
                prop_assert_eq!(has_routes, *up);
                let is_own = router.card.own.iter().any(|own| {
                    own.octets()[..2] != [224, 0]
                        && router.card.routes.iter().any(|route| {
                            route.port == port && *own & route.mask == route.network
                        })
                });
                prop_assert_eq!(is_own, *up);
            }
        }
    }
}

#[test]
fn a_station_that_answers_polls_stays_in_the_card() {
    let mut router = Router::new(config());
    let request = arp(ALL, 1, (host_mac(0), host(0)), ([0; 6], own(0)));
    let reply = arp(own_mac(0), 2, (host_mac(0), host(0)), (own_mac(0), own(0)));
    router.arrive(0, &request);
    router.take();
    for _ in 0..3 {
        router.advance(Span::from_secs(298));
        let (port, frame) = router.take_one();
        assert_eq!((port, frame.to, frame.is_arp()), (0, host_mac(0), true));
        router.arrive(0, &reply);
        assert_eq!(router.card.neighbours.len(), 1);
    }
    router.advance(Span::from_secs(299));
    assert_eq!(router.take().len(), 2);
    assert_eq!(router.card.neighbours.len(), 1);
    router.advance(Span::from_secs(1));
    assert!(router.card.neighbours.is_empty());
    router.assert_software(&[
        ("arp_requests", 1),
        ("arp_replies_sent", 1),
        ("arp_replies", 3),
        ("arp_polls_sent", 5),
    ]);
}
