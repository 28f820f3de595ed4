//! The way in: what has come by the link, the bus, and the receive ring.
//!
//! The ring is filled when it is looked at, with everything that has come by then.

use super::counts::{Coming, Counts};
use super::link_time::LinkTime;
use crate::simulate::offer::{Arrivals, MOST_FLOWS, Offer};
use std::collections::VecDeque;
use trammel_core::time::{Span, Time};
use trammel_core::units::TxTime;

/// The stream of frames that were given one by one.
const GIVEN: u32 = u32::MAX;
/// Their flow.
const GIVEN_FLOW: u16 = MOST_FLOWS - 1;

/// Frames yet to come.
struct Stream {
    frames: Vec<Vec<u8>>,
    /// The frame that comes next.
    turn: usize,
    next: Option<Time>,
    arrivals: Arrivals,
    flow: u16,
    others: Option<(u32, u16)>,
}

impl Stream {
    /// The flow of a frame of the list.
    fn flow_of(&self, turn: usize) -> u16 {
        match self.others {
            Some((every, flow)) if (turn + 1).is_multiple_of(every as usize) => flow,
            _ => self.flow,
        }
    }
}

/// When a frame came, and of which flow it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Came {
    pub(super) at: Time,
    pub(super) flow: u16,
}

/// Bits of the annotation that are the flow's.
const FLOW_BITS: u32 = MOST_FLOWS.ilog2();

impl Came {
    /// As the annotation that travels with a packet: the flow above a time of up to five hours. One
    /// more than the time, since nothing is none.
    pub(super) fn annotation(self) -> [u8; 8] {
        let time = (self.at.as_ps() + 1).min(u64::MAX >> FLOW_BITS);
        (u64::from(self.flow) << (64 - FLOW_BITS) | time).to_ne_bytes()
    }

    /// What an annotation says; none where the packet came by no port.
    pub(super) fn of(annotation: [u8; 8]) -> Option<Came> {
        let word = u64::from_ne_bytes(annotation);
        let time = (word & u64::MAX >> FLOW_BITS).checked_sub(1)?;
        Some(Came {
            at: Time::from_ps(time),
            flow: (word >> (64 - FLOW_BITS)) as u16,
        })
    }
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

/// The way in.
pub(super) struct Inward {
    link: LinkTime,
    bus: Option<TxTime>,
    /// Frames that the ring holds.
    capacity: usize,
    streams: Vec<Stream>,
    /// Frames given one by one, as stream [`GIVEN`]; those that come, and those that are in the
    /// ring.
    given: VecDeque<(Time, Vec<u8>)>,
    given_in_ring: VecDeque<Vec<u8>>,
    ring: VecDeque<Waiting>,
    last_came: Option<Time>,
    bus_free: Time,
    /// When frames came, for who asks for it; none where nobody does.
    comings: Option<Vec<Coming>>,
}

impl Inward {
    /// A way in whose ring holds so many frames.
    pub(super) fn new(link: LinkTime, bus: Option<TxTime>, capacity: usize) -> Inward {
        Inward {
            link,
            bus,
            capacity,
            streams: Vec::new(),
            given: VecDeque::new(),
            given_in_ring: VecDeque::new(),
            ring: VecDeque::new(),
            last_came: None,
            bus_free: Time::ZERO,
            comings: None,
        }
    }

    /// Has the frames of `offer` come, besides those of others.
    pub(super) fn offer(&mut self, mut offer: Offer) {
        let next = offer.arrivals.next();
        self.streams.push(Stream {
            frames: offer.frames,
            turn: 0,
            next,
            arrivals: offer.arrivals,
            flow: offer.flow,
            others: offer.others,
        });
    }

    /// Notes when each frame comes.
    pub(super) fn note(&mut self) {
        self.comings.get_or_insert_default();
    }

    /// What was noted since the last call.
    pub(super) fn comings(&mut self) -> Vec<Coming> {
        let comings = self.comings.as_mut();
        comings.map(std::mem::take).unwrap_or_default()
    }

    /// Has one frame come at `at`.
    pub(super) fn give(&mut self, at: Time, frame: Vec<u8>) {
        self.given.push_back((at, frame));
    }

    /// Whether nothing waits and nothing will come.
    pub(super) fn is_over(&self) -> bool {
        self.ring.is_empty()
            && self.given.is_empty()
            && self.streams.iter().all(|stream| stream.next.is_none())
    }

    /// Frames in the ring.
    pub(super) fn waiting(&self) -> usize {
        self.ring.len()
    }

    /// The bytes of the frame that comes next in a stream.
    fn bytes_of_next(&self, number: u32) -> usize {
        if number == GIVEN {
            return self.given.front().map_or(0, |(_, bytes)| bytes.len());
        }
        let stream = &self.streams[number as usize];
        stream.frames[stream.turn].len()
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
        let bytes = self.bytes_of_next(number);
        let earliest = self
            .last_came
            .map_or(Time::ZERO, |last| last + self.link.of(bytes));
        Some((number, at.max(earliest)))
    }

    /// Takes in what has come by `now`.
    pub(super) fn admit(&mut self, now: Time, counts: &mut Counts) {
        while let Some((number, at)) = self.next_in().filter(|(_, at)| *at <= now) {
            self.last_came = Some(at);
            counts.offered += 1;
            counts.last_offered = at;
            let has_room = self.ring.len() < self.capacity;
            let (mut frame, mut flow) = (0, GIVEN_FLOW);
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
                flow = stream.flow_of(frame);
                stream.turn = (frame + 1) % stream.frames.len();
                // Arrivals ascend; where a caller's do not, the late one comes at once.
                stream.next = stream.arrivals.next().map(|next| next.max(at));
                stream.frames[frame].len()
            };
            if let Some(comings) = &mut self.comings {
                comings.push(Coming { at, flow });
            }
            if !has_room {
                counts.lost += 1;
                counts.last_lost = Some(at);
                continue;
            }
            let is_there = match self.bus {
                Some(bus) => {
                    self.bus_free = self.bus_free.max(at) + bus.of(bytes as u64);
                    self.bus_free
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

    /// When the first frame that waits can be received.
    pub(super) fn first_there(&self) -> Option<Time> {
        self.ring.front().map(|first| first.is_there)
    }

    /// When the first frame that waits, or the next that comes, can be received.
    pub(super) fn next_there(&self) -> Option<Time> {
        self.first_there().or_else(|| {
            self.next_in().map(|(number, at)| {
                let bytes = self.bytes_of_next(number) as u64;
                let across = self.bus.map_or(Span::ZERO, |bus| bus.of(bytes));
                self.bus_free.max(at) + across
            })
        })
    }

    /// The first frame that can be received by `now`: when it came, of which flow it is, and its
    /// bytes.
    pub(super) fn first(&self, now: Time) -> Option<(Came, &[u8])> {
        let first = self.ring.front().filter(|first| first.is_there <= now)?;
        let (flow, bytes) = match first.stream {
            GIVEN => (GIVEN_FLOW, self.given_in_ring.front()?),
            number => {
                let stream = &self.streams[number as usize];
                let turn = first.frame as usize;
                (stream.flow_of(turn), &stream.frames[turn])
            }
        };
        let came = Came {
            at: first.came,
            flow,
        };
        Some((came, bytes))
    }

    /// Takes the first frame out of the ring.
    pub(super) fn take_first(&mut self) {
        if self
            .ring
            .pop_front()
            .is_some_and(|first| first.stream == GIVEN)
        {
            self.given_in_ring.pop_front();
        }
    }
}
