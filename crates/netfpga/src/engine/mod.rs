//! The pipeline: what happens to frames between the receive FIFOs and the lines out.
//!
//! The one place where things happen in an order that has to be found out is the memory: each step
//! of the engine is a burst of words that one side gets. Everything before it (arrivals, input
//! arbiter, look-up) is worked out when the writer needs its next frame, everything behind it
//! (FIFOs, MACs, DMA) when the reader has got one.

mod frame;
mod memory;
mod poll;
mod receive;
mod software;
pub(crate) mod steady;
pub(crate) mod tally;
mod transmit;

use crate::error::Error;
use crate::outcome::Fate;
use crate::params::Params;
use crate::stream::Stream;
use frame::{Frame, Shift, Timed};
use memory::{Ask, Memory, Side};
use poll::Poll;
use receive::{NEVER, Receive};
use software::Software;
use std::collections::VecDeque;
use tally::Tally;
use transmit::Transmit;

/// A frame in an output queue.
#[derive(Clone, Copy, Debug)]
struct Stored {
    frame: Frame,
    /// The cycle from which the reader sees it.
    visible: u64,
}

/// An output queue in the memory, and the output FIFO behind it.
#[derive(Clone, Debug)]
struct Queue {
    frames: VecDeque<Stored>,
    words: u64,
    /// The cycle from which its output FIFO is empty.
    free: u64,
    /// Frames that it took, all in all.
    stored: u64,
    /// Since the state was kept to be compared: the fewest frames that were in it after one was
    /// read, and the most words when there was one to be stored.
    least: usize,
    most: u64,
}

/// The frame that is written, or will be next.
#[derive(Clone, Copy, Debug)]
struct Writing {
    frame: Frame,
    /// The cycle in which the queue's place is latched, and whether it is full seen.
    latch: u64,
    /// Words that are still to be written; `None` before it is known whether the queue takes the
    /// frame.
    left: Option<u64>,
}

/// The frame that is read, or will be next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reading {
    queue: usize,
    /// The cycle from which the memory is asked.
    from: u64,
    left: u64,
    is_begun: bool,
}

/// All that the router is at an instant.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    ports: Vec<Receive>,
    arbiter: Poll,
    /// The port whose frame passed the arbiter last.
    served: usize,
    /// Words that have passed the arbiter, all in all.
    passed: u64,
    /// Up to which of them frames reach that have been written, and in which cycle each was.
    written: VecDeque<(u64, u64)>,
    writing: Option<Writing>,
    memory: Memory,
    queues: Vec<Queue>,
    reader: Poll,
    reading: Option<Reading>,
    transmits: Vec<Transmit>,
    software: Software,
    params: Params,
}

/// Cycles that a word takes through the arbiter, and the header of a frame into the queue of those
/// to be stored.
const ARBITER_CYCLES: u64 = 2;

impl Engine {
    pub(crate) fn new(
        params: &Params,
        streams: &[Stream],
        tally: &mut Tally,
    ) -> Result<Engine, Error> {
        params.check()?;
        let ports = (0..params.ports as usize).map(|port| Receive::new(port, params, streams));
        let queue = Queue {
            frames: VecDeque::new(),
            words: 0,
            free: 0,
            stored: 0,
            least: 0,
            most: 0,
        };
        let mut engine = Engine {
            ports: ports.collect::<Result<_, _>>()?,
            arbiter: Poll::default(),
            served: 0,
            passed: 0,
            written: VecDeque::new(),
            writing: None,
            memory: Memory::new(params),
            queues: vec![queue; 2 * params.ports as usize],
            reader: Poll::default(),
            reading: None,
            transmits: vec![Transmit::new(params); params.ports as usize],
            software: Software::new(params),
            params: params.clone(),
        };
        engine.writing = engine.arbitrate(0, tally);
        Ok(engine)
    }

    /// One burst, or the decision on one frame. False when nothing is left to do.
    pub(crate) fn step(&mut self, tally: &mut Tally) -> bool {
        let read = self.reading.map_or(
            Ask {
                from: NEVER,
                words: 1,
            },
            |reading| Ask {
                from: reading.from,
                words: reading.left,
            },
        );
        let write = match self.writing {
            None if read.from == NEVER => return false,
            None => Ask {
                from: NEVER,
                words: 1,
            },
            Some(writing) => {
                let words = match writing.left {
                    Some(left) => left,
                    // A read that ends before the queue is looked at makes room in it, so it goes
                    // first.
                    None if read.from != NEVER && self.memory.read_alone(read) < writing.latch => {
                        u64::from(writing.frame.words)
                    }
                    None => match self.admit(writing, tally) {
                        Some(words) => words,
                        None => return true,
                    },
                };
                Ask {
                    from: writing.latch + 1,
                    words,
                }
            }
        };
        let burst = self.memory.grant(write, read);
        match burst.side {
            Side::Write => self.write(burst.words, burst.last, tally),
            Side::Read => self.read(burst.words, burst.last, tally),
        }
        true
    }

    /// Looks whether the queue takes the frame; the words that are to be written, if it does.
    fn admit(&mut self, writing: Writing, tally: &mut Tally) -> Option<u64> {
        let frame = writing.frame;
        let words = u64::from(frame.words);
        let limit = self.most_words(words);
        let queue = &mut self.queues[usize::from(frame.queue)];
        queue.most = queue.most.max(queue.words);
        if queue.words <= limit {
            self.writing = Some(Writing {
                left: Some(words),
                ..writing
            });
            return Some(words);
        }
        tally.ended(&frame, Fate::DroppedAtQueue, frame.start);
        // Its words are thrown away, one a cycle.
        self.stored(writing.latch + words, tally);
        None
    }

    /// The words up to which a queue may be filled and still takes a frame of `words`.
    fn most_words(&self, words: u64) -> u64 {
        let reserve = self.params.queue_reserve_words.max(words);
        self.params.queue_words.saturating_sub(reserve)
    }

    /// `words` of the frame that is written were, the last one in the cycle `last`.
    fn write(&mut self, words: u64, last: u64, tally: &mut Tally) {
        let writing = self
            .writing
            .as_mut()
            .expect("the memory serves only a side that has a frame");
        let left = writing
            .left
            .expect("the writer asks when the queue takes the frame")
            - words;
        writing.left = Some(left);
        if left > 0 {
            return;
        }
        let frame = writing.frame;
        let number = usize::from(frame.queue);
        let queue = &mut self.queues[number];
        let visible = last + self.params.visible_cycles;
        let was_empty = queue.frames.is_empty();
        queue.frames.push_back(Stored { frame, visible });
        queue.words += u64::from(frame.words);
        queue.stored += 1;
        if was_empty {
            self.consider(number);
        }
        self.stored(last, tally);
    }

    /// The frame that was written is; finds the next one.
    fn stored(&mut self, last: u64, tally: &mut Tally) {
        self.written.push_back((self.passed, last));
        self.writing = self.arbitrate(last, tally);
    }

    /// Lets the input arbiter choose the next frame, and the writer latch its queue after the cycle
    /// `done`, in which it had its last word.
    fn arbitrate(&mut self, done: u64, tally: &mut Tally) -> Option<Writing> {
        // Only now is it known when the frame before found room for all its words.
        let room = self.room_behind_arbiter();
        if room >= self.arbiter.cycle {
            self.arbiter.cycle = room + 1;
            self.ports[self.served].drained(room);
        }
        let queues = 2 * self.params.ports;
        let (mut chosen, mut begin) = (0, NEVER);
        for (port, receive) in self.ports.iter_mut().enumerate() {
            let ready = receive.ready(tally);
            if ready == NEVER {
                continue;
            }
            let found = self.arbiter.finds(2 * port as u64, queues, ready);
            if found < begin {
                (chosen, begin) = (port, found);
            }
        }
        if begin == NEVER {
            return None;
        }
        let frame = self.ports[chosen].take(begin, tally);
        self.passed += u64::from(frame.words);
        let end = begin + u64::from(frame.words);
        self.ports[chosen].drained(end);
        self.served = chosen;
        self.arbiter = Poll::behind(2 * chosen as u64, queues, end + 1);
        let header = begin + ARBITER_CYCLES + self.params.lookup_cycles;
        Some(Writing {
            frame,
            latch: header.max(done) + self.params.store_setup_cycles,
            left: None,
        })
    }

    /// The cycle from which the words that have passed the arbiter, but for those that fit before
    /// the memory, have been written, if they were one a cycle to the end of the frame that they
    /// belong to.
    fn room_behind_arbiter(&mut self) -> u64 {
        let Some(out) = self.passed.checked_sub(self.params.pipeline_words) else {
            return 0;
        };
        while self.written.front().is_some_and(|&(up_to, _)| up_to < out) {
            self.written.pop_front();
        }
        let first = self.written.front();
        first.map_or(0, |&(up_to, last)| last.saturating_sub(up_to - out))
    }

    /// The reader finds the queue `number` filled that was empty, perhaps before the one that it
    /// waits for.
    fn consider(&mut self, number: usize) {
        if self.reading.is_some_and(|reading| reading.is_begun) {
            return;
        }
        let from = self.readable(number);
        if from < self.reading.map_or(NEVER, |reading| reading.from) {
            self.await_queue(number, from);
        }
    }

    /// The cycle from which the reader, when it is free, asks the memory for the first frame of the
    /// queue `number`.
    fn readable(&self, number: usize) -> u64 {
        let queue = &self.queues[number];
        let Some(first) = queue.frames.front() else {
            return NEVER;
        };
        let ready = first.visible.max(queue.free);
        let found = self
            .reader
            .finds(number as u64, self.queues.len() as u64, ready);
        found + self.params.read_setup_cycles
    }

    fn await_queue(&mut self, queue: usize, from: u64) {
        let first = self.queues[queue].frames[0];
        self.reading = Some(Reading {
            queue,
            from,
            left: u64::from(first.frame.words),
            is_begun: false,
        });
    }

    /// `words` of the frame that is read were, the last one in the cycle `last`.
    fn read(&mut self, words: u64, last: u64, tally: &mut Tally) {
        let reading = self
            .reading
            .as_mut()
            .expect("the memory serves only a side that has a frame");
        reading.is_begun = true;
        reading.left -= words;
        if reading.left > 0 {
            return;
        }
        let number = reading.queue;
        let queue = &mut self.queues[number];
        let frame = queue
            .frames
            .pop_front()
            .expect("what is read was stored")
            .frame;
        queue.words -= u64::from(frame.words);
        queue.least = queue.least.min(queue.frames.len());
        let port = number / 2;
        queue.free = if number.is_multiple_of(2) {
            let (end, free) = self.transmits[port].send(&frame, last);
            tally.ended(&frame, Fate::Forwarded, end);
            free
        } else {
            let handed = self.software.hand(port, &frame, last);
            match handed.done {
                Some(end) => tally.ended(&frame, Fate::Delivered, end),
                None => tally.ended(&frame, Fate::DroppedAtHost, frame.start),
            }
            handed.free
        };
        self.reader = Poll::behind(number as u64, self.queues.len() as u64, last + 1);
        self.reading = None;
        let (mut chosen, mut from) = (0, NEVER);
        for number in 0..self.queues.len() {
            let readable = self.readable(number);
            if readable < from {
                (chosen, from) = (number, readable);
            }
        }
        if from != NEVER {
            self.await_queue(chosen, from);
        }
    }
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
