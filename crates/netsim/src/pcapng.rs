//! Captures of links as pcapng, with Ethernet, IPv4 and TCP or UDP headers made up for each packet.
//!
//! Payload is all zeros and is not stored: each record holds the headers and the length that the frame had,
//! as a capture with a snap length has it; checksums cover headers and the zeros. Flow n, from 0, runs from
//! host n + 1 of 10.0.0.0/9 and port 40000 + n to host n + 1 of 10.128.0.0/9 and port 5001; stream n likewise
//! to port 5002. A workload uses a flow's number again some time after its end. Times count nanoseconds from
//! the start of the run, as if that had been at the start of 1970.
//!
//! Packets are recorded as they leave a link, so that a file with both directions of a path shows every
//! acknowledgement after what it acknowledges. What a link dropped before a packet is that packet's drop
//! count.
//!
//! Source: draft-ietf-opsawg-pcapng, §4; RFC 791, 768, 3168.

use crate::packet::{Course, Packet};
use std::io::{self, Write};
use trammel_core::time::Time;
use trammel_tcp::segment::{Ecn, Segment};
use trammel_tcp::wire::{LONGEST_HEADER, write_header};

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
/// The longest header: Ethernet, IPv4 and TCP with 40 bytes of options.
const SNAP_BYTES: usize = 14 + 20 + LONGEST_HEADER;
const LINKTYPE_ETHERNET: u16 = 1;
const ETHERNET_BYTES: usize = 14;
const IP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A capture that is being written.
pub(crate) struct Capture {
    out: Box<dyn Write + Send>,
    /// Links of this capture, in the order of their interfaces, and what they had dropped when last seen.
    links: Vec<(usize, u64)>,
    ip_identification: u16,
    error: Option<io::Error>,
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture")
            .field("links", &self.links)
            .finish_non_exhaustive()
    }
}

impl Capture {
    /// Begins a capture of `links`, which are given by index and name.
    pub(crate) fn new(links: &[(usize, &str)], out: Box<dyn Write + Send>) -> Capture {
        let mut capture = Capture {
            out,
            links: links.iter().map(|(index, _)| (*index, 0)).collect(),
            ip_identification: 0,
            error: None,
        };
        let mut body = Vec::new();
        body.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        body.extend(1_u16.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        // The length of the section is not known beforehand.
        body.extend(u64::MAX.to_le_bytes());
        option(&mut body, 4, b"Trammel");
        end_options(&mut body);
        capture.block(SECTION_HEADER, &body);
        for (_, name) in links {
            let mut body = Vec::new();
            body.extend(LINKTYPE_ETHERNET.to_le_bytes());
            body.extend(0_u16.to_le_bytes());
            body.extend((SNAP_BYTES as u32).to_le_bytes());
            option(&mut body, 2, name.as_bytes());
            // Resolution of times: 10⁻⁹ s.
            option(&mut body, 9, &[9]);
            end_options(&mut body);
            capture.block(INTERFACE, &body);
        }
        capture
    }

    /// Whether link `index` is captured.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.links.iter().any(|(link, _)| *link == index)
    }

    /// A packet has left link `index`, which has dropped `dropped` packets so far.
    pub(crate) fn record(&mut self, now: Time, index: usize, packet: &Packet, dropped: u64) {
        let Some(interface) = self.links.iter().position(|(link, _)| *link == index) else {
            return;
        };
        let mut frame = [0; SNAP_BYTES];
        let (stored, length) = headers(packet, self.ip_identification, &mut frame);
        self.ip_identification = self.ip_identification.wrapping_add(1);
        let mut body = Vec::with_capacity(SNAP_BYTES + 64);
        body.extend((interface as u32).to_le_bytes());
        let ns = now.as_ns();
        body.extend(((ns >> 32) as u32).to_le_bytes());
        body.extend((ns as u32).to_le_bytes());
        body.extend((stored as u32).to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(&frame[..stored]);
        pad(&mut body);
        let since = dropped - std::mem::replace(&mut self.links[interface].1, dropped);
        if since > 0 {
            option(&mut body, 4, &since.to_le_bytes());
            end_options(&mut body);
        }
        self.block(ENHANCED_PACKET, &body);
    }

    /// Ends the capture at `now`; `totals` are packets received and dropped of each link.
    pub(crate) fn finish(mut self, now: Time, totals: &[(u64, u64)]) -> io::Result<()> {
        for (interface, (received, dropped)) in totals.iter().enumerate() {
            let mut body = Vec::new();
            body.extend((interface as u32).to_le_bytes());
            let ns = now.as_ns();
            body.extend(((ns >> 32) as u32).to_le_bytes());
            body.extend((ns as u32).to_le_bytes());
            option(&mut body, 4, &received.to_le_bytes());
            option(&mut body, 5, &dropped.to_le_bytes());
            end_options(&mut body);
            self.block(INTERFACE_STATISTICS, &body);
        }
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    /// The links of this capture.
    pub(crate) fn links(&self) -> impl Iterator<Item = usize> + '_ {
        self.links.iter().map(|(link, _)| *link)
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        if self.error.is_some() {
            return;
        }
        let length = (12 + body.len() as u32).to_le_bytes();
        let parts = [&kind.to_le_bytes()[..], &length, body, &length];
        self.error = parts.iter().find_map(|part| self.out.write_all(part).err());
    }
}

/// Writes the segments of one flow to `out`, each with its time and whether it goes from the client to the server.
pub fn write_segments(
    name: &str,
    segments: impl Iterator<Item = (Time, bool, Segment)>,
    out: Box<dyn Write + Send>,
) -> io::Result<()> {
    let mut capture = Capture::new(&[(0, name)], out);
    let (mut last, mut count) = (Time::ZERO, 0);
    for (at, is_forward, segment) in segments {
        let packet = Packet {
            segment,
            course: if is_forward {
                Course::Forward
            } else {
                Course::Backward
            },
            ..Packet::default()
        };
        capture.record(at, 0, &packet, 0);
        (last, count) = (at, count + 1);
    }
    capture.finish(last, &[(count, 0)])
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn end_options(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

/// Writes the headers of `packet`; returns their length and that of the frame.
fn headers(packet: &Packet, identification: u16, frame: &mut [u8; SNAP_BYTES]) -> (usize, u32) {
    let segment = &packet.segment;
    let is_datagram = packet.course == Course::Datagram;
    let transport = if is_datagram {
        UDP_BYTES
    } else {
        segment.header_bytes() as usize
    };
    let ip_length = IP_BYTES as u32 + transport as u32 + segment.len;
    let number = packet.flow + 1;
    let (near, far) = (
        0x0A00_0000 | number & 0x7F_FFFF,
        0x0A80_0000 | number & 0x7F_FFFF,
    );
    let is_back = packet.course == Course::Backward;
    let (from, to) = if is_back { (far, near) } else { (near, far) };
    let client_port = 40_000 + (packet.flow % 20_000) as u16;
    let server_port = if is_datagram { 5002 } else { 5001 };
    let (from_port, to_port) = if is_back {
        (server_port, client_port)
    } else {
        (client_port, server_port)
    };

    // Locally administered addresses: 02 and the host's IPv4 address.
    frame[0..2].copy_from_slice(&[0x02, 0]);
    frame[2..6].copy_from_slice(&to.to_be_bytes());
    frame[6..8].copy_from_slice(&[0x02, 0]);
    frame[8..12].copy_from_slice(&from.to_be_bytes());
    frame[12..14].copy_from_slice(&[0x08, 0x00]);

    let ip = &mut frame[ETHERNET_BYTES..ETHERNET_BYTES + IP_BYTES];
    ip[0] = 0x45;
    ip[1] = match segment.ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    };
    ip[2..4].copy_from_slice(&(ip_length.min(65_535) as u16).to_be_bytes());
    ip[4..6].copy_from_slice(&identification.to_be_bytes());
    ip[6] = 0x40; // do not fragment
    ip[8] = 64 - packet.hop.min(63);
    ip[9] = if is_datagram { UDP } else { TCP };
    ip[12..16].copy_from_slice(&from.to_be_bytes());
    ip[16..20].copy_from_slice(&to.to_be_bytes());
    let sum = checksum(ip, 0);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());

    let stored = ETHERNET_BYTES + IP_BYTES + transport;
    let header = &mut frame[ETHERNET_BYTES + IP_BYTES..stored];
    header[0..2].copy_from_slice(&from_port.to_be_bytes());
    header[2..4].copy_from_slice(&to_port.to_be_bytes());
    let transport_length = transport as u32 + segment.len;
    let protocol = if is_datagram { UDP } else { TCP };
    let pseudo = (from >> 16)
        + (from & 0xFFFF)
        + (to >> 16)
        + (to & 0xFFFF)
        + u32::from(protocol)
        + transport_length;
    if is_datagram {
        header[4..6].copy_from_slice(&(transport_length as u16).to_be_bytes());
        let sum = match checksum(header, pseudo) {
            // RFC 768: zero would mean that there is none.
            0 => 0xFFFF,
            sum => sum,
        };
        header[6..8].copy_from_slice(&sum.to_be_bytes());
    } else {
        write_header(segment, header);
        let sum = checksum(header, pseudo);
        header[16..18].copy_from_slice(&sum.to_be_bytes());
    }
    (stored, ETHERNET_BYTES as u32 + ip_length)
}

/// The Internet checksum of `bytes`, an even number of them, whose own field is zero, and of `more` words.
fn checksum(bytes: &[u8], more: u32) -> u16 {
    let words = bytes
        .chunks_exact(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let mut sum = words.sum::<u32>() + more;
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_tcp::segment::{Flags, Options, SackBlock};

    fn packet(segment: Segment, course: Course) -> Packet {
        Packet {
            segment,
            flow: 0,
            wire_bytes: 0,
            course,
            hop: 0,
        }
    }

    /// Sums all words of the IP header, and of the pseudo header and the transport header, to 0xFFFF.
    fn assert_sums(frame: &[u8]) {
        assert_eq!(checksum(&frame[14..34], 0), 0);
        let length = u32::from(u16::from_be_bytes([frame[16], frame[17]])) - 20;
        let mut pseudo = frame[26..34].to_vec();
        pseudo.extend([0, frame[23]]);
        pseudo.extend((length as u16).to_be_bytes());
        pseudo.extend(&frame[34..]);
        assert_eq!(checksum(&pseudo, 0), 0);
    }

    #[test]
    fn headers_have_the_lengths_that_segments_count_and_valid_checksums() {
        let options = Options {
            timestamps: true,
            sack_permitted: true,
            wscale_plus_1: 8,
        };
        let syn = Segment {
            flags: Flags::SYN,
            mss: 1460,
            options,
            ..Segment::default()
        };
        let ts = Options {
            timestamps: true,
            ..Options::default()
        };
        let data = Segment {
            flags: Flags::ACK,
            len: 1448,
            options: ts,
            ..Segment::default()
        };
        let block = SackBlock { start: 7, end: 9 };
        let sack = Segment {
            len: 0,
            sack_count: 3,
            sack: [block; 4],
            ..data
        };
        let bare = Segment {
            flags: Flags::SYN,
            mss: 1460,
            ..Segment::default()
        };
        for segment in [syn, data, sack, bare] {
            let mut frame = [0; SNAP_BYTES];
            let packet = packet(segment, Course::Forward);
            let (stored, length) = headers(&packet, 3, &mut frame);
            assert_eq!(stored, 34 + segment.header_bytes() as usize);
            assert_eq!(length, 14 + segment.ip_bytes());
            assert_sums(&frame[..stored]);
        }
        let datagram = Packet::datagram(5, 1, 1472, 1514, Time::from_ms(3));
        let mut frame = [0; SNAP_BYTES];
        assert_eq!(headers(&datagram, 3, &mut frame), (42, 1514));
        assert_sums(&frame[..42]);
    }
}
