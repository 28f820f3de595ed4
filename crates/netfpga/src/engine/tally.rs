//! What is counted while frames pass. It is no part of the state that repeats.
//!
//! In a stretch that stands for several equal ones, every frame counts `weight` times.

use crate::engine::contents::Contents;
use crate::engine::frame::Frame;
use crate::outcome::{Counts, Fate, Outcome, Passage, Variation};
use crate::params::{PREAMBLE_BYTES, Params};
use crate::recording::Recording;
use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

pub(crate) struct Tally {
    weight: u64,
    /// From one of the equal stretches to the next; 0 outside of them.
    period_ps: u64,
    /// Of the stretch that stands for several: when the last frame that it lost began, plus 1.
    lost_in_stretch: u64,
    /// Of the same stretch and each stream: by how much a frame's latency is greater each time that
    /// it comes again.
    slowing: Vec<u64>,
    streams: Vec<Counts>,
    latency: Histogram,
    first_lost: u64,
    last_lost: u64,
    passages: Vec<Passage>,
    wanted: Recording,
    /// What a byte of a frame takes from its latency: its time on the line where that counts from
    /// the last bit on.
    byte_ps: u64,
    simulated: u64,
    first_out: u64,
    last_out: u64,
    after: u64,
    /// Instants of tags that no frame has met.
    next_tag: usize,
    /// Frames that met one and are on their way: stream, start, which tag.
    on_way: Vec<(u8, u64, usize)>,
    /// By tag; none where the frame was lost.
    tagged: Vec<Option<u64>>,
    /// The latency of the last frame of each stream.
    previous: Vec<Option<u64>>,
    variation: Option<Variation>,
}

/// Of `first_lost` where none was.
const NEVER: u64 = u64::MAX;

impl Tally {
    pub(crate) fn new(params: &Params, streams: usize, wanted: &Recording) -> Tally {
        let is_variation = wanted.has_variation;
        Tally {
            weight: 1,
            period_ps: 0,
            lost_in_stretch: 0,
            slowing: vec![0; streams],
            streams: vec![Counts::default(); streams],
            latency: Histogram::of_times(),
            first_lost: NEVER,
            last_lost: 0,
            passages: Vec::new(),
            byte_ps: u64::from(wanted.is_from_last_bit) * params.byte_ps(),
            simulated: 0,
            first_out: NEVER,
            last_out: 0,
            after: 0,
            next_tag: 0,
            on_way: Vec::new(),
            tagged: vec![None; wanted.tags.len()],
            previous: vec![None; streams],
            variation: is_variation.then(Variation::default),
            wanted: wanted.clone(),
        }
    }

    /// How many streams there are.
    pub(crate) fn streams(&self) -> usize {
        self.streams.len()
    }

    fn note_received(&mut self, frame: &Frame) {
        self.streams[usize::from(frame.stream)].received += self.weight;
        self.simulated += 1;
        while self
            .next_tag()
            .is_some_and(|tag| tag.as_ps() <= frame.start)
        {
            self.on_way.push((frame.stream, frame.start, self.next_tag));
            self.next_tag += 1;
        }
    }

    /// The instant of the next tag.
    pub(crate) fn next_tag(&self) -> Option<Time> {
        self.wanted.tags.get(self.next_tag).copied()
    }

    fn note_ended(&mut self, frame: &Frame, fate: Fate, end: u64) {
        self.streams[usize::from(frame.stream)].add(fate, self.weight);
        if matches!(fate, Fate::Forwarded | Fate::Delivered) {
            self.came_out(end);
        }
        if fate == Fate::Forwarded {
            let on_line = self.byte_ps * (u64::from(frame.bytes) + PREAMBLE_BYTES);
            self.took(frame, (end - frame.start).saturating_sub(on_line));
        } else if fate.is_loss() {
            self.first_lost = self.first_lost.min(frame.start);
            self.last_lost = self.last_lost.max(frame.start);
            self.lost_in_stretch = self.lost_in_stretch.max(frame.start + 1);
        }
        if !self.on_way.is_empty() {
            let is_other = |(stream, start, _): &(u8, u64, usize)| {
                (*stream, *start) != (frame.stream, frame.start)
            };
            self.on_way.retain(is_other);
        }
        if self.wants_passages() {
            self.passages.push(Passage {
                stream: usize::from(frame.stream),
                start: Time::from_ps(frame.start),
                end: (!fate.is_loss()).then(|| Time::from_ps(end)),
                fate,
            });
        }
    }

    fn came_out(&mut self, end: u64) {
        self.first_out = self.first_out.min(end);
        let until = self.wanted.until.map_or(NEVER, Time::as_ps);
        // Of the repetitions that it stands for, those in which it came by then.
        let left = until.saturating_sub(end);
        let by_then = match left.checked_div(self.period_ps) {
            _ if end > until => 0,
            Some(periods) => self.weight.min(periods + 1),
            None => 1,
        };
        self.after += self.weight - by_then;
        if by_then > 0 {
            self.last_out = self.last_out.max(end + (by_then - 1) * self.period_ps);
        }
    }

    /// `frame` was forwarded after `latency`.
    fn took(&mut self, frame: &Frame, latency: u64) {
        let stream = usize::from(frame.stream);
        match self.slowing[stream] {
            0 => self.latency.record_n(latency, self.weight),
            more => (0..self.weight).for_each(|n| self.latency.record(latency + n * more)),
        }
        // Frames of a stretch follow each other alike in each of its repetitions, however much all
        // of them are slowed.
        let before = self.previous[stream].replace(latency);
        if let (Some(variation), Some(before)) = (&mut self.variation, before) {
            let side = if latency < before {
                &mut variation.less
            } else {
                &mut variation.more
            };
            side.record_n(latency.abs_diff(before), self.weight);
        }
        let is_it = |(stream, start, _): &(u8, u64, usize)| {
            (*stream, *start) == (frame.stream, frame.start)
        };
        for (.., tag) in self.on_way.iter().filter(|tagged| is_it(tagged)) {
            self.tagged[*tag] = Some(latency);
        }
    }

    /// Whether each frame still has to be looked at.
    pub(crate) fn is_watching(&self) -> bool {
        self.wants_passages() || !self.on_way.is_empty()
    }

    fn wants_passages(&self) -> bool {
        self.passages.len() < self.wanted.passages
    }

    /// What comes now stands for itself and `more` that are equal, each `period_ps` later, but for
    /// latencies: those of a stream grow from one to the next by what `slowing` has for it.
    pub(crate) fn begin_stretch(&mut self, more: u64, period_ps: u64, slowing: Vec<u64>) {
        (self.weight, self.lost_in_stretch, self.slowing) = (1 + more, 0, slowing);
        self.period_ps = period_ps;
    }

    /// The stretch is over; the last one that it stood for was `ps` later.
    pub(crate) fn end_stretch(&mut self, ps: u64) {
        for (previous, slowing) in self.previous.iter_mut().zip(&self.slowing) {
            *previous = previous.map(|latency| latency + slowing * (self.weight - 1));
        }
        (self.weight, self.period_ps) = (1, 0);
        self.slowing.fill(0);
        if self.lost_in_stretch > 0 {
            self.last_lost = self.last_lost.max(self.lost_in_stretch - 1 + ps);
        }
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        let was_lost = self.first_lost != NEVER;
        Outcome {
            streams: self.streams,
            latency: self.latency,
            first_lost: was_lost.then(|| Time::from_ps(self.first_lost)),
            last_lost: was_lost.then(|| Time::from_ps(self.last_lost)),
            passages: self.passages,
            simulated: self.simulated,
            first_out: (self.first_out != NEVER).then(|| Time::from_ps(self.first_out)),
            last_out: (self.last_out > 0).then(|| Time::from_ps(self.last_out)),
            after: self.after,
            tagged: self
                .tagged
                .into_iter()
                .flatten()
                .map(Span::from_ps)
                .collect(),
            variation: self.variation,
        }
    }
}

/// Frames of streams hold nothing.
impl Contents for Tally {
    const ARE_THERE: bool = false;

    fn received(&mut self, frame: &Frame) {
        self.note_received(frame);
    }

    fn ended(&mut self, frame: &Frame, fate: Fate, end: u64) {
        self.note_ended(frame, fate, end);
    }
}
