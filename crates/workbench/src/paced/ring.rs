//! A device in memory whose frames fall due at instants that are fixed beforehand.
//!
//! When the router asks, the ring looks at the core's time and takes in what has fallen due since
//! it was asked last, as far as it has room; what finds it full is lost. Nothing but the router
//! empties it, so that is the same as taking in each frame when it is due. The same rule stands in
//! the simulated port (`router/src/simulate/port/inward.rs`).
//!
//! A packet carries the instant at which it was due and the way by which it came as the annotation
//! `PERFCTR`, as in simulated time ([`Stamp`]). It is out when the ring that it is given to has
//! taken the whole batch.

use super::core_time::CoreTime;
use crate::traffic::Stream;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trammel_packet::anno::PERFCTR;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;
use trammel_router::simulate::offer::MOST_FLOWS;

/// Bits of a stamp that are the flow's, as in simulated time.
const FLOW_BITS: u32 = MOST_FLOWS.ilog2();
/// The others: of the counter's ticks, months pass until they come again.
const TICKS: u64 = u64::MAX >> FLOW_BITS;
/// The flow of frames that are beside those of the test.
pub(crate) const BESIDE: u16 = MOST_FLOWS - 1;

/// When a frame was due and of which flow it is; none is zero, which says that a frame never was
/// due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// A frame that the function made itself.
    pub const NONE: Stamp = Stamp(0);

    /// Of a frame of `flow` that was due at `due`.
    #[inline]
    pub fn new(flow: u16, due: u64) -> Stamp {
        Stamp(u64::from(flow) << (64 - FLOW_BITS) | (due & TICKS).max(1))
    }

    /// Of which flow, and how many ticks after `start`; none where it was due before, or never.
    pub(crate) fn since(self, start: u64) -> Option<(u16, u64)> {
        let after = (self.0 & TICKS).wrapping_sub(start) & TICKS;
        let is_later = self != Stamp::NONE && after <= TICKS / 2;
        is_later.then_some(((self.0 >> (64 - FLOW_BITS)) as u16, after))
    }
}

/// What a ring has to give and what became of it, in ticks of the core's time.
#[derive(Debug, Default)]
pub struct Way {
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
    /// Its own flow.
    pub(crate) flow: u16,
    /// Frames that the router took, when it took the first and the last, and how many it took last.
    pub(crate) taken: u64,
    pub(crate) first_taken: u64,
    pub(crate) last_taken: u64,
    pub(crate) last_batch: u64,
    /// Times that it took any, and that it asked in vain.
    pub(crate) batches: u64,
    pub(crate) polls: u64,
    /// See `polls`: those before the first frame was taken.
    pub(crate) polls_before: u64,
    /// Frames that found the ring full, and when the last of these was due.
    pub(crate) lost: u64,
    pub(crate) last_lost: Option<u64>,
    /// When the frames were due that were given to this ring, and for each batch of them how many
    /// there were by then and when it was out.
    pub(crate) out: Vec<Stamp>,
    pub(crate) out_at: Vec<(usize, u64)>,
}

impl Way {
    /// A way on which so many frames may wait, of flow 0.
    pub(crate) fn new(capacity: usize) -> Way {
        Way {
            capacity,
            ..Way::default()
        }
    }

    /// When each frame is due that it gives, and its place in the stream.
    pub(crate) fn all_due(&self) -> impl Iterator<Item = (u64, u64)> {
        (self.first_frame..).zip(self.due.iter().copied())
    }

    /// Forgets what became of the frames before and takes new ones, due at `due`.
    pub(crate) fn arm(&mut self, due: Vec<u64>) {
        let mut fresh = Way {
            due,
            first_frame: self.first_frame + self.due.len() as u64,
            flow: self.flow,
            // Memory that was used before need not be asked for again.
            out: std::mem::take(&mut self.out),
            out_at: std::mem::take(&mut self.out_at),
            ..Way::new(self.capacity)
        };
        fresh.out.clear();
        fresh.out_at.clear();
        *self = fresh;
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

    /// The first that wait, one after the other, so many at most.
    #[inline]
    fn first(&self, most: usize) -> Range<usize> {
        let first = self.waiting.front().cloned().unwrap_or_default();
        first.start..first.end.min(first.start + most)
    }

    /// Takes the first so many out of the ring, none beyond [`Way::first`].
    #[inline]
    fn take_first(&mut self, count: usize) {
        if let Some(first) = self.waiting.front_mut() {
            first.start += count;
            if first.start == first.end {
                self.waiting.pop_front();
            }
            self.held -= count;
        }
    }

    /// The stamp of each frame that was given to this ring, and when it was out.
    pub(crate) fn passages(&self) -> impl Iterator<Item = (Stamp, u64)> {
        let mut first = 0;
        self.out_at.iter().flat_map(move |(end, at)| {
            let batch = &self.out[std::mem::replace(&mut first, *end)..*end];
            batch.iter().map(|stamp| (*stamp, *at))
        })
    }

    /// The next frame of the stream, and when it is due, if that is by `now`: for rings that the
    /// kernel keeps.
    #[cfg(target_os = "linux")]
    pub(crate) fn next_due(&self, now: u64) -> Option<(u64, u64)> {
        let due = self.due.get(self.next).filter(|due| **due <= now)?;
        Some((self.first_frame + self.next as u64, *due))
    }

    /// That frame has been handed to the kernel.
    #[cfg(target_os = "linux")]
    pub(crate) fn pass(&mut self) {
        self.next += 1;
    }

    /// The kernel's ring had no room for so many of those, of which the last was due at `due`.
    #[cfg(target_os = "linux")]
    pub(crate) fn lose(&mut self, count: u64, due: u64) {
        self.lost += count;
        self.last_lost = Some(due);
    }

    /// The router asked at `now` and got so many frames.
    #[inline]
    pub(crate) fn took(&mut self, now: u64, count: u64) {
        if count == 0 {
            self.polls += 1;
            return;
        }
        if self.taken == 0 {
            (self.first_taken, self.polls_before) = (now, self.polls);
        }
        (self.last_taken, self.last_batch) = (now, count);
        self.taken += count;
        self.batches += 1;
    }

    /// A frame with this stamp is out with the batch that ends next.
    pub(crate) fn put_out(&mut self, stamp: Stamp) {
        self.out.push(stamp);
    }

    /// The last so many were not taken after all.
    #[cfg(target_os = "linux")]
    pub(crate) fn take_back(&mut self, count: usize) {
        self.out.truncate(self.out.len() - count);
    }

    /// What was put out since the last batch was out at `now`.
    pub(crate) fn end_batch(&mut self, now: u64) {
        let out = (self.out.len(), now);
        self.out_at.push(out);
    }

    /// Whether every frame was taken or lost.
    pub(crate) fn is_over(&self) -> bool {
        self.taken + self.lost == self.due.len() as u64
    }
}

/// A way as its ring and the bed share it.
pub type Shared = Arc<Mutex<Way>>;

/// The ring's end or the bed's of a way.
pub fn lock(way: &Shared) -> MutexGuard<'_, Way> {
    way.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A ring.
#[derive(Debug)]
pub(crate) struct PacedRing {
    name: String,
    stream: Option<Stream>,
    way: Shared,
    time: CoreTime,
    counters: DeviceCounters,
}

impl PacedRing {
    /// A ring that gives frames of `stream`, or only takes.
    pub(crate) fn new(
        name: &str,
        stream: Option<Stream>,
        way: Shared,
        time: CoreTime,
    ) -> PacedRing {
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
        let most = stream.burst().min(into.room());
        let mut count = 0;
        while count < most {
            let first = way.first(most - count);
            let mut made = 0;
            for at in first.clone() {
                let place = way.first_frame + at as u64;
                let Some(handle) = stream.make(place, pool) else {
                    break;
                };
                let flow = if stream.broadcasts().has(place) {
                    BESIDE
                } else {
                    way.flow
                };
                let Stamp(stamp) = Stamp::new(flow, way.due[at]);
                pool[&handle].set_anno_bytes(PERFCTR, stamp.to_ne_bytes());
                into.push(handle);
                made += 1;
            }
            way.take_first(made);
            count += made;
            // Nothing waits, or the pool has no room: then frames stay in the ring.
            if made < first.len() || made == 0 {
                break;
            }
        }
        self.time.hold(count);
        let count = count as u64;
        way.took(now, count);
        self.counters.received += count;
        Ok(count as usize)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let count = from.len();
        self.time.hold_at_least(count);
        let mut way = lock(&self.way);
        for packet in from.drain() {
            way.put_out(Stamp(u64::from_ne_bytes(pool[&packet].anno_bytes(PERFCTR))));
            pool.free(packet);
        }
        way.end_batch(self.time.now());
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
    fn a_stamp_says_flow_and_time_also_where_the_counter_has_many_bits() {
        for start in [5, TICKS - 5, 3 << 60 | 7] {
            let stamp = Stamp::new(17, start + 9);
            assert_eq!(stamp.since(start), Some((17, 9)), "{start}");
            assert_eq!(stamp.since(start + 10), None, "{start}");
        }
        assert_eq!(Stamp::NONE.since(0), None);
    }

    #[test]
    fn what_finds_the_ring_full_is_lost_and_the_rest_comes_in_order() {
        let mut way = Way::new(3);
        way.arm((1..=10).collect());
        way.admit(5);
        assert_eq!((way.held, way.lost, way.last_lost), (3, 2, Some(5)));
        assert_eq!(way.first(2), 0..2);
        way.take_first(2);
        way.took(5, 2);
        way.admit(6);
        assert_eq!((way.held, way.lost), (2, 2));
        assert_eq!(way.first(9), 2..3);
        way.take_first(1);
        way.took(6, 1);
        assert_eq!(way.first(9), 5..6);
        assert!(!way.is_over());
        way.admit(100);
        assert_eq!((way.held, way.lost, way.last_lost), (3, 4, Some(10)));
        way.take_first(way.first(9).len());
        way.take_first(way.first(9).len());
        way.took(100, 3);
        assert!(way.is_over());
    }
}
