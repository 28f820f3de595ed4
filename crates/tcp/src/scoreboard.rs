//! What was sent and not yet cumulatively acknowledged: one small record a segment, in a ring.
//!
//! Segments are numbered by a running index that never wraps, so that a pointer into the window
//! stays valid while the window moves. Records lie in sequence order; lookups by sequence number
//! are binary searches, and marking a SACK block touches only what the previous ACK had not
//! covered.

use crate::seq::{after, before};

/// Marks of a sent segment.
pub(crate) mod mark {
    /// SACKed.
    pub(crate) const SACKED: u8 = 1;
    /// Held for lost.
    pub(crate) const LOST: u8 = 2;
    /// A retransmission of it is in flight.
    pub(crate) const RETRANS: u8 = 4;
    /// It was retransmitted at least once.
    pub(crate) const EVER_RETRANS: u8 = 8;
    /// It was sent while the application limited the flow.
    pub(crate) const APP_LIMITED: u8 = 16;
    /// Its delivery has been counted into a rate sample.
    pub(crate) const SAMPLED: u8 = 32;
    /// It carries the FIN.
    pub(crate) const FIN: u8 = 64;
}

/// One sent segment. Times are microseconds modulo 2³², compared by wrapping differences.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// First sequence number.
    pub(crate) seq: u32,
    /// First sequence number after it.
    pub(crate) end: u32,
    /// When it was last sent.
    pub(crate) tx_us: u32,
    /// When the first segment of the flight was sent, for the rate sample.
    pub(crate) first_tx_us: u32,
    /// When the delivery counted below was reported.
    pub(crate) delivered_us: u32,
    /// Segments delivered when it was sent, modulo 2³².
    pub(crate) delivered: u32,
    /// Marks.
    pub(crate) marks: u8,
}

impl Sent {
    #[inline]
    pub(crate) fn is(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }
}

/// What was in flight and lost when a segment was sent. Few controllers ask for it, so it lies
/// beside the records and does not widen them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight {
    /// Segments in flight, itself included.
    pub(crate) segments: u32,
    /// Segments ever marked lost, modulo 2³².
    pub(crate) lost: u32,
    /// Segments ever reported with ECN-Echo, modulo 2³².
    pub(crate) marked: u32,
}

/// The ring of sent segments.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    ring: Box<[Sent]>,
    /// Of the same length as `ring`, or empty where nobody asks for it.
    flights: Box<[Flight]>,
    /// Index of the first record.
    head: u64,
    /// Index after the last record.
    tail: u64,
}

impl Scoreboard {
    pub(crate) fn new() -> Scoreboard {
        Scoreboard {
            ring: vec![Sent::default(); 64].into(),
            flights: Box::default(),
            head: 0,
            tail: 0,
        }
    }

    /// Keeps a [`Flight`] for every segment from now on.
    pub(crate) fn keep_flights(&mut self) {
        self.flights = vec![Flight::default(); self.ring.len()].into();
    }

    /// What was in flight when segment `index` was last sent.
    #[inline]
    pub(crate) fn flight(&self, index: u64) -> Flight {
        self.flights[self.slot(index)]
    }

    /// Segment `index` leaves, and so much is in flight.
    #[inline]
    pub(crate) fn set_flight(&mut self, index: u64, flight: Flight) {
        let slot = self.slot(index);
        self.flights[slot] = flight;
    }

    #[inline]
    pub(crate) fn head(&self) -> u64 {
        self.head
    }
    #[inline]
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }
    #[inline]
    pub(crate) fn len(&self) -> usize {
        (self.tail - self.head) as usize
    }
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    #[inline]
    fn slot(&self, index: u64) -> usize {
        // The length is a power of two.
        index as usize & (self.ring.len() - 1)
    }
    #[inline]
    pub(crate) fn get(&self, index: u64) -> &Sent {
        debug_assert!(self.head <= index && index < self.tail);
        &self.ring[self.slot(index)]
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, index: u64) -> &mut Sent {
        debug_assert!(self.head <= index && index < self.tail);
        let slot = self.slot(index);
        &mut self.ring[slot]
    }
    #[inline]
    pub(crate) fn front(&self) -> Option<&Sent> {
        (!self.is_empty()).then(|| self.get(self.head))
    }
    pub(crate) fn front_mut(&mut self) -> Option<&mut Sent> {
        if self.is_empty() {
            None
        } else {
            Some(self.get_mut(self.head))
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, sent: Sent) {
        if self.len() == self.ring.len() {
            self.grow();
        }
        let slot = self.slot(self.tail);
        self.ring[slot] = sent;
        self.tail += 1;
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        debug_assert!(!self.is_empty());
        self.head += 1;
    }

    /// How many segments from the front `ack` covers whole that were sent once and never in doubt.
    #[inline]
    pub(crate) fn clean_until(&self, ack: u32) -> u64 {
        let mut index = self.head;
        while index < self.tail {
            let sent = self.get(index);
            if after(sent.end, ack) || sent.is(!(mark::APP_LIMITED | mark::FIN)) {
                break;
            }
            index += 1;
        }
        index - self.head
    }

    #[inline]
    pub(crate) fn pop_many(&mut self, count: u64) {
        debug_assert!(count <= self.tail - self.head);
        self.head += count;
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![Sent::default(); self.ring.len() * 2].into_boxed_slice();
        let mask = ring.len() - 1;
        for index in self.head..self.tail {
            ring[index as usize & mask] = *self.get(index);
        }
        if !self.flights.is_empty() {
            let mut flights = vec![Flight::default(); ring.len()].into_boxed_slice();
            for index in self.head..self.tail {
                flights[index as usize & mask] = self.flight(index);
            }
            self.flights = flights;
        }
        self.ring = ring;
    }

    /// Index of the first segment that ends after `seq`; the tail where none does.
    pub(crate) fn first_ending_after(&self, seq: u32) -> u64 {
        let (mut low, mut high) = (self.head, self.tail);
        while low < high {
            let middle = low + (high - low) / 2;
            if after(self.get(middle).end, seq) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// The indices of the segments that lie whole between `start` and `end`.
    pub(crate) fn within(&self, start: u32, end: u32) -> std::ops::Range<u64> {
        let mut from = self.first_ending_after(start);
        if from < self.tail && before(self.get(from).seq, start) {
            from += 1;
        }
        let mut to = self.first_ending_after(end);
        // A segment that ends exactly at `end` is inside; `first_ending_after` is the one beyond
        // it.
        if to < from {
            to = from;
        }
        from..to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(first: u32, segments: u32) -> Scoreboard {
        let mut board = Scoreboard::new();
        for i in 0..segments {
            let seq = first.wrapping_add(i * 100);
            board.push(Sent {
                seq,
                end: seq.wrapping_add(100),
                ..Sent::default()
            });
        }
        board
    }

    #[test]
    fn finds_the_segments_of_a_block_across_the_wrap() {
        let first = 0_u32.wrapping_sub(250);
        let board = filled(first, 200);
        assert_eq!(
            board.within(first.wrapping_add(100), first.wrapping_add(400)),
            1..4
        );
        // A block that covers half a segment covers none of it.
        assert_eq!(
            board.within(first.wrapping_add(150), first.wrapping_add(350)),
            2..3
        );
        assert_eq!(board.within(first, first.wrapping_add(20_000)), 0..200);
        assert_eq!(
            board.within(first.wrapping_add(110), first.wrapping_add(190)),
            2..2
        );
    }

    #[test]
    fn keeps_indices_while_it_grows_and_moves() {
        let mut board = filled(0, 50);
        for _ in 0..50 {
            board.pop();
        }
        for i in 50..400_u32 {
            board.push(Sent {
                seq: i * 100,
                end: i * 100 + 100,
                ..Sent::default()
            });
        }
        assert_eq!(
            (board.head(), board.tail(), board.get(399).seq),
            (50, 400, 39_900)
        );
        assert_eq!(board.first_ending_after(20_000), 200);
    }

    #[test]
    fn flights_stay_with_their_segments_while_it_grows() {
        let mut board = filled(0, 50);
        board.keep_flights();
        for _ in 0..50 {
            board.pop();
        }
        for index in 50..400_u32 {
            board.push(Sent::default());
            let flight = Flight {
                segments: index,
                lost: index / 2,
                marked: 0,
            };
            board.set_flight(u64::from(index), flight);
        }
        for index in 50..400_u32 {
            let flight = board.flight(u64::from(index));
            assert_eq!((flight.segments, flight.lost), (index, index / 2));
        }
    }
}
