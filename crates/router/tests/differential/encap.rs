//! Elements that put headers before packets: etherparse reads in them what the arguments said.

use crate::graph::Graph;
use crate::packets::{is_icmp_right, is_same_sum, is_upper_right, packet, parts};
use etherparse::{Icmpv4Slice, Icmpv4Type, IpNumber, Ipv6Header, UdpHeader};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

#[test]
fn ip_encap() {
    let text = "in -> IPEncap(udp, 1.2.3.4, 5.6.7.8, TTL 9, TOS 7, DF true) -> out0";
    let graph = RefCell::new(Graph::new(text, 1));
    proptest!(|(payload in payload())| {
        let left = graph.borrow_mut().pass(&payload).expect("it passes");
        let (ip, rest) = parts(&left);
        prop_assert_eq!((ip.source, ip.destination), ([1, 2, 3, 4], [5, 6, 7, 8]));
        prop_assert_eq!((ip.protocol, ip.time_to_live), (IpNumber::UDP, 9));
        prop_assert_eq!((ip.dscp.value() << 2 | ip.ecn.value(), ip.dont_fragment), (7, true));
        prop_assert_eq!(usize::from(ip.total_len), left.len());
        prop_assert!(is_same_sum(ip.header_checksum, ip.calc_header_checksum()));
        prop_assert_eq!(rest, &payload[..]);
    });
}

#[test]
fn udp_ip_encap() {
    let text = "in -> UDPIPEncap(1.2.3.4, 1234, 5.6.7.8, 53, CHECKSUM true) -> out0";
    let graph = RefCell::new(Graph::new(text, 1));
    proptest!(|(payload in payload())| {
        let left = graph.borrow_mut().pass(&payload).expect("it passes");
        let (ip, upper) = parts(&left);
        prop_assert_eq!((ip.source, ip.destination), ([1, 2, 3, 4], [5, 6, 7, 8]));
        prop_assert!(is_same_sum(ip.header_checksum, ip.calc_header_checksum()));
        let (udp, rest) = UdpHeader::from_slice(upper).unwrap();
        prop_assert_eq!((udp.source_port, udp.destination_port), (1234, 53));
        prop_assert_eq!(usize::from(udp.length), upper.len());
        prop_assert!(udp.checksum != 0 && is_upper_right(&ip, upper));
        prop_assert_eq!(rest, &payload[..]);
    });
}

#[test]
fn icmp_ping_encap() {
    let text = "in -> ICMPPingEncap(1.2.3.4, 5.6.7.8, IDENTIFIER 77) -> out0";
    let graph = RefCell::new(Graph::new(text, 1));
    let number = Cell::new(0);
    proptest!(|(payload in payload())| {
        let left = graph.borrow_mut().pass(&payload).expect("it passes");
        let (ip, message) = parts(&left);
        prop_assert_eq!((ip.source, ip.destination), ([1, 2, 3, 4], [5, 6, 7, 8]));
        prop_assert!(is_same_sum(ip.header_checksum, ip.calc_header_checksum()));
        prop_assert!(is_icmp_right(message));
        let icmp = Icmpv4Slice::from_slice(message).unwrap();
        let Icmpv4Type::EchoRequest(echo) = icmp.icmp_type() else {
            panic!("no echo request");
        };
        number.set(number.get() + 1);
        prop_assert_eq!((echo.id, echo.seq), (77, number.get()));
        prop_assert_eq!(icmp.payload(), &payload[..]);
    });
}

#[test]
fn ip6_encap_and_udp_ip6_encap() {
    let bare = RefCell::new(Graph::new(
        "in -> IP6Encap(udp, fe80::1, fe80::2, HLIM 9, CLASS 7) -> out0",
        1,
    ));
    let udp = RefCell::new(Graph::new(
        "in -> UDPIP6Encap(fe80::1, 1234, fe80::2, 53) -> out0",
        1,
    ));
    let address = |last| {
        let mut address = [0; 16];
        (address[0], address[1], address[15]) = (0xFE, 0x80, last);
        address
    };
    proptest!(|(payload in payload())| {
        let left = bare.borrow_mut().pass(&payload).expect("it passes");
        let (ip, rest) = Ipv6Header::from_slice(&left).unwrap();
        prop_assert_eq!((ip.source, ip.destination), (address(1), address(2)));
        prop_assert_eq!((ip.hop_limit, ip.traffic_class, ip.next_header), (9, 7, IpNumber::UDP));
        prop_assert_eq!(usize::from(ip.payload_length), rest.len());
        prop_assert_eq!(rest, &payload[..]);

        let left = udp.borrow_mut().pass(&payload).expect("it passes");
        let (ip, upper) = Ipv6Header::from_slice(&left).unwrap();
        prop_assert_eq!(usize::from(ip.payload_length), upper.len());
        let (udp, rest) = UdpHeader::from_slice(upper).unwrap();
        prop_assert_eq!((udp.source_port, udp.destination_port), (1234, 53));
        prop_assert_eq!(udp.checksum, udp.calc_checksum_ipv6(&ip, rest).unwrap());
        prop_assert_eq!(rest, &payload[..]);
    });
}

#[test]
fn what_gre_wraps_comes_out_again_and_only_whole() {
    let wrap = RefCell::new(Graph::new(
        "in -> GREEncap(0x0800, KEY 77, CHECKSUM true, SEQUENCE true) \
         -> IPEncap(gre, 1.2.3.4, 5.6.7.8) -> out0",
        1,
    ));
    let open = RefCell::new(Graph::new(
        "in -> CheckIPHeader -> StripIPHeader -> x :: CheckGREHeader -> StripGREHeader -> out0; \
         x[1] -> out1",
        2,
    ));
    proptest!(|(packet in packet(), at in 24_usize..100, by in 1_u8..)| {
        let data = packet.ipv4();
        let mut wrapped = wrap.borrow_mut().pass(&data).expect("it passes");
        let (ip, gre) = parts(&wrapped);
        prop_assert_eq!(ip.protocol, IpNumber::GRE);
        prop_assert!(is_same_sum(ip.header_checksum, ip.calc_header_checksum()));
        // Checksum, key and sequence number, version 0; then the type.
        prop_assert_eq!(&gre[..4], [0xB0, 0, 8, 0]);
        prop_assert_eq!(&gre[8..12], [0, 0, 0, 77]);
        prop_assert_eq!(open.borrow_mut().send(&wrapped), [(0, data)]);
        let at = at.min(wrapped.len() - 1);
        wrapped[at] ^= by;
        let left = open.borrow_mut().send(&wrapped);
        prop_assert_eq!((left.len(), left[0].0), (1, 1), "damage is seen");
    });
}
