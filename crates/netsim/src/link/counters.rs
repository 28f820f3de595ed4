//! Counters of a link.

/// Counters of a link since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that came.
    pub arrived_pkts: u64,
    /// Bytes that came.
    pub arrived_bytes: u64,
    /// Packets that left the queue.
    pub sent_pkts: u64,
    /// Bytes that left the queue.
    pub sent_bytes: u64,
    /// Dropped because the queue was full.
    pub overflow_pkts: u64,
    /// Dropped by the discipline's law.
    pub early_pkts: u64,
    /// Lost behind the queue.
    pub lost_pkts: u64,
    /// Marked with Congestion Experienced.
    pub marked_pkts: u64,
    /// Sum of the times that packets waited in the queue and were sent, ns.
    pub wait_ns: u64,
    /// Most packets that the queue counted against its limit.
    pub peak_pkts: u32,
    /// Time for which a medium had a packet of this link in hand, contention and repetitions
    /// included, ns; zero of links that are no direction of a medium.
    pub busy_ns: u64,
    /// Packets that reached the other end.
    pub delivered_pkts: u64,
}

impl LinkCounters {
    /// Packets that were dropped or lost, for any reason.
    pub fn dropped_pkts(&self) -> u64 {
        self.overflow_pkts + self.early_pkts + self.lost_pkts
    }
}
