//! What `poll_transmit` has still to look at.

use crate::segment::Segment;

/// A reset to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    pub(crate) seq: u32,
    /// What it acknowledges.
    pub(crate) ack: Option<u32>,
    /// It ends a connection of ours, whose options it carries, and answers no segment.
    pub(crate) is_ours: bool,
}

/// Segments that may have to be sent. ACKs that are due stand in the receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// There may be new data to send.
    pub(crate) new_data: bool,
    /// There may be lost segments to retransmit.
    pub(crate) retransmission: bool,
    /// The first lost segment leaves at once, whatever the window allows.
    pub(crate) first_lost_at_once: bool,
    /// One of the rare segments below may be due.
    pub(crate) rare: bool,
    /// Our SYN, or our SYN in answer to the peer's.
    pub(crate) syn: bool,
    /// A reset.
    pub(crate) reset: Option<Reset>,
    /// A probe of a closed window or of a lost tail.
    pub(crate) probe: bool,
    /// An ACK of what arrived before a change of marking.
    pub(crate) extra_ack: Option<Segment>,
}

impl Output {
    pub(crate) fn new() -> Output {
        Output {
            new_data: false,
            retransmission: false,
            first_lost_at_once: false,
            rare: true,
            syn: false,
            reset: None,
            probe: false,
            extra_ack: None,
        }
    }
}
