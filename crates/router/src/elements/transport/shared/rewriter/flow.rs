//! A flow: who speaks to whom, what they are called on the other side, and what was seen of it.

use super::sequence::Deltas;
use std::fmt;
use std::net::Ipv4Addr;
use trammel_packet::headers::checksum::Sum;

/// Two ends of IPv4. Parts that a rewriter does not look at are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FlowId {
    /// From which address.
    pub src: u32,
    /// To which address.
    pub dst: u32,
    /// From which port.
    pub sport: u16,
    /// To which port.
    pub dport: u16,
}

impl FlowId {
    /// The flow of the answers.
    #[inline]
    pub(crate) fn reverse(self) -> FlowId {
        FlowId {
            src: self.dst,
            dst: self.src,
            sport: self.dport,
            dport: self.sport,
        }
    }
}

/// `(1.0.0.1, 1024, 2.0.0.2, 80)`.
impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (src, dst) = (Ipv4Addr::from_bits(self.src), Ipv4Addr::from_bits(self.dst));
        write!(f, "({src}, {}, {dst}, {})", self.sport, self.dport)
    }
}

/// How a flow's life is told by its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracking {
    /// Every packet counts alike.
    Plain,
    /// Three packets and one of them an answer make it a streaming one.
    Datagram,
    /// Data in both directions make it live, FIN or RST of both sides end it.
    Stream,
}

/// How long flows of one kind are kept after a packet, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Law {
    /// What is looked at.
    pub tracking: Tracking,
    /// Kept at any rate; 0 for no such promise.
    pub guarantee: i64,
    /// Of a flow that is neither of the following.
    pub idle: i64,
    /// Of a streaming one, or one with data in both directions.
    pub active: i64,
    /// Of one that has ended.
    pub done: i64,
}

/// Bits of [`MappedFlow::state`] of a stream: for each direction, whether it ended and whether it
/// had data.
pub(crate) mod state {
    /// The forward direction ended; the reply's bit is the next.
    pub(crate) const DONE: u8 = 1;
    /// Both ended.
    pub(crate) const BOTH_DONE: u8 = 3;
    /// The forward direction had data; the reply's bit is the next.
    pub(crate) const DATA: u8 = 4;
    /// Both had data.
    pub(crate) const BOTH_DATA: u8 = 12;
    /// Of datagrams: bit 0 says that an answer came, the rest counts packets up to 3.
    pub(crate) const STREAMING: u8 = 7;
}

/// A flow with its mapping.
#[derive(Debug)]
pub(crate) struct MappedFlow {
    /// What comes in: from the one who began, and from the one who answers.
    pub ids: [FlowId; 2],
    /// By which output each leaves.
    pub outputs: [u32; 2],
    /// In which map of the table it stands.
    pub map: u32,
    /// Which input of which rewriter made it.
    pub owner: u32,
    /// Which law it lives by.
    pub law: u32,
    /// What of its packets is looked at, as that law says.
    pub tracking: Tracking,
    /// The end of its time, in milliseconds.
    pub expiry: i64,
    /// Whether that time is promised.
    pub guaranteed: bool,
    /// Its IP protocol; 0 where any will do.
    pub protocol: u8,
    /// See [`state`].
    pub state: u8,
    /// The annotation that answers get.
    pub reply_anno: u8,
    /// What is added to the sum of the IP header, on the way forward.
    pub ip_delta: u16,
    /// What is added to the sum of the transport header.
    pub transport_delta: u16,
    /// Changes of sequence numbers, where there are any.
    pub deltas: Option<Box<Deltas>>,
}

impl MappedFlow {
    /// What a packet of this direction becomes.
    #[inline]
    pub(crate) fn rewritten(&self, reply: bool) -> FlowId {
        self.ids[usize::from(!reply)].reverse()
    }

    /// How long it is kept after its last packet.
    pub(crate) fn patience(&self, law: &Law) -> i64 {
        match law.tracking {
            Tracking::Datagram if self.state >= state::STREAMING => law.active,
            Tracking::Stream if self.state & state::BOTH_DONE == state::BOTH_DONE => law.done,
            Tracking::Stream if self.state & state::BOTH_DATA == state::BOTH_DATA => law.active,
            _ => law.idle,
        }
    }
}

/// What is added to a sum over addresses when `from` becomes `to` (RFC 1624, equation 3), as
/// `~from + to` in one's complement.
pub(crate) fn address_delta(from: FlowId, to: FlowId) -> u16 {
    let sum = Sum::ZERO.u32(!from.src).u32(to.src);
    sum.u32(!from.dst).u32(to.dst).fold()
}

/// The same for ports.
pub(crate) fn port_delta(from: FlowId, to: FlowId) -> u16 {
    let sum = Sum::ZERO.u16(!from.sport).u16(to.sport);
    sum.u16(!from.dport).u16(to.dport).fold()
}

/// Two changes of one sum together.
pub(crate) fn both(a: u16, b: u16) -> u16 {
    Sum::ZERO.u16(a).u16(b).fold()
}
