//! Accurate ECN: how it was agreed on, what was counted on arrival, what the peer reported.

use crate::segment::Ecn;

/// What is known of the peer's AccECN options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    /// None has come.
    #[default]
    None,
    /// One without counters.
    Empty,
    /// One with counters.
    Counters,
    /// Its counters were cleared on the way, or none came for too long: they are not used.
    Unusable,
}

/// Counters of payload bytes by the ECN field of their segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByField {
    counters: [u32; 3],
}

impl ByField {
    /// The counter of `field`; none counts what is not ECN-capable.
    #[inline]
    pub(crate) fn of(&mut self, field: Ecn) -> Option<&mut u32> {
        match field {
            Ecn::NotEct => None,
            Ecn::Ect1 => Some(&mut self.counters[0]),
            Ecn::Ce => Some(&mut self.counters[1]),
            Ecn::Ect0 => Some(&mut self.counters[2]),
        }
    }

    /// What the counter of `field` says.
    pub(crate) fn get(mut self, field: Ecn) -> u32 {
        self.of(field).map_or(0, |counter| *counter)
    }
}

/// Accurate ECN of one connection (RFC 9768).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accurate {
    /// The ECN field that our SYN or SYN/ACK left with, and the one that the peer's came with.
    pub(crate) syn_sent: Ecn,
    pub(crate) syn_received: Ecn,
    /// The next segment tells by ACE how the peer's SYN arrived.
    pub(crate) reflects: bool,
    /// The present segment ends the handshake: its ACE counts nothing.
    pub(crate) ends_handshake: bool,
    /// The network changes ECN fields or ACE in one of the directions: nothing of ours is sent
    /// ECN-capable.
    pub(crate) is_mangled: bool,
    /// Segments with our option seem not to arrive.
    pub(crate) option_is_dropped: bool,
    /// What is known of the peer's options.
    pub(crate) seen: Seen,

    // Receiving.
    /// Packets that came marked (r.cep without its first value), and those not reported yet.
    pub(crate) marked: u32,
    pub(crate) pending: u32,
    /// Payload bytes that came by ECN field.
    pub(crate) received: ByField,
    /// The ECN field of the last segment.
    pub(crate) last: Ecn,
    /// Counters that the next option has to have at least, for what has changed.
    pub(crate) least: u8,
    /// ACKs that have still to carry the option.
    pub(crate) demand: u8,
    /// The next payload is acknowledged at once.
    pub(crate) acks_next: bool,
    /// When the option was last sent, µs.
    pub(crate) option_us: u64,
    /// It was last sent beside the report of a duplicate that begins here.
    pub(crate) option_beside_dsack: Option<u32>,

    // Sending.
    /// Payload bytes that the peer reported by ECN field (s.e0b, s.ceb, s.e1b).
    pub(crate) delivered: ByField,
    /// The one counter that the last option moved: what is delivered without an option counts
    /// there.
    pub(crate) estimated: Option<Ecn>,
    /// Segments that an ACK delivers on average, × 64.
    pub(crate) delivered_average: u32,
}
