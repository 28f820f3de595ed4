//! Counters of one connection.

/// Counters of one connection, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments with payload sent, retransmissions included.
    pub data_segments_sent: u64,
    /// Payload bytes sent for the first time.
    pub bytes_sent: u64,
    /// Segments retransmitted, SYNs and FINs among them.
    pub retransmissions: u64,
    /// Payload bytes retransmitted.
    pub bytes_retransmitted: u64,
    /// Retransmission timeouts, those of the handshake among them.
    pub timeouts: u64,
    /// Fast recoveries.
    pub recoveries: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
    /// Probes of a closed window sent.
    pub window_probes: u64,
    /// Reductions undone as spurious.
    pub undos: u64,
    /// ACKs received.
    pub acks_received: u64,
    /// ACKs without payload sent.
    pub acks_sent: u64,
    /// Segments with payload received.
    pub data_segments_received: u64,
    /// Payload bytes delivered in order.
    pub bytes_delivered: u64,
    /// Segments that came with Congestion Experienced.
    pub ce_received: u64,
    /// Window reductions for ECN-Echo.
    pub ecn_reductions: u64,
}
