//! The pipeline: what happens to frames between the receive FIFOs and the lines out.
//!
//! The one place where things happen in an order that has to be found out is the memory: each step
//! of the engine is a burst of words that one side gets. Everything before it (arrivals, input
//! arbiter, look-up) is worked out when the writer needs its next frame, everything behind it
//! (FIFOs, MACs, DMA) when the reader has got one.

mod arbiter;
pub(crate) mod contents;
pub(crate) mod frame;
mod memory;
mod online;
mod poll;
mod receive;
mod software;
mod state;
pub(crate) mod steady;
pub(crate) mod tally;
mod transmit;

use crate::error::Error;
use crate::outcome::Fate;
use crate::params::Params;
use crate::stream::Stream;
use contents::Contents;
use frame::Frame;
use memory::{Ask, Memory, Side};
use poll::Poll;
use receive::{NEVER, Receive};
use software::Software;
use state::{Queue, Reading, Stored, Writing};
use std::collections::VecDeque;
use transmit::Transmit;

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

impl Engine {
    pub(crate) fn new<C: Contents>(
        params: &Params,
        streams: &[Stream],
        contents: &mut C,
    ) -> Result<Engine, Error> {
        params.check()?;
        let ports = (0..params.ports as usize).map(|port| Receive::new(port, params, streams));
        let hosts = if C::ARE_THERE { params.ports } else { 0 };
        let hosts = (0..hosts).map(|_| Receive::of_host(params));
        let queue = Queue {
            frames: VecDeque::new(),
            words: 0,
            free: 0,
            stored: 0,
            least: 0,
            most: 0,
        };
        let mut engine = Engine {
            ports: ports.chain(hosts).collect::<Result<_, _>>()?,
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
        engine.writing = engine.arbitrate(0, contents);
        Ok(engine)
    }

    /// One burst, or the decision on one frame. False when nothing is left to do.
    pub(crate) fn step<C: Contents>(&mut self, contents: &mut C) -> bool {
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
            // Nothing that is not known yet asks earlier.
            None => Ask {
                from: contents.horizon().saturating_add(1),
                words: 1,
            },
            Some(writing) => {
                if C::ARE_THERE && writing.latch.min(read.from) > contents.horizon() {
                    return false;
                }
                let words = match writing.left {
                    Some(left) => left,
                    // A read that ends before the queue is looked at makes room in it, so it goes
                    // first.
                    None if read.from != NEVER && self.memory.read_alone(read) < writing.latch => {
                        u64::from(writing.frame.words)
                    }
                    None if C::ARE_THERE && writing.latch > contents.horizon() => return false,
                    None => match self.admit(writing, contents) {
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
        let before = self.memory;
        let burst = self.memory.grant(write, read);
        if C::ARE_THERE
            && self.writing.is_none()
            && (burst.side == Side::Write || burst.last >= contents.horizon())
        {
            self.memory = before;
            return false;
        }
        match burst.side {
            Side::Write => self.write(burst.words, burst.last, contents),
            Side::Read => self.read(burst.words, burst.last, contents),
        }
        // What was read may have filled a frame of events.
        if C::ARE_THERE
            && self.writing.is_none()
            && contents.own_since().is_some()
            && let Some(done) = contents.resume()
        {
            self.writing = self.arbitrate(done, contents);
        }
        true
    }

    /// Looks whether the queue takes the frame; the words that are to be written, if it does.
    fn admit<C: Contents>(&mut self, writing: Writing, contents: &mut C) -> Option<u64> {
        let frame = writing.frame;
        let words = u64::from(frame.words);
        let limit = self.most_words(words);
        let queue = &mut self.queues[usize::from(frame.queue)];
        queue.most = queue.most.max(queue.words);
        let has_room = if C::ARE_THERE {
            contents.admits(frame.queue, writing.latch)
        } else {
            queue.words <= limit
        };
        if has_room {
            self.writing = Some(Writing {
                left: Some(words),
                ..writing
            });
            return Some(words);
        }
        contents.ended(&frame, Fate::DroppedAtQueue, frame.start);
        // Its words are thrown away, one a cycle.
        self.stored(&writing, writing.latch + words, contents);
        None
    }

    /// The words up to which a queue may be filled and still takes a frame of `words`.
    fn most_words(&self, words: u64) -> u64 {
        let reserve = (self.params.queue_reserve_words + 1).max(words);
        self.params.queue_words.saturating_sub(reserve)
    }

    /// `words` of the frame that is written were, the last one in the cycle `last`.
    fn write<C: Contents>(&mut self, words: u64, last: u64, contents: &mut C) {
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
        let written = *writing;
        let frame = written.frame;
        let number = usize::from(frame.queue);
        contents.store(frame.queue, last);
        let queue = &mut self.queues[number];
        let visible = last + self.params.visible_cycles;
        let was_empty = queue.frames.is_empty();
        queue.frames.push_back(Stored { frame, visible });
        queue.words += u64::from(frame.words);
        queue.stored += 1;
        if was_empty {
            self.consider(number, contents);
        }
        self.stored(&written, last, contents);
    }

    /// The frame that was written is; finds the next one.
    fn stored<C: Contents>(&mut self, written: &Writing, last: u64, contents: &mut C) {
        if let Some(queue) = contents.next_copy() {
            self.writing = Some(Writing {
                frame: Frame {
                    queue,
                    ..written.frame
                },
                latch: last + self.params.store_setup_cycles,
                left: None,
            });
            return;
        }
        self.written.push_back((self.passed, last));
        self.writing = self.arbitrate(last, contents);
    }

    /// The reader finds the queue `number` filled that was empty, perhaps before the one that it
    /// waits for.
    fn consider<C: Contents>(&mut self, number: usize, contents: &C) {
        if self.reading.is_some_and(|reading| reading.is_begun) {
            return;
        }
        let from = self.readable(number, contents);
        if from < self.reading.map_or(NEVER, |reading| reading.from) {
            self.await_queue(number, from);
        }
    }

    /// The cycle from which the reader, when it is free, asks the memory for the first frame of the
    /// queue `number`.
    fn readable<C: Contents>(&self, number: usize, contents: &C) -> u64 {
        let queue = &self.queues[number];
        let Some(first) = queue.frames.front() else {
            return NEVER;
        };
        if !contents.may_send(number) {
            return NEVER;
        }
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
    fn read<C: Contents>(&mut self, words: u64, last: u64, contents: &mut C) {
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
        contents.remove(number, last);
        let port = number / 2;
        queue.free = if number.is_multiple_of(2) {
            let (end, free) = self.transmits[port].send(&frame, last);
            if C::ARE_THERE {
                self.transmits[port].hold(end, contents.spacing_ps(port));
            }
            contents.ended(&frame, Fate::Forwarded, end);
            free
        } else {
            let handed = self.software.hand(port, &frame, last);
            match handed.done {
                Some(end) => contents.ended(&frame, Fate::Delivered, end),
                None => contents.ended(&frame, Fate::DroppedAtHost, frame.start),
            }
            handed.free
        };
        self.reader = Poll::behind(number as u64, self.queues.len() as u64, last + 1);
        self.reading = None;
        self.choose(contents);
    }

    /// Lets the reader wait for the queue that it finds first.
    fn choose<C: Contents>(&mut self, contents: &C) {
        let (mut chosen, mut from) = (0, NEVER);
        for number in 0..self.queues.len() {
            let readable = self.readable(number, contents);
            if readable < from {
                (chosen, from) = (number, readable);
            }
        }
        if from != NEVER {
            self.await_queue(chosen, from);
        }
    }
}
