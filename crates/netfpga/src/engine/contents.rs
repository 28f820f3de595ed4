//! What rides along with the frames, and what is noted of them.
//!
//! The engine knows when things happen to a frame; what a frame holds, where it goes and whether a
//! queue takes it may be somebody else's to say. Where frames have no contents, a stream says where
//! they go, and all of this is compiled away.

use crate::engine::frame::Frame;
use crate::engine::receive::NEVER;
use crate::outcome::Fate;

/// A frame that came in by an input and was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// Its bytes on the line with FCS.
    pub(crate) line_bytes: u64,
    /// Its bytes with FCS as the data path has it; `None` where it was refused.
    pub(crate) taken: Option<u16>,
}

/// Who goes along. Inputs are ports, and after these the host's interfaces.
pub(crate) trait Contents {
    /// Whether frames have contents.
    const ARE_THERE: bool;

    /// A frame of a stream came in.
    fn received(&mut self, _frame: &Frame) {}

    /// The way of `frame` ended at `end`.
    fn ended(&mut self, frame: &Frame, fate: Fate, end: u64);

    /// The last cycle for which all arrivals are known.
    fn horizon(&self) -> u64 {
        NEVER
    }

    /// When the next frame of `input` is due, if that is within the horizon.
    fn due(&self, _input: usize) -> Option<u64> {
        None
    }

    /// The next frame of `input` comes in and begins at `start`; `has_room` where the receive queue
    /// has room for it.
    fn arrive(&mut self, _input: usize, _start: u64, _has_room: bool) -> Arrived {
        Arrived {
            line_bytes: 0,
            taken: None,
        }
    }

    /// The cycle since which a frame waits that the lookup itself sends.
    fn own_since(&self) -> Option<u64> {
        None
    }

    /// Takes that frame as if it had passed the lookup: its bytes with FCS, and its first queue.
    fn take_own(&mut self) -> Option<(u16, u8)> {
        None
    }

    /// Takes back what [`Contents::postpone`] was told.
    fn resume(&mut self) -> Option<u64> {
        None
    }

    /// The frame that was first in `input` and began to come in at `start` passes the lookup: the
    /// first of its output queues; none where it is dropped.
    fn look_up(&mut self, _input: usize, _start: u64) -> Option<u8> {
        None
    }

    /// Whether `queue` has, in the cycle `at`, room for the frame that passed the lookup last.
    fn admits(&mut self, _queue: u8, _at: u64) -> bool {
        true
    }

    /// The frame that passed the lookup last has been written to `queue` by the cycle `at`.
    fn store(&mut self, _queue: u8, _at: u64) {}

    /// The first frame of `queue` has been read by the cycle `at`; its way ends next.
    fn remove(&mut self, _queue: usize, _at: u64) {}

    /// From the start of the frame that `port` sends now to that of the next, at least.
    fn spacing_ps(&mut self, _port: usize) -> u64 {
        0
    }

    /// Whether frames may leave `queue`.
    fn may_send(&self, _queue: usize) -> bool {
        true
    }

    /// The arbiter, free since the cycle `done`, finds nothing within the horizon.
    fn postpone(&mut self, _done: u64) {}

    /// The next queue that the frame that passed the lookup last is to be written to as well.
    fn next_copy(&mut self) -> Option<u8> {
        None
    }
}
