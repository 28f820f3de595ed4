//! A network port in simulated time: two rings, a driver that costs cycles, and a link at its rate.
//!
//! ```text
//! link in -> [bus] -> receive ring -> driver -> FromDevice … ToDevice -> driver -> transmit ring -> [bus] -> link out
//! ```
//! - Frames *come* when their last bit is in, by the plan of an [`Offer`], but no faster than the link carries
//!   them: a frame takes its length, 4 bytes of checksum and 20 of preamble and gap, 84 bytes at least. A frame
//!   that finds the receive ring full is lost. A bus, where there is one, carries one frame at a time in each
//!   direction; a frame can be received when it is across.
//! - *Receiving* costs the driver cycles for each batch, frame and byte, or those of a poll in vain. The ring is
//!   filled when it is looked at, with everything that has come by then: nothing but the driver empties it, so
//!   that is the same as filling it frame by frame.
//! - *Sending* costs likewise. Frames are handed to the link at once or, where the driver gathers, at the flush.
//!   A descriptor is free again when its frame's last bit is out. A full ring takes nothing.
//! - A port that interrupts has a descriptor that can be read a latency after the first waiting frame came, and
//!   written while the transmit ring has room. One that is polled has none.
//!
//! A frame's arrival travels with the packet, and with its copies, as the annotation `PERFCTR`. Latency is from the
//! last bit in to the first bit out (RFC 1242 §3.8, store and forward).

use super::offer::{Arrivals, Offer};
use crate::engine::core_clock::{Cost, Meter};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trammel_core::histogram::Histogram;
use trammel_core::time::Time;
use trammel_core::units::{Rate, TxTime};
use trammel_packet::anno::PERFCTR;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// Bytes of the checksum that a frame has on the link, of its preamble and of the gap behind it.
const LINK_OVERHEAD: u64 = 4 + 8 + 12;
/// The shortest frame with these.
const LEAST_ON_LINK: u64 = 84;

/// How the router learns that frames have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It asks.
    Polled,
    /// It is told, so long after the first frame came: the moderation of interrupts and the way to the program.
    Interrupt(Time),
}

/// What a port is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name that configurations call it by.
    pub name: String,
    /// The link's rate, both ways.
    pub rate: Rate,
    /// Frames that wait to be received, at most; at least 1.
    pub receive_ring: usize,
    /// Frames that wait to be sent, at most; at least 1.
    pub transmit_ring: usize,
    /// Frames that the driver gives at a time, at most; at least 1.
    pub batch: usize,
    /// How the router learns of frames.
    pub notice: Notice,
    /// The rate of the bus between port and memory, each way; none where it does not count.
    pub bus: Option<Rate>,
    /// What receiving costs: `call` each batch, `empty` each poll in vain.
    pub receive: Cost,
    /// What sending costs: `call` each time that frames are given to it, `empty` where it took none.
    pub transmit: Cost,
    /// What it costs to tell the port of new frames, in cycles.
    pub flush_cycles: f64,
    /// Whether frames wait for that, rather than going at once.
    pub gathers: bool,
}

impl Settings {
    /// A polled port with rings of 512 frames, whose driver costs nothing.
    pub fn ideal(name: &str, rate: Rate) -> Settings {
        Settings {
            name: name.to_owned(),
            rate,
            receive_ring: 512,
            transmit_ring: 512,
            batch: usize::MAX,
            notice: Notice::Polled,
            bus: None,
            receive: Cost::NONE,
            transmit: Cost::NONE,
            flush_cycles: 0.0,
            gathers: false,
        }
    }

    /// What is wrong with it.
    pub fn fault(&self) -> Option<String> {
        let flush = Cost::per_packet(self.flush_cycles);
        let fault = if self.rate.as_bps() == 0 || self.bus.is_some_and(|bus| bus.as_bps() == 0) {
            Some("a rate of 0 carries nothing; give one above 0".to_owned())
        } else if self.receive_ring == 0 || self.transmit_ring == 0 {
            Some("a ring of 0 frames holds nothing; give one of 1 at least".to_owned())
        } else if self.batch == 0 {
            Some("batches of 0 frames bring nothing; give 1 at least".to_owned())
        } else {
            (self.receive.fault())
                .or_else(|| self.transmit.fault())
                .or_else(|| {
                    flush
                        .fault()
                        .map(|_| "`flush` must be from 0 to 1e12 cycles".to_owned())
                })
        };
        fault.map(|fault| format!("port `{}`: {fault}", self.name))
    }
}

/// Frames yet to come.
struct Stream {
    frames: Vec<Vec<u8>>,
    /// The frame that comes next.
    turn: usize,
    next: Option<Time>,
    arrivals: Arrivals,
}

/// A frame in the receive ring.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    came: Time,
    /// When it is across the bus.
    is_there: Time,
    stream: u32,
    frame: u32,
}

/// A frame on its way out.
#[derive(Clone, Debug)]
struct Leaving {
    bytes: u64,
    /// When it came, where it came by a simulated port.
    came: Option<Time>,
    /// The bits of its first and its last on the link; zero while it is gathered.
    first_out: Time,
    last_out: Time,
}

/// A frame that has been given to the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When its last bit is out.
    pub at: Time,
    /// Its bytes.
    pub frame: Vec<u8>,
}

/// What a port counted.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Frames that came to it.
    pub offered: u64,
    /// When the last of them came.
    pub last_offered: Time,
    /// Those that found the ring full.
    pub lost: u64,
    /// Those that are in the ring.
    pub in_receive_ring: u64,
    /// Those that the router took.
    pub received: u64,
    /// Times that it took any.
    pub batches: u64,
    /// Times that it asked in vain.
    pub polls: u64,
    /// Frames that the router gave it.
    pub accepted: u64,
    /// Those that are in the transmit ring.
    pub in_transmit_ring: u64,
    /// Those that are out.
    pub sent: u64,
    /// Their bytes, without checksums.
    pub sent_bytes: u64,
    /// From last bit in to first bit out, of frames that are out and came by a simulated port, in picoseconds.
    pub latency: Histogram,
    /// When the last bit of the last frame was out.
    pub last_sent: Time,
    /// What the driver took: with frames, and polling in vain.
    pub driver: Time,
    /// See `driver`.
    pub polling: Time,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            offered: 0,
            last_offered: Time::ZERO,
            lost: 0,
            in_receive_ring: 0,
            received: 0,
            batches: 0,
            polls: 0,
            accepted: 0,
            in_transmit_ring: 0,
            sent: 0,
            sent_bytes: 0,
            latency: Histogram::of_times(),
            last_sent: Time::ZERO,
            driver: Time::ZERO,
            polling: Time::ZERO,
        }
    }
}

impl Counts {
    /// Frames that the router took at a time, on average.
    pub fn mean_batch(&self) -> Option<f64> {
        (self.batches > 0).then(|| self.received as f64 / self.batches as f64)
    }
}

/// A port's state.
struct State {
    settings: Settings,
    meter: Meter,
    link: TxTime,
    bus: Option<TxTime>,
    start: Timestamp,
    streams: Vec<Stream>,
    /// Frames given one by one, as stream [`GIVEN`]; those that come, and those that are in the ring.
    given: VecDeque<(Time, Vec<u8>)>,
    given_in_ring: VecDeque<Vec<u8>>,
    /// More may be given.
    is_open: bool,
    ring: VecDeque<Waiting>,
    last_came: Option<Time>,
    bus_in_free: Time,
    gathered: VecDeque<Leaving>,
    leaving: VecDeque<Leaving>,
    link_free: Time,
    bus_out_free: Time,
    /// Frames for who asks for them; none where nobody does.
    departures: Option<Vec<Departure>>,
    gathered_frames: Vec<Vec<u8>>,
    counts: Counts,
}

/// The stream of frames that were given one by one.
const GIVEN: u32 = u32::MAX;

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl State {
    /// The time that a frame takes on the link.
    fn on_link(&self, bytes: usize) -> Time {
        self.link
            .of((bytes as u64 + LINK_OVERHEAD).max(LEAST_ON_LINK))
    }

    /// Who comes next, and when its last bit is in.
    fn next_in(&self) -> Option<(u32, Time)> {
        let mut first: Option<(u32, Time)> = self.given.front().map(|(at, _)| (GIVEN, *at));
        for (number, stream) in self.streams.iter().enumerate() {
            if let Some(at) = stream
                .next
                .filter(|at| first.is_none_or(|(_, least)| *at < least))
            {
                first = Some((number as u32, at));
            }
        }
        let (number, at) = first?;
        let bytes = match number {
            GIVEN => self.given[0].1.len(),
            _ => {
                let stream = &self.streams[number as usize];
                stream.frames[stream.turn].len()
            }
        };
        let earliest = self
            .last_came
            .map_or(Time::ZERO, |last| last + self.on_link(bytes));
        Some((number, at.max(earliest)))
    }

    /// Takes in what has come by `now`.
    fn admit(&mut self, now: Time) {
        while let Some((number, at)) = self.next_in().filter(|(_, at)| *at <= now) {
            self.last_came = Some(at);
            self.counts.offered += 1;
            self.counts.last_offered = at;
            let has_room = self.ring.len() < self.settings.receive_ring;
            let mut frame = 0;
            let bytes = if number == GIVEN {
                let Some((_, bytes)) = self.given.pop_front() else {
                    return;
                };
                let count = bytes.len();
                if has_room {
                    self.given_in_ring.push_back(bytes);
                }
                count
            } else {
                let stream = &mut self.streams[number as usize];
                frame = stream.turn;
                stream.turn = (frame + 1) % stream.frames.len();
                // Arrivals ascend; where a caller's do not, the late one comes at once.
                stream.next = stream.arrivals.next().map(|next| next.max(at));
                stream.frames[frame].len()
            };
            if !has_room {
                self.counts.lost += 1;
                continue;
            }
            let is_there = match self.bus {
                Some(bus) => {
                    self.bus_in_free = self.bus_in_free.max(at) + bus.of(bytes as u64);
                    self.bus_in_free
                }
                None => at,
            };
            self.ring.push_back(Waiting {
                came: at,
                is_there,
                stream: number,
                frame: frame as u32,
            });
        }
    }

    /// When the first frame that waits, or the next that comes, can be received.
    fn next_there(&self) -> Option<Time> {
        match self.ring.front() {
            Some(first) => Some(first.is_there),
            None => self.next_in().map(|(number, at)| {
                let bytes = match number {
                    GIVEN => self.given[0].1.len(),
                    _ => {
                        let stream = &self.streams[number as usize];
                        stream.frames[stream.turn].len()
                    }
                };
                let across = self.bus.map_or(Time::ZERO, |bus| bus.of(bytes as u64));
                self.bus_in_free.max(at) + across
            }),
        }
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> usize {
        let now = self.meter.clock().now();
        self.admit(now);
        let (mut count, mut bytes) = (0, 0);
        while !into.is_full() && count < self.settings.batch {
            let Some(first) = self.ring.front().filter(|first| first.is_there <= now) else {
                break;
            };
            let data = match first.stream {
                GIVEN => self.given_in_ring.front(),
                number => Some(&self.streams[number as usize].frames[first.frame as usize]),
            };
            let Some(handle) = data.and_then(|data| pool.alloc_with(data)) else {
                break;
            };
            let packet = &mut pool[&handle];
            packet.set_timestamp(self.start + Timestamp(first.came.as_ns() as i64));
            // One more than the time: nothing is none.
            packet.set_anno_bytes(PERFCTR, (first.came.as_ps() + 1).to_ne_bytes());
            bytes += packet.len();
            if first.stream == GIVEN {
                self.given_in_ring.pop_front();
            }
            self.ring.pop_front();
            into.push(handle);
            count += 1;
        }
        let took = self.meter.charge(self.settings.receive.of(count, bytes));
        if count == 0 {
            self.counts.polls += 1;
            self.counts.polling += took;
        } else {
            self.counts.batches += 1;
            self.counts.received += count as u64;
            self.counts.driver += took;
        }
        count
    }

    /// Counts what is out by `now` and frees its descriptors.
    fn retire(&mut self, now: Time) {
        while let Some(first) = self.leaving.front().filter(|first| first.last_out <= now) {
            self.counts.sent += 1;
            self.counts.sent_bytes += first.bytes;
            self.counts.last_sent = first.last_out;
            if let Some(came) = first.came {
                self.counts
                    .latency
                    .record_time(first.first_out.saturating_sub(came));
            }
            self.leaving.pop_front();
        }
    }

    fn room(&self) -> usize {
        let held = self.leaving.len() + self.gathered.len();
        self.settings.transmit_ring.saturating_sub(held)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> usize {
        self.retire(self.meter.clock().now());
        let count = from.len().min(self.room());
        let bytes = from
            .iter()
            .take(count)
            .map(|packet| pool[packet].len())
            .sum();
        let took = self.meter.charge(self.settings.transmit.of(count, bytes));
        self.counts.driver += took;
        from.drain_front(count, |handle| {
            let packet = &pool[&handle];
            let came = u64::from_ne_bytes(packet.anno_bytes(PERFCTR)).checked_sub(1);
            if self.departures.is_some() {
                self.gathered_frames.push(packet.data().to_vec());
            }
            self.gathered.push_back(Leaving {
                bytes: packet.len() as u64,
                came: came.map(Time::from_ps),
                first_out: Time::ZERO,
                last_out: Time::ZERO,
            });
            pool.free(handle);
        });
        self.counts.accepted += count as u64;
        if !self.settings.gathers {
            self.hand_over();
        }
        count
    }

    /// Gives what is gathered to the link.
    fn hand_over(&mut self) {
        let now = self.meter.clock().now();
        let mut frames = std::mem::take(&mut self.gathered_frames).into_iter();
        while let Some(mut frame) = self.gathered.pop_front() {
            let ready = match self.bus {
                Some(bus) => {
                    self.bus_out_free = self.bus_out_free.max(now) + bus.of(frame.bytes);
                    self.bus_out_free
                }
                None => now,
            };
            frame.first_out = self.link_free.max(ready);
            // The link is free again a preamble and a gap after the last bit; they count with the frame.
            frame.last_out = frame.first_out + self.on_link(frame.bytes as usize);
            self.link_free = frame.last_out;
            if let (Some(departures), Some(bytes)) = (&mut self.departures, frames.next()) {
                departures.push(Departure {
                    at: frame.last_out,
                    frame: bytes,
                });
            }
            self.leaving.push_back(frame);
        }
    }

    fn flush(&mut self) {
        if self.gathered.is_empty() {
            return;
        }
        let took = self.meter.charge(self.settings.flush_cycles);
        self.counts.driver += took;
        self.hand_over();
    }

    fn counts_at(&mut self, now: Time) -> Counts {
        self.admit(now);
        self.retire(now);
        self.counts.in_receive_ring = self.ring.len() as u64;
        self.counts.in_transmit_ring = (self.leaving.len() + self.gathered.len()) as u64;
        self.counts.clone()
    }
}

/// A port that the simulation holds; the router has it as a device.
#[derive(Clone, Debug)]
pub struct Port(Arc<Mutex<State>>);

impl Port {
    /// A port whose driver charges by `meter`; the time of day at the start is `start`.
    pub(super) fn new(settings: Settings, meter: Meter, start: Timestamp) -> Port {
        let (link, bus) = (TxTime::new(settings.rate), settings.bus.map(TxTime::new));
        Port(Arc::new(Mutex::new(State {
            settings,
            meter,
            link,
            bus,
            start,
            streams: Vec::new(),
            given: VecDeque::new(),
            given_in_ring: VecDeque::new(),
            is_open: false,
            ring: VecDeque::new(),
            last_came: None,
            bus_in_free: Time::ZERO,
            gathered: VecDeque::new(),
            leaving: VecDeque::new(),
            link_free: Time::ZERO,
            bus_out_free: Time::ZERO,
            departures: None,
            gathered_frames: Vec::new(),
            counts: Counts::default(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.lock().settings.name.clone()
    }

    /// Has frames come to it, besides those of offers before.
    pub fn offer(&self, mut offer: Offer) {
        let next = offer.arrivals.next();
        self.lock().streams.push(Stream {
            frames: offer.frames,
            turn: 0,
            next,
            arrivals: offer.arrivals,
        });
    }

    /// Has one frame come at `at`; one that is given later comes later.
    pub fn give(&self, at: Time, frame: Vec<u8>) {
        self.lock().given.push_back((at, frame));
    }

    /// Frames may be given at any time, and what leaves is kept.
    pub fn open(&self) {
        let mut state = self.lock();
        state.is_open = true;
        state.departures.get_or_insert_default();
    }

    /// What was given to the link since the last call, in order; departures may lie ahead of the present.
    pub fn departures(&self) -> Vec<Departure> {
        let mut state = self.lock();
        state
            .departures
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// What it has counted by `now`.
    pub fn counts(&self, now: Time) -> Counts {
        self.lock().counts_at(now)
    }

    /// The time a frame of so many bytes, without its checksum, takes on the link.
    pub fn on_link(&self, bytes: usize) -> Time {
        self.lock().on_link(bytes)
    }

    /// When the last frame of the transmit ring is out.
    pub(super) fn all_out(&self) -> Option<Time> {
        self.lock().leaving.back().map(|last| last.last_out)
    }

    /// Whether frames wait by now, for who waits on the descriptor.
    pub(super) fn is_readable(&self, now: Time) -> bool {
        let mut state = self.lock();
        state.admit(now);
        let latency = state.latency();
        let first = state.ring.front();
        first.is_some_and(|first| first.is_there.saturating_add(latency) <= now)
    }

    pub(super) fn is_writable(&self, now: Time) -> bool {
        let mut state = self.lock();
        state.retire(now);
        state.room() > 0
    }

    /// When it can be read, at `now` at the earliest.
    pub(super) fn next_readable(&self, now: Time) -> Option<Time> {
        let mut state = self.lock();
        state.admit(now);
        let there = state.next_there()?;
        Some(there.saturating_add(state.latency()).max(now))
    }

    /// When a router that polls it finds a frame.
    pub(super) fn next_polled(&self, now: Time) -> Option<Time> {
        let mut state = self.lock();
        state.admit(now);
        state.next_there().map(|at| at.max(now))
    }

    /// When there is room to send.
    pub(super) fn next_writable(&self, now: Time) -> Option<Time> {
        let mut state = self.lock();
        state.retire(now);
        if state.room() > 0 {
            return Some(now);
        }
        state.leaving.front().map(|first| first.last_out)
    }

    /// The port as the router sees it; `descriptor` is what it is waited on by, where it interrupts.
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

impl State {
    fn latency(&self) -> Time {
        match self.settings.notice {
            Notice::Interrupt(latency) => latency,
            Notice::Polled => Time::ZERO,
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
        !state.is_open
            && state.ring.is_empty()
            && state.given.is_empty()
            && state.streams.iter().all(|stream| stream.next.is_none())
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
