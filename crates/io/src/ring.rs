//! A wire in memory: two devices, what one sends the other receives.
//!
//! Each direction is a bounded ring of cells that frames are copied into, so that the two ends may
//! have pools of their own and be in different threads. The ring is locked once a batch. A full
//! ring takes nothing: the sender keeps its packets, and nothing is lost. Longer frames than a cell
//! holds are kept beside it.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;

/// Room for an Ethernet frame with tags.
const CELL_BYTES: usize = 1536;

/// Frames on their way in one direction.
#[derive(Debug)]
struct Lane {
    cells: Mutex<Cells>,
    /// As many as in `cells`, to look at without the lock.
    count: AtomicUsize,
    /// Whether the sender is gone.
    closed: std::sync::atomic::AtomicBool,
}

#[derive(Debug)]
struct Cells {
    bytes: Vec<u8>,
    /// The length of each frame from the first.
    lens: VecDeque<usize>,
    first: usize,
    /// The frames that no cell holds, in order.
    long: VecDeque<Vec<u8>>,
    limit: usize,
}

impl Lane {
    fn new(limit: usize) -> Arc<Lane> {
        Arc::new(Lane {
            cells: Mutex::new(Cells {
                bytes: vec![0; limit * CELL_BYTES],
                lens: VecDeque::with_capacity(limit),
                first: 0,
                long: VecDeque::new(),
                limit,
            }),
            count: AtomicUsize::new(0),
            closed: std::sync::atomic::AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Cells> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cells {
    #[inline]
    fn is_full(&self) -> bool {
        self.lens.len() == self.limit
    }

    #[inline]
    fn push(&mut self, frame: &[u8]) {
        if frame.len() > CELL_BYTES {
            self.long.push_back(frame.to_vec());
        } else {
            let mut cell = self.first + self.lens.len();
            if cell >= self.limit {
                cell -= self.limit;
            }
            let at = cell * CELL_BYTES;
            self.bytes[at..at + frame.len()].copy_from_slice(frame);
        }
        self.lens.push_back(frame.len());
    }

    #[inline]
    fn front(&self) -> Option<&[u8]> {
        let len = *self.lens.front()?;
        if len > CELL_BYTES {
            return self.long.front().map(Vec::as_slice);
        }
        let at = self.first * CELL_BYTES;
        Some(&self.bytes[at..at + len])
    }

    #[inline]
    fn pop(&mut self) {
        if self.lens.pop_front().is_some_and(|len| len > CELL_BYTES) {
            self.long.pop_front();
        }
        self.first += 1;
        if self.first == self.limit {
            self.first = 0;
        }
    }
}

/// One end of the wire.
#[derive(Debug)]
pub struct RingEnd {
    name: String,
    incoming: Arc<Lane>,
    outgoing: Arc<Lane>,
    counters: DeviceCounters,
}

/// A wire whose each direction holds up to `limit` frames: its ends, called `NAME.0` and `NAME.1`.
pub fn pair(name: &str, limit: usize) -> (RingEnd, RingEnd) {
    let (there, back) = (Lane::new(limit.max(1)), Lane::new(limit.max(1)));
    let end = |number, incoming: &Arc<Lane>, outgoing: &Arc<Lane>| RingEnd {
        name: format!("{name}.{number}"),
        incoming: Arc::clone(incoming),
        outgoing: Arc::clone(outgoing),
        counters: DeviceCounters::default(),
    };
    (end(0, &back, &there), end(1, &there, &back))
}

impl Drop for RingEnd {
    fn drop(&mut self) {
        self.outgoing.closed.store(true, Ordering::Release);
    }
}

impl Device for RingEnd {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        if self.incoming.count.load(Ordering::Acquire) == 0 {
            return Ok(0);
        }
        let mut cells = self.incoming.lock();
        let mut count = 0;
        while !into.is_full() {
            let Some(frame) = cells.front() else { break };
            let Some(packet) = pool.alloc_with(frame) else {
                break;
            };
            into.push(packet);
            cells.pop();
            count += 1;
        }
        self.incoming
            .count
            .store(cells.lens.len(), Ordering::Release);
        self.counters.received += count as u64;
        Ok(count)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let mut cells = self.outgoing.lock();
        let room = cells.limit - cells.lens.len();
        let count = room.min(from.len());
        from.drain_front(count, |packet| {
            debug_assert!(!cells.is_full());
            cells.push(pool[&packet].data());
            pool.free(packet);
        });
        self.outgoing
            .count
            .store(cells.lens.len(), Ordering::Release);
        self.counters.sent += count as u64;
        Ok(count)
    }

    /// When the other end is gone and all that it sent was read.
    fn is_exhausted(&self) -> bool {
        self.incoming.closed.load(Ordering::Acquire)
            && self.incoming.count.load(Ordering::Acquire) == 0
    }

    fn counters(&self) -> DeviceCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(end: &mut RingEnd, pool: &mut Pool, frames: &[Vec<u8>]) -> usize {
        let mut batch = Packets::new();
        for frame in frames {
            batch.push(pool.alloc_with(frame).expect("the pool has a free slot"));
        }
        let sent = end.transmit(pool, &mut batch).expect("rings do not fail");
        batch.drain().for_each(|packet| pool.free(packet));
        sent
    }

    fn receive(end: &mut RingEnd, pool: &mut Pool) -> Vec<Vec<u8>> {
        let mut batch = Packets::new();
        end.receive(pool, &mut batch).expect("rings do not fail");
        let mut frames = Vec::new();
        for packet in batch.drain() {
            frames.push(pool[&packet].data().to_vec());
            pool.free(packet);
        }
        frames
    }

    #[test]
    fn what_one_end_sends_the_other_receives_in_order() {
        let (mut a, mut b) = pair("r", 7);
        let (mut here, mut there) = (Pool::new(32, 32), Pool::new(32, 32));
        for round in 0..20_u8 {
            let frames: Vec<Vec<u8>> = [1, 64, CELL_BYTES, CELL_BYTES + 1, 9000]
                .iter()
                .map(|&len| vec![round; len])
                .collect();
            assert_eq!(send(&mut a, &mut here, &frames), 5);
            assert_eq!(receive(&mut b, &mut there), frames);
            assert_eq!(send(&mut b, &mut there, &frames[..1]), 1);
            assert_eq!(receive(&mut a, &mut here), frames[..1]);
        }
        assert_eq!((here.in_use(), there.in_use()), (0, 0));
    }

    #[test]
    fn a_full_ring_takes_no_more_and_loses_nothing() {
        let (mut a, mut b) = pair("r", 3);
        let mut pool = Pool::new(32, 32);
        let frames: Vec<Vec<u8>> = (0..5).map(|n| vec![n; 60]).collect();
        assert_eq!(send(&mut a, &mut pool, &frames), 3);
        assert_eq!(receive(&mut b, &mut pool), frames[..3]);
        assert_eq!(a.counters().sent, b.counters().received);
        assert!(!b.is_exhausted());
        send(&mut a, &mut pool, &frames[..1]);
        drop(a);
        assert!(!b.is_exhausted(), "one is still to be read");
        receive(&mut b, &mut pool);
        assert!(b.is_exhausted());
    }
}
