//! Duplicate ACKs: what a sender without SACK knows of the network (RFC 6582).

use super::Connection;
use super::parts::ack_news::AckNews;
use crate::cc::CaState;
use crate::seq::before;

impl Connection {
    /// Duplicate ACKs, or what stands for them under SACK.
    pub(super) fn duplicates(&self) -> u32 {
        if self.handshake.sack {
            self.tp.sacked_out + 1
        } else {
            self.recovery.dupacks
        }
    }

    /// Without SACK every duplicate ACK says that one more segment has left the network.
    pub(super) fn count_duplicate(&mut self) {
        self.recovery.dupacks += 1;
        if self.tp.sacked_out < self.most_duplicates() {
            self.tp.sacked_out += 1;
            self.tp.delivered += 1;
        }
    }

    /// Without SACK: how many segments may have left the network out of order; one at least is
    /// missing.
    pub(super) fn most_duplicates(&self) -> u32 {
        self.tp.packets_out.saturating_sub(self.tp.lost_out.max(1))
    }

    /// Without SACK: segments acknowledged are no longer counted as having left the network out of
    /// order.
    pub(super) fn take_duplicates_back(&mut self, acked: u32, news: &AckNews) {
        if acked == 0 {
            return;
        }
        // One of those acknowledged was the hole itself.
        let counted = acked.saturating_sub(1).min(self.tp.sacked_out);
        self.tp.sacked_out -= counted;
        self.tp.delivered -= u64::from(counted);
        if self.tp.ca_state != CaState::Recovery || !before(self.tp.snd_una, self.recovery.high_seq)
        {
            self.recovery.dupacks = 0;
        }
        if self.board.is_empty() || news.retransmitted_acked && self.tp.ca_state == CaState::Open {
            self.tp.sacked_out = 0;
        }
        self.tp.sacked_out = self.tp.sacked_out.min(self.most_duplicates());
    }
}
