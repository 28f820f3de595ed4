//! The NetFPGA reference router as a device under test, by its model: nothing of it is here
//! (docs/netfpga.md).
//!
//! ```text
//! --model reference-1g                                  a design of the crate `netfpga`
//! --model reference-1g:loaded=4                         as many ports are offered the load, each to the next
//! --model reference-1g:path=software                    every frame goes by the software, as through the paper's `nf2c0`
//! --model reference-1g:ideal_memory=1,tx_cycles=20      any number of the design
//! ```
//! Virtual time: a trial of a minute takes no minute, and the same trial always gives the same. A
//! repetition is therefore the same number again, which is kept and not computed anew.

use crate::transfer::simulated::{self, ACK_BYTES, DeviceBetween, SEGMENT_BYTES};
use anyhow::{Context, bail};
use trammel_bench::frames::Sizes;
use trammel_bench::ports::PortFlow;
use trammel_bench::testbed::{
    Directions, LatencyOf, Observation, Outage, Plan, Protocol, Testbed, Traffic, Unable, Variation,
};
use trammel_bench::transfer::{File, Protocol as Carrier, Transferred};
use trammel_bench::trial::{Failure, Load, TrialOutcome};
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_netfpga::outcome::{Counts, Fate, Outcome as Ran};
use trammel_netfpga::params::{Params, preset};
use trammel_netfpga::recording::Recording;
use trammel_netfpga::restart;
use trammel_netfpga::router::Router;
use trammel_netfpga::stream::Stream;

/// Frames of a port that are simulated of a long trial, about, before its state comes again.
const SIMULATED: f64 = 200_000.0;
/// What one of them takes here, s, about.
const FRAME_S: f64 = 0.25e-6;
/// What a restart of the card is in RFC 6201's taxonomy: the card is a line card of its host.
const RESTART: &str = "hardware-lc: FPGA, tables and control software";

/// Routes that the design's table holds.
const ROUTES: u32 = 32;

/// Where the frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    /// From port to port.
    Hardware,
    /// To the software, and no further.
    Software,
}

/// The model with a tester around it.
#[derive(Debug)]
pub struct NetFpga {
    name: String,
    router: Router,
    path: Path,
    /// Ports that are offered the load, each to the next.
    loaded: u64,
    /// What came of the last trial.
    last: Option<(Traffic, Plan, Observation)>,
}

impl NetFpga {
    /// The design that `text` names, with what it changes of it: `NAME` or
    /// `NAME:KEY=VALUE,KEY=VALUE`.
    pub fn parse(text: &str) -> anyhow::Result<NetFpga> {
        let (name, changes) = text.split_once(':').unwrap_or((text, ""));
        let mut params = preset(name)?;
        let (mut path, mut loaded) = (Path::Hardware, 1);
        for change in changes.split(',').filter(|change| !change.is_empty()) {
            let (key, value) = change.split_once('=').with_context(|| {
                format!("`--model {text}`: `{change}` changes nothing; write it as KEY=VALUE")
            })?;
            let number = || {
                let number = value.parse::<u64>().ok();
                number.with_context(|| format!("`{key}` = `{value}`: that is no whole number"))
            };
            match (key, value) {
                ("path", "hardware") => path = Path::Hardware,
                ("path", "software") => path = Path::Software,
                ("path", _) => bail!("`path` = `{value}`: it is `hardware` or `software`"),
                ("loaded", _) => loaded = number()?,
                _ => params.set(key, number()?)?,
            }
        }
        if !(1..=params.ports).contains(&loaded) {
            let ports = params.ports;
            bail!("`loaded` = {loaded}: the design has {ports} ports; give 1 to {ports}");
        }
        Ok(NetFpga {
            name: text.to_owned(),
            router: Router::new(&params)?,
            path,
            loaded,
            last: None,
        })
    }

    fn params(&self) -> &Params {
        self.router.params()
    }

    /// Pairs of ports between which frames go.
    fn ways(&self, traffic: &Traffic) -> Result<Vec<(usize, usize)>, Unable> {
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
    fn check(traffic: &Traffic) -> Result<(), Unable> {
        let refused = match traffic {
            Traffic {
                protocol: Protocol::Ip6,
                ..
            } => "the design routes IPv4 only; other frames go to its software: `path=software`",
            Traffic {
                modifier: Some(_), ..
            } => "the model's frames have no contents, so modifiers do not apply",
            Traffic { networks, .. } if *networks > ROUTES => {
                "the design's table holds 32 routes; give `--networks 1`"
            }
            _ => return Ok(()),
        };
        Err(Unable(refused.to_owned()))
    }

    /// The streams of `load` on one way from `start` on: one for each size, in the shares of the
    /// mix.
    fn streams(
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
        NetFpga::check(traffic)?;
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
    fn end(&self, streams: &[Stream]) -> Time {
        let end = |stream: &Stream| {
            let on_line = self.params().line_ps(stream.frame_bytes);
            stream.last_start().saturating_add(Span::from_ps(on_line))
        };
        streams.iter().map(end).max().unwrap_or(Time::ZERO)
    }

    fn run(&self, streams: &[Stream], tags: Vec<Time>, until: Time) -> Result<Ran, Failure> {
        let wanted = Recording {
            is_from_last_bit: true,
            has_variation: true,
            until: Some(until),
            tags,
            ..Recording::default()
        };
        Ok(self.router.run_recording(streams, &wanted)?)
    }

    /// What `plan` does to the model.
    fn observe(&self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        let streams = self.offered(traffic, plan)?;
        let tags = tags(plan);
        let end = self.end(&streams);
        match &plan.reset {
            None => {
                let ran = self.run(&streams, tags, end)?;
                Ok(self.observed(plan, &streams, ran))
            }
            Some(reset) if reset.kind == RESTART => self.restarted(plan, &streams, reset.at, tags),
            Some(reset) => Err(Unable(format!("the model has no reset `{}`", reset.kind)).into()),
        }
    }

    /// As [`observe`](Self::observe) with a restart at `at`: what is in the card is lost, and what
    /// comes until it is over.
    fn restarted(
        &self,
        plan: &Plan,
        streams: &[Stream],
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
        let first = self.run(&before, tags, at)?;
        let mut second = self.run(&after, later, self.end(&after))?;
        let offered: u64 = streams.iter().map(|stream| stream.frames).sum();
        let forwarded = came(&first) - first.after + came(&second);
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
    fn alone(&self, bytes: u32) -> Result<Span, Failure> {
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
            forwarded: came(&ran),
            effective: plan.duration().max(last_due(streams).since_start()),
            bunched: 0,
            latency: is_forwarding.then_some(ran.latency),
        };
        Observation {
            last_lost: ran.last_lost,
            variation: ran.variation.map(|variation| Variation {
                less: variation.less,
                more: variation.more,
            }),
            tagged: ran.tagged,
            came_after: Some(ran.after),
            ..Observation::of(outcome)
        }
    }
}

/// When a next frame of `streams` would be due: until then the sending takes.
fn last_due(streams: &[Stream]) -> Time {
    let end = |stream: &Stream| stream.last_start().saturating_add(stream.gap);
    streams.iter().map(end).max().unwrap_or(Time::ZERO)
}

/// Frames that came out where they should.
fn came(ran: &Ran) -> u64 {
    came_of(&ran.total())
}

fn came_of(counts: &Counts) -> u64 {
    counts.forwarded() + counts.of(Fate::Delivered)
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

impl Testbed for NetFpga {
    fn label(&self) -> Label {
        Label::Modelled
    }

    fn device(&self) -> String {
        format!("NetFPGA model {}", self.name)
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        let params = self.params();
        let bits_per_s = 8e12 / params.byte_ps() as f64;
        let ways = self.ways(traffic).map_or(1, |ways| ways.len());
        ways as f64 * traffic.sizes.line_fps(bits_per_s)
    }

    fn sources(&self, traffic: &Traffic) -> u32 {
        let ways = self.ways(traffic).map_or(1, |ways| ways.len());
        let mut sizes = traffic.sizes.bytes().to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        (ways * sizes.len()) as u32
    }

    fn latency_of(&self) -> LatencyOf {
        LatencyOf::StoreAndForward
    }

    fn resets(&self) -> Vec<String> {
        vec![RESTART.to_owned()]
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        if let Some((_, _, observed)) = self
            .last
            .as_ref()
            .filter(|(with, by, _)| with == traffic && by == plan)
        {
            return Ok(observed.clone());
        }
        let observed = self.observe(traffic, plan)?;
        self.last = Some((traffic.clone(), plan.clone(), observed.clone()));
        Ok(observed)
    }

    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        let mut streams = Vec::new();
        let mut of_flow = Vec::new();
        for flow in flows {
            NetFpga::check(&flow.traffic)?;
            let ports = self.params().ports;
            if u64::from(flow.from.max(flow.to)) >= ports {
                return Err(Unable(format!("the design has {ports} ports")).into());
            }
            let way = (flow.from as usize, flow.to as usize);
            let load = (flow.load.frames_per_second(), flow.load.duration());
            let of = (&flow.traffic.sizes, flow.traffic.burst);
            let own = self.streams(way, of, load, Time::ZERO);
            of_flow.push(streams.len()..streams.len() + own.len());
            streams.extend(own);
        }
        let ran = self.run(&streams, Vec::new(), self.end(&streams))?;
        let observation = |(flow, range): (&PortFlow, std::ops::Range<usize>)| {
            let own = &ran.streams[range.clone()];
            Observation::of(TrialOutcome {
                offered: own.iter().map(|counts| counts.received).sum(),
                forwarded: own.iter().map(came_of).sum(),
                effective: flow
                    .load
                    .duration()
                    .max(last_due(&streams[range]).since_start()),
                bunched: 0,
                latency: None,
            })
        };
        Ok(flows.iter().zip(of_flow).map(observation).collect())
    }

    fn takes(&self, _: &Traffic, plan: &Plan) -> Option<Span> {
        let tags = plan.tags.map_or(0, |tags| tags.frames);
        let most = SIMULATED * self.loaded as f64 * f64::from(tags + 1);
        Some(Span::from_secs_f64(plan.frames().min(most) * FRAME_S))
    }

    fn carries_files(&self, carrier: &Carrier) -> Result<(), Unable> {
        if self.path == Path::Software || self.loaded > 1 {
            return Err(Unable(
                "a file goes through the model from one port to the next: leave `path` and \
                 `loaded` out"
                    .to_owned(),
            ));
        }
        simulated::of(carrier).map(|_| ())
    }

    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        let delay = DeviceBetween::Delay(self.alone(SEGMENT_BYTES)?, self.alone(ACK_BYTES)?);
        simulated::transfer(&delay, 8e12 / self.params().byte_ps() as f64, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::testbed::{Reset, Tags};
    use trammel_core::Span;

    fn bed(text: &str) -> NetFpga {
        NetFpga::parse(text).unwrap()
    }

    fn traffic(sizes: &str) -> Traffic {
        Traffic::of(sizes.parse().unwrap())
    }

    fn load(bed: &NetFpga, traffic: &Traffic, share: f64, duration: Span) -> Load {
        Load::of_line(share, bed.line_fps(traffic), duration).unwrap()
    }

    #[test]
    fn a_minute_is_forecast_at_what_is_simulated_of_it() {
        let (bed, traffic) = (bed("reference-1g"), traffic("64"));
        let minute = load(&bed, &traffic, 1.0, Span::from_secs(60));
        let takes = bed.takes(&traffic, &Plan::of(&[minute]));
        assert!(
            takes.is_some_and(|time| time < Span::from_ms(100)),
            "{takes:?}"
        );
        let millisecond = load(&bed, &traffic, 1.0, Span::from_ms(1));
        let takes = bed.takes(&traffic, &Plan::of(&[millisecond]));
        assert!(
            takes.is_some_and(|time| time < Span::from_ms(1)),
            "{takes:?}"
        );
    }

    #[test]
    fn designs_are_named_with_what_is_changed_of_them() {
        let changed = bed("reference-1g:loaded=4,ideal_memory=1");
        assert_eq!((changed.loaded, changed.params().ideal_memory), (4, 1));
        assert_eq!(changed.label().key(), "modelled");
        for (text, said) in [
            ("refrence-1g", "no design"),
            ("reference-1g:loaded", "KEY=VALUE"),
            ("reference-1g:loaded=5", "1 to 4"),
            ("reference-1g:path=wood", "`hardware` or `software`"),
            ("reference-1g:tx_cycle=1", "did you mean `tx_cycles`?"),
            ("reference-1g:tx_cycles=x", "no whole number"),
        ] {
            let error = NetFpga::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_minute_at_the_lines_rate_shows_the_extra_gap_and_an_ideal_design_none() {
        let minute = Span::from_secs(60);
        for (name, least, most) in [("reference-1g", 0.98, 0.99), ("ideal-memory-1g", 1.0, 1.0)] {
            let mut bed = bed(name);
            let traffic = traffic("64");
            let plan = Plan::of(&[load(&bed, &traffic, 1.0, minute)]);
            let observed = bed.offer(&traffic, &plan).unwrap();
            let passed = 1.0 - observed.outcome.loss_ratio();
            assert!((least..=most).contains(&passed), "{name}: {passed}");
            assert!(!plan.falls_short(&observed.outcome, 0.001, 1));
        }
    }

    #[test]
    fn latency_counts_from_the_last_bit_and_tagged_frames_are_told_by_themselves() {
        let mut bed = bed("reference-1g");
        for (size, lone_ns) in [("64", 704), ("1518", 3_648)] {
            let traffic = traffic(size);
            let second = Span::from_secs(1);
            let plan = Plan {
                tags: Some(Tags {
                    from: Time::ZERO + second / 2,
                    frames: 5,
                }),
                ..Plan::of(&[load(&bed, &traffic, 0.1, second)])
            };
            let observed = bed.offer(&traffic, &plan).unwrap();
            assert_eq!(observed.tagged.len(), 5);
            let latency = observed.outcome.latency.unwrap();
            for found in observed.tagged {
                // Arbiter and reader stand anywhere when a frame of a stream comes: seven cycles.
                assert!(found.as_ns().abs_diff(lone_ns) <= 56, "{size}: {found}");
                assert!(found.as_ps() <= latency.max().unwrap());
            }
        }
    }

    #[test]
    fn a_restart_loses_what_comes_for_880_ms() {
        let mut bed = bed("reference-1g");
        let traffic = traffic("64");
        let plan = Plan {
            reset: Some(Reset {
                kind: bed.resets().remove(0),
                at: Time::from_secs(1),
            }),
            ..Plan::of(&[load(&bed, &traffic, 0.5, Span::from_secs(3))])
        };
        let observed = bed.offer(&traffic, &plan).unwrap();
        let outage = observed.outage.unwrap();
        let length = outage.to.saturating_since(outage.from).as_secs_f64();
        assert!((length - 0.88).abs() < 1e-5, "{length}");
        let lost = observed.outcome.lost() as f64;
        let by_loss = lost / observed.outcome.offered_rate();
        assert!((by_loss - 0.88).abs() < 1e-5, "{by_loss}");
        assert_eq!(outage.lost as f64, lost);
    }

    #[test]
    fn the_papers_burst_comes_out_of_the_software_within_a_frame_and_partly_later() {
        let mut bed = bed("reference-1g:path=software");
        let traffic = traffic("109");
        let line = bed.line_fps(&traffic);
        let plan = Plan::of(&[Load::new(line, Span::from_secs_f64(786.0 / line)).unwrap()]);
        let observed = bed.offer(&traffic, &plan).unwrap();
        assert_eq!(observed.outcome.offered * 109, 85_674);
        assert!((observed.outcome.forwarded * 109).abs_diff(82_464) <= 109);
        let after = observed.came_after.unwrap();
        assert!(after > observed.outcome.forwarded / 2 && after < observed.outcome.forwarded);
    }

    #[test]
    fn mixes_both_ways_and_several_flows_are_offered_and_what_it_does_not_know_is_refused() {
        let mut bed = bed("reference-1g");
        let mixed = Traffic {
            directions: Directions::Both,
            ..traffic("imix")
        };
        let plan = Plan::of(&[load(&bed, &mixed, 0.4, Span::from_ms(100))]);
        let observed = bed.offer(&mixed, &plan).unwrap();
        assert_eq!(observed.outcome.lost(), 0);
        assert!(!plan.falls_short(&observed.outcome, 0.001, bed.sources(&mixed)));
        let plain = traffic("512");
        let full = Load::new(Params::REFERENCE_1G.line_fps(512), Span::from_secs(1)).unwrap();
        // Two ports into one: half is lost.
        let flows =
            [(0, 2), (1, 2), (3, 0)].map(|(from, to)| PortFlow::new(from, to, &plain, full));
        let each = bed.offer_together(&flows).unwrap();
        let both = each[0].outcome.forwarded + each[1].outcome.forwarded;
        let share = both as f64 / (2 * each[0].outcome.offered) as f64;
        assert!((0.49..0.51).contains(&share), "{share}");
        assert!(each[2].outcome.loss_ratio() < 0.01);
        let unknown = Traffic {
            networks: 256,
            ..plain
        };
        assert!(bed.offer(&unknown, &plan).unwrap_err().is::<Unable>());
    }
}
