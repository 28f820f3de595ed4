//! Our headers against etherparse's: what it builds we read, what we build it reads.

use etherparse::{
    IpNumber, Ipv4Header, LinkExtSlice, LinkSlice, NetSlice, PacketBuilder, SlicedPacket,
    TransportSlice,
};
use proptest::prelude::*;
use trammel_packet::headers::arp::{self, Arp};
use trammel_packet::headers::checksum::{Sum, checksum, for_udp};
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::flow::FiveTuple;
use trammel_packet::headers::icmp::Icmp;
use trammel_packet::headers::icmp6::Icmp6;
use trammel_packet::headers::ipv4::{self, Ipv4, protocol};
use trammel_packet::headers::ipv6::{self, Ipv6};
use trammel_packet::headers::tcp::{Tcp, flag};
use trammel_packet::headers::udp::Udp;
use trammel_packet::headers::vlan::Vlan;
use trammel_packet::headers::{U16, U32};

proptest! {
    #[test]
    fn tcp_over_ipv4_with_a_tag_as_etherparse_builds_it(
        macs: [[u8; 6]; 2], vid in 0_u16..4096, hosts: [[u8; 4]; 2], ttl: u8, ports: [u16; 2],
        seq: u32, ack: u32, window: u16, syn: bool, fin: bool,
        payload in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let builder = PacketBuilder::ethernet2(macs[0], macs[1])
            .single_vlan(vid.try_into().unwrap())
            .ipv4(hosts[0], hosts[1], ttl)
            .tcp(ports[0], ports[1], seq, window)
            .ack(ack);
        let builder = if syn { builder.syn() } else { builder };
        let builder = if fin { builder.fin() } else { builder };
        let mut data = Vec::new();
        builder.write(&mut data, &payload).unwrap();

        let ether = Ether::read(&data).unwrap();
        prop_assert_eq!((ether.src, ether.dst), (macs[0], macs[1]));
        prop_assert_eq!(ether.ethertype.get(), ethertype::VLAN);
        let vlan = Vlan::read(&data[14..]).unwrap();
        prop_assert_eq!((vlan.vid(), vlan.ethertype.get()), (vid, ethertype::IP));
        let packet = &data[18..];
        let ip = Ipv4::read(packet).unwrap();
        prop_assert_eq!((ip.version(), ip.header_len(), ip.ttl), (4, 20, ttl));
        prop_assert_eq!((ip.src, ip.dst, ip.protocol), (hosts[0], hosts[1], protocol::TCP));
        prop_assert_eq!(usize::from(ip.total_length.get()), packet.len());
        prop_assert_eq!(checksum(&packet[..20]), 0);
        let tcp = Tcp::read(&packet[20..]).unwrap();
        prop_assert_eq!((tcp.sport.get(), tcp.dport.get()), (ports[0], ports[1]));
        prop_assert_eq!((tcp.seq.get(), tcp.ack.get(), tcp.window.get()), (seq, ack, window));
        let flags = flag::ACK | if syn { flag::SYN } else { 0 } | if fin { flag::FIN } else { 0 };
        prop_assert_eq!((tcp.flags, tcp.header_len()), (flags, 20));
        let len = (packet.len() - 20) as u16;
        let sum = Sum::ZERO.pseudo_v4(ip.src, ip.dst, ip.protocol, len).bytes(&packet[20..]);
        prop_assert_eq!(sum.checksum(), 0);
        let flow = FiveTuple::of(packet).unwrap();
        prop_assert_eq!((flow.src, flow.dst), (hosts[0].into(), hosts[1].into()));
        prop_assert_eq!(
            (flow.sport, flow.dport, flow.protocol), (ports[0], ports[1], protocol::TCP)
        );
    }

    #[test]
    fn udp_over_ipv6_as_etherparse_reads_it(
        macs: [[u8; 6]; 2], hosts: [[u8; 16]; 2], hop_limit: u8, class: u8,
        label in 0_u32..0x10_0000,
        ports: [u16; 2], payload in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let length = (Udp::LEN + payload.len()) as u16;
        let mut udp = Udp {
            sport: U16::new(ports[0]), dport: U16::new(ports[1]), length: U16::new(length),
            checksum: U16::ZERO,
        };
        let sum = Sum::ZERO.pseudo_v6(&hosts[0], &hosts[1], protocol::UDP, length.into());
        udp.checksum.set(for_udp(sum.bytes(udp.bytes()).bytes(&payload)));
        let ip = Ipv6 {
            version_class_flow: U32::new(6 << 28 | u32::from(class) << 20 | label),
            payload_length: U16::new(length), next_header: protocol::UDP, hop_limit,
            src: hosts[0], dst: hosts[1],
        };
        let ether = Ether { dst: macs[0], src: macs[1], ethertype: U16::new(ethertype::IP6) };
        let data = [ether.bytes(), ip.bytes(), udp.bytes(), &payload].concat();

        let sliced = SlicedPacket::from_ethernet(&data).unwrap();
        let Some(LinkSlice::Ethernet2(their_ether)) = sliced.link else { panic!("no Ethernet") };
        prop_assert_eq!((their_ether.destination(), their_ether.source()), (macs[0], macs[1]));
        let Some(NetSlice::Ipv6(their_ip)) = sliced.net else { panic!("no IPv6") };
        let theirs = their_ip.header().to_header();
        prop_assert_eq!((theirs.source, theirs.destination), (hosts[0], hosts[1]));
        prop_assert_eq!((theirs.traffic_class, theirs.flow_label.value()), (class, label));
        prop_assert_eq!((ip.version(), ip.traffic_class(), ip.flow_label()), (6, class, label));
        let Some(TransportSlice::Udp(their_udp)) = sliced.transport else { panic!("no UDP") };
        let their_udp = their_udp.to_header();
        prop_assert_eq!((their_udp.source_port, their_udp.destination_port), (ports[0], ports[1]));
        prop_assert_eq!(
            their_udp.checksum,
            their_udp.calc_checksum_ipv6(&theirs, &payload).unwrap()
        );
        let upper = ipv6::upper(&data[14..]).unwrap();
        prop_assert_eq!((upper.protocol, upper.at), (protocol::UDP, 40));
    }

    #[test]
    fn an_ipv4_header_with_options_as_etherparse_reads_it(
        tos: u8, identification: u16, flags in 0_u16..8, offset in 0_u16..8192, ttl: u8,
        hosts: [[u8; 4]; 2],
        words in 0_usize..11, fill: u8,
    ) {
        // The reserved bit is not in etherparse's structure.
        let flags = flags & 3;
        let mut data = vec![fill; 20 + 4 * words];
        *Ipv4::read_mut(&mut data).unwrap() = Ipv4 {
            version_ihl: 0x45 + words as u8, tos, total_length: U16::new(data.len() as u16),
            identification: U16::new(identification),
            flags_fragment: U16::new(flags << 13 | offset), ttl,
            protocol: 200, checksum: U16::ZERO, src: hosts[0], dst: hosts[1],
        };
        ipv4::set_checksum(&mut data);
        let (theirs, rest) = Ipv4Header::from_slice(&data).unwrap();
        prop_assert!(rest.is_empty());
        let ours = Ipv4::read(&data).unwrap();
        prop_assert_eq!((ours.dscp(), ours.ecn()), (theirs.dscp.value(), theirs.ecn.value()));
        prop_assert_eq!(theirs.identification, identification);
        prop_assert_eq!(theirs.fragment_offset.value(), ours.fragment_offset());
        prop_assert_eq!(theirs.more_fragments, ours.flags_fragment.get() & ipv4::MF != 0);
        prop_assert_eq!(theirs.dont_fragment, ours.flags_fragment.get() & ipv4::DF != 0);
        prop_assert_eq!(ours.is_fragment(), theirs.is_fragmenting_payload());
        prop_assert_eq!(theirs.protocol, IpNumber(200));
        prop_assert_eq!(
            (theirs.time_to_live, theirs.source, theirs.destination), (ttl, hosts[0], hosts[1])
        );
        prop_assert_eq!(theirs.header_checksum, theirs.calc_header_checksum());
    }

    #[test]
    fn icmp_echoes_as_etherparse_builds_them(
        hosts: [[u8; 4]; 2], id: u16, seq: u16,
        payload in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut data = Vec::new();
        PacketBuilder::ipv4(hosts[0], hosts[1], 64)
            .icmpv4_echo_request(id, seq).write(&mut data, &payload).unwrap();
        let icmp = Icmp::read(&data[20..]).unwrap();
        prop_assert_eq!(
            (icmp.kind, icmp.code, icmp.identifier.get(), icmp.sequence.get()), (8, 0, id, seq)
        );
        prop_assert_eq!(checksum(&data[20..]), 0);

        let mut data = Vec::new();
        let hosts = hosts.map(|host| { let mut v6 = [0; 16]; v6[12..].copy_from_slice(&host); v6 });
        PacketBuilder::ipv6(hosts[0], hosts[1], 64)
            .icmpv6_echo_reply(id, seq).write(&mut data, &payload).unwrap();
        let icmp = Icmp6::read(&data[40..]).unwrap();
        prop_assert_eq!((icmp.kind, icmp.word.get()), (129, u32::from(id) << 16 | u32::from(seq)));
        let len = (data.len() - 40) as u32;
        let sum = Sum::ZERO.pseudo_v6(
            &hosts[0], &hosts[1], protocol::ICMP6, len
        ).bytes(&data[40..]);
        prop_assert_eq!(sum.checksum(), 0);
    }

    #[test]
    fn arp_as_etherparse_reads_it(macs: [[u8; 6]; 2], hosts: [[u8; 4]; 2], is_reply: bool) {
        let op = if is_reply { arp::OP_REPLY } else { arp::OP_REQUEST };
        let ours = Arp {
            hrd: U16::new(arp::HRD_ETHERNET), pro: U16::new(ethertype::IP), hln: 6, pln: 4,
            op: U16::new(op),
            sha: macs[0], spa: hosts[0], tha: macs[1], tpa: hosts[1],
        };
        prop_assert!(ours.is_ethernet_ipv4());
        let theirs = etherparse::ArpPacketSlice::from_slice(ours.bytes()).unwrap().to_packet();
        let theirs = theirs.try_eth_ipv4().unwrap();
        prop_assert_eq!(theirs.operation.0, op);
        prop_assert_eq!((theirs.sender_mac, theirs.target_mac), (macs[0], macs[1]));
        prop_assert_eq!((theirs.sender_ipv4, theirs.target_ipv4), (hosts[0], hosts[1]));
    }

    /// Wherever etherparse sees a tag or a transport header in arbitrary bytes, we read the same
    /// fields.
    #[test]
    fn bytes_with_flipped_bits(
        mut data in prop::collection::vec(any::<u8>(), 0..120), kind in 0..3_u8
    ) {
        if data.len() > 24 {
            let ethertype = [ethertype::IP, ethertype::IP6, ethertype::VLAN][usize::from(kind)];
            data[12..14].copy_from_slice(&ethertype.to_be_bytes());
            data[14] = [0x45, 0x60, data[14]][usize::from(kind)];
            data[23] = [6, 17, 1][usize::from(data[23] % 3)];
        }
        FiveTuple::of(&data);
        let Ok(sliced) = SlicedPacket::from_ethernet(&data) else { return Ok(()) };
        if let Some(LinkExtSlice::Vlan(tag)) = sliced.link_exts.first() {
            let ours = Vlan::read(&data[14..]).unwrap();
            prop_assert_eq!(ours.vid(), tag.vlan_identifier().value());
            prop_assert_eq!(ours.pcp(), tag.priority_code_point().value());
            prop_assert_eq!(ours.is_drop_eligible(), tag.drop_eligible_indicator());
        } else if let Some(TransportSlice::Udp(udp)) = &sliced.transport {
            let flow = FiveTuple::of(&data[14..]).unwrap();
            prop_assert_eq!((flow.sport, flow.dport), (udp.source_port(), udp.destination_port()));
        } else if let Some(TransportSlice::Tcp(tcp)) = &sliced.transport {
            let flow = FiveTuple::of(&data[14..]).unwrap();
            prop_assert_eq!((flow.sport, flow.dport), (tcp.source_port(), tcp.destination_port()));
        }
    }
}

#[test]
fn headers_that_etherparse_lacks() {
    use trammel_packet::headers::gre::{self, Gre};
    use trammel_packet::headers::mpls::Mpls;

    let entry = Mpls::new(0xABCDE, 5, true, 63);
    assert_eq!(entry.bytes(), [0xAB, 0xCD, 0xEB, 63]);
    assert_eq!((entry.label(), entry.traffic_class()), (0xABCDE, 5));
    assert!(entry.is_bottom());

    let mut data = (gre::CHECKSUM | gre::KEY).to_be_bytes().to_vec();
    data.extend([0x08, 0x00, 0x12, 0x34, 0, 0, 0, 0, 0, 77]);
    assert_eq!(Gre::read(&data).unwrap().header_len(), 12);
    assert_eq!(Gre::key(&data), Some(77));
    assert_eq!(Gre::key(&data[..11]), None);
    assert_eq!(Gre::read(&data[..3]), None);
}
