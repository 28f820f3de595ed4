//! ICMP and what it tells, and what is dropped without a word.

use super::super::frames::{self, Packet, echo, ethernet, from_host, ip, tcp, udp};
use super::super::{host, host_mac, own, own_mac};
use super::{Bench, FAR, assert_error};

pub fn icmp_echo(router: &mut impl Bench) {
    router.know_hosts();
    // The address of another interface is the router's too.
    for to in [own(0), own(2)] {
        router.arrive(0, &echo(0, to, 64));
        let (port, frame) = router.take_one();
        assert_eq!((port, frame.to, frame.from), (0, host_mac(0), own_mac(0)));
        let expected = Packet {
            tos: 0,
            ttl: 64,
            protocol: 1,
            source: to,
            destination: host(0),
            payload: frames::icmp(0, 0, &[0, 7, 0, 1, 9, 8, 7, 6, 5]),
        };
        assert_eq!(*frame.packet(), expected);
    }
    router.assert_software(&[("icmp_echo", 2)]);
    router.assert_card(&[("num_filtered_pkts", 2)]);
}

pub fn icmp_notecho(router: &mut impl Bench) {
    router.know_hosts();
    let mut broken = frames::icmp(8, 0, &[0, 7, 0, 1]);
    broken[2] ^= 1;
    let error = frames::icmp(3, 1, &[0; 32]);
    let kinds = (0..=255_u8).filter(|kind| ![0, 8].contains(kind));
    let others = kinds.map(|kind| frames::icmp(kind, 0, &[0; 4]));
    for message in others.chain([broken, error]) {
        router.arrive(0, &from_host(0, &ip(host(0), own(0), 1, 64, &message)));
    }
    assert_eq!(router.take(), []);
    router.assert_software(&[("icmp_other", 255), ("dropped_transport", 1)]);
    router.assert_card(&[("num_filtered_pkts", 256)]);
}

pub fn ttl_expired(router: &mut impl Bench) {
    router.know_hosts();
    for ttl in [1, 0] {
        let frame = udp(0, FAR, ttl);
        router.arrive(0, &frame);
        assert_error(&router.take_one(), 0, (11, 0), &frame);
    }
    // To the router itself it may be used up.
    router.arrive(0, &echo(0, own(0), 1));
    assert_eq!(router.take_one().1.packet().payload[0], 0);
    router.assert_software(&[
        ("ttl_expired", 2),
        ("icmp_echo", 1),
        ("icmp_errors_sent", 2),
    ]);
    router.assert_card(&[("num_bad_ttls", 2), ("num_filtered_pkts", 1)]);
}

pub fn ip_intfc(router: &mut impl Bench) {
    router.know_hosts();
    router.cli("nuke hw arp");
    let frame = udp(1, FAR, 64);
    router.arrive(1, &frame);
    assert_error(&router.take_one(), 1, (3, 0), &frame);
    router.assert_software(&[("same_interface", 1), ("icmp_errors_sent", 1)]);
    router.assert_card(&[("arp_num_misses", 1)]);
}

pub fn udp_packet(router: &mut impl Bench) {
    router.know_hosts();
    let frame = udp(0, own(0), 64);
    router.arrive(0, &frame);
    assert_error(&router.take_one(), 0, (3, 3), &frame);
    router.assert_software(&[("udp_closed_port", 1), ("icmp_errors_sent", 1)]);
    router.assert_card(&[("num_filtered_pkts", 1)]);
}

pub fn unknown_ip(router: &mut impl Bench) {
    router.know_hosts();
    let known = [1, 6, 17, 89];
    for protocol in (0..=255_u8).filter(|protocol| !known.contains(protocol)) {
        let frame = from_host(0, &ip(host(0), own(0), protocol, 64, &[1, 2, 3, 4]));
        router.arrive(0, &frame);
        assert_error(&router.take_one(), 0, (3, 2), &frame);
    }
    router.assert_software(&[("unknown_protocol", 252), ("icmp_errors_sent", 252)]);
    router.assert_card(&[("num_filtered_pkts", 252)]);
}

pub fn ip_error(router: &mut impl Bench) {
    use trammel_packet::headers::ipv4::set_checksum;
    router.know_hosts();
    let good = ip(host(0), own(0), 17, 64, &[0; 12]);
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut packet = good.clone();
        change(&mut packet);
        set_checksum(&mut packet);
        packet
    };
    let packets = [
        changed(|packet| packet[0] = 0x55),
        changed(|packet| packet[0] = 0x46),
        changed(|packet| packet[6] = 0x20),
        changed(|packet| packet[7] = 1),
    ];
    for packet in &packets {
        router.arrive(0, &from_host(0, packet));
    }
    // The card drops it, and so does the software what comes past the card.
    let mut checksum = good.clone();
    checksum[10] ^= 1;
    let checksum = from_host(0, &checksum);
    router.arrive(0, &checksum);
    let past = u64::from(router.punt(0, &checksum));
    assert_eq!(router.take(), []);
    router.assert_software(&[
        ("dropped_ip_version", 1),
        ("dropped_ip_options", 1),
        ("dropped_ip_fragment", 2),
        ("dropped_ip_checksum", past),
    ]);
    router.assert_card(&[("num_filtered_pkts", 4), ("num_bad_chksums", 1)]);
}

pub fn ip_checksum(router: &mut impl Bench) {
    router.know_hosts();
    let mut frame = udp(0, FAR, 64);
    // Without its entries of ARP the card leaves all to the software.
    router.cli("nuke hw arp");
    for ttl in 2..=255 {
        router.arrive(0, &udp(0, FAR, ttl));
    }
    // `take` asserts the checksum of each.
    let ttls: Vec<_> = router
        .take()
        .iter()
        .map(|(_, frame)| frame.packet().ttl)
        .collect();
    assert_eq!(ttls, (1..=254).collect::<Vec<_>>());
    frame[25] ^= 0x10;
    router.arrive(0, &frame);
    let past = u64::from(router.punt(0, &frame));
    assert_eq!(router.take(), []);
    router.assert_software(&[("forwarded", 254), ("dropped_ip_checksum", past)]);
    router.assert_card(&[("arp_num_misses", 254), ("num_bad_chksums", 1)]);
}

pub fn noniparp_ethtype(router: &mut impl Bench) {
    router.know_hosts();
    for ethertype in [[0x86, 0xdd], [0x81, 0x00], [0, 46], [0x12, 0x34]] {
        router.arrive(0, &ethernet(own_mac(0), host_mac(0), ethertype, &[1; 46]));
    }
    assert_eq!(router.take(), []);
    router.assert_software(&[("dropped_ethertype", 4)]);
    router.assert_card(&[("num_non_ip_rcvd", 4)]);
}

/// The original has its command line and a web page at TCP ports. Here both are at local sockets of
/// the device, so every port of the router's addresses is closed and says so (RFC 9293 §3.10.7.1).
pub fn tcp_port(router: &mut impl Bench) {
    router.know_hosts();
    const SYN: u8 = 2;
    const RST: u8 = 4;
    const ACK: u8 = 16;
    for port in [23, 80] {
        router.arrive(0, &tcp(0, own(0), port, SYN));
        let (left, frame) = router.take_one();
        let packet = frame.packet();
        assert_eq!(
            (left, packet.source, packet.destination),
            (0, own(0), host(0))
        );
        assert_eq!(packet.payload[..4], [0, port as u8, 0x30, 0x39]);
        assert_eq!(packet.payload[4..12], [0, 0, 0, 0, 0, 0, 0, 6]);
        assert_eq!(packet.payload[13], RST | ACK);
    }
    router.arrive(0, &tcp(0, own(0), 23, RST));
    assert_eq!(router.take(), []);
    router.assert_software(&[("tcp_closed_port", 3), ("tcp_resets_sent", 2)]);
    router.assert_card(&[("num_filtered_pkts", 3)]);
}
