//! Impairments behind a queue: losses, jitter, and packets that others overtake.

use crate::packet::Packet;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_queues::loss::LossModel;
use trammel_stats::arrivals::Spans;

/// The impairments of a link.
#[derive(Debug)]
pub(super) struct Impairments {
    pub(super) loss: Option<Box<dyn LossModel>>,
    pub(super) jitter: Option<Spans>,
    /// Probability and extra delay of packets that others may overtake.
    pub(super) reorder: Option<(f64, Span)>,
    pub(super) loss_rng: Rng,
    pub(super) delay_rng: Rng,
    pub(super) last_arrival: Time,
    pub(super) late: BinaryHeap<Reverse<Overtaken>>,
    /// Packets that passed, in whose order those come that are late by the same.
    pub(super) passed: u64,
    pub(super) lost_pkts: u64,
    pub(super) late_pkts: u64,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Lost,
    /// It arrives then, after all before it.
    InOrder(Time),
    /// It arrives then, whatever is before it.
    Overtaken(Time),
}

impl Impairments {
    /// The fate of a packet that leaves the queue at `departs` and would arrive at `arrives`.
    pub(super) fn fate(&mut self, departs: Time, arrives: Time, bytes: u32) -> Fate {
        self.passed += 1;
        if let Some(loss) = &mut self.loss
            && loss.loses(departs, bytes, &mut self.loss_rng)
        {
            self.lost_pkts += 1;
            return Fate::Lost;
        }
        if self.jitter.is_none() && self.reorder.is_none() {
            return Fate::InOrder(arrives);
        }
        let mut arrives = arrives;
        if let Some(jitter) = &mut self.jitter {
            arrives += jitter.draw(&mut self.delay_rng);
        }
        if let Some((probability, extra)) = self.reorder
            && self.delay_rng.chance(probability)
        {
            return Fate::Overtaken(arrives + extra);
        }
        // The pipe keeps the order: jitter alone never reorders.
        self.last_arrival = self.last_arrival.max(arrives);
        Fate::InOrder(self.last_arrival)
    }

    /// When a packet that leaves at `departs` and takes `delay` arrives, if it does, where none is
    /// late.
    pub(super) fn foreseen(&mut self, departs: Time, delay: Span, bytes: u32) -> Option<Time> {
        match self.fate(departs, departs + delay, bytes) {
            Fate::InOrder(arrives) => Some(arrives),
            Fate::Lost => None,
            Fate::Overtaken(_) => unreachable!("a link that reorders is not foreseen"),
        }
    }

    /// Keeps a packet that others may overtake.
    pub(super) fn delay(&mut self, arrives: Time, packet: Packet) {
        self.late.push(Reverse(Overtaken {
            arrives,
            order: self.passed,
            packet,
        }));
    }

    /// When the first of the late packets arrives.
    pub(super) fn next(&self) -> Time {
        let first = self.late.peek();
        first.map_or(Time::MAX, |Reverse(late)| late.arrives)
    }

    /// The late packet that arrives by `now`.
    pub(super) fn arrived(&mut self, now: Time) -> Option<Packet> {
        if self.next() > now {
            return None;
        }
        let Reverse(late) = self.late.pop()?;
        self.late_pkts += 1;
        Some(late.packet)
    }
}

/// A packet that others may overtake, ordered by its arrival, then by its coming.
#[derive(Debug)]
pub(super) struct Overtaken {
    arrives: Time,
    order: u64,
    packet: Packet,
}
impl PartialEq for Overtaken {
    fn eq(&self, other: &Overtaken) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Overtaken {}
impl PartialOrd for Overtaken {
    fn partial_cmp(&self, other: &Overtaken) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Overtaken {
    fn cmp(&self, other: &Overtaken) -> Ordering {
        (self.arrives, self.order).cmp(&(other.arrives, other.order))
    }
}
