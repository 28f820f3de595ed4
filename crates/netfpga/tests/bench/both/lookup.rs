//! Tests of the lookup and of its tables.

use crate::bench::{Card, Packet, mac_of, neighbour_of, next_hop_of, sizes, untimed};
use trammel_netfpga::stages::Queue;
use trammel_netfpga::tables::{self, ArpRow, RouteRow};

pub(crate) fn both_packet_forwarding(mut card: Card) {
    for (from, to) in [(0, 1), (1, 0)] {
        let destination = [10, 0, to as u8, 7];
        let packets: Vec<_> = sizes(20)
            .map(|size| Packet::via(from, destination, size))
            .collect();
        for packet in &packets {
            card.send(Queue::mac(from), &packet.bytes());
        }
        let expected: Vec<_> = packets.iter().map(|packet| packet.forwarded(to)).collect();
        assert_eq!(card.left_by(Queue::mac(to)), expected);
    }
    card.expect(&[("ROUTER_OP_LUT_NUM_PKTS_FORWARDED", 40)]);
}

pub(crate) fn both_lpm_generic(mut card: Card) {
    // The lowest row wins, whatever its mask; row 1 has bits that are no prefix.
    card.route(0, [[10, 9, 0, 0], [255, 255, 0, 225], [0; 4]], 2);
    card.route(
        1,
        [[10, 9, 0, 0], [255, 255, 255, 0], next_hop_of(1).octets()],
        1,
    );
    card.route(
        2,
        [[10, 0, 0, 0], [255, 0, 0, 0], next_hop_of(3).octets()],
        3,
    );
    for host in [2, 4, 30] {
        card.neighbour(8 + host, [10, 9, 0, host as u8], neighbour_of(2));
    }
    // .2, .4, .30 have none of the bits of .225; .1 and .32 do.
    for (host, port) in [(2, 2), (4, 2), (30, 2), (1, 1), (32, 1)] {
        let packet = Packet::via(0, [10, 9, 0, host], 100);
        card.send(Queue::mac(0), &packet.bytes());
        assert_eq!(
            card.left_by(Queue::mac(port)),
            [packet.forwarded(port)],
            ".{host}"
        );
    }
    let packet = Packet::via(0, [10, 200, 0, 1], 100);
    card.send(Queue::mac(0), &packet.bytes());
    assert_eq!(card.left_by(Queue::mac(3)), [packet.forwarded(3)]);
    card.expect(&[("ROUTER_OP_LUT_NUM_PKTS_FORWARDED", 6)]);
}

pub(crate) fn both_lpm_nexthop(mut card: Card) {
    // Next hop 0.0.0.0 is the destination itself.
    card.route(0, [[172, 16, 0, 0], [255, 255, 0, 0], [0; 4]], 1);
    card.neighbour(9, [172, 16, 3, 4], [2, 0, 0, 0, 9, 9]);
    for size in sizes(20) {
        let packet = Packet::via(0, [172, 16, 3, 4], size);
        card.send(Queue::mac(0), &packet.bytes());
        let mut expected = packet.forwarded(1);
        expected[..6].copy_from_slice(&[2, 0, 0, 0, 9, 9]);
        assert_eq!(card.left_by(Queue::mac(1)), [expected]);
    }
    card.expect(&[("ROUTER_OP_LUT_NUM_PKTS_FORWARDED", 20)]);
}

/// `count` of `packet`, in sizes all over the range, come in by port 0 and by port 1, and each goes
/// unchanged to the host's interface there, or nowhere.
fn exceptions(
    card: &mut Card,
    count: usize,
    to_host: bool,
    packet: impl Fn(usize) -> Vec<Vec<u8>>,
) {
    for port in 0..2 {
        let frames: Vec<_> = packet(port).into_iter().cycle().take(count).collect();
        for frame in &frames {
            card.send(Queue::mac(port), frame);
        }
        let to = card.left_by(Queue::cpu(port));
        assert_eq!(to, if to_host { frames } else { Vec::new() });
        for queue in Queue::ALL {
            assert!(card.left_by(queue).is_empty());
        }
    }
}

/// Packets to 10.0.2.3 in 30 sizes, each changed by `change`.
fn changed(port: usize, change: impl Fn(&mut Packet)) -> Vec<Vec<u8>> {
    let of_size = |size| {
        let mut packet = Packet::via(port, [10, 0, 2, 3], size);
        change(&mut packet);
        packet.bytes()
    };
    sizes(30).map(of_size).collect()
}

pub(crate) fn both_lpm_misses(mut card: Card) {
    exceptions(&mut card, 50, true, |port| {
        changed(port, |packet| packet.destination = [9, 9, 9, 9])
    });
    card.expect(&[("ROUTER_OP_LUT_LPM_NUM_MISSES", 100)]);
}

pub(crate) fn both_arp_misses(mut card: Card) {
    card.route(4, [[172, 16, 0, 0], [255, 255, 0, 0], [172, 16, 0, 1]], 2);
    exceptions(&mut card, 15, true, |port| {
        changed(port, |packet| packet.destination = [172, 16, 9, 9])
    });
    card.expect(&[("ROUTER_OP_LUT_ARP_NUM_MISSES", 30)]);
}

pub(crate) fn both_badipchksum(mut card: Card) {
    exceptions(&mut card, 30, false, |port| {
        let mut frames = changed(port, |_| ());
        for frame in &mut frames {
            frame[24] ^= 0x5a;
        }
        frames
    });
    card.expect(&[("ROUTER_OP_LUT_NUM_BAD_CHKSUMS", 60)]);
}

pub(crate) fn both_invalidttl(mut card: Card) {
    exceptions(&mut card, 15, true, |port| {
        changed(port, |packet| packet.ttl = 0)
    });
    exceptions(&mut card, 15, true, |port| {
        changed(port, |packet| packet.ttl = 1)
    });
    card.expect(&[("ROUTER_OP_LUT_NUM_BAD_TTLS", 60)]);
}

pub(crate) fn both_nonip(mut card: Card) {
    exceptions(&mut card, 15, true, |port| {
        changed(port, |packet| packet.ethertype = 0x0806)
    });
    exceptions(&mut card, 15, true, |port| {
        changed(port, |packet| packet.ethertype = 0x86dd)
    });
    card.expect(&[("ROUTER_OP_LUT_NUM_NON_IP_RCVD", 60)]);
}

pub(crate) fn both_nonipv4(mut card: Card) {
    for byte in [0x65, 0x46, 0x4f] {
        exceptions(&mut card, 10, true, |port| {
            changed(port, |packet| packet.version_and_length = byte)
        });
    }
    card.expect(&[("ROUTER_OP_LUT_NUM_BAD_OPTS_VER", 60)]);
}

pub(crate) fn both_wrong_destMAC(mut card: Card) {
    exceptions(&mut card, 15, false, |port| {
        changed(port, |packet| packet.to = mac_of(port + 1))
    });
    // A group address is the router's own, but nothing is forwarded from it.
    exceptions(&mut card, 15, false, |port| {
        changed(port, |packet| packet.to = [0xff; 6])
    });
    card.expect(&[("ROUTER_OP_LUT_NUM_WRONG_DEST", 60)]);
}

pub(crate) fn both_ipdestfilter_hit(mut card: Card) {
    exceptions(&mut card, 15, true, |port| {
        changed(port, |packet| packet.destination = [192, 168, 3, 1])
    });
    tables::write_filter(&mut card, 31, [224, 0, 0, 5].into());
    exceptions(&mut card, 15, true, |port| {
        changed(port, |packet| {
            packet.to = [0xff; 6];
            packet.destination = [224, 0, 0, 5];
            packet.ttl = 1;
        })
    });
    card.expect(&[("ROUTER_OP_LUT_NUM_FILTERED_PKTS", 60)]);
}

pub(crate) fn both_ipdestfilter_generic(mut card: Card) {
    let packet = Packet::via(0, [192, 168, 2, 1], 200);
    card.send(Queue::mac(0), &packet.bytes());
    assert_eq!(card.left_by(Queue::cpu(0)), [packet.bytes()]);
    tables::write_filter(&mut card, 2, [0; 4].into());
    card.route(
        5,
        [
            [192, 168, 2, 0],
            [255, 255, 255, 0],
            next_hop_of(2).octets(),
        ],
        2,
    );
    card.send(Queue::mac(0), &packet.bytes());
    assert_eq!(card.left_by(Queue::mac(2)), [packet.forwarded(2)]);
    let name = "ROUTER_OP_LUT_NUM_PKTS_FORWARDED";
    card.expect(&[("ROUTER_OP_LUT_NUM_FILTERED_PKTS", 1), (name, 1)]);
}

pub(crate) fn both_router_table(mut card: Card) {
    // Rows that were never written.
    for row in 4..tables::ROWS {
        assert_eq!(tables::read_route(&mut card, row), RouteRow::EMPTY);
        assert_eq!(tables::read_arp(&mut card, row), ArpRow::EMPTY);
        assert!(tables::read_filter(&mut card, row).is_unspecified());
    }
    let route = |row: usize| RouteRow {
        network: [10, row as u8, 0, 0].into(),
        mask: [255, 255, 0, row as u8].into(),
        next_hop: [10, 0, 0, row as u8].into(),
        queues: 1 << (row % 8),
    };
    let neighbour = |row: usize| ArpRow {
        address: [172, 16, 0, row as u8].into(),
        mac: [0xfe, 1, 2, 3, 4, row as u8],
    };
    for row in 0..tables::ROWS {
        tables::write_route(&mut card, row, &route(row));
        tables::write_arp(&mut card, row, &neighbour(row));
        tables::write_filter(&mut card, row, [192, 0, 2, row as u8].into());
    }
    for row in (0..tables::ROWS).rev() {
        assert_eq!(tables::read_route(&mut card, row), route(row));
        assert_eq!(tables::read_arp(&mut card, row), neighbour(row));
        assert_eq!(
            tables::read_filter(&mut card, row).octets(),
            [192, 0, 2, row as u8]
        );
    }
    for port in 0..4 {
        assert_eq!(tables::read_mac(&mut card, port), mac_of(port));
    }
    card.expect(&[]);
    let mut fresh = untimed("reference-router");
    for port in 0..4 {
        let mac = [0xca, 0xfe, 0xf0, 0x0d, 0, port as u8 + 1];
        assert_eq!(tables::read_mac(&mut fresh, port), mac);
    }
}

pub(crate) fn both_router_cpusend(mut card: Card) {
    for port in 0..4 {
        let frames: Vec<_> = sizes(25).map(|size| vec![port as u8; size]).collect();
        for frame in &frames {
            card.send(Queue::cpu(port), frame);
        }
        assert_eq!(card.left_by(Queue::mac(port)), frames);
        let bytes = frames.iter().map(Vec::len).sum::<usize>() as u32;
        let of = |name: &str| format!("MAC_GRP_{port}_TX_QUEUE_NUM_{name}");
        assert_eq!(card.get(&of("PKTS_SENT")), 25);
        assert_eq!(card.get(&of("BYTES_PUSHED")), bytes);
    }
    card.expect(&[("ROUTER_OP_LUT_NUM_CPU_PKTS_SENT", 100)]);
}
