//! Runs tasks and timers, charges them, and lets time pass.

use super::{SimulatedCore, bytes_of};
use crate::engine::clock::Clock;
use crate::engine::driver::Progress;
use crate::engine::{Ctx, ElementId};
use trammel_core::time::Time;
use trammel_packet::timestamp::Timestamp;

impl Ctx {
    /// Has virtual time be that of `core`, whose clock was at zero at the time of day `start`.
    /// Nothing changes on the machine's clock.
    pub fn simulate(&mut self, mut core: SimulatedCore, start: Timestamp) {
        if matches!(self.clocks.clock, Clock::Virtual(_)) {
            core.start = start;
            core.round_began = core.now();
            self.clocks.core = Some(Box::new(core));
            self.watch.observed = true;
        }
    }

    /// When the core will do something next: now, while tasks wait to run; none where it never
    /// will.
    pub fn core_next(&mut self) -> Option<Time> {
        let (readable, writable) = (self.watched_to(false), self.watched_to(true));
        let polls = self.schedule.tasks.any_scheduled();
        let (timer, is_vain) = (
            self.schedule.timers.next_at(),
            polls && self.turns_in_vain(None),
        );
        let core = self.clocks.core.as_ref()?;
        let (now, timer) = (core.now(), timer.map(|at| core.on_clock(at)));
        if polls && !is_vain {
            return Some(now);
        }
        let outside = self.world.host.next_ready(&readable, &writable, is_vain);
        let next = [timer, outside].into_iter().flatten().min();
        next.map(|at| at.max(now))
    }

    /// Packets that are in the router.
    pub fn packets_inside(&self) -> usize {
        self.path.pool.in_use()
    }

    /// The core that runs this router, where it is simulated.
    pub fn core(&self) -> Option<&SimulatedCore> {
        self.clocks.core.as_deref()
    }

    /// Whether the core has come to the end of what it may run.
    pub(in crate::engine) fn is_core_past(&self, until: Option<Timestamp>) -> bool {
        match (&self.clocks.core, until) {
            (Some(core), Some(until)) => core.now() > core.on_clock(until),
            _ => false,
        }
    }

    /// Packets that the running element has emitted, and their bytes.
    fn emitted(&self) -> (usize, usize) {
        let batches = || self.path.pending[self.path.mark..].iter().map(|p| &p.batch);
        let has_byte_cost =
            (self.clocks.core.as_ref()).is_some_and(|core| core.cost(self.me).byte != 0.0);
        let bytes = if has_byte_cost {
            batches()
                .map(|batch| bytes_of(&self.path.pool, batch, 0))
                .sum()
        } else {
            0
        };
        (batches().map(|batch| batch.len()).sum(), bytes)
    }

    /// Runs a task or, where `is_timer`, a timer, and charges it. A timer works always.
    #[cold]
    pub(in crate::engine) fn run_charged(
        &mut self,
        owner: ElementId,
        token: u32,
        is_timer: bool,
    ) -> Option<bool> {
        let Some(core) = &mut self.clocks.core else {
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
        if let Some(core) = &mut self.clocks.core {
            core.finish(worked == Some(true), emitted, bytes);
        }
        worked
    }

    /// As it is, with nothing charged or counted.
    pub(in crate::engine) fn run_turn(
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
    pub(in crate::engine) fn charge_look(&mut self) {
        if self.world.watched.is_empty() {
            return;
        }
        if let Some(core) = &mut self.clocks.core {
            let span = core.meter.charge(core.look_cycles);
            core.looked = core.looked.saturating_add(span);
        }
    }

    /// A round of tasks begins.
    pub(in crate::engine) fn begin_round(&mut self) {
        if let Some(core) = &mut self.clocks.core {
            core.round_began = core.now();
        }
    }

    /// Lets the core's time pass to what happens next; `polls` where tasks wait to run, which have
    /// done nothing for long.
    pub(in crate::engine) fn idle_core(
        &mut self,
        until: Option<Timestamp>,
        polls: bool,
    ) -> Option<Progress> {
        let timer = self.schedule.timers.next_at();
        let (readable, writable) = (self.watched_to(false), self.watched_to(true));
        let outside = self.world.host.next_ready(&readable, &writable, polls);
        let core = self.clocks.core.as_mut()?;
        let timer = timer.map(|at| core.on_clock(at));
        let last = until.map(|until| core.on_clock(until));
        let next = [timer, outside].into_iter().flatten().min();
        let target = match (next, last) {
            (Some(next), Some(last)) => next.min(last),
            (Some(next), None) => next,
            (None, Some(last)) if polls || !self.world.watched.is_empty() => last,
            (None, _) => return Some(Progress::Idle),
        };
        let now = core.now();
        if polls {
            let (turn, left) = (now - core.round_began, target.saturating_since(now));
            let whole = left.as_ps().checked_div(turn.as_ps()).unwrap_or(0);
            let leap = turn * whole;
            core.meter.clock().advance(leap);
            core.leapt = core.leapt.saturating_add(leap);
            if !self.world.watched.is_empty() {
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
