//! What one ACK reports.

/// What one ACK reports, gathered while it is processed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckNews {
    /// `snd_una` before the ACK.
    pub(crate) prior_una: u32,
    /// It advanced `snd_una`.
    pub(crate) advanced: bool,
    /// It acknowledged data or the FIN, whether they had been retransmitted or not.
    pub(crate) acked: bool,
    /// It SACKed something new.
    pub(crate) sacked: bool,
    /// It (S)ACKed, below `high_seq`, a segment that was never retransmitted (F-RTO).
    pub(crate) original_acked: bool,
    /// It reported a duplicate.
    pub(crate) dsack: bool,
    /// The duplicate is that of a tail loss probe.
    pub(crate) dsack_of_probe: bool,
    /// It acknowledged retransmitted data.
    pub(crate) retransmitted_acked: bool,
    /// It carried data or changed the window: no duplicate ACK.
    pub(crate) not_duplicate: bool,
    /// It reported marks, by ECN-Echo or by a count.
    pub(crate) ece: bool,
    /// The retransmission timer starts anew.
    pub(crate) set_timer: bool,
    /// A retransmission was found lost.
    pub(crate) retransmission_lost: bool,
    /// Segments delivered by it.
    pub(crate) delivered: u32,
    /// Payload bytes of these.
    pub(crate) delivered_bytes: u32,
}
