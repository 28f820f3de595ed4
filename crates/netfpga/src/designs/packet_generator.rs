//! A generator on four ports that replays frames with exact gaps, and captures with time stamps.
//!
//! Modelled on the NetFPGA packet generator (Covington and others, FCCM 2009); the registers are
//! our own. While `LOAD` is set, frames from a host interface are kept for the port beside it, each
//! with the gap that `GAP` has then. While `RUN` is set the port sends them in their order, the
//! whole `ITERATIONS` times; `GAP` is from the start of a frame to that of the next, and what the
//! line needs where that is longer. Otherwise a port and its host interface are a network
//! interface; while `CAPTURE` is set, frames to the host end with 8 bytes more: when they began to
//! come in, in nanoseconds.

use crate::device::Design;
use crate::registers::{File, block, place};
use crate::stages::lookup::{Happened, Lookup};
use crate::stages::queue::{PORTS, Queue, Queues};
use std::collections::VecDeque;
use trammel_core::time::{Span, Time};

/// This design.
pub static ENTRY: Design = Design {
    name: "packet-generator",
    title: "Packet generator",
    summary: "replays frames on four ports with exact gaps, captures with time stamps",
    id: 5,
    blocks: &[&generator::BLOCK],
    lookup: || {
        Box::new(Generator {
            ports: std::array::from_fn(|_| Port::new()),
            stamp: None,
        })
    },
};

block! {
    generator, "PKT_GEN" at 0x2000000, 4 of 0x40,
    "The generator of a port";
    CTRL, 0x00, 1, 4, Command, "bit 0: LOAD; 1: RUN; 2: CAPTURE; 3: forget all frames, at once";
    GAP, 0x04, 1, 32, ReadWrite, "of frames that are loaded: to the start of the next, in ns";
    ITERATIONS, 0x08, 1, 32, ReadWrite, "how often the frames are sent; 0 is without end";
    NUM_PKTS_LOADED, 0x0c, 1, 32, Read, "frames that are kept";
    NUM_PKTS_REFUSED, 0x10, 1, 32, Counter, "frames that found no room to be kept";
    NUM_PKTS_GENERATED, 0x14, 1, 32, Counter, "frames that were given to the output queue";
    NUM_PKTS_CAPTURED, 0x18, 1, 32, Counter, "frames to the host with a time stamp";
}
use generator as word;

/// Bits of [`word::CTRL`].
mod bit {
    pub(super) const LOAD: u32 = 1;
    pub(super) const RUN: u32 = 1 << 1;
    pub(super) const CAPTURE: u32 = 1 << 2;
    pub(super) const FORGET: u32 = 1 << 3;
}

/// Bytes that a port keeps.
const MOST_BYTES: usize = 1 << 20;
/// Frames of a port that are in its output queue at a time.
const AHEAD: usize = 8;

/// A frame that is kept, and its gap.
#[derive(Debug)]
struct Kept {
    frame: Vec<u8>,
    gap: Span,
}

#[derive(Debug)]
struct Port {
    file: File,
    kept: Vec<Kept>,
    bytes: usize,
    /// The next frame, and how often all of them have been sent.
    next: usize,
    rounds: u32,
    /// The gaps of generated frames in the output queue.
    ahead: VecDeque<Span>,
    /// The output queue was full; it has to give a frame away first.
    is_blocked: bool,
    /// The gap of the frame that left it last.
    gap: Span,
}

impl Port {
    fn new() -> Port {
        Port {
            file: File::new(&word::BLOCK),
            kept: Vec::new(),
            bytes: 0,
            next: 0,
            rounds: 0,
            ahead: VecDeque::new(),
            is_blocked: false,
            gap: Span::ZERO,
        }
    }

    fn is_set(&self, bit: u32) -> bool {
        self.file.get(word::CTRL) & bit != 0
    }

    fn load(&mut self, frame: &[u8]) {
        if self.bytes + frame.len() > MOST_BYTES {
            self.file.count(word::NUM_PKTS_REFUSED);
            return;
        }
        self.bytes += frame.len();
        self.kept.push(Kept {
            frame: frame.to_vec(),
            gap: Span::from_ns(u64::from(self.file.get(word::GAP))),
        });
        self.file.set(word::NUM_PKTS_LOADED, self.kept.len() as u32);
    }

    /// The next frame, if one is to go into the output queue.
    fn generate(&mut self) -> Option<Vec<u8>> {
        let most = self.file.get(word::ITERATIONS);
        let is_over = most != 0 && self.rounds >= most;
        let may_send = self.is_set(bit::RUN) && !self.is_blocked;
        if !may_send || is_over || self.ahead.len() >= AHEAD {
            return None;
        }
        let kept = self.kept.get(self.next)?;
        self.ahead.push_back(kept.gap);
        let frame = kept.frame.clone();
        self.next += 1;
        if self.next == self.kept.len() {
            self.next = 0;
            self.rounds = self.rounds.wrapping_add(1);
        }
        self.file.count(word::NUM_PKTS_GENERATED);
        Some(frame)
    }

    fn write(&mut self, at: usize, value: u32) {
        let was_running = self.is_set(bit::RUN);
        self.file.write(at, value);
        if at != word::CTRL {
            return;
        }
        if self.is_set(bit::FORGET) {
            self.kept.clear();
            self.bytes = 0;
            self.file.set(word::NUM_PKTS_LOADED, 0);
            // The bit is a pulse.
            self.file
                .set(word::CTRL, self.file.get(word::CTRL) & !bit::FORGET);
        }
        self.is_blocked = false;
        if !was_running || self.next >= self.kept.len() {
            (self.next, self.rounds) = (0, 0);
        }
    }
}

#[derive(Debug)]
struct Generator {
    ports: [Port; PORTS],
    /// When the frame came that was looked up last, where it is captured.
    stamp: Option<[u8; 8]>,
}

impl Lookup for Generator {
    fn look_up(&mut self, from: Queue, frame: &mut [u8], now: Time) -> Queues {
        let port = &mut self.ports[from.port()];
        if from.is_cpu() && port.is_set(bit::LOAD) {
            port.load(frame);
            return Queues::NONE;
        }
        if !from.is_cpu() && port.is_set(bit::CAPTURE) {
            self.stamp = Some(now.as_ns().to_be_bytes());
            port.file.count(word::NUM_PKTS_CAPTURED);
        }
        Queues::one(from.pair())
    }

    fn trailer(&mut self) -> Option<[u8; 8]> {
        self.stamp.take()
    }

    fn read(&self, address: u32) -> Option<u32> {
        let (port, at) = place(&word::BLOCK, address)?;
        Some(self.ports[port].file.get(at))
    }

    fn write(&mut self, address: u32, value: u32) -> bool {
        let place = place(&word::BLOCK, address);
        if let Some((port, at)) = place {
            self.ports[port].write(at, value);
        }
        place.is_some()
    }

    fn happened(&mut self, what: Happened, queue: Queue, _words: u32, _now: Time) {
        let port = &mut self.ports[queue.port()];
        match what {
            Happened::Removed if !queue.is_cpu() => {
                port.gap = port.ahead.pop_front().unwrap_or(Span::ZERO);
                port.is_blocked = false;
            }
            Happened::Dropped if !queue.is_cpu() => {
                port.ahead.pop_back();
                port.is_blocked = true;
            }
            _ => (),
        }
    }

    fn spacing(&mut self, port: usize, _bytes: usize) -> Span {
        std::mem::take(&mut self.ports[port].gap)
    }

    fn own_frame(&mut self) -> Option<(Queues, Vec<u8>)> {
        // The port that is least ahead comes first, so that none waits for another.
        let least = |port: &usize| self.ports[*port].ahead.len();
        let mut order = [0, 1, 2, 3];
        order.sort_by_key(least);
        order.into_iter().find_map(|port| {
            let frame = self.ports[port].generate()?;
            Some((Queues::one(Queue::mac(port)), frame))
        })
    }
}
