//! States that come again: a run is cut short without any of its numbers changing.
//!
//! Streams of constant rates put the router, after a while, into a state that it was in before,
//! everything moved by the same span. What follows is what followed then, so one such period is
//! simulated and counted as often as it fits into what is left. Nothing is estimated: two states
//! are the same only when every queue, pointer and instant is. The earlier state is kept anew each
//! time twice as many looks have passed (Brent 1980), so it lies behind whatever filling of queues
//! came first.
//!
//! A queue that grows is no state that comes again, and a little overload fills it for the whole of
//! a trial. But nobody sees how long a queue is as long as it is neither empty nor full. So a state
//! that is the same but for longer queues counts as well, where a queue holds one stream's frames,
//! none is lost, and it stays between two frames and full: departures repeat, arrivals repeat, and
//! a frame's latency is that of its predecessor one period ago plus a constant. Where no state
//! comes again in either sense, every frame is simulated.

use crate::engine::Engine;
use crate::engine::frame::{Frame, Shift, Timed};
use crate::engine::receive::{Receive, Source};
use crate::engine::state::{Queue, Stored};
use crate::engine::tally::Tally;

/// Frames of the leading source, at least, from look to look: comparing is to cost little beside
/// simulating.
const FRAMES_BETWEEN_LOOKS: u64 = 64;

/// From when a source is to begin or a frame is tagged, states are not repeated: what is about to
/// happen may already be on its way.
const BEFORE_START_PS: u64 = 1_000_000_000;

/// Runs `engine` to its end.
pub(crate) fn run(engine: &mut Engine, tally: &mut Tally) {
    let mut watch = Watch::new(engine);
    while engine.step(tally) {
        if watch.next < u64::MAX && engine.source(watch.lead).sent >= watch.next {
            watch.look(engine, tally);
        }
    }
}

/// With so many frames in a queue the first one has been visible since before the reader looks for
/// the next.
const LEAST_FRAMES: usize = 2;

/// A port and one of its sources.
type Place = (usize, usize);

struct Watch {
    /// The source that tells when to look.
    lead: Place,
    /// Frames of it after which its next one lies in a cycle of the core as the first one did.
    every: u64,
    /// How many it has sent at the next look.
    next: u64,
    earlier: Option<Engine>,
    looks: u64,
    patience: u64,
}

impl Watch {
    fn new(engine: &Engine) -> Watch {
        let mut watch = Watch {
            lead: (0, 0),
            every: 1,
            next: u64::MAX,
            earlier: None,
            looks: 0,
            patience: 1,
        };
        watch.follow(engine);
        watch
    }

    /// Chooses as leading the source that sends next; none where all have ended.
    fn follow(&mut self, engine: &Engine) {
        (self.earlier, self.looks, self.patience) = (None, 0, 1);
        let running = engine.sources().filter(|(_, source)| source.left > 0);
        let Some((lead, source)) = running.min_by_key(|(_, source)| source.due) else {
            self.next = u64::MAX;
            return;
        };
        let clock = engine.params.clock_ps;
        let (period, frames) = source.period();
        let whole = frames * (clock / gcd(period, clock));
        self.lead = lead;
        self.every = whole * FRAMES_BETWEEN_LOOKS.div_ceil(whole);
        self.next = source.sent + self.every.min(source.left);
    }

    fn look(&mut self, engine: &mut Engine, tally: &mut Tally) {
        let lead = engine.source(self.lead);
        if lead.left == 0 {
            return self.follow(engine);
        }
        // A step may have taken in more than one frame: the grid stays, so that equal states lie on
        // it alike.
        self.next = (self.next + self.every).min(lead.sent + lead.left);
        if tally.is_watching() {
            return;
        }
        if let Some(earlier) = &self.earlier
            && let Some(period) = engine.repeats(earlier, self.lead)
        {
            let until_tag = tally.next_tag().map_or(u64::MAX, |tag| {
                // A line that others are on as well may lag behind what is due.
                let lines = engine.ports.iter().map(Receive::line_free);
                let now = lines.fold(lead.due, u64::max);
                let span = tag.as_ps().saturating_sub(now);
                (span.saturating_sub(BEFORE_START_PS) / period.shift.ps).saturating_sub(1)
            });
            let times = engine.times(earlier, &period, lead.due).min(until_tag);
            if times > 0 {
                self.skip(engine, tally, &period, times);
                return self.follow(engine);
            }
        }
        self.looks += 1;
        if self.earlier.is_none() || self.looks == self.patience {
            for queue in &mut engine.queues {
                (queue.least, queue.most) = (queue.frames.len(), queue.words);
            }
            self.earlier = Some(engine.clone());
            self.patience *= 2;
            self.looks = 0;
        }
    }

    /// Simulates one period for itself and `times` more.
    fn skip(&self, engine: &mut Engine, tally: &mut Tally, period: &Period, times: u64) {
        let before = engine.clone();
        let until = engine.source(self.lead).sent + period.sent;
        let slowing = engine.slowing(period, tally.streams());
        tally.begin_stretch(times, period.shift.ps, slowing);
        while engine.source(self.lead).sent < until && engine.step(tally) {}
        tally.end_stretch(period.shift.times(times).ps);
        debug_assert!(engine.repeats(&before, self.lead).as_ref() == Some(period));
        engine.advance(&before, period, times);
    }
}

/// What lies between two states that are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Period {
    shift: Shift,
    /// Frames of the leading source.
    sent: u64,
    /// Frames by which each queue has grown.
    growth: Vec<u64>,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Engine {
    fn source(&self, (port, source): Place) -> &Source {
        &self.ports[port].sources[source]
    }

    fn sources(&self) -> impl Iterator<Item = (Place, &Source)> {
        let ports = self.ports.iter().enumerate();
        ports.flat_map(|(port, receive)| {
            let sources = receive.sources.iter().enumerate();
            sources.map(move |(number, source)| ((port, number), source))
        })
    }

    /// The period from `earlier` to now, if the state then and the state now are the same.
    fn repeats(&self, earlier: &Engine, lead: Place) -> Option<Period> {
        let (source, then) = (self.source(lead), earlier.source(lead));
        let ps = source.due - then.due;
        let shift = Shift {
            ps,
            cycles: ps / self.params.clock_ps,
        };
        let now = source.due;
        let is_same = ps.is_multiple_of(self.params.clock_ps)
            && self.memory.turn == earlier.memory.turn
            && self.memory.cycle == earlier.memory.cycle + shift.cycles
            && self.served == earlier.served
            && self.arbiter.repeats(&earlier.arbiter, shift)
            && self.reader.repeats(&earlier.reader, shift)
            && self.writing.repeats(&earlier.writing, shift)
            && self.reading.repeats(&earlier.reading, shift)
            && self.written.len() == earlier.written.len()
            && self
                .written
                .iter()
                .zip(&earlier.written)
                .all(|(now, then)| {
                    self.passed - now.0 == earlier.passed - then.0 && now.1 == then.1 + shift.cycles
                })
            && self
                .ports
                .iter()
                .zip(&earlier.ports)
                .all(|(port, then)| port.repeats(then, shift, now))
            && self.transmits.repeats(&earlier.transmits, shift)
            && self.software.repeats(&earlier.software, shift);
        if !is_same {
            return None;
        }
        let queues = self.queues.iter().zip(&earlier.queues);
        let growth = queues.map(|(queue, then)| self.growth(queue, then, earlier, shift));
        Some(Period {
            shift,
            sent: source.sent - then.sent,
            growth: growth.collect::<Option<_>>()?,
        })
    }

    /// By how many frames `queue` is longer than `then`; `None` if they differ otherwise.
    fn growth(&self, queue: &Queue, then: &Queue, earlier: &Engine, shift: Shift) -> Option<u64> {
        if queue.repeats(then, shift) {
            return Some(0);
        }
        let more = queue.frames.len().checked_sub(then.frames.len())? as u64;
        let first = queue.frames.front()?.frame;
        let mut sources = self.sources().zip(earlier.sources());
        let ((_, source), (_, source_then)) =
            sources.find(|((_, source), _)| source.stream == first.stream)?;
        // Of bursts, frames do not lie at one distance.
        let (gap, 1) = source.period() else {
            return None;
        };
        let is_one_stream = queue.frames.iter().zip(0..).all(|(stored, n)| {
            let start = first.start + n * gap;
            stored.frame == Frame { start, ..first }
        });
        let is_grown = more > 0
            && queue.least >= LEAST_FRAMES
            && queue.free == then.free + shift.cycles
            && queue.stored - then.stored == source.sent - source_then.sent
            && is_one_stream;
        is_grown.then_some(more)
    }

    /// How often `period`, which began at `earlier`, can be repeated after it came once more,
    /// before a source ends or begins or a queue is full.
    fn times(&self, earlier: &Engine, period: &Period, now: u64) -> u64 {
        let sources = self.sources().zip(earlier.sources());
        let of_sources = sources.map(|((_, source), (_, then))| {
            let sent = source.sent - then.sent;
            if source.is_dormant(now) {
                (source.due - now).saturating_sub(BEFORE_START_PS) / period.shift.ps
            } else {
                // Those that have ended do not limit anything.
                let others = source.left.saturating_sub(1);
                others.checked_div(sent).unwrap_or(u64::MAX)
            }
        });
        let queues = self.queues.iter().zip(&period.growth);
        let growing = queues.filter(|(_, growth)| **growth > 0);
        let of_queues = growing.map(|(queue, growth)| {
            let words = u64::from(queue.frames[0].frame.words);
            self.most_words(words).saturating_sub(queue.most) / (growth * words)
        });
        let least = of_sources.chain(of_queues).min();
        least.map_or(0, |least| least.saturating_sub(1))
    }

    /// By how much the latency of each of `streams` grows in each `period`.
    fn slowing(&self, period: &Period, streams: usize) -> Vec<u64> {
        let mut slowing = vec![0; streams];
        for (queue, growth) in self.queues.iter().zip(&period.growth) {
            let (first, second) = (queue.frames.front(), queue.frames.get(1));
            if let (Some(first), Some(second)) = (first, second)
                && *growth > 0
            {
                let gap = second.frame.start - first.frame.start;
                slowing[usize::from(first.frame.stream)] = growth * gap;
            }
        }
        slowing
    }

    /// Moves to where the router is after the period since `earlier` came `times` times more.
    fn advance(&mut self, earlier: &Engine, period: &Period, times: u64) {
        for (port, then) in self.ports.iter_mut().zip(&earlier.ports) {
            port.advance(then, period.shift, times);
        }
        let by = period.shift.times(times);
        self.memory.cycle += by.cycles;
        self.arbiter.advance(by);
        self.reader.advance(by);
        self.writing.advance(by);
        self.reading.advance(by);
        for (_, cycle) in &mut self.written {
            *cycle += by.cycles;
        }
        self.transmits.advance(by);
        self.software.advance(by);
        self.queues.advance(by);
        for (queue, growth) in self.queues.iter_mut().zip(&period.growth) {
            queue.grow(growth * times);
        }
    }
}

impl Queue {
    /// Puts `more` frames of its stream before those in it, which have just been moved: they came
    /// while it grew.
    fn grow(&mut self, more: u64) {
        let [Some(first), Some(second)] = [0, 1].map(|n| self.frames.get(n).copied()) else {
            return;
        };
        let gap = second.frame.start - first.frame.start;
        for n in 1..=more {
            let start = first.frame.start - n * gap;
            let frame = Frame {
                start,
                ..first.frame
            };
            self.frames.push_front(Stored { frame, ..first });
        }
        self.words += more * u64::from(first.frame.words);
    }
}
