//! A one-way link: a queue, a rate, a delay, and what may go wrong on the way.
//!
//! Two ways lead through a link. A drop-tail queue at a fixed rate needs no events of its own: the
//! departure of a packet is known when it arrives (`Express`). Everything else — a queue discipline
//! with a law, a rate that changes, delivery opportunities from a trace — serves packet by packet
//! (`Served`). Both end in the same pipe.
//!
//! A link with a burst is a token bucket, as Linux's tbf: a packet leaves as soon as there are
//! tokens for it, so that after an idle time several leave at once; a link without one takes the
//! time that the packet needs on the wire.

mod ahead;
mod changing;
mod counters;
mod departure_jitter;
mod express;
mod grants;
mod impairments;
mod served;
mod spec;

use crate::ids::{MediumId, MiddleboxId};
use crate::packet::{Labels, Packet};
use crate::ring::Ring;
use ahead::{Ahead, End};
use changing::Changing;
pub use counters::LinkCounters;
use departure_jitter::DepartureJitter;
use express::Express;
use grants::Grants;
use impairments::{Fate, Impairments};
use served::Served;
pub use spec::{Conditions, GrantSpec, LinkSpec, Queue};
use std::collections::BinaryHeap;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Rate, TxTime};
use trammel_queues::aqm::Band;
use trammel_queues::loss::netem;

/// Bytes of a full packet.
const FULL_PACKET: u64 = 1500;

/// A packet in the pipe and when it arrives at the other end.
#[derive(Clone, Copy, Debug, Default)]
struct InPipe {
    arrives: Time,
    packet: Packet,
}

/// How packets get from the queue to the pipe.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one a link, and the common case stays beside its link
enum Service {
    /// Departures are computed on arrival.
    Express(Express),
    /// Packet by packet.
    Served(Box<Served>),
}

/// A link at work.
#[derive(Debug)]
pub struct Link {
    /// Its name.
    pub name: String,
    delay: Span,
    rate: Option<Rate>,
    service: Service,
    is_foreseen: bool,
    /// The device that stands before it.
    middlebox: Option<MiddleboxId>,
    pipe: Ring<InPipe>,
    impairments: Option<Box<Impairments>>,
    /// What is seen of it, where the link is crossed ahead of time.
    ahead: Option<Box<Ahead>>,
    /// When a link that gathers has to take in what has come to it (`network::gather`).
    pub(crate) due: Time,
    /// Packets that reached the other end without lying in the pipe, and those on the way to it.
    passed_pkts: u64,
    passing_pkts: usize,
}

impl Link {
    /// Puts the link to work.
    pub fn new(spec: LinkSpec) -> Link {
        Link::build(spec, None)
    }

    /// One direction of a path over end `side` of medium `medium`, which empties the queue with
    /// [`take`](Link::take) and [`leave`](Link::leave).
    pub(crate) fn over_medium(spec: LinkSpec, medium: MediumId, side: u32) -> Link {
        Link::build(spec, Some((medium, side)))
    }

    fn build(mut spec: LinkSpec, medium: Option<(MediumId, u32)>) -> Link {
        let stream = |what: &str| Rng::new(spec.seed, &format!("link:{}:{what}", spec.name));
        let (queue_rng, loss_rng, delay_rng) = (stream("queue"), stream("loss"), stream("delay"));
        let netem_seed = netem::seed(&mut stream("loss"));
        let tx = spec.rate.map(TxTime::new);
        let most = tx.map_or(Span::ZERO, |tx| {
            tx.of(FULL_PACKET).min(spec.departure_jitter)
        });
        let late = DepartureJitter::new(most, stream("departures"));
        let burst = spec.burst_bytes.and_then(|bytes| tx.map(|tx| tx.of(bytes)));
        let is_fixed = spec.schedule.is_none()
            && spec.cut.is_none()
            && spec.deliveries.is_none()
            && medium.is_none();
        let service = match spec.queue {
            Queue::DropTail { packets, bytes } if is_fixed => {
                Service::Express(Express::new(packets, bytes, tx, burst, late))
            }
            _ => {
                let served = Served::new(&mut spec, tx, burst, medium, late, queue_rng);
                Service::Served(Box::new(served))
            }
        };
        let keeps_order = spec.reorder.is_none() && !spec.overtakes;
        let is_steady =
            spec.conditions.is_none() && spec.grants.is_none() && spec.delay_limit.is_none();
        let is_foreseen = matches!(service, Service::Express(_)) && keeps_order && is_steady;
        let is_impaired =
            spec.loss.is_some() || spec.jitter.is_some() || !keeps_order || !is_steady;
        let delay = match &spec.conditions {
            Some(conditions) => {
                let delays = conditions.steps().iter().map(|(_, one)| one.delay);
                delays.min().unwrap_or(spec.delay)
            }
            None => spec.delay,
        };
        let impairments = is_impaired.then(|| {
            let mut loss = spec.loss;
            let changing = spec
                .conditions
                .map(|steps| Changing::new(steps, netem_seed, &mut loss));
            Box::new(Impairments {
                loss,
                jitter: spec.jitter,
                reorder: spec.reorder,
                overtakes: spec.overtakes,
                changing,
                grants: spec.grants.map(Grants::new),
                limit: spec.delay_limit,
                under_way: BinaryHeap::new(),
                loss_rng,
                delay_rng,
                last_arrival: Time::ZERO,
                late: BinaryHeap::new(),
                passed: 0,
                lost_pkts: 0,
                late_pkts: 0,
            })
        });
        Link {
            name: spec.name,
            delay,
            rate: spec.rate,
            service,
            is_foreseen,
            middlebox: None,
            pipe: Ring::new(),
            impairments,
            ahead: None,
            due: Time::MAX,
            passed_pkts: 0,
            passing_pkts: 0,
        }
    }

    /// The medium that this link is a direction of.
    #[inline]
    pub(crate) fn medium(&self) -> Option<MediumId> {
        match &self.service {
            Service::Express(_) => None,
            Service::Served(served) => served.medium.map(|(medium, _)| medium),
        }
    }

    /// Device `number` stands before this link: what comes to it, and when, only the device knows.
    pub(crate) fn stand_behind(&mut self, number: MiddleboxId) {
        assert!(self.middlebox.is_none(), "one device stands before a link");
        self.is_foreseen = false;
        self.middlebox = Some(number);
    }

    /// The device that stands before this link.
    #[inline]
    pub(crate) fn middlebox(&self) -> Option<MiddleboxId> {
        self.middlebox
    }

    /// Packets of flow or stream `index` carry `labels`, for a queue that looks at them.
    pub(crate) fn label(&mut self, is_stream: bool, index: usize, labels: Labels) {
        if let Service::Served(served) = &mut self.service {
            served.label(is_stream, index, labels);
        }
    }

    /// What the link's queue has counted of each of its bands, where it has several.
    pub fn bands(&self) -> &[Band] {
        match &self.service {
            Service::Express(_) => &[],
            Service::Served(served) => served.bands(),
        }
    }

    /// The link's first rate.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Its propagation delay; the least one, where it changes.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Counters since the start.
    pub fn counters(&self) -> LinkCounters {
        let impairments = self.impairments.as_deref();
        let lost_pkts = impairments.map_or(0, |impairments| impairments.lost_pkts);
        let late_pkts = impairments.map_or(0, |impairments| impairments.late_pkts);
        let mut counters = match (&self.service, &self.ahead) {
            (Service::Served(served), _) => LinkCounters {
                lost_pkts: served.counters.lost_pkts + lost_pkts,
                ..served.counters
            },
            (Service::Express(express), None) => express.tally.counters(lost_pkts),
            (Service::Express(_), Some(ahead)) => ahead.tally.counters(ahead.lost_pkts),
        };
        counters.delivered_pkts = self.pipe.removed() + late_pkts + self.passed_pkts;
        counters
    }

    /// When the link next has something to do; [`Time::MAX`] for never.
    #[inline]
    pub fn next(&self) -> Time {
        let first = self.pipe.front().map_or(Time::MAX, |first| first.arrives);
        let next = first.min(self.due);
        if self.is_foreseen {
            return next;
        }
        let late = self.impairments.as_ref().map_or(Time::MAX, |impairments| {
            let granted = impairments.grants.as_ref().map_or(Time::MAX, Grants::next);
            impairments.next().min(granted)
        });
        match &self.service {
            Service::Express(_) => next.min(late),
            Service::Served(served) => next.min(late).min(served.gate),
        }
    }

    /// When the first packet that waits now leaves the queue; [`Time::MAX`] where none does.
    pub(crate) fn next_departure(&mut self, now: Time) -> Time {
        match &mut self.service {
            Service::Express(express) => express.next_departure(now),
            Service::Served(served) => served.gate,
        }
    }

    /// Whether it is known as a packet comes when it will arrive at the other end, and none
    /// overtakes another: then [`cross`](Link::cross) is the way through the link, else
    /// [`accept`](Link::accept).
    #[inline]
    pub(crate) fn is_foreseen(&self) -> bool {
        self.is_foreseen
    }

    /// From now on packets cross this link before they come to it.
    pub(crate) fn run_ahead(&mut self) {
        debug_assert!(self.is_foreseen, "only what is foreseen runs ahead");
        self.ahead = Some(Box::new(Ahead::new()));
    }

    /// A packet comes to a foreseen link at `at`: when it arrives at the other end, if it does.
    #[inline]
    pub(crate) fn cross(&mut self, at: Time, wire_bytes: u32) -> Option<Time> {
        let departs = self.express().admit(at, wire_bytes)?;
        match &mut self.impairments {
            None => Some(departs + self.delay),
            Some(impairments) => impairments.foreseen(departs, self.delay, wire_bytes),
        }
    }

    /// The same of a link that runs ahead, at `now`.
    #[inline]
    pub(crate) fn cross_ahead(&mut self, now: Time, at: Time, wire_bytes: u32) -> Option<Time> {
        let express = self.express();
        let departs = if express.has_limit() {
            express.admit(at, wire_bytes)
        } else {
            Some(express.pass(at, wire_bytes))
        };
        let left = if departs.is_some() { express.left } else { at };
        let arrives = match (departs, &mut self.impairments) {
            (None, _) => None,
            (Some(departs), None) => Some(departs + self.delay),
            (Some(departs), Some(impairments)) => {
                impairments.foreseen(departs, self.delay, wire_bytes)
            }
        };
        let end = match (departs, arrives) {
            (None, _) => End::Dropped,
            (Some(_), None) => End::Lost,
            (Some(_), Some(_)) => End::Through,
        };
        if let Some(ahead) = &mut self.ahead {
            ahead.note(now, at, left, wire_bytes, end);
        }
        arrives
    }

    #[inline]
    fn express(&mut self) -> &mut Express {
        match &mut self.service {
            Service::Express(express) => express,
            Service::Served(_) => unreachable!("only what express queues do is foreseen"),
        }
    }

    /// The place to write a packet to that [`lay`](Link::lay) then lays into the pipe.
    #[inline]
    pub(crate) fn slot(&mut self) -> &mut Packet {
        &mut self.pipe.next().packet
    }

    /// Lays the packet in [`slot`](Link::slot) into the pipe, out of which it comes at `arrives`.
    /// Returns whether it is the first there.
    #[inline]
    pub(crate) fn lay(&mut self, arrives: Time) -> bool {
        self.pipe.written().arrives = arrives;
        self.pipe.commit();
        self.pipe.len() == 1
    }

    /// A packet comes at `now`, to a link of any kind. Returns whether [`next`](Link::next) may
    /// have become earlier.
    pub fn accept(&mut self, now: Time, packet: &Packet) -> bool {
        match &mut self.service {
            Service::Express(express) => match express.admit(now, packet.wire_bytes) {
                Some(departs) => self.launch(departs, packet),
                None => false,
            },
            Service::Served(served) => {
                let is_due = served.enqueue(now, packet);
                if is_due {
                    self.serve(now);
                }
                is_due
            }
        }
    }

    /// Sends what may be sent at `now`. An idle link takes a packet before the next one of the same
    /// burst comes, which therefore does not find it in the queue.
    fn serve(&mut self, now: Time) {
        while let Service::Served(served) = &mut self.service
            && served.gate <= now
            && let Some((packet, departs)) = served.serve(now)
        {
            self.launch(departs, &packet);
        }
    }

    /// Sends a packet that leaves the queue at `departs` on its way.
    fn launch(&mut self, departs: Time, packet: &Packet) -> bool {
        let mut arrives = departs + self.delay;
        if let Some(impairments) = &mut self.impairments {
            match impairments.fate(departs, self.delay, packet.wire_bytes) {
                Fate::InOrder(arrives_then) => arrives = arrives_then,
                Fate::Lost => return false,
                Fate::Overtaken(arrives) => {
                    impairments.delay(arrives, *packet);
                    return true;
                }
            }
            if let Some(grants) = &mut impairments.grants {
                let pipe = &mut self.pipe;
                grants.come(departs, arrives, *packet, &mut |arrives, packet| {
                    pipe.push(InPipe {
                        arrives,
                        packet: *packet,
                    });
                });
                return true;
            }
        }
        *self.slot() = *packet;
        self.lay(arrives)
    }

    /// The packet that reaches the other end at `now`, where it lies; [`remove`](Link::remove)
    /// removes it.
    #[inline]
    pub fn arrived(&self, now: Time) -> Option<&Packet> {
        self.pipe
            .front()
            .filter(|first| first.arrives <= now)
            .map(|first| &first.packet)
    }

    /// The first packet in the pipe.
    #[inline]
    pub(crate) fn first(&self) -> &Packet {
        &self.pipe.front().expect("a packet is on its way").packet
    }

    /// Removes the packet that [`arrived`](Link::arrived).
    #[inline]
    pub fn remove(&mut self) {
        self.pipe.pop();
    }

    /// Does what is due at `now`. True where a packet has reached the other end: it is in
    /// `arrived`.
    pub fn advance(&mut self, now: Time, arrived: &mut Packet) -> bool {
        if let Some(packet) = self.arrived(now) {
            *arrived = *packet;
            self.remove();
            return true;
        }
        if let Some(packet) = self
            .impairments
            .as_mut()
            .and_then(|impairments| impairments.arrived(now))
        {
            *arrived = packet;
            return true;
        }
        if let Some(grants) = self
            .impairments
            .as_mut()
            .and_then(|impairments| impairments.grants.as_mut())
            && grants.next() <= now
        {
            let pipe = &mut self.pipe;
            grants.look(now, &mut |arrives, packet| {
                pipe.push(InPipe {
                    arrives,
                    packet: *packet,
                });
            });
        }
        self.serve(now);
        false
    }

    /// The next packet for the medium, which has none of this link's.
    pub(crate) fn take(&mut self, now: Time) -> Option<Packet> {
        self.medium_queue().take(now)
    }

    /// The medium has sent the packet that it took, or given it up.
    pub(crate) fn leave(&mut self, now: Time, packet: Packet, is_received: bool) {
        self.medium_queue().leave(now, is_received);
        if is_received {
            self.launch(now, &packet);
        }
    }

    fn medium_queue(&mut self) -> &mut Served {
        match &mut self.service {
            Service::Served(served) => served,
            Service::Express(_) => unreachable!("a medium takes from served links"),
        }
    }

    /// Packets and bytes in the queue at `now`, the one being sent included.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        match (&mut self.service, &mut self.ahead) {
            (Service::Served(served), _) => served.backlog(),
            (Service::Express(express), None) => express.backlog(now),
            (Service::Express(_), Some(ahead)) => ahead.backlog(now),
        }
    }

    /// Packets and bytes that wait at `now`, the one being sent not included: in a token bucket all
    /// wait for tokens.
    pub fn waiting(&mut self, now: Time) -> (u32, u64) {
        let (packets, bytes) = self.backlog(now);
        let in_service = match (&self.service, &self.ahead) {
            (Service::Served(served), _) => served.in_service(),
            (Service::Express(express), _) if express.is_bucket() => None,
            (Service::Express(express), None) => express.first(),
            (Service::Express(_), Some(ahead)) => ahead.first(),
        };
        match in_service {
            Some(sent) => (packets - 1, bytes - u64::from(sent)),
            None => (packets, bytes),
        }
    }

    /// Brings what is seen of a link that runs ahead up to `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        if let Some(ahead) = &mut self.ahead {
            ahead.settle(now);
        }
    }

    /// Packets that have come to a link that runs ahead since this was asked last, and those on
    /// their way.
    pub(crate) fn landed(&mut self) -> (u64, usize) {
        self.ahead.as_mut().map_or((0, 0), |ahead| ahead.landed())
    }

    /// Of what this link sends to links that run ahead, `passed` packets more have got there, and
    /// `passing` have not.
    pub(crate) fn note_passed(&mut self, passed: u64, passing: usize) {
        self.passed_pkts += passed;
        self.passing_pkts += passing;
    }

    /// Before all [`note_passed`](Link::note_passed) of an instant.
    pub(crate) fn forget_passing(&mut self) {
        self.passing_pkts = 0;
    }

    /// Packets that have not been given a time of departure: those of a queue served packet by
    /// packet.
    pub fn queued(&self) -> u32 {
        match &self.service {
            Service::Express(_) => 0,
            Service::Served(served) => served.packets_held(),
        }
    }

    /// Packets in the pipe.
    pub fn in_pipe(&self) -> usize {
        let late = self
            .impairments
            .as_ref()
            .map_or(0, |impairments| impairments.held());
        let coming = self.ahead.as_ref().map_or(0, |ahead| ahead.through());
        self.pipe.len() + late + self.passing_pkts - coming
    }
}

#[cfg(test)]
mod tests;
