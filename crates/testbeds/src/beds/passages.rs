//! What is seen of frames of which is known when each came and left: latencies, how they vary, what
//! is missing.
//!
//! Those who take notes say of every test frame when it came, lost or not, and of those that came
//! out when they left. So a frame is known by its instant, whatever the distances between frames:
//! two frames were sent one after the other where none came between them, and one that came before
//! another that left, and did not leave, is missing.

use std::collections::{BTreeMap, VecDeque};
use trammel_bench::testbed::{Faults, Observation, Plan, Tags, Variation};
use trammel_bench::trial::TrialOutcome;
use trammel_core::time::{Span, Time};
use trammel_packet::batch::CAPACITY;
use trammel_router::simulate::port::{Coming, Passage};
use trammel_stats::histogram::Histogram;

/// Frames of a flow that are awaited at most; what came before is missing.
const MOST_AWAITED: usize = 1 << 22;

/// A frame: when it came, and how long it took.
#[derive(Clone, Copy, Debug)]
struct Frame {
    came: Time,
    latency: Span,
}

/// A frame to be tagged: the first of its flow that comes then or later.
#[derive(Clone, Copy, Debug)]
struct Tag {
    from: Time,
    latency: Option<Span>,
}

/// What was seen of a flow so far.
#[derive(Debug, Default)]
struct OfFlow {
    /// In their order; and how many have been.
    tags: Vec<Tag>,
    tagged: usize,
    /// When frames came that have not left, nor any that came later.
    awaited: VecDeque<Time>,
    /// Of the frames that left, the one that came last; and whether none is missing that came after
    /// it.
    last: Option<Frame>,
    is_whole: bool,
}

/// What was seen of frames in a part of a trial.
#[derive(Debug)]
struct Part {
    latency: Histogram,
    longest: Span,
    variation: Variation,
    reordered: u64,
    /// Of each flow, in the order in which they came.
    frames: Vec<Vec<Frame>>,
}

/// What was seen of the frames of a trial so far.
#[derive(Debug)]
pub(super) struct Seen {
    /// Only frames of this flow count, and only out of this port if there is one; all where there
    /// is none.
    only: Option<(u16, Option<usize>)>,
    /// When the plan began, by the clock of those who take notes, and how long it lasts.
    began: Time,
    end: Time,
    flows: Vec<OfFlow>,
    latency: Histogram,
    variation: Variation,
    reordered: u64,
    /// When the last missing frame came that is before others.
    last_missing: Option<Time>,
    /// Of each port and flow, when the latest frame came that has left.
    latest: BTreeMap<(usize, u16), Time>,
    /// How much later frames come than the clock of those who take notes says: the length of what
    /// was left out.
    later: Span,
    came_after: u64,
    offered: u64,
    forwarded: u64,
    part: Option<Part>,
}

fn variation() -> Variation {
    Variation {
        less: Histogram::of_times(),
        more: Histogram::of_times(),
    }
}

impl Seen {
    /// Of a plan that so many flows share; frames of flows with other numbers are none of the
    /// test's.
    pub(super) fn of(plan: &Plan, flows: usize) -> Seen {
        let tags = instants(plan.tags, Time::ZERO + plan.duration(), flows);
        let flows = tags.into_iter().map(|tags| OfFlow {
            tags,
            ..OfFlow::default()
        });
        Seen {
            only: None,
            began: Time::ZERO,
            end: Time::ZERO + plan.duration(),
            flows: flows.collect(),
            latency: Histogram::of_times(),
            variation: variation(),
            reordered: 0,
            last_missing: None,
            latest: BTreeMap::new(),
            later: Span::ZERO,
            came_after: 0,
            offered: 0,
            forwarded: 0,
            part: None,
        }
    }

    /// Of the frames of flow `flow` alone, out of port `port`; out of any where that is none.
    pub(super) fn of_flow(flow: u16, port: Option<usize>, plan: &Plan) -> Seen {
        Seen {
            only: Some((flow, port)),
            ..Seen::of(plan, 1)
        }
    }

    /// Notes are taken by a clock that says `at` when the plan begins.
    pub(super) fn begin(&mut self, at: Time) {
        self.began = at;
    }

    /// Notes are from now on taken by a clock that began when the plan had lasted for `lasted`.
    pub(super) fn later_by(&mut self, lasted: Span) {
        self.later = lasted;
    }

    /// When it was in the plan, by a note.
    fn in_plan(&self, at: Time) -> Time {
        Time::ZERO + at.saturating_since(self.began) + self.later
    }

    /// The place of a flow among those that count.
    fn place(&self, flow: u16) -> Option<usize> {
        let place = match self.only {
            None => usize::from(flow),
            Some((only, _)) if only == flow => 0,
            Some(_) => return None,
        };
        (place < self.flows.len()).then_some(place)
    }

    /// Takes note of what came since the last call, in the order of coming, and of what left, by
    /// port and in the order of leaving.
    pub(super) fn take(&mut self, comings: &[Coming], ports: &[Vec<Passage>]) {
        for coming in comings {
            let Some(place) = self.place(coming.flow) else {
                continue;
            };
            self.offered += 1;
            let at = self.in_plan(coming.at);
            let of = &mut self.flows[place];
            of.awaited.push_back(at);
            if of.awaited.len() > MOST_AWAITED {
                self.last_missing = self.last_missing.max(of.awaited.pop_front());
                of.is_whole = false;
            }
        }
        let mut part = Part {
            latency: Histogram::of_times(),
            longest: Span::ZERO,
            variation: variation(),
            reordered: 0,
            frames: vec![Vec::new(); self.flows.len()],
        };
        for (port, passages) in ports.iter().enumerate() {
            if matches!(self.only, Some((_, Some(out))) if out != port) {
                continue;
            }
            for passage in passages {
                let Some(place) = self.place(passage.flow) else {
                    continue;
                };
                let frame = Frame {
                    came: self.in_plan(passage.came),
                    latency: passage.latency(),
                };
                //= rfc4737 §3.3
                //# The value of Type-P-Reordered is defined as TRUE if s < NextExp (the packet is
                //# reordered).
                let latest = self.latest.entry((port, passage.flow)).or_default();
                part.reordered += u64::from(frame.came < *latest);
                *latest = frame.came.max(*latest);
                part.latency.record_time(frame.latency);
                part.longest = part.longest.max(frame.latency);
                part.frames[place].push(frame);
            }
        }
        for place in 0..part.frames.len() {
            let mut frames = std::mem::take(&mut part.frames[place]);
            frames.sort_by_key(|frame| frame.came);
            self.follow(place, &frames, &mut part.variation);
            part.frames[place] = frames;
        }
        self.count(&part, 1);
        self.part = Some(part);
    }

    /// Goes through frames of a flow that left, in the order in which they came.
    fn follow(&mut self, place: usize, frames: &[Frame], variation: &mut Variation) {
        let of = &mut self.flows[place];
        for frame in frames {
            let left = frame.came.saturating_add(frame.latency);
            self.came_after += u64::from(left > self.end);
            while let Some(tag) = of.tags.get_mut(of.tagged) {
                if tag.from > frame.came {
                    break;
                }
                tag.latency = Some(frame.latency);
                of.tagged += 1;
            }
            while let Some(missing) = take_if(&mut of.awaited, |first| first < frame.came) {
                self.last_missing = self.last_missing.max(Some(missing));
                of.is_whole = false;
            }
            // A copy, or one that others overtook, has no frame before it.
            if take_if(&mut of.awaited, |first| first == frame.came).is_none() {
                continue;
            }
            let (before, is_next) = (
                of.last.replace(*frame),
                std::mem::replace(&mut of.is_whole, true),
            );
            if let Some(before) = before.filter(|_| is_next) {
                let (less, more) = (before.latency, frame.latency);
                if more < less {
                    variation.less.record_time(less - more);
                } else {
                    variation.more.record_time(more - less);
                }
            }
        }
    }

    fn count(&mut self, part: &Part, times: u64) {
        // A bucket counts to four thousand million; of more, shares stay right where all counts are
        // cut alike.
        let room = u64::from(u32::MAX) / 2 / part.latency.count().max(1);
        let kept = times.min(room);
        self.latency.merge_n(&part.latency, kept);
        self.variation.less.merge_n(&part.variation.less, kept);
        self.variation.more.merge_n(&part.variation.more, kept);
        self.reordered += times * part.reordered;
        self.forwarded += times * part.latency.count();
    }

    /// What left since the call before the last one came so many times more, each `span` later than
    /// the time before. So many test frames of each flow come in that time.
    pub(super) fn repeat(&mut self, times: u64, span: Span, frames: &[u64]) {
        let Some(part) = self.part.take() else {
            return;
        };
        self.count(&part, times);
        let came: u64 = match self.only {
            Some((flow, _)) => frames[usize::from(flow)],
            None => frames.iter().sum(),
        };
        self.offered += times * came;
        // A batch more or less may have left than came; of many such times no more leaves than
        // comes.
        let left = part.latency.count();
        let batches = (CAPACITY * frames.len()) as u64;
        if left.abs_diff(came) <= batches {
            self.forwarded = self.forwarded + times * came - times * left;
        }
        let skipped = span * times;
        self.later += skipped;
        for (of, frames) in self.flows.iter_mut().zip(&part.frames) {
            // What is inside now is inside as well when all those times are over.
            for awaited in &mut of.awaited {
                *awaited += skipped;
            }
            let Some(last) = &mut of.last else {
                continue;
            };
            let first_gone = last.came;
            last.came += skipped;
            let until = last.came;
            while let Some(tag) = of.tags.get_mut(of.tagged) {
                if tag.from > until {
                    break;
                }
                // As in the part: so many spans earlier.
                let over = tag.from.saturating_since(first_gone).as_ps() % span.as_ps().max(1);
                let from = first_gone.saturating_sub(span) + Span::from_ps(over);
                let at = frames.partition_point(|frame| frame.came < from);
                tag.latency = frames.get(at).map(|frame| frame.latency);
                of.tagged += 1;
            }
        }
        for latest in self.latest.values_mut() {
            *latest += skipped;
        }
    }

    /// The longest latency of what was taken note of last, as its histogram has it.
    pub(super) fn longest(&self) -> Option<u64> {
        self.part.as_ref().and_then(|part| part.latency.max())
    }

    /// The same to the picosecond.
    pub(super) fn longest_exact(&self) -> Span {
        self.part.as_ref().map_or(Span::ZERO, |part| part.longest)
    }

    /// Test frames that came.
    pub(super) fn offered(&self) -> u64 {
        self.offered
    }

    /// Test frames that left.
    pub(super) fn forwarded(&self) -> u64 {
        self.forwarded
    }

    /// When the last frame came that is missing and was lost, supposed that all are lost that are
    /// missing.
    pub(super) fn last_missing(&self) -> Option<Time> {
        let awaited = self.flows.iter().filter_map(|of| of.awaited.back());
        self.last_missing.max(awaited.max().copied())
    }

    /// What was observed, all in all.
    pub(super) fn observation(self, offered: u64, forwarded: u64, effective: Span) -> Observation {
        let tags = self.flows.into_iter().flat_map(|of| of.tags);
        let mut tagged: Vec<Tag> = tags.collect();
        tagged.sort_by_key(|tag| tag.from);
        let outcome = TrialOutcome {
            offered,
            forwarded,
            effective,
            bunched: 0,
            latency: Some(self.latency),
        };
        Observation {
            faults: Faults {
                reordered: self.reordered,
                ..Faults::default()
            },
            variation: Some(self.variation),
            tagged: tagged.into_iter().filter_map(|tag| tag.latency).collect(),
            came_after: Some(self.came_after),
            ..Observation::of(outcome)
        }
    }
}

/// The first of `queue`, taken out of it, if it is such a one.
fn take_if(queue: &mut VecDeque<Time>, is_such: impl Fn(Time) -> bool) -> Option<Time> {
    let first = queue.front().copied().filter(|first| is_such(*first))?;
    queue.pop_front();
    Some(first)
}

/// When frames are tagged, by flow: evenly over what is left of the plan, each flow in turn.
fn instants(tags: Option<Tags>, end: Time, flows: usize) -> Vec<Vec<Tag>> {
    let mut all = vec![Vec::new(); flows];
    let Some(Tags { from, frames }) = tags else {
        return all;
    };
    let left = end.saturating_since(from);
    for number in 0..frames {
        let into = left.as_ps() as f64 * f64::from(number) / f64::from(frames.max(1));
        all[number as usize % flows.max(1)].push(Tag {
            from: from.saturating_add(Span::from_ps(into as u64)),
            latency: None,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::trial::Load;

    const US: fn(u64) -> Time = Time::from_us;

    fn passage(came: u64, took: u64) -> Passage {
        Passage {
            came: US(came),
            left: US(came + took),
            flow: 0,
        }
    }

    /// Frames a microsecond apart.
    fn plan(us: u64, tags: Option<Tags>) -> Plan {
        Plan {
            tags,
            ..Plan::of(&[Load::new(1e6, Span::from_us(us)).unwrap()])
        }
    }

    /// Frames that come at these microseconds.
    fn comings(us: impl Iterator<Item = u64>) -> Vec<Coming> {
        let coming = |at| Coming {
            at: US(at),
            flow: 0,
        };
        us.map(coming).collect()
    }

    fn of(plan: &Plan, passages: &[Passage]) -> (Option<Time>, Observation) {
        let mut seen = Seen::of(plan, 1);
        let all = comings(1..=plan.duration().as_ns() / 1000);
        seen.take(&all, &[passages.to_vec()]);
        let missing = seen.last_missing();
        let forwarded = seen.forwarded();
        (missing, seen.observation(10, forwarded, plan.duration()))
    }

    #[test]
    fn differences_are_of_frames_that_were_sent_one_after_the_other() {
        let passages = [
            (1, 3),
            (2, 5),
            (3, 4),
            (6, 9),
            (7, 9),
            (8, 1),
            (9, 1),
            (10, 1),
        ];
        let passages = passages.map(|(came, took)| passage(came, took));
        let (missing, seen) = of(&plan(10, None), &passages);
        let variation = seen.variation.unwrap();
        // 3 to 5, 9 to 9, 1 to 1, 1 to 1; 5 to 4, 9 to 1. Not 4 to 9, between which two are
        // missing.
        assert_eq!((variation.more.count(), variation.less.count()), (4, 2));
        assert_eq!(variation.more.max(), Some(US(2).as_ps()));
        assert_eq!(variation.less.max(), Some(US(8).as_ps()));
        assert_eq!(missing, Some(US(5)));
        // Those that came last left at 15, 16 and 11 us.
        assert_eq!(seen.came_after, Some(3));
    }

    #[test]
    fn what_is_missing_at_the_end_is_missing() {
        let (missing, _) = of(&plan(10, None), &[passage(1, 1), passage(2, 1)]);
        assert_eq!(missing, Some(US(10)));
        let all: Vec<Passage> = (1..=10).map(|at| passage(at, 1)).collect();
        assert_eq!(of(&plan(10, None), &all).0, None);
    }

    #[test]
    fn later_frames_that_left_first_are_told() {
        let (_, seen) = of(
            &plan(3, None),
            &[passage(1, 1), passage(3, 1), passage(2, 9)],
        );
        assert_eq!(seen.faults.reordered, 1);
    }

    #[test]
    fn distances_between_frames_do_not_matter() {
        // The second waits for its turn on the link behind a long one, and the fourth comes with
        // the third.
        let mut seen = Seen::of(&plan(9, None), 1);
        let all = comings([1, 5, 6, 6, 9].into_iter());
        let passages = [(1, 2), (5, 3), (6, 1), (9, 1)].map(|(came, took)| passage(came, took));
        seen.take(&all, &[passages.to_vec()]);
        assert_eq!(seen.last_missing(), Some(US(6)));
        let variation = seen.observation(5, 4, Span::from_us(9)).variation.unwrap();
        assert_eq!((variation.more.count(), variation.less.count()), (1, 1));
    }

    #[test]
    fn frames_of_other_flows_are_not_of_the_test() {
        let mut seen = Seen::of(&plan(9, None), 1);
        let other = |at| Passage {
            flow: 7,
            ..passage(at, 1)
        };
        let mut all = comings([1, 2, 4].into_iter());
        all.insert(2, Coming { at: US(3), flow: 7 });
        seen.take(
            &all,
            &[vec![passage(1, 1), passage(2, 1), other(3), passage(4, 1)]],
        );
        assert_eq!(
            (seen.offered(), seen.forwarded(), seen.last_missing()),
            (3, 3, None)
        );
        let variation = seen.observation(3, 3, Span::from_us(9)).variation.unwrap();
        // None of the test's came between the second and the last.
        assert_eq!(variation.more.count(), 2);
    }

    #[test]
    fn tags_are_spread_and_are_found_again_in_what_was_left_out() {
        let tags = Tags {
            from: US(4),
            frames: 4,
        };
        // Every third frame takes longer. All of twelve frames, and the first six with the second
        // three once more.
        let frame = |at| passage(at, if at % 3 == 0 { 5 } else { 1 });
        let plan = plan(12, Some(tags));
        let all: Vec<Passage> = (1..=12).map(frame).collect();
        let (_, whole) = of(&plan, &all);
        assert_eq!(whole.tagged, [1, 5, 1, 1].map(Span::from_us));
        let mut seen = Seen::of(&plan, 1);
        seen.take(&comings(1..=3), &[(1..=3).map(frame).collect()]);
        seen.take(&comings(4..=6), &[(4..=6).map(frame).collect()]);
        seen.repeat(1, Span::from_us(3), &[3]);
        seen.take(&comings(7..=9), &[(7..=9).map(frame).collect()]);
        assert_eq!((seen.forwarded(), seen.last_missing()), (12, None));
        assert_eq!(seen.offered(), 12);
        let cut = seen.observation(12, 12, Span::from_us(12));
        assert_eq!(cut.tagged, whole.tagged);
        let latency = |of: &Observation| of.outcome.latency.as_ref().unwrap().contents();
        assert_eq!(latency(&cut), latency(&whole));
        let all = |of: &Observation| {
            let Variation { less, more } = of.variation.as_ref().unwrap();
            (less.contents(), more.contents())
        };
        assert_eq!(all(&cut), all(&whole));
        assert_eq!(cut.faults, whole.faults);
    }
}
