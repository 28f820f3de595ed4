//! One trial: what is offered to the model, and what came of it.

use super::ran::Ran;
use super::{NetFpga, Path, RESTART};
use trammel_bench::frames::Sizes;
use trammel_bench::testbed::{
    Directions, Observation, Outage, Plan, Protocol, Traffic, Unable, Variation,
};
use trammel_bench::trial::{Failure, Load, TrialOutcome};
use trammel_core::time::{Span, Time};
use trammel_netfpga::recording::Recording;
use trammel_netfpga::restart;
use trammel_netfpga::stream::Stream;

/// Routes that the design's table holds.
const ROUTES: u32 = 32;

impl NetFpga {
    /// Pairs of ports between which frames go.
    pub(super) fn ways(&self, traffic: &Traffic) -> Result<Vec<(usize, usize)>, Unable> {
        let ports = self.params().ports;
        let next = |port: u64| (port as usize, ((port + 1) % ports) as usize);
        match traffic.directions {
            Directions::OneWay => Ok((0..self.loaded).map(next).collect()),
            Directions::Both if self.loaded == 1 => Ok(vec![(0, 1), (1, 0)]),
            Directions::Both => Err(Unable(
                "with more than one port loaded, the model sends in one direction: leave \
                 `--both-ways` out"
                    .to_owned(),
            )),
        }
    }

    /// Refuses traffic that the model does not know.
    pub(super) fn check(&self, traffic: &Traffic) -> Result<(), Unable> {
        let refused = match traffic {
            Traffic {
                protocol: Protocol::Ip6,
                ..
            } => "the design routes IPv4 only; other frames go to its software: `path=software`",
            Traffic {
                modifier: Some(_), ..
            } => "the model is offered test frames only, so modifiers do not apply",
            Traffic { networks, .. } if *networks > ROUTES && self.contents.is_none() => {
                "the design's table holds 32 routes; give `--networks 1`"
            }
            _ => return Ok(()),
        };
        Err(Unable(refused.to_owned()))
    }

    /// The streams of `load` on one way from `start` on: one for each size, in the shares of the
    /// mix.
    pub(super) fn streams(
        &self,
        way: (usize, usize),
        (sizes, burst): (&Sizes, u32),
        load: (f64, Span),
        start: Time,
    ) -> Vec<Stream> {
        let (fps, duration) = load;
        let bytes = sizes.bytes();
        let mut distinct = bytes.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let stream = |size: u32| {
            let share = bytes.iter().filter(|other| **other == size).count() as f64;
            let fps = fps * share / bytes.len() as f64;
            let stream = Stream::at_rate(way, u64::from(size), fps, duration);
            // The load's own number: one frame less for a gap that was rounded would be a frame too
            // few.
            let frames = (fps * duration.as_secs_f64()).round() as u64;
            let least = Span::from_ps(self.params().line_ps(u64::from(size)));
            let exceptions = match self.path {
                Path::Hardware => 0,
                Path::Software => 1_000_000,
            };
            let stream = Stream {
                frames,
                gap: stream.gap.max(least),
                ..stream
            };
            stream
                .starting(start)
                .in_bursts(u64::from(burst))
                .with_exceptions(exceptions)
        };
        distinct.into_iter().map(stream).collect()
    }

    /// All streams of `plan`.
    fn offered(&self, traffic: &Traffic, plan: &Plan) -> Result<Vec<Stream>, Unable> {
        self.check(traffic)?;
        let ways = self.ways(traffic)?;
        let mut all = Vec::new();
        let mut start = Time::ZERO;
        for load in &plan.loads {
            for way in &ways {
                let fps = load.frames_per_second() / ways.len() as f64;
                let of = (&traffic.sizes, traffic.burst);
                all.extend(self.streams(*way, of, (fps, load.duration()), start));
            }
            start += load.duration();
        }
        Ok(all)
    }

    /// When the last frame of `streams` has come in.
    pub(super) fn end(&self, streams: &[Stream]) -> Time {
        let end = |stream: &Stream| {
            let on_line = self.params().line_ps(stream.frame_bytes);
            stream.last_start().saturating_add(Span::from_ps(on_line))
        };
        streams.iter().map(end).max().unwrap_or(Time::ZERO)
    }

    pub(super) fn run(
        &self,
        traffic: &Traffic,
        streams: &[Stream],
        tags: Vec<Time>,
        until: Time,
    ) -> Result<Ran, Failure> {
        let wanted = Recording {
            is_from_last_bit: true,
            has_variation: true,
            until: Some(until),
            tags,
            ..Recording::default()
        };
        match &self.contents {
            Some(contents) => contents.run(self.params(), traffic, streams, &wanted),
            None => Ok(self.router.run_recording(streams, &wanted)?.into()),
        }
    }

    /// What `plan` does to the model.
    pub(super) fn observe(&self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        let streams = self.offered(traffic, plan)?;
        let tags = tags(plan);
        let end = self.end(&streams);
        match &plan.reset {
            None => {
                let ran = self.run(traffic, &streams, tags, end)?;
                Ok(self.observed(plan, &streams, ran))
            }
            Some(reset) if reset.kind == RESTART => {
                self.restarted(plan, (traffic, &streams), reset.at, tags)
            }
            Some(reset) => Err(Unable(format!("the model has no reset `{}`", reset.kind)).into()),
        }
    }

    /// As [`observe`](Self::observe) with a restart at `at`: what is in the card is lost, and what
    /// comes until it is over.
    fn restarted(
        &self,
        plan: &Plan,
        (traffic, streams): (&Traffic, &[Stream]),
        at: Time,
        tags: Vec<Time>,
    ) -> Result<Observation, Failure> {
        let up = at.saturating_add(restart::outage(self.params()));
        let split = |instant: Time| {
            let halves = streams
                .iter()
                .map(|stream| stream.split(stream.frames_before(instant), self.params()));
            halves.unzip::<_, _, Vec<_>, Vec<_>>()
        };
        let ((before, _), (_, after)) = (split(at), split(up));
        let (tags, later) = tags.into_iter().partition(|tag| *tag < at);
        let first = self.run(traffic, &before, tags, at)?;
        let mut second = self.run(traffic, &after, later, self.end(&after))?;
        let offered: u64 = streams.iter().map(|stream| stream.frames).sum();
        let forwarded = first.total().came - first.after + second.total().came;
        let (from, to) = (first.last_out, second.first_out);
        second.latency.merge(&first.latency);
        let mut observed = self.observed(plan, streams, second);
        observed.outcome.offered = offered;
        observed.outcome.forwarded = forwarded;
        observed.last_lost = observed.last_lost.or(Some(up.min(self.end(streams))));
        observed.outage = from.zip(to).map(|(from, to)| Outage {
            from,
            to,
            lost: offered - forwarded,
        });
        // Those of the frames before it.
        observed.tagged.splice(0..0, first.tagged);
        Ok(observed)
    }

    /// What a frame takes that comes alone, from its last bit in to its last bit out.
    pub(super) fn alone(&self, bytes: u32) -> Result<Span, Failure> {
        let on_line = Span::from_ps(self.params().line_ps(u64::from(bytes)));
        let traffic = Traffic::of(Sizes::of(bytes)?);
        let load = Load::new(1.0, Span::from_secs(1)).ok_or("one frame a second")?;
        let observed = self.observe(&traffic, &Plan::of(&[load]))?;
        let latency = observed.outcome.latency.as_ref();
        let latency = latency.and_then(|latency| latency.quantile_time(0.5));
        Ok(latency.ok_or("the model forwards no frame")? + on_line)
    }

    /// The words of testbeds for what `ran` says.
    fn observed(&self, plan: &Plan, streams: &[Stream], ran: Ran) -> Observation {
        let is_forwarding = self.path == Path::Hardware;
        let outcome = TrialOutcome {
            offered: ran.total().received,
            forwarded: ran.total().came,
            effective: plan.duration().max(last_due(streams).since_start()),
            bunched: 0,
            latency: is_forwarding.then_some(ran.latency),
        };
        Observation {
            last_lost: ran.last_lost,
            variation: Some(Variation {
                less: ran.variation.less,
                more: ran.variation.more,
            }),
            tagged: ran.tagged,
            came_after: Some(ran.after),
            ..Observation::of(outcome)
        }
    }
}

/// When a next frame of `streams` would be due: until then the sending takes.
pub(super) fn last_due(streams: &[Stream]) -> Time {
    let end = |stream: &Stream| stream.last_start().saturating_add(stream.gap);
    streams.iter().map(end).max().unwrap_or(Time::ZERO)
}

/// The instants at which frames are tagged, evenly spread.
fn tags(plan: &Plan) -> Vec<Time> {
    let Some(tags) = plan.tags else {
        return Vec::new();
    };
    let left = plan.duration().saturating_sub(tags.from.since_start());
    let at = |n: u32| tags.from + left / u64::from(tags.frames) * u64::from(n);
    (0..tags.frames).map(at).collect()
}
