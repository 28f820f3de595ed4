//! What may befall frames on a wire: loss, duplicates, reordering and congestion marks, drawn from
//! a seed.
//!
//! Each direction has faults of its own, inside the process, so that the kernel at the other end
//! needs no emulation. A fault draws from a stream of its own: what is lost does not change with
//! what is doubled. A frame that is held back leaves after its time, behind those that were sent
//! meanwhile; it is neither lost nor doubled.

use std::collections::VecDeque;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_packet::headers::checksum::update_u16;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::ipv4::{Ipv4, ecn};
use trammel_queues::loss::Trials;

/// How often each fault happens, as a fraction of frames from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// The frame is lost.
    pub loss: f64,
    /// The frame comes twice.
    pub duplication: f64,
    /// The frame is held back for `hold`. With 1 all are: a delay, and no reordering.
    pub reordering: f64,
    /// A frame of an ECN-capable transport is marked Congestion Experienced (RFC 3168 §5).
    pub marking: f64,
    /// How long a frame is held back.
    pub hold: Span,
}

/// How many frames met which fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that came.
    pub frames: u64,
    /// Lost.
    pub lost: u64,
    /// Come twice.
    pub duplicated: u64,
    /// Held back.
    pub held: u64,
    /// Marked.
    pub marked: u64,
}

/// One kind of fault: its trials and what they draw from.
#[derive(Debug)]
struct Fault(Trials, Rng);

impl Fault {
    fn new(seed: u64, name: &str, fault: &str, probability: f64) -> Fault {
        let rng = Rng::new(seed, &format!("{name}:{fault}"));
        Fault(Trials::new(probability), rng)
    }

    fn strikes(&mut self) -> bool {
        self.0.succeeds(&mut self.1)
    }
}

/// The faults of one direction.
#[derive(Debug)]
pub struct Faults {
    loss: Fault,
    duplication: Fault,
    reordering: Fault,
    marking: Fault,
    hold: Span,
    /// Frames that are held back, and until when.
    held: VecDeque<(Time, Vec<u8>)>,
    counters: Counters,
}

impl Faults {
    /// Faults at these rates, drawn from the streams of `seed` for the direction called `name`.
    pub fn new(seed: u64, name: &str, rates: &Rates) -> Faults {
        Faults {
            loss: Fault::new(seed, name, "loss", rates.loss),
            duplication: Fault::new(seed, name, "duplication", rates.duplication),
            reordering: Fault::new(seed, name, "reordering", rates.reordering),
            marking: Fault::new(seed, name, "marking", rates.marking),
            hold: rates.hold,
            held: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// What has happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// A frame comes at `now`. Says how often it goes on at once: not at all, once or twice.
    pub fn pass(&mut self, now: Time, frame: &mut [u8]) -> usize {
        self.counters.frames += 1;
        if self.loss.strikes() {
            self.counters.lost += 1;
            return 0;
        }
        if self.marking.strikes() && mark(frame) {
            self.counters.marked += 1;
        }
        if self.reordering.strikes() {
            self.counters.held += 1;
            self.held.push_back((now + self.hold, frame.to_vec()));
            return 0;
        }
        let is_double = self.duplication.strikes();
        self.counters.duplicated += u64::from(is_double);
        1 + usize::from(is_double)
    }

    /// When a frame that is held back goes on; [`Time::MAX`] for never.
    pub(crate) fn next_release(&self) -> Time {
        self.held.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// The next frame whose time has come at `now`.
    pub fn release(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.next_release() > now {
            return None;
        }
        self.held.pop_front().map(|(_, frame)| frame)
    }
}

/// Marks an IPv4 packet of an ECN-capable transport; says whether it was one.
fn mark(frame: &mut [u8]) -> bool {
    let is_ip = Ether::read(frame).is_some_and(|ether| ether.ethertype.get() == ethertype::IP);
    let Some(ip) = frame.get_mut(Ether::LEN..).and_then(Ipv4::read_mut) else {
        return false;
    };
    if !is_ip || ip.ecn() == ecn::NOT_ECT {
        return false;
    }
    let word = |tos: u8| u16::from_be_bytes([ip.version_ihl, tos]);
    let marked = ip.tos | ecn::CE;
    let sum = update_u16(ip.checksum.get(), word(ip.tos), word(marked));
    ip.checksum = sum.into();
    ip.tos = marked;
    true
}
