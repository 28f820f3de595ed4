//! A configuration under a load between pairs of virtual Ethernet devices, in namespaces of its
//! own.
//!
//! ```text
//! tester ── o0 ═ m0 ── FromDevice … ToDevice ── m1 ═ o1 ── tester
//! ```
//! The router runs on sockets of AF_XDP that it polls. Frames are due, and time is the core's own,
//! as on rings in memory ([`crate::paced`]); in place of such a ring stand the router's socket, the
//! kernel's pair of devices and a tester at its other end (`kernel_ring`), whose work is in no
//! time. So what the kernel does to bring a frame to the router is left out, and what the router
//! has it do is not. A frame carries the instant at which it was due in its last bytes.
//!
//! A packet socket would hand frames over in blocks, when one is full or a timer of a millisecond
//! ends it (`TPACKET_V3`): latencies would be that timer's. AF_XDP hands over each frame as it
//! comes.

mod kernel_ring;
mod wire;

use crate::arrivals::Pattern;
use crate::bench::{Bench, Refused};
use crate::host::{Opener, ready};
use crate::measure::Clock;
use crate::paced;
use crate::paced::LEAST_GAP;
use crate::refused::refusal;
use crate::ring::{Ring, Tally};
use crate::traffic::Traffic;
use kernel_ring::{Home, KernelRing};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::error::Error;
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::CAPACITY;
use trammel_router::engine::driver::Progress;
use wire::{Shared, Wire};

/// Frames by which rings in memory are timed, and rounds of the driver at a time.
const RING_FRAMES: u64 = 1 << 14;
const ROUNDS: u64 = 16;
/// Room for the longest frame and all headers that a function may put before it, within a slot of
/// the pool.
const MTU_BYTES: u32 = 1900;
/// Values by which it is told how a cost varies.
const SPREAD: usize = 256;

/// What the router's devices cost, in ticks of the counter: a call and a frame of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// Receiving.
    pub receive: (f64, f64),
    /// Asking in vain.
    pub empty: f64,
    /// Handing frames over.
    pub transmit: (f64, f64),
    /// Having them sent.
    pub flush: (f64, f64),
    /// How many times that each flush takes: equally likely values.
    pub flush_spread: Vec<f64>,
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
        let mut devices: BTreeMap<String, Opener> = BTreeMap::new();
        for (at, name) in bench.inlets().into_iter().enumerate() {
            let stream = Arc::new(bench.stream(at, &traffic)?);
            let ring = Ring::new(name, Some(stream), tally.clone());
            let wire = Wire::new(Box::new(ring), Some(timed.clone()));
            devices.insert(name.to_owned(), ready(wire));
        }
        for name in bench.outlets() {
            let ring = Ring::new(name, None, tally.clone());
            let wire = Wire::new(Box::new(ring), Some(timed.clone()));
            devices.insert(name.to_owned(), ready(wire));
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
        let slack = LEAST_GAP.as_secs_f64() * Clock::measure().ticks_per_s;
        let timed = wire::lock(timed);
        Ticks {
            receive: timed.receive.line(),
            empty: timed.receive.empty(),
            transmit: timed.transmit.line(),
            flush: timed.flush.line(),
            flush_spread: timed.flush.spread(SPREAD, slack),
        }
    }
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

/// `bench` between pairs of devices, one for each way in and out, and what calls of the router's
/// devices take, if `is_timed`.
pub fn bed(
    bench: &Bench,
    traffic: &Traffic,
    pattern: Pattern,
    is_timed: bool,
) -> Result<(paced::Bed, Timing), NoBed> {
    let home: Home = Arc::new([Namespace::new()?, Namespace::new()?]);
    let timed = Shared::default();
    let mut number = 0;
    let bed = paced::Bed::with(bench, traffic, pattern, 0, |_, stream, way, time| {
        let (near, far) = (format!("m{number}"), format!("o{number}"));
        number += 1;
        let [middle, outer] = &*home;
        veth(outer, &far, middle, &near)?;
        for (namespace, name) in [(middle, &near), (outer, &far)] {
            namespace.set_offloads(name, false)?;
            namespace.set_mtu(name, MTU_BYTES)?;
        }
        let tester = outer.run(|| AfPacket::open(&far, &afpacket::Options::default()))?;
        let (home, timed) = (home.clone(), is_timed.then(|| timed.clone()));
        let open: Opener = Box::new(move |pool| {
            let options = afxdp::Options::default();
            let device = home[0].run(|| AfXdp::open(&near, &options, pool));
            let wire = Wire::new(Box::new(device.map_err(|error| refusal(&error))?), timed);
            let ring = KernelRing::new((wire, tester), home, stream, way, time);
            Ok(Box::new(ring))
        });
        Ok::<Opener, NoBed>(open)
    })?;
    Ok((bed, Timing(timed)))
}

/// What calls of a bed's devices take.
#[derive(Debug)]
pub struct Timing(Shared);

impl Timing {
    /// By now.
    pub fn ticks(&self) -> Ticks {
        Ticks::of(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::UnderLoad;
    use crate::samples;
    use std::os::unix::fs::MetadataExt;
    use trammel_bench::trial::Load;
    use trammel_core::Span;

    #[test]
    #[allow(clippy::print_stdout)]
    fn frames_go_through_the_kernel_and_the_router_and_come_back() {
        let text = "FromDevice(a) -> Queue -> ToDevice(b);";
        let bench = Bench::new(text, "x", &[], &[samples::plain()]).expect("it is right");
        let traffic = Traffic {
            frame: 128,
            ..Traffic::default()
        };
        let (mut bed, timing) = match bed(&bench, &traffic, Pattern::Constant, true) {
            Ok(bed) => bed,
            Err(NoBed::Kernel(error)) => {
                // A user without rights cannot make namespaces: said, not hidden.
                println!("skipped: {error}");
                return;
            }
            Err(NoBed::Refused(refused)) => {
                // Namespaces of its own a user may have; AF_XDP needs more. As root nothing is
                // skipped.
                let user = std::fs::metadata("/proc/self")
                    .expect("the file exists")
                    .uid();
                assert_ne!(user, 0, "{refused:?}");
                println!("skipped: {refused:?}");
                return;
            }
        };
        let load = Load::new(2000.0, Span::from_ms(50)).expect("the load is above 0");
        for _ in 0..2 {
            let window = bed.offer(&[load]).expect("it runs");
            assert_eq!((window.offered, window.lost), (100, 0));
            assert_eq!(window.passages.len(), 100);
            assert!(window.passages.iter().all(|one| one.left > one.came));
        }
        let ticks = timing.ticks();
        assert!(
            ticks.empty > 0.0 && ticks.flush.0 + ticks.flush.1 > 0.0,
            "{ticks:?}"
        );
    }
}
