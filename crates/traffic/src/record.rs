//! What became of a packet, and what a flow is: what logs hold and the decoder counts.

use std::net::SocketAddr;

/// The most that a record can tell: flows and bytes are of 24 bits, sequence numbers of 40.
pub const MOST_FLOWS: u32 = 1 << 24;
/// See [`MOST_FLOWS`].
pub const MOST_BYTES: u32 = 1 << 24;
/// See [`MOST_FLOWS`].
pub const MOST_SEQUENCE: u64 = 1 << 40;

/// Which two instants a log's records hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instants {
    /// The sender's: when a packet was due and when it was given to the kernel.
    DueSent,
    /// The sender's: when a packet was due and when it left, as the kernel tells it.
    DueLeft,
    /// The receiver's: when a packet was sent, by the sender's clock, and when it came, by the
    /// receiver's.
    SentReceived,
    /// The sender's of a round trip: when a packet was sent and when its answer came, by one clock.
    SentReturned,
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number of its flow; below [`MOST_FLOWS`].
    pub flow: u32,
    /// Its place in the flow, from 0; below [`MOST_SEQUENCE`].
    pub sequence: u64,
    /// Bytes of its payload; below [`MOST_BYTES`].
    pub bytes: u32,
    /// The first of the log's instants, in nanoseconds since 1970.
    pub start_ns: i64,
    /// The second. The difference may be negative: the clocks of two hosts differ.
    pub end_ns: i64,
}

/// A protocol that carries packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// UDP (RFC 768).
    Udp,
    /// TCP (RFC 9293): packets are messages in a stream of bytes.
    Tcp,
    /// ICMP or ICMPv6 echo requests (RFC 792, RFC 4443).
    Icmp,
    /// SCTP (RFC 9260).
    Sctp,
    /// DCCP (RFC 4340).
    Dccp,
    /// Ethernet frames.
    Ethernet,
    /// One that is not told, as in D-ITG's logs.
    Unknown,
}

/// What a log says of a flow besides its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedFlow {
    /// Its number, by which records name it.
    pub number: u32,
    /// What carries it.
    pub protocol: Protocol,
    /// Where from and where to, as far as this side knows it.
    pub from: Option<SocketAddr>,
    /// See `from`.
    pub to: Option<SocketAddr>,
    /// The user's name for it; may be empty.
    pub name: String,
}
