//! Formats of PW-OSPF, byte by byte, and each reason to refuse a packet.

mod ospf;

use ospf::{Bench, MASK, NOBODY, config, header, hello, ip, lsu, peer, seal};
use trammel_control::pwospf::{ALL_SPF_ROUTERS, Config, PROTOCOL, Refusal};
use trammel_core::{Span, Time};

#[test]
fn hello_has_the_format_of_the_protocol() {
    let bench = Bench::with(Config {
        area: 7,
        ..config()
    });
    let (at, packet) = &bench.sent[1];
    assert_eq!((*at, packet.interface), (Time::ZERO, 1));
    assert_eq!(packet.destination, ip("224.0.0.5"));
    assert_eq!((ALL_SPF_ROUTERS, PROTOCOL), (ip("224.0.0.5"), 89));
    // 0201 + 0020 + 0a00 + 0001 + 0007 + ffff + ff00 + 0005 = 2_0b2d, folded 0b2f.
    let expected = [
        2, 1, 0, 32, 10, 0, 0, 1, 0, 0, 0, 7, 0xf4, 0xd0, 0, 0, //
        0, 0, 0, 0, 0, 0, 0, 0, //
        255, 255, 255, 0, 0, 5, 0, 0,
    ];
    assert_eq!(packet.payload[..], expected);
}

#[test]
fn update_has_the_format_of_the_protocol() {
    let mut bench = Bench::new();
    bench.router.set_originated(Time::ZERO, &[(NOBODY, NOBODY)]);
    bench.meet(1);
    bench.run(Span::from_ms(10));
    let (at, packet) = bench.lsus().pop().expect("an update");
    assert_eq!(at, Time::from_ms(10));
    assert_eq!((packet.interface, packet.destination), (1, ip("10.0.1.2")));
    let mut expected = vec![2, 4, 0, 80, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    expected.extend([0; 8]);
    // Sequence 2 (1 was made at the start, for nobody), TTL 64, four adverts.
    expected.extend([0, 2, 0, 64, 0, 0, 0, 4]);
    expected.extend([0; 12]);
    expected.extend([10, 0, 0, 0, 255, 255, 255, 0, 0, 0, 0, 0]);
    expected.extend([10, 0, 1, 0, 255, 255, 255, 0, 10, 1, 1, 1]);
    expected.extend([10, 0, 2, 0, 255, 255, 255, 0, 0, 0, 0, 0]);
    assert_eq!(packet.payload[..], seal(expected));
    bench.refused(&[]);
}

/// A packet with one byte changed and its checksum right.
fn changed(mut packet: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    packet[at] = value;
    seal(packet)
}

#[test]
fn each_reason_counts_alone() {
    let good = || hello(peer(0), MASK, 5);
    let update = || lsu(peer(0), 1, 64, &[(ip("10.9.0.0"), MASK, NOBODY)]);
    let mut bad_sum = good();
    bad_sum[31] ^= 1;
    let many: Vec<_> = (0..121)
        .map(|n| (ip(&format!("10.9.{n}.0")), MASK, NOBODY))
        .collect();
    let cases = [
        (Refusal::Length, good()[..23].to_vec()),
        (Refusal::Length, good()[..31].to_vec()),
        (Refusal::Length, Vec::new()),
        (Refusal::Length, changed(good(), 3, 23)),
        (Refusal::Length, changed(good(), 3, 30)),
        (Refusal::Length, seal(header(1, 24, peer(0)))),
        (Refusal::Length, seal(header(4, 24, peer(0)))),
        (Refusal::Length, changed(update(), 31, 2)),
        (Refusal::Length, changed(update(), 28, 255)),
        (Refusal::Version, changed(good(), 0, 3)),
        (Refusal::Checksum, bad_sum),
        (Refusal::AuType, changed(good(), 15, 1)),
        (Refusal::Type, changed(good(), 1, 2)),
        (Refusal::Area, changed(good(), 11, 1)),
        (Refusal::NoId, hello(NOBODY, MASK, 5)),
        (Refusal::OwnId, hello(ip("10.0.0.1"), MASK, 5)),
        (Refusal::Mask, hello(peer(0), ip("255.255.0.0"), 5)),
        (Refusal::HelloInterval, hello(peer(0), MASK, 10)),
        (Refusal::TooManyAdverts, lsu(peer(0), 1, 64, &many)),
        (Refusal::Ttl, lsu(peer(0), 1, 0, &[])),
    ];
    for (reason, packet) in cases {
        let mut bench = Bench::new();
        bench.hear(0, 2, &packet);
        bench.refused(&[(reason, 1)]);
        assert_eq!(bench.router.neighbours().count(), 0, "{}", reason.name());
        assert_eq!(bench.router.database(bench.now).count(), 1);
    }
}

#[test]
fn source_must_be_another_host_of_the_subnet() {
    let mut bench = Bench::new();
    let packet = hello(peer(0), MASK, 5);
    for source in ["10.0.0.1", "10.0.1.2", "192.0.2.1"] {
        bench.router.receive(bench.now, 0, ip(source), &packet);
    }
    bench.router.receive(bench.now, 3, ip("10.0.3.2"), &packet);
    bench
        .router
        .set_interface_up(bench.now, 0, false)
        .expect("it exists");
    bench.router.receive(bench.now, 0, ip("10.0.0.2"), &packet);
    bench.refused(&[(Refusal::Source, 3), (Refusal::InterfaceDown, 2)]);
    assert_eq!(bench.router.neighbours().count(), 0);
}

#[test]
fn authentication_and_padding_are_not_looked_at() {
    let mut bench = Bench::new();
    let mut packet = hello(peer(0), MASK, 5);
    packet[16..24].fill(0xa5);
    packet.extend([1, 2, 3]);
    bench.hear(0, 2, &packet);
    bench.refused(&[]);
    assert_eq!(bench.router.neighbours().count(), 1);
}

#[test]
fn settings_that_cannot_be_are_refused() {
    use trammel_control::pwospf::Pwospf;
    let wrong = [
        Config {
            router_id: NOBODY,
            ..config()
        },
        Config {
            hello_interval: Span::from_ms(1500),
            ..config()
        },
        Config {
            hello_interval: Span::ZERO,
            ..config()
        },
        Config {
            hello_interval: Span::from_secs(65_536),
            ..config()
        },
        Config {
            lsu_interval: Span::ZERO,
            ..config()
        },
        Config {
            lsu_ttl: 0,
            ..config()
        },
    ];
    for config in wrong {
        assert!(
            Pwospf::new(config.clone(), Time::ZERO).is_err(),
            "{config:?}"
        );
    }
    let error = Bench::new().router.set_interface_up(Time::ZERO, 3, true);
    let text = error.expect_err("there are three").to_string();
    assert_eq!(text, "interface 3 does not exist, the last is 2");
}
