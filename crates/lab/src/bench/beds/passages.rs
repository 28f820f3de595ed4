//! What is seen of frames of which is known when each came and left: latencies, how they vary, what is missing.
//!
//! Frames of a flow come at one distance while a load lasts, so a frame that is missing shows in the distance between those
//! beside it, and two frames were sent one after the other where that distance is one.

use std::collections::BTreeMap;
use trammel_bench::testbed::{Faults, Observation, Plan, Tags, Variation};
use trammel_bench::trial::{Load, Outcome};
use trammel_core::histogram::Histogram;
use trammel_core::time::Time;
use trammel_packet::batch::CAPACITY;
use trammel_router::simulate::port::Passage;

/// A load as the frames of a flow come by it.
#[derive(Clone, Copy, Debug)]
struct Phase {
    end: Time,
    gap: Time,
}

/// A frame: when it came, and how long it took.
#[derive(Clone, Copy, Debug)]
struct Frame {
    came: Time,
    latency: Time,
}

/// A frame to be tagged: the first of its flow that comes then or later.
#[derive(Clone, Copy, Debug)]
struct Tag {
    from: Time,
    latency: Option<Time>,
}

/// What was seen of frames in a part of a trial.
#[derive(Debug)]
struct Part {
    latency: Histogram,
    variation: Variation,
    reordered: u64,
    /// Of each flow, in the order in which they came.
    frames: Vec<Vec<Frame>>,
}

/// What was seen of the frames of a trial so far.
#[derive(Debug)]
pub(super) struct Seen {
    /// Only frames of this flow count, and only out of this port if there is one; all where there is none.
    only: Option<(u16, Option<usize>)>,
    /// When the plan began, by the clock of those who take notes.
    began: Time,
    phases: Vec<Phase>,
    /// By flow, in their order; and how many have been.
    tags: Vec<Vec<Tag>>,
    tagged: Vec<usize>,
    latency: Histogram,
    variation: Variation,
    reordered: u64,
    /// When the last missing frame came that is between others.
    last_missing: Option<Time>,
    /// Of each flow, the frame that came last.
    last: Vec<Option<Frame>>,
    /// Of each port and flow, when the latest frame came that has left.
    latest: BTreeMap<(usize, u16), Time>,
    /// How much later frames come than the clock of those who take notes says: the length of what was left out.
    later: Time,
    came_after: u64,
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
    /// Of a plan that so many flows share evenly.
    pub(super) fn of(plan: &Plan, flows: usize) -> Seen {
        Seen::with(&plan.loads, flows, plan.tags)
    }

    /// Of the frames of flow `flow`, which has `load`, out of port `port`; out of any where that is none.
    pub(super) fn of_flow(flow: u16, port: Option<usize>, load: Load) -> Seen {
        Seen {
            only: Some((flow, port)),
            ..Seen::with(&[load], 1, None)
        }
    }

    /// Notes are taken by a clock that says `at` when the plan begins.
    pub(super) fn begin(&mut self, at: Time) {
        self.began = at;
    }

    fn with(loads: &[Load], flows: usize, tags: Option<Tags>) -> Seen {
        let mut end = Time::ZERO;
        let phases = loads.iter().map(|load| {
            end = end.saturating_add(load.duration());
            let gap = flows as f64 / load.frames_per_second();
            Phase {
                end,
                gap: Time::from_secs_f64(gap),
            }
        });
        let phases = phases.collect();
        Seen {
            only: None,
            began: Time::ZERO,
            phases,
            tags: instants(tags, end, flows),
            tagged: vec![0; flows],
            latency: Histogram::of_times(),
            variation: variation(),
            reordered: 0,
            last_missing: None,
            last: vec![None; flows],
            latest: BTreeMap::new(),
            later: Time::ZERO,
            came_after: 0,
            forwarded: 0,
            part: None,
        }
    }

    /// Notes are from now on taken by a clock that began when the plan had lasted for `at`.
    pub(super) fn later_by(&mut self, at: Time) {
        self.later = at;
    }

    /// Takes note of what left since the last call, by port and in the order of leaving.
    pub(super) fn take(&mut self, ports: &[Vec<Passage>]) {
        let mut part = Part {
            latency: Histogram::of_times(),
            variation: variation(),
            reordered: 0,
            frames: vec![Vec::new(); self.last.len()],
        };
        for (port, passages) in ports.iter().enumerate() {
            for passage in passages {
                let flow = match self.only {
                    None => usize::from(passage.flow),
                    Some((flow, out)) if flow == passage.flow && out.unwrap_or(port) == port => 0,
                    Some(_) => continue,
                };
                let Some(frames) = part.frames.get_mut(flow) else {
                    continue;
                };
                let frame = Frame {
                    came: passage.came.saturating_sub(self.began) + self.later,
                    latency: passage.latency(),
                };
                //= rfc4737 §3.3
                let latest = self.latest.entry((port, passage.flow)).or_default();
                part.reordered += u64::from(frame.came < *latest);
                *latest = frame.came.max(*latest);
                part.latency.record_time(frame.latency);
                frames.push(frame);
            }
        }
        for flow in 0..part.frames.len() {
            let mut frames = std::mem::take(&mut part.frames[flow]);
            frames.sort_by_key(|frame| frame.came);
            self.follow(flow, &frames, &mut part.variation);
            part.frames[flow] = frames;
        }
        self.count(&part, 1);
        self.part = Some(part);
    }

    /// Goes through frames of a flow that came one after the other.
    fn follow(&mut self, flow: usize, frames: &[Frame], variation: &mut Variation) {
        let sent_by = self.phases.last().map_or(Time::ZERO, |phase| phase.end);
        for frame in frames {
            let left = frame.came.saturating_add(frame.latency);
            self.came_after += u64::from(left > sent_by);
            let tags = &mut self.tags[flow];
            while let Some(tag) = tags.get_mut(self.tagged[flow]) {
                if tag.from > frame.came {
                    break;
                }
                tag.latency = Some(frame.latency);
                self.tagged[flow] += 1;
            }
            let phase = self.phases.iter().find(|phase| frame.came <= phase.end);
            let gap = phase
                .or(self.phases.last())
                .map_or(Time::ZERO, |phase| phase.gap);
            if let Some(before) = self.last[flow].replace(*frame) {
                let apart = frame.came.saturating_sub(before.came);
                if apart > gap + gap / 2 {
                    let missing = frame.came.saturating_sub(gap);
                    self.last_missing = self.last_missing.max(Some(missing));
                } else {
                    let (less, more) = (before.latency, frame.latency);
                    if more < less {
                        variation.less.record_time(less - more);
                    } else {
                        variation.more.record_time(more - less);
                    }
                }
            }
        }
    }

    fn count(&mut self, part: &Part, times: u64) {
        // A bucket counts to four thousand million; of more, shares stay right where all counts are cut alike.
        let room = u64::from(u32::MAX) / 2 / part.latency.count().max(1);
        let kept = times.min(room);
        self.latency.merge_n(&part.latency, kept);
        self.variation.less.merge_n(&part.variation.less, kept);
        self.variation.more.merge_n(&part.variation.more, kept);
        self.reordered += times * part.reordered;
        self.forwarded += times * part.latency.count();
    }

    /// What left since the call before the last one came so many times more, each `span` later than the time before. So many
    /// frames of each flow come in that time.
    pub(super) fn repeat(&mut self, times: u64, span: Time, frames: &[u64]) {
        let Some(part) = self.part.take() else {
            return;
        };
        self.count(&part, times);
        let came: u64 = match self.only {
            Some((flow, _)) => frames[usize::from(flow)],
            None => frames.iter().sum(),
        };
        // A batch more or less may have left than came; of many such times no more leaves than comes.
        let left = part.latency.count();
        let batches = (CAPACITY * frames.len()) as u64;
        if left.abs_diff(came) <= batches {
            self.forwarded = self.forwarded + times * came - times * left;
        }
        let skipped = span * times;
        self.later = self.later.saturating_add(skipped);
        for (flow, frames) in part.frames.iter().enumerate() {
            let Some(last) = &mut self.last[flow] else {
                continue;
            };
            let first_gone = last.came;
            last.came = last.came.saturating_add(skipped);
            let until = last.came;
            let tags = &mut self.tags[flow];
            while let Some(tag) = tags.get_mut(self.tagged[flow]) {
                if tag.from > until {
                    break;
                }
                // As in the part: so many spans earlier.
                let over = tag.from.saturating_sub(first_gone).as_ps() % span.as_ps().max(1);
                let from = first_gone
                    .saturating_sub(span)
                    .saturating_add(Time::from_ps(over));
                let at = frames.partition_point(|frame| frame.came < from);
                tag.latency = frames.get(at).map(|frame| frame.latency);
                self.tagged[flow] += 1;
            }
        }
        for latest in self.latest.values_mut() {
            *latest = latest.saturating_add(skipped);
        }
    }

    /// The longest latency of what was taken note of last.
    pub(super) fn longest(&self) -> Option<u64> {
        self.part.as_ref().and_then(|part| part.latency.max())
    }

    /// Frames that left.
    pub(super) fn forwarded(&self) -> u64 {
        self.forwarded
    }

    /// When the last frame came that is missing and was lost, supposed that all are lost that are missing.
    pub(super) fn last_missing(&self) -> Option<Time> {
        let end = self.phases.last()?;
        let gone = |last: &Option<Frame>| {
            last.is_some_and(|last| last.came.saturating_add(end.gap + end.gap / 2) < end.end)
        };
        if self.last.iter().any(gone) {
            return Some(end.end);
        }
        self.last_missing
    }

    /// What was observed, all in all.
    pub(super) fn observation(self, offered: u64, forwarded: u64, effective: Time) -> Observation {
        let mut tagged: Vec<Tag> = self.tags.into_iter().flatten().collect();
        tagged.sort_by_key(|tag| tag.from);
        let outcome = Outcome {
            offered,
            forwarded,
            effective,
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

/// When frames are tagged, by flow: evenly over what is left of the plan, each flow in turn.
fn instants(tags: Option<Tags>, end: Time, flows: usize) -> Vec<Vec<Tag>> {
    let mut all = vec![Vec::new(); flows];
    let Some(Tags { from, frames }) = tags else {
        return all;
    };
    let left = end.saturating_sub(from);
    for number in 0..frames {
        let into = left.as_ps() as f64 * f64::from(number) / f64::from(frames.max(1));
        all[number as usize % flows.max(1)].push(Tag {
            from: from.saturating_add(Time::from_ps(into as u64)),
            latency: None,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ..Plan::of(&[Load::new(1e6, US(us)).unwrap()])
        }
    }

    fn of(plan: &Plan, passages: &[Passage]) -> (Option<Time>, Observation) {
        let mut seen = Seen::of(plan, 1);
        seen.take(&[passages.to_vec()]);
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
        // 3 to 5, 9 to 9, 1 to 1, 1 to 1; 5 to 4, 9 to 1. Not 4 to 9, between which two are missing.
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
    fn tags_are_spread_and_are_found_again_in_what_was_left_out() {
        let tags = Tags {
            from: US(4),
            frames: 4,
        };
        // Every third frame takes longer. All of twelve frames, and the first six with the second three once more.
        let frame = |at| passage(at, if at % 3 == 0 { 5 } else { 1 });
        let plan = plan(12, Some(tags));
        let all: Vec<Passage> = (1..=12).map(frame).collect();
        let (_, whole) = of(&plan, &all);
        assert_eq!(whole.tagged, [US(1), US(5), US(1), US(1)]);
        let mut seen = Seen::of(&plan, 1);
        seen.take(&[(1..=3).map(frame).collect()]);
        seen.take(&[(4..=6).map(frame).collect()]);
        seen.repeat(1, US(3), &[3]);
        seen.take(&[(7..=9).map(frame).collect()]);
        assert_eq!((seen.forwarded(), seen.last_missing()), (12, None));
        let cut = seen.observation(12, 12, US(12));
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
