//! What links carry: a TCP segment or a datagram, on its way along a route.

use trammel_core::time::Time;
use trammel_tcp::segment::{Ecn, Segment};

/// A packet on its route.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The segment; a datagram keeps its number and its time of sending in the segment's fields.
    pub segment: Segment,
    /// Index of the flow or the stream that it belongs to.
    pub flow: u32,
    /// Bytes that links and queues count.
    pub wire_bytes: u32,
    /// Where it is going.
    pub course: Course,
    /// Links of its route already behind it.
    pub hop: u8,
}

/// Which route of which kind of traffic a packet follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// From a flow's client to its server.
    Forward,
    /// From a flow's server to its client.
    Backward,
    /// From a stream's source to its sink.
    Datagram,
}

impl Default for Packet {
    fn default() -> Packet {
        let segment = Segment::default();
        Packet {
            segment,
            flow: 0,
            wire_bytes: 0,
            course: Course::Forward,
            hop: 0,
        }
    }
}

impl Packet {
    /// Datagram number `number` of stream `stream`, sent at `now` with `payload` bytes in
    /// `wire_bytes`.
    pub fn datagram(stream: u32, number: u32, payload: u32, wire_bytes: u32, now: Time) -> Packet {
        let ps = now.as_ps();
        let segment = Segment {
            seq: number,
            len: payload,
            ts_val: ps as u32,
            ts_ecr: (ps >> 32) as u32,
            ..Segment::default()
        };
        Packet {
            segment,
            flow: stream,
            wire_bytes,
            course: Course::Datagram,
            hop: 0,
        }
    }

    /// When a datagram was sent.
    pub fn sent(&self) -> Time {
        Time::from_ps(u64::from(self.segment.ts_ecr) << 32 | u64::from(self.segment.ts_val))
    }

    /// Whether congestion may be signalled by a mark.
    #[inline]
    pub(crate) fn is_ecn_capable(&self) -> bool {
        self.segment.ecn != Ecn::NotEct
    }

    /// A hash of the flow, for fair queueing.
    #[inline]
    pub(crate) fn flow_hash(&self) -> u32 {
        let kind = u32::from(self.course == Course::Datagram);
        (self.flow * 2 + kind).wrapping_mul(0x9e37_79b9)
    }
}
