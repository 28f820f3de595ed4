//! The driver: runs tasks, timers and descriptors until something stops it.
//!
//! A *stop event* (`STOP true` of a source, the handler `stop`) ends the run, unless an element has made
//! itself the driver's manager (`DriverManager`), which is then asked how to go on. In virtual time nothing
//! sleeps: the clock jumps to the next timer.

use super::clock::Clock;
use super::{Ctx, ElementId};
use crate::element::Element;
use trammel_packet::timestamp::Timestamp;

/// Tasks that run before timers and descriptors are looked at again.
const TASKS_A_ROUND: usize = 128;
/// Rounds between two looks at descriptors while tasks are running.
const ROUNDS_A_LOOK: u32 = 2;

/// Tasks that did nothing, one after the other, before virtual time passes.
const BARREN_TASKS: u32 = 4096;

/// What the driver keeps.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Stop events not yet dealt with.
    stops: u32,
    /// The run is over whatever the manager says.
    halted: bool,
    manager: Option<ElementId>,
    /// Elements to be told of a signal.
    signals: Vec<(i32, ElementId)>,
    /// A signal that nobody watches ended the run.
    interrupted: bool,
    rounds: u32,
    /// Tasks since one did something.
    barren: u32,
    ready: Vec<i32>,
    /// A configuration that takes this one's place at the next round.
    pub(super) successor: Option<Box<Ctx>>,
}

/// How a run, or a slice of it, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The time that was given is over; there is more to do.
    Running,
    /// The driver was stopped.
    Stopped,
    /// Nothing will ever happen again: no task, no timer, no descriptor.
    Idle,
    /// A signal that nobody watches came.
    Interrupted,
    /// Another configuration waits to take over.
    Replaced,
}

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

impl Ctx {
    /// Asks the driver to stop: a manager may let it go on.
    pub fn stop(&mut self) {
        self.driver.stops += 1;
    }

    /// Ends the run.
    pub fn halt(&mut self) {
        self.driver.halted = true;
    }

    /// This element is asked what to do at each stop event. There may be one such element.
    pub fn manage_driver(&mut self) -> Result<(), String> {
        match self.driver.manager {
            Some(other) if other != self.me => Err(format!(
                "router has two driver managers, '{}' and '{}'",
                self.declaration(other),
                self.declaration(self.me)
            )),
            _ => {
                self.driver.manager = Some(self.me);
                Ok(())
            }
        }
    }

    /// Whether an element manages the driver.
    pub fn is_managed(&self) -> bool {
        self.driver.manager.is_some()
    }

    /// This element's `run_timer` is called with the signal's number as token, negated, when it comes.
    pub fn watch_signal(&mut self, signal: i32) -> Result<(), String> {
        self.host.watch_signal(signal).map_err(|e| e.to_string())?;
        self.driver.signals.push((signal, self.me));
        Ok(())
    }

    /// This element hears of a signal no more.
    pub fn unwatch_signal(&mut self, signal: i32) {
        let me = self.me;
        self.driver.signals.retain(|entry| *entry != (signal, me));
        if self
            .driver
            .signals
            .iter()
            .all(|(other, _)| *other != signal)
        {
            self.host.unwatch_signal(signal);
        }
    }

    /// Runs until something stops it or, on the router's clock, until `until`.
    pub fn run_until(&mut self, until: Option<Timestamp>) -> Progress {
        self.deliver();
        loop {
            if let Some(progress) = self.stopped() {
                return progress;
            }
            for _ in 0..TASKS_A_ROUND {
                let Some(task) = self.tasks.take_next() else {
                    break;
                };
                let (owner, token) = {
                    let task = self.tasks.get(task);
                    (task.owner, task.token)
                };
                let worked = self.with(owner, |element, ctx| element.run_task(ctx, token));
                self.deliver();
                self.driver.barren = if worked == Some(true) {
                    0
                } else {
                    self.driver.barren + 1
                };
                if worked == Some(false) {
                    self.tasks.did_nothing(task);
                }
                if self.driver.stops > 0 || self.driver.halted {
                    break;
                }
            }
            self.timers();
            if self.driver.stops > 0 || self.driver.halted {
                continue;
            }
            self.driver.rounds = self.driver.rounds.wrapping_add(1);
            if self.tasks.any_scheduled() && !self.turns_in_vain(until) {
                if self.driver.rounds.is_multiple_of(ROUNDS_A_LOOK) {
                    self.look(Some(0));
                    if until.is_some_and(|until| self.now() >= until) {
                        return Progress::Running;
                    }
                }
            } else if let Some(progress) = self.idle(until) {
                return progress;
            }
        }
    }

    /// Whether virtual time may pass though tasks are scheduled: for long, none of them has done anything,
    /// so only a later time can change that.
    fn turns_in_vain(&mut self, until: Option<Timestamp>) -> bool {
        let is_virtual = matches!(self.clock, Clock::Virtual(_));
        let may_change = until.is_some() || self.timers.next_at().is_some();
        if !is_virtual || !may_change || self.driver.barren < BARREN_TASKS {
            return false;
        }
        self.driver.barren = 0;
        true
    }

    /// Deals with stop events; says whether the run is over.
    fn stopped(&mut self) -> Option<Progress> {
        if self.driver.successor.is_some() {
            return Some(Progress::Replaced);
        }
        while self.driver.stops > 0 && !self.driver.halted {
            self.driver.stops -= 1;
            let manager = self.driver.manager;
            let goes_on = manager.and_then(|m| self.with(m, Element::driver_stopped));
            self.deliver();
            if goes_on != Some(true) {
                self.driver.halted = true;
            }
        }
        if self.driver.interrupted {
            return Some(Progress::Interrupted);
        }
        self.driver.halted.then_some(Progress::Stopped)
    }

    /// Runs the timers that are due.
    fn timers(&mut self) {
        if self.timers.next_at().is_none() {
            return;
        }
        let now = self.now();
        while let Some((owner, token)) = self.timers.due(now) {
            self.with(owner, |element, ctx| element.run_timer(ctx, token));
            self.deliver();
            if self.driver.stops > 0 || self.driver.halted {
                return;
            }
        }
    }

    /// Waits for what comes next.
    fn idle(&mut self, until: Option<Timestamp>) -> Option<Progress> {
        let next = self.timers.next_at();
        if let Clock::Virtual(now) = &mut self.clock {
            if let Some(at) = next {
                if until.is_some_and(|until| at > until) {
                    *now = (*now).max(until?);
                    return Some(Progress::Running);
                }
                *now = (*now).max(at);
                return None;
            }
            if self.watched.is_empty() && self.driver.signals.is_empty() {
                return Some(Progress::Idle);
            }
            if let Some(until) = until {
                self.look(Some(0));
                self.clock = Clock::Virtual(self.now().max(until));
                return (!self.tasks.any_scheduled()).then_some(Progress::Running);
            }
            self.look(None);
            return None;
        }
        if next.is_none() && until.is_none() && self.watched.is_empty() {
            // Only a signal can end this.
            self.look(None);
            return None;
        }
        let now = self.now();
        let wake = match (next, until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let sleep = wake.map(|at| u64::try_from((at - now).0).unwrap_or(0));
        self.look(sleep.map(|ns| self.warp.real_ns(ns)));
        until
            .filter(|until| self.now() >= *until)
            .map(|_| Progress::Running)
    }

    /// Looks at descriptors and signals, for up to so many nanoseconds.
    fn look(&mut self, timeout_ns: Option<u64>) {
        let mut ready = std::mem::take(&mut self.driver.ready);
        ready.clear();
        let side = |to_write: bool| {
            let watched = self.watched.iter().filter(move |w| w.2 == to_write);
            watched.map(|w| w.0).collect::<Vec<i32>>()
        };
        let (readable, writable) = (side(false), side(true));
        // Without descriptors too: the host writes out what was printed. An interrupted wait shows in the
        // signals.
        let _ = self.host.wait(&readable, &writable, timeout_ns, &mut ready);
        for descriptor in ready.drain(..) {
            let of = self.watched.iter().filter(|w| w.0 == descriptor);
            let owners: Vec<ElementId> = of.map(|w| w.1).collect();
            for owner in owners {
                self.with(owner, |element, ctx| element.ready(ctx, descriptor));
                self.deliver();
            }
        }
        self.driver.ready = ready;
        for signal in self.host.signals() {
            let watchers = self.driver.signals.iter().filter(|(s, _)| *s == signal);
            let watchers: Vec<ElementId> = watchers.map(|(_, element)| *element).collect();
            if watchers.is_empty() && (signal == SIGINT || signal == SIGTERM) {
                self.driver.interrupted = true;
                self.driver.halted = true;
            }
            for element in watchers {
                let token = -signal;
                self.with(element, |one, ctx| one.run_timer(ctx, token as u32));
                self.deliver();
            }
        }
    }
}
