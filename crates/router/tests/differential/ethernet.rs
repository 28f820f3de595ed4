//! Ethernet, tags and ARP: etherparse reads our frames, and builds those that we answer.

use crate::graph::Graph;
use crate::packets::{is_upper_right, packet, parts};
use etherparse::{
    ArpHardwareId, ArpOperation, ArpPacket, ArpPacketSlice, EtherType, Ethernet2Header,
    LinkExtSlice, NetSlice, PacketBuilder, SlicedPacket,
};
use proptest::prelude::*;
use std::cell::RefCell;

const OURS: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER: [u8; 6] = [2, 0, 0, 0, 0, 9];

/// The frame's header, and what follows it.
fn ethernet(frame: &[u8]) -> (Ethernet2Header, &[u8]) {
    Ethernet2Header::from_slice(frame).unwrap()
}

fn arp(operation: ArpOperation, macs: [[u8; 6]; 2], hosts: [[u8; 4]; 2]) -> Vec<u8> {
    let arp = ArpPacket::new(
        ArpHardwareId::ETHERNET,
        EtherType::IPV4,
        operation,
        &macs[0],
        &hosts[0],
        &macs[1],
        &hosts[1],
    );
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(macs[0], [255; 6]).arp(arp.unwrap());
    builder.write(&mut frame).unwrap();
    frame
}

/// Operation, hardware addresses and hosts, of the sender and the target.
type Said = (ArpOperation, [[u8; 6]; 2], [[u8; 4]; 2]);

fn said(frame: &[u8]) -> Said {
    let (header, rest) = ethernet(frame);
    assert_eq!(header.ether_type, EtherType::ARP);
    let arp = ArpPacketSlice::from_slice(rest).unwrap().to_packet();
    let arp = arp.try_eth_ipv4().unwrap();
    (
        arp.operation,
        [arp.sender_mac, arp.target_mac],
        [arp.sender_ipv4, arp.target_ipv4],
    )
}

#[test]
fn headers_that_are_put_on_mirrored_and_stripped() {
    let text = "in -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:9) -> t :: Tee -> out0;
        t[1] -> EtherMirror -> out1; t[2] -> Strip(14) -> out2; t[3] \
        -> EtherRewrite(2:0:0:0:0:9, 2:0:0:0:0:9) -> out3";
    let graph = RefCell::new(Graph::new(text, 4));
    proptest!(|(packet in packet())| {
        let data = packet.ipv4();
        let left = graph.borrow_mut().send(&data);
        prop_assert_eq!(left.len(), 4);
        let header = |n: usize| {
            let (header, rest) = ethernet(&left[n].1);
            assert_eq!((header.ether_type, rest), (EtherType::IPV4, &data[..]));
            (header.source, header.destination)
        };
        prop_assert_eq!(
            [header(0), header(1), header(3)],
            [(OURS, PEER), (PEER, OURS), (PEER, PEER)]
        );
        prop_assert_eq!(&left[2].1, &data);
    });
}

#[test]
fn tags_are_read_as_they_were_written() {
    let text = "in -> EtherVLANEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:9, VLAN_ID 7, VLAN_PCP 3)
        -> VLANEncap(VLAN_ID 100, VLAN_PCP 5, ETHERTYPE 0x88a8) -> t :: Tee -> out0;
        t[1] -> VLANDecap(ETHERTYPE 0x88a8) -> VLANDecap -> Strip(14) -> out1";
    let graph = RefCell::new(Graph::new(text, 2));
    proptest!(|(packet in packet())| {
        let data = packet.ipv4();
        let left = graph.borrow_mut().send(&data);
        let sliced = SlicedPacket::from_ethernet(&left[0].1).unwrap();
        let tags: Vec<_> = sliced.link_exts.iter().map(|tag| match tag {
            LinkExtSlice::Vlan(tag) => (
                tag.vlan_identifier().value(),
                tag.priority_code_point().value(),
            ),
            LinkExtSlice::Macsec(_) => panic!("no tag"),
        }).collect();
        prop_assert_eq!(tags, [(100, 5), (7, 3)]);
        prop_assert!(matches!(sliced.net, Some(NetSlice::Ipv4(_))));
        prop_assert_eq!(&left[1], &(1, data));
    });
}

#[test]
fn tags_that_etherparse_writes_are_taken_off() {
    let graph = RefCell::new(Graph::new("in -> VLANDecap -> out0", 1));
    let strip = RefCell::new(Graph::new("in -> StripEtherVLANHeader -> out0", 1));
    let payloads = || prop::collection::vec(any::<u8>(), 0..60);
    proptest!(|(vid in 0_u16..4096, is_tagged: bool, payload in payloads())| {
        let builder = PacketBuilder::ethernet2(OURS, PEER);
        let mut plain = Vec::new();
        builder.ipv4([1; 4], [2; 4], 9).udp(1, 2).write(&mut plain, &payload).unwrap();
        let mut tagged = Vec::new();
        let builder = PacketBuilder::ethernet2(OURS, PEER).single_vlan(vid.try_into().unwrap());
        builder.ipv4([1; 4], [2; 4], 9).udp(1, 2).write(&mut tagged, &payload).unwrap();
        let frame = if is_tagged { &tagged } else { &plain };
        let left = graph.borrow_mut().pass(frame);
        prop_assert_eq!(left.as_deref(), Some(&plain[..]));
        let left = strip.borrow_mut().pass(frame);
        prop_assert_eq!(left.as_deref(), Some(&plain[14..]));
    });
}

#[test]
fn arp_requests_are_answered() {
    let graph = RefCell::new(Graph::new(
        "in -> ARPResponder(10.0.0.0/8 2:0:0:0:0:1) -> out0",
        1,
    ));
    proptest!(|(src: [u8; 4], dst: [u8; 4], is_ours: bool, is_request: bool)| {
        let dst = if is_ours { [10, dst[1], dst[2], dst[3]] } else { dst };
        let operation = if is_request { ArpOperation::REQUEST } else { ArpOperation::REPLY };
        let left = graph.borrow_mut().pass(&arp(operation, [PEER, [0; 6]], [src, dst]));
        if !is_request || dst[0] != 10 {
            prop_assert_eq!(left, None);
            return Ok(());
        }
        let left = left.expect("it is answered");
        let (header, _) = ethernet(&left);
        prop_assert_eq!((header.source, header.destination), (OURS, PEER));
        prop_assert_eq!(said(&left), (ArpOperation::REPLY, [OURS, PEER], [dst, src]));
    });
}

#[test]
fn packets_wait_until_their_neighbour_has_answered() {
    let text = "in -> c :: Classifier(12/0806, -); q :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1);
        c[0] -> [1] q; c[1] -> Strip(14) -> CheckIPHeader -> [0] q; q -> out0";
    proptest!(ProptestConfig::with_cases(64), |(packet in packet())| {
        let mut graph = Graph::new(text, 1);
        let data = packet.ipv4();
        let framed = [&[0; 12], &[8, 0][..], &data].concat();
        let left = graph.send(&framed);
        prop_assert_eq!(left.len(), 1);
        let (header, _) = ethernet(&left[0].1);
        prop_assert_eq!((header.source, header.destination), (OURS, [255; 6]));
        let (operation, [sender, _], hosts) = said(&left[0].1);
        prop_assert_eq!(
            (operation, sender, hosts),
            (ArpOperation::REQUEST, OURS, [[10, 0, 0, 1], packet.dst])
        );
        prop_assert_eq!(graph.held(), 1);
        let answer = arp(ArpOperation::REPLY, [PEER, OURS], [packet.dst, [10, 0, 0, 1]]);
        let left = graph.send(&answer);
        prop_assert_eq!(left.len(), 1);
        let (header, rest) = ethernet(&left[0].1);
        prop_assert_eq!((header.source, header.destination, rest), (OURS, PEER, &data[..]));
        let (ip, upper) = parts(rest);
        prop_assert!(is_upper_right(&ip, upper));
        prop_assert_eq!(graph.held(), 0);
    });
}
