//! Frames of TCP: what is written is read back, etherparse reads the same, and damage is refused.

use etherparse::{
    LinkSlice, NetSlice, PacketBuilder, SlicedPacket, TcpOptionElement, TransportSlice,
};
use proptest::prelude::*;
use std::net::SocketAddrV4;
use trammel_packet::headers::ether::Ether;
use trammel_peer::codec::{LARGEST_FRAME, Refusal, Route, decode, encode};
use trammel_tcp::segment::{Ecn, Flags, Options, SackBlock, Segment};

const ECN: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

/// A SYN or another segment, with options that it may have.
fn segments() -> impl Strategy<Value = Segment> {
    let numbers = any::<(u32, u32, u32, u32, u16, u8)>();
    let options = (any::<bool>(), any::<bool>(), 0..=15_u8, 1..=1460_u16);
    let blocks = (0..=4_u8, any::<[u32; 8]>(), 0..4_usize, 0..1400_u32);
    (numbers, options, blocks).prop_map(|(numbers, options, blocks)| {
        let (seq, ack, ts_val, ts_ecr, window, flags) = numbers;
        let (timestamps, sack_permitted, wscale_plus_1, mss) = options;
        let (sack_count, edges, ecn, len) = blocks;
        let base = Segment {
            seq,
            ack,
            window,
            len,
            ecn: ECN[ecn],
            flags: Flags(u16::from(flags)).with(Flags::ACK),
            ts_val: if timestamps { ts_val } else { 0 },
            ts_ecr: if timestamps { ts_ecr } else { 0 },
            options: Options {
                timestamps,
                ..Options::default()
            },
            ..Segment::default()
        };
        if base.flags.has(Flags::SYN) {
            let options = Options {
                timestamps,
                sack_permitted,
                wscale_plus_1,
            };
            return Segment {
                mss,
                options,
                ..base
            };
        }
        let mut segment = base;
        segment.sack_count = sack_count.min(if timestamps { 3 } else { 4 });
        let used = usize::from(segment.sack_count);
        for (block, edges) in segment.sack[..used].iter_mut().zip(edges.chunks_exact(2)) {
            *block = SackBlock {
                start: edges[0],
                end: edges[1],
            };
        }
        segment
    })
}

fn routes() -> impl Strategy<Value = Route> {
    any::<([[u8; 6]; 2], [([u8; 4], u16); 2])>().prop_map(|(macs, ends)| {
        let [from, to] = ends.map(|(ip, port)| SocketAddrV4::new(ip.into(), port));
        Route {
            from_mac: macs[0],
            to_mac: macs[1],
            from,
            to,
        }
    })
}

/// The frame of `segment`; each byte of its payload is `byte`.
fn frame(route: &Route, segment: &Segment, byte: u8) -> Vec<u8> {
    // What lay in the buffer before must not matter.
    let mut frame = [0x5a; LARGEST_FRAME];
    let bytes = encode(route, segment, 7, &mut frame, |payload| payload.fill(byte));
    frame[..bytes].to_vec()
}

/// What etherparse calls the options of `segment`.
fn elements(segment: &Segment) -> Vec<TcpOptionElement> {
    let mut elements = Vec::new();
    if segment.flags.has(Flags::SYN) {
        elements.push(TcpOptionElement::MaximumSegmentSize(segment.mss));
        if segment.options.sack_permitted {
            elements.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
        }
    }
    if segment.options.timestamps {
        elements.push(TcpOptionElement::Timestamp(segment.ts_val, segment.ts_ecr));
    }
    if segment.options.wscale_plus_1 > 0 {
        let shift = segment.options.wscale_plus_1 - 1;
        elements.push(TcpOptionElement::WindowScale(shift));
    }
    if let [first, rest @ ..] = segment.sack_blocks() {
        let mut more = [None; 3];
        for (more, block) in more.iter_mut().zip(rest) {
            *more = Some((block.start, block.end));
        }
        let first = (first.start, first.end);
        elements.push(TcpOptionElement::SelectiveAcknowledgement(first, more));
    }
    elements
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        route in routes(), segment in segments(), byte: u8, padding in 0..20_usize
    ) {
        let mut frame = frame(&route, &segment, byte);
        prop_assert_eq!(frame.len() as u32, Ether::LEN as u32 + segment.ip_bytes());
        frame.resize(frame.len() + padding, 0xee);
        let arrival = decode(&frame[Ether::LEN..]).unwrap();
        prop_assert_eq!(
            (arrival.from, arrival.to, arrival.segment), (route.from, route.to, segment)
        );
        prop_assert_eq!(arrival.payload, &vec![byte; segment.len as usize][..]);
    }

    #[test]
    fn etherparse_reads_the_same(route in routes(), segment in segments(), byte: u8) {
        let frame = frame(&route, &segment, byte);
        let sliced = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(LinkSlice::Ethernet2(ether)) = sliced.link else { panic!("no Ethernet") };
        prop_assert_eq!((ether.source(), ether.destination()), (route.from_mac, route.to_mac));
        let Some(NetSlice::Ipv4(ip)) = sliced.net else { panic!("no IPv4") };
        let header = ip.header().to_header();
        prop_assert_eq!(header.header_checksum, header.calc_header_checksum());
        prop_assert_eq!(ECN[usize::from(header.ecn.value())], segment.ecn);
        prop_assert!(header.dont_fragment);
        prop_assert_eq!(
            (header.source, header.destination), (route.from.ip().octets(), route.to.ip().octets())
        );
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
        prop_assert_eq!(
            tcp.checksum(), tcp.calc_checksum_ipv4(header.source, header.destination).unwrap()
        );
        prop_assert_eq!(
            (tcp.source_port(), tcp.destination_port()), (route.from.port(), route.to.port())
        );
        prop_assert_eq!(
            (tcp.sequence_number(), tcp.acknowledgment_number()), (segment.seq, segment.ack)
        );
        let flags = u16::from(tcp.slice()[13]);
        prop_assert_eq!((tcp.window_size(), flags), (segment.window, segment.flags.0));
        let options: Vec<_> = tcp.options_iterator().map(Result::unwrap).filter(
            |option| *option != TcpOptionElement::Noop
        ).collect();
        prop_assert_eq!(options, elements(&segment));
        prop_assert_eq!(tcp.payload().len() as u32, segment.len);
    }

    #[test]
    fn what_etherparse_writes_is_read(
        ends in any::<[([u8; 4], u16); 2]>(), seq: u32, ack: u32, window: u16,
        stamps: (u32, u32), block: (u32, u32),
        payload in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let [(from, from_port), (to, to_port)] = ends;
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([1; 6], [2; 6])
            .ipv4(from, to, 64)
            .tcp(from_port, to_port, seq, window)
            .ack(ack)
            .psh()
            // In an order and with padding that are not ours.
            .options(&[
                TcpOptionElement::SelectiveAcknowledgement(block, [None; 3]),
                TcpOptionElement::Noop,
                TcpOptionElement::Timestamp(stamps.0, stamps.1),
            ])
            .unwrap()
            .write(&mut frame, &payload)
            .unwrap();
        let arrival = decode(&frame[Ether::LEN..]).unwrap();
        let mut expected = Segment {
            seq, ack, window,
            len: payload.len() as u32,
            ts_val: stamps.0,
            ts_ecr: stamps.1,
            flags: Flags::ACK.with(Flags::PSH),
            sack_count: 1,
            options: Options { timestamps: true, ..Options::default() },
            ..Segment::default()
        };
        expected.sack[0] = SackBlock { start: block.0, end: block.1 };
        prop_assert_eq!((arrival.segment, arrival.payload), (expected, &payload[..]));
        prop_assert_eq!(arrival.from, SocketAddrV4::new(from.into(), from_port));
        prop_assert_eq!(arrival.to, SocketAddrV4::new(to.into(), to_port));
    }

    #[test]
    fn one_wrong_bit_anywhere_is_refused(
        route in routes(), segment in segments(), at: prop::sample::Index, bit in 0..8_u8
    ) {
        let mut frame = frame(&route, &segment, 3);
        let at = Ether::LEN + at.index(frame.len() - Ether::LEN);
        frame[at] ^= 1 << bit;
        prop_assert!(decode(&frame[Ether::LEN..]).is_err(), "bit {bit} of byte {at}");
    }

    #[test]
    fn a_packet_that_is_cut_short_is_refused(
        route in routes(), segment in segments(), at: prop::sample::Index
    ) {
        let frame = frame(&route, &segment, 3);
        let packet = &frame[Ether::LEN..];
        prop_assert!(decode(&packet[..at.index(packet.len())]).is_err());
    }

    #[test]
    fn no_bytes_panic(mut bytes: Vec<u8>, is_ip: bool) {
        if let (true, Some(first)) = (is_ip, bytes.first_mut()) {
            *first = 0x45;
        }
        let _ = decode(&bytes);
    }

    #[test]
    fn no_tcp_header_panics(
        route in routes(), words in prop::collection::vec(any::<[u8; 4]>(), 5..20)
    ) {
        // A whole IPv4 packet whose checksums are right, with any bytes as TCP.
        let mut frame = Vec::new();
        let mut tcp = words.concat();
        tcp[16..18].fill(0);
        let (from, to) = (route.from.ip().octets(), route.to.ip().octets());
        let sum = trammel_packet::headers::checksum::Sum::ZERO
            .pseudo_v4(from, to, 6, tcp.len() as u16)
            .bytes(&tcp);
        tcp[16..18].copy_from_slice(&sum.checksum().to_be_bytes());
        PacketBuilder::ipv4(from, to, 64).write(
            &mut frame, etherparse::IpNumber::TCP, &tcp
        ).unwrap();
        let decoded = decode(&frame);
        prop_assert!(
            decoded.is_ok() || matches!(decoded, Err(Refusal::Header(_))),
            "{:?}", decoded,
        );
    }
}

#[test]
fn what_is_not_for_us_is_told_apart_from_damage() {
    let mut udp = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(1, 2);
    builder.write(&mut udp, &[1, 2, 3]).unwrap();
    assert_eq!(decode(&udp), Err(Refusal::Foreign));
    assert_eq!(decode(&[0x60; 60]), Err(Refusal::Foreign));
    assert_eq!(decode(&[]), Err(Refusal::Foreign));
    udp[0] = 0x44;
    assert_eq!(decode(&udp), Err(Refusal::Length));
}

#[test]
fn a_fragment_is_refused() {
    let mut packet = Vec::new();
    let mut header = etherparse::Ipv4Header::new(
        40,
        64,
        etherparse::IpNumber::TCP,
        [10, 0, 0, 1],
        [10, 0, 0, 2],
    )
    .unwrap();
    header.more_fragments = true;
    header.header_checksum = header.calc_header_checksum();
    header.write(&mut packet).unwrap();
    packet.resize(60, 0);
    assert_eq!(decode(&packet), Err(Refusal::Fragment));
}
