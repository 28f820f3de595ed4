//! A queue served packet by packet: a discipline with a law, a rate that changes, a medium.

use super::counters::LinkCounters;
use super::departure_jitter::DepartureJitter;
use super::spec::{LinkSpec, Queue};
use crate::ids::MediumId;
use crate::packet::Packet;
use trammel_core::rng::Rng;
use trammel_core::schedule::{DeliverySchedule, RateSchedule};
use trammel_core::time::{Span, Time};
use trammel_core::units::TxTime;
use trammel_queues::aqm::{Discipline, Drop, Item};
use trammel_tcp::segment::Ecn;

/// The queue, what serves it, and what has been counted of it.
#[derive(Debug)]
pub(super) struct Served {
    discipline: Box<dyn Discipline>,
    packets: Vec<Packet>,
    free: Vec<u32>,
    tx: Option<TxTime>,
    schedule: Option<RateSchedule>,
    deliveries: Option<DeliverySchedule>,
    /// Number of the next delivery opportunity that may be used.
    opportunity: u64,
    burst: Option<Span>,
    full_at: Time,
    /// When the next packet may be taken; [`Time::MAX`] while the queue is empty.
    pub(super) gate: Time,
    /// When that was due.
    due: Time,
    late: Option<DepartureJitter>,
    /// Earliest next service, also over an empty queue.
    ready_at: Time,
    next_rate_change: Time,
    /// The medium that takes the packets, and which of its ends this is.
    pub(super) medium: Option<(MediumId, u32)>,
    /// The packet that the medium has, and since when.
    on_air: Option<(Item, Time)>,
    /// The packet that waits for tokens: only the queue knows which is next, and only its size
    /// tells when.
    held: Option<(Item, Packet)>,
    rng: Rng,
    /// What was counted of the queue; what happens behind it is counted there.
    pub(super) counters: LinkCounters,
}

impl Served {
    pub(super) fn new(
        spec: &mut LinkSpec,
        tx: Option<TxTime>,
        burst: Option<Span>,
        medium: Option<(MediumId, u32)>,
        late: Option<DepartureJitter>,
        rng: Rng,
    ) -> Served {
        let discipline = match std::mem::replace(&mut spec.queue, Queue::UNLIMITED) {
            Queue::Discipline(discipline) => discipline,
            Queue::DropTail { packets, bytes } => droptail(packets, bytes),
        };
        // An opportunity comes when its trace says.
        let late = late.filter(|_| spec.deliveries.is_none());
        let schedule = spec.schedule.take();
        let next_rate_change = schedule
            .as_ref()
            .and_then(|schedule| schedule.next_change(Time::ZERO))
            .map_or(Time::MAX, |(time, _)| time);
        Served {
            discipline,
            packets: Vec::new(),
            free: Vec::new(),
            tx,
            schedule,
            deliveries: spec.deliveries.take(),
            opportunity: 0,
            burst,
            full_at: Time::ZERO,
            gate: Time::MAX,
            due: Time::MAX,
            late,
            ready_at: Time::ZERO,
            next_rate_change,
            medium,
            on_air: None,
            held: None,
            rng,
            counters: LinkCounters::default(),
        }
    }

    /// A packet comes at `now`. Returns whether there may be something to do earlier than before.
    pub(super) fn enqueue(&mut self, now: Time, packet: &Packet) -> bool {
        let id = self.free.pop().unwrap_or_else(|| {
            self.packets.push(*packet);
            self.packets.len() as u32 - 1
        });
        self.packets[id as usize] = *packet;
        let item = Item {
            id,
            bytes: packet.wire_bytes,
            flow: packet.flow_hash(),
            ecn_capable: packet.is_ecn_capable(),
            marked: false,
            enqueued: now,
        };
        let was_idle = self.gate == Time::MAX;
        let (free, counters) = (&mut self.free, &mut self.counters);
        counters.arrived_pkts += 1;
        counters.arrived_bytes += u64::from(packet.wire_bytes);
        self.discipline
            .enqueue(now, item, &mut self.rng, &mut |item, why| {
                free.push(item.id);
                match why {
                    Drop::Overflow => counters.overflow_pkts += 1,
                    Drop::Early => counters.early_pkts += 1,
                }
            });
        counters.peak_pkts = counters.peak_pkts.max(self.discipline.packets());
        if self.medium.is_some() {
            return self.on_air.is_none();
        }
        if was_idle && self.discipline.packets() > 0 {
            self.await_service(now);
            return true;
        }
        false
    }

    /// Takes the next packet from the queue at `now`: what it is, and when it has left.
    pub(super) fn serve(&mut self, now: Time) -> Option<(Packet, Time)> {
        if self.next_rate_change <= now {
            self.change_rate(now);
        }
        let Some((item, packet)) = self.held.take().or_else(|| self.pop(now)) else {
            self.gate = Time::MAX;
            return None;
        };
        let tokens_at = self.tokens_at(item.bytes);
        if tokens_at > now {
            self.held = Some((item, packet));
            self.open_gate(tokens_at, now);
            return None;
        }
        // The rate goes by when service was due; who has waited is late already.
        let has_waited = now > self.due;
        let begins = if self.burst.is_some() { now } else { self.due };
        let departs = self.depart(begins, item.bytes);
        if self.discipline.packets() > 0 {
            self.await_service(now);
        } else {
            self.gate = Time::MAX;
        }
        self.count_sent(departs, item);
        let leaves = match &mut self.late {
            Some(late) if departs > now || !has_waited => late.leaves(departs),
            // A short packet that was served late has left by the rate before it was taken.
            _ => departs.max(now),
        };
        Some((packet, leaves))
    }

    /// Has the first packet served as soon as that may be.
    fn await_service(&mut self, now: Time) {
        let due = self.earliest(now);
        self.open_gate(due, now);
    }

    /// The next packet is due at `due`; what has to wait until then is late.
    fn open_gate(&mut self, due: Time, now: Time) {
        self.due = due;
        self.gate = match &mut self.late {
            Some(late) if due > now => late.leaves(due),
            _ => due,
        };
    }

    /// The next packet for the medium, which has none of this link's.
    pub(super) fn take(&mut self, now: Time) -> Option<Packet> {
        debug_assert!(self.on_air.is_none(), "one frame at a time");
        let (item, packet) = self.pop(now)?;
        self.on_air = Some((item, now));
        Some(packet)
    }

    /// The medium has sent the packet that it took, or given it up.
    pub(super) fn leave(&mut self, now: Time, is_received: bool) {
        let (item, since) = self.on_air.take().expect("what leaves was taken");
        self.counters.busy_ns += now.saturating_since(since).as_ns();
        self.count_sent(now, item);
        self.counters.lost_pkts += u64::from(!is_received);
    }

    fn count_sent(&mut self, departs: Time, item: Item) {
        self.counters.wait_ns += departs.saturating_since(item.enqueued).as_ns();
        self.counters.sent_pkts += 1;
        self.counters.sent_bytes += u64::from(item.bytes);
    }

    pub(super) fn packets_held(&self) -> u32 {
        let held = self.on_air.is_some() || self.held.is_some();
        self.discipline.packets() + u32::from(held)
    }

    /// Packets and bytes in the queue, the one being sent included.
    pub(super) fn backlog(&self) -> (u32, u64) {
        let on_air = self.on_air.map(|(item, _)| item);
        let held = self.held.map(|(item, _)| item).or(on_air);
        let held_bytes = held.map_or(0, |item| u64::from(item.bytes));
        (self.packets_held(), self.discipline.bytes() + held_bytes)
    }

    /// Bytes of the packet that the medium has.
    pub(super) fn in_service(&self) -> Option<u32> {
        self.on_air.map(|(item, _)| item.bytes)
    }

    /// The packet that the discipline sends next, marked where it says so.
    fn pop(&mut self, now: Time) -> Option<(Item, Packet)> {
        let (free, counters) = (&mut self.free, &mut self.counters);
        let item = self
            .discipline
            .dequeue(now, &mut self.rng, &mut |item, why| {
                free.push(item.id);
                match why {
                    Drop::Overflow => counters.overflow_pkts += 1,
                    Drop::Early => counters.early_pkts += 1,
                }
            })?;
        let mut packet = self.packets[item.id as usize];
        self.free.push(item.id);
        if item.marked {
            packet.segment.ecn = Ecn::Ce;
            self.counters.marked_pkts += 1;
        }
        Some((item, packet))
    }

    /// When the bucket has tokens for `bytes` bytes.
    fn tokens_at(&self, bytes: u32) -> Time {
        match (self.burst, self.tx) {
            (Some(burst), Some(tx)) if self.deliveries.is_none() && self.schedule.is_none() => self
                .full_at
                .saturating_sub(burst.saturating_sub(tx.of(u64::from(bytes)))),
            _ => Time::ZERO,
        }
    }

    /// When the next packet may be taken, at `now` or later.
    fn earliest(&mut self, now: Time) -> Time {
        if let Some(deliveries) = &self.deliveries {
            let (number, at) = deliveries.next_opportunity(now);
            let number = number.max(self.opportunity);
            self.opportunity = number;
            return if number == deliveries.next_opportunity(now).0 {
                at
            } else {
                deliveries.time_of(number)
            };
        }
        self.ready_at.max(now)
    }

    /// A packet of `bytes` bytes is taken at `now`: when it has left.
    fn depart(&mut self, now: Time, bytes: u32) -> Time {
        if self.deliveries.is_some() {
            self.opportunity += 1;
            return now;
        }
        if let Some(schedule) = &self.schedule {
            self.ready_at = schedule.finish(now, u64::from(bytes));
            return self.ready_at;
        }
        let cost = self.tx.map_or(Span::ZERO, |tx| tx.of(u64::from(bytes)));
        if self.burst.is_some() {
            self.full_at = self.full_at.max(now) + cost;
            return now;
        }
        self.ready_at = now + cost;
        self.ready_at
    }

    fn change_rate(&mut self, now: Time) {
        if let Some(schedule) = &self.schedule {
            self.discipline.set_rate(schedule.at(now).as_bps());
            self.next_rate_change = schedule
                .next_change(now)
                .map_or(Time::MAX, |(time, _)| time);
        }
    }
}

pub(super) fn droptail(packets: u32, bytes: u64) -> Box<dyn Discipline> {
    use trammel_core::entry::Params;
    use trammel_queues::aqm;
    let entry = aqm::find("droptail").expect("drop-tail is built in");
    let facts = aqm::LinkFacts {
        rate_bps: 0,
        mtu: 1500,
        limit_packets: packets,
        limit_bytes: bytes,
    };
    (entry.build)(&Params::defaults(&entry.about), &facts).expect("drop-tail takes any limit")
}
