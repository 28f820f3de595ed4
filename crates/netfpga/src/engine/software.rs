//! The way to the software: FIFOs, one DMA engine for all queues, a PCI bus, and a program with a
//! bounded backlog.
//!
//! The DMA moves one frame at a time: a time to set it up, a time for each byte. What comes while
//! the software has as many frames before it as the driver keeps is dropped. Every number here is
//! fitted.

use crate::engine::frame::{Clock, Frame, Shift, Timed};
use crate::params::Params;
use std::collections::VecDeque;

/// A queue's FIFO before the DMA: how many words had gone in up to the end of a frame, and when it
/// was moved.
type Moved = (u64, u64);

/// Everything behind the queues to the processor.
#[derive(Clone, Debug)]
pub(crate) struct Software {
    fifos: Vec<(u64, VecDeque<Moved>)>,
    dma_free: u64,
    /// When the software will have done with each of the frames before it.
    backlog: VecDeque<u64>,
    idle: u64,
    frames: u64,
    clock: Clock,
    fifo_words: u64,
    setup_ps: u64,
    byte_ps: u64,
    host_ps: u64,
    host_frames: u64,
}

/// What became of a frame, and from which cycle on its output FIFO is empty again.
pub(crate) struct Handed {
    /// When the software had done with it; `None` where the driver dropped it.
    pub(crate) done: Option<u64>,
    pub(crate) free: u64,
}

impl Software {
    pub(crate) fn new(params: &Params) -> Software {
        Software {
            fifos: vec![(0, VecDeque::new()); params.ports as usize],
            dma_free: 0,
            backlog: VecDeque::new(),
            idle: 0,
            frames: 0,
            clock: Clock::new(params.clock_ps),
            fifo_words: params.cpu_fifo_words,
            setup_ps: params.dma_setup_ps,
            byte_ps: params.pci_ps_per_byte,
            host_ps: params.host_ps,
            host_frames: params.host_frames,
        }
    }

    /// Takes `frame`, whose last word was read in the cycle `read`, from the queue beside `port`.
    pub(crate) fn hand(&mut self, port: usize, frame: &Frame, read: u64) -> Handed {
        self.frames += 1;
        let (words, fifo) = &mut self.fifos[port];
        let before = *words;
        *words += u64::from(frame.words);
        // A frame that is greater than the FIFO goes through it when nothing else is in it.
        let out = words.saturating_sub(self.fifo_words).min(before);
        while fifo.front().is_some_and(|&(up_to, _)| up_to < out) {
            fifo.pop_front();
        }
        let room = fifo.front().filter(|_| out > 0);
        let room = room.map_or(0, |&(_, moved)| self.clock.cycle_from(moved));
        let inside = read.max(room);
        let begin = (inside * self.clock.period_ps).max(self.dma_free);
        let moved = begin + self.setup_ps + u64::from(frame.bytes) * self.byte_ps;
        self.dma_free = moved;
        fifo.push_back((*words, moved));
        while self.backlog.front().is_some_and(|&done| done <= moved) {
            self.backlog.pop_front();
        }
        let has_room = (self.backlog.len() as u64) < self.host_frames;
        let done = has_room.then(|| {
            self.idle = self.idle.max(moved) + self.host_ps;
            self.backlog.push_back(self.idle);
            self.idle
        });
        Handed { done, free: inside }
    }
}

impl Timed for Software {
    fn repeats(&self, earlier: &Software, shift: Shift) -> bool {
        let fifos = || self.fifos.iter().zip(&earlier.fifos);
        let is_unused = self.frames == earlier.frames;
        is_unused
            || (self.dma_free == earlier.dma_free + shift.ps
                && self.idle == earlier.idle + shift.ps
                && self.backlog.len() == earlier.backlog.len()
                && fifos().all(|(now, then)| now.0 == then.0 || same_fifo(now, then, shift))
                && self
                    .backlog
                    .iter()
                    .zip(&earlier.backlog)
                    .all(|(now, then)| *now == then + shift.ps))
    }

    fn advance(&mut self, shift: Shift) {
        self.dma_free += shift.ps;
        self.idle += shift.ps;
        for done in &mut self.backlog {
            *done += shift.ps;
        }
        for (_, moved) in self.fifos.iter_mut().flat_map(|(_, fifo)| fifo) {
            *moved += shift.ps;
        }
    }
}

fn same_fifo(
    (words, now): &(u64, VecDeque<Moved>),
    (words_then, then): &(u64, VecDeque<Moved>),
    shift: Shift,
) -> bool {
    now.len() == then.len()
        && now
            .iter()
            .zip(then)
            .all(|(now, then)| words - now.0 == words_then - then.0 && now.1 == then.1 + shift.ps)
}
