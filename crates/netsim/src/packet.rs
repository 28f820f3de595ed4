//! What links carry: a TCP segment or a datagram, on its way along a route.

use trammel_core::time::Time;
use trammel_queues::aqm::Role;
use trammel_tcp::segment::{Flags, Segment};

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

/// What all packets of a flow or stream carry, as the source sends them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The differentiated services codepoint.
    pub dscp: u8,
    /// The host that they come from, by a number.
    pub source: u16,
    /// The host that they go to, by a number.
    pub destination: u16,
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

    /// What it is to an ACK filter.
    #[inline]
    pub(crate) fn role(&self) -> Role {
        let segment = &self.segment;
        if self.course == Course::Datagram {
            return Role::OTHER;
        }
        // The flag AE and the AccECN option are nothing that a filter knows, and so it keeps what
        // has them: as Linux's CAKE, to which they are a reserved bit and an unknown option.
        let echo = Flags::ECE.with(Flags::CWR);
        let is_other = segment.flags.without(echo) != Flags::ACK
            || segment.len > 0
            || segment.accecn.is_some();
        let role = match segment.sack_count {
            _ if is_other => Role::OTHER,
            0 => Role::ACK,
            _ => Role::SELECTIVE_ACK,
        };
        role.with_echo(segment.flags.has(Flags::ECE), segment.flags.has(Flags::CWR))
    }

    /// A hash of the flow, for fair queueing.
    #[inline]
    pub(crate) fn flow_hash(&self) -> u32 {
        let kind = u32::from(self.course == Course::Datagram);
        (self.flow * 2 + kind).wrapping_mul(0x9e37_79b9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_tcp::accecn::{AccEcn, Order};

    fn role(flags: Flags, len: u32) -> Role {
        let segment = Segment {
            flags,
            len,
            ..Segment::default()
        };
        Packet {
            segment,
            ..Packet::default()
        }
        .role()
    }

    #[test]
    fn an_ack_filter_sees_acks_of_classic_ecn_and_none_with_what_it_does_not_know() {
        let ack = Flags::ACK;
        assert_eq!(role(ack, 0), Role::ACK);
        let echo = Role::ACK.with_echo(true, false);
        assert_eq!(role(ack.with(Flags::ECE), 0), echo);
        assert_eq!(role(ack, 1), Role::OTHER);
        assert_eq!(role(ack.with(Flags::FIN), 0), Role::OTHER);
        // Accurate ECN: counts below four have AE unset.
        assert_eq!(role(ack.with_ace(3), 0), Role::ACK.with_echo(true, true));
        assert_eq!(role(ack.with_ace(4), 0), Role::OTHER);
        let mut segment = Segment {
            flags: ack,
            ..Segment::default()
        };
        segment.set_accecn(AccEcn::new(Order::Ect1First, &[1, 0, 1]));
        let packet = Packet {
            segment,
            ..Packet::default()
        };
        assert_eq!(packet.role(), Role::OTHER);
    }
}
