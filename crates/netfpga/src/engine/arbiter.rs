//! The input arbiter: which frame is next, and when it gets to the writer.

use crate::engine::Engine;
use crate::engine::contents::Contents;
use crate::engine::frame::Frame;
use crate::engine::poll::Poll;
use crate::engine::receive::NEVER;
use crate::engine::state::Writing;

/// Cycles that a word takes through the arbiter, and the header of a frame into the queue of those
/// to be stored.
const ARBITER_CYCLES: u64 = 2;

impl Engine {
    /// Lets the input arbiter choose the next frame, and the writer latch its queue after the cycle
    /// `done`, in which it had its last word.
    pub(super) fn arbitrate<C: Contents>(
        &mut self,
        done: u64,
        contents: &mut C,
    ) -> Option<Writing> {
        loop {
            // Only now is it known when the frame before found room for all its words.
            let room = self.room_behind_arbiter();
            if room >= self.arbiter.cycle {
                self.arbiter.cycle = room + 1;
                self.ports[self.served].drained(room);
            }
            let (chosen, begin) = self.first_ready(contents);
            if C::ARE_THERE
                && let Some(since) = contents.own_since()
            {
                let own = self.arbiter.cycle.max(since).max(done);
                if own <= begin.min(contents.horizon()) {
                    if let Some(writing) = self.own(own, contents) {
                        return Some(writing);
                    }
                    continue;
                }
            }
            if C::ARE_THERE && begin > contents.horizon().min(NEVER - 1) {
                contents.postpone(done);
                return None;
            }
            if begin == NEVER {
                return None;
            }
            let mut frame = self.ports[chosen].take(chosen, begin, contents);
            self.passed += u64::from(frame.words);
            let end = begin + u64::from(frame.words);
            self.ports[chosen].drained(end);
            self.served = chosen;
            let place = place::<C>(chosen, self.params.ports);
            self.arbiter = Poll::behind(place, 2 * self.params.ports, end + 1);
            let header = begin + ARBITER_CYCLES + self.params.lookup_cycles;
            if C::ARE_THERE {
                let Some(queue) = contents.look_up(chosen, frame.start) else {
                    // The lookup throws its words away, one a cycle.
                    let gone = header + u64::from(frame.words);
                    self.written.push_back((self.passed, gone));
                    continue;
                };
                frame.queue = queue;
            }
            return Some(Writing {
                frame,
                latch: header.max(done) + self.params.store_setup_cycles,
                left: None,
            });
        }
    }

    /// The frame that the lookup itself sends goes to the writer from the cycle `begin` on; none
    /// where it is for no queue.
    fn own<C: Contents>(&mut self, begin: u64, contents: &mut C) -> Option<Writing> {
        let (bytes, queue) = contents.take_own()?;
        let words = self.params.words(u64::from(bytes)) as u16;
        self.passed += u64::from(words);
        self.arbiter = Poll {
            cycle: begin + u64::from(words) + 1,
            ..self.arbiter
        };
        let frame = Frame {
            start: begin * self.params.clock_ps,
            bytes,
            words,
            queue,
            stream: 0,
        };
        Some(Writing {
            frame,
            latch: begin + ARBITER_CYCLES + self.params.store_setup_cycles,
            left: None,
        })
    }

    /// The input whose frame the arbiter finds first, and when.
    fn first_ready<C: Contents>(&mut self, contents: &mut C) -> (usize, u64) {
        let queues = 2 * self.params.ports;
        let (mut chosen, mut begin) = (0, NEVER);
        for (input, receive) in self.ports.iter_mut().enumerate() {
            let ready = receive.ready(input, contents);
            if ready == NEVER {
                continue;
            }
            let place = place::<C>(input, self.params.ports);
            let found = self.arbiter.finds(place, queues, ready);
            if found < begin {
                (chosen, begin) = (input, found);
            }
        }
        (chosen, begin)
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
}

/// The place of `input` in the arbiter's turn: ports are even, the host's interfaces odd.
pub(super) fn place<C: Contents>(input: usize, ports: u64) -> u64 {
    let input = input as u64;
    if C::ARE_THERE && input >= ports {
        2 * (input - ports) + 1
    } else {
        2 * input
    }
}
