//! What of a direction is on its way: sent and not acknowledged, as the point of capture saw it.
//!
//! Bytes in flight are those that were sent last and are neither acknowledged, nor covered by a
//! SACK block, nor held for lost: as Linux counts (`packets_out - sacked_out - lost_out +
//! retrans_out`). Bytes are held for lost where three segments' worth above them is covered
//! (RFC 6675 §4, `IsLost`), until they are sent again.

use std::collections::BTreeMap;

/// Segments that a receiver must have above a hole for it to be held for lost.
const DUPLICATES: u64 = 3;

/// Holes that are looked at, at most.
const MOST_HOLES: usize = 1024;

/// Ranges that one segment sends again, at most: it is no longer than they were.
const RANGES_OF_ONE_SEGMENT: usize = 1024;

/// A range of bytes that left together.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    at_ns: i64,
    ts_val: u32,
    copies: u32,
    is_sacked: bool,
    is_lost: bool,
}

impl Sent {
    fn is_in_flight(&self) -> bool {
        !self.is_sacked && !self.is_lost
    }
}

/// What a segment was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Was {
    /// Bytes that nobody has seen before, at the front of the stream.
    pub(super) new: u64,
    /// Bytes that were seen before.
    pub(super) again: u64,
    /// Bytes that fill a hole: others behind them were seen before them.
    pub(super) filled: u64,
}

/// What an acknowledgement brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acked {
    /// The time since the oldest newly covered segment left, where it is known which copy was
    /// acknowledged (Karn's rule, or timestamps).
    pub(super) round_trip_ns: Option<i64>,
    /// Whether bytes were acknowledged or covered that were not before.
    pub(super) is_news: bool,
}

/// The bytes on their way, by their first position.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    sent: BTreeMap<u64, Sent>,
    /// One past the last byte seen.
    next: u64,
    /// One past the last byte acknowledged.
    acked: u64,
    /// One past the last byte covered by a SACK block.
    covered: u64,
    /// Up to where losses were looked for.
    judged: u64,
    flight: u64,
    sacked: u64,
    has_begun: bool,
}

impl Scoreboard {
    /// One past the last byte seen.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// One past the last byte acknowledged.
    pub(super) fn acked(&self) -> u64 {
        self.acked
    }

    /// Bytes in flight.
    pub(super) fn flight(&self) -> u64 {
        self.flight
    }

    /// Bytes that are covered by SACK blocks and not acknowledged.
    pub(super) fn sacked(&self) -> u64 {
        self.sacked
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// The stream begins at `position`.
    pub(super) fn begin(&mut self, position: u64) {
        if !self.has_begun {
            self.has_begun = true;
            self.next = position;
            self.acked = position;
            self.covered = position;
            self.judged = position;
        }
    }

    /// The bytes from `start` to `end` were sent; at most `most` ranges are remembered.
    pub(super) fn send(
        &mut self,
        start: u64,
        end: u64,
        at_ns: i64,
        ts_val: u32,
        most: usize,
    ) -> Was {
        self.begin(start);
        let mut was = Was::default();
        let fresh = Sent {
            end,
            at_ns,
            ts_val,
            copies: 1,
            is_sacked: false,
            is_lost: false,
        };
        let old_end = end.min(self.next);
        if start < old_end {
            was = self.send_again(start, old_end, fresh);
        }
        if end > self.next {
            let from = start.max(self.next);
            was.new = end - from;
            self.insert(from, fresh);
            self.next = end;
        }
        while self.sent.len() > most {
            self.forget_first();
        }
        was
    }

    fn send_again(&mut self, start: u64, end: u64, fresh: Sent) -> Was {
        let mut was = Was::default();
        // What is acknowledged already was sent in vain.
        let from = start.max(self.acked).min(end);
        was.again += from - start;
        self.split(from);
        self.split(end);
        let mut at = from;
        let known = self.sent.range(from..end).map(|(key, _)| *key);
        let known: Vec<u64> = known.take(RANGES_OF_ONE_SEGMENT).collect();
        for key in known {
            if key > at {
                was.filled += key - at;
                self.insert(at, Sent { end: key, ..fresh });
            }
            let one = self.sent.get_mut(&key).expect("the key is one of its own");
            let bytes = one.end - key;
            was.again += bytes;
            at = one.end;
            one.copies = one.copies.saturating_add(1);
            one.at_ns = fresh.at_ns;
            one.ts_val = fresh.ts_val;
            if one.is_lost {
                one.is_lost = false;
                self.flight += bytes;
            }
        }
        if at > from && self.sent.range(at..end).next().is_some() {
            // More ranges than a segment can have: a capture that was made to be slow.
            return was;
        }
        if end > at {
            was.filled += end - at;
            self.insert(at, Sent { end, ..fresh });
        }
        was
    }

    fn insert(&mut self, start: u64, one: Sent) {
        self.flight += one.end - start;
        self.sent.insert(start, one);
    }

    /// Makes `position` the beginning of a range, where it lies within one.
    fn split(&mut self, position: u64) {
        let Some((_, one)) = self.sent.range_mut(..position).next_back() else {
            return;
        };
        if one.end > position {
            let rest = *one;
            one.end = position;
            self.sent.insert(position, rest);
        }
    }

    fn remove(&mut self, start: u64) -> Option<Sent> {
        let one = self.sent.remove(&start)?;
        let bytes = one.end - start;
        if one.is_in_flight() {
            self.flight -= bytes;
        }
        if one.is_sacked {
            self.sacked -= bytes;
        }
        Some(one)
    }

    fn forget_first(&mut self) {
        if let Some(first) = self.sent.keys().next().copied() {
            self.remove(first);
        }
    }

    /// Everything before `ack` has arrived, and what `blocks` cover.
    pub(super) fn acknowledge(
        &mut self,
        ack: u64,
        blocks: &[(u64, u64)],
        at_ns: i64,
        ts_ecr: Option<u32>,
        segment_bytes: u64,
    ) -> Acked {
        let ack = ack.min(self.next.max(self.acked));
        let mut oldest: Option<Sent> = None;
        let mut has_copies = false;
        let mut is_news = false;
        if ack > self.acked {
            is_news = true;
            self.acked = ack;
            self.split(ack);
            while let Some((start, _)) = self.sent.range(..ack).next() {
                let start = *start;
                let Some(one) = self.remove(start) else { break };
                has_copies |= one.copies > 1;
                if !one.is_sacked && oldest.is_none() {
                    oldest = Some(one);
                }
            }
        }
        let covered = self.cover(blocks);
        is_news |= covered.is_some();
        self.mark_lost(segment_bytes);
        let oldest = oldest.or(covered);
        let is_known = |one: &Sent| {
            // Of several copies, the timestamp says which one is acknowledged.
            let is_echo = ts_ecr == Some(one.ts_val) && ts_ecr.is_some();
            (one.copies == 1 && !has_copies) || (one.copies > 1 && is_echo)
        };
        let round_trip_ns = oldest
            .filter(is_known)
            .map(|one| at_ns.saturating_sub(one.at_ns))
            .filter(|ns| *ns >= 0);
        Acked {
            round_trip_ns,
            is_news,
        }
    }

    /// Marks what `blocks` cover; the oldest of what they had not covered before.
    fn cover(&mut self, blocks: &[(u64, u64)]) -> Option<Sent> {
        let mut oldest: Option<Sent> = None;
        for (start, end) in blocks {
            let (start, end) = ((*start).max(self.acked), (*end).min(self.next));
            if start >= end {
                continue;
            }
            self.split(start);
            self.split(end);
            self.covered = self.covered.max(end);
            let keys: Vec<u64> = self.sent.range(start..end).map(|(key, _)| *key).collect();
            let mut whole: Option<(u64, u64)> = None;
            for key in keys {
                let Some(one) = self.remove(key) else {
                    continue;
                };
                if !one.is_sacked && oldest.is_none_or(|oldest| one.at_ns < oldest.at_ns) {
                    oldest = Some(one);
                }
                // Covered ranges become one, so that no block is walked through twice.
                whole = match whole {
                    Some((first, last)) if last == key => Some((first, one.end)),
                    Some((first, last)) => {
                        self.insert_covered(first, last);
                        Some((key, one.end))
                    }
                    None => Some((key, one.end)),
                };
            }
            if let Some((first, last)) = whole {
                self.insert_covered(first, last);
            }
        }
        oldest
    }

    fn insert_covered(&mut self, start: u64, end: u64) {
        self.sacked += end - start;
        self.sent.insert(
            start,
            Sent {
                end,
                at_ns: 0,
                ts_val: 0,
                copies: 1,
                is_sacked: true,
                is_lost: false,
            },
        );
    }

    /// What was not covered below this is held for lost.
    pub(super) fn lost_below(&self, segment_bytes: u64) -> u64 {
        self.covered.saturating_sub(DUPLICATES * segment_bytes)
    }

    /// Bytes behind the last one acknowledged and before `position` that nobody has seen: they were
    /// lost before the point of capture, and not sent again. Where the holes are very many, those
    /// of the first thousand.
    pub(super) fn unseen_below(&self, position: u64) -> u64 {
        let (mut at, mut unseen) = (self.acked, 0);
        for (start, one) in self.sent.range(..position).take(MOST_HOLES) {
            unseen += start.saturating_sub(at);
            at = at.max(one.end);
        }
        unseen
    }

    /// Holds everything for lost that is not covered, as a sender does whose timer has fired.
    pub(super) fn lose_all(&mut self) {
        for (start, one) in &mut self.sent {
            if one.is_in_flight() {
                one.is_lost = true;
                self.flight -= one.end - start;
            }
        }
    }

    fn mark_lost(&mut self, segment_bytes: u64) {
        let below = self.lost_below(segment_bytes);
        let from = self.judged.max(self.acked);
        if below <= from {
            return;
        }
        self.judged = below;
        for (start, one) in self.sent.range_mut(from..below) {
            if one.is_in_flight() && one.copies == 1 {
                one.is_lost = true;
                self.flight -= one.end - start;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 1000;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for n in 0..segments {
            board.send(n * MSS, (n + 1) * MSS, n as i64, n as u32, 1000);
        }
        board
    }

    #[test]
    fn a_hole_below_three_covered_segments_is_lost_until_it_is_sent_again() {
        let mut board = board(10);
        assert_eq!(board.flight(), 10 * MSS);
        board.acknowledge(MSS, &[(2 * MSS, 6 * MSS)], 50, None, MSS);
        // One acknowledged, four covered, the hole lost.
        assert_eq!(board.flight(), 4 * MSS);
        let was = board.send(MSS, 2 * MSS, 60, 60, 1000);
        assert_eq!((was.again, board.flight()), (MSS, 5 * MSS));
        let all = board.acknowledge(10 * MSS, &[], 90, None, MSS);
        assert_eq!((all.round_trip_ns, board.flight()), (None, 0));
    }

    #[test]
    fn timestamps_tell_which_copy_was_acknowledged() {
        let mut board = board(2);
        board.send(0, MSS, 40, 7, 1000);
        let acked = board.acknowledge(MSS, &[], 100, Some(7), MSS);
        assert_eq!(acked.round_trip_ns, Some(60));
        let acked = board.acknowledge(2 * MSS, &[], 101, Some(1), MSS);
        assert_eq!(acked.round_trip_ns, Some(100));
    }

    #[test]
    fn what_fills_a_hole_was_not_seen_before() {
        let mut board = Scoreboard::default();
        board.send(0, MSS, 0, 0, 1000);
        board.send(3 * MSS, 4 * MSS, 1, 0, 1000);
        // The gap counts as seen by nobody.
        let was = board.send(MSS, 2 * MSS, 2, 0, 1000);
        assert_eq!((was.new, was.filled), (0, MSS));
    }

    proptest! {
        /// Whatever comes, bytes in flight and bytes covered are sums over the ranges.
        #[test]
        fn sums_stay_those_of_the_ranges(steps in prop::collection::vec(
            (0u64..40, 1u64..5, prop::bool::ANY), 1..200
        )) {
            let mut board = Scoreboard::default();
            for (n, (at, len, is_ack)) in steps.into_iter().enumerate() {
                let (start, end) = (at * 500, (at + len) * 500);
                if is_ack {
                    board.acknowledge(start / 3, &[(start, end)], n as i64, Some(3), MSS);
                } else {
                    board.send(start, end, n as i64, 3, 20);
                }
                let sum = |of: fn(&Sent) -> bool| -> u64 {
                    let all = board.sent.iter().filter(|(_, one)| of(one));
                    all.map(|(start, one)| one.end - start).sum()
                };
                prop_assert_eq!(sum(Sent::is_in_flight), board.flight());
                prop_assert_eq!(sum(|one| one.is_sacked), board.sacked());
                prop_assert!(board.sent.len() <= 24);
                let mut last = 0;
                for (start, one) in &board.sent {
                    prop_assert!(*start >= last && one.end > *start);
                    last = one.end;
                }
            }
        }
    }
}
