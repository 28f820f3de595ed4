//! Fragments: etherparse puts together what we cut, we put together what we cut in any order, and
//! bytes that never were together do not come together.

use crate::graph::Graph;
use crate::packets::{Packet, Upper, is_same_sum, packet, parts};
use etherparse::SlicedPacket;
use etherparse::defrag::IpDefragPool;
use proptest::prelude::*;
use std::cell::RefCell;

/// A packet that needs several fragments.
fn long_packet() -> impl Strategy<Value = Packet> {
    let payload = prop::collection::vec(any::<u8>(), 0..2000);
    (packet(), payload).prop_map(|(packet, payload)| Packet {
        payload,
        is_whole: false,
        ..packet
    })
}

#[test]
fn etherparse_puts_together_what_ip_fragmenter_cuts() {
    for mtu in [68, 300, 576, 1499] {
        let text = format!("in -> CheckIPHeader -> IPFragmenter({mtu}) -> out0");
        let graph = RefCell::new(Graph::new(&text, 1));
        proptest!(ProptestConfig::with_cases(64), |(packet in long_packet())| {
            let data = packet.ipv4();
            let left = graph.borrow_mut().send(&data);
            if data.len() <= mtu {
                prop_assert_eq!(left, [(0, data)]);
                return Ok(());
            }
            let mut pool = IpDefragPool::<(), ()>::new();
            let mut whole = None;
            for (_, fragment) in &left {
                prop_assert!(whole.is_none() && fragment.len() <= mtu);
                let (header, _) = parts(fragment);
                prop_assert!(is_same_sum(header.header_checksum, header.calc_header_checksum()));
                prop_assert_eq!((header.source, header.destination), (packet.src, packet.dst));
                prop_assert_eq!(usize::from(header.total_len), fragment.len());
                let sliced = SlicedPacket::from_ip(fragment).unwrap();
                whole = pool.process_sliced_packet(&sliced, (), ()).unwrap();
            }
            let whole = whole.expect("all fragments came");
            prop_assert_eq!(&whole.payload[..], parts(&data).1);
            prop_assert_eq!(whole.ip_number.0, packet.protocol());
        });
    }
}

#[test]
fn fragments_in_any_order_become_the_packet_again() {
    let cut = RefCell::new(Graph::new(
        "in -> CheckIPHeader -> IPFragmenter(200) -> out0",
        1,
    ));
    let join = RefCell::new(Graph::new(
        "in -> CheckIPHeader -> IPReassembler -> out0",
        1,
    ));
    let fragments = long_packet().prop_flat_map(move |packet| {
        let data = packet.ipv4();
        let left = cut.borrow_mut().send(&data);
        let pieces: Vec<Vec<u8>> = left.into_iter().map(|(_, piece)| piece).collect();
        (Just(data), Just(pieces).prop_shuffle())
    });
    proptest!(ProptestConfig::with_cases(128), |((data, pieces) in fragments)| {
        let left = join.borrow_mut().send_all(&pieces);
        prop_assert_eq!(left, [(0, data)]);
        prop_assert_eq!(join.borrow_mut().held(), 0);
    });
}

#[test]
fn what_must_not_be_cut_leaves_as_it_is() {
    let text = "in -> CheckIPHeader -> x :: IPFragmenter(300) -> out0; x[1] -> out1";
    let graph = RefCell::new(Graph::new(text, 2));
    proptest!(ProptestConfig::with_cases(64), |(packet in long_packet())| {
        let data = Packet { is_whole: true, ..packet }.ipv4();
        let output = usize::from(data.len() > 300);
        prop_assert_eq!(graph.borrow_mut().send(&data), [(output, data)]);
    });
}

#[test]
fn etherparse_puts_together_what_ip6_fragmenter_cuts() {
    let graph = RefCell::new(Graph::new(
        "in -> CheckIP6Header -> IP6Fragmenter(1280) -> out0",
        1,
    ));
    proptest!(ProptestConfig::with_cases(64), |(packet in long_packet())| {
        let data = packet.ipv6();
        let left = graph.borrow_mut().send(&data);
        if data.len() <= 1280 {
            prop_assert_eq!(left, [(0, data)]);
            return Ok(());
        }
        let mut pool = IpDefragPool::<(), ()>::new();
        let mut whole = None;
        for (_, fragment) in &left {
            prop_assert!(whole.is_none() && fragment.len() <= 1280);
            let sliced = SlicedPacket::from_ip(fragment).unwrap();
            whole = pool.process_sliced_packet(&sliced, (), ()).unwrap();
        }
        prop_assert_eq!(&whole.expect("all fragments came").payload[..], &data[40..]);
    });
}

#[test]
fn tcp_fragmenter_cuts_segments_whose_payloads_follow_one_another() {
    let graph = RefCell::new(Graph::new(
        "in -> CheckIPHeader -> TCPFragmenter(MTU 300) -> out0",
        1,
    ));
    proptest!(ProptestConfig::with_cases(64), |(packet in long_packet(), seq: u32)| {
        let data = Packet { upper: Upper::Tcp([1, 2], seq, false), ..packet }.ipv4();
        let (_, segment) = parts(&data);
        let mut payload: Vec<u8> = Vec::new();
        for (_, piece) in graph.borrow_mut().send(&data) {
            let (header, upper) = parts(&piece);
            prop_assert!(crate::packets::is_upper_right(&header, upper));
            prop_assert!(is_same_sum(header.header_checksum, header.calc_header_checksum()));
            let (tcp, rest) = etherparse::TcpHeader::from_slice(upper).unwrap();
            prop_assert_eq!(tcp.sequence_number, seq.wrapping_add(payload.len() as u32));
            payload.extend(rest);
        }
        prop_assert_eq!(&payload[..], &segment[20..]);
    });
}
