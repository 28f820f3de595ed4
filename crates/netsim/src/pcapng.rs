//! Captures of links as pcapng, with Ethernet, IPv4 and TCP or UDP headers made up for each packet.
//!
//! Payload is all zeros and is not stored: each record holds the headers and the length that the
//! frame had, as a capture with a snap length has it; checksums cover headers and the zeros. Flow
//! n, from 0, runs from host n + 1 of 10.0.0.0/9 and port 40000 + n to host n + 1 of 10.128.0.0/9
//! and port 5001; stream n likewise to port 5002. A workload uses a flow's number again some time
//! after its end. Times count nanoseconds from the start of the run, as if that had been at the
//! start of 1970.
//!
//! Packets are recorded as they leave a link, so that a file with both directions of a path shows
//! every acknowledgement after what it acknowledges. What a link dropped before a packet is that
//! packet's drop count.
//!
//! Source: RFC 791, 768, 3168.

use crate::ids::LinkId;
use crate::packet::{Course, Packet};
use std::io::{self, Write};
use trammel_core::time::Time;
use trammel_packet::capture::link::LinkType;
use trammel_packet::capture::pcapng::Writer;
use trammel_packet::capture::{Frame, Order, Sink};
use trammel_packet::headers::checksum::{Sum, checksum, for_udp};
use trammel_packet::timestamp::Timestamp;
use trammel_tcp::segment::{Ecn, Segment};
use trammel_tcp::wire::{LONGEST_HEADER, write_header};

/// The longest header: Ethernet, IPv4 and TCP with 40 bytes of options.
const SNAP_BYTES: usize = 14 + 20 + LONGEST_HEADER;
const ETHERNET_BYTES: usize = 14;
const IP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
/// Who imports it must not take these packets for measured ones.
const BY: &str = "trammel, simulated";
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A capture that is being written. It keeps its first error until its end.
#[derive(Debug)]
pub(crate) struct Capture {
    out: io::Result<Writer>,
    /// Links of this capture, in the order of their interfaces, and what they had dropped when last
    /// seen.
    links: Vec<(LinkId, u64)>,
    ip_identification: u16,
}

impl Capture {
    /// Begins a capture of `links`, which are given by index and name.
    pub(crate) fn new(links: &[(LinkId, &str)], out: Box<dyn Write + Send>) -> Capture {
        let mut capture = Capture {
            out: Writer::by(BY, Sink::plain(out), Order::Little),
            links: links.iter().map(|(index, _)| (*index, 0)).collect(),
            ip_identification: 0,
        };
        for (_, name) in links {
            capture.write(|out| {
                let interface = out.interface(name, LinkType::EN10MB, SNAP_BYTES as u32);
                interface.map(|_| ())
            });
        }
        capture
    }

    /// Whether link `index` is captured.
    pub(crate) fn has(&self, index: LinkId) -> bool {
        self.links.iter().any(|(link, _)| *link == index)
    }

    /// A packet has left link `index`, which has dropped `dropped` packets so far.
    pub(crate) fn record(&mut self, now: Time, index: LinkId, packet: &Packet, dropped: u64) {
        let Some(interface) = self.links.iter().position(|(link, _)| *link == index) else {
            return;
        };
        let mut frame = [0; SNAP_BYTES];
        let (stored, length) = headers(packet, self.ip_identification, &mut frame);
        self.ip_identification = self.ip_identification.wrapping_add(1);
        let since = dropped - std::mem::replace(&mut self.links[interface].1, dropped);
        let frame = Frame {
            timestamp: timestamp(now),
            interface: interface as u32,
            link: LinkType::EN10MB,
            wire_len: length,
            data: &frame[..stored],
            comment: "",
        };
        self.write(|out| out.write_after_drops(&frame, since));
    }

    /// Ends the capture at `now`; `totals` are packets received and dropped of each link.
    pub(crate) fn finish(mut self, now: Time, totals: &[(u64, u64)]) -> io::Result<()> {
        for (interface, (received, dropped)) in (0..).zip(totals) {
            self.write(|out| out.statistics(interface, timestamp(now), *received, *dropped));
        }
        self.out?.finish()
    }

    /// The links of this capture.
    pub(crate) fn links(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.links.iter().map(|(link, _)| *link)
    }

    fn write(&mut self, what: impl FnOnce(&mut Writer) -> io::Result<()>) {
        if let Ok(out) = &mut self.out
            && let Err(error) = what(out)
        {
            self.out = Err(error);
        }
    }
}

/// Virtual time as if the run had started at the start of 1970.
fn timestamp(at: Time) -> Timestamp {
    Timestamp(at.as_ns() as i64)
}

/// Writes the segments of one flow to `out`, each with its time and whether it goes from the client
/// to the server.
pub fn write_segments(
    name: &str,
    segments: impl Iterator<Item = (Time, bool, Segment)>,
    out: Box<dyn Write + Send>,
) -> io::Result<()> {
    let mut capture = Capture::new(&[(LinkId::new(0), name)], out);
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
        capture.record(at, LinkId::new(0), &packet, 0);
        (last, count) = (at, count + 1);
    }
    capture.finish(last, &[(count, 0)])
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
    let sum = checksum(ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());

    let stored = ETHERNET_BYTES + IP_BYTES + transport;
    let header = &mut frame[ETHERNET_BYTES + IP_BYTES..stored];
    header[0..2].copy_from_slice(&from_port.to_be_bytes());
    header[2..4].copy_from_slice(&to_port.to_be_bytes());
    let transport_length = transport as u32 + segment.len;
    let protocol = if is_datagram { UDP } else { TCP };
    let pseudo = Sum::ZERO
        .u32(from)
        .u32(to)
        .u16(u16::from(protocol))
        .u32(transport_length);
    if is_datagram {
        header[4..6].copy_from_slice(&(transport_length as u16).to_be_bytes());
        let sum = for_udp(pseudo.bytes(header));
        header[6..8].copy_from_slice(&sum.to_be_bytes());
    } else {
        write_header(segment, header);
        let sum = pseudo.bytes(header).checksum();
        header[16..18].copy_from_slice(&sum.to_be_bytes());
    }
    (stored, ETHERNET_BYTES as u32 + ip_length)
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

    /// Sums all words of the IP header, and of the pseudo header and the transport header, to
    /// 0xFFFF.
    fn assert_sums(frame: &[u8]) {
        assert_eq!(checksum(&frame[14..34]), 0);
        let length = u32::from(u16::from_be_bytes([frame[16], frame[17]])) - 20;
        let mut pseudo = frame[26..34].to_vec();
        pseudo.extend([0, frame[23]]);
        pseudo.extend((length as u16).to_be_bytes());
        pseudo.extend(&frame[34..]);
        assert_eq!(checksum(&pseudo), 0);
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
