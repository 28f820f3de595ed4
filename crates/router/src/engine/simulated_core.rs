//! Calls that cost time: the processor of a router in virtual time.
//!
//! With a core, virtual time is the core's time. A call takes as long as the element's costs say, and what it
//! does, it does at the end of that time:
//!
//! - A *push* is charged before the element gets the batch, whose packets and bytes are known.
//! - A *pull* is charged when what was pulled is known, before the puller has it.
//! - A *task* is charged for what it pulls as soon as it has it, so before it hands it to a device; for what it
//!   brings into the router otherwise (a source) when it returns, so before that is delivered. One that neither
//!   pulled nor emitted nor said that it worked is charged as `empty`.
//! - A *timer* is charged as a source's task.
//! - Looks at descriptors are charged while any is waited on.
//!
//! A task takes 1 ns at least, whatever its costs, so that time passes in a router that costs nothing.
//!
//! Tasks that poll in vain repeat themselves; after some turns of them, and while no packet is in the router,
//! time leaps over as many whole turns as fit before the next thing happens, and is accounted as polling.
//!
//! One core runs the whole router. Where several are to run one router, each thread's context has a core of its
//! own, and what is behind the clocks must wait for the one that is ahead: `Ctx::simulate` is where a second one
//! would join. Cores that share no packets (receive-side scaling) are as many simulations.

use super::clock::Clock;
use super::core_clock::{Cost, Meter};
use super::driver::Progress;
use super::{Ctx, ElementId};
use trammel_core::time::Time;
use trammel_packet::batch::Packets;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// The least that a task takes.
const LEAST_TASK: Time = Time::from_ns(1);

/// Tasks in vain for each scheduled one before time leaps: more than the patience of any element that sleeps
/// after so many, so that whoever polls yet will poll on.
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
    worked: Vec<Time>,
    in_vain: Vec<Time>,
    looked: Time,
    leapt: Time,
    turn: Option<Turn>,
    /// When the present round of tasks began.
    round_began: Time,
}

/// Where a core's time went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreTimes {
    /// Calls with packets, by element.
    pub worked: Vec<Time>,
    /// Calls in vain, by element.
    pub in_vain: Vec<Time>,
    /// Looks at descriptors.
    pub looked: Time,
    /// Turns of polling in vain that were leapt over; those of elements and drivers together.
    pub leapt: Time,
}

fn bytes_of(pool: &Pool, packets: &Packets, from: usize) -> usize {
    let new = packets.iter().skip(from);
    new.map(|packet| pool[packet].len()).sum()
}

impl SimulatedCore {
    /// A core that charges by `meter`; `costs` are by element, and those that are not there cost nothing. A look
    /// at descriptors costs `look_cycles`.
    pub fn new(meter: Meter, costs: Vec<Cost>, look_cycles: f64) -> SimulatedCore {
        SimulatedCore {
            meter,
            start: Timestamp::ZERO,
            worked: vec![Time::ZERO; costs.len()],
            in_vain: vec![Time::ZERO; costs.len()],
            costs,
            look_cycles,
            looked: Time::ZERO,
            leapt: Time::ZERO,
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
        self.meter.speed().cycles_in(self.now()) as u64
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

impl Ctx {
    /// Has virtual time be that of `core`, whose clock was at zero at the time of day `start`. Nothing changes on
    /// the machine's clock.
    pub fn simulate(&mut self, mut core: SimulatedCore, start: Timestamp) {
        if matches!(self.clock, Clock::Virtual(_)) {
            core.start = start;
            core.round_began = core.now();
            self.core = Some(Box::new(core));
            self.observed = true;
        }
    }

    /// When the core will do something next: now, while tasks wait to run; none where it never will.
    pub fn core_next(&mut self) -> Option<Time> {
        let (readable, writable) = (self.watched_to(false), self.watched_to(true));
        let polls = self.tasks.any_scheduled();
        let (timer, is_vain) = (self.timers.next_at(), polls && self.turns_in_vain(None));
        let core = self.core.as_ref()?;
        let (now, timer) = (core.now(), timer.map(|at| core.on_clock(at)));
        if polls && !is_vain {
            return Some(now);
        }
        let outside = self.host.next_ready(&readable, &writable, is_vain);
        let next = [timer, outside].into_iter().flatten().min();
        next.map(|at| at.max(now))
    }

    /// Packets that are in the router.
    pub fn packets_inside(&self) -> usize {
        self.pool.in_use()
    }

    /// The core that runs this router, where it is simulated.
    pub fn core(&self) -> Option<&SimulatedCore> {
        self.core.as_deref()
    }

    /// Whether the core has come to the end of what it may run.
    pub(super) fn is_core_past(&self, until: Option<Timestamp>) -> bool {
        match (&self.core, until) {
            (Some(core), Some(until)) => core.now() > core.on_clock(until),
            _ => false,
        }
    }

    /// Packets that the running element has emitted, and their bytes.
    fn emitted(&self) -> (usize, usize) {
        let batches = || self.pending[self.mark..].iter().map(|p| &p.batch);
        let has_byte_cost = (self.core.as_ref()).is_some_and(|core| core.cost(self.me).byte != 0.0);
        let bytes = if has_byte_cost {
            batches().map(|batch| bytes_of(&self.pool, batch, 0)).sum()
        } else {
            0
        };
        (batches().map(|batch| batch.len()).sum(), bytes)
    }

    /// Runs a task or, where `is_timer`, a timer, and charges it. A timer works always.
    #[cold]
    pub(super) fn run_charged(
        &mut self,
        owner: ElementId,
        token: u32,
        is_timer: bool,
    ) -> Option<bool> {
        let Some(core) = &mut self.core else {
            return if self.options.profiled {
                self.turn_observed(owner, token, is_timer)
            } else {
                self.run_turn(owner, token, is_timer)
            };
        };
        core.begin(owner);
        let worked = self.run_turn(owner, token, is_timer);
        let me = std::mem::replace(&mut self.me, owner);
        let (emitted, bytes) = self.emitted();
        self.me = me;
        if let Some(core) = &mut self.core {
            core.finish(worked == Some(true), emitted, bytes);
        }
        worked
    }

    /// As it is, with nothing charged or counted.
    pub(super) fn run_turn(
        &mut self,
        owner: ElementId,
        token: u32,
        is_timer: bool,
    ) -> Option<bool> {
        self.with(owner, |element, ctx| {
            if is_timer {
                element.run_timer(ctx, token);
                true
            } else {
                element.run_task(ctx, token)
            }
        })
    }

    /// Descriptors are looked at.
    pub(super) fn charge_look(&mut self) {
        if self.watched.is_empty() {
            return;
        }
        if let Some(core) = &mut self.core {
            let span = core.meter.charge(core.look_cycles);
            core.looked = core.looked.saturating_add(span);
        }
    }

    /// A round of tasks begins.
    pub(super) fn begin_round(&mut self) {
        if let Some(core) = &mut self.core {
            core.round_began = core.now();
        }
    }

    /// Lets the core's time pass to what happens next; `polls` where tasks wait to run, which have done nothing
    /// for long.
    pub(super) fn idle_core(&mut self, until: Option<Timestamp>, polls: bool) -> Option<Progress> {
        let timer = self.timers.next_at();
        let (readable, writable) = (self.watched_to(false), self.watched_to(true));
        let outside = self.host.next_ready(&readable, &writable, polls);
        let core = self.core.as_mut()?;
        let timer = timer.map(|at| core.on_clock(at));
        let last = until.map(|until| core.on_clock(until));
        let next = [timer, outside].into_iter().flatten().min();
        let target = match (next, last) {
            (Some(next), Some(last)) => next.min(last),
            (Some(next), None) => next,
            (None, Some(last)) if polls || !self.watched.is_empty() => last,
            (None, _) => return Some(Progress::Idle),
        };
        let now = core.now();
        if polls {
            let (turn, left) = (now - core.round_began, target.saturating_sub(now));
            let whole = left.as_ps().checked_div(turn.as_ps()).unwrap_or(0);
            let leap = turn * whole;
            core.meter.clock().advance(leap);
            core.leapt = core.leapt.saturating_add(leap);
            if !self.watched.is_empty() {
                self.look(Some(0));
            }
            return None;
        }
        core.meter.clock().leap(target);
        if next.is_none_or(|next| last.is_some_and(|last| next > last)) {
            return Some(Progress::Running);
        }
        if outside == Some(target) {
            self.look(Some(0));
        }
        None
    }
}
