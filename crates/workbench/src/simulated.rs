//! The simulated router as a device under test.
//!
//! Each trial loads the configuration anew on a machine at rest, offers the streams, and waits two
//! seconds of the router's time for what is on its way.

use super::arrivals::{Part, Pattern};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_bench::trial::{Failure, Load, Trial, TrialOutcome};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_cost::device_profile::DeviceProfile;
use trammel_router::BuiltIn;
use trammel_router::MemoryHost;
use trammel_router::engine::core_clock::Cost;
use trammel_router::lang;
use trammel_router::simulate::costs::Costs;
use trammel_router::simulate::offer::Offer;
use trammel_router::simulate::port::{Notice, Passage, Port, Settings};
use trammel_router::simulate::{Machine, Report, Simulation};
use trammel_stats::histogram::Histogram;

/// How long residual frames are waited for.
//= rfc2544 §23
//# d) Wait for two seconds for any residual frames to be received.
const RESIDUE: Span = Span::from_secs(2);

/// Frames that are offered to one port.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The port.
    pub from: String,
    /// Its share of the load; those of all streams together are 1.
    pub share: f64,
    /// The frames' bytes without the checksum, taken in turn.
    pub frames: Vec<Vec<u8>>,
    /// Of so many frames of the list the last is beside those of the test, if any is.
    pub beside: Option<u32>,
    /// When they come.
    pub pattern: Pattern,
}

/// A router in simulated time, to be tried.
#[derive(Clone, Debug)]
pub struct SimulatedRouter {
    /// The configuration.
    pub config: String,
    /// Its name in messages.
    pub name: String,
    /// The core's cycles a second.
    pub hz: f64,
    /// What elements cost.
    pub costs: Costs,
    /// What a look at descriptors costs, in cycles.
    pub look_cycles: f64,
    /// The ports.
    pub ports: Vec<Settings>,
    /// What is offered.
    pub streams: Vec<Stream>,
    /// The files that the configuration reads.
    pub files: MemoryHost,
    /// The seed of all random numbers.
    pub seed: u64,
    /// What the last trial came to.
    pub last: Option<Report>,
    /// Set when the user interrupts: a trial ends, and is none.
    pub interrupted: Arc<AtomicBool>,
}

/// Runs `simulation` until `until`; the failure is that the user interrupts.
pub fn run(
    simulation: &mut Simulation,
    until: Time,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let ran = simulation.run_while(until, || !interrupted.load(Ordering::SeqCst));
    if let Some(fault) = simulation.fault() {
        return Err(fault.into());
    }
    ran.map(|_| ()).ok_or_else(|| INTERRUPTED.into())
}

/// What is said of a trial that the user has cut short.
pub const INTERRUPTED: &str = "interrupted";

/// A port called `name` as `profile` describes it.
pub fn port_of(profile: &DeviceProfile, name: &str) -> Settings {
    let value = |key: &str| profile.value(key);
    let cycles = |key: &str| value(key).unwrap_or(0.0);
    let frames = |key: &str| value(key).map_or(usize::MAX, |frames| frames as usize);
    let rate = |key: &str| value(key).map(|bps| Rate::from_bps(bps as u64));
    let cost = |side: &str| Cost {
        call: cycles(&format!("{side}_call")),
        packet: cycles(&format!("{side}_packet")),
        byte: cycles(&format!("{side}_byte")),
        empty: cycles(&format!("{side}_empty")),
    };
    let latency = |us: f64| Notice::Interrupt(Span::from_secs_f64(us / 1e6));
    Settings {
        name: name.to_owned(),
        rate: rate("link_bps").unwrap_or(Rate::from_bps(1)),
        receive_ring: frames("receive_ring"),
        transmit_ring: frames("transmit_ring"),
        batch: frames("batch"),
        notice: value("interrupt_us").map_or(Notice::Polled, latency),
        bus: rate("bus_bps"),
        receive: cost("receive"),
        transmit: cost("transmit"),
        flush: Cost {
            call: cycles("flush"),
            ..Cost::NONE
        },
        flush_spread: [].into(),
        gathers: cycles("gathers") != 0.0,
    }
}

impl SimulatedRouter {
    fn offer(&self, stream: &Stream, number: usize, loads: &[Load]) -> Result<Offer, String> {
        let part = Part {
            share: stream.share,
            number,
            seed: self.seed,
        };
        let arrivals = stream.pattern.arrivals(part, loads).map_err(|per_second| {
            format!(
                "stream {number} from `{}`: {per_second} frames/s cannot be offered; give a rate \
                 and a share above 0",
                stream.from
            )
        })?;
        let offer = Offer::new(stream.frames.clone(), arrivals);
        offer.ok_or_else(|| {
            format!(
                "stream {number} from `{}` has no frame, or an empty one",
                stream.from
            )
        })
    }

    /// A router at rest.
    pub fn load(&self) -> Result<Simulation, Failure> {
        let machine = Machine {
            hz: self.hz,
            costs: self.costs.clone(),
            look_cycles: self.look_cycles,
            ports: self.ports.clone(),
            files: Some(Box::new(self.files.clone())),
        };
        let language = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let loaded = Simulation::load(&self.config, &self.name, &language, machine, self.seed);
        loaded.map_err(|refusal| refusal.to_string().into())
    }
}

impl SimulatedRouter {
    /// Offers `loads` one after the other and waits for what is left; with when each frame came and
    /// left where `notes` asks for it.
    pub fn offer_all(
        &mut self,
        loads: &[Load],
        notes: bool,
    ) -> Result<(TrialOutcome, Vec<Passage>), Failure> {
        let mut simulation = self.load()?;
        for (number, stream) in self.streams.iter().enumerate() {
            let offer = self.offer(stream, number, loads)?;
            if !simulation.offer(&stream.from, offer) {
                return Err(format!("stream {number}: there is no port `{}`", stream.from).into());
            }
        }
        if notes {
            simulation.ports().iter().for_each(Port::note_passages);
        }
        let duration: Span = loads.iter().map(|load| load.duration()).sum();
        run(
            &mut simulation,
            Time::ZERO + duration + RESIDUE,
            &self.interrupted,
        )?;
        let report = simulation.report();
        let mut latency = Histogram::of_times();
        let mut effective = duration;
        for (_, counts) in &report.ports {
            latency.merge(&counts.latency);
            effective = effective.max(counts.last_offered.since_start());
        }
        let outcome = TrialOutcome {
            offered: report.balance.offered,
            forwarded: report.balance.sent,
            effective,
            bunched: 0,
            latency: Some(latency),
        };
        self.last = Some(report);
        let passages = simulation.ports().iter().flat_map(Port::passages);
        Ok((outcome, passages.collect()))
    }
}

impl Trial for SimulatedRouter {
    fn run(&mut self, load: Load) -> Result<TrialOutcome, Failure> {
        Ok(self.offer_all(&[load], false)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trammel_bench::search::Verdict;
    use trammel_bench::search::binary::Binary;

    /// A frame of so many bytes on the link, checksum counted.
    fn frame(bytes: usize) -> Vec<u8> {
        vec![0; bytes - 4]
    }

    fn router(profile: &str, packet: f64, bytes: usize, pattern: Pattern) -> SimulatedRouter {
        let profile = DeviceProfile::shipped(profile).expect("it comes with the crate");
        let stream = Stream {
            from: "a".to_owned(),
            share: 1.0,
            frames: vec![frame(bytes)],
            beside: None,
            pattern,
        };
        SimulatedRouter {
            config: "FromDevice(a) -> Counter -> Queue(1000) -> ToDevice(b)".to_owned(),
            name: "config".to_owned(),
            hz: profile.value("clock_hz").expect("every profile has it"),
            costs: Costs {
                classes: [("Counter".to_owned(), Cost::per_packet(packet))].into(),
                ..Costs::default()
            },
            look_cycles: 0.0,
            ports: vec![port_of(&profile, "a"), port_of(&profile, "b")],
            streams: vec![stream],
            files: MemoryHost::new(),
            seed: 1,
            last: None,
            interrupted: Arc::default(),
        }
    }

    /// Cycles of a frame of full batches; the tasks' own calls cost nothing here.
    fn cycles(router: &SimulatedRouter, packet: f64, bytes: usize) -> f64 {
        let of = |cost: &Cost| cost.call / 32.0 + cost.packet + cost.byte * (bytes - 4) as f64;
        of(&router.ports[0].receive) + packet + of(&router.ports[1].transmit)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]

        #[test]
        fn the_simulated_maximum_is_one_over_the_sum_of_the_costs(
            packet in 250.0..3000.0_f64,
            bytes in prop::sample::select(vec![64_usize, 65, 78]),
            profile in prop::sample::select(vec!["dpdk-10g", "memory-ring"]),
        ) {
            let mut router = router(profile, packet, bytes, Pattern::Constant);
            let expected = router.hz / cycles(&router, packet, bytes);
            let line = 10e9 / ((bytes + 20) * 8) as f64;
            prop_assume!(expected < line);
            // Ring and queue hide an overload by as many frames as they hold: 0.4 % of a trial.
            router.config = router.config.replace("1000", "64");
            router.ports[0].receive_ring = 128;
            let duration = Span::from_secs_f64(5e4 / expected);
            let search = Binary {
                width: 0.002,
                ..Binary::new(expected / 2.0, (2.0 * expected).min(line), duration)
            };
            let found = search.search(&mut router).expect("settings are right");
            prop_assert_eq!(found.verdict, Verdict::Between);
            let lower = found.lower.expect("between");
            prop_assert!((lower / expected - 1.0).abs() < 0.01, "{} {}", lower, expected);
            prop_assert!(found.trials.iter().all(|t| t.outcome.lost() <= t.outcome.offered));
        }
    }

    #[test]
    fn a_core_that_is_faster_than_the_line_is_limited_by_it() {
        let mut router = router("dpdk-10g", 100.0, 1518, Pattern::Constant);
        let line = 10e9 / f64::from(1538 * 8);
        let search = Binary::new(1e5, line, Span::from_ms(10));
        let found = search.search(&mut router).expect("settings are right");
        assert_eq!(
            (found.verdict, found.trials.len()),
            (Verdict::PassedAtMost, 1)
        );
        // More than the line cannot be offered, and the search knows whose limit that is.
        let beyond = Binary::new(1e5, 1.2 * line, Span::from_ms(10));
        let found = beyond.search(&mut router).expect("settings are right");
        assert_eq!(found.verdict, Verdict::Tester);
        assert!((found.lower.expect("it passed") / line - 1.0).abs() < 0.006);
    }

    #[test]
    fn bursts_overflow_a_ring_that_the_same_load_in_order_does_not() {
        let mut router = router("dpdk-10g", 1000.0, 64, Pattern::Constant);
        let load = Load::new(1e6, Span::from_ms(50)).expect("the load is above 0");
        assert_eq!(router.run(load).expect("the run succeeds").lost(), 0);
        router.streams[0].pattern = Pattern::Bursts(8000);
        let outcome = router.run(load).expect("the run succeeds");
        assert!(
            outcome.lost() > 0 && outcome.loss_ratio() < 0.9,
            "{}",
            outcome.lost()
        );
        assert!(router.last.expect("it ran").balance.is_even());
    }

    #[test]
    fn what_cannot_be_tried_is_told() {
        let load = Load::new(1e6, Span::from_ms(1)).expect("the load is above 0");
        let mut nowhere = router("dpdk-10g", 1.0, 64, Pattern::Constant);
        nowhere.streams[0].from = "c".to_owned();
        let said = nowhere.run(load).expect_err("no such port").to_string();
        assert_eq!(said, "stream 0: there is no port `c`");
        let mut nothing = router("dpdk-10g", 1.0, 64, Pattern::Constant);
        nothing.streams[0].share = 0.0;
        assert!(
            nothing
                .run(load)
                .expect_err("no load")
                .to_string()
                .contains("above 0")
        );
        nothing.config = "Nonsense".to_owned();
        assert!(nothing.run(load).is_err());
    }
}
