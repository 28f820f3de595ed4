//! The stage in which designs differ: where a frame goes, and what it becomes.

use crate::stages::queue::{Queue, Queues};
use std::fmt::Debug;
use trammel_core::time::{Span, Time};

/// What happened to a frame at an output queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    /// It was stored.
    Stored,
    /// It was taken out.
    Removed,
    /// It found the queue full.
    Dropped,
}

/// The output port lookup of a design, with the registers that only this design has.
pub(crate) trait Lookup: Debug + Send {
    /// The output queues of `frame`, which came in by `from` and has at least 60 bytes. May rewrite
    /// it. A frame for no queue is dropped. `now` is when it began to come in.
    fn look_up(&mut self, from: Queue, frame: &mut [u8], now: Time) -> Queues;

    /// What is put behind the frame that was looked up last.
    fn trailer(&mut self) -> Option<[u8; 8]> {
        None
    }

    /// The register at `address`, if the stage has one there.
    fn read(&self, address: u32) -> Option<u32>;

    /// A program writes a register; false where the stage has none at `address`.
    fn write(&mut self, address: u32, value: u32) -> bool;

    /// It is `now`, and a register is about to be written.
    fn set_time(&mut self, _now: Time) {}

    /// A frame that takes `words` words of the memory met the queue `queue` at `now`.
    fn happened(&mut self, _what: Happened, _queue: Queue, _words: u32, _now: Time) {}

    /// From the start of the frame of `bytes` that `port` sends now to that of the next, at least.
    fn spacing(&mut self, _port: usize, _bytes: usize) -> Span {
        Span::ZERO
    }

    /// A frame that the stage itself sends, and where to.
    fn own_frame(&mut self) -> Option<(Queues, Vec<u8>)> {
        None
    }
}
