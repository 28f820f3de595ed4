//! A port's line in, its MAC and its receive FIFO.
//!
//! A frame is stored whole before anything behind sees it. Whether there is room is asked when it
//! begins: the FIFO must hold less than its threshold then, or all of the frame is dropped.

use crate::engine::contents::Contents;
use crate::engine::frame::{Clock, Frame, Shift, Timed};
use crate::error::Error;
use crate::outcome::Fate;
use crate::params::{FCS_BYTES, GAP_BYTES, PREAMBLE_BYTES, Params};
use crate::stream::Stream;
use std::collections::VecDeque;

/// No instant at all.
pub(crate) const NEVER: u64 = u64::MAX;

/// A stream as its port sees it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) stream: u8,
    /// When the next frame is due.
    pub(crate) due: u64,
    /// From frame to frame, on average.
    gap: u64,
    /// Frames of a burst, and how many of the current one came.
    burst: u64,
    in_burst: u64,
    /// Frames that are still to come, and those that came.
    pub(crate) left: u64,
    pub(crate) sent: u64,
    bytes: u16,
    words: u16,
    /// What a frame with preamble and gap takes on the line, in picoseconds.
    on_line: u64,
    /// From a frame's start to its last byte in.
    till_last_byte: u64,
    to_port: u8,
    to_software: u8,
    /// Frames of a million to the software, and the millionths of one that are owed.
    exceptions: u32,
    owed: u32,
}

impl Source {
    fn new(number: usize, stream: &Stream, params: &Params) -> Result<Source, Error> {
        stream.check(number, params)?;
        let byte = params.byte_ps();
        Ok(Source {
            stream: number as u8,
            due: stream.start.as_ps(),
            gap: stream.gap.as_ps(),
            burst: stream.burst,
            in_burst: 0,
            left: stream.frames,
            sent: 0,
            bytes: stream.frame_bytes as u16,
            words: params.words(stream.frame_bytes) as u16,
            on_line: (stream.frame_bytes + PREAMBLE_BYTES + GAP_BYTES) * byte,
            till_last_byte: (stream.frame_bytes + PREAMBLE_BYTES) * byte + params.phy_ps,
            to_port: 2 * stream.to as u8,
            to_software: 2 * stream.from as u8 + 1,
            exceptions: stream.exceptions_per_million,
            owed: 0,
        })
    }

    /// From burst to burst, and how many frames that is.
    pub(crate) fn period(&self) -> (u64, u64) {
        (self.gap * self.burst, self.burst)
    }

    /// A frame was sent: when the next one is due.
    fn step(&mut self) {
        self.left -= 1;
        self.sent += 1;
        self.in_burst += 1;
        if self.in_burst < self.burst {
            self.due += self.on_line;
            return;
        }
        self.due += self.gap * self.burst - self.on_line * (self.burst - 1);
        self.in_burst = 0;
    }

    /// Where the next frame goes.
    fn queue(&mut self) -> u8 {
        self.owed += self.exceptions;
        if self.owed < 1_000_000 {
            return self.to_port;
        }
        self.owed -= 1_000_000;
        self.to_software
    }

    /// Whether it will send, and has not begun by `now`.
    pub(crate) fn is_dormant(&self, now: u64) -> bool {
        self.left > 0 && self.sent == 0 && self.due > now
    }
}

/// A frame in the FIFO.
#[derive(Clone, Copy, Debug)]
struct Held {
    frame: Frame,
    /// The cycle from which the arbiter sees it.
    ready: u64,
}

/// A port's receiving side.
#[derive(Clone, Debug)]
pub(crate) struct Receive {
    pub(crate) sources: Vec<Source>,
    line_free: u64,
    held: VecDeque<Held>,
    held_words: u64,
    /// Of the frame that left last: its last word leaves in this cycle.
    drained: u64,
    drained_words: u64,
    clock: Clock,
    byte_ps: u64,
    rx_cycles: u64,
    full_words: u64,
    phy_ps: u64,
    bus_bytes: u64,
    header_words: u64,
    /// Of a host's interface: setting up the transfer of a frame.
    setup_ps: Option<u64>,
}

impl Receive {
    /// The port `port` of `params` and those of `streams` that come in there.
    pub(crate) fn new(port: usize, params: &Params, streams: &[Stream]) -> Result<Receive, Error> {
        let mine = streams
            .iter()
            .enumerate()
            .filter(|(_, stream)| stream.from == port);
        let sources = mine.map(|(number, stream)| Source::new(number, stream, params));
        Ok(Receive {
            sources: sources.collect::<Result<_, _>>()?,
            line_free: 0,
            held: VecDeque::with_capacity(128),
            held_words: 0,
            drained: 0,
            drained_words: 0,
            clock: Clock::new(params.clock_ps),
            byte_ps: params.byte_ps(),
            rx_cycles: params.rx_cycles,
            full_words: params.rx_fifo_full_bytes.div_ceil(params.bus_bytes),
            phy_ps: params.phy_ps,
            bus_bytes: params.bus_bytes,
            header_words: params.header_words,
            setup_ps: None,
        })
    }

    /// An interface of the host, whose frames come over its bus.
    pub(crate) fn of_host(params: &Params) -> Result<Receive, Error> {
        Ok(Receive {
            byte_ps: params.pci_ps_per_byte,
            phy_ps: 0,
            setup_ps: Some(params.dma_setup_ps),
            ..Receive::new(usize::MAX, params, &[])?
        })
    }

    /// The cycle from which the arbiter sees this port's next frame.
    pub(crate) fn ready<C: Contents>(&mut self, input: usize, contents: &mut C) -> u64 {
        while self.held.is_empty() {
            if C::ARE_THERE {
                let Some(start) = self.arrival(input, contents) else {
                    return NEVER;
                };
                self.arrive(input, start, contents);
                continue;
            }
            let Some((next, start)) = self.next() else {
                return NEVER;
            };
            self.receive(next, start, contents);
        }
        self.held[0].ready
    }

    /// The cycle from which the arbiter sees the first frame that is held.
    pub(crate) fn first_ready(&self) -> Option<u64> {
        self.held.front().map(|held| held.ready)
    }

    /// Gives the next frame away from the cycle `from` on; [`Receive::ready`] found that there is
    /// one.
    pub(crate) fn take<C: Contents>(&mut self, input: usize, from: u64, contents: &mut C) -> Frame {
        let now = from * self.clock.period_ps;
        while C::ARE_THERE
            && let Some(start) = self.arrival(input, contents)
            && start <= now
        {
            self.arrive(input, start, contents);
        }
        while !C::ARE_THERE
            && let Some((next, start)) = self.next()
            && start <= now
        {
            self.receive(next, start, contents);
        }
        let held = self
            .held
            .pop_front()
            .expect("the arbiter takes from a queue that holds a frame");
        self.held_words -= u64::from(held.frame.words);
        self.drained_words = u64::from(held.frame.words);
        held.frame
    }

    /// The frame that was taken last has left by the cycle `end`.
    pub(crate) fn drained(&mut self, end: u64) {
        self.drained = end;
    }

    /// From when the line is free.
    pub(crate) fn line_free(&self) -> u64 {
        self.line_free
    }

    /// The source that sends next, and when its frame begins.
    fn next(&self) -> Option<(usize, u64)> {
        let due = |source: &Source| if source.left > 0 { source.due } else { NEVER };
        let next = match self.sources.len() {
            0 => return None,
            1 => 0,
            several => (0..several).min_by_key(|&n| due(&self.sources[n]))?,
        };
        let due = due(&self.sources[next]);
        (due != NEVER).then_some((next, due.max(self.line_free)))
    }

    fn receive<C: Contents>(&mut self, source: usize, start: u64, contents: &mut C) {
        let is_full = self.is_full(start);
        let source = &mut self.sources[source];
        source.step();
        self.line_free = start + source.on_line;
        let frame = Frame {
            start,
            bytes: source.bytes,
            words: source.words,
            queue: source.queue(),
            stream: source.stream,
        };
        contents.received(&frame);
        if is_full {
            contents.ended(&frame, Fate::DroppedAtReceive, start);
            return;
        }
        let last_byte = start + source.till_last_byte;
        self.held_words += u64::from(frame.words);
        self.held.push_back(Held {
            frame,
            ready: self.clock.cycle_from(last_byte) + self.rx_cycles,
        });
    }

    /// When the next frame with contents begins.
    fn arrival<C: Contents>(&self, input: usize, contents: &C) -> Option<u64> {
        contents.due(input).map(|due| due.max(self.line_free))
    }

    /// The next frame with contents begins at `start`.
    fn arrive<C: Contents>(&mut self, input: usize, start: u64, contents: &mut C) {
        let is_full = self.is_full(start);
        let arrived = contents.arrive(input, start, !is_full);
        let bytes = arrived.line_bytes;
        let (lead, gap) = match self.setup_ps {
            Some(setup) => (setup, 0),
            None => (PREAMBLE_BYTES * self.byte_ps, GAP_BYTES * self.byte_ps),
        };
        let last_byte = start + lead + bytes * self.byte_ps;
        self.line_free = last_byte + gap;
        let Some(taken) = arrived.taken else {
            return;
        };
        let frame = Frame {
            start,
            bytes: taken,
            words: self.words(taken),
            queue: 0,
            stream: 0,
        };
        self.held_words += u64::from(frame.words);
        let seen = last_byte + self.phy_ps;
        self.held.push_back(Held {
            frame,
            ready: self.clock.cycle_from(seen) + self.rx_cycles,
        });
    }

    /// Words of a frame of `bytes` with FCS on the data path.
    fn words(&self, bytes: u16) -> u16 {
        let body = u64::from(bytes).saturating_sub(FCS_BYTES);
        (body.div_ceil(self.bus_bytes) + self.header_words) as u16
    }

    /// Whether a frame that begins at `start` finds too much in the FIFO.
    fn is_full(&self, start: u64) -> bool {
        if self.held_words + self.drained_words < self.full_words {
            return false;
        }
        let cycle = self.clock.cycle(start + PREAMBLE_BYTES * self.byte_ps);
        let still_there = self.drained.saturating_sub(cycle).min(self.drained_words);
        self.held_words + still_there >= self.full_words
    }
}

impl Timed for Held {
    fn repeats(&self, earlier: &Held, shift: Shift) -> bool {
        self.ready == earlier.ready + shift.cycles && self.frame.repeats(&earlier.frame, shift)
    }

    fn advance(&mut self, shift: Shift) {
        self.ready += shift.cycles;
        self.frame.advance(shift);
    }
}

impl Receive {
    /// As [`Timed::repeats`], but for sources that have not begun by `now`, which only limit for
    /// how long a state can repeat. A port that nothing came to since is as it was.
    pub(crate) fn repeats(&self, earlier: &Receive, shift: Shift, now: u64) -> bool {
        let same_sources = self
            .sources
            .iter()
            .zip(&earlier.sources)
            .all(|(now_, then)| {
                let both_ended = now_.left == 0 && now_.sent == then.sent;
                let both_dormant = now_.is_dormant(now) && then.is_dormant(now);
                let both_run = now_.left > 0
                    && now_.sent > then.sent
                    && now_.due == then.due + shift.ps
                    && now_.in_burst == then.in_burst
                    && now_.owed == then.owed;
                both_ended || both_dormant || both_run
            });
        let nothing_came = self.line_free == earlier.line_free && self.held.is_empty();
        let same_line = self.line_free == earlier.line_free + shift.ps
            && self.drained == earlier.drained + shift.cycles
            && self.drained_words == earlier.drained_words;
        same_sources
            && (same_line || nothing_came)
            && self.held_words == earlier.held_words
            && self.held.repeats(&earlier.held, shift)
    }

    /// Moves everything into the future, by `times` times what happened since `earlier`, which is
    /// `shift` ago.
    pub(crate) fn advance(&mut self, earlier: &Receive, shift: Shift, times: u64) {
        let by = shift.times(times);
        for (source, then) in self.sources.iter_mut().zip(&earlier.sources) {
            let sent = (source.sent - then.sent) * times;
            if sent > 0 {
                source.sent += sent;
                source.left -= sent;
                source.due += by.ps;
            }
        }
        self.line_free += by.ps;
        self.drained += by.cycles;
        self.held.advance(by);
    }
}
