//! A device in memory: gives frames of the caller's and keeps what it is sent. For tests.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;

/// What was sent by a device; shared with the test.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    frames: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Sent {
    /// The frames so far.
    pub fn frames(&self) -> Vec<Vec<u8>> {
        let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        frames.clone()
    }
}

/// A device in memory; nothing more comes once its frames are read.
#[derive(Debug)]
pub struct MemoryDevice {
    name: String,
    frames: VecDeque<Vec<u8>>,
    sent: Sent,
    /// Frames that it takes between two flushes.
    room: usize,
    taken: usize,
    counters: DeviceCounters,
}

impl MemoryDevice {
    /// Gives `frames`.
    pub fn new(name: &str, frames: impl Iterator<Item = Vec<u8>>) -> MemoryDevice {
        MemoryDevice {
            name: name.to_owned(),
            frames: frames.collect(),
            sent: Sent::default(),
            room: usize::MAX,
            taken: 0,
            counters: DeviceCounters::default(),
        }
    }

    /// Takes only so many frames between two flushes.
    pub fn with_room(mut self, room: usize) -> MemoryDevice {
        self.room = room;
        self
    }

    /// What it is sent.
    pub fn sent(&self) -> Sent {
        self.sent.clone()
    }
}

impl Device for MemoryDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let mut count = 0;
        while !into.is_full() {
            let Some(frame) = self.frames.pop_front() else {
                break;
            };
            let Some(packet) = pool.alloc_with(&frame) else {
                self.frames.push_front(frame);
                break;
            };
            into.push(packet);
            count += 1;
        }
        self.counters.received += count as u64;
        Ok(count)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let count = from.len().min(self.room - self.taken);
        let mut frames = (self.sent.frames.lock()).unwrap_or_else(PoisonError::into_inner);
        from.drain_front(count, |packet| {
            frames.push(pool[&packet].data().to_vec());
            pool.free(packet);
        });
        self.taken += count;
        self.counters.sent += count as u64;
        Ok(count)
    }

    fn flush(&mut self, _: &mut Pool) -> io::Result<()> {
        self.taken = 0;
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.frames.is_empty()
    }

    fn counters(&self) -> DeviceCounters {
        self.counters
    }
}
