//! Impairments behind a queue: losses, jitter, and packets that others overtake.

use super::changing::Changing;
use super::grants::Grants;
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
    /// Whether packets overtake each other where their delays say so.
    pub(super) overtakes: bool,
    pub(super) changing: Option<Changing>,
    pub(super) grants: Option<Grants>,
    /// Packets on their way at most, and when those that are arrive.
    pub(super) limit: Option<u32>,
    pub(super) under_way: BinaryHeap<Reverse<Time>>,
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
    /// The fate of a packet that leaves the queue at `departs` and takes `delay` where nothing
    /// changes.
    pub(super) fn fate(&mut self, departs: Time, delay: Span, bytes: u32) -> Fate {
        self.passed += 1;
        let mut arrives = departs + delay;
        let mut most = None;
        if let Some(changing) = &mut self.changing {
            changing.advance(departs, &mut self.loss);
            arrives = departs + changing.now.delay;
            most = changing.now.jitter;
        }
        if let Some(loss) = &mut self.loss
            && loss.loses(departs, bytes, &mut self.loss_rng)
        {
            self.lost_pkts += 1;
            return Fate::Lost;
        }
        if let Some(limit) = self.limit {
            while self
                .under_way
                .peek()
                .is_some_and(|Reverse(at)| *at <= departs)
            {
                self.under_way.pop();
            }
            if self.under_way.len() >= limit as usize {
                self.lost_pkts += 1;
                return Fate::Lost;
            }
        }
        match (most, &mut self.jitter) {
            (Some(most), _) => arrives += Span::from_ps(self.delay_rng.below(most.as_ps() + 1)),
            (None, Some(jitter)) => arrives += jitter.draw(&mut self.delay_rng),
            (None, None) => {}
        }
        let is_held_back = match self.reorder {
            Some((probability, extra)) if self.delay_rng.chance(probability) => {
                arrives += extra;
                true
            }
            _ => false,
        };
        let may_overtake = self.overtakes || is_held_back;
        if !may_overtake {
            // The pipe keeps the order: neither jitter nor a delay that falls reorders.
            self.last_arrival = self.last_arrival.max(arrives);
            arrives = self.last_arrival;
        }
        if self.limit.is_some() {
            self.under_way.push(Reverse(arrives));
        }
        if may_overtake {
            Fate::Overtaken(arrives)
        } else {
            Fate::InOrder(arrives)
        }
    }

    /// When a packet that leaves at `departs` and takes `delay` arrives, if it does, where none is
    /// late.
    pub(super) fn foreseen(&mut self, departs: Time, delay: Span, bytes: u32) -> Option<Time> {
        match self.fate(departs, delay, bytes) {
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

    /// Packets that are neither lost nor in the pipe.
    pub(super) fn held(&self) -> usize {
        self.late.len() + self.grants.as_ref().map_or(0, Grants::len)
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
