//! Offloads: checksums not yet computed, and super-packets that stand for many of one connection.
//!
//! The kernel hands them to us with a header of 10 bytes (`virtio_net_hdr`). A frame whose checksum
//! is not computed gets it; a super-packet is cut into the packets that an interface would have
//! made of it: so what goes through the router is always what could have been on a wire, and each
//! case is counted. A super-packet within a tunnel (VXLAN, Geneve, GRE, IP in IP) is cut with the
//! headers of the tunnel on every part, as the kernel does it.
//!
//! Source: the virtio specification 1.2, §5.1.6; Linux's `segmentation-offloads.rst`.

use trammel_packet::headers::checksum::{Sum, checksum};
use trammel_packet::packet::SuperPacket;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_UDP: u8 = 5;
/// Set beside the kind where the sender's ECN state asks that CWR be on the first segment only.
const GSO_ECN: u8 = 0x80;

const TCP: u8 = 6;
const UDP: u8 = 17;
const GRE: u8 = 47;
/// Of the first byte of GRE's header.
const GRE_CHECKSUM: u8 = 0x80;
const TCP_FIN_PSH: u8 = 0x09;
const TCP_CWR: u8 = 0x80;

/// What the kernel has left to be done to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    flags: u8,
    kind: u8,
    segment_bytes: u16,
    checksum_start: u16,
    checksum_offset: u16,
}

/// What was found and done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffloadCounters {
    /// Frames whose checksum was computed here.
    pub checksums: u64,
    /// Super-packets that were cut.
    pub super_packets: u64,
    /// Packets that came of them.
    pub segments: u64,
    /// Super-packets that went on as one.
    pub carried: u64,
    /// Super-packets that could not be cut, dropped: of a kind that is not known, or their headers
    /// lie.
    pub refused: u64,
}

impl OffloadCounters {
    /// A remark for the user, where something was done.
    pub(crate) fn remark(&self, name: &str) -> Option<String> {
        if *self == OffloadCounters::default() {
            return None;
        }
        Some(format!(
            "`{name}` receives what the kernel left to hardware: {} checksums computed, {} \
             super-packets cut into {} packets, {} carried as one, {} refused; `ethtool -K {name} \
             tso off gso off gro off` (and at the sender `tx off`) would spare that, or OFFLOAD \
             carry",
            self.checksums, self.super_packets, self.segments, self.carried, self.refused
        ))
    }
}

impl Offload {
    /// Reads the header.
    pub fn parse(header: &[u8; HEADER_BYTES]) -> Offload {
        let half = |at| u16::from_ne_bytes([header[at], header[at + 1]]);
        Offload {
            flags: header[0],
            kind: header[1],
            segment_bytes: half(4),
            checksum_start: half(6),
            checksum_offset: half(8),
        }
    }

    /// Whether the frame is as it would be on a wire.
    #[inline]
    pub fn is_none(self) -> bool {
        self.flags & NEEDS_CHECKSUM == 0 && self.kind == GSO_NONE
    }

    /// Of a packet that a router carries as one and that stands for many; `None` where it is no
    /// longer the one that was marked so.
    pub fn of(packet: &[u8], has_link_header: bool, marked: SuperPacket) -> Option<Offload> {
        let outer = if has_link_header {
            network_offset(packet)?
        } else {
            0
        };
        let transport = packet.len().checked_sub(marked.transport_bytes as usize)?;
        let (protocol, end) = header_end(packet, outer)?;
        let kind_of = |protocol: u8, network: usize| match (protocol, packet[network] >> 4) {
            (TCP, 4) => Some(GSO_TCP4),
            (TCP, _) => Some(GSO_TCP6),
            (UDP, _) => Some(GSO_UDP),
            _ => None,
        };
        let kind = if end == transport {
            kind_of(protocol, outer)?
        } else {
            let inner = [TCP, UDP].into_iter().find_map(|protocol| {
                let network = inner_network(packet, end, transport, protocol)?;
                kind_of(protocol, network)
            });
            inner?
        };
        let has_cwr = kind != GSO_UDP && *packet.get(transport + 13)? & TCP_CWR != 0;
        Some(Offload {
            flags: NEEDS_CHECKSUM,
            kind: kind | if has_cwr { GSO_ECN } else { 0 },
            segment_bytes: marked.data_bytes,
            checksum_start: transport as u16,
            checksum_offset: if kind == GSO_UDP { 6 } else { 16 },
        })
    }

    /// Whether it is a super-packet.
    #[inline]
    pub(crate) fn is_super_packet(self) -> bool {
        self.kind != GSO_NONE
    }

    /// What the kernel is told of a packet that it is to cut, which is made ready for that: the
    /// checksum is that of the pseudo-header. `None` where the kernel would not cut it right:
    /// within tunnels.
    pub(crate) fn hand_over(
        self,
        packet: &mut [u8],
        has_link_header: bool,
    ) -> Option<[u8; HEADER_BYTES]> {
        let network = if has_link_header {
            network_offset(packet)?
        } else {
            0
        };
        let transport = self.checksum_start as usize;
        let (protocol, end) = header_end(packet, network)?;
        if end != transport {
            return None;
        }
        let data_at = self.data_at(packet)?;
        let checksum_at = transport + self.checksum_offset as usize;
        let sum = pseudo_sum(&packet[network..], transport - network, protocol).fold();
        put(packet, checksum_at, sum);
        let mut header = [0; HEADER_BYTES];
        header[..2].copy_from_slice(&[self.flags, self.kind]);
        let halves = [
            data_at as u16,
            self.segment_bytes,
            self.checksum_start,
            self.checksum_offset,
        ];
        for (at, half) in halves.into_iter().enumerate() {
            header[2 + 2 * at..4 + 2 * at].copy_from_slice(&half.to_ne_bytes());
        }
        Some(header)
    }

    /// Makes of a super-packet one long packet whose lengths and checksums are right, in `scratch`,
    /// and says how it is to be cut; `None` where that cannot be: within tunnels, or beyond 64 KiB.
    pub(crate) fn whole(
        self,
        frame: &[u8],
        has_link_header: bool,
        scratch: &mut Vec<u8>,
    ) -> Option<SuperPacket> {
        let network = if has_link_header {
            network_offset(frame)?
        } else {
            0
        };
        let (_, end) = header_end(frame, network)?;
        if self.segment_bytes == 0
            || end != self.checksum_start as usize
            || frame.len() - network > 0xffff
        {
            return None;
        }
        let mut made = Vec::new();
        let one = Offload {
            segment_bytes: u16::MAX,
            ..self
        };
        let count = one.segment(frame, has_link_header, &mut made, &mut |_| {})?;
        std::mem::swap(scratch, &mut made);
        let transport_bytes = u16::try_from(scratch.len() - end).ok()?;
        (count == 1).then_some(SuperPacket {
            data_bytes: self.segment_bytes,
            transport_bytes,
        })
    }

    /// Where the data begin behind the transport header; `None` where there is no such header.
    fn data_at(self, frame: &[u8]) -> Option<usize> {
        let transport = self.checksum_start as usize;
        let (least, header_bytes) = if self.kind & !GSO_ECN == GSO_UDP {
            (8, 8)
        } else {
            (20, (*frame.get(transport + 12)? >> 4) as usize * 4)
        };
        let at = transport + header_bytes;
        (header_bytes >= least && at < frame.len()).then_some(at)
    }

    /// The positions count `bytes` more, since so many were put in before them.
    pub fn shifted(mut self, bytes: u16) -> Offload {
        self.checksum_start = self.checksum_start.saturating_add(bytes);
        self
    }

    /// Gives `each` the frames that `frame` stands for, and counts. `scratch` keeps its memory
    /// between calls.
    pub fn resolve(
        self,
        frame: &[u8],
        has_link_header: bool,
        scratch: &mut Vec<u8>,
        counters: &mut OffloadCounters,
        mut each: impl FnMut(&[u8]),
    ) {
        if self.kind != GSO_NONE {
            match self.segment(frame, has_link_header, scratch, &mut each) {
                Some(segments) => {
                    counters.super_packets += 1;
                    counters.segments += segments;
                }
                None => counters.refused += 1,
            }
            return;
        }
        if self.flags & NEEDS_CHECKSUM == 0 {
            each(frame);
            return;
        }
        scratch.clear();
        scratch.extend_from_slice(frame);
        let (start, offset) = (self.checksum_start as usize, self.checksum_offset as usize);
        if start + offset + 2 <= scratch.len() {
            // The field holds the sum of the pseudo-header.
            let sum = checksum(&scratch[start..]);
            let at = start + offset;
            // A UDP checksum of zero means none.
            let sum = if sum == 0 && offset == 6 { 0xffff } else { sum };
            scratch[at..at + 2].copy_from_slice(&sum.to_be_bytes());
            counters.checksums += 1;
            each(scratch);
        } else {
            counters.refused += 1;
        }
    }

    /// Cuts a super-packet; `None` where it is not what its header says.
    fn segment(
        self,
        frame: &[u8],
        has_link_header: bool,
        scratch: &mut Vec<u8>,
        each: &mut impl FnMut(&[u8]),
    ) -> Option<u64> {
        let outer = if has_link_header {
            network_offset(frame)?
        } else {
            0
        };
        let transport = self.checksum_start as usize;
        let is_udp = match self.kind & !GSO_ECN {
            GSO_TCP4 | GSO_TCP6 => false,
            GSO_UDP => true,
            _ => return None,
        };
        let protocol = if is_udp { UDP } else { TCP };
        let outer_end = header_end(frame, outer)?;
        let network = if outer_end == (protocol, transport) {
            outer
        } else {
            inner_network(frame, outer_end.1, transport, protocol)?
        };
        if self.segment_bytes == 0 {
            return None;
        }
        let data_at = self.data_at(frame)?;
        let data = &frame[data_at..];
        // The padding that a short frame may have is no data.
        let data = match (network + said_bytes(frame, network)).checked_sub(data_at) {
            Some(len) if len > 0 && len <= data.len() => &data[..len],
            // The length field of a super-packet beyond 64 KiB is zero.
            _ => data,
        };
        let size = self.segment_bytes as usize;
        let count = data.len().div_ceil(size);
        for (index, part) in data.chunks(size).enumerate() {
            scratch.clear();
            scratch.extend_from_slice(&frame[..data_at]);
            scratch.extend_from_slice(part);
            let packet = &mut scratch[network..];
            finish_ip(packet, index);
            let transport = transport - network;
            let len = packet.len();
            let checksum_at = if is_udp {
                put(packet, transport + 4, (len - transport) as u16);
                transport + 6
            } else {
                let sequence = &mut packet[transport + 4..transport + 8];
                let first =
                    u32::from_be_bytes([sequence[0], sequence[1], sequence[2], sequence[3]]);
                sequence.copy_from_slice(&first.wrapping_add((index * size) as u32).to_be_bytes());
                if index + 1 < count {
                    packet[transport + 13] &= !TCP_FIN_PSH;
                }
                if index > 0 {
                    packet[transport + 13] &= !TCP_CWR;
                }
                transport + 16
            };
            put_checksum(packet, transport, protocol, checksum_at);
            if network != outer {
                finish_tunnel(
                    &mut scratch[outer..],
                    outer_end.0,
                    outer_end.1 - outer,
                    index,
                );
            }
            each(scratch);
        }
        Some(count as u64)
    }
}

/// The upper protocol of the IP packet at `at`, and where it begins; `None` where there is no such
/// packet.
fn header_end(frame: &[u8], at: usize) -> Option<(u8, usize)> {
    let first = *frame.get(at)?;
    match first >> 4 {
        4 => {
            let bytes = (first & 15) as usize * 4;
            let protocol = *frame.get(at + 9)?;
            (bytes >= 20).then_some((protocol, at + bytes))
        }
        6 => {
            let (mut next, mut at) = (*frame.get(at + 6)?, at + 40);
            // Hop by hop, routing, destination: each says in its second byte how long it is.
            while matches!(next, 0 | 43 | 60) {
                let header = frame.get(at..at + 2)?;
                next = header[0];
                at += (header[1] as usize + 1) * 8;
            }
            Some((next, at))
        }
        _ => None,
    }
}

/// Where the IP packet within a tunnel begins whose header ends at `transport`: whatever the tunnel
/// is, an IP header that ends there and tells of as many bytes as there are is no chance.
fn inner_network(frame: &[u8], from: usize, transport: usize, protocol: u8) -> Option<usize> {
    let starts = (from..=transport.checked_sub(20)?).rev();
    starts
        .filter(|start| (transport - start).is_multiple_of(4))
        .find(|start| {
            let told = said_bytes(frame, *start);
            header_end(frame, *start) == Some((protocol, transport))
                && (told == frame.len() - start || told == 0)
        })
}

/// The bytes that the IP packet at `at` says it has.
fn said_bytes(frame: &[u8], at: usize) -> usize {
    match frame.get(at).map(|first| first >> 4) {
        Some(6) => 40 + big(frame, at + 4) as usize,
        _ => big(frame, at + 2) as usize,
    }
}

/// Makes the IP header at the start of `packet`, which is the `index`-th of a super-packet, right.
fn finish_ip(packet: &mut [u8], index: usize) {
    let len = packet.len();
    if packet[0] >> 4 == 4 {
        put(packet, 2, len as u16);
        let id = big(packet, 4).wrapping_add(index as u16);
        put(packet, 4, id);
        put(packet, 10, 0);
        let sum = checksum(&packet[..(packet[0] & 15) as usize * 4]);
        put(packet, 10, sum);
    } else {
        put(packet, 4, (len - 40) as u16);
    }
}

/// Computes the checksum at `checksum_at` of what begins at `transport` of an IP packet.
fn put_checksum(packet: &mut [u8], transport: usize, protocol: u8, checksum_at: usize) {
    put(packet, checksum_at, 0);
    let pseudo = pseudo_sum(packet, transport, protocol);
    let sum = pseudo.bytes(&packet[transport..]).checksum();
    // A UDP checksum of zero means none.
    let sum = if sum == 0 && protocol == UDP {
        0xffff
    } else {
        sum
    };
    put(packet, checksum_at, sum);
}

/// The sum of the pseudo-header of what begins at `transport` of an IP packet.
fn pseudo_sum(packet: &[u8], transport: usize, protocol: u8) -> Sum {
    let addresses = if packet[0] >> 4 == 4 {
        &packet[12..20]
    } else {
        &packet[8..40]
    };
    let upper_bytes = (packet.len() - transport) as u32;
    let sum = Sum::ZERO.bytes(addresses).u16(u16::from(protocol));
    sum.u32(upper_bytes)
}

/// Makes the headers right that a tunnel has put before a packet, which is the `index`-th of a
/// super-packet. Within it all is done already.
fn finish_tunnel(packet: &mut [u8], protocol: u8, at: usize, index: usize) {
    finish_ip(packet, index);
    let upper_bytes = packet.len() - at;
    if protocol == UDP && upper_bytes >= 8 {
        put(packet, at + 4, upper_bytes as u16);
        if big(packet, at + 6) != 0 {
            put_checksum(packet, at, UDP, at + 6);
        }
    } else if protocol == GRE && upper_bytes >= 8 && packet[at] & GRE_CHECKSUM != 0 {
        put(packet, at + 4, 0);
        let sum = checksum(&packet[at..]);
        put(packet, at + 4, sum);
    }
}

/// Where the network header starts behind an Ethernet header and its tags.
fn network_offset(frame: &[u8]) -> Option<usize> {
    let mut at = 12;
    while matches!(frame.get(at..at + 2)?, [0x81, 0x00] | [0x88, 0xa8]) {
        at += 4;
    }
    Some(at + 2)
}

fn big(bytes: &[u8], at: usize) -> u16 {
    match bytes.get(at..at + 2) {
        Some(bytes) => u16::from_be_bytes([bytes[0], bytes[1]]),
        None => 0,
    }
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of a pseudo-header.
    fn words(addresses: &[u8], protocol: u16, bytes: usize) -> Sum {
        Sum::ZERO.bytes(addresses).u16(protocol).u32(bytes as u32)
    }

    fn header_of(flags: u8, kind: u8, size: u16, start: u16, offset: u16) -> Offload {
        let mut bytes = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes[4..6].copy_from_slice(&size.to_ne_bytes());
        bytes[6..8].copy_from_slice(&start.to_ne_bytes());
        bytes[8..10].copy_from_slice(&offset.to_ne_bytes());
        Offload::parse(&bytes)
    }

    /// An IPv4 packet of TCP with `data` bytes of data, its fields as a super-packet has them.
    fn tcp(data: usize, flags: u8) -> Vec<u8> {
        let mut packet = vec![0; 40 + data];
        packet[0] = 0x45;
        put(&mut packet, 2, (40 + data) as u16);
        put(&mut packet, 4, 0xffff);
        packet[8] = 64;
        packet[9] = 6;
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        packet[24..28].copy_from_slice(&0xffff_fff0_u32.to_be_bytes());
        packet[32] = 0x50;
        packet[33] = flags;
        for (at, byte) in packet[40..].iter_mut().enumerate() {
            *byte = at as u8;
        }
        packet
    }

    fn resolve(offload: Offload, frame: &[u8]) -> (Vec<Vec<u8>>, OffloadCounters) {
        let (mut out, mut counters) = (Vec::new(), OffloadCounters::default());
        offload.resolve(frame, false, &mut Vec::new(), &mut counters, |frame| {
            out.push(frame.to_vec());
        });
        (out, counters)
    }

    #[test]
    fn a_super_packet_of_tcp_becomes_packets_whose_sums_are_right() {
        let frame = tcp(25, 0x80 | 0x18 | 0x01);
        let (out, counters) = resolve(header_of(1, GSO_TCP4, 10, 20, 16), &frame);
        assert_eq!((counters.super_packets, counters.segments), (1, 3));
        let data: Vec<u8> = out
            .iter()
            .flat_map(|packet| packet[40..].to_vec())
            .collect();
        assert_eq!(data, frame[40..]);
        for (index, packet) in out.iter().enumerate() {
            assert_eq!(checksum(&packet[..20]), 0, "IP checksum");
            let pseudo = words(&packet[12..20], 6, packet.len() - 20);
            assert_eq!(pseudo.bytes(&packet[20..]).checksum(), 0, "TCP checksum");
            assert_eq!(big(packet, 2) as usize, packet.len());
            assert_eq!(big(packet, 4), 0xffff_u16.wrapping_add(index as u16));
            let sequence = 0xffff_fff0_u32.wrapping_add(10 * index as u32);
            assert_eq!(packet[24..28], sequence.to_be_bytes());
        }
        // ACK on all, CWR on the first, PSH and FIN on the last.
        let flags: Vec<u8> = out.iter().map(|packet| packet[33]).collect();
        assert_eq!(flags, [0x90, 0x10, 0x19]);
    }

    #[test]
    fn a_checksum_left_to_hardware_is_computed() {
        let mut frame = tcp(5, 0x10);
        let pseudo = words(&frame[12..20], 6, 25).fold();
        put(&mut frame, 36, pseudo);
        let (out, counters) = resolve(header_of(1, 0, 0, 20, 16), &frame);
        assert_eq!(counters.checksums, 1);
        let pseudo = words(&out[0][12..20], 6, 25);
        assert_eq!(pseudo.bytes(&out[0][20..]).checksum(), 0);
    }

    #[test]
    fn a_super_packet_carried_as_one_is_right_and_is_cut_at_the_end_as_at_the_start() {
        let frame = tcp(25, 0x80 | 0x18);
        let offload = header_of(1, GSO_TCP4, 10, 20, 16);
        let mut whole = Vec::new();
        let marked = offload.whole(&frame, false, &mut whole).expect("it is one");
        is_right(&whole);
        assert_eq!(whole[33], 0x98);
        let again = Offload::of(&whole, false, marked).expect("it is the one that was marked");
        assert_eq!(resolve(again, &whole), resolve(offload, &frame));
        // To the kernel it is what came from it.
        let mut given = whole.clone();
        let header = again.hand_over(&mut given, false).expect("it can be cut");
        let told = Offload::parse(&header);
        assert_eq!((told.segment_bytes, told.checksum_start), (10, 20));
        assert_eq!(told.kind, GSO_TCP4 | GSO_ECN);
        let pseudo = words(&given[12..20], 6, 45).fold();
        assert_eq!(big(&given, 36), pseudo);
    }

    #[test]
    fn what_a_router_did_to_a_super_packet_is_respected() {
        let mut whole = Vec::new();
        let offload = header_of(1, GSO_TCP4, 10, 20, 16);
        let marked = offload
            .whole(&tcp(25, 0x10), false, &mut whole)
            .expect("it is one");
        // In a tunnel: cut with its headers, though the kernel is not asked to.
        let mut inside = tunnelled(&whole, 4, &[]);
        let again = Offload::of(&inside, false, marked).expect("it is within");
        assert_eq!(resolve(again, &inside).0.len(), 3);
        assert!(again.hand_over(&mut inside, false).is_none());
        // A part of it, and what it is not.
        assert!(Offload::of(&whole[..40], false, marked).is_none());
        assert!(Offload::of(&whole[20..], false, marked).is_none());
        assert!(Offload::of(&[], false, marked).is_none());
    }

    #[test]
    fn lying_headers_are_refused() {
        let frame = tcp(25, 0x10);
        let mut long_header = frame.clone();
        long_header[0] = 0x4f;
        for (offload, frame) in [
            (header_of(1, GSO_TCP4, 0, 20, 16), &frame[..]),
            (header_of(1, GSO_TCP4, 10, 4, 16), &frame),
            (header_of(1, GSO_TCP4, 10, 60000, 16), &frame),
            (header_of(1, 3, 10, 20, 16), &frame),
            (header_of(1, GSO_UDP, 10, 20, 6), &long_header),
            (header_of(1, 0, 0, 60000, 16), &frame),
            (header_of(1, GSO_TCP6, 10, 20, 16), &frame[..3]),
            (header_of(1, GSO_UDP, 10, 20, 6), &[]),
        ] {
            let (out, counters) = resolve(offload, frame);
            assert_eq!((out.len(), counters.refused), (0, 1), "{offload:?}");
        }
    }

    /// `packet` behind the outer IPv4 header and `header` of a tunnel of `protocol`.
    fn tunnelled(packet: &[u8], protocol: u8, header: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; 20];
        frame[0] = 0x45;
        put(&mut frame, 2, (20 + header.len() + packet.len()) as u16);
        frame[8..10].copy_from_slice(&[64, protocol]);
        frame[12..20].copy_from_slice(&[192, 0, 2, 1, 192, 0, 2, 2]);
        frame.extend_from_slice(header);
        frame.extend_from_slice(packet);
        frame
    }

    /// That an IPv4 packet of TCP is right in all its lengths and sums.
    fn is_right(packet: &[u8]) {
        assert_eq!(big(packet, 2) as usize, packet.len());
        assert_eq!(checksum(&packet[..20]), 0, "IP checksum");
        let pseudo = words(&packet[12..20], 6, packet.len() - 20);
        assert_eq!(pseudo.bytes(&packet[20..]).checksum(), 0, "TCP checksum");
    }

    #[test]
    fn a_super_packet_in_a_tunnel_is_cut_with_the_tunnels_headers() {
        // UDP's header with a checksum, VXLAN's, and the inner Ethernet header.
        let mut vxlan = vec![0; 8 + 8 + 14];
        vxlan[2..4].copy_from_slice(&4789_u16.to_be_bytes());
        put(&mut vxlan, 6, 1);
        vxlan[8] = 8;
        put(&mut vxlan, 28, 0x0800);
        // GRE's with a checksum, of IP.
        let gre = [0x80, 0, 8, 0, 1, 2, 0, 0];
        for (protocol, header) in [(UDP, &vxlan[..]), (GRE, &gre), (4, &[])] {
            let inner = tcp(25, 0x18);
            let frame = tunnelled(&inner, protocol, header);
            let at = 20 + header.len();
            let start = (at + 20) as u16;
            let (out, counters) = resolve(header_of(1, GSO_TCP4, 10, start, 16), &frame);
            assert_eq!((counters.segments, counters.refused), (3, 0), "{protocol}");
            let mut data = Vec::new();
            for (index, packet) in out.iter().enumerate() {
                assert_eq!(big(packet, 2) as usize, packet.len());
                assert_eq!(big(packet, 4) as usize, index);
                assert_eq!(checksum(&packet[..20]), 0, "outer IP checksum");
                is_right(&packet[at..]);
                if protocol == UDP {
                    assert_eq!(big(packet, 24) as usize, packet.len() - 20);
                    let pseudo = words(&packet[12..20], 17, packet.len() - 20);
                    assert_eq!(pseudo.bytes(&packet[20..]).checksum(), 0, "UDP checksum");
                }
                if protocol == GRE {
                    assert_eq!(checksum(&packet[20..]), 0, "GRE checksum");
                }
                data.extend_from_slice(&packet[at + 40..]);
            }
            assert_eq!(data, inner[40..]);
        }
    }

    #[test]
    fn a_tunnel_without_a_udp_checksum_keeps_it_so() {
        let mut header = vec![0; 8 + 8 + 14];
        put(&mut header, 28, 0x0800);
        let frame = tunnelled(&tcp(25, 0x10), UDP, &header);
        let (out, _) = resolve(header_of(1, GSO_TCP4, 10, 70, 16), &frame);
        assert_eq!(out.len(), 3);
        assert!(out.iter().all(|packet| big(packet, 26) == 0));
    }

    #[test]
    fn a_super_packet_of_ipv6_with_extension_headers_is_cut() {
        let mut frame = vec![0; 40 + 8 + 8 + 25];
        frame[0] = 0x60;
        put(&mut frame, 4, 41);
        // Destination options, then UDP.
        frame[6] = 60;
        frame[8..40].copy_from_slice(&[0x20; 32]);
        frame[40..48].copy_from_slice(&[17, 0, 1, 4, 0, 0, 0, 0]);
        put(&mut frame, 52, 33);
        let (out, counters) = resolve(header_of(1, GSO_UDP, 10, 48, 6), &frame);
        assert_eq!((counters.segments, counters.refused), (3, 0));
        for (packet, data) in out.iter().zip([10, 10, 5]) {
            assert_eq!(packet.len(), 56 + data);
            assert_eq!(big(packet, 4) as usize, packet.len() - 40);
            assert_eq!(big(packet, 52) as usize, 8 + data);
            let pseudo = words(&packet[8..40], 17, packet.len() - 48);
            assert_eq!(pseudo.bytes(&packet[48..]).checksum(), 0, "UDP checksum");
        }
    }
}
