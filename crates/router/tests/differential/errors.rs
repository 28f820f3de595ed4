//! Errors of ICMP: they go where the packet came from, quote it, and are right in etherparse's
//! eyes.

use crate::graph::Graph;
use crate::packets::{Packet, Upper, is_icmp_right, is_same_sum, packet, parts};
use etherparse::icmpv4::{DestUnreachableHeader, TimeExceededCode};
use etherparse::icmpv6;
use etherparse::{
    IcmpEchoHeader, Icmpv4Slice, Icmpv4Type, Icmpv6Header, Icmpv6Type, IpNumber, Ipv6Header,
};
use proptest::prelude::*;
use std::cell::RefCell;

/// Sends packets to an ICMPError with these arguments; its kind of error is `kind`.
fn errors(arguments: &str, kind: impl Fn(&Icmpv4Type) -> bool) {
    let text = format!("in -> CheckIPHeader -> ICMPError(10.0.0.1, {arguments}) -> out0");
    let graph = RefCell::new(Graph::new(&text, 1));
    let payload = prop::collection::vec(any::<u8>(), 0..1000);
    proptest!(|(packet in packet(), payload in payload)| {
        prop_assume!(packet.src[0] != 127);
        let data = Packet { payload, ..packet.clone() }.ipv4();
        let left = graph.borrow_mut().pass(&data).expect("it is answered");
        let (ip, message) = parts(&left);
        prop_assert_eq!((ip.source, ip.destination), ([10, 0, 0, 1], packet.src));
        prop_assert_eq!((ip.protocol, usize::from(ip.total_len)), (IpNumber::ICMP, left.len()));
        prop_assert!(is_same_sum(ip.header_checksum, ip.calc_header_checksum()));
        prop_assert!(is_icmp_right(message));
        let icmp = Icmpv4Slice::from_slice(message).unwrap();
        prop_assert!(kind(&icmp.icmp_type()), "{:?}", icmp.icmp_type());
        // RFC 1812, §4.3.2.3: as much as fits 576 bytes.
        let quoted = data.len().min(576 - 28);
        prop_assert_eq!(icmp.payload(), &data[..quoted]);
    });
}

#[test]
fn icmp_errors() {
    errors("timeexceeded", |kind| {
        *kind == Icmpv4Type::TimeExceeded(TimeExceededCode::TtlExceededInTransit)
    });
    errors("unreachable, host", |kind| {
        *kind == Icmpv4Type::DestinationUnreachable(DestUnreachableHeader::Host)
    });
    errors("unreachable, needfrag, PMTU 1400", |kind| {
        let needed = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: 1400 };
        *kind == Icmpv4Type::DestinationUnreachable(needed)
    });
}

#[test]
fn no_error_answers_an_error_or_what_went_to_many() {
    let text = "in -> CheckIPHeader -> ICMPError(10.0.0.1, timeexceeded) -> out0";
    let graph = RefCell::new(Graph::new(text, 1));
    let kinds = || prop::sample::select(vec![3_u8, 4, 5, 11, 12]);
    proptest!(|(packet in packet(), group in 224_u8..240, kind in kinds())| {
        let to_group = Packet { dst: [group, 0, 0, 1], ..packet.clone() }.ipv4();
        prop_assert_eq!(graph.borrow_mut().pass(&to_group), None);
        let mut error = Packet { upper: Upper::Echo(0, 0), ..packet.clone() }.ipv4();
        error[20 + 4 * packet.option_words] = kind;
        prop_assert_eq!(graph.borrow_mut().pass(&error), None);
    });
}

#[test]
fn icmp6_errors() {
    let text = "in -> CheckIP6Header -> ICMP6Error(fe80::1, 3, 0) -> out0";
    let graph = RefCell::new(Graph::new(text, 1));
    let payload = prop::collection::vec(any::<u8>(), 0..2000);
    proptest!(|(packet in packet(), payload in payload)| {
        let data = Packet { payload, ..packet }.ipv6();
        let (asked, _) = Ipv6Header::from_slice(&data).unwrap();
        let left = graph.borrow_mut().pass(&data).expect("it is answered");
        let (ip, message) = Ipv6Header::from_slice(&left).unwrap();
        prop_assert_eq!((ip.destination, ip.next_header), (asked.source, IpNumber::IPV6_ICMP));
        prop_assert_eq!(usize::from(ip.payload_length), message.len());
        let (icmp, quoted) = Icmpv6Header::from_slice(message).unwrap();
        prop_assert_eq!(
            &icmp.icmp_type,
            &Icmpv6Type::TimeExceeded(icmpv6::TimeExceededCode::HopLimitExceeded)
        );
        let sum = icmp.icmp_type.calc_checksum(ip.source, ip.destination, quoted).unwrap();
        prop_assert!(is_same_sum(sum, icmp.checksum));
        // RFC 4443, §2.4 (c): as much as fits the least MTU.
        prop_assert_eq!(quoted, &data[..data.len().min(1280 - 48)]);
    });
}

#[test]
fn pings_are_answered() {
    let graph = RefCell::new(Graph::new(
        "in -> CheckIPHeader -> ICMPPingResponder -> out0",
        1,
    ));
    proptest!(|(packet in packet(), id: u16, seq: u16)| {
        let data = Packet { upper: Upper::Echo(id, seq), option_words: 0, ..packet.clone() }.ipv4();
        let left = graph.borrow_mut().pass(&data).expect("it is answered");
        let (ip, message) = parts(&left);
        prop_assert_eq!((ip.source, ip.destination), (packet.dst, packet.src));
        prop_assert!(is_same_sum(ip.header_checksum, ip.calc_header_checksum()));
        prop_assert!(is_icmp_right(message));
        let icmp = Icmpv4Slice::from_slice(message).unwrap();
        let reply = Icmpv4Type::EchoReply(IcmpEchoHeader { id, seq });
        prop_assert_eq!(icmp.icmp_type(), reply);
        prop_assert_eq!(icmp.payload(), &packet.payload[..]);
    });
}
