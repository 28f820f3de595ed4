//! A device in memory whose frames fall due at instants that are fixed beforehand.
//!
//! When the router asks, the ring looks at the core's time and takes in what has fallen due since it was asked
//! last, as far as it has room; what finds it full is lost. Nothing but the router empties it, so that is the same as
//! taking in each frame when it is due. The same rule stands in the simulated port (`router/src/simulate/port/inward.rs`).
//!
//! A packet carries the instant at which it was due as the annotation `PERFCTR`, as in simulated time. It is out when the
//! ring that it is given to has taken the whole batch.

use super::core_time::CoreTime;
use crate::forwarding::traffic::Stream;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trammel_packet::anno::PERFCTR;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;

/// What a ring has to give and what became of it, in ticks of the core's time.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// When its frames are due, ascending.
    due: Vec<u64>,
    /// The first that has not fallen due.
    next: usize,
    /// Those that wait, and how many they are.
    waiting: VecDeque<Range<usize>>,
    held: usize,
    /// How many may wait.
    capacity: usize,
    /// The place of the first frame in the stream.
    first_frame: u64,
    /// Frames that the router took, when it took the first and the last, and how many it took last.
    pub(super) taken: u64,
    pub(super) first_taken: u64,
    pub(super) last_taken: u64,
    pub(super) last_batch: u64,
    /// Times that it took any, and that it asked in vain.
    pub(super) batches: u64,
    pub(super) polls: u64,
    /// Frames that found the ring full, and when the last of these was due.
    pub(super) lost: u64,
    pub(super) last_lost: Option<u64>,
    /// Frames that were given to this ring: when they were due and when they were out.
    pub(super) out: Vec<(u64, u64)>,
    /// The instants of the batch that is being taken.
    batch: Vec<u64>,
}

impl Way {
    /// A way on which so many frames may wait.
    pub(super) fn new(capacity: usize) -> Way {
        Way {
            capacity,
            ..Way::default()
        }
    }

    /// Forgets what became of the frames before and takes new ones, due at `due`.
    pub(super) fn arm(&mut self, due: Vec<u64>) {
        let capacity = self.capacity;
        let first_frame = self.first_frame + self.due.len() as u64;
        let (mut out, mut waiting) = (std::mem::take(&mut self.out), std::mem::take(&mut self.waiting));
        out.clear();
        waiting.clear();
        *self = Way {
            due,
            capacity,
            first_frame,
            out,
            waiting,
            batch: std::mem::take(&mut self.batch),
            ..Way::default()
        };
    }

    /// Takes in what has fallen due.
    #[inline]
    fn admit(&mut self, now: u64) {
        let first = self.next;
        while self.due.get(self.next).is_some_and(|due| *due <= now) {
            self.next += 1;
        }
        let came = self.next - first;
        if came == 0 {
            return;
        }
        let taken = came.min(self.capacity - self.held);
        if taken > 0 {
            match self.waiting.back_mut() {
                Some(last) if last.end == first => last.end += taken,
                _ => self.waiting.push_back(first..first + taken),
            }
            self.held += taken;
        }
        if came > taken {
            self.lost += (came - taken) as u64;
            self.last_lost = Some(self.due[self.next - 1]);
        }
    }

    /// The first that waits, out of the ring.
    #[inline]
    fn take_first(&mut self) -> Option<usize> {
        let first = self.waiting.front_mut()?;
        let at = first.start;
        first.start += 1;
        if first.start == first.end {
            self.waiting.pop_front();
        }
        self.held -= 1;
        Some(at)
    }

    /// Whether every frame has come and none waits.
    pub(super) fn is_over(&self) -> bool {
        self.next == self.due.len() && self.held == 0
    }
}

/// A way as its ring and the bed share it.
pub(super) type Shared = Arc<Mutex<Way>>;

/// The ring's end or the bed's of a way.
pub(super) fn lock(way: &Shared) -> MutexGuard<'_, Way> {
    way.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A ring.
#[derive(Debug)]
pub(super) struct PacedRing {
    name: String,
    stream: Option<Stream>,
    way: Shared,
    time: CoreTime,
    counters: DeviceCounters,
}

impl PacedRing {
    /// A ring that gives frames of `stream`, or only takes.
    pub(super) fn new(name: &str, stream: Option<Stream>, way: Shared, time: CoreTime) -> PacedRing {
        PacedRing {
            name: name.to_owned(),
            stream,
            way,
            time,
            counters: DeviceCounters::default(),
        }
    }
}

impl Device for PacedRing {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let Some(stream) = &self.stream else {
            return Ok(0);
        };
        let mut way = lock(&self.way);
        let now = self.time.now();
        way.admit(now);
        let most = (stream.burst() as u64).min(way.held as u64);
        let mut count = 0;
        while count < most && !into.is_full() {
            // A frame stays in the ring where the pool has no room for it.
            let Some(at) = way.waiting.front().map(|first| first.start) else {
                break;
            };
            let Some(handle) = stream.make(way.first_frame + at as u64, pool) else {
                break;
            };
            way.take_first();
            pool[&handle].set_anno_bytes(PERFCTR, way.due[at].to_ne_bytes());
            into.push(handle);
            count += 1;
        }
        if count == 0 {
            way.polls += 1;
            return Ok(0);
        }
        if way.taken == 0 {
            way.first_taken = now;
        }
        (way.last_taken, way.last_batch) = (now, count);
        way.taken += count;
        way.batches += 1;
        self.counters.received += count;
        Ok(count as usize)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let count = from.len();
        let mut way = lock(&self.way);
        let mut batch = std::mem::take(&mut way.batch);
        batch.clear();
        for packet in from.drain() {
            batch.push(u64::from_ne_bytes(pool[&packet].anno_bytes(PERFCTR)));
            pool.free(packet);
        }
        let now = self.time.now();
        // What the function made itself was never due.
        let due = batch.iter().filter(|due| **due != 0);
        way.out.extend(due.map(|due| (*due, now)));
        way.batch = batch;
        self.counters.sent += count as u64;
        Ok(count)
    }

    fn counters(&self) -> DeviceCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_the_ring_full_is_lost_and_the_rest_comes_in_order() {
        let mut way = Way::new(3);
        way.arm((1..=10).collect());
        way.admit(5);
        assert_eq!((way.held, way.lost, way.last_lost), (3, 2, Some(5)));
        assert_eq!((way.take_first(), way.take_first()), (Some(0), Some(1)));
        way.admit(6);
        assert_eq!((way.held, way.lost), (2, 2));
        assert_eq!((way.take_first(), way.take_first()), (Some(2), Some(5)));
        assert!(!way.is_over());
        way.admit(100);
        assert_eq!((way.held, way.lost, way.last_lost), (3, 3, Some(10)));
        while way.take_first().is_some() {}
        assert!(way.is_over());
    }
}
