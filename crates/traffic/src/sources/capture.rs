//! Times and payload sizes of a capture, pcap or pcapng, once or over and over.
//!
//! The payload is what stands behind the transport header (UDP, TCP, ICMP; of other protocols, and
//! of fragments but the first, behind the IP header), by the lengths that the packet itself claims,
//! so that captures that keep only headers serve as well. Frames that are not IP are left out and
//! counted. A time stamp that goes back counts as the one before.
//!
//! Repeated, one mean gap lies between the last packet and the first of the next round.

use super::Error;
use crate::moments::{Predicted, sample};
use crate::record::MOST_BYTES;
use crate::stream::{Departure, Plan, Source};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use trammel_core::time::{Span, Time};
use trammel_packet::capture::{Frame, Reader};
use trammel_packet::headers::ether::ethertype;
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::headers::ipv6::{self, Ipv6};
use trammel_packet::headers::tcp::Tcp;

/// The most packets that are taken from a capture.
pub const MOST_PACKETS: usize = 1 << 26;

/// The packets of a capture.
#[derive(Clone, Debug)]
pub struct Captured {
    /// From the first one's time.
    packets: Arc<[Departure]>,
    /// After what time it begins anew.
    period: Option<Span>,
    left_out: u64,
}

impl Captured {
    /// The packets of the capture at `path`, once or, with `repeated`, over and over.
    pub fn read(path: &Path, repeated: bool) -> Result<Captured, Error> {
        let file = File::open(path).map_err(|error| Error::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        let wrong = |error| Error::Capture {
            path: path.to_owned(),
            error,
        };
        let empty = |what: String| Error::Empty {
            path: path.to_owned(),
            what,
        };
        let mut reader = Reader::new(BufReader::new(file)).map_err(wrong)?;
        let (mut packets, mut left_out, mut first_ns) = (Vec::<Departure>::new(), 0, None);
        while let Some(frame) = reader.next_frame().map_err(wrong)? {
            let Some(bytes) = payload_bytes(&frame) else {
                left_out += 1;
                continue;
            };
            if packets.len() >= MOST_PACKETS {
                return Err(empty(format!(
                    "has more than {MOST_PACKETS} packets; shorten it"
                )));
            }
            let now_ns = frame.timestamp.0;
            let since_ns = now_ns.saturating_sub(*first_ns.get_or_insert(now_ns));
            let at_ps = u64::try_from(since_ns).unwrap_or(0).saturating_mul(1000);
            let before = packets.last().map_or(Time::ZERO, |packet| packet.at);
            packets.push(Departure {
                at: Time::from_ps(at_ps).max(before),
                bytes: bytes.min(MOST_BYTES - 1),
            });
        }
        let Some(last) = packets.last() else {
            let what =
                format!("has no IP packets ({left_out} other frames); give a capture of some");
            return Err(empty(what));
        };
        let gaps = packets.len() as u64 - 1;
        let period = match last.at.as_ps().checked_div(gaps) {
            _ if !repeated => None,
            Some(mean_gap) if mean_gap > 0 => Some(last.at.since_start() + Span::from_ps(mean_gap)),
            _ => {
                return Err(empty(
                    "lasts no time and cannot be repeated; play it once, or give a longer one"
                        .to_owned(),
                ));
            }
        };
        Ok(Captured {
            packets: packets.into(),
            period,
            left_out,
        })
    }

    /// How many packets one round has.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Frames that are not IP or too short to tell.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Bytes of the payload of a frame, where it has an IP packet.
fn payload_bytes(frame: &Frame) -> Option<u32> {
    let (kind, at) = frame.link.network(frame.data)?;
    let packet = frame.data.get(at..)?;
    let (protocol, header, total) = match kind {
        ethertype::IP => {
            let ip = Ipv4::read(packet)?;
            let protocol = if ip.is_first_fragment() {
                ip.protocol
            } else {
                NO_TRANSPORT
            };
            // A length of 0 stands in captures of what the device is yet to cut (TSO).
            let total = match ip.total_length.get() {
                0 => (frame.wire_len as usize).saturating_sub(at),
                total => usize::from(total),
            };
            (protocol, ip.header_len(), total)
        }
        ethertype::IP6 => {
            let total = Ipv6::LEN + usize::from(Ipv6::read(packet)?.payload_length.get());
            let upper = ipv6::upper(packet)?;
            let protocol = if upper.fragment_offset == 0 {
                upper.protocol
            } else {
                NO_TRANSPORT
            };
            (protocol, upper.at, total)
        }
        _ => return None,
    };
    let transport = match protocol {
        protocol::UDP | protocol::ICMP | protocol::ICMP6 => 8,
        protocol::TCP => Tcp::read(packet.get(header..)?)?.header_len(),
        _ => 0,
    };
    u32::try_from(total.saturating_sub(header + transport)).ok()
}

/// A protocol number without a meaning: what stands there is payload.
const NO_TRANSPORT: u8 = 255;

impl Source for Captured {
    fn plan(&self, _seed: u64) -> Plan {
        let packets = Arc::clone(&self.packets);
        let rounds = if self.period.is_some() { u64::MAX } else { 1 };
        let period_ps = self.period.map_or(0, Span::as_ps);
        Box::new(
            (0..rounds)
                .map_while(move |round| round.checked_mul(period_ps).map(Span::from_ps))
                .flat_map(move |begin| {
                    let packets = Arc::clone(&packets);
                    (0..packets.len()).map(move |at| Departure {
                        at: packets[at].at + begin,
                        bytes: packets[at].bytes,
                    })
                }),
        )
    }

    fn predicted(&self) -> Predicted {
        let bytes = self.packets.iter().map(|packet| packet.bytes);
        let (mean_bytes, size_cv) = sample::of_all_sizes(bytes);
        let mut gaps: Vec<Span> = self
            .packets
            .windows(2)
            .map(|pair| pair[1].at.saturating_since(pair[0].at))
            .collect();
        if let (Some(period), Some(last)) = (self.period, self.packets.last()) {
            gaps.push(period.saturating_sub(last.at.since_start()));
        }
        let limit = self.period.map(|_| 0.0);
        Predicted {
            mean_bytes,
            size_cv,
            dispersion_limit: limit,
            ..sample::of_repeated_gaps(&gaps)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pcap of nanoseconds with Ethernet frames, (seconds, nanoseconds, frame) each.
    fn pcap(frames: &[(u32, u32, Vec<u8>)]) -> tempfile::NamedTempFile {
        let mut bytes = Vec::new();
        bytes.extend(0xA1B2_3C4D_u32.to_le_bytes());
        bytes.extend([2, 0, 4, 0]);
        for word in [0_u32, 0, 65_535, 1] {
            bytes.extend(word.to_le_bytes());
        }
        for (secs, ns, frame) in frames {
            let len = frame.len() as u32;
            for word in [*secs, *ns, len, len] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(frame);
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    /// A frame of IPv4 with a protocol and so many bytes behind the IP header.
    fn ip4(protocol: u8, behind: usize) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend((20 + behind as u16).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let mut rest = vec![0; behind];
        if protocol == protocol::TCP {
            // Eight words of header.
            rest[12] = 0x80;
        }
        frame.extend(rest);
        frame
    }

    /// A frame of IPv6 with UDP.
    fn ip6(payload: usize) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xDD, 0x60, 0, 0, 0]);
        frame.extend((8 + payload as u16).to_be_bytes());
        frame.extend([protocol::UDP, 64]);
        frame.extend(vec![0; 32 + 8 + payload]);
        frame
    }

    fn arp() -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[12..14].copy_from_slice(&[8, 6]);
        frame
    }

    fn found(source: &Captured, count: usize) -> Vec<(u64, u32)> {
        let packets = source.plan(1).take(count);
        packets
            .map(|packet| (packet.at.as_us(), packet.bytes))
            .collect()
    }

    #[test]
    fn times_and_payloads_are_those_of_the_capture() {
        let file = pcap(&[
            (100, 999_000_000, arp()),
            (100, 999_500_000, ip4(protocol::UDP, 108)),
            (101, 500_000, ip4(protocol::TCP, 132)),
            // A clock that goes back.
            (101, 400_000, ip4(protocol::ICMP, 72)),
            (101, 1_500_000, ip6(50)),
        ]);
        let once = Captured::read(file.path(), false).unwrap();
        let round = [(0, 100), (1000, 100), (1000, 64), (2000, 50)];
        assert_eq!(found(&once, 9), round);
        assert_eq!((once.packets(), once.left_out()), (4, 1));
        // Three gaps in 2 ms: the next round begins two thirds of a millisecond later.
        let repeated = Captured::read(file.path(), true).unwrap();
        let twice = found(&repeated, 8);
        assert_eq!(twice[..4], round);
        assert_eq!(
            twice[4..],
            [(2666, 100), (3666, 100), (3666, 64), (4666, 50)]
        );
        assert!((repeated.predicted().mean_rate.unwrap() - 1500.0).abs() < 1e-6);
        assert_eq!(repeated.predicted().mean_bytes, Some(78.5));
    }

    #[test]
    fn what_cannot_be_played_says_why_and_what_to_do() {
        let error = |file: &tempfile::NamedTempFile, repeated| {
            let error = Captured::read(file.path(), repeated)
                .unwrap_err()
                .to_string();
            error.replace(&file.path().display().to_string(), "F")
        };
        let file = pcap(&[(1, 0, arp())]);
        assert_eq!(
            error(&file, false),
            "`F` has no IP packets (1 other frames); give a capture of some"
        );
        let file = pcap(&[(1, 0, ip4(protocol::UDP, 8))]);
        assert!(error(&file, true).contains("play it once"));
        assert!(Captured::read(file.path(), false).is_ok());
        let file = pcap(&[(1, 0, ip4(protocol::UDP, 8)), (1, 0, ip4(protocol::UDP, 8))]);
        assert!(error(&file, true).contains("lasts no time"));
        let text = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(text.path(), "hello, world").unwrap();
        assert!(error(&text, false).contains("neither pcap nor pcapng"));
        assert!(Captured::read(Path::new("/nowhere"), false).is_err());
    }

    #[test]
    fn broken_frames_are_left_out_and_never_panic() {
        let frames: Vec<_> = [ip4(protocol::TCP, 132), ip4(protocol::UDP, 8), ip6(10)]
            .into_iter()
            .flat_map(|frame| (0..=frame.len()).map(move |cut| (1, 0, frame[..cut].to_vec())))
            .collect();
        let total = frames.len();
        let source = Captured::read(pcap(&frames).path(), false).unwrap();
        assert_eq!(source.packets() + source.left_out() as usize, total);
    }
}
