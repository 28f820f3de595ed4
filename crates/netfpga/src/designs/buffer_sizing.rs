//! The reference router with rate limiters, and a recorder of what happens at its output queues.
//!
//! Modelled on the NetFPGA 1G router for buffer sizing. Each frame that is stored, removed or
//! dropped is an event of 32 bits; events are sent in frames to whom the registers say, so that the
//! occupancy of a queue can be drawn frame by frame.
//!
//! An event, from its highest bit: kind (2: 0 time, 1 stored, 2 removed, 3 dropped), queue (3),
//! words with the module header (8, at most 255), time (19). A time event has the counter's next 30
//! bits instead; one stands first in each frame and wherever these bits change. The counter counts
//! 8 ns times 2 to the power of `TIMER_RESOLUTION`.
//!
//! A frame of events: Ethernet header; where its type is 0x0800 headers of IPv4 and UDP; number of
//! the frame (32); for each queue the words (32) and frames (32) that were in it before the first
//! event; events. It is sent when it is full, or when `SEND_PKT` is written.

use crate::device::Design;
use crate::registers::table::router_lookup;
use crate::registers::{File, block, place};
use crate::stages::ethernet::{IPV4, readdress};
use crate::stages::ip;
use crate::stages::lookup::{Happened, Lookup};
use crate::stages::queue::{Queue, Queues};
use crate::stages::rate_limiter::{RateLimiters, rate_limit};
use crate::stages::router::Router;
use std::collections::VecDeque;
use trammel_core::time::{Span, Time};

/// This design.
pub static ENTRY: Design = Design {
    name: "buffer-sizing",
    title: "Router for buffer sizing",
    summary: "the router with rate limiters and a recorder of events at its output queues",
    id: 4,
    blocks: &[
        &router_lookup::BLOCK,
        &event_capture::BLOCK,
        &rate_limit::BLOCK,
    ],
    lookup: || {
        Box::new(BufferSizing {
            router: Router::new(),
            capture: Capture::new(),
            limiters: RateLimiters::new(),
        })
    },
};

block! {
    event_capture, "EVT_CAP" at 0x2000300, 1 of 0x80,
    "The recorder of events at the output queues";
    ENABLE_CAPTURE, 0x00, 1, 1, ReadWrite, "1: events are recorded";
    SEND_PKT, 0x04, 1, 1, Command, "1: what was recorded is sent now";
    DST_MAC_HI, 0x08, 1, 16, ReadWrite, "destination of the frames, upper 16 bits";
    DST_MAC_LO, 0x0c, 1, 32, ReadWrite, "destination of the frames, lower 32 bits";
    SRC_MAC_HI, 0x10, 1, 16, ReadWrite, "source of the frames, upper 16 bits";
    SRC_MAC_LO, 0x14, 1, 32, ReadWrite, "source of the frames, lower 32 bits";
    ETHERTYPE, 0x18, 1, 16, ReadWrite, "type of the frames; 0x0800 puts events into UDP";
    IP_DST, 0x1c, 1, 32, ReadWrite, "IP destination";
    IP_SRC, 0x20, 1, 32, ReadWrite, "IP source";
    MONITOR_MASK, 0x24, 1, 3, ReadWrite, "bits 0, 1, 2: stored, removed, dropped are recorded";
    SIGNAL_ID_MASK, 0x28, 1, 8, ReadWrite, "queues that are recorded, one bit each";
    UDP_SRC_PORT, 0x30, 1, 16, ReadWrite, "UDP source port";
    UDP_DST_PORT, 0x34, 1, 16, ReadWrite, "UDP destination port";
    OUTPUT_PORTS, 0x38, 1, 8, ReadWrite, "output queues of the frames, one bit each";
    RESET_TIMERS, 0x3c, 1, 1, Command, "1: the counter starts at 0 now";
    TIMER_RESOLUTION, 0x40, 1, 5, ReadWrite, "the counter counts 8 ns times 2 to the power of this";
    NUM_EVT_PKTS_SENT, 0x44, 1, 32, Counter, "frames of events";
    NUM_EVTS_SENT, 0x48, 1, 32, Counter, "events in them, time events not counted";
    NUM_EVTS_DROPPED, 0x4c, 1, 32, Counter, "events that found no room";
}
use event_capture as word;

/// The type that marks frames of events where no other is set.
const ETHERTYPE: u32 = 0x9999;
/// Words of events in a frame, at most: the frame has 1514 bytes with all headers.
const FRAME_WORDS: usize = 351;
/// Full frames that wait to be sent.
const FRAMES: usize = 4;
/// What the counter counts at resolution 0.
const TICK_PS: u64 = 8_000;
/// Bits of the counter in an event.
const TIME_BITS: u32 = 19;
/// Bits of the counter in a time event.
const UPPER_BITS: u32 = 30;
/// The TTL of frames of events.
const TTL: u8 = 64;
/// UDP's number.
const UDP: u8 = 17;

#[derive(Debug)]
struct BufferSizing {
    router: Router,
    capture: Capture,
    limiters: RateLimiters,
}

/// Words and frames in a queue, as events have it.
type Occupancy = [(u32, u32); 8];

#[derive(Debug)]
struct Capture {
    file: File,
    now: Occupancy,
    /// The occupancy before the first event of `events`.
    first: Occupancy,
    events: Vec<u32>,
    /// Of `events`, those that are no time events.
    count: u32,
    /// The upper bits that the last time event had.
    upper: Option<u32>,
    started: Time,
    time: Time,
    frames: VecDeque<Vec<u8>>,
    sequence: u32,
}

impl Capture {
    fn new() -> Capture {
        let mut file = File::new(&word::BLOCK);
        file.set(word::ETHERTYPE, ETHERTYPE);
        file.set(word::MONITOR_MASK, 0b111);
        file.set(word::SIGNAL_ID_MASK, 0xff);
        Capture {
            file,
            now: [(0, 0); 8],
            first: [(0, 0); 8],
            events: Vec::with_capacity(FRAME_WORDS),
            count: 0,
            upper: None,
            started: Time::ZERO,
            time: Time::ZERO,
            frames: VecDeque::new(),
            sequence: 0,
        }
    }

    fn happened(&mut self, what: Happened, queue: Queue, words: u32, now: Time) {
        self.time = now;
        let kind = match what {
            Happened::Stored => 1,
            Happened::Removed => 2,
            Happened::Dropped => 3,
        };
        let is_wanted = self.file.get(word::ENABLE_CAPTURE) == 1
            && self.file.get(word::MONITOR_MASK) >> (kind - 1) & 1 == 1
            && Queues(self.file.get(word::SIGNAL_ID_MASK) as u8).has(queue);
        if is_wanted {
            self.record(kind << 30 | (queue.number() as u32) << 27 | words.min(255) << TIME_BITS);
        }
        let (all, frames) = &mut self.now[queue.number()];
        match what {
            Happened::Stored => (*all, *frames) = (*all + words, *frames + 1),
            // A queue that software emptied has given nothing back.
            Happened::Removed => {
                (*all, *frames) = (all.saturating_sub(words), frames.saturating_sub(1));
            }
            Happened::Dropped => (),
        }
    }

    /// Puts an event into the frame, without its time.
    fn record(&mut self, event: u32) {
        let since = self.time.saturating_since(self.started).as_ps() / TICK_PS;
        let ticks = since >> self.file.get(word::TIMER_RESOLUTION);
        let upper = (ticks >> TIME_BITS) as u32 & ((1 << UPPER_BITS) - 1);
        if self.events.len() + 2 > FRAME_WORDS {
            self.close();
        }
        if self.frames.len() >= FRAMES {
            self.file.count(word::NUM_EVTS_DROPPED);
            return;
        }
        if self.events.is_empty() {
            self.first = self.now;
        }
        if self.events.is_empty() || self.upper != Some(upper) {
            self.events.push(upper);
            self.upper = Some(upper);
        }
        self.events
            .push(event | ticks as u32 & ((1 << TIME_BITS) - 1));
        self.count += 1;
    }

    /// Makes a frame of what was recorded.
    fn close(&mut self) {
        if self.events.is_empty() {
            return;
        }
        let mut payload = self.sequence.to_be_bytes().to_vec();
        for (words, frames) in self.first {
            payload.extend(words.to_be_bytes());
            payload.extend(frames.to_be_bytes());
        }
        payload.extend(self.events.drain(..).flat_map(u32::to_be_bytes));
        let frame = self.frame(&payload);
        self.frames.push_back(frame);
        self.file.count(word::NUM_EVT_PKTS_SENT);
        self.file.add(word::NUM_EVTS_SENT, self.count);
        self.count = 0;
        self.sequence = self.sequence.wrapping_add(1);
    }

    fn frame(&self, payload: &[u8]) -> Vec<u8> {
        let get = |at: usize| self.file.get(at);
        let pair = |at: usize| u64::from(get(at)) << 32 | u64::from(get(at + 1));
        let mut frame = vec![0; 12];
        readdress(&mut frame, pair(word::DST_MAC_HI), pair(word::SRC_MAC_HI));
        let ethertype = get(word::ETHERTYPE) as u16;
        frame.extend(ethertype.to_be_bytes());
        if ethertype == IPV4 {
            let udp_bytes = payload.len() as u16 + 8;
            let addresses = [get(word::IP_SRC), get(word::IP_DST)];
            frame.extend(ip::header(udp_bytes + 20, TTL, UDP, addresses));
            for field in [
                get(word::UDP_SRC_PORT) as u16,
                get(word::UDP_DST_PORT) as u16,
            ] {
                frame.extend(field.to_be_bytes());
            }
            // Without a checksum (RFC 768).
            frame.extend(udp_bytes.to_be_bytes());
            frame.extend([0, 0]);
        }
        frame.extend(payload);
        frame
    }

    fn write(&mut self, at: usize, value: u32) {
        self.file.write(at, value);
        match (at, value & 1) {
            (word::SEND_PKT, 1) => self.close(),
            (word::RESET_TIMERS, 1) => (self.started, self.upper) = (self.time, None),
            _ => (),
        }
    }
}

impl Lookup for BufferSizing {
    fn look_up(&mut self, from: Queue, frame: &mut [u8], now: Time) -> Queues {
        self.router.look_up(from, frame, now)
    }

    fn read(&self, address: u32) -> Option<u32> {
        if let Some((_, at)) = place(&word::BLOCK, address) {
            return Some(self.capture.file.get(at));
        }
        let limiter = self.limiters.read(address);
        limiter.or_else(|| self.router.read(address))
    }

    fn write(&mut self, address: u32, value: u32) -> bool {
        if let Some((_, at)) = place(&word::BLOCK, address) {
            self.capture.write(at, value);
            return true;
        }
        self.limiters.write(address, value) || self.router.write(address, value)
    }

    fn set_time(&mut self, now: Time) {
        self.capture.time = now;
    }

    fn happened(&mut self, what: Happened, queue: Queue, words: u32, now: Time) {
        self.capture.happened(what, queue, words, now);
    }

    fn spacing(&mut self, port: usize, bytes: usize) -> Span {
        self.limiters.spacing(port, bytes)
    }

    fn own_frame(&mut self) -> Option<(Queues, Vec<u8>)> {
        let frame = self.capture.frames.pop_front()?;
        let queues = Queues(self.capture.file.get(word::OUTPUT_PORTS) as u8);
        Some((queues, frame))
    }
}
