//! The engine as part of something greater: frames come in as time goes on.
//!
//! What lies up to a horizon is done, and nothing that a frame which is not known yet could change.
//! The rest waits for the horizon to move.

use crate::engine::Engine;
use crate::engine::arbiter::place;
use crate::engine::contents::Contents;
use crate::engine::memory::Ask;
use crate::engine::receive::NEVER;
use crate::engine::state::Reading;

impl Engine {
    /// Does everything up to the horizon.
    pub(crate) fn run_on<C: Contents>(&mut self, contents: &mut C) {
        if self.writing.is_none()
            && let Some(done) = contents.resume()
        {
            self.writing = self.arbitrate(done, contents);
        }
        while self.step(contents) {}
    }

    /// In the cycle `now`, software switched the queue `number` on or off, or threw its frames away
    /// but for `kept`.
    pub(crate) fn queue_changed<C: Contents>(
        &mut self,
        (number, kept): (usize, usize),
        now: u64,
        contents: &C,
    ) {
        let queue = &mut self.queues[number];
        let is_emptied = queue.frames.len() > kept;
        while queue.frames.len() > kept
            && let Some(stored) = queue.frames.pop_front()
        {
            queue.words -= u64::from(stored.frame.words);
        }
        queue.free = queue.free.max(now);
        let is_read = |reading: Reading| reading.queue == number && is_emptied;
        if self
            .reading
            .is_none_or(|reading| !reading.is_begun || is_read(reading))
        {
            self.reading = None;
            self.choose(contents);
        }
    }

    /// The cycle of what happens next, or one before it, if nothing more comes in.
    pub(crate) fn next_cycle<C: Contents>(&self, contents: &C) -> Option<u64> {
        let done = contents.horizon();
        let read = self.reading.map(|reading| match self.writing {
            Some(_) => reading.from,
            None => {
                let (from, words) = (reading.from, reading.left);
                self.memory.read_alone(Ask { from, words }) + 1
            }
        });
        let write = match self.writing {
            Some(writing) => Some(writing.latch),
            None => {
                let own = contents
                    .own_since()
                    .map(|since| since.max(self.arbiter.cycle));
                self.next_begin::<C>().into_iter().chain(own).min()
            }
        };
        let next = [read, write].into_iter().flatten();
        next.map(|cycle| cycle.max(done.saturating_add(1))).min()
    }

    /// When the arbiter takes the next frame, of those that are in the receive queues.
    fn next_begin<C: Contents>(&self) -> Option<u64> {
        let queues = 2 * self.params.ports;
        let begins = self.ports.iter().enumerate().filter_map(|(input, port)| {
            let ready = port.first_ready()?;
            let place = place::<C>(input, self.params.ports);
            Some(self.arbiter.finds(place, queues, ready))
        });
        begins.filter(|begin| *begin != NEVER).min()
    }
}
