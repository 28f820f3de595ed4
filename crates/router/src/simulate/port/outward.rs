//! The way out: the transmit ring, the bus, and the link.
//!
//! A descriptor is free again when its frame's last bit is out.

use super::counts::{Counts, Departure, Passage};
use super::inward::Came;
use super::link_time::LinkTime;
use std::collections::VecDeque;
use trammel_core::time::Time;
use trammel_core::units::TxTime;

/// A frame on its way out.
#[derive(Clone, Debug)]
struct Leaving {
    bytes: u64,
    /// When it came and of which flow it is, where it came by a simulated port.
    came: Option<Came>,
    /// The bits of its first and its last on the link; zero while it is gathered.
    first_out: Time,
    last_out: Time,
}

/// The way out.
pub(super) struct Outward {
    link: LinkTime,
    bus: Option<TxTime>,
    /// Frames that the ring holds.
    capacity: usize,
    gathered: VecDeque<Leaving>,
    leaving: VecDeque<Leaving>,
    link_free: Time,
    bus_free: Time,
    /// Frames for who asks for them; none where nobody does.
    departures: Option<Vec<Departure>>,
    gathered_frames: Vec<Vec<u8>>,
    /// The same of when frames came and left.
    passages: Option<Vec<Passage>>,
}

impl Outward {
    /// A way out whose ring holds so many frames.
    pub(super) fn new(link: LinkTime, bus: Option<TxTime>, capacity: usize) -> Outward {
        Outward {
            link,
            bus,
            capacity,
            gathered: VecDeque::new(),
            leaving: VecDeque::new(),
            link_free: Time::ZERO,
            bus_free: Time::ZERO,
            departures: None,
            gathered_frames: Vec::new(),
            passages: None,
        }
    }

    /// Keeps what leaves.
    pub(super) fn keep(&mut self) {
        self.departures.get_or_insert_default();
    }

    /// What was given to the link since the last call.
    pub(super) fn departures(&mut self) -> Vec<Departure> {
        let departures = self.departures.as_mut();
        departures.map(std::mem::take).unwrap_or_default()
    }

    /// Notes when each frame came and left.
    pub(super) fn note(&mut self) {
        self.passages.get_or_insert_default();
    }

    /// What was noted since the last call.
    pub(super) fn passages(&mut self) -> Vec<Passage> {
        let passages = self.passages.as_mut();
        passages.map(std::mem::take).unwrap_or_default()
    }

    /// Frames that hold a descriptor.
    pub(super) fn held(&self) -> usize {
        self.leaving.len() + self.gathered.len()
    }

    /// Frames that there is room for.
    pub(super) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.held())
    }

    /// Frames that wait for the flush, and their bytes.
    pub(super) fn gathered(&self) -> (usize, usize) {
        let bytes: u64 = self.gathered.iter().map(|frame| frame.bytes).sum();
        (self.gathered.len(), bytes as usize)
    }

    /// When the first descriptor is free again.
    pub(super) fn first_free(&self) -> Option<Time> {
        self.leaving.front().map(|first| first.last_out)
    }

    /// When the last frame of the ring is out.
    pub(super) fn all_out(&self) -> Option<Time> {
        self.leaving.back().map(|last| last.last_out)
    }

    /// Counts what is out by `now` and frees its descriptors.
    pub(super) fn retire(&mut self, now: Time, counts: &mut Counts) {
        while let Some(first) = self.leaving.front().filter(|first| first.last_out <= now) {
            counts.sent += 1;
            counts.sent_bytes += first.bytes;
            counts.last_sent = first.last_out;
            if let Some(came) = first.came {
                let passage = Passage {
                    came: came.at,
                    left: first.first_out,
                    flow: came.flow,
                };
                counts.latency.record_time(passage.latency());
                if let Some(passages) = &mut self.passages {
                    passages.push(passage);
                }
            }
            self.leaving.pop_front();
        }
    }

    /// Puts a frame into the ring; `came` where it came by a simulated port.
    pub(super) fn gather(&mut self, frame: &[u8], came: Option<Came>) {
        if self.departures.is_some() {
            self.gathered_frames.push(frame.to_vec());
        }
        self.gathered.push_back(Leaving {
            bytes: frame.len() as u64,
            came,
            first_out: Time::ZERO,
            last_out: Time::ZERO,
        });
    }

    /// Gives what is gathered to the link.
    pub(super) fn hand_over(&mut self, now: Time, counts: &mut Counts) {
        let stands_still = !self.gathered.is_empty() && self.link_free <= now;
        counts.link_idle += u64::from(stands_still);
        let mut frames = std::mem::take(&mut self.gathered_frames).into_iter();
        while let Some(mut frame) = self.gathered.pop_front() {
            let ready = match self.bus {
                Some(bus) => {
                    self.bus_free = self.bus_free.max(now) + bus.of(frame.bytes);
                    self.bus_free
                }
                None => now,
            };
            frame.first_out = self.link_free.max(ready);
            // The link is free again a preamble and a gap after the last bit; they count with the
            // frame.
            frame.last_out = frame.first_out + self.link.of(frame.bytes as usize);
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
}
