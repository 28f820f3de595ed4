//! What lies in the output queues, and what is written and read.

use crate::engine::frame::{Frame, Shift, Timed};
use std::collections::VecDeque;

/// A frame in an output queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub(super) frame: Frame,
    /// The cycle from which the reader sees it.
    pub(super) visible: u64,
}

/// An output queue in the memory, and the output FIFO behind it.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) frames: VecDeque<Stored>,
    pub(super) words: u64,
    /// The cycle from which its output FIFO is empty.
    pub(super) free: u64,
    /// Frames that it took, all in all.
    pub(super) stored: u64,
    /// Since the state was kept to be compared: the fewest frames that were in it after one was
    /// read, and the most words when there was one to be stored.
    pub(super) least: usize,
    pub(super) most: u64,
}

/// The frame that is written, or will be next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writing {
    pub(super) frame: Frame,
    /// The cycle in which the queue's place is latched, and whether it is full seen.
    pub(super) latch: u64,
    /// Words that are still to be written; `None` before it is known whether the queue takes the
    /// frame.
    pub(super) left: Option<u64>,
}

/// The frame that is read, or will be next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) queue: usize,
    /// The cycle from which the memory is asked.
    pub(super) from: u64,
    pub(super) left: u64,
    pub(super) is_begun: bool,
}

impl Timed for Stored {
    fn repeats(&self, earlier: &Stored, shift: Shift) -> bool {
        self.visible == earlier.visible + shift.cycles && self.frame.repeats(&earlier.frame, shift)
    }

    fn advance(&mut self, shift: Shift) {
        self.visible += shift.cycles;
        self.frame.advance(shift);
    }
}

impl Timed for Queue {
    fn repeats(&self, earlier: &Queue, shift: Shift) -> bool {
        let is_unused = self.stored == earlier.stored && self.frames.is_empty();
        self.words == earlier.words
            && (is_unused || self.free == earlier.free + shift.cycles)
            && self.frames.repeats(&earlier.frames, shift)
    }

    fn advance(&mut self, shift: Shift) {
        self.free += shift.cycles;
        self.frames.advance(shift);
    }
}

impl Timed for Writing {
    fn repeats(&self, earlier: &Writing, shift: Shift) -> bool {
        self.latch == earlier.latch + shift.cycles
            && self.left == earlier.left
            && self.frame.repeats(&earlier.frame, shift)
    }

    fn advance(&mut self, shift: Shift) {
        self.latch += shift.cycles;
        self.frame.advance(shift);
    }
}

impl Timed for Reading {
    fn repeats(&self, earlier: &Reading, shift: Shift) -> bool {
        let moved = Reading {
            from: earlier.from + shift.cycles,
            ..*earlier
        };
        *self == moved
    }

    fn advance(&mut self, shift: Shift) {
        self.from += shift.cycles;
    }
}
