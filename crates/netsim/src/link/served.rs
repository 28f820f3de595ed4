//! A queue served packet by packet: a discipline with a law, a rate that changes, a medium.

use super::counters::LinkCounters;
use super::departure_jitter::DepartureJitter;
use super::spec::{LinkSpec, Queue};
use crate::ids::MediumId;
use crate::packet::{Course, Labels, Packet};
use trammel_core::rng::Rng;
use trammel_core::schedule::{DeliverySchedule, RateSchedule, Steps};
use trammel_core::time::{Span, Time};
use trammel_core::units::TxTime;
use trammel_queues::aqm::{Band, Discipline, Drop, Item};
use trammel_tcp::segment::Ecn;

/// The queue, what serves it, and what has been counted of it.
#[derive(Debug)]
pub(super) struct Served {
    discipline: Box<dyn Discipline>,
    packets: Vec<Packet>,
    free: Vec<u32>,
    /// What packets of each flow and of each stream carry, for a discipline that looks at it.
    labels: [Vec<Labels>; 2],
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
    /// When the link is cut, and when that changes next.
    cut: Option<Steps<bool>>,
    next_cut_change: Time,
    is_cut: bool,
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
        let cut = spec.cut.take();
        let next_cut_change = cut.as_ref().map_or(Time::MAX, |cut| flips(cut, Time::ZERO));
        let is_cut = cut.as_ref().is_some_and(|cut| cut.at(Time::ZERO));
        Served {
            cut,
            next_cut_change,
            is_cut,
            discipline,
            packets: Vec::new(),
            free: Vec::new(),
            labels: [Vec::new(), Vec::new()],
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

    /// Packets of flow or stream `index` carry `labels`.
    pub(super) fn label(&mut self, is_stream: bool, index: usize, labels: Labels) {
        if !self.discipline.classifies() {
            return;
        }
        let all = &mut self.labels[usize::from(is_stream)];
        all.resize(all.len().max(index + 1), Labels::default());
        all[index] = labels;
    }

    /// What `packet` carries; what comes back goes from the destination to the source.
    #[inline]
    fn labels_of(&self, packet: &Packet) -> Labels {
        let all = &self.labels[usize::from(packet.course == Course::Datagram)];
        let labels = all.get(packet.flow as usize).copied().unwrap_or_default();
        if packet.course == Course::Backward {
            let (source, destination) = (labels.destination, labels.source);
            return Labels {
                source,
                destination,
                ..labels
            };
        }
        labels
    }

    /// What the discipline has counted of its bands.
    pub(super) fn bands(&self) -> &[Band] {
        self.discipline.bands()
    }

    /// A packet comes at `now`. Returns whether there may be something to do earlier than before.
    pub(super) fn enqueue(&mut self, now: Time, packet: &Packet) -> bool {
        if self.next_cut_change <= now {
            self.change_cut(now);
        }
        if self.is_cut {
            self.counters.arrived_pkts += 1;
            self.counters.arrived_bytes += u64::from(packet.wire_bytes);
            self.counters.overflow_pkts += 1;
            return false;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.packets.push(*packet);
            self.packets.len() as u32 - 1
        });
        self.packets[id as usize] = *packet;
        let labels = self.labels_of(packet);
        let item = Item {
            id,
            bytes: packet.wire_bytes,
            flow: packet.flow_hash(),
            ack: packet.segment.ack,
            source: labels.source,
            destination: labels.destination,
            dscp: labels.dscp,
            ecn: packet.segment.ecn,
            role: packet.role(),
            enqueued: now,
            ..Item::default()
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
        if self.next_cut_change <= now {
            self.change_cut(now);
        }
        let was_held = self.held.is_some();
        let Some((item, packet)) = self.held.take().or_else(|| self.pop(now)) else {
            // One with a rate of its own may hold back what waits.
            if self.discipline.packets() > 0 {
                let ready_at = self.discipline.ready_at().max(now);
                let due = self.earliest(ready_at);
                self.open_gate(due, now);
            } else {
                self.gate = Time::MAX;
            }
            return None;
        };
        let tokens_at = self.tokens_at(item.bytes);
        if tokens_at > now {
            self.held = Some((item, packet));
            self.discipline.line_is_idle(None);
            self.open_gate(tokens_at, now);
            return None;
        }
        // The rate goes by when service was due; who has waited is late already.
        let has_waited = now > self.due;
        let begins = if self.burst.is_some() { now } else { self.due };
        let departs = self.depart(begins, item.bytes);
        let is_lost = departs > self.next_cut_change;
        if is_lost {
            // It is being sent as the link is cut.
            self.ready_at = self.next_cut_change;
        }
        if self.discipline.packets() > 0 {
            self.await_service(now);
        } else {
            self.gate = Time::MAX;
            if was_held {
                self.discipline.line_is_idle(Some(now));
            }
        }
        if is_lost {
            self.count_sent(self.next_cut_change, item);
            self.counters.lost_pkts += 1;
            return None;
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

    /// The next packet is due at `due`; what has to wait until then is late. A cut before finds
    /// what waits.
    fn open_gate(&mut self, due: Time, now: Time) {
        self.due = due;
        let gate = match &mut self.late {
            Some(late) if due > now => late.leaves(due),
            _ => due,
        };
        self.gate = gate.min(self.next_cut_change);
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
        self.ready_at.max(now).max(self.discipline.ready_at())
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

    /// The link is cut or whole again. As it is cut, what waits is dropped.
    #[cold]
    fn change_cut(&mut self, now: Time) {
        let Some(cut) = &self.cut else { return };
        self.is_cut = cut.at(now);
        self.next_cut_change = flips(cut, now);
        if !self.is_cut {
            return;
        }
        // What was taken out to wait for tokens is not on the wire yet.
        self.counters.overflow_pkts += u64::from(self.held.take().is_some());
        // One with a rate of its own gives what waits in its own time.
        while self.pop(now.max(self.discipline.ready_at())).is_some() {
            self.counters.overflow_pkts += 1;
        }
        self.gate = Time::MAX;
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

/// When a link is next cut, or whole again.
fn flips(cut: &Steps<bool>, now: Time) -> Time {
    let (was, mut at) = (cut.at(now), now);
    if cut.steps().iter().all(|(_, is)| *is == was) {
        return Time::MAX;
    }
    while let Some((next, is)) = cut.next_change(at) {
        if is != was {
            return next;
        }
        at = next;
    }
    Time::MAX
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
        overhead: 0,
    };
    (entry.build)(&Params::defaults(&entry.about), &facts).expect("drop-tail takes any limit")
}
