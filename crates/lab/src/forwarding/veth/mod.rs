//! A configuration under a load between pairs of virtual Ethernet devices, in namespaces of its own.
//!
//! ```text
//! tester ── o0 ═ m0 ── FromDevice … ToDevice ── m1 ═ o1 ── tester
//! ```
//! The router runs in the caller's thread, on packet sockets that it polls. The tester is a thread of its own, so two
//! processors are needed: it sends frames at instants that are fixed beforehand, and takes what comes back. A frame carries
//! the instant at which it was handed to the kernel in its last bytes; latency is from then to when the tester has it
//! in its hands, so the kernel's two ways through a pair of devices are in it.

mod wire;

use super::arrivals::{Part, Pattern};
use super::bench::{Bench, Refused};
use super::measure::Clock;
use super::paced::{UnderLoad, Window};
use super::ring::{Ring, Tally};
use super::traffic::{Stream, Traffic};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::Time;
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::error::Error;
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::{CAPACITY, Packets};
use trammel_packet::cpu::cycles;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_router::engine::Ctx;
use trammel_router::engine::driver::Progress;
use trammel_router::simulate::port::Passage;
use wire::{Shared, Wire};

/// Bytes of a stamp at the end of a frame: its mark and the instant.
const STAMP_BYTES: usize = 12;
/// The mark of a frame of ours.
const MARK: [u8; 4] = *b"trml";
/// Rounds of the driver between two looks at whether the tester has ended.
const ROUNDS: u64 = 16;
/// From beginning a window to its first instant: the tester's thread has to start.
const LEAD: Time = Time::from_ms(1);
/// How long the tester waits for the next frame when all are sent.
const PATIENCE: Duration = Duration::from_millis(30);
/// Frames by which rings in memory are timed.
const RING_FRAMES: u64 = 1 << 14;
/// Packets of the tester's pool.
const PACKETS: usize = 8192;

/// What the router's devices cost, in ticks of the counter: a call and a frame of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ticks {
    /// Receiving.
    pub receive: (f64, f64),
    /// Asking in vain.
    pub empty: f64,
    /// Handing frames over.
    pub transmit: (f64, f64),
    /// Having them sent.
    pub flush: (f64, f64),
}

/// What calls of a ring in memory take, in the places of devices.
pub fn ring_ticks(bench: &Bench, traffic: &Traffic) -> Result<Ticks, Refused> {
    let timed = Shared::default();
    for burst in [1, CAPACITY / 4, CAPACITY] {
        let traffic = Traffic {
            burst,
            ..traffic.clone()
        };
        let tally = Arc::new(Mutex::new(Tally {
            most: RING_FRAMES,
            ..Tally::default()
        }));
        let mut devices: BTreeMap<String, Box<dyn Device>> = BTreeMap::new();
        for (at, name) in bench.inlets().into_iter().enumerate() {
            let stream = Arc::new(bench.stream(at, &traffic)?);
            let ring = Ring::new(name, Some(stream), tally.clone());
            let wire = Wire::new(Box::new(ring), Some(timed.clone()));
            devices.insert(name.to_owned(), Box::new(wire));
        }
        for name in bench.outlets() {
            let ring = Ring::new(name, None, tally.clone());
            let wire = Wire::new(Box::new(ring), Some(timed.clone()));
            devices.insert(name.to_owned(), Box::new(wire));
        }
        let mut router = bench.load(devices, traffic.seed, false)?;
        let is_given = || {
            let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.given == tally.most
        };
        while !is_given() && router.run_rounds(None, ROUNDS) == Progress::Running {}
        // And some turns in vain.
        router.run_rounds(None, ROUNDS);
    }
    Ok(Ticks::of(&timed))
}

impl Ticks {
    fn of(timed: &Shared) -> Ticks {
        let timed = wire::lock(timed);
        Ticks {
            receive: timed.receive.line(),
            empty: timed.receive.empty(),
            transmit: timed.transmit.line(),
            flush: timed.flush.line(),
        }
    }
}

/// The tester's ends.
#[derive(Debug)]
struct Tester {
    pool: Pool,
    /// By which frames go in, and which: by inlet.
    senders: Vec<(AfPacket, Stream, u64)>,
    /// By which frames may come back.
    receivers: Vec<AfPacket>,
}

/// A configuration between virtual devices, to be offered one window after the other.
#[derive(Debug)]
pub struct Bed {
    router: Ctx,
    tester: Tester,
    timed: Shared,
    pattern: Pattern,
    seed: u64,
    ticks_per_ps: f64,
    // Dropped last: devices are in them.
    _middle: Namespace,
    _outer: Namespace,
}

/// Why there is no bed.
#[derive(Debug)]
pub enum NoBed {
    /// The configuration is wrong.
    Refused(Refused),
    /// The kernel refuses devices or namespaces.
    Kernel(Error),
}

impl From<Refused> for NoBed {
    fn from(refused: Refused) -> NoBed {
        NoBed::Refused(refused)
    }
}

impl From<Error> for NoBed {
    fn from(error: Error) -> NoBed {
        NoBed::Kernel(error)
    }
}

fn open(namespace: &Namespace, name: &str) -> Result<AfPacket, Error> {
    namespace.set_offloads(name, false)?;
    let options = afpacket::Options::default();
    namespace.run(|| AfPacket::open(name, &options))
}

impl Bed {
    /// `bench` between pairs of devices, one for each way in and out; `is_timed` has the router's devices timed.
    pub fn new(
        bench: &Bench,
        traffic: &Traffic,
        pattern: Pattern,
        is_timed: bool,
    ) -> Result<Bed, NoBed> {
        let (middle, outer) = (Namespace::new()?, Namespace::new()?);
        let timed = Shared::default();
        let mut devices: BTreeMap<String, Box<dyn Device>> = BTreeMap::new();
        let mut tester = Tester {
            pool: Pool::new(PACKETS, PACKETS),
            senders: Vec::new(),
            receivers: Vec::new(),
        };
        let active = bench.active();
        let names = bench.inlets().into_iter().chain(bench.outlets());
        for (at, name) in names.enumerate() {
            let (near, far) = (format!("m{at}"), format!("o{at}"));
            veth(&outer, &far, &middle, &near)?;
            let device = open(&middle, &near)?;
            let end = open(&outer, &far)?;
            let wire = Wire::new(Box::new(device), is_timed.then(|| timed.clone()));
            devices.insert(name.to_owned(), Box::new(wire));
            if at >= bench.inlets().len() {
                tester.receivers.push(end);
            } else if active.contains(&at) {
                tester.senders.push((end, bench.stream(at, traffic)?, 0));
            }
        }
        let clock = Clock::measure();
        Ok(Bed {
            router: bench.load(devices, traffic.seed, false)?,
            tester,
            timed,
            pattern,
            seed: traffic.seed,
            ticks_per_ps: clock.ticks_per_s / 1e12,
            _middle: middle,
            _outer: outer,
        })
    }

    /// What the router's devices have cost so far, where they are timed.
    pub fn device_ticks(&self) -> Ticks {
        Ticks::of(&self.timed)
    }

    fn plans(&self, loads: &[Load]) -> Result<Vec<Vec<u64>>, Failure> {
        let share = 1.0 / self.tester.senders.len().max(1) as f64;
        let plan = |number: usize| {
            let part = Part {
                share,
                number,
                seed: self.seed,
            };
            let arrivals = self.pattern.arrivals(part, loads).map_err(|per_second| {
                format!("stream {number}: {per_second} frames/s cannot be offered")
            })?;
            let ticks = |at: Time| (at.as_ps() as f64 * self.ticks_per_ps) as u64;
            Ok(arrivals.map(ticks).collect())
        };
        (0..self.tester.senders.len()).map(plan).collect()
    }
}

impl UnderLoad for Bed {
    fn offer(&mut self, loads: &[Load]) -> Result<Window, Failure> {
        let plans = self.plans(loads)?;
        let start = cycles() + (LEAD.as_ps() as f64 * self.ticks_per_ps) as u64;
        let is_done = AtomicBool::new(false);
        let (tester, router) = (&mut self.tester, &mut self.router);
        let (back, progress) = std::thread::scope(|scope| {
            let testing = scope.spawn(|| {
                let back = tester.run(start, &plans);
                is_done.store(true, Ordering::Release);
                back
            });
            let mut progress = Progress::Running;
            while !is_done.load(Ordering::Acquire) && progress == Progress::Running {
                progress = router.run_rounds(None, ROUNDS);
            }
            (testing.join().expect("the tester does not panic"), progress)
        });
        if progress != Progress::Running {
            return Err("the router stopped before all frames had come".into());
        }
        let back = back?;
        let since = |tick: u64| {
            Time::from_ps((tick.saturating_sub(start) as f64 / self.ticks_per_ps) as u64)
        };
        let passages: Vec<Passage> = back
            .iter()
            .map(|(sent, came)| Passage {
                came: since(*sent),
                left: since(*came),
            })
            .collect();
        let offered = plans.iter().map(|plan| plan.len() as u64).sum::<u64>();
        let first = passages.iter().map(|one| one.left).min();
        let last = passages.iter().map(|one| one.left).max();
        let seconds = last
            .zip(first)
            .map_or(0.0, |(last, first)| (last - first).as_secs_f64());
        Ok(Window {
            offered,
            lost: offered.saturating_sub(passages.len() as u64),
            taken_per_s: if seconds > 0.0 {
                passages.len() as f64 / seconds
            } else {
                0.0
            },
            passages,
            ..Window::default()
        })
    }
}

impl Tester {
    /// Sends every frame when it is due and takes what comes back: when each was sent and came.
    fn run(&mut self, start: u64, plans: &[Vec<u64>]) -> Result<Vec<(u64, u64)>, Failure> {
        let mut next = vec![0; plans.len()];
        let mut back = Vec::with_capacity(plans.iter().map(Vec::len).sum());
        let all = back.capacity();
        let mut batch = Packets::new();
        let mut last = Instant::now();
        loop {
            let mut is_sending = false;
            for (at, plan) in plans.iter().enumerate() {
                is_sending |= next[at] < plan.len();
                self.send(at, start, plan, &mut next[at], &mut batch)?;
            }
            for receiver in &mut self.receivers {
                receiver.receive(&mut self.pool, &mut batch)?;
                let now = cycles();
                if !batch.is_empty() {
                    last = Instant::now();
                }
                for packet in batch.drain() {
                    if let Some(sent) = read(self.pool[&packet].data()) {
                        // What is left of a window before is none of this one.
                        back.extend((sent >= start).then_some((sent, now)));
                    }
                    self.pool.free(packet);
                }
            }
            if is_sending {
                last = Instant::now();
            } else if back.len() >= all || last.elapsed() > PATIENCE {
                return Ok(back);
            }
        }
    }

    /// Sends what is due by now, a batch at most.
    fn send(
        &mut self,
        at: usize,
        start: u64,
        plan: &[u64],
        next: &mut usize,
        batch: &mut Packets,
    ) -> Result<(), Failure> {
        let (device, stream, made) = &mut self.senders[at];
        let now = cycles();
        while !batch.is_full() && plan.get(*next).is_some_and(|due| start + due <= now) {
            let handle = stream
                .make(*made, &mut self.pool)
                .ok_or("the pool is empty")?;
            write(self.pool[&handle].data_mut(), now);
            batch.push(handle);
            (*next, *made) = (*next + 1, *made + 1);
        }
        if batch.is_empty() {
            return Ok(());
        }
        let count = batch.len();
        let sent = device.transmit(&mut self.pool, batch)?;
        device.flush(&mut self.pool)?;
        batch.drain().for_each(|packet| self.pool.free(packet));
        if sent < count {
            return Err("the tester's own device has no room".into());
        }
        Ok(())
    }
}

fn write(frame: &mut [u8], at: u64) {
    if let Some(place) = frame.len().checked_sub(STAMP_BYTES) {
        frame[place..place + 4].copy_from_slice(&MARK);
        frame[place + 4..].copy_from_slice(&at.to_ne_bytes());
    }
}

fn read(frame: &[u8]) -> Option<u64> {
    let stamp = &frame[frame.len().checked_sub(STAMP_BYTES)?..];
    let (mark, at) = stamp.split_at(MARK.len());
    (mark == MARK).then(|| at.try_into().map(u64::from_ne_bytes).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forwarding::samples;

    #[test]
    fn stamps_are_read_as_they_were_written() {
        let mut frame = vec![0; 60];
        assert_eq!(read(&frame), None);
        write(&mut frame, 77);
        assert_eq!((read(&frame), read(&frame[..8])), (Some(77), None));
    }

    #[test]
    fn frames_go_through_the_kernel_and_the_router_and_come_back() {
        let text = "FromDevice(a) -> Queue -> ToDevice(b);";
        let bench = Bench::new(text, "x", &[], &[samples::plain()]).expect("it is right");
        let traffic = Traffic {
            frame: 128,
            ..Traffic::default()
        };
        let mut bed = match Bed::new(&bench, &traffic, Pattern::Constant, true) {
            Ok(bed) => bed,
            Err(NoBed::Kernel(error)) => {
                // A user without rights cannot make namespaces: said, not hidden.
                println!("skipped: {error}");
                return;
            }
            Err(NoBed::Refused(refused)) => panic!("{refused:?}"),
        };
        let load = Load::new(2000.0, Time::from_ms(50)).expect("above 0");
        let window = bed.offer(&[load]).expect("it runs");
        assert_eq!((window.offered, window.lost), (100, 0));
        assert!(window.passages.iter().all(|one| one.left > one.came));
        let ticks = bed.device_ticks();
        assert!(
            ticks.empty > 0.0 && ticks.flush.0 + ticks.flush.1 > 0.0,
            "{ticks:?}"
        );
    }
}
