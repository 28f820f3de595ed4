//! Elements that change fields: only those change that should, and checksums are right afterwards.

use crate::graph::Graph;
use crate::packets::{Packet, Upper, is_same_sum, is_upper_right, packet, parts};
use etherparse::{Ipv4Header, Ipv6Header, TcpHeader, UdpHeader};
use proptest::prelude::*;
use std::cell::RefCell;

/// What should become of a header, and of what is above it.
type Change = fn(&mut Ipv4Header, &mut Vec<u8>);

/// Sends packets through `elements`; the header that leaves is the one `change` makes, its checksum
/// right.
fn changes(elements: &str, has_right_upper: bool, change: Change) {
    let text = format!("in -> CheckIPHeader -> {elements} -> out0");
    let graph = RefCell::new(Graph::new(&text, 1));
    proptest!(|(packet in packet())| {
        let data = packet.ipv4();
        let (mut header, payload) = parts(&data);
        let mut payload = payload.to_vec();
        change(&mut header, &mut payload);
        header.header_checksum = header.calc_header_checksum();
        let left = graph.borrow_mut().pass(&data).expect("it passes");
        let (ours, upper) = parts(&left);
        prop_assert!(is_same_sum(ours.header_checksum, header.header_checksum));
        header.header_checksum = ours.header_checksum;
        prop_assert_eq!(&ours, &header);
        if has_right_upper {
            prop_assert!(is_upper_right(&ours, upper), "{:x?}", upper);
        } else {
            prop_assert_eq!(upper, &payload[..]);
        }
    });
}

#[test]
fn dec_ip_ttl() {
    changes("DecIPTTL", false, |ip, _| ip.time_to_live -= 1);
}

#[test]
fn packets_whose_time_is_over_leave_as_they_are() {
    let graph = RefCell::new(Graph::new(
        "in -> CheckIPHeader -> x :: DecIPTTL -> out0; x[1] -> out1",
        2,
    ));
    proptest!(|(packet in packet(), ttl in 0_u8..2)| {
        let data = Packet { ttl, ..packet }.ipv4();
        prop_assert_eq!(graph.borrow_mut().send(&data), [(1, data)]);
    });
}

#[test]
fn set_ip_dscp_and_ecn() {
    changes("SetIPDSCP(46)", false, |ip, _| {
        ip.dscp = 46.try_into().unwrap();
    });
    changes("SetIPECN(ce)", false, |ip, _| {
        ip.ecn = 3.try_into().unwrap();
    });
    changes("SetIPECN(0)", false, |ip, _| ip.ecn = 0.try_into().unwrap());
    changes("MarkIPCE(true)", false, |ip, _| {
        ip.ecn = 3.try_into().unwrap();
    });
}

#[test]
fn store_ip_address() {
    changes("StoreIPAddress(1.2.3.4, src)", true, |ip, _| {
        ip.source = [1, 2, 3, 4];
    });
    changes("StoreIPAddress(9.8.7.6, dst)", true, |ip, _| {
        ip.destination = [9, 8, 7, 6];
    });
    // By offset, nothing but the bytes changes.
    changes(
        "StoreIPAddress(9.8.7.6, 16) -> SetIPChecksum",
        false,
        |ip, _| {
            ip.destination = [9, 8, 7, 6];
        },
    );
}

#[test]
fn ip_mirror() {
    changes("IPMirror", true, |ip, _| {
        std::mem::swap(&mut ip.source, &mut ip.destination);
    });
    changes("IPMirror", false, |ip, upper| {
        std::mem::swap(&mut ip.source, &mut ip.destination);
        match ip.protocol.0 {
            17 => upper[..4].rotate_left(2),
            6 => {
                upper[..4].rotate_left(2);
                upper[4..12].rotate_left(4);
            }
            _ => {}
        }
    });
}

#[test]
fn checksums_are_set_right() {
    let graph = RefCell::new(Graph::new(
        "in -> MarkIPHeader -> SetIPChecksum -> c :: IPClassifier(tcp, udp, -);
         c[0] -> SetTCPChecksum -> out0; c[1] -> SetUDPChecksum -> out0; c[2] -> out0",
        1,
    ));
    proptest!(|(packet in packet(), wrong: [u8; 4])| {
        let data = packet.ipv4();
        let mut damaged = data.clone();
        damaged[10..12].copy_from_slice(&wrong[..2]);
        let from = 20 + 4 * packet.option_words;
        let at = match packet.upper {
            Upper::Udp(_) => Some(from + 6),
            Upper::Tcp(..) => Some(from + 16),
            Upper::Echo(..) => None,
        };
        if let Some(at) = at {
            damaged[at..at + 2].copy_from_slice(&wrong[2..]);
        }
        prop_assert_eq!(graph.borrow_mut().pass(&damaged), Some(data));
    });
}

#[test]
fn rewriters_keep_checksums_right_and_their_answers_come_back() {
    let graph = RefCell::new(Graph::new(
        "in -> CheckIPHeader -> c :: IPClassifier(dst host 1.0.0.1, -);
         rw :: IPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop);
         c[1] -> [0] rw; c[0] -> [1] rw; rw[0] -> out0; rw[1] -> out1",
        2,
    ));
    proptest!(|(packet in packet())| {
        prop_assume!(!matches!(packet.upper, Upper::Echo(..)) && packet.dst != [1, 0, 0, 1]);
        let data = packet.ipv4();
        let left = graph.borrow_mut().pass(&data).expect("it is mapped");
        let (ours, upper) = parts(&left);
        prop_assert_eq!(ours.source, [1, 0, 0, 1]);
        prop_assert_eq!(ours.destination, packet.dst);
        prop_assert!(is_same_sum(ours.header_checksum, ours.calc_header_checksum()));
        prop_assert!(is_upper_right(&ours, upper));
        // The answer: the same packet with its ends swapped.
        let ports = |data: &[u8]| match UdpHeader::from_slice(data) {
            Ok((udp, _)) => [udp.source_port, udp.destination_port],
            Err(_) => [0; 2],
        };
        let [sport, dport] = ports(upper);
        let answer = Packet {
            src: packet.dst,
            dst: [1, 0, 0, 1],
            upper: match packet.upper {
                Upper::Tcp(_, seq, options) => Upper::Tcp([dport, sport], seq, options),
                _ => Upper::Udp([dport, sport]),
            },
            ..packet.clone()
        };
        let left = graph.borrow_mut().send(&answer.ipv4());
        prop_assert_eq!(left.len(), 1);
        prop_assert_eq!(left[0].0, 1);
        let (ours, upper) = parts(&left[0].1);
        prop_assert_eq!((ours.source, ours.destination), (packet.dst, packet.src));
        prop_assert!(is_same_sum(ours.header_checksum, ours.calc_header_checksum()));
        prop_assert!(is_upper_right(&ours, upper));
        let [sport, dport] = ports(parts(&data).1);
        prop_assert_eq!(ports(upper), [dport, sport]);
    });
}

#[test]
fn ip6_hop_limits_and_mirrors() {
    let graph = RefCell::new(Graph::new(
        "in -> CheckIP6Header -> DecIP6HLIM -> IP6Mirror -> out0",
        1,
    ));
    proptest!(|(packet in packet())| {
        let data = packet.ipv6();
        let left = graph.borrow_mut().pass(&data).expect("it passes");
        let (mut theirs, _) = Ipv6Header::from_slice(&data).unwrap();
        theirs.hop_limit -= 1;
        std::mem::swap(&mut theirs.source, &mut theirs.destination);
        let (ours, upper) = Ipv6Header::from_slice(&left).unwrap();
        prop_assert_eq!(&ours, &theirs);
        match packet.upper {
            Upper::Udp([sport, dport]) => {
                let (udp, rest) = UdpHeader::from_slice(upper).unwrap();
                prop_assert_eq!([udp.source_port, udp.destination_port], [dport, sport]);
                prop_assert!(
                    is_same_sum(udp.calc_checksum_ipv6(&ours, rest).unwrap(), udp.checksum)
                );
            }
            Upper::Tcp([sport, dport], ..) => {
                let (tcp, rest) = TcpHeader::from_slice(upper).unwrap();
                prop_assert_eq!([tcp.source_port, tcp.destination_port], [dport, sport]);
                prop_assert!(
                    is_same_sum(tcp.calc_checksum_ipv6(&ours, rest).unwrap(), tcp.checksum)
                );
            }
            Upper::Echo(..) => {}
        }
    });
}
