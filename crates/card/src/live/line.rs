//! A device of the kernel's at one of the card's queues.

use crate::service::Waits;
use std::io;
use trammel_core::{Span, Time};
use trammel_netfpga::Device as Design;
use trammel_netfpga::stages::Queue;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::{Handle, Pool};

/// Frames that are gathered before they are handed over to the kernel.
const GATHER: usize = 128;

/// Batches of one line before others have their turn.
const MOST_BATCHES: usize = 8;
/// How late a frame may be that had to wait for its time, and the next still leave at theirs.
const CATCH_UP: Span = Span::from_ms(1);

/// What became of a line's turn to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The card has nothing for it.
    IsEmpty,
    /// The device has no room, or it is not time yet.
    HasToWait,
    /// Others have their turn first.
    HasMore,
}

/// A port with its interface, or a host interface with its TAP.
#[derive(Debug)]
pub(super) struct Line {
    /// The queue of the card.
    pub(super) queue: Queue,
    device: Box<dyn Device>,
    /// Frames that the device had no room for yet.
    going: Packets,
    gathered: usize,
    /// Until then no frame leaves.
    not_before: Time,
}

impl Line {
    pub(super) fn new(queue: Queue, device: Box<dyn Device>) -> Line {
        Line {
            queue,
            device,
            going: Packets::new(),
            gathered: 0,
            not_before: Time::ZERO,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.device.name()
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        self.device.remarks()
    }

    /// Puts what has come into `came`. How many frames those are.
    pub(super) fn receive(&mut self, pool: &mut Pool, came: &mut Packets) -> io::Result<usize> {
        self.device.receive(pool, came)
    }

    /// Whether it takes a frame at `now`.
    pub(super) fn is_ready(&self, now: Time) -> bool {
        self.not_before <= now && !self.going.is_full()
    }

    /// Takes a frame that left the card where it lay; the line is ready.
    pub(super) fn pass(
        &mut self,
        now: Time,
        packet: Handle,
        card: &mut Design,
        pool: &mut Pool,
    ) -> io::Result<()> {
        self.pace(now, card, pool[&packet].len());
        self.going.push(packet);
        if self.going.is_full() {
            self.send(pool)?;
        }
        Ok(())
    }

    /// Sends what the card has for it, as far as there is room and it is time.
    pub(super) fn transmit(
        &mut self,
        now: Time,
        card: &mut Design,
        pool: &mut Pool,
        frame: &mut Vec<u8>,
    ) -> io::Result<State> {
        let (mut state, mut has_any) = (State::HasMore, false);
        for _ in 0..MOST_BATCHES {
            while !self.going.is_full() && state == State::HasMore {
                state = self.take(now, card, pool, frame);
            }
            if self.going.is_empty() {
                break;
            }
            has_any = true;
            self.send(pool)?;
            if !self.going.is_empty() {
                return Ok(State::HasToWait);
            }
            if state != State::HasMore {
                break;
            }
        }
        // What left may have made the design send frames of its own.
        let is_done = state == State::IsEmpty && !has_any;
        Ok(if state == State::HasToWait || is_done {
            state
        } else {
            State::HasMore
        })
    }

    /// Takes the card's next frame.
    fn take(
        &mut self,
        now: Time,
        card: &mut Design,
        pool: &mut Pool,
        frame: &mut Vec<u8>,
    ) -> State {
        if self.not_before > now {
            return State::HasToWait;
        }
        if !card.transmit(self.queue, frame) {
            return State::IsEmpty;
        }
        self.pace(now, card, frame.len());
        // Where every packet is on its way, the frame is lost as one on a line.
        if let Some(packet) = pool.alloc_with(frame) {
            self.going.push(packet);
        }
        State::HasMore
    }

    /// A frame of `bytes` leaves at `now`: when the next one may.
    fn pace(&mut self, now: Time, card: &mut Design, bytes: usize) {
        if self.queue.is_cpu() {
            return;
        }
        let spacing = card.spacing(self.queue.port(), bytes);
        if spacing > Span::ZERO {
            // Who is a little late catches up, so that the rate is right.
            let earliest = now.saturating_sub(CATCH_UP);
            self.not_before = self.not_before.max(earliest).saturating_add(spacing);
        }
    }

    /// When a frame that has to wait for its time may leave.
    pub(super) fn next_timeout(&self, now: Time) -> Option<Time> {
        (self.not_before > now).then_some(self.not_before)
    }

    /// Has a copy of `frame` sent, if there is room.
    pub(super) fn copy(&mut self, pool: &mut Pool, frame: &[u8]) {
        if !self.going.is_full()
            && let Some(packet) = pool.alloc_with(frame)
        {
            self.going.push(packet);
        }
    }

    /// Sends what has to go, as far as there is room; hands it over where enough is gathered, or
    /// there is no room.
    pub(super) fn send(&mut self, pool: &mut Pool) -> io::Result<()> {
        if !self.going.is_empty() {
            self.gathered += self.device.transmit(pool, &mut self.going)?;
            if self.gathered >= GATHER || !self.going.is_empty() {
                self.flush(pool)?;
            }
        }
        Ok(())
    }

    /// Hands over to the kernel what was gathered.
    pub(super) fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        if self.gathered > 0 || self.device.unsent() > 0 {
            self.gathered = 0;
            self.device.flush(pool)?;
        }
        Ok(())
    }

    /// What is to be waited for.
    pub(super) fn waits(&self, waits: &mut Waits) {
        waits.readable.extend(self.device.descriptor());
        if !self.going.is_empty() || self.device.unsent() > 0 {
            waits.writable.extend(self.device.send_descriptor());
        }
    }

    /// Gives every packet back.
    pub(super) fn close(&mut self, pool: &mut Pool) {
        self.going.drain().for_each(|packet| pool.free(packet));
        self.device.close(pool);
    }
}
