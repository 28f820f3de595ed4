//! D-ITG's messages of ICMP: a header that tells nothing but the type, and a payload as over UDP.
//!
//! ```text
//! IPv4 │ type │ 0 │ checksum │ 0 0 0 0 │ payload…
//! IPv6 │ type │ 0 │ checksum │ payload…
//! ```
//! The type is `-T ICMP`'s, 8 without one, in IPv6 as well, where 8 is unassigned (an echo request
//! is 128 there, RFC 4443 §4.1). The channel does not tell it, and ITGRecv takes all types for its
//! flows; so it counts the replies too where a host sends to itself. `-m rttm` is not to be had:
//! ITGSend then sends payloads without any header, which come to nobody.

use super::command::{Command, Metadata};
use super::flow::bounds;
use super::stamps;
use crate::echo::HEAD_BYTES;
use crate::record::Protocol;
use crate::send::Packet;
use crate::send::icmp;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::ipv4::Ipv4;

/// Bytes before the payload.
fn header_bytes(is_ipv6: bool) -> usize {
    if is_ipv6 { 4 } else { 8 }
}

/// The messages of a flow.
#[derive(Debug)]
pub struct Form {
    kind: u8,
    is_ipv6: bool,
    metadata: Metadata,
    least: u32,
}

impl Form {
    /// The messages of `command`.
    #[must_use]
    pub fn new(command: &Command, is_ipv6: bool) -> Form {
        Form {
            kind: command.icmp_type,
            is_ipv6,
            metadata: command.metadata,
            least: bounds(command).0,
        }
    }
}

impl icmp::Form for Form {
    fn header_bytes(&self) -> usize {
        header_bytes(self.is_ipv6)
    }

    fn least(&self) -> u32 {
        self.least
    }

    fn head(&self, packet: &Packet, filler: &[u8]) -> [u8; HEAD_BYTES] {
        let at = header_bytes(self.is_ipv6);
        let mut head = [0; HEAD_BYTES];
        head[at..].copy_from_slice(&filler[at..HEAD_BYTES]);
        head[0] = self.kind;
        let own = stamps::head(&packet.stamp, packet.bytes);
        own.encode(&mut head[at..], self.metadata, Protocol::Icmp);
        // That of ICMPv6 is left to the kernel.
        if !self.is_ipv6 {
            let whole = at + packet.bytes as usize;
            let sum = Sum::ZERO.bytes(&head[..whole.min(HEAD_BYTES)]);
            let rest = filler.get(HEAD_BYTES..whole).unwrap_or_default();
            head[2..4].copy_from_slice(&sum.bytes(rest).checksum().to_be_bytes());
        }
        head
    }
}

/// The type and the payload of what a raw socket took in, where it can be a message of D-ITG. The
/// checksum is not looked at: ITGSend's over an odd number of bytes is one too large at times.
#[must_use]
pub fn read(packet: &[u8], is_ipv6: bool) -> Option<(u8, &[u8])> {
    let message = if is_ipv6 {
        packet
    } else {
        packet.get(Ipv4::read(packet)?.header_len().max(Ipv4::LEN)..)?
    };
    let payload = message.get(header_bytes(is_ipv6)..)?;
    // Their headers say nothing but the type.
    let is_theirs = message[1] == 0 && (is_ipv6 || message[4..8] == [0; 4]);
    is_theirs.then_some((message[0], payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::icmp::Form as _;
    use crate::stamp::Stamp;
    use proptest::prelude::*;
    use trammel_packet::headers::checksum::checksum;

    /// What a raw socket takes in of a packet that is the second of flow 1, sent at 82,054.062969 s
    /// of the day.
    fn packet(metadata: Metadata, bytes: u32, kind: u8, is_ipv6: bool) -> Vec<u8> {
        let command = Command {
            protocol: Protocol::Icmp,
            icmp_type: kind,
            metadata,
            ..Command::default()
        };
        let form = Form::new(&command, is_ipv6);
        let filler: Vec<u8> = (0..=255).collect();
        let sent = Packet {
            stamp: Stamp {
                flow: 1,
                sequence: 1,
                sent_ns: 82_054_062_969_000,
            },
            bytes,
        };
        let head = form.head(&sent, &filler);
        let whole = form.header_bytes() + bytes as usize;
        let mut packet = vec![0; if is_ipv6 { 0 } else { Ipv4::LEN }];
        if let Some(first) = packet.first_mut() {
            *first = 0x45;
        }
        packet.extend(&head[..whole.min(HEAD_BYTES)]);
        packet.extend(filler.get(HEAD_BYTES..whole).unwrap_or_default());
        packet
    }

    #[test]
    fn its_bytes_are_those_that_were_seen() {
        // As ITGSend sends them: `-T ICMP -p 1 -c 4`, its second packet.
        assert_eq!(
            packet(Metadata::Sequence, 8, 8, false)[20..],
            [8, 0, 0xf7, 0xfc, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2]
        );
        let second = packet(Metadata::Full, 20, 8, true);
        assert_eq!(
            second,
            [
                8, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0x40, 0x86, 0, 0, 0xf5, 0xf9, 20, 21, 22,
                23
            ]
        );
        assert_eq!(read(&second, true), Some((8, &second[4..])));
    }

    #[test]
    fn checksums_are_right_and_messages_of_others_are_left() {
        for bytes in [16, 17, 60] {
            let whole = packet(Metadata::Full, bytes, 13, false);
            assert_eq!(read(&whole, false), Some((13, &whole[28..])), "{bytes}");
            assert_eq!(checksum(&whole[20..]), 0, "{bytes}");
            // The code, the identifier and the number.
            for at in [21, 24, 25, 26, 27] {
                let mut changed = whole.clone();
                changed[at] ^= 4;
                assert_eq!(read(&changed, false), None, "byte {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_left(packet: Vec<u8>, is_ipv6: bool) {
            let _ = read(&packet, is_ipv6);
        }
    }
}
