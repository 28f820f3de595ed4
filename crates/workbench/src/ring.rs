//! A device in memory that gives frames of a stream without end or up to a number, and takes what
//! is sent.
//!
//! All rings of a workbench share one count. Every so many packets it notes the processor's
//! time-stamp counter, so that a long run falls into many short samples, of which a busy machine
//! spoils some.

use super::traffic::{Stream, TEMPLATES};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use trammel_packet::batch::Packets;
use trammel_packet::cpu::cycles;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;
use trammel_router::estimate::Inflow;

/// Packets between two notes.
pub const SLICE: u64 = 4096;

/// What the rings of a workbench have given.
#[derive(Debug, Default)]
pub struct Tally {
    /// Packets given.
    pub given: u64,
    /// Packets that are given in all.
    pub most: u64,
    /// What each ring gave.
    pub each: Vec<Inflow>,
    /// Packets sent, and by which ring: in the order of `each`.
    pub sent: u64,
    /// See `sent`.
    pub sent_by: Vec<u64>,
    /// Ticks at each note, and the packets given by then.
    pub notes: Vec<(u64, u64)>,
    /// What rings that keep frames were sent.
    pub passed: Passed,
}

/// Packets that leave for the next function.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// How many.
    pub packets: u64,
    /// Their bytes in memory.
    pub bytes: u64,
    /// The first of them that differ.
    pub frames: Vec<Vec<u8>>,
}

/// The tally, as rings share it.
pub type Shared = Arc<Mutex<Tally>>;

/// A ring.
#[derive(Debug)]
pub struct Ring {
    name: String,
    stream: Option<Arc<Stream>>,
    next: u64,
    /// Its place in the tally.
    place: usize,
    tally: Shared,
    keeps: bool,
    counters: DeviceCounters,
}

impl Ring {
    /// A ring that gives `stream`, or only takes.
    pub fn new(name: &str, stream: Option<Arc<Stream>>, tally: Shared) -> Ring {
        let mut shared = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let place = shared.each.len();
        shared.each.push(Inflow {
            name: name.to_owned(),
            ..Inflow::default()
        });
        shared.sent_by.push(0);
        drop(shared);
        Ring {
            name: name.to_owned(),
            stream,
            next: 0,
            place,
            tally,
            keeps: false,
            counters: DeviceCounters::default(),
        }
    }

    /// Has it keep what it is sent.
    pub fn keeping(mut self) -> Ring {
        self.keeps = true;
        self
    }
}

impl Device for Ring {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let Some(stream) = &self.stream else {
            return Ok(0);
        };
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let left = ((tally.most - tally.given) as usize).min(stream.burst_at(self.next));
        let mut count = 0;
        while count < left && !into.is_full() {
            let Some(handle) = stream.make(self.next, pool) else {
                break;
            };
            into.push(handle);
            self.next += 1;
            count += 1;
        }
        let before = tally.given;
        tally.given += count as u64;
        let own = &mut tally.each[self.place];
        own.packets += count as u64;
        own.batches += u64::from(count > 0);
        if tally.given / SLICE != before / SLICE {
            let given = tally.given;
            tally.notes.push((cycles(), given));
        }
        self.counters.received += count as u64;
        Ok(count)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let count = from.len();
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if self.keeps {
            let passed = &mut tally.passed;
            for packet in from.iter() {
                let frame = pool[packet].data();
                passed.packets += 1;
                passed.bytes += frame.len() as u64;
                if passed.frames.len() < TEMPLATES && !passed.frames.iter().any(|f| f == frame) {
                    passed.frames.push(frame.to_vec());
                }
            }
        }
        for packet in from.drain() {
            pool.free(packet);
        }
        self.counters.sent += count as u64;
        tally.sent += count as u64;
        tally.sent_by[self.place] += count as u64;
        Ok(count)
    }

    fn is_exhausted(&self) -> bool {
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.is_none() || tally.given == tally.most
    }

    fn counters(&self) -> DeviceCounters {
        self.counters
    }
}
