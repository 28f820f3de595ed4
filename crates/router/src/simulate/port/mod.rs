//! A network port in simulated time: two rings, a driver that costs cycles, and a link at its rate.
//!
//! ```text
//! link in -> [bus] -> receive ring -> driver -> FromDevice …
//! ToDevice -> driver -> transmit ring -> [bus] -> link out
//! ```
//! - Frames *come* when their last bit is in, by the plan of an [`Offer`], but no faster than the
//!   link carries them: a frame takes its length, 4 bytes of checksum and 20 of preamble and gap,
//!   84 bytes at least. A frame that finds the receive ring full is lost. A bus, where there is
//!   one, carries one frame at a time in each direction; a frame can be received when it is across.
//! - *Receiving* costs the driver cycles for each batch, frame and byte, or those of a poll in
//!   vain. The ring is filled when it is looked at, with everything that has come by then: nothing
//!   but the driver empties it, so that is the same as filling it frame by frame.
//! - *Sending* costs likewise. Frames are handed to the link at once or, where the driver gathers,
//!   at the flush. A descriptor is free again when its frame's last bit is out. A full ring takes
//!   nothing.
//! - A port that interrupts has a descriptor that can be read a latency after the first waiting
//!   frame came, and written while the transmit ring has room. One that is polled has none.
//!
//! A frame's arrival travels with the packet, and with its copies, as the annotation `PERFCTR`.
//! Latency is from the last bit in to the first bit out (RFC 1242 §3.8, store and forward).

mod counts;
mod driver;
mod inward;
mod link_time;
mod outward;
mod settings;

pub use counts::{Coming, Counts, Departure, Passage};
pub use settings::{Notice, Settings};

use super::offer::Offer;
use crate::engine::core_clock::Meter;
use driver::State;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trammel_core::time::{Span, Time};
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// A port that the simulation holds; the router has it as a device.
#[derive(Clone, Debug)]
pub struct Port(Arc<Mutex<State>>);

impl Port {
    /// A port whose driver charges by `meter`; the time of day at the start is `start`. `seed` is
    /// that of its chances.
    pub(super) fn new(settings: Settings, meter: Meter, start: Timestamp, seed: u64) -> Port {
        let state = State::new(settings, meter, start, seed);
        Port(Arc::new(Mutex::new(state)))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.lock().settings.name.clone()
    }

    /// Has frames come to it, besides those of offers before.
    pub fn offer(&self, offer: Offer) {
        self.lock().inward.offer(offer);
    }

    /// Has one frame come at `at`; one that is given later comes later.
    pub fn give(&self, at: Time, frame: Vec<u8>) {
        self.lock().inward.give(at, frame);
    }

    /// Frames may be given at any time, and what leaves is kept.
    pub fn open(&self) {
        let mut state = self.lock();
        state.is_open = true;
        state.outward.keep();
    }

    /// What was given to the link since the last call, in order; departures may lie ahead of the
    /// present.
    pub fn departures(&self) -> Vec<Departure> {
        self.lock().outward.departures()
    }

    /// Notes from now on when each frame comes, and when each that leaves came and left.
    pub fn note_passages(&self) {
        let mut state = self.lock();
        state.inward.note();
        state.outward.note();
    }

    /// What was noted of frames that came since the last call, in the order of coming; complete up
    /// to the last call of `counts`.
    pub fn comings(&self) -> Vec<Coming> {
        self.lock().inward.comings()
    }

    /// What was noted since the last call, in the order of leaving; complete up to the last call of
    /// `counts`.
    pub fn passages(&self) -> Vec<Passage> {
        self.lock().outward.passages()
    }

    /// What it has counted by `now`.
    pub fn counts(&self, now: Time) -> Counts {
        self.lock().counts_at(now)
    }

    /// The time a frame of so many bytes, without its checksum, takes on the link.
    pub fn on_link(&self, bytes: usize) -> Span {
        self.lock().on_link(bytes)
    }

    /// How many more frames the transmit ring has room for.
    pub fn transmit_room(&self) -> usize {
        self.lock().outward.room()
    }

    /// When the last frame of the transmit ring is out.
    pub(super) fn all_out(&self) -> Option<Time> {
        self.lock().outward.all_out()
    }

    /// Whether frames wait by now, for who waits on the descriptor.
    pub(super) fn is_readable(&self, now: Time) -> bool {
        let mut state = self.lock();
        state.admit(now);
        let latency = state.latency();
        let first = state.inward.first_there();
        first.is_some_and(|first| first.saturating_add(latency) <= now)
    }

    pub(super) fn is_writable(&self, now: Time) -> bool {
        let mut state = self.lock();
        state.retire(now);
        state.outward.room() > 0
    }

    /// When it can be read, at `now` at the earliest.
    pub(super) fn next_readable(&self, now: Time) -> Option<Time> {
        let mut state = self.lock();
        state.admit(now);
        let there = state.inward.next_there()?;
        Some(there.saturating_add(state.latency()).max(now))
    }

    /// When a router that polls it finds a frame.
    pub(super) fn next_polled(&self, now: Time) -> Option<Time> {
        let mut state = self.lock();
        state.admit(now);
        state.inward.next_there().map(|at| at.max(now))
    }

    /// When there is room to send.
    pub(super) fn next_writable(&self, now: Time) -> Option<Time> {
        let mut state = self.lock();
        state.retire(now);
        if state.outward.room() > 0 {
            return Some(now);
        }
        state.outward.first_free()
    }

    /// The port as the router sees it; `descriptor` is what it is waited on by, where it
    /// interrupts.
    pub(super) fn device(&self, descriptor: i32) -> SimulatedPort {
        let state = self.lock();
        let interrupts = matches!(state.settings.notice, Notice::Interrupt(_));
        SimulatedPort {
            name: state.settings.name.clone(),
            descriptor: interrupts.then_some(descriptor),
            port: self.clone(),
        }
    }
}

/// A port as a device of the router's.
#[derive(Debug)]
pub(super) struct SimulatedPort {
    name: String,
    descriptor: Option<i32>,
    port: Port,
}

impl Device for SimulatedPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        Ok(self.port.lock().receive(pool, into))
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        Ok(self.port.lock().transmit(pool, from))
    }

    fn flush(&mut self, _: &mut Pool) -> io::Result<()> {
        self.port.lock().flush();
        Ok(())
    }

    fn descriptor(&self) -> Option<i32> {
        self.descriptor
    }

    fn is_exhausted(&self) -> bool {
        let state = self.port.lock();
        !state.is_open && state.inward.is_over()
    }

    fn counters(&self) -> DeviceCounters {
        let state = self.port.lock();
        DeviceCounters {
            received: state.counts.received,
            sent: state.counts.sent,
            receive_drops: state.counts.lost,
            send_errors: 0,
        }
    }
}
