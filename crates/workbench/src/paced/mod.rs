//! A configuration on this machine under a load: throughput, losses and latencies on rings in
//! memory.
//!
//! Frames are due at instants that are fixed beforehand, by the same plan as in simulated time. The
//! router asks its rings as it would ask devices, and finds what has fallen due by then; so the
//! core that is measured makes its own load, and no other core, device or interrupt has a part in
//! it. Latency is from the instant at which a frame was due to that at which a ring took it.
//!
//! A *window* is one such load. Time is the core's own: gaps in which others had the core are cut
//! out and told, and the machine's interruptions are cut out (`core_time`). What others do to its
//! caches and its pace is not; whoever asks takes several windows and keeps those in which the
//! machine was at its own pace.

pub mod core_time;
pub mod ring;

use super::arrivals::{Part, Pattern};
use super::bench::{Bench, Refused};
use super::host::{Opener, ready};
use super::lost;
use super::measure::Clock;
use super::simulated::INTERRUPTED;
use super::traffic::{Broadcasts, Stream, Traffic};
use core_time::{CoreTime, Limits};
use ring::{BESIDE, PacedRing, Shared, Way, lock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::{Span, Time};
use trammel_packet::batch::CAPACITY;
use trammel_router::engine::Ctx;
use trammel_router::engine::driver::Progress;
use trammel_router::simulate::port::{Coming, Passage};

/// Rounds of the driver between two looks at whether all frames have come.
const ROUNDS: u64 = 16;
/// Rounds in which what is inside comes out when no more comes in.
const LAST_ROUNDS: u64 = 64;
/// How long residual frames are waited for where that is asked for, and how long while none moves
/// and no timer is set.
//= rfc2544 §23
//# d) Wait for two seconds for any residual frames to be received.
const RESIDUE: Duration = Duration::from_secs(2);
const STUCK: Duration = Duration::from_millis(20);
/// The longest that a window takes beyond its load.
const LONGEST: Duration = Duration::from_secs(10);
/// A gap between two calls of rings is the work of others on the machine, interrupts included, if
/// it is as long as so many batches at least, and as this.
const BATCHES: f64 = 8.0;
/// The least of such gaps.
pub(crate) const LEAST_GAP: Span = Span::from_us(5);
/// The same while nothing is known of the function.
const FIRST_GAP: Span = Span::from_us(100);
/// From arming a window to its first instant.
const LEAD: Span = Span::from_us(20);

/// What became of a window's frames.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Frames that were due.
    pub offered: u64,
    /// Frames that rings, queues and buffers had no room for.
    pub lost: u64,
    /// When the last frame that a ring had no room for was due, from the window's start.
    pub last_lost: Option<Time>,
    /// When each frame was due that is not a broadcast, from the window's start, by the way that it
    /// came in.
    pub comings: Vec<Coming>,
    /// When each frame that came out was due and was out, from the window's start, and its way in;
    /// broadcasts have another.
    pub passages: Vec<Passage>,
    /// Frames that the router took a second, from the first to the last.
    pub taken_per_s: f64,
    /// Times that it took any, and that it asked in vain.
    pub batches: u64,
    /// See `batches`.
    pub polls: u64,
    /// For how long the core was taken away, which is in none of the times, and how often.
    pub away: Span,
    /// See `away`.
    pub gaps: u64,
}

/// What can be offered one window after the other.
pub trait UnderLoad {
    /// Offers `loads` one after the other, waits for what is inside, and says what became of all.
    fn offer(&mut self, loads: &[Load]) -> Result<Window, Failure>;

    /// Hears about how many frames a second it does at most, as far as that is known.
    fn expect(&mut self, _pps: f64) {}

    /// Hears how many frames a second it was measured to do at most.
    fn know(&mut self, _pps: f64) {}
}

/// A configuration that has been loaded, to be offered one window after the other.
#[derive(Debug)]
pub struct Bed {
    router: Ctx,
    /// The ways by which frames come, and those by which they only leave.
    ways_in: Vec<Shared>,
    ways_out: Vec<Shared>,
    /// Which frames of each way in are none of the test's.
    broadcasts: Vec<Broadcasts>,
    pattern: Pattern,
    seed: u64,
    ticks_per_ps: f64,
    cycles_a_tick: f64,
    time: CoreTime,
    /// The longest that a batch takes, and what a frame does.
    longest: Span,
    frame: Option<Span>,
    /// What is inside after a window is waited for.
    waits: bool,
    /// Elements wait for times: see [`Bed::is_timed`].
    is_timed: bool,
    interrupted: Arc<AtomicBool>,
}

impl Bed {
    /// `bench` on rings of so many frames.
    pub fn new(
        bench: &Bench,
        traffic: &Traffic,
        pattern: Pattern,
        capacity: usize,
    ) -> Result<Bed, Refused> {
        Bed::with(
            bench,
            traffic,
            pattern,
            capacity,
            |name, stream, way, time| Ok(ready(PacedRing::new(name, stream, way, time))),
        )
    }

    /// The same on devices that `make` makes: of a name, with what comes in by it.
    pub fn with<E: From<Refused>>(
        bench: &Bench,
        traffic: &Traffic,
        pattern: Pattern,
        capacity: usize,
        mut make: impl FnMut(&str, Option<Stream>, Shared, CoreTime) -> Result<Opener, E>,
    ) -> Result<Bed, E> {
        let mut devices: BTreeMap<String, Opener> = BTreeMap::new();
        let (mut ways_in, mut ways_out) = (Vec::new(), Vec::new());
        let (active, time) = (bench.active(), CoreTime::default());
        let mut broadcasts = Vec::new();
        let names = bench.inlets().into_iter().chain(bench.outlets());
        for (at, name) in names.enumerate() {
            let way: Shared = Arc::new(Mutex::new(Way::new(capacity)));
            let stream = if active.contains(&at) {
                let number = ways_in.len().min(usize::from(BESIDE) - 1);
                lock(&way).flow = number as u16;
                ways_in.push(way.clone());
                let stream = bench.stream(at, traffic)?;
                broadcasts.push(stream.broadcasts());
                Some(stream)
            } else {
                ways_out.push(way.clone());
                None
            };
            let device = make(name, stream, way, time.clone())?;
            devices.insert(name.to_owned(), device);
        }
        let clock = Clock::measure();
        Ok(Bed {
            router: bench.load(devices, traffic.seed, false)?,
            ways_in,
            ways_out,
            broadcasts,
            pattern,
            seed: traffic.seed,
            ticks_per_ps: clock.ticks_per_s / 1e12,
            cycles_a_tick: clock.cycles_a_tick,
            time,
            longest: FIRST_GAP,
            frame: None,
            waits: false,
            is_timed: false,
            interrupted: Arc::default(),
        })
    }

    /// From now on a window ends when what is inside has come out, or never will; the next begins
    /// at rest.
    pub fn wait_for_residue(&mut self) {
        self.waits = true;
    }

    /// From now on a window ends when `interrupted` is set, and fails.
    pub fn end_when(&mut self, interrupted: Arc<AtomicBool>) {
        self.interrupted = interrupted;
    }

    /// Whether elements of a bed that waits for residue set timers, as far as was seen. They go by
    /// the clock on the wall, from which nothing can be cut out: so nothing is from then on, and a
    /// window in which it becomes known tells delays that are too short.
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    fn ticks(&self, span: Span) -> u64 {
        (span.as_ps() as f64 * self.ticks_per_ps) as u64
    }

    /// What is the router's own work.
    fn limits(&self) -> Limits {
        if self.is_timed {
            return Limits {
                longest: u64::MAX,
                ..Limits::default()
            };
        }
        Limits {
            longest: self.ticks(self.longest),
            frame: self.frame.map_or(0, |frame| self.ticks(frame)),
            slack: self.ticks(LEAST_GAP),
        }
    }

    /// When the frames of each way are due, in ticks from the start.
    fn plans(&self, loads: &[Load]) -> Result<Vec<Vec<u64>>, Failure> {
        let share = 1.0 / self.ways_in.len().max(1) as f64;
        let plan = |number: usize| {
            let part = Part {
                share,
                number,
                seed: self.seed,
            };
            let arrivals = self.pattern.arrivals(part, loads).map_err(|per_second| {
                format!("stream {number}: {per_second} frames/s cannot be offered")
            })?;
            Ok(arrivals.map(|at| self.ticks(at.since_start())).collect())
        };
        (0..self.ways_in.len()).map(plan).collect()
    }

    /// Core cycles of a turn in which the router finds nothing in a ring, while nothing has come
    /// for `span`.
    pub fn idle(&mut self, span: Span) -> Result<f64, Failure> {
        let start = self.time.begin(self.limits());
        for way in &self.ways_out {
            lock(way).arm(Vec::new());
        }
        for way in &self.ways_in {
            lock(way).arm(vec![start + self.ticks(span)]);
        }
        self.run(&[])?;
        let mut polls = 0;
        let mut end = start;
        for way in &self.ways_in {
            let way = lock(way);
            (polls, end) = (polls + way.polls_before, end.max(way.first_taken));
        }
        if polls == 0 {
            return Err("the router never asked its rings".into());
        }
        Ok((end - start) as f64 / polls as f64 * self.cycles_a_tick)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Runs the router until every frame has come and what can come out is out.
    fn run(&mut self, loads: &[Load]) -> Result<(), Failure> {
        let load: f64 = loads.iter().map(|load| load.duration().as_secs_f64()).sum();
        let (started, longest) = (Instant::now(), LONGEST + Duration::from_secs_f64(load));
        while !self.ways_in.iter().all(|way| lock(way).is_over()) {
            if self.router.run_rounds(None, ROUNDS) != Progress::Running {
                return Err("the router stopped before all frames had come".into());
            }
            self.look_for_timers();
            if self.is_interrupted() {
                return Err(INTERRUPTED.into());
            }
            if started.elapsed() > longest {
                return Err(format!(
                    "frames were left {} s after the last had come: a task never runs",
                    LONGEST.as_secs()
                )
                .into());
            }
        }
        for _ in 0..LAST_ROUNDS {
            if self.router.packets_inside() == 0 {
                break;
            }
            self.router.run_rounds(None, 1);
        }
        if self.waits {
            self.empty();
        }
        Ok(())
    }

    fn look_for_timers(&mut self) {
        self.is_timed |= self.waits && self.router.steadiness().is_none();
    }

    /// Runs the router until nothing is inside, or nothing of it will ever come out.
    fn empty(&mut self) {
        let started = Instant::now();
        let (mut moved, mut inside) = (started, usize::MAX);
        while inside > 0 && started.elapsed() < RESIDUE && !self.is_interrupted() {
            self.router.run_rounds(None, ROUNDS);
            self.look_for_timers();
            let now = self.router.packets_inside();
            let has_timer = self.router.steadiness().is_none();
            if now != inside || has_timer {
                (moved, inside) = (Instant::now(), now);
            } else if moved.elapsed() > STUCK {
                break;
            }
        }
    }
}

impl UnderLoad for Bed {
    fn expect(&mut self, pps: f64) {
        let batch = Span::from_secs_f64(BATCHES * CAPACITY as f64 / pps);
        self.longest = batch.max(LEAST_GAP);
    }

    fn know(&mut self, pps: f64) {
        self.expect(pps);
        self.frame = Some(Span::from_secs_f64(1.0 / pps));
    }

    fn offer(&mut self, loads: &[Load]) -> Result<Window, Failure> {
        let plans = self.plans(loads)?;
        let offered = plans.iter().map(|plan| plan.len() as u64).sum();
        for way in &self.ways_out {
            let mut way = lock(way);
            way.arm(Vec::new());
            way.out.reserve(offered as usize);
            way.out_at.reserve(offered as usize);
        }
        let lost_before = lost::in_elements(&self.router);
        let start = self.time.begin(self.limits()) + self.ticks(LEAD);
        // Laying out the plan takes longer than many a batch, and is none of the router's work.
        self.time.aside(|| {
            for (way, plan) in self.ways_in.iter().zip(plans) {
                let due = plan.into_iter().map(|ticks| start + ticks).collect();
                lock(way).arm(due);
            }
        });
        self.run(loads)?;
        let mut window = Window {
            offered,
            lost: lost::in_elements(&self.router) - lost_before,
            ..Window::default()
        };
        let (mut taken, mut first, mut last) = (0, u64::MAX, 0);
        let since = |tick: u64| {
            let ps = tick.saturating_sub(start) as f64 / self.ticks_per_ps;
            Time::from_ps(ps as u64)
        };
        for way in &self.ways_in {
            let way = lock(way);
            window.lost += way.lost;
            window.last_lost = window.last_lost.max(way.last_lost.map(since));
            window.batches += way.batches;
            window.polls += way.polls;
            if way.taken > 0 {
                // The last batch was taken at the end of the time, so it is not of it.
                taken += way.taken - way.last_batch;
                (first, last) = (first.min(way.first_taken), last.max(way.last_taken));
            }
        }
        let (away, gaps) = self.time.away();
        window.away = Span::from_ps((away as f64 / self.ticks_per_ps) as u64);
        window.gaps = gaps;
        let seconds = last.saturating_sub(first) as f64 / self.ticks_per_ps / 1e12;
        if seconds > 0.0 {
            window.taken_per_s = taken as f64 / seconds;
        }
        for way in self.ways_in.iter().chain(&self.ways_out) {
            let way = lock(way);
            // What an earlier window left behind is none of this one's.
            let passages = way.passages().filter_map(|(stamp, out)| {
                let (flow, ticks) = stamp.since(start)?;
                Some(Passage {
                    came: since(start + ticks),
                    left: since(out),
                    flow,
                })
            });
            window.passages.extend(passages);
        }
        for (way, broadcasts) in self.ways_in.iter().zip(&self.broadcasts) {
            let way = lock(way);
            let of_test = way.all_due().filter(|(place, _)| !broadcasts.has(*place));
            let comings = of_test.map(|(_, due)| Coming {
                at: since(due),
                flow: way.flow,
            });
            window.comings.extend(comings);
        }
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn bed(text: &str, capacity: usize) -> Bed {
        let bench = Bench::new(text, "x", &[], &[samples::plain()]).expect("it is right");
        Bed::new(&bench, &Traffic::default(), Pattern::Constant, capacity).expect("it loads")
    }

    fn load(pps: f64, frames: f64) -> Load {
        Load::new(pps, Span::from_secs_f64(frames / pps)).expect("the load is above 0")
    }

    #[test]
    fn what_comes_slowly_comes_out_in_order_and_takes_time() {
        let mut bed = bed("FromDevice(a) -> Queue -> ToDevice(b);", 512);
        for _ in 0..2 {
            let window = bed.offer(&[load(2e4, 400.0)]).expect("it runs");
            assert_eq!((window.offered, window.lost), (400, 0));
            assert_eq!((window.passages.len(), window.last_lost), (400, None));
            let came = window
                .passages
                .iter()
                .map(|one| one.came.as_secs_f64() * 1e6);
            for (at, came) in came.enumerate() {
                let due = 50.0 * (at + 1) as f64;
                assert!((came - due).abs() < 0.1, "{came} us for {due}");
            }
            assert!(window.passages.iter().all(|one| one.left > one.came));
            assert!(window.polls > window.batches);
        }
    }

    #[test]
    fn what_comes_too_fast_is_lost_at_the_ring() {
        let mut bed = bed("FromDevice(a) -> Queue -> ToDevice(b);", 8);
        let window = bed.offer(&[load(1e9, 20_000.0)]).expect("it runs");
        assert!(window.lost > 0);
        assert_eq!(window.lost + window.passages.len() as u64, window.offered);
        assert!(window.last_lost.is_some() && window.taken_per_s < 1e9);
    }

    #[test]
    fn what_a_queue_has_no_room_for_is_lost_and_what_a_rule_ends_is_not() {
        // The queue is read by nobody fast enough: a shaper lets few through.
        let text = "FromDevice(a) -> Queue(4) -> Shaper(1) -> ToDevice(b);";
        let window = bed(text, 512).offer(&[load(1e6, 500.0)]).expect("it runs");
        assert!(window.lost >= 400, "{}", window.lost);
        let window = bed("FromDevice(a) -> Discard;", 512)
            .offer(&[load(2e4, 100.0)])
            .expect("it runs");
        assert_eq!((window.lost, window.passages.len()), (0, 0));
    }

    #[test]
    fn a_turn_in_vain_takes_some_cycles() {
        let mut bed = bed("FromDevice(a) -> Discard;", 8);
        let cycles = bed.idle(Span::from_us(200)).expect("it runs");
        assert!(cycles > 1.0 && cycles < 1e6, "{cycles}");
    }
}
