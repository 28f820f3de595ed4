//! A device between two ports of this machine, under real frames.
//!
//! ```text
//! traffic, plan ─> the tester's own plan ─> ports ─ device ─ ports ─> what was seen ─> observation
//! ```
//! Before the first trial of a kind of traffic, and after a reset, the device is asked for its
//! addresses and frames are sent until some come through: tables are filled, and a device that
//! forwards nothing is named before anything is measured. Counters are read after the last frame
//! and a time for residual ones.

use super::configuration::test_share;
use super::offered_frames::frames_from;
use super::self_test::SelfTest;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use trammel_bench::testbed::{
    Directions, Faults, LatencyOf, Observation, Outage, Plan, Protocol, Testbed, Traffic, Unable,
    Variation,
};
use trammel_bench::transfer::{File, Protocol as Carrier, Transferred};
use trammel_bench::trial::{Failure, Load, TrialOutcome};
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_io::clock::monotonic_ns;
use trammel_io::error::Error;
use trammel_io::stamper::By;
use trammel_stats::histogram::Histogram;
use trammel_traffic::addresses::Side;
use trammel_traffic::tester::observation::{DirectionSeen, Observation as Seen};
use trammel_traffic::tester::port::{Port, Way};
use trammel_traffic::tester::schedule::Load as Offered;
use trammel_traffic::tester::timing::TimedBy;
use trammel_traffic::tester::traffic::Traffic as Frames;
use trammel_traffic::tester::{Direction, Plan as Run, Tags, Tester, Threads};

/// How long a device may take to answer for its addresses, and to let the first frame through.
const PATIENCE: Span = Span::from_secs(10);
/// Frames a second that fill the device's tables.
const PRIMING_FPS: f64 = 2000.0;
/// Of these, the least.
const PRIMING_FRAMES: u32 = 10;
/// How long is waited for them at first; twice as long each time that none comes.
const PRIMING_RESIDUAL: Span = Span::from_ms(50);
/// For so long the first frames are waited for where nothing else is said: WAN emulators have a
/// second and more.
pub const LONGEST_DELAY: Span = Span::from_secs(2);
/// By what share of its duration a trial may be stretched before sending is given up; it is not
/// valid long before.
const STRETCH: f64 = 0.02;
/// And by how much at least.
const LEAST_STRETCH: Span = Span::from_ms(50);
/// By so much the last frame may be late: that is a matter of when its thread has its turn, and not
/// of the load.
const TURN: Span = Span::from_ms(2);

/// What the bench can do with the device besides offering frames to it.
pub trait Device: Debug + Send {
    /// What it is, for reports.
    fn name(&self) -> String;

    /// Names of the resets that can be caused.
    fn resets(&self) -> Vec<String> {
        Vec::new()
    }

    /// Causes a reset while frames are sent.
    fn reset(&mut self, kind: &str) -> Result<(), Failure> {
        Err(Unable(format!("there is no reset `{kind}`")).into())
    }

    /// The error is why it does not work any more.
    fn check(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether hosts can take the tester's place and transfer files by `carrier`; the error is why
    /// not.
    fn carries_files(&self, _carrier: &Carrier) -> Result<(), Unable> {
        Err(Unable(
            "hosts can replace the tester only at devices of `--dut`, not at `--ports`".to_owned(),
        ))
    }

    /// Transfers a file between them; an error at once when `interrupted` is set.
    fn transfer(&mut self, file: &File, _interrupted: &AtomicBool) -> Result<Transferred, Failure> {
        self.carries_files(&file.protocol)?;
        Err(Unable("no file goes through this device".to_owned()).into())
    }
}

/// A device that somebody has put between the ports.
#[derive(Debug)]
pub struct Given(pub String);

impl Device for Given {
    fn name(&self) -> String {
        self.0.clone()
    }
}

/// How trials are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waits {
    /// After the last frame, for residual ones.
    pub residual: Span,
    /// Before the next trial, for the device to restabilize.
    pub rest: Span,
}

impl Waits {
    /// Those of RFC 2544.
    //= rfc2544 §23
    //# d) Wait for two seconds for any residual frames to be received.
    //= rfc2544 §23
    //# e) Wait for at least five seconds for the DUT to restabilize.
    pub const FULL: Waits = Waits {
        residual: Span::from_secs(2),
        rest: Span::from_secs(5),
    };
    /// Those of a quick run.
    pub const QUICK: Waits = Waits {
        residual: Span::from_ms(200),
        rest: Span::ZERO,
    };
}

/// The ports, and how they are used.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The port into which frames of the first direction go, and that out of which they come.
    pub ports: [Port; 2],
    /// Bits a second of each.
    pub line_bps: f64,
    /// The pauses of a trial.
    pub waits: Waits,
    /// How long the first frames are waited for.
    pub longest_delay: Span,
    /// How the tester's threads run.
    pub threads: Threads,
    /// By what tagged frames are timed.
    pub timed_by: TimedBy,
    /// What the tester can do, where it has measured itself.
    pub tester: Option<SelfTest>,
    /// Set when the user interrupts.
    pub interrupted: Arc<AtomicBool>,
}

/// A device between two ports.
#[derive(Debug)]
pub struct Ports {
    // Before the device, whose interfaces it may be at.
    tester: Tester,
    device: Box<dyn Device>,
    setting: Setting,
    /// By what tagged frames are timed, where it is not the tester.
    by: Option<By>,
    /// The traffic that the device's tables are filled for.
    primed: Option<Traffic>,
    /// What the frames took that filled them: residual frames are waited for as much longer.
    delay: Span,
    /// When the device has had its rest, by the monotonic clock.
    rested_ns: i64,
}

impl Ports {
    /// `device` between the ports of `setting`, which are opened.
    pub fn open(setting: Setting, device: Box<dyn Device>) -> Result<Ports, Error> {
        let mut tester = Tester::open(setting.ports.clone())?;
        Ok(Ports {
            by: tester.time_tags(setting.timed_by)?,
            tester,
            device,
            setting,
            primed: None,
            delay: Span::ZERO,
            rested_ns: 0,
        })
    }

    /// Has the tester's threads run so from now on.
    pub fn run_by(&mut self, threads: Threads) {
        self.setting.threads = threads;
    }

    fn is_live(&self) -> bool {
        self.setting.ports[0].way == Way::Live
    }

    /// The frames of each direction.
    fn frames(&self, traffic: &Traffic) -> Result<[Option<Frames>; 2], Unable> {
        let is_ipv6 = self.setting.ports[0].address.is_ipv6();
        let unable = |what: &str| Err(Unable(format!("the tester's ports offer {what}")));
        if (traffic.protocol == Protocol::Ip6) != is_ipv6 {
            return unable("the version of IP that they were opened for, and this is another");
        }
        let is_both = traffic.directions == Directions::Both;
        let of = |from| frames_from(from, traffic, &self.setting.ports, self.setting.line_bps);
        let second = is_both.then(|| of(Side::Output)).transpose()?;
        Ok([Some(of(Side::Input)?), second])
    }

    /// The tester's own plan of loads.
    fn run_of(&self, traffic: &Traffic, loads: &[Load]) -> Result<Run, Unable> {
        let frames = self.frames(traffic)?;
        // Broadcasts are sent beside the test frames, of which the load is.
        let share = 1.0 / f64::from(self.sources(traffic)) / test_share(traffic);
        let offered = loads.iter().map(|load| Offered {
            frames_per_second: load.frames_per_second() * share,
            duration: load.duration(),
        });
        let offered: Vec<Offered> = offered.collect();
        let direction = |traffic| Direction {
            traffic,
            loads: offered.clone(),
        };
        let directions = frames.map(|frames| frames.map(direction));
        let duration = Plan::of(loads).duration();
        let stretch = Span::from_secs_f64(duration.as_secs_f64() * STRETCH).max(LEAST_STRETCH);
        Ok(Run {
            directions,
            // What is on its way when the last frame leaves takes a delay; what waits behind
            // others, more.
            residual: self.setting.waits.residual.saturating_add(self.delay * 2),
            threads: self.setting.threads,
            stretch: Some(stretch),
            tags: None,
        })
    }

    fn is_interrupted(&self) -> bool {
        self.setting.interrupted.load(Ordering::SeqCst)
    }

    /// Makes `run`; a fault of it is an error.
    fn seen(&mut self, run: &Run) -> Result<Seen, Failure> {
        let seen = self.tester.run(run, &self.setting.interrupted)?;
        self.device.check()?;
        match seen.fault {
            Some(fault) => Err(fault.into()),
            None => Ok(seen),
        }
    }

    /// Has the device learn where the ports are and fill its tables.
    //= rfc2544 §23
    //# b) Send the "learning frames" to the "output" port and wait 2 seconds to be sure that the
    //# learning has settled.
    // Differs from RFC 2544: that frames come through is looked for and not waited for.
    fn prime(&mut self, traffic: &Traffic) -> Result<(), Failure> {
        if self.primed.as_ref() == Some(traffic) {
            return Ok(());
        }
        let longest = self.setting.longest_delay.max(PRIMING_RESIDUAL);
        let patience = PATIENCE.saturating_add(longest * 2);
        let patience = i64::try_from(patience.as_ns()).unwrap_or(i64::MAX);
        let until = monotonic_ns().saturating_add(patience);
        self.tester.learn(PATIENCE, &self.setting.interrupted)?;
        let flows = traffic.streams.max(traffic.networks);
        let frames = f64::from(flows.max(PRIMING_FRAMES) * self.sources(traffic));
        let load = Load::new(PRIMING_FPS, Span::from_secs_f64(frames / PRIMING_FPS));
        let load = load.expect("the rate is above 0 and the span is bounded");
        let evenly = Traffic {
            burst: 1,
            ..traffic.clone()
        };
        let mut run = Run {
            residual: PRIMING_RESIDUAL.max(self.delay * 2).min(longest),
            ..self.run_of(&evenly, &[load])?
        };
        // The first frames that come through have shown the way to those that are not resolved yet.
        for _ in 0..2 {
            loop {
                let seen = self.seen(&run)?;
                let directions: Vec<_> = seen.directions.iter().flatten().collect();
                if self.is_interrupted() || directions.iter().all(|one| one.received() > 0) {
                    let took = directions.iter().filter_map(|one| one.latency()?.max());
                    self.delay = took.max().map_or(Span::ZERO, Span::from_ps);
                    break;
                }
                // A device that delays frames longer lets them out in the next run, to which they
                // are strays.
                if run.residual >= longest && monotonic_ns() > until {
                    return Err(self.nothing_comes(longest).into());
                }
                run.residual = (run.residual * 2).min(longest);
            }
        }
        self.primed = Some(traffic.clone());
        Ok(())
    }

    /// What is said of a device through which nothing comes within `longest`.
    fn nothing_comes(&self, longest: Span) -> String {
        let [from, to] = self.setting.ports.each_ref().map(|port| &port.interface);
        format!(
            "no frame sent to {} by `{from}` arrives at `{to}` within {} s; is it connected and \
             does it forward between {} and {}? If it delays frames longer, give `--longest-delay`",
            self.device.name(),
            longest.as_secs_f64(),
            self.setting.ports[0].address,
            self.setting.ports[1].address,
        )
    }

    /// Makes `run` and causes a reset meanwhile.
    fn seen_with_reset(&mut self, run: &Run, kind: &str, at: Time) -> Result<Seen, Failure> {
        self.primed = None;
        let (tester, device) = (&mut self.tester, self.device.as_mut());
        let (over, is_over) = channel::<()>();
        let (seen, reset) = std::thread::scope(|scope| {
            let reset = scope.spawn(move || {
                let wait = Duration::from_nanos(at.as_ns());
                match is_over.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => device.reset(kind),
                    _ => Ok(()),
                }
            });
            let seen = tester.run(run, &self.setting.interrupted);
            drop(over);
            let reset = reset.join();
            (
                seen,
                reset.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        });
        reset?;
        let seen = seen?;
        match seen.fault {
            Some(fault) => Err(fault.into()),
            None => Ok(seen),
        }
    }

    /// Waits until the device has had its rest, or the user interrupts.
    fn rest(&self) {
        const SLICE_NS: i64 = 50_000_000;
        loop {
            let left = self.rested_ns - monotonic_ns();
            if left <= 0 || self.is_interrupted() {
                return;
            }
            trammel_io::clock::sleep_until(monotonic_ns() + left.min(SLICE_NS));
        }
    }
}

/// What both directions were to the device, as one.
fn observed(seen: &[&DirectionSeen], planned: Span, is_live: bool) -> Observation {
    let sum = |of: fn(&DirectionSeen) -> u64| seen.iter().map(|one| of(one)).sum::<u64>();
    let longest = seen.iter().map(|one| one.effective).max();
    let longest = longest.unwrap_or_default();
    let is_in_time = longest <= planned.saturating_add(TURN);
    let mut latency: Option<Histogram> = None;
    for one in seen.iter().filter_map(|one| one.latency()) {
        match &mut latency {
            Some(all) => all.merge(&one),
            None => latency = Some(one),
        }
    }
    let outcome = TrialOutcome {
        offered: sum(judged),
        forwarded: sum(DirectionSeen::received),
        // A first frame that left late makes the others no faster: the rate is over the time that
        // the plan has for them.
        effective: if is_in_time { planned } else { longest },
        bunched: sum(|one| one.unevenness.bunched),
        latency,
    };
    let outage = seen.iter().filter_map(|one| one.outage);
    let outage = outage.max_by_key(|outage| outage.to.saturating_since(outage.from));
    Observation {
        faults: Faults {
            duplicated: sum(DirectionSeen::duplicated),
            reordered: sum(DirectionSeen::reordered),
            corrupted: sum(|one| one.corrupted),
            stray: sum(|one| one.strays),
        },
        last_lost: seen.iter().filter_map(|one| one.last_lost).max(),
        outage: outage.map(|outage| Outage {
            from: outage.from,
            to: outage.to,
            lost: outage.skipped,
        }),
        variation: (!is_live).then(|| variation(seen)),
        tagged: seen
            .first()
            .map(|one| one.tagged.clone())
            .unwrap_or_default(),
        came_after: seen.iter().map(|one| one.came_after).sum(),
        tester_late: seen.iter().map(|one| one.unevenness.latest).max(),
        tester_burst: seen.iter().map(|one| one.unevenness.burst).max(),
        sending: seen.iter().map(|one| one.unevenness.sending).max(),
        ..Observation::of(outcome)
    }
}

/// Frames that were sent and of which it is known what became of them: those that the tester's own
/// port lost are none of the device's, and where they are many the trial is not valid.
fn judged(seen: &DirectionSeen) -> u64 {
    seen.sent() - seen.receive_drops.min(seen.lost())
}

fn variation(seen: &[&DirectionSeen]) -> Variation {
    let mut all = Variation {
        less: Histogram::of_times(),
        more: Histogram::of_times(),
    };
    let streams = seen.iter().flat_map(|one| &one.streams);
    for ipdv in streams.filter_map(|stream| stream.ipdv.as_ref()) {
        all.less.merge(&ipdv.less);
        all.more.merge(&ipdv.more);
    }
    all
}

impl Testbed for Ports {
    fn label(&self) -> Label {
        Label::Measured
    }

    fn device(&self) -> String {
        self.device.name()
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        let line_fps = traffic.sizes.line_fps(self.setting.line_bps) * test_share(traffic);
        f64::from(self.sources(traffic)) * line_fps
    }

    fn ceiling_fps(&self, traffic: &Traffic) -> Option<f64> {
        let ceiling = self.setting.tester.as_ref()?.ceiling_fps(traffic)?;
        Some(ceiling * test_share(traffic))
    }

    fn latency_of(&self) -> LatencyOf {
        match self.by {
            None => LatencyOf::Stamps,
            Some(By::Driver) => LatencyOf::Driver,
            Some(By::Hardware) => LatencyOf::Hardware,
        }
    }

    fn pauses(&self) -> Span {
        self.setting
            .waits
            .residual
            .saturating_add(self.setting.waits.rest)
    }

    fn resets(&self) -> Vec<String> {
        self.device.resets()
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        self.device.check()?;
        self.rest();
        // Before the run is planned: how long it waits for residual frames is a matter of what the
        // first ones took.
        self.prime(traffic)?;
        let run = Run {
            tags: plan.tags.map(|tags| Tags {
                from: tags.from,
                frames: tags.frames,
            }),
            ..self.run_of(traffic, &plan.loads)?
        };
        let seen = match &plan.reset {
            None => self.seen(&run)?,
            Some(reset) => self.seen_with_reset(&run, &reset.kind, reset.at)?,
        };
        let rest = i64::try_from(self.setting.waits.rest.as_ns()).unwrap_or(i64::MAX);
        self.rested_ns = monotonic_ns().saturating_add(rest);
        let directions: Vec<&DirectionSeen> = seen.directions.iter().flatten().collect();
        if let Some(first) = directions.first().filter(|one| one.untimed > 0) {
            return Err(format!(
                "of {} received tagged frames, the interfaces timestamped only {} at both ends; \
                 use `--timed-by tester`",
                first.tagged.len() + first.untimed,
                first.tagged.len()
            )
            .into());
        }
        Ok(observed(&directions, plan.duration(), self.is_live()))
    }

    fn carries_files(&self, carrier: &Carrier) -> Result<(), Unable> {
        self.device.carries_files(carrier)
    }

    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        self.device.check()?;
        self.device.transfer(file, &self.setting.interrupted)
    }
}
