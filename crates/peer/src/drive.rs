//! A device, a clock and a host in a loop.
//!
//! The clock is the caller's: `trammel_io`'s on a real device, a number in tests. The application
//! is a closure that is asked once a round, after what came has been taken in and before what it
//! caused is sent.

use crate::codec::LARGEST_FRAME;
use crate::faults::Faults;
use crate::host::Host;
use std::io;
use trammel_core::time::{Span, Time};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Slots of the pool: what a batch in each direction holds, and as much again for what a device
/// keeps.
const SLOTS: usize = 256;
/// When a device that had no room is tried again.
const RETRY: Span = Span::from_us(100);

/// The time, and waiting for it.
pub trait Clock {
    /// Time since some instant of the run's beginning; never goes back.
    fn now(&mut self) -> Time;

    /// Returns at `until`, or before it as soon as `descriptor` can be read. May return earlier.
    fn wait(&mut self, descriptor: Option<i32>, until: Time) -> io::Result<()>;
}

/// What the application wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// To be asked again when something has happened, at this time at the latest.
    Until(Time),
    /// Nothing more.
    Done,
}

/// A host behind a device.
#[derive(Debug)]
pub struct Driver<D, C> {
    /// The host.
    pub host: Host,
    /// Faults of what comes.
    pub inward: Faults,
    /// Faults of what goes.
    pub outward: Faults,
    device: D,
    clock: C,
    pool: Pool,
    outgoing: Packets,
}

impl<D: Device, C: Clock> Driver<D, C> {
    /// `host` behind `device`, where frames meet `faults` on their ways in and out.
    pub fn new(host: Host, device: D, clock: C, faults: [Faults; 2]) -> Driver<D, C> {
        let [inward, outward] = faults;
        Driver {
            host,
            inward,
            outward,
            device,
            clock,
            pool: Pool::new(SLOTS, SLOTS),
            outgoing: Packets::new(),
        }
    }

    /// The time.
    pub fn now(&mut self) -> Time {
        self.clock.now()
    }

    /// Runs until the application is done, which is then told as true, or `deadline` has come. What
    /// the host had to say by then has been sent.
    pub fn run(
        &mut self,
        deadline: Time,
        mut application: impl FnMut(Time, &mut Host) -> Turn,
    ) -> io::Result<bool> {
        loop {
            let now = self.clock.now();
            let may_have_more = self.receive(now)?;
            self.host.on_timer(now);
            self.gather(now)?;
            let turn = application(now, &mut self.host);
            self.gather(now)?;
            self.device.transmit(&mut self.pool, &mut self.outgoing)?;
            self.device.flush(&mut self.pool)?;
            let Turn::Until(wanted) = turn else {
                return Ok(true);
            };
            if now >= deadline {
                return Ok(false);
            }
            if may_have_more {
                continue;
            }
            let mut until = wanted.min(deadline).min(self.host.next_timer());
            until = until.min(self.inward.next_release());
            until = until.min(self.outward.next_release());
            if !self.outgoing.is_empty() || self.device.unsent() > 0 {
                until = until.min(now + RETRY);
            }
            if until > now {
                self.clock.wait(self.device.descriptor(), until)?;
            }
        }
    }

    /// Takes in a batch, and after each frame what the host says to it: connections count on being
    /// asked at once. Says whether there may be more.
    fn receive(&mut self, now: Time) -> io::Result<bool> {
        let mut batch = Packets::new();
        self.device.receive(&mut self.pool, &mut batch)?;
        let is_full = batch.is_full();
        for packet in batch.drain() {
            let copies = self.inward.pass(now, self.pool[&packet].data_mut());
            for _ in 0..copies {
                self.host.on_frame(now, self.pool[&packet].data());
                self.gather(now)?;
            }
            self.pool.free(packet);
        }
        while let Some(frame) = self.inward.release(now) {
            self.host.on_frame(now, &frame);
            self.gather(now)?;
        }
        Ok(is_full)
    }

    /// Gathers what the host has to send, as far as the device has room for it.
    fn gather(&mut self, now: Time) -> io::Result<()> {
        let mut frame = [0; LARGEST_FRAME];
        while self.has_room()? {
            if let Some(held) = self.outward.release(now) {
                self.push(&held);
            } else if let Some(bytes) = self.host.poll_transmit(now, &mut frame) {
                for _ in 0..self.outward.pass(now, &mut frame[..bytes]) {
                    self.push(&frame[..bytes]);
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Whether a frame and its duplicate have room in the batch, if need be after the device has
    /// taken from it.
    fn has_room(&mut self) -> io::Result<bool> {
        if self.outgoing.room() < 2 {
            self.device.transmit(&mut self.pool, &mut self.outgoing)?;
        }
        Ok(self.outgoing.room() >= 2)
    }

    /// Adds a frame to the batch. One for which the pool has no room is lost, as it would be at an
    /// interface.
    fn push(&mut self, frame: &[u8]) {
        if let Some(packet) = self.pool.alloc_with(frame) {
            self.outgoing.push(packet);
        }
    }
}
