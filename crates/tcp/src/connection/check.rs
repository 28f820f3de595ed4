//! Recounts, in debug builds, what a connection keeps count of as it goes.
//!
//! A small window is recounted after every event, a large one after one event in 64, so that the
//! cost stays in proportion.

use super::Connection;
use super::parts::status::State;
use crate::cc::CaState;
use crate::scoreboard::mark;
use crate::seq::before;

/// Windows of up to so many segments are recounted every time.
const SMALL: usize = 64;

impl Connection {
    /// Panics where a count or a hint contradicts the scoreboard.
    pub(super) fn check_sometimes(&mut self) {
        self.checks = self.checks.wrapping_add(1);
        if self.board.len() <= SMALL || self.checks.is_multiple_of(64) {
            self.check();
        }
    }

    fn check(&self) {
        let tp = &self.tp;
        let (mut sacked, mut lost, mut again) = (0, 0, 0);
        let mut next = tp.snd_una;
        for index in self.board.head()..self.board.tail() {
            let sent = self.board.get(index);
            assert_eq!(sent.seq, next, "segments follow each other");
            assert!(before(sent.seq, sent.end), "no segment is empty");
            next = sent.end;
            sacked += u32::from(sent.is(mark::SACKED));
            lost += u32::from(sent.is(mark::LOST));
            again += u32::from(sent.is(mark::RETRANS));
            assert!(
                !(sent.is(mark::SACKED) && sent.is(mark::LOST)),
                "SACKed is not lost"
            );
            assert!(!sent.is(mark::RETRANS) || sent.is(mark::EVER_RETRANS));
            if sent.is(mark::SACKED) {
                assert!(
                    index < self.sack.highest,
                    "above the highest SACKed segment"
                );
            }
            if sent.is(mark::LOST) && !sent.is(mark::RETRANS) {
                assert!(
                    self.recovery.retransmit_hint <= index,
                    "a lost segment would never be sent again"
                );
            }
        }
        assert_eq!(self.board.len(), tp.packets_out as usize, "packets_out");
        assert_eq!(lost, tp.lost_out, "lost_out");
        assert_eq!(again, tp.retrans_out, "retrans_out");
        // Without SACK sacked_out counts duplicate ACKs.
        if self.handshake.sack {
            assert_eq!(sacked, tp.sacked_out, "sacked_out");
        }
        if matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        ) {
            return;
        }
        assert_eq!(next, tp.snd_nxt, "the last segment ends at snd_nxt");
        assert!(tp.sacked_out + tp.lost_out <= tp.packets_out, "in flight");
        assert!(tp.snd_cwnd >= 1, "window");
        if tp.ca_state == CaState::Open {
            assert_eq!(
                (tp.sacked_out, tp.lost_out),
                (0, 0),
                "nothing is suspicious in Open"
            );
        }
    }
}
