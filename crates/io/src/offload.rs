//! Offloads: checksums not yet computed, and super-packets that stand for many of one connection.
//!
//! The kernel hands them to us with a header of 10 bytes (`virtio_net_hdr`). A frame whose checksum is not
//! computed gets it; a super-packet is cut into the packets that an interface would have made of it: so what
//! goes through the router is always what could have been on a wire, and each case is counted.
//!
//! Source: the virtio specification 1.2, §5.1.6; Linux's `segmentation-offloads.rst`.

/// Bytes of the header.
pub const HEADER_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_UDP: u8 = 5;
/// Set beside the kind where the sender's ECN state asks that CWR be on the first segment only.
const GSO_ECN: u8 = 0x80;

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
    /// Super-packets that could not be cut, dropped: of a kind that is not known, or their headers lie.
    pub refused: u64,
}

impl OffloadCounters {
    /// A remark for the user, where something was done.
    pub(crate) fn remark(&self, name: &str) -> Option<String> {
        if *self == OffloadCounters::default() {
            return None;
        }
        Some(format!(
            "`{name}` receives what the kernel left to hardware: {} checksums computed, {} super-packets cut \
             into {} packets, {} refused; `ethtool -K {name} tso off gso off gro off` (and at the sender `tx \
             off`) would spare that",
            self.checksums, self.super_packets, self.segments, self.refused
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

    /// The positions count `bytes` more, since so many were put in before them.
    pub fn shifted(mut self, bytes: u16) -> Offload {
        self.checksum_start = self.checksum_start.saturating_add(bytes);
        self
    }

    /// Gives `each` the frames that `frame` stands for, and counts. `scratch` keeps its memory between calls.
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
            let sum = !fold(sum_of(&scratch[start..]));
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
        let network = if has_link_header {
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
        let first = *frame.get(network)?;
        let version = first >> 4;
        let least = match version {
            4 => ((first & 15) as usize * 4).max(20),
            6 => 40,
            _ => return None,
        };
        if transport < network + least || self.segment_bytes == 0 {
            return None;
        }
        let header_bytes = if is_udp {
            8
        } else {
            (*frame.get(transport + 12)? >> 4) as usize * 4
        };
        if header_bytes < if is_udp { 8 } else { 20 } {
            return None;
        }
        let data_at = transport + header_bytes;
        let data = frame.get(data_at..).filter(|data| !data.is_empty())?;
        // The padding that a short frame may have is no data.
        let said = match version {
            4 => big(frame, network + 2) as usize,
            _ => 40 + big(frame, network + 4) as usize,
        };
        let data = match (network + said).checked_sub(data_at) {
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
            let transport = transport - network;
            let len = packet.len();
            if version == 4 {
                put(packet, 2, len as u16);
                let id = big(packet, 4).wrapping_add(index as u16);
                put(packet, 4, id);
                put(packet, 10, 0);
                let sum = !fold(sum_of(&packet[..(packet[0] & 15) as usize * 4]));
                put(packet, 10, sum);
            } else {
                put(packet, 4, (len - 40) as u16);
            }
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
            put(packet, checksum_at, 0);
            let addresses = if version == 4 {
                &packet[12..20]
            } else {
                &packet[8..40]
            };
            let protocol = if is_udp { 17 } else { 6 };
            let pseudo = sum_of(addresses) + protocol + (len - transport) as u64;
            let sum = !fold(pseudo + sum_of(&packet[transport..]));
            put(
                packet,
                checksum_at,
                if sum == 0 && is_udp { 0xffff } else { sum },
            );
            each(scratch);
        }
        Some(count as u64)
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

/// The sum of 16-bit words, an odd byte padded with zero.
fn sum_of(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    let odd = words
        .remainder()
        .first()
        .map_or(0, |&byte| u64::from(byte) << 8);
    words.fold(odd, |sum, word| {
        sum + u64::from(u16::from_be_bytes([word[0], word[1]]))
    })
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(flags: u8, kind: u8, size: u16, start: u16, offset: u16) -> Offload {
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
        let (out, counters) = resolve(header(1, GSO_TCP4, 10, 20, 16), &frame);
        assert_eq!((counters.super_packets, counters.segments), (1, 3));
        let data: Vec<u8> = out
            .iter()
            .flat_map(|packet| packet[40..].to_vec())
            .collect();
        assert_eq!(data, frame[40..]);
        for (index, packet) in out.iter().enumerate() {
            assert_eq!(fold(sum_of(&packet[..20])), 0xffff, "IP checksum");
            let pseudo = sum_of(&packet[12..20]) + 6 + (packet.len() - 20) as u64;
            assert_eq!(fold(pseudo + sum_of(&packet[20..])), 0xffff, "TCP checksum");
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
        let pseudo = fold(sum_of(&frame[12..20]) + 6 + 25);
        put(&mut frame, 36, pseudo);
        let (out, counters) = resolve(header(1, 0, 0, 20, 16), &frame);
        assert_eq!(counters.checksums, 1);
        let sum = sum_of(&out[0][12..20]) + 6 + 25 + sum_of(&out[0][20..]);
        assert_eq!(fold(sum), 0xffff);
    }

    #[test]
    fn lying_headers_are_refused() {
        let frame = tcp(25, 0x10);
        let mut long_header = frame.clone();
        long_header[0] = 0x4f;
        for (offload, frame) in [
            (header(1, GSO_TCP4, 0, 20, 16), &frame[..]),
            (header(1, GSO_TCP4, 10, 4, 16), &frame),
            (header(1, GSO_TCP4, 10, 60000, 16), &frame),
            (header(1, 3, 10, 20, 16), &frame),
            (header(1, GSO_UDP, 10, 20, 6), &long_header),
            (header(1, 0, 0, 60000, 16), &frame),
            (header(1, GSO_TCP6, 10, 20, 16), &frame[..3]),
            (header(1, GSO_UDP, 10, 20, 6), &[]),
        ] {
            let (out, counters) = resolve(offload, frame);
            assert_eq!((out.len(), counters.refused), (0, 1), "{offload:?}");
        }
    }
}
