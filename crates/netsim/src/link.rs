//! A one-way link: a queue, a rate, a delay, and what may go wrong on the way.
//!
//! Two ways lead through a link. A drop-tail queue at a fixed rate needs no events of its own: the
//! departure of a packet is known when it arrives (`Express`). Everything else — a queue discipline with a
//! law, a rate that changes, delivery opportunities from a trace — serves packet by packet (`Served`).
//! Both end in the same pipe.
//!
//! A link with a burst is a token bucket, as Linux's tbf: a packet leaves as soon as there are tokens for
//! it, so that after an idle time several leave at once; a link without one takes the time that the packet
//! needs on the wire.

use crate::packet::Packet;
use crate::ring::Ring;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use trammel_core::aqm::{Discipline, Drop, Item};
use trammel_core::arrivals::Spans;
use trammel_core::loss::LossModel;
use trammel_core::rng::Rng;
use trammel_core::schedule::{DeliverySchedule, RateSchedule};
use trammel_core::time::Time;
use trammel_core::units::{Rate, TxTime};
use trammel_tcp::segment::Ecn;

/// What a link is made of.
#[derive(Debug)]
pub struct LinkSpec {
    /// Its name in tables and traces.
    pub name: String,
    /// Its rate; none is infinitely fast.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Time,
    /// Token-bucket depth in bytes; none serialises.
    pub burst_bytes: Option<u64>,
    /// The queue before it.
    pub queue: Queue,
    /// Losses behind the queue.
    pub loss: Option<Box<dyn LossModel>>,
    /// Extra delay of each packet.
    pub jitter: Option<Spans>,
    /// Probability and extra delay of packets that others may overtake.
    pub reorder: Option<(f64, Time)>,
    /// A rate that changes with time; `rate` is then its first.
    pub schedule: Option<RateSchedule>,
    /// Delivery opportunities of a packet each, in place of a rate.
    pub deliveries: Option<DeliverySchedule>,
    /// Seed of the link's own random streams.
    pub seed: u64,
}

/// The queue before a link.
#[derive(Debug)]
pub enum Queue {
    /// First in, first out; arrivals beyond either limit are dropped. The packet being sent counts.
    DropTail {
        /// Limit in packets.
        packets: u32,
        /// Limit in bytes.
        bytes: u64,
    },
    /// A queue discipline with a law of its own.
    Discipline(Box<dyn Discipline>),
}

impl Queue {
    /// A queue that never drops.
    pub const UNLIMITED: Queue = Queue::DropTail {
        packets: u32::MAX,
        bytes: u64::MAX,
    };
}

impl LinkSpec {
    /// An infinitely fast link without a queue.
    pub fn wire(name: &str, delay: Time) -> LinkSpec {
        LinkSpec {
            name: name.to_owned(),
            rate: None,
            delay,
            burst_bytes: None,
            queue: Queue::UNLIMITED,
            loss: None,
            jitter: None,
            reorder: None,
            schedule: None,
            deliveries: None,
            seed: 0,
        }
    }
}

/// Counters of a link since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that came.
    pub arrived_pkts: u64,
    /// Bytes that came.
    pub arrived_bytes: u64,
    /// Packets that left the queue.
    pub sent_pkts: u64,
    /// Bytes that left the queue.
    pub sent_bytes: u64,
    /// Dropped because the queue was full.
    pub overflow_pkts: u64,
    /// Dropped by the discipline's law.
    pub early_pkts: u64,
    /// Lost behind the queue.
    pub lost_pkts: u64,
    /// Marked with Congestion Experienced.
    pub marked_pkts: u64,
    /// Sum of the times that packets waited in the queue and were sent, ns.
    pub wait_ns: u64,
    /// Most packets in the queue.
    pub peak_pkts: u32,
    /// Packets that reached the other end.
    pub delivered_pkts: u64,
}

impl LinkCounters {
    /// Packets that were dropped or lost, for any reason.
    pub fn dropped_pkts(&self) -> u64 {
        self.overflow_pkts + self.early_pkts + self.lost_pkts
    }
}

/// A packet in the pipe and when it arrives at the other end.
#[derive(Clone, Copy, Debug, Default)]
struct InPipe {
    arrives: Time,
    packet: Packet,
}

/// A packet that others may overtake, ordered by its arrival, then by its coming.
#[derive(Debug)]
struct Late {
    arrives: Time,
    order: u64,
    packet: Packet,
}
impl PartialEq for Late {
    fn eq(&self, other: &Late) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Late {}
impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Late) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Late {
    fn cmp(&self, other: &Late) -> Ordering {
        (self.arrives, self.order).cmp(&(other.arrives, other.order))
    }
}

/// How packets get from the queue to the pipe.
#[derive(Debug)]
enum Service {
    /// Departures are computed on arrival.
    Express(Express),
    /// Packet by packet.
    Served(Box<Served>),
}

/// A drop-tail queue at a fixed rate.
#[derive(Debug)]
struct Express {
    limit_packets: u32,
    limit_bytes: u64,
    /// Time per byte; none where the link is infinitely fast.
    tx: Option<TxTime>,
    /// Depth of the token bucket in time at the link's rate.
    burst: Option<Time>,
    /// When the last packet has left, or when the bucket is full again.
    free_at: Time,
    last_departure: Time,
    /// Packets that have not left yet: when they do, and their bytes.
    waiting: Ring<(Time, u32)>,
    waiting_bytes: u64,
}

/// A queue served packet by packet.
#[derive(Debug)]
struct Served {
    discipline: Box<dyn Discipline>,
    packets: Vec<Packet>,
    free: Vec<u32>,
    tx: Option<TxTime>,
    schedule: Option<RateSchedule>,
    deliveries: Option<DeliverySchedule>,
    /// Number of the next delivery opportunity that may be used.
    opportunity: u64,
    burst: Option<Time>,
    full_at: Time,
    /// When the next packet may be taken; [`Time::MAX`] while the queue is empty.
    gate: Time,
    /// Earliest next service, also over an empty queue.
    ready_at: Time,
    next_rate_change: Time,
    /// The medium that takes the packets, and which of its ends this is.
    medium: Option<(u32, u32)>,
    /// The packet that the medium has.
    on_air: Option<Item>,
    /// The packet that waits for tokens: only the queue knows which is next, and only its size tells when.
    held: Option<(Item, Packet)>,
}

/// A link at work.
#[derive(Debug)]
pub struct Link {
    /// Its name.
    pub name: String,
    delay: Time,
    service: Service,
    pipe: Ring<InPipe>,
    late: BinaryHeap<Reverse<Late>>,
    last_arrival: Time,
    loss: Option<Box<dyn LossModel>>,
    jitter: Option<Spans>,
    reorder: Option<(f64, Time)>,
    queue_rng: Rng,
    loss_rng: Rng,
    delay_rng: Rng,
    rate: Option<Rate>,
    /// Counters since the start.
    pub counters: LinkCounters,
}

impl Link {
    /// Puts the link to work.
    pub fn new(spec: LinkSpec) -> Link {
        Link::build(spec, None)
    }

    /// One direction of a path over end `side` of medium `medium`, which empties the queue with
    /// [`take`](Link::take) and [`leave`](Link::leave).
    pub(crate) fn over_medium(spec: LinkSpec, medium: u32, side: u32) -> Link {
        Link::build(spec, Some((medium, side)))
    }

    fn build(spec: LinkSpec, medium: Option<(u32, u32)>) -> Link {
        let is_shared = medium.is_some();
        let stream = |what: &str| Rng::new(spec.seed, &format!("link:{}:{what}", spec.name));
        let (queue_rng, loss_rng, delay_rng) = (stream("queue"), stream("loss"), stream("delay"));
        let tx = spec.rate.map(TxTime::new);
        let burst = spec.burst_bytes.and_then(|bytes| tx.map(|tx| tx.of(bytes)));
        let fixed = spec.schedule.is_none() && spec.deliveries.is_none();
        let service = match spec.queue {
            Queue::DropTail { packets, bytes } if fixed && !is_shared => {
                Service::Express(Express {
                    limit_packets: packets,
                    limit_bytes: bytes,
                    tx,
                    burst,
                    free_at: Time::ZERO,
                    last_departure: Time::ZERO,
                    waiting: Ring::new(),
                    waiting_bytes: 0,
                })
            }
            queue => {
                let discipline = match queue {
                    Queue::Discipline(discipline) => discipline,
                    Queue::DropTail { packets, bytes } => droptail(packets, bytes),
                };
                let next_rate_change = spec
                    .schedule
                    .as_ref()
                    .and_then(|schedule| schedule.next_change(Time::ZERO))
                    .map_or(Time::MAX, |(time, _)| time);
                Service::Served(Box::new(Served {
                    discipline,
                    packets: Vec::new(),
                    free: Vec::new(),
                    tx,
                    schedule: spec.schedule,
                    deliveries: spec.deliveries,
                    opportunity: 0,
                    burst,
                    full_at: Time::ZERO,
                    gate: Time::MAX,
                    ready_at: Time::ZERO,
                    next_rate_change,
                    medium,
                    on_air: None,
                    held: None,
                }))
            }
        };
        Link {
            name: spec.name,
            delay: spec.delay,
            service,
            pipe: Ring::new(),
            late: BinaryHeap::new(),
            last_arrival: Time::ZERO,
            loss: spec.loss,
            jitter: spec.jitter,
            reorder: spec.reorder,
            queue_rng,
            loss_rng,
            delay_rng,
            rate: spec.rate,
            counters: LinkCounters::default(),
        }
    }

    /// The medium that this link is a direction of.
    #[inline]
    pub(crate) fn medium(&self) -> Option<usize> {
        match &self.service {
            Service::Express(_) => None,
            Service::Served(served) => served.medium.map(|(medium, _)| medium as usize),
        }
    }

    /// The link's first rate.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Its propagation delay.
    pub fn delay(&self) -> Time {
        self.delay
    }

    /// When the link next has something to do; [`Time::MAX`] for never.
    #[inline]
    pub fn next(&self) -> Time {
        let mut next = self.pipe.front().map_or(Time::MAX, |first| first.arrives);
        if let Some(Reverse(late)) = self.late.peek() {
            next = next.min(late.arrives);
        }
        if let Service::Served(served) = &self.service {
            next = next.min(served.gate);
        }
        next
    }

    /// When the first packet that waits now leaves the queue; [`Time::MAX`] where none does.
    pub(crate) fn next_departure(&mut self, now: Time) -> Time {
        match &mut self.service {
            Service::Express(express) => {
                express.expire(now);
                let first = express.waiting.front();
                first.map_or(Time::MAX, |&(departs, _)| departs)
            }
            Service::Served(served) => served.gate,
        }
    }

    /// The place to write a packet to that is to enter the link by [`enter`](Link::enter).
    #[inline]
    pub fn slot(&mut self) -> &mut Packet {
        &mut self.pipe.next().packet
    }

    /// A packet comes at `now`. Returns whether [`next`](Link::next) may have become earlier.
    #[inline]
    pub fn accept(&mut self, now: Time, packet: &Packet) -> bool {
        *self.slot() = *packet;
        self.enter(now)
    }

    /// The packet in [`slot`](Link::slot) enters the link at `now`. Returns whether
    /// [`next`](Link::next) may have become earlier.
    #[inline]
    pub fn enter(&mut self, now: Time) -> bool {
        let wire_bytes = self.pipe.next().packet.wire_bytes;
        self.counters.arrived_pkts += 1;
        self.counters.arrived_bytes += u64::from(wire_bytes);
        match &mut self.service {
            Service::Express(express) => {
                let Some(departs) = express.admit(now, wire_bytes, &mut self.counters) else {
                    return false;
                };
                self.launch(departs, wire_bytes)
            }
            Service::Served(_) => {
                let packet = *self.slot();
                self.enqueue(now, &packet)
            }
        }
    }

    /// Sends the packet in the pipe's next place, which leaves the queue at `departs`, on its way.
    #[inline]
    fn launch(&mut self, departs: Time, wire_bytes: u32) -> bool {
        self.counters.sent_pkts += 1;
        self.counters.sent_bytes += u64::from(wire_bytes);
        if let Some(loss) = &mut self.loss
            && loss.loses(departs, wire_bytes, &mut self.loss_rng)
        {
            self.counters.lost_pkts += 1;
            return false;
        }
        let mut arrives = departs + self.delay;
        if self.jitter.is_some() || self.reorder.is_some() {
            if let Some(jitter) = &mut self.jitter {
                arrives += jitter.draw(&mut self.delay_rng);
            }
            if let Some((probability, extra)) = self.reorder
                && self.delay_rng.chance(probability)
            {
                let packet = *self.slot();
                let order = self.counters.sent_pkts;
                self.late.push(Reverse(Late {
                    arrives: arrives + extra,
                    order,
                    packet,
                }));
                return true;
            }
            // The pipe keeps the order: jitter alone never reorders.
            arrives = arrives.max(self.last_arrival);
            self.last_arrival = arrives;
        }
        self.pipe.next().arrives = arrives;
        self.pipe.commit();
        self.pipe.len() == 1
    }

    /// The packet that reaches the other end at `now`, where it lies; [`remove`](Link::remove) removes it.
    #[inline]
    pub fn arrived(&self, now: Time) -> Option<&Packet> {
        self.pipe
            .front()
            .filter(|first| first.arrives <= now)
            .map(|first| &first.packet)
    }

    /// Removes the packet that [`arrived`](Link::arrived).
    #[inline]
    pub fn remove(&mut self) {
        self.counters.delivered_pkts += 1;
        self.pipe.pop();
    }

    /// Does what is due at `now`. True where a packet has reached the other end: it is in `arrived`.
    pub fn advance(&mut self, now: Time, arrived: &mut Packet) -> bool {
        if let Some(packet) = self.arrived(now) {
            *arrived = *packet;
            self.remove();
            return true;
        }
        self.advance_slowly(now, arrived)
    }

    fn advance_slowly(&mut self, now: Time, arrived: &mut Packet) -> bool {
        if self
            .late
            .peek()
            .is_some_and(|Reverse(late)| late.arrives <= now)
        {
            let Some(Reverse(late)) = self.late.pop() else {
                unreachable!("just seen")
            };
            *arrived = late.packet;
            self.counters.delivered_pkts += 1;
            return true;
        }
        if let Service::Served(served) = &self.service
            && served.gate <= now
        {
            self.serve(now);
        }
        false
    }

    fn enqueue(&mut self, now: Time, packet: &Packet) -> bool {
        let Service::Served(served) = &mut self.service else {
            unreachable!("only served links queue");
        };
        let id = served.free.pop().unwrap_or_else(|| {
            served.packets.push(*packet);
            served.packets.len() as u32 - 1
        });
        served.packets[id as usize] = *packet;
        let item = Item {
            id,
            bytes: packet.wire_bytes,
            flow: packet.flow_hash(),
            ecn_capable: packet.is_ecn_capable(),
            marked: false,
            enqueued: now,
        };
        let was_idle = served.gate == Time::MAX;
        let (free, counters) = (&mut served.free, &mut self.counters);
        served
            .discipline
            .enqueue(now, item, &mut self.queue_rng, &mut |item, why| {
                free.push(item.id);
                match why {
                    Drop::Overflow => counters.overflow_pkts += 1,
                    Drop::Early => counters.early_pkts += 1,
                }
            });
        counters.peak_pkts = counters.peak_pkts.max(served.discipline.packets());
        if served.medium.is_some() {
            return served.on_air.is_none();
        }
        if was_idle && served.discipline.packets() > 0 {
            served.gate = served.earliest(now);
            return true;
        }
        false
    }

    /// Takes the next packet from the queue at `now`.
    fn serve(&mut self, now: Time) {
        let Service::Served(served) = &mut self.service else {
            unreachable!("only served links are served");
        };
        if served.next_rate_change <= now {
            served.change_rate(now);
        }
        let next = served
            .held
            .take()
            .or_else(|| served.pop(now, &mut self.queue_rng, &mut self.counters));
        let Some((item, packet)) = next else {
            served.gate = Time::MAX;
            return;
        };
        let tokens_at = served.tokens_at(item.bytes);
        if tokens_at > now {
            served.held = Some((item, packet));
            served.gate = tokens_at;
            return;
        }
        let departs = served.depart(now, item.bytes);
        self.counters.wait_ns += departs.saturating_sub(item.enqueued).as_ns();
        served.gate = if served.discipline.packets() > 0 {
            served.earliest(now)
        } else {
            Time::MAX
        };
        *self.slot() = packet;
        self.launch(departs, packet.wire_bytes);
    }

    /// The next packet for the medium, which has none of this link's.
    pub(crate) fn take(&mut self, now: Time) -> Option<Packet> {
        let Service::Served(served) = &mut self.service else {
            unreachable!("a medium takes from served links");
        };
        debug_assert!(served.on_air.is_none(), "one frame at a time");
        let (item, packet) = served.pop(now, &mut self.queue_rng, &mut self.counters)?;
        served.on_air = Some(item);
        Some(packet)
    }

    /// The medium has sent the packet that it took, or given it up.
    pub(crate) fn leave(&mut self, now: Time, packet: Packet, is_received: bool) {
        let Service::Served(served) = &mut self.service else {
            unreachable!("a medium takes from served links");
        };
        let item = served.on_air.take().expect("what leaves was taken");
        self.counters.wait_ns += now.saturating_sub(item.enqueued).as_ns();
        if is_received {
            *self.slot() = packet;
            self.launch(now, packet.wire_bytes);
        } else {
            self.counters.sent_pkts += 1;
            self.counters.sent_bytes += u64::from(packet.wire_bytes);
            self.counters.lost_pkts += 1;
        }
    }

    /// Packets and bytes in the queue at `now`, the one being sent included.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        match &mut self.service {
            Service::Express(express) => {
                express.expire(now);
                (express.waiting.len() as u32, express.waiting_bytes)
            }
            Service::Served(served) => {
                let held = served.held.map(|(item, _)| item).or(served.on_air);
                let held_bytes = held.map_or(0, |item| u64::from(item.bytes));
                (
                    served.packets_held(),
                    served.discipline.bytes() + held_bytes,
                )
            }
        }
    }

    /// Packets that have not been given a time of departure: those of a queue served packet by packet.
    pub fn queued(&self) -> u32 {
        match &self.service {
            Service::Express(_) => 0,
            Service::Served(served) => served.packets_held(),
        }
    }

    /// Packets in the pipe.
    pub fn in_pipe(&self) -> usize {
        self.pipe.len() + self.late.len()
    }
}

fn droptail(packets: u32, bytes: u64) -> Box<dyn Discipline> {
    use trammel_core::{aqm, entry::Params};
    let entry = aqm::find("droptail").expect("drop-tail is built in");
    let facts = aqm::LinkFacts {
        rate_bps: 0,
        mtu: 1500,
        limit_packets: packets,
        limit_bytes: bytes,
    };
    (entry.build)(&Params::defaults(&entry.about), &facts).expect("drop-tail takes any limit")
}

impl Express {
    /// Forgets the packets that have left by `now`.
    #[inline]
    fn expire(&mut self, now: Time) {
        while let Some(&(departs, bytes)) = self.waiting.front() {
            if departs > now {
                break;
            }
            self.waiting_bytes -= u64::from(bytes);
            self.waiting.pop();
        }
    }

    /// Takes in a packet: when it leaves, or nothing where the queue is full.
    #[inline]
    fn admit(&mut self, now: Time, bytes: u32, counters: &mut LinkCounters) -> Option<Time> {
        let Some(tx) = self.tx else {
            return Some(now);
        };
        self.expire(now);
        if self.waiting.len() as u64 >= u64::from(self.limit_packets)
            || self.waiting_bytes + u64::from(bytes) > self.limit_bytes
        {
            counters.overflow_pkts += 1;
            return None;
        }
        let cost = tx.of(u64::from(bytes));
        let departs = match self.burst {
            None => {
                self.free_at = self.free_at.max(now) + cost;
                self.free_at
            }
            Some(burst) => {
                // The bucket is full at `free_at`; a packet needs `cost` of its `burst`.
                let tokens_at = self.free_at.saturating_sub(burst.saturating_sub(cost));
                let departs = tokens_at.max(now).max(self.last_departure);
                self.free_at = self.free_at.max(departs) + cost;
                departs
            }
        };
        self.last_departure = departs;
        if departs > now {
            self.waiting.push((departs, bytes));
            self.waiting_bytes += u64::from(bytes);
            counters.peak_pkts = counters.peak_pkts.max(self.waiting.len() as u32);
        }
        counters.wait_ns += (departs - now).as_ns();
        Some(departs)
    }
}

impl Served {
    fn packets_held(&self) -> u32 {
        let held = self.on_air.is_some() || self.held.is_some();
        self.discipline.packets() + u32::from(held)
    }

    /// The packet that the discipline sends next, marked where it says so.
    fn pop(
        &mut self,
        now: Time,
        rng: &mut Rng,
        counters: &mut LinkCounters,
    ) -> Option<(Item, Packet)> {
        let free = &mut self.free;
        let item = self.discipline.dequeue(now, rng, &mut |item, why| {
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
            counters.marked_pkts += 1;
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
        let cost = self.tx.map_or(Time::ZERO, |tx| tx.of(u64::from(bytes)));
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

#[cfg(test)]
mod tests;
