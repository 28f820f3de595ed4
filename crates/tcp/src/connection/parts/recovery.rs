//! Recovery: recovery point, undo, window reduction, and how much reordering is tolerated.

/// State of loss recovery and of window reductions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    /// Recovery point: `snd_nxt` when the present state began.
    pub(crate) high_seq: u32,
    /// First index that may hold a lost segment to retransmit.
    pub(crate) retransmit_hint: u64,
    /// When the first retransmission of this recovery left, µs; 0 without one.
    pub(crate) retrans_stamp_us: u32,
    /// Undo of a reduction.
    pub(crate) undo: Undo,
    /// The reduction under way.
    pub(crate) reduction: ReductionProgress,
    /// F-RTO is judging a timeout (RFC 5682).
    pub(crate) frto: bool,
    /// Degree of reordering, segments.
    pub(crate) reordering: u32,
    /// Duplicate ACKs, where SACK is not in use.
    pub(crate) dupacks: u32,
    /// A partial ACK has arrived in this recovery.
    pub(crate) partial_acked: bool,
}

impl Recovery {
    /// Nothing sent but a SYN numbered `iss`; `reordering` segments may arrive out of order.
    pub(crate) fn new(iss: u32, reordering: u32) -> Recovery {
        Recovery {
            high_seq: iss,
            retransmit_hint: 0,
            retrans_stamp_us: 0,
            undo: Undo {
                marker: None,
                retrans: -1,
                prior_ssthresh: 0,
            },
            reduction: ReductionProgress::default(),
            frto: false,
            reordering,
            dupacks: 0,
            partial_acked: false,
        }
    }
}

/// What it takes to undo a reduction that proves spurious.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// `snd_una` when the reduction began; `None` where it cannot be undone.
    pub(crate) marker: Option<u32>,
    /// Retransmissions not yet proved redundant; negative without any.
    pub(crate) retrans: i64,
    /// `ssthresh` before the reduction; 0 where it must not come back.
    pub(crate) prior_ssthresh: u32,
}

/// How far a reduction of the window has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReductionProgress {
    /// Segments delivered since it began (RFC 6937, `prr_delivered`).
    pub(crate) prr_delivered: u32,
    /// Segments sent since it began (RFC 6937, `prr_out`).
    pub(crate) prr_out: u32,
    /// Rate halving: the next ACK lowers the window.
    pub(crate) halving_ack: bool,
    /// The next new segment carries CWR (RFC 3168 §6.1.2).
    pub(crate) cwr_pending: bool,
}
