//! The bytes of the frames that are in a card, in the order in which the engine moves them.
//!
//! Frames pass each other nowhere but at the arbiter, so each queue of the engine has one here with
//! the bytes, and neither needs to know which frame it is.

use crate::device::Device;
use crate::engine::contents::{Arrived, Contents};
use crate::engine::frame::{Clock, Frame};
use crate::outcome::Fate;
use crate::params::{FCS_BYTES, Params};
use crate::stages::{Fcs, PORTS, Queue, Queues};
use std::collections::VecDeque;
use trammel_core::time::Time;

use super::Departure;

/// 200 days of the 213 that 64 bits of picoseconds hold; later instants count as this one.
const LATEST: Time = Time::from_secs(200 * 86_400);

/// A frame that was offered.
#[derive(Debug)]
struct Offered {
    due: u64,
    bytes: Vec<u8>,
    fcs: Fcs,
}

/// A frame that is on its way out.
#[derive(Debug)]
struct Leaving {
    arrived: u64,
    left: u64,
    bytes: Vec<u8>,
}

/// The bytes, and the device that works on them.
#[derive(Debug)]
pub(super) struct Cargo {
    pub(super) device: Device,
    /// By input.
    offered: [VecDeque<Offered>; 2 * PORTS],
    received: [VecDeque<Vec<u8>>; 2 * PORTS],
    /// The frame that passed the lookup last, and where it is still to be written.
    looked_up: Vec<u8>,
    copies: Queues,
    /// Frames that the lookup itself sends, and the cycle since which each waits.
    own: VecDeque<(u64, Queues, Vec<u8>)>,
    /// The frame that was read last.
    removed: Option<Vec<u8>>,
    /// By output queue.
    leaving: [VecDeque<Leaving>; 2 * PORTS],
    clock: Clock,
    now_ps: u64,
    horizon: u64,
    postponed: Option<u64>,
}

/// The input of `queue`: ports come first.
fn input(queue: Queue) -> usize {
    queue.port() + if queue.is_cpu() { PORTS } else { 0 }
}

/// The queue of an input.
fn queue_of(input: usize) -> Queue {
    if input < PORTS {
        Queue::mac(input)
    } else {
        Queue::cpu(input - PORTS)
    }
}

impl Cargo {
    pub(super) fn new(device: Device, params: &Params) -> Cargo {
        Cargo {
            device,
            offered: Default::default(),
            received: Default::default(),
            looked_up: Vec::new(),
            copies: Queues::NONE,
            own: VecDeque::new(),
            removed: None,
            leaving: Default::default(),
            clock: Clock::new(params.clock_ps),
            now_ps: 0,
            horizon: 0,
            postponed: None,
        }
    }

    pub(super) fn now(&self) -> Time {
        Time::from_ps(self.now_ps)
    }

    /// The cycle that now lies in.
    pub(super) fn cycle(&self) -> u64 {
        self.horizon
    }

    pub(super) fn offer(&mut self, at: Time, from: Queue, frame: &[u8], fcs: Fcs) {
        let bytes = self.device.copy(frame);
        let offered = &mut self.offered[input(from)];
        let earliest = offered.back().map_or(self.now_ps, |last| last.due);
        let due = at.min(LATEST).as_ps().max(earliest);
        offered.push_back(Offered { due, bytes, fcs });
    }

    /// Moves now to `until`; false where it is not later.
    pub(super) fn reach(&mut self, until: Time) -> bool {
        let until = until.min(LATEST).as_ps();
        let is_later = until > self.now_ps;
        if is_later {
            self.now_ps = until;
            self.horizon = self.clock.cycle(self.now_ps);
        }
        is_later
    }

    /// Writes a register now.
    pub(super) fn write(&mut self, address: u32, value: u32) {
        self.device.set_time(self.now());
        self.device.set(address, value);
        self.collect_own(self.horizon);
    }

    /// Keeps what the lookup sends, since the cycle `at`.
    fn collect_own(&mut self, at: u64) {
        while let Some((queues, frame)) = self.device.own_frame() {
            self.own.push_back((at, queues, frame));
        }
    }

    /// Whether `queue` sends, and how many frames are in it.
    pub(super) fn state(&self, queue: Queue) -> (bool, usize) {
        (self.device.may_send(queue), self.device.waiting(queue))
    }

    /// The first after now of: a frame leaves, one comes in, the engine's cycle `inside`.
    pub(super) fn next_event(&self, inside: Option<u64>) -> Option<Time> {
        let leaving = self.leaving.iter().filter_map(|queue| queue.front());
        let offered = self.offered.iter().filter_map(|queue| queue.front());
        let inside = inside.map(|cycle| cycle.saturating_mul(self.clock.period_ps));
        (leaving.map(|frame| frame.left))
            .chain(offered.map(|frame| frame.due))
            .chain(inside)
            .filter(|ps| *ps > self.now_ps)
            .min()
            .map(Time::from_ps)
    }

    pub(super) fn take(&mut self, frame: &mut Vec<u8>) -> Option<Departure> {
        let fronts = self.leaving.iter().enumerate();
        let (_, queue) = fronts
            .filter_map(|(queue, frames)| Some((frames.front()?.left, queue)))
            .min()
            .filter(|(left, _)| *left <= self.now_ps)?;
        let leaving = self.leaving[queue].pop_front()?;
        let before = std::mem::replace(frame, leaving.bytes);
        self.device.recycle(before);
        Some(Departure {
            queue: Queue::ALL[queue],
            arrived: Time::from_ps(leaving.arrived),
            left: Time::from_ps(leaving.left),
        })
    }

    fn set_cycle(&mut self, at: u64) {
        let now = at.saturating_mul(self.clock.period_ps);
        self.device.set_time(Time::from_ps(now));
    }
}

impl Contents for Cargo {
    const ARE_THERE: bool = true;

    fn horizon(&self) -> u64 {
        self.horizon
    }

    fn due(&self, input: usize) -> Option<u64> {
        let first = self.offered[input].front()?;
        (first.due <= self.now_ps).then_some(first.due)
    }

    fn arrive(&mut self, input: usize, _start: u64, has_room: bool) -> Arrived {
        let Some(Offered { bytes, fcs, .. }) = self.offered[input].pop_front() else {
            return Arrived {
                line_bytes: 0,
                taken: None,
            };
        };
        let fcs_bytes = if fcs == Fcs::Present { 0 } else { FCS_BYTES };
        let line_bytes = (bytes.len() as u64 + fcs_bytes).max(64);
        let taken = self.device.accept(queue_of(input), bytes, fcs, has_room);
        let with_fcs = taken
            .as_ref()
            .map(|taken| taken.len() as u16 + FCS_BYTES as u16);
        self.received[input].extend(taken);
        Arrived {
            line_bytes,
            taken: with_fcs,
        }
    }

    fn own_since(&self) -> Option<u64> {
        self.own.front().map(|(since, ..)| *since)
    }

    fn take_own(&mut self) -> Option<(u16, u8)> {
        let (_, queues, frame) = self.own.pop_front()?;
        let bytes = frame.len() as u16 + FCS_BYTES as u16;
        self.copies = queues;
        let before = std::mem::replace(&mut self.looked_up, frame);
        self.device.recycle(before);
        Some((bytes, self.next_copy()?))
    }

    fn resume(&mut self) -> Option<u64> {
        self.postponed.take()
    }

    fn spacing_ps(&mut self, port: usize) -> u64 {
        let bytes = self.removed.as_ref().map_or(0, Vec::len);
        self.device.spacing(port, bytes).as_ps()
    }

    fn look_up(&mut self, input: usize, start: u64) -> Option<u8> {
        let mut frame = self.received[input].pop_front()?;
        self.device.set_time(Time::from_ps(start));
        self.copies = self.device.look_up(queue_of(input), &mut frame);
        let before = std::mem::replace(&mut self.looked_up, frame);
        self.device.recycle(before);
        self.next_copy()
    }

    fn next_copy(&mut self) -> Option<u8> {
        self.copies.pop().map(|queue| queue.number() as u8)
    }

    fn admits(&mut self, queue: u8, at: u64) -> bool {
        self.set_cycle(at);
        let queue = Queue::ALL[usize::from(queue)];
        let has_room = self.device.admits(queue, self.looked_up.len());
        self.collect_own(at);
        has_room
    }

    fn store(&mut self, queue: u8, at: u64) {
        self.set_cycle(at);
        let frame = if self.copies == Queues::NONE {
            std::mem::take(&mut self.looked_up)
        } else {
            self.device.copy(&self.looked_up)
        };
        self.device.store(Queue::ALL[usize::from(queue)], frame);
        self.collect_own(at);
    }

    fn remove(&mut self, queue: usize, at: u64) {
        self.set_cycle(at);
        self.removed = self.device.remove(Queue::ALL[queue]);
        self.collect_own(at);
    }

    fn ended(&mut self, frame: &Frame, fate: Fate, end: u64) {
        // A frame that was dropped before was never removed.
        let Some(bytes) = self.removed.take() else {
            return;
        };
        let queue = Queue::ALL[usize::from(frame.queue)];
        let has_room = fate != Fate::DroppedAtHost;
        if self.device.sent(queue, bytes.len(), has_room) {
            self.leaving[queue.number()].push_back(Leaving {
                arrived: frame.start,
                left: end,
                bytes,
            });
        } else {
            self.device.recycle(bytes);
        }
    }

    fn may_send(&self, queue: usize) -> bool {
        self.device.may_send(Queue::ALL[queue])
    }

    fn postpone(&mut self, done: u64) {
        self.postponed = Some(done);
    }
}
