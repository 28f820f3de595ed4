//! A port's output FIFO, its transmit FIFO and its MAC: when a frame leaves, known when it has been
//! read.
//!
//! Words move into the transmit FIFO one a cycle while there is room; the MAC begins when a frame
//! is in it as a whole. The output FIFO before it takes the next frame when it has given all of the
//! last one away.

use crate::engine::frame::{Clock, Frame, Shift, Timed};
use crate::params::{GAP_BYTES, PREAMBLE_BYTES, Params};
use std::collections::VecDeque;

/// A frame in the transmit FIFO.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Words that had gone in before it, all in all.
    before: u64,
    words: u64,
    /// When the MAC begins its preamble.
    start: u64,
}

/// A port's sending side.
#[derive(Clone, Debug)]
pub(crate) struct Transmit {
    line_free: u64,
    fifo: VecDeque<Sent>,
    /// Words that went in, all in all.
    words: u64,
    clock: Clock,
    byte_ps: u64,
    word_ps: u64,
    header_words: u64,
    tx_cycles: u64,
    phy_ps: u64,
    room_words: u64,
    overhead_bytes: u64,
}

impl Transmit {
    pub(crate) fn new(params: &Params) -> Transmit {
        Transmit {
            line_free: 0,
            fifo: VecDeque::with_capacity(128),
            words: 0,
            clock: Clock::new(params.clock_ps),
            byte_ps: params.byte_ps(),
            word_ps: params.byte_ps() * params.bus_bytes,
            header_words: params.header_words,
            tx_cycles: params.tx_cycles,
            phy_ps: params.phy_ps,
            // It says that it is full when one word is left.
            room_words: params.tx_fifo_words.saturating_sub(1).max(1),
            overhead_bytes: PREAMBLE_BYTES + GAP_BYTES + params.mac_extra_gap_bytes,
        }
    }

    /// Takes `frame`, whose last word was read in the cycle `read`. Says when its preamble leaves,
    /// and from which cycle on the output FIFO is empty again.
    pub(crate) fn send(&mut self, frame: &Frame, read: u64) -> (u64, u64) {
        let words = u64::from(frame.words) - self.header_words;
        let before = self.words;
        self.words += words;
        let inside = read.max(self.room_for(self.words));
        let start = ((inside + self.tx_cycles) * self.clock.period_ps).max(self.line_free);
        self.line_free = start + (u64::from(frame.bytes) + self.overhead_bytes) * self.byte_ps;
        self.fifo.push_back(Sent {
            before,
            words,
            start,
        });
        (start + self.phy_ps, inside + FALL_THROUGH)
    }

    /// The frame after the one that left at `end` leaves `spacing_ps` later, or after that.
    pub(crate) fn hold(&mut self, end: u64, spacing_ps: u64) {
        let until = (end - self.phy_ps).saturating_add(spacing_ps);
        self.line_free = self.line_free.max(until);
    }

    /// The cycle from which there is room for the last of `words` that go in.
    fn room_for(&mut self, words: u64) -> u64 {
        let Some(out) = words.checked_sub(self.room_words) else {
            return 0;
        };
        // Words up to `out` have to be out; frames that lie wholly before do not matter any more.
        while let Some(first) = self.fifo.front()
            && first.before + first.words < out
        {
            self.fifo.pop_front();
        }
        let Some(first) = self.fifo.front() else {
            return 0;
        };
        let bytes_ps = PREAMBLE_BYTES * self.byte_ps + (out - first.before) * self.word_ps;
        self.clock.cycle_from(first.start + bytes_ps)
    }
}

/// Cycles that the last word takes through the output FIFO after it was read from the memory: five
/// in the memory's pipeline, one into the FIFO and one out of it.
const FALL_THROUGH: u64 = 7;

impl Timed for Transmit {
    fn repeats(&self, earlier: &Transmit, shift: Shift) -> bool {
        let is_unused = self.words == earlier.words;
        is_unused
            || (self.line_free == earlier.line_free + shift.ps
                && self.fifo.len() == earlier.fifo.len()
                && self.fifo.iter().zip(&earlier.fifo).all(|(now, then)| {
                    now.start == then.start + shift.ps
                        && now.words == then.words
                        && self.words - now.before == earlier.words - then.before
                }))
    }

    fn advance(&mut self, shift: Shift) {
        self.line_free += shift.ps;
        for sent in &mut self.fifo {
            sent.start += shift.ps;
        }
    }
}
