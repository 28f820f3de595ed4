//! A card as a value: frames in, frames out, registers.
//!
//! Nothing here takes time. A frame that is received is in its output queue at once, and stays
//! there until somebody takes it. When each step happens on a card is the engine's.

mod design;
mod pass;

pub use design::Design;

use crate::registers::{Registers, UNKNOWN};
use crate::stages::arbiter::Arbiter;
use crate::stages::cpu_queue::CpuQueues;
use crate::stages::ethernet::{Fcs, LEAST_BYTES};
use crate::stages::identity::Identity;
use crate::stages::lookup::{Happened, Lookup};
use crate::stages::mac_group::MacGroups;
use crate::stages::output_queues::{OutputQueues, words};
use crate::stages::phy::Phys;
use crate::stages::queue::{Queue, Queues};
use std::collections::VecDeque;
use trammel_core::time::{Span, Time};

/// Buffers that are kept for frames to come.
const SPARE_BUFFERS: usize = 1024;
/// Copies of the design's own frames that wait to be looked at; more are not made.
const MOST_COPIES: usize = 64;

/// A card with a design. Every frame that it receives is counted once: where it was refused, at the
/// lookup's decision, and where its output queue was full.
///
/// ```
/// use core::net::Ipv4Addr;
/// use trammel_netfpga::stages::{Fcs, Queue};
/// use trammel_netfpga::{Device, design, registers::Registers, tables};
///
/// let mut card = Device::new(design("reference-router")?);
/// // An ARP request, broadcast: not IPv4, so it is for the host.
/// let mut frame = vec![0xff; 6];
/// frame.extend([2, 0, 0, 0, 0, 1, 0x08, 0x06]);
/// card.receive(Queue::mac(2), &frame, Fcs::Good);
/// let mut received = Vec::new();
/// assert!(card.transmit(Queue::cpu(2), &mut received));
/// assert_eq!(received.len(), 60);
/// let counter = card.design().map().find("router_op_lut_num_non_ip_rcvd").unwrap();
/// assert_eq!(card.read(counter.address), 1);
/// # Ok::<(), trammel_netfpga::Error>(())
/// ```
#[derive(Debug)]
pub struct Device {
    design: &'static Design,
    identity: Identity,
    phys: Phys,
    macs: MacGroups,
    cpus: CpuQueues,
    arbiter: Arbiter,
    lookup: Box<dyn Lookup>,
    queues: OutputQueues,
    now: Time,
    spare: Vec<Vec<u8>>,
    /// Copies of frames of the design's own, where somebody wants them.
    own: Option<VecDeque<Vec<u8>>>,
}

impl Device {
    /// A card with `design`, just configured: tables empty, counters 0.
    pub fn new(design: &'static Design) -> Device {
        let texts = [design.name, design.title, design.summary];
        Device {
            design,
            identity: Identity::new(design.id, texts, &design.map()),
            phys: Phys::new(),
            macs: MacGroups::new(),
            cpus: CpuQueues::new(),
            arbiter: Arbiter::new(),
            lookup: (design.lookup)(),
            queues: OutputQueues::new(),
            now: Time::ZERO,
            spare: Vec::new(),
            own: None,
        }
    }

    /// Its design.
    pub fn design(&self) -> &'static Design {
        self.design
    }

    /// Sets the instant that designs with time stamps read.
    pub fn set_time(&mut self, now: Time) {
        self.now = now;
    }

    /// Sets what the PHY of `port`, 0 to 3, says of its link.
    pub fn set_link(&mut self, port: usize, is_up: bool) {
        self.phys.set_link(port, is_up);
    }

    /// Gives each output queue `bytes` of memory; with `reserve` bytes free it is full.
    pub(crate) fn limit_queues(&mut self, bytes: u64, reserve: u64) {
        self.queues.limit(bytes, reserve);
    }

    /// Has copies made of the frames that the design itself sends, such as recorded events, for
    /// [`Self::own_copy`].
    pub fn copy_own(&mut self) {
        self.own.get_or_insert_default();
    }

    /// The next copy of a frame that the design itself sent.
    pub fn own_copy(&mut self) -> Option<Vec<u8>> {
        self.own.as_mut()?.pop_front()
    }

    /// Takes `frame` in by `from`: from the line of a port, or from the host, whose frames have no
    /// check sequence whatever `fcs` says. The output queues that have it now; none where it was
    /// dropped.
    pub fn receive(&mut self, from: Queue, frame: &[u8], fcs: Fcs) -> Queues {
        let copy = self.copy(frame);
        let Some(mut frame) = self.accept(from, copy, fcs, true) else {
            return Queues::NONE;
        };
        let queues = self.look_up(from, &mut frame);
        let stored = self.store_all(queues, frame);
        self.send_own();
        stored
    }

    /// Stores `frame` in those of `queues` that have room: which these are.
    fn store_all(&mut self, mut queues: Queues, mut frame: Vec<u8>) -> Queues {
        let mut stored = Queues::NONE;
        while let Some(queue) = queues.pop() {
            if !self.admits(queue, frame.len()) {
                continue;
            }
            let copy = if queues == Queues::NONE {
                std::mem::take(&mut frame)
            } else {
                self.copy(&frame)
            };
            self.store(queue, copy);
            stored = stored.with(Queues::one(queue));
        }
        self.recycle(frame);
        stored
    }

    /// Puts the next frame that leaves by `queue` into `frame`: to the line of a port, without FCS,
    /// or to the host. False, and `frame` as it was, where none is there or the queue does not
    /// send.
    pub fn transmit(&mut self, queue: Queue, frame: &mut Vec<u8>) -> bool {
        while self.may_send(queue) {
            let Some(removed) = self.remove(queue) else {
                return false;
            };
            let is_sent = self.sent(queue, removed.len(), true);
            self.send_own();
            if is_sent {
                let before = std::mem::replace(frame, removed);
                self.recycle(before);
                return true;
            }
            self.recycle(removed);
        }
        false
    }

    /// The receive queue's part: the frame as the data path has it, if it is taken.
    pub(crate) fn accept(
        &mut self,
        from: Queue,
        mut frame: Vec<u8>,
        fcs: Fcs,
        has_room: bool,
    ) -> Option<Vec<u8>> {
        let Some(bytes) = self.admitted(from, &frame, fcs, has_room) else {
            self.recycle(frame);
            return None;
        };
        // What was taken is the frame's beginning; a short one is padded with zeros.
        frame.truncate(bytes);
        if bytes < LEAST_BYTES {
            frame.resize(LEAST_BYTES, 0);
        }
        self.received(from, frame.len());
        Some(frame)
    }

    /// How many bytes of `frame` the receive queue takes, if it takes it.
    fn admitted(&mut self, from: Queue, frame: &[u8], fcs: Fcs, has_room: bool) -> Option<usize> {
        let body = if from.is_cpu() {
            self.cpus.receive(from.port(), frame, has_room)
        } else {
            self.macs.receive(from.port(), frame, fcs, has_room)
        };
        body.map(<[u8]>::len)
    }

    /// The receive queue took a frame of `bytes`.
    fn received(&mut self, from: Queue, bytes: usize) {
        if from.is_cpu() {
            self.cpus.received(from.port(), bytes);
        } else {
            self.macs.received(from.port(), bytes);
        }
    }

    /// What the arbiter and the lookup do with a frame that was accepted.
    pub(crate) fn look_up(&mut self, from: Queue, frame: &mut Vec<u8>) -> Queues {
        let (queues, trailer) = self.decide(from, frame);
        frame.extend(trailer.into_iter().flatten());
        queues
    }

    /// As [`Self::look_up`]; the second is what is to be put behind the frame.
    fn decide(&mut self, from: Queue, frame: &mut [u8]) -> (Queues, Option<[u8; 8]>) {
        if from.is_cpu() {
            self.cpus.dequeued(from.port());
        } else {
            self.macs.dequeued(from.port());
        }
        self.arbiter.pass(from, frame);
        let queues = self.lookup.look_up(from, frame, self.now);
        (queues, self.lookup.trailer())
    }

    /// Whether `queue` has room for a frame of `bytes`; it is dropped there if not.
    pub(crate) fn admits(&mut self, queue: Queue, bytes: usize) -> bool {
        let has_room = self.queues.admits(queue, bytes);
        if !has_room {
            let words = words(bytes);
            self.lookup
                .happened(Happened::Dropped, queue, words, self.now);
        }
        has_room
    }

    /// Stores `frame` in `queue`, which has room.
    pub(crate) fn store(&mut self, queue: Queue, frame: Vec<u8>) {
        let words = words(frame.len());
        self.queues.store(queue, frame);
        self.lookup
            .happened(Happened::Stored, queue, words, self.now);
    }

    /// Whether frames may leave `queue`.
    pub(crate) fn may_send(&self, queue: Queue) -> bool {
        let port = queue.port();
        let is_on = if queue.is_cpu() {
            self.cpus.may_send(port)
        } else {
            self.macs.may_send(port)
        };
        is_on && self.queues.may_send(queue)
    }

    /// The queues that have frames.
    pub fn filled(&self) -> Queues {
        self.queues.filled()
    }

    /// How many frames are in `queue`.
    pub(crate) fn waiting(&self, queue: Queue) -> usize {
        self.queues.waiting(queue)
    }

    /// Takes the first frame out of `queue`.
    pub(crate) fn remove(&mut self, queue: Queue) -> Option<Vec<u8>> {
        let frame = self.queues.remove(queue)?;
        let words = words(frame.len());
        self.lookup
            .happened(Happened::Removed, queue, words, self.now);
        Some(frame)
    }

    /// A frame of `bytes` from `queue` leaves the card; whether it gets there, `has_room` being
    /// whether the host has.
    pub(crate) fn sent(&mut self, queue: Queue, bytes: usize, has_room: bool) -> bool {
        if queue.is_cpu() {
            self.cpus.send(queue.port(), bytes, has_room);
            has_room
        } else {
            self.macs.send(queue.port(), bytes)
        }
    }

    /// From the start of the frame of `bytes` that `port` sends now to that of the next, at least.
    pub fn spacing(&mut self, port: usize, bytes: usize) -> Span {
        self.lookup.spacing(port, bytes)
    }

    /// A frame that the lookup itself sends.
    pub(crate) fn own_frame(&mut self) -> Option<(Queues, Vec<u8>)> {
        self.lookup.own_frame()
    }

    /// Writes a register.
    pub(crate) fn set(&mut self, address: u32, value: u32) {
        self.lookup.set_time(self.now);
        let _ = self.queues.write(address, value)
            || self.lookup.write(address, value)
            || self.macs.write(address, value)
            || self.cpus.write(address, value)
            || self.arbiter.write(address, value)
            || self.phys.write(address, value);
    }

    /// Stores what the lookup itself has to send.
    fn send_own(&mut self) {
        while let Some((mut queues, frame)) = self.own_frame() {
            if let Some(own) = &mut self.own
                && own.len() < MOST_COPIES
            {
                own.push_back(frame.clone());
            }
            while let Some(queue) = queues.pop() {
                if self.admits(queue, frame.len()) {
                    let copy = self.copy(&frame);
                    self.store(queue, copy);
                }
            }
        }
    }

    /// `bytes` in a buffer of their own.
    pub(crate) fn copy(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        buffer
    }

    /// Takes a buffer back.
    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() > 0 && self.spare.len() < SPARE_BUFFERS {
            self.spare.push(buffer);
        }
    }
}

impl Registers for Device {
    fn read(&mut self, address: u32) -> u32 {
        None.or_else(|| self.queues.read(address))
            .or_else(|| self.lookup.read(address))
            .or_else(|| self.macs.read(address))
            .or_else(|| self.cpus.read(address))
            .or_else(|| self.arbiter.read(address))
            .or_else(|| self.phys.read(address))
            .or_else(|| self.identity.read(address))
            .unwrap_or(UNKNOWN)
    }

    fn write(&mut self, address: u32, value: u32) {
        self.set(address, value);
        self.send_own();
    }
}
