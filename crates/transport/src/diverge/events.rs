//! Segments at a sender, alike from both sides: sequence numbers count from each direction's SYN,
//! times from the sender's.

use trammel_core::time::Time;
use trammel_kernel::frames::Frame;
use trammel_kernel::job::{Captured, FIRST_PORT};
use trammel_netsim::network::Passed;
use trammel_tcp::segment::{Flags, Segment};
use trammel_tcp::wire::read_header;

/// A segment that the sender sent or got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, from the sender's first SYN.
    pub at: Time,
    /// Whether the sender sent it.
    pub is_sent: bool,
    /// The segment, with numbers from each direction's SYN.
    pub segment: Segment,
}

impl Event {
    /// Whether it takes sequence numbers of the sender.
    pub fn is_data(&self) -> bool {
        self.is_sent && self.segment.seq_len() > 0
    }

    /// The sequence number behind it.
    pub fn end(&self) -> u32 {
        self.segment.seq.wrapping_add(self.segment.seq_len())
    }
}

/// A packet of a capture: a TCP segment with its ports and the identification of its IP header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) ports: [u16; 2],
    pub(super) identification: u16,
    pub(super) segment: Segment,
}

impl Packet {
    /// That of a frame; nothing where it has none.
    pub(super) fn of(frame: &Frame) -> Option<Packet> {
        const TCP: u8 = 6;
        let bytes = &frame.header;
        let length = usize::from(bytes.first()? & 0x0f) * 4;
        let word = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        if *bytes.get(9)? != TCP {
            return None;
        }
        let whole = usize::from(word(2)?);
        let tcp = bytes.get(length..)?;
        let (mut segment, header) = read_header(tcp).ok()?;
        // The payload was not kept.
        segment.len = u32::try_from(whole.checked_sub(length + header)?).ok()?;
        Some(Packet {
            ports: [word(length)?, word(length + 2)?],
            identification: word(4)?,
            segment,
        })
    }
}

/// The port that the receiver of flow number `flow` listens at.
pub(super) fn port(flow: usize) -> u16 {
    (FIRST_PORT + flow) as u16
}

/// The events of the simulator's sender, and when in the run it began.
pub(super) fn of_simulated(passed: &[Passed]) -> (Vec<Event>, Time) {
    let all = passed.iter().map(|one| Event {
        at: one.at,
        is_sent: one.is_sent,
        segment: one.segment,
    });
    relative(all.collect())
}

/// The events of the kernel's sender of flow number `flow`, and when in the run it began.
pub(super) fn of_capture(captured: &Captured, flow: usize) -> (Vec<Event>, Time) {
    let of_flow = |frame: &Frame| {
        let packet = Packet::of(frame)?;
        let far = packet.ports[usize::from(frame.is_outgoing)];
        (far == port(flow)).then(|| Event {
            at: Time::from_ns(frame.at_ns.max(0).cast_unsigned()),
            is_sent: frame.is_outgoing,
            segment: packet.segment,
        })
    };
    relative(
        captured
            .frames
            .iter()
            .filter_map(|frame| of_flow(&frame))
            .collect(),
    )
}

/// The same with times and numbers from the SYNs, and the time of the sender's.
fn relative(mut events: Vec<Event>) -> (Vec<Event>, Time) {
    let syn = |is_sent: bool| {
        let mut all = events.iter();
        all.find(|event| event.is_sent == is_sent && event.segment.flags.has(Flags::SYN))
            .map(|event| (event.at, event.segment.seq))
    };
    let (start, own) = syn(true).unwrap_or_default();
    let (_, peer) = syn(false).unwrap_or_default();
    for event in &mut events {
        event.at = Time::ZERO + event.at.saturating_since(start);
        let (first, other) = if event.is_sent {
            (own, peer)
        } else {
            (peer, own)
        };
        let segment = &mut event.segment;
        segment.seq = segment.seq.wrapping_sub(first);
        if segment.flags.has(Flags::ACK) {
            segment.ack = segment.ack.wrapping_sub(other);
        }
        for block in &mut segment.sack[..usize::from(segment.sack_count)] {
            block.start = block.start.wrapping_sub(other);
            block.end = block.end.wrapping_sub(other);
        }
    }
    (events, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_a_capture_is_read() {
        // IPv4 of 60 bytes, identification 7; TCP from 40000 to 5000, number 9, 20 bytes of header
        // and 20 of payload.
        let header = format!(
            "4500003c00070000400600000a0000010a000002{:04x}{:04x}0000000900000000501001f400000000",
            40_000, 5000
        );
        let frame = Frame {
            at_ns: 5,
            is_outgoing: true,
            header: header
                .as_bytes()
                .chunks(2)
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
                .collect(),
        };
        let packet = Packet::of(&frame).expect("it is one");
        assert_eq!((packet.identification, packet.ports), (7, [40_000, 5000]));
        assert_eq!((packet.segment.seq, packet.segment.len), (9, 20));
        let captured = Captured {
            frames: [frame].into_iter().collect(),
            ..Captured::default()
        };
        assert_eq!(of_capture(&captured, 0).0.len(), 1);
        assert_eq!(of_capture(&captured, 1).0.len(), 0);
    }
}
