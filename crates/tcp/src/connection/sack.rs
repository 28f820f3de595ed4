//! Selective acknowledgements: SACK blocks and reports of duplicates (RFC 2018, RFC 2883).

use super::Connection;
use super::parts::ack_news::AckNews;
use crate::cc::CaState;
use crate::scoreboard::mark;
use crate::segment::Segment;
use crate::seq::{after, before, later};

impl Connection {
    /// Marks what the SACK blocks cover and did not cover before. Returns the round trips of the
    /// first and the last segment newly SACKed, µs, negative without.
    pub(super) fn take_sack(&mut self, segment: &Segment, news: &mut AckNews) -> (i64, i64) {
        let mut blocks = segment.sack;
        let mut count = usize::from(segment.sack_count);
        if self.take_duplicate(segment, news) {
            blocks.copy_within(1..count, 0);
            count -= 1;
        }
        let now = self.tp.now_us as u32;
        let mut first_sent: Option<u32> = None;
        let mut last_sent = 0;
        let mut reordered: Option<u32> = None;
        blocks[..count].sort_unstable_by(|a, b| (a.start.wrapping_sub(b.start) as i32).cmp(&0));
        for block in &blocks[..count] {
            if !after(block.end, self.tp.snd_una)
                || after(block.end, self.tp.snd_nxt)
                || !before(block.start, block.end)
            {
                continue;
            }
            // What the previous ACK covered is marked already: only the rest is looked at.
            let mut start = later(block.start, self.tp.snd_una);
            while before(start, block.end) {
                let covered = self
                    .sack
                    .previous()
                    .iter()
                    .find(|old| !before(start, old.start) && before(start, old.end));
                if let Some(old) = covered {
                    start = old.end;
                    continue;
                }
                let end = self
                    .sack
                    .previous()
                    .iter()
                    .filter(|old| after(old.start, start) && before(old.start, block.end))
                    .map(|old| old.start)
                    .reduce(crate::seq::earlier)
                    .unwrap_or(block.end);
                for index in self.board.within(start, end) {
                    self.sack_one(index, news, &mut first_sent, &mut last_sent, &mut reordered);
                }
                start = end;
            }
        }
        self.sack.keep(blocks, count);
        if let Some(low) = reordered
            && (self.tp.ca_state != CaState::Loss || self.recovery.undo.marker.is_some())
        {
            self.note_reordering(low);
        }
        match first_sent {
            Some(first) => (
                i64::from(now.wrapping_sub(first)),
                i64::from(now.wrapping_sub(last_sent)),
            ),
            None => (-1, -1),
        }
    }

    /// One segment newly SACKed.
    fn sack_one(
        &mut self,
        index: u64,
        news: &mut AckNews,
        first_sent: &mut Option<u32>,
        last_sent: &mut u32,
        reordered: &mut Option<u32>,
    ) {
        let sent = *self.board.get(index);
        if sent.is(mark::SACKED) {
            return;
        }
        let mut marks = sent.marks | mark::SACKED;
        if sent.is(mark::RETRANS) {
            if sent.is(mark::LOST) {
                marks &= !(mark::LOST | mark::RETRANS);
                self.tp.lost_out -= 1;
                self.tp.retrans_out -= 1;
            }
        } else {
            if !sent.is(mark::EVER_RETRANS) {
                if index < self.sack.highest && reordered.is_none_or(|low| before(sent.seq, low)) {
                    *reordered = Some(sent.seq);
                }
                if !after(sent.end, self.recovery.high_seq) {
                    news.original_acked = true;
                }
                first_sent.get_or_insert(sent.tx_us);
                *last_sent = sent.tx_us;
            }
            if sent.is(mark::LOST) {
                marks &= !mark::LOST;
                self.tp.lost_out -= 1;
            }
        }
        self.board.get_mut(index).marks = marks;
        news.sacked = true;
        news.delivered_bytes += sent.end.wrapping_sub(sent.seq);
        self.tp.sacked_out += 1;
        self.tp.delivered += 1;
        self.rack.delivered(
            self.tp.now_us as u32,
            self.tp.min_rtt_us,
            sent.tx_us,
            sent.end,
            sent.is(mark::EVER_RETRANS),
        );
        self.sample_delivery(index);
        self.sack.highest = self.sack.highest.max(index + 1);
    }

    /// RFC 2883 §4: a first block below the ACK, or inside the second, reports a duplicate.
    pub(super) fn take_duplicate(&mut self, segment: &Segment, news: &mut AckNews) -> bool {
        let blocks = segment.sack_blocks();
        let first = blocks[0];
        let duplicate = before(first.start, segment.ack)
            || blocks.get(1).is_some_and(|second| {
                !before(first.start, second.start) && !after(first.end, second.end)
            });
        if !duplicate {
            return false;
        }
        news.dsack = true;
        if self.probe.is_retransmission && self.probe.end == Some(first.end) {
            news.dsack_of_probe = true;
        }
        if let Some(marker) = self.recovery.undo.marker
            && self.recovery.undo.retrans > 0
            && !before(first.start, marker)
        {
            let span = first.end.wrapping_sub(first.start);
            self.recovery.undo.retrans -= i64::from(span.div_ceil(self.tp.mss).max(1));
            self.recovery.undo.retrans = self.recovery.undo.retrans.max(0);
        }
        self.widen_reordering_window();
        for index in self.board.within(first.start, first.end) {
            let sent = self.board.get_mut(index);
            if sent.is(mark::RETRANS) {
                sent.marks &= !mark::RETRANS;
                self.tp.retrans_out -= 1;
                // Where it is still held for lost it may go again.
                self.recovery.retransmit_hint = self.recovery.retransmit_hint.min(index);
            }
        }
        true
    }
}
