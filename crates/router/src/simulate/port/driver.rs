//! A port's state, and the driver that moves frames between its rings and the router for cycles.

use super::counts::Counts;
use super::inward::{Came, Inward};
use super::link_time::LinkTime;
use super::outward::Outward;
use super::settings::{Notice, Settings};
use crate::engine::core_clock::Meter;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::TxTime;
use trammel_packet::anno::PERFCTR;
use trammel_packet::batch::Packets;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// A port's state.
pub(super) struct State {
    pub(super) settings: Settings,
    meter: Meter,
    link: LinkTime,
    start: Timestamp,
    rng: Rng,
    /// More frames may be given.
    pub(super) is_open: bool,
    pub(super) inward: Inward,
    pub(super) outward: Outward,
    pub(super) counts: Counts,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl State {
    /// A port at rest whose driver charges by `meter`; the time of day at the start is `start`.
    /// `seed` is that of its chances.
    pub(super) fn new(settings: Settings, meter: Meter, start: Timestamp, seed: u64) -> State {
        let rng = Rng::new(seed, &format!("port:{}", settings.name));
        let (link, bus) = (LinkTime::new(settings.rate), settings.bus.map(TxTime::new));
        State {
            inward: Inward::new(link, bus, settings.receive_ring),
            outward: Outward::new(link, bus, settings.transmit_ring),
            settings,
            meter,
            link,
            start,
            rng,
            is_open: false,
            counts: Counts::default(),
        }
    }

    /// The time that a frame takes on the link.
    pub(super) fn on_link(&self, bytes: usize) -> Span {
        self.link.of(bytes)
    }

    /// How long after the first frame the router is told.
    pub(super) fn latency(&self) -> Span {
        match self.settings.notice {
            Notice::Interrupt(latency) => latency,
            Notice::Polled => Span::ZERO,
        }
    }

    /// Takes in what has come by `now`.
    pub(super) fn admit(&mut self, now: Time) {
        self.inward.admit(now, &mut self.counts);
    }

    /// Counts what is out by `now` and frees its descriptors.
    pub(super) fn retire(&mut self, now: Time) {
        self.outward.retire(now, &mut self.counts);
    }

    pub(super) fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> usize {
        let now = self.meter.clock().now();
        self.admit(now);
        let (mut count, mut bytes) = (0, 0);
        while !into.is_full() && count < self.settings.batch {
            let Some((came, data)) = self.inward.first(now) else {
                break;
            };
            let Some(handle) = pool.alloc_with(data) else {
                break;
            };
            let packet = &mut pool[&handle];
            packet.set_timestamp(self.start + Timestamp(came.at.as_ns() as i64));
            packet.set_anno_bytes(PERFCTR, came.annotation());
            bytes += packet.len();
            self.inward.take_first();
            into.push(handle);
            count += 1;
        }
        let took = self.meter.charge(self.settings.receive.of(count, bytes));
        self.counts.emptied += u64::from(self.inward.waiting() == 0);
        if count == 0 {
            self.counts.polls += 1;
            self.counts.polling += took;
        } else {
            self.counts.batches += 1;
            self.counts.received += count as u64;
            self.counts.driver += took;
        }
        count
    }

    pub(super) fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> usize {
        self.retire(self.meter.clock().now());
        let count = from.len().min(self.outward.room());
        let bytes = from
            .iter()
            .take(count)
            .map(|packet| pool[packet].len())
            .sum();
        let took = self.meter.charge(self.settings.transmit.of(count, bytes));
        self.counts.driver += took;
        from.drain_front(count, |handle| {
            let packet = &pool[&handle];
            let came = Came::of(packet.anno_bytes(PERFCTR));
            self.outward.gather(packet.data(), came);
            pool.free(handle);
        });
        self.counts.accepted += count as u64;
        if !self.settings.gathers {
            self.hand_over();
        }
        count
    }

    pub(super) fn flush(&mut self) {
        let (count, bytes) = self.outward.gathered();
        if count == 0 {
            return;
        }
        let spread = &self.settings.flush_spread;
        let times = match spread.len() {
            0 => 1.0,
            all => spread[self.rng.below(all as u64) as usize],
        };
        let took = self
            .meter
            .charge(times * self.settings.flush.of(count, bytes));
        self.counts.driver += took;
        self.hand_over();
    }

    fn hand_over(&mut self) {
        let now = self.meter.clock().now();
        self.outward.hand_over(now, &mut self.counts);
    }

    pub(super) fn counts_at(&mut self, now: Time) -> Counts {
        self.admit(now);
        self.retire(now);
        self.counts.in_receive_ring = self.inward.waiting() as u64;
        self.counts.in_transmit_ring = self.outward.held() as u64;
        self.counts.clone()
    }
}
