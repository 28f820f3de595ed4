//! Calls that cost time: the processor of a router in virtual time.
//!
//! With a core, virtual time is the core's time. A call takes as long as the element's costs say,
//! and what it does, it does at the end of that time:
//!
//! - A *push* is charged before the element gets the batch, whose packets and bytes are known.
//! - A *pull* is charged when what was pulled is known, before the puller has it.
//! - A *task* is charged for what it pulls as soon as it has it, so before it hands it to a device;
//!   for what it brings into the router otherwise (a source) when it returns, so before that is
//!   delivered. One that neither pulled nor emitted nor said that it worked is charged as `empty`.
//! - A *timer* is charged as a source's task.
//! - Looks at descriptors are charged while any is waited on.
//!
//! A task takes 1 ns at least, whatever its costs, so that time passes in a router that costs
//! nothing.
//!
//! Tasks that poll in vain repeat themselves; after some turns of them, and while no packet is in
//! the router, time leaps over as many whole turns as fit before the next thing happens, and is
//! accounted as polling.
//!
//! One core runs the whole router. Where several are to run one router, each thread's context has a
//! core of its own, and what is behind the clocks must wait for the one that is ahead:
//! `Ctx::simulate` is where a second one would join. Cores that share no packets (receive-side
//! scaling) are as many simulations.

mod charge;

use super::core_clock::{Cost, Meter};
use super::ids::ElementId;
use trammel_core::time::{Span, Time};
use trammel_packet::batch::Packets;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// The least that a task takes.
const LEAST_TASK: Span = Span::from_ns(1);

/// Tasks in vain for each scheduled one before time leaps: more than the patience of any element
/// that sleeps after so many, so that whoever polls yet will poll on.
pub(super) const VAIN_TURNS: u32 = 128;

/// A task under way.
#[derive(Clone, Copy, Debug)]
struct Turn {
    owner: ElementId,
    began: Time,
    /// Its call was charged.
    is_called: bool,
    /// Packets that were charged to it.
    charged: usize,
}

/// The core that runs a router in virtual time.
#[derive(Debug)]
pub struct SimulatedCore {
    meter: Meter,
    /// The time of day at the start.
    start: Timestamp,
    /// By element.
    costs: Vec<Cost>,
    /// A look at descriptors.
    look_cycles: f64,
    /// Time that each element took, with packets and in vain.
    worked: Vec<Span>,
    in_vain: Vec<Span>,
    looked: Span,
    leapt: Span,
    turn: Option<Turn>,
    /// When the present round of tasks began.
    round_began: Time,
}

/// Where a core's time went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreTimes {
    /// Calls with packets, by element.
    pub worked: Vec<Span>,
    /// Calls in vain, by element.
    pub in_vain: Vec<Span>,
    /// Looks at descriptors.
    pub looked: Span,
    /// Turns of polling in vain that were leapt over; those of elements and drivers together.
    pub leapt: Span,
}

fn bytes_of(pool: &Pool, packets: &Packets, from: usize) -> usize {
    let new = packets.iter().skip(from);
    new.map(|packet| pool[packet].len()).sum()
}

impl SimulatedCore {
    /// A core that charges by `meter`; `costs` are by element, and those that are not there cost
    /// nothing. A look at descriptors costs `look_cycles`.
    pub fn new(meter: Meter, costs: Vec<Cost>, look_cycles: f64) -> SimulatedCore {
        SimulatedCore {
            meter,
            start: Timestamp::ZERO,
            worked: vec![Span::ZERO; costs.len()],
            in_vain: vec![Span::ZERO; costs.len()],
            costs,
            look_cycles,
            looked: Span::ZERO,
            leapt: Span::ZERO,
            turn: None,
            round_began: Time::ZERO,
        }
    }

    /// What time it is.
    pub fn now(&self) -> Time {
        self.meter.clock().now()
    }

    /// The cycles that have passed since the clock was at zero, rounded down.
    pub(super) fn cycles(&self) -> u64 {
        self.meter.speed().cycles_in(self.now().since_start()) as u64
    }

    /// The same as a time of day; whole nanoseconds, rounded down.
    pub(super) fn time_of_day(&self) -> Timestamp {
        self.start + Timestamp(self.now().as_ns() as i64)
    }

    /// When a time of day is on this clock.
    fn on_clock(&self, at: Timestamp) -> Time {
        let ns = u64::try_from((at - self.start).0).unwrap_or(0);
        Time::from_ps(ns.saturating_mul(1000))
    }

    fn cost(&self, element: ElementId) -> Cost {
        self.costs.get(element).copied().unwrap_or(Cost::NONE)
    }

    #[inline]
    fn charge(&mut self, element: ElementId, cycles: f64, is_in_vain: bool) {
        let span = self.meter.charge(cycles);
        let of = if is_in_vain {
            &mut self.in_vain
        } else {
            &mut self.worked
        };
        if let Some(sum) = of.get_mut(element) {
            *sum = sum.saturating_add(span);
        }
    }

    /// A push of all `packets`, or a pull that brought those after the first `from`.
    pub(super) fn charge_call(
        &mut self,
        element: ElementId,
        pool: &Pool,
        packets: &Packets,
        from: usize,
    ) {
        let (cost, count) = (self.cost(element), packets.len() - from);
        let bytes = if cost.byte == 0.0 {
            0
        } else {
            bytes_of(pool, packets, from)
        };
        self.charge(element, cost.of(count, bytes), count == 0);
    }

    /// An element pulled; its task is charged if it is the one under way.
    pub(super) fn charge_puller(
        &mut self,
        element: ElementId,
        pool: &Pool,
        packets: &Packets,
        from: usize,
    ) {
        let count = packets.len() - from;
        let cost = self.cost(element);
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.owner == element) else {
            return;
        };
        if count == 0 {
            return;
        }
        turn.charged += count;
        let call = if std::mem::replace(&mut turn.is_called, true) {
            0.0
        } else {
            cost.call
        };
        let bytes = if cost.byte == 0.0 {
            0
        } else {
            bytes_of(pool, packets, from)
        };
        let cycles = call + count as f64 * cost.packet + bytes as f64 * cost.byte;
        self.charge(element, cycles, false);
    }

    fn begin(&mut self, owner: ElementId) {
        self.turn = Some(Turn {
            owner,
            began: self.now(),
            is_called: false,
            charged: 0,
        });
    }

    /// The task or timer under way has returned: it emitted so many packets of so many bytes.
    fn finish(&mut self, has_worked: bool, emitted: usize, bytes: usize) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        let cost = self.cost(turn.owner);
        let new = emitted.saturating_sub(turn.charged);
        if !has_worked && new == 0 && !turn.is_called {
            self.charge(turn.owner, cost.empty, true);
        } else {
            let call = if turn.is_called { 0.0 } else { cost.call };
            let bytes = if turn.charged == 0 { bytes } else { 0 };
            let cycles = call + new as f64 * cost.packet + bytes as f64 * cost.byte;
            self.charge(turn.owner, cycles, false);
        }
        self.meter
            .clock()
            .leap(turn.began.saturating_add(LEAST_TASK));
    }

    /// Where its time went.
    pub fn times(&self) -> CoreTimes {
        CoreTimes {
            worked: self.worked.clone(),
            in_vain: self.in_vain.clone(),
            looked: self.looked,
            leapt: self.leapt,
        }
    }
}
