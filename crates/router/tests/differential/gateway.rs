//! What a gateway does last: options, source addresses, the whole way out in one element;
//! neighbours of IPv6; labels.

use crate::graph::Graph;
use crate::packets::{Packet, is_header_right, packet, parts};
use etherparse::{Ethernet2Header, Icmpv6Header, Icmpv6Type, IpNumber, Ipv6Header};
use proptest::prelude::*;
use std::cell::RefCell;

#[test]
fn fix_ip_src() {
    let marked = "in -> CheckIPHeader -> SetAnnoByte(FIX_IP_SRC, 1) -> FixIPSrc(10.0.0.1) -> out0";
    let graphs = [marked, "in -> CheckIPHeader -> FixIPSrc(10.0.0.1) -> out0"]
        .map(|text| RefCell::new(Graph::new(text, 1)));
    proptest!(|(packet in packet())| {
        let data = packet.ipv4();
        let fixed = graphs[0].borrow_mut().pass(&data).expect("it passes");
        prop_assert!(is_header_right(&fixed));
        let same = Packet { src: [10, 0, 0, 1], ..packet }.ipv4();
        // The checksum above is not its business.
        let ((ours, upper), (theirs, _)) = (parts(&fixed), parts(&same));
        prop_assert_eq!(
            (ours.source, ours.destination, upper),
            (theirs.source, theirs.destination, parts(&data).1)
        );
        let left = graphs[1].borrow_mut().pass(&data).expect("it passes");
        prop_assert_eq!(left, data);
    });
}

#[test]
fn routes_are_recorded() {
    let text = "in -> CheckIPHeader -> x :: IPGWOptions(10.0.0.1) -> out0; x[1] -> out1";
    let graph = RefCell::new(Graph::new(text, 2));
    proptest!(|(packet in packet(), slots in 1_usize..9, used in 0_usize..10)| {
        let mut header = parts(&packet.ipv4()).0;
        let (len, pointer) = (3 + 4 * slots, 4 + 4 * used.min(slots));
        let mut options = vec![7, len as u8, pointer as u8];
        options.resize(len + 1, 0);
        header.options = options.as_slice().try_into().unwrap();
        header.total_len = header.header_len() as u16 + 8;
        header.header_checksum = header.calc_header_checksum();
        let mut data = header.to_bytes().to_vec();
        data.extend([1; 8]);
        let left = graph.borrow_mut().pass(&data).expect("it passes");
        prop_assert!(is_header_right(&left));
        let ours = parts(&left).0;
        if used < slots {
            options[2] += 4;
            options[3 + 4 * used..7 + 4 * used].copy_from_slice(&[10, 0, 0, 1]);
        }
        prop_assert_eq!(&ours.options[..], &options[..]);
        prop_assert_eq!(&left[usize::from(ours.header_len() as u16)..], &[1; 8]);
    });
}

#[test]
fn ip_output_combo() {
    let text = "in -> CheckIPHeader -> x :: IPOutputCombo(9, 10.0.0.1, 1500) -> out0; \
                x[1], x[2], x[3], x[4] => Discard, Discard, Discard, Discard";
    let graph = RefCell::new(Graph::new(text, 1));
    proptest!(|(packet in packet())| {
        let data = packet.ipv4();
        let left = graph.borrow_mut().pass(&data).expect("it passes");
        prop_assert!(is_header_right(&left));
        let (ours, upper) = parts(&left);
        let (mut theirs, same) = parts(&data);
        theirs.time_to_live -= 1;
        theirs.header_checksum = ours.header_checksum;
        prop_assert_eq!((ours, upper), (theirs, same));
    });
}

#[test]
fn solicitations_of_neighbours_are_answered_where_the_target_is_covered() {
    let text = "in -> IP6NDAdvertiser(2001:db8::/32 2:0:0:0:0:1) -> out0";
    let graph = RefCell::new(Graph::new(text, 1));
    proptest!(|(host: [u8; 12], is_covered: bool, asker: [u8; 8])| {
        let mut target = [0; 16];
        target[..4].copy_from_slice(&[0x20, 0x01, 0x0D, if is_covered { 0xB8 } else { 0xB9 }]);
        target[4..].copy_from_slice(&host);
        let mut source = [0; 16];
        source[..2].copy_from_slice(&[0xFE, 0x80]);
        source[8..].copy_from_slice(&asker);
        let mut to = [0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0, 0, 0];
        to[13..].copy_from_slice(&target[13..]);
        // RFC 4861, section 4.3: reserved, the target, the source's link-layer address.
        let body = [&target[..], &[1, 1, 2, 0, 0, 0, 0, 2]].concat();
        let kind = Icmpv6Type::Unknown { type_u8: 135, code_u8: 0, bytes5to8: [0; 4] };
        let icmp = Icmpv6Header::with_checksum(kind, source, to, &body).unwrap();
        let ip = Ipv6Header {
            payload_length: (icmp.header_len() + body.len()) as u16,
            next_header: IpNumber::IPV6_ICMP,
            hop_limit: 255,
            source,
            destination: to,
            ..Ipv6Header::default()
        };
        let ether = Ethernet2Header {
            source: [2, 0, 0, 0, 0, 2],
            destination: [0x33, 0x33, 0xFF, target[13], target[14], target[15]],
            ether_type: etherparse::EtherType::IPV6,
        };
        let frame = [&ether.to_bytes()[..], &ip.to_bytes(), &icmp.to_bytes(), &body].concat();
        let left = graph.borrow_mut().pass(&frame);
        prop_assert_eq!(left.is_some(), is_covered);
        let Some(left) = left else { return Ok(()) };
        let (ether, rest) = Ethernet2Header::from_slice(&left).unwrap();
        let (ip, message) = Ipv6Header::from_slice(rest).unwrap();
        prop_assert_eq!(
            (ether.destination, ether.source),
            ([2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1])
        );
        prop_assert_eq!((ip.source, ip.destination, ip.hop_limit), (target, source, 255));
        let (icmp, body) = Icmpv6Header::from_slice(message).unwrap();
        let sum = icmp.icmp_type.calc_checksum(ip.source, ip.destination, body).unwrap();
        prop_assert_eq!((message[0], sum), (136, icmp.checksum));
        prop_assert_eq!(&body[..16], &target[..]);
    });
}

#[test]
fn what_labels_cover_comes_out_as_etherparse_made_it() {
    // etherparse knows no labels: the stack is compared with RFC 3032, section 2.1.
    let push = RefCell::new(Graph::new(
        "in -> CheckIPHeader -> MPLSPush(1000, TC 5, TTL 9) \
         -> MPLSPush(16, TC 1, TTL 64, BOTTOM false) -> out0",
        1,
    ));
    let pop = RefCell::new(Graph::new("in -> MPLSPop -> MPLSPop -> out0", 1));
    proptest!(|(packet in packet())| {
        let data = packet.ipv4();
        let labelled = push.borrow_mut().pass(&data).expect("it passes");
        let stack = [16_u32 << 12 | 1 << 9 | 64, 1000 << 12 | 5 << 9 | 1 << 8 | 9];
        prop_assert_eq!(&labelled[..8], &stack.map(u32::to_be_bytes).concat()[..]);
        prop_assert_eq!(&labelled[8..], &data[..]);
        let left = pop.borrow_mut().pass(&labelled).expect("it passes");
        prop_assert_eq!(parts(&left).0.destination, parts(&data).0.destination);
        prop_assert_eq!(&left[left.len() - data.len() + 20..], &data[20..]);
    });
}
