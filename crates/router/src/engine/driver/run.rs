//! Runs tasks, timers and descriptors.

use super::Progress;
use crate::engine::clock::Clock;
use crate::engine::simulated_core::VAIN_TURNS;
use crate::engine::threads::team::Dozing;
use crate::engine::{Ctx, Element, ElementId};
use trammel_packet::timestamp::Timestamp;

/// Tasks that run before timers and descriptors are looked at again.
const TASKS_A_ROUND: usize = 128;

/// Rounds between two looks at descriptors while tasks are running.
const ROUNDS_A_LOOK: u32 = 2;

/// Timers that run before tasks are looked at again: one may set itself to the moment it fires at.
const TIMERS_A_ROUND: usize = 128;

/// Tasks that did nothing, one after the other, before virtual time passes.
const BARREN_TASKS: u32 = 4096;

const SIGHUP: i32 = 1;

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
            Some(other) if other != self.me => Err(self.two_managers(other)),
            _ => {
                if let Some(other) = self.claim_management(self.me) {
                    return Err(self.two_managers(other));
                }
                self.driver.manager = Some(self.me);
                Ok(())
            }
        }
    }

    fn two_managers(&self, other: ElementId) -> String {
        format!(
            "router has two driver managers, '{}' and '{}'",
            self.declaration(other),
            self.declaration(self.me)
        )
    }

    /// Whether an element manages the driver.
    pub fn is_managed(&self) -> bool {
        self.driver.manager.is_some()
    }

    /// This element's `run_timer` is called with the signal's number as token, negated, when it
    /// comes.
    pub fn watch_signal(&mut self, signal: i32) -> Result<(), String> {
        self.world
            .host
            .watch_signal(signal)
            .map_err(|e| e.to_string())?;
        self.driver.signals.push((signal, self.me));
        self.publish_signals(signal);
        Ok(())
    }

    /// This element hears of a signal no more.
    pub fn unwatch_signal(&mut self, signal: i32) {
        let me = self.me;
        self.driver.signals.retain(|entry| *entry != (signal, me));
        let elsewhere = self.publish_signals(signal);
        let is_watched = self.driver.signals.iter().any(|(s, _)| *s == signal);
        if !elsewhere && !is_watched {
            self.world.host.unwatch_signal(signal);
        }
    }

    /// Runs until something stops it or, on the router's clock, until `until`.
    pub fn run_until(&mut self, until: Option<Timestamp>) -> Progress {
        if self.is_shared() {
            return self.run_team(until);
        }
        if let Some(processor) = self.threads.processor.take() {
            // A processor that is not there, or not allowed, leaves the thread where it is.
            let _ = self.world.host.pin(processor);
        }
        self.run_alone(until)
    }

    /// The same, of this context's elements only.
    pub(in crate::engine) fn run_alone(&mut self, until: Option<Timestamp>) -> Progress {
        self.run_rounds(until, u64::MAX)
    }

    /// The same for so many rounds at most, each of a bounded number of tasks and timers: virtual
    /// time stands still while a source has packets without end.
    pub fn run_rounds(&mut self, until: Option<Timestamp>, rounds: u64) -> Progress {
        self.deliver();
        for _ in 0..rounds {
            if self.is_shared() {
                self.look_at_news();
                self.deliver();
            }
            if let Some(progress) = self.stopped() {
                return progress;
            }
            self.begin_round();
            for _ in 0..TASKS_A_ROUND {
                if self.watch.observed && self.is_core_past(until) {
                    return Progress::Running;
                }
                let Some(task) = self.schedule.tasks.take_next() else {
                    break;
                };
                let (owner, token) = {
                    let task = self.schedule.tasks.get(task);
                    (task.owner, task.token)
                };
                let worked = if self.watch.observed {
                    self.run_charged(owner, token, false)
                } else {
                    self.with(owner, |element, ctx| element.run_task(ctx, token))
                };
                self.deliver();
                self.driver.barren = if worked == Some(true) {
                    0
                } else {
                    self.driver.barren + 1
                };
                if worked == Some(false) {
                    self.schedule.tasks.did_nothing(task);
                }
                if self.driver.stops > 0 || self.driver.halted || self.driver.is_called {
                    break;
                }
                if self.is_at_loop_end() {
                    return Progress::Running;
                }
            }
            self.timers();
            if self.is_at_loop_end() {
                return Progress::Running;
            }
            if std::mem::take(&mut self.driver.is_called) {
                self.look(Some(0));
                continue;
            }
            if self.driver.stops > 0 || self.driver.halted {
                continue;
            }
            self.driver.rounds = self.driver.rounds.wrapping_add(1);
            if self.schedule.tasks.any_scheduled() && !self.turns_in_vain(until) {
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
        Progress::Running
    }

    /// Whether virtual time may pass though tasks are scheduled: for long, none of them has done
    /// anything, so only a later time can change that.
    pub(in crate::engine) fn turns_in_vain(&mut self, until: Option<Timestamp>) -> bool {
        if self.clocks.core.is_some() {
            // With packets in the router, time alone may let one go on: a shaper's tokens come
            // while it is asked.
            let scheduled = u32::try_from(self.schedule.tasks.scheduled()).unwrap_or(u32::MAX);
            let is_long = self.driver.barren >= scheduled.saturating_mul(VAIN_TURNS);
            return is_long && self.path.pool.in_use() == 0;
        }
        let is_virtual = matches!(self.clocks.clock, Clock::Virtual(_));
        let may_change = until.is_some() || self.schedule.timers.next_at().is_some();
        if !is_virtual || !may_change || self.driver.barren < BARREN_TASKS {
            return false;
        }
        self.driver.barren = 0;
        true
    }

    /// Deals with stop events; says whether the run is over.
    fn stopped(&mut self) -> Option<Progress> {
        if self.succession.successor.is_some() {
            return Some(Progress::Replaced);
        }
        while self.driver.stops > 0 && !self.driver.halted {
            if self.forward_stops() {
                break;
            }
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
        if std::mem::take(&mut self.driver.is_to_reload) {
            return Some(Progress::Reload);
        }
        self.driver.halted.then_some(Progress::Stopped)
    }

    /// Whether the run ends here since packets go round.
    fn is_at_loop_end(&self) -> bool {
        self.options.ends_at_loop && self.looped().is_some()
    }

    /// Runs the timers that are due.
    fn timers(&mut self) {
        if self.schedule.timers.next_at().is_none() {
            return;
        }
        let now = self.now();
        for _ in 0..TIMERS_A_ROUND {
            let Some((owner, token)) = self.schedule.timers.due(now) else {
                return;
            };
            self.run_charged(owner, token, true);
            self.deliver();
            if self.driver.stops > 0 || self.driver.halted || self.driver.is_called {
                return;
            }
        }
    }

    /// Waits for what comes next.
    fn idle(&mut self, until: Option<Timestamp>) -> Option<Progress> {
        if self.succession.successor.is_some() {
            return None;
        }
        if self.clocks.core.is_some() {
            return self.idle_core(until, self.schedule.tasks.any_scheduled());
        }
        let next = self.schedule.timers.next_at();
        if let Clock::Virtual(now) = &mut self.clocks.clock {
            if let Some(at) = next {
                if until.is_some_and(|until| at > until) {
                    *now = (*now).max(until?);
                    return Some(Progress::Running);
                }
                *now = (*now).max(at);
                return None;
            }
            if self.world.watched.is_empty() && self.driver.signals.is_empty() {
                return Some(Progress::Idle);
            }
            if let Some(until) = until {
                self.look(Some(0));
                self.clocks.clock = Clock::Virtual(self.now().max(until));
                return (!self.schedule.tasks.any_scheduled()).then_some(Progress::Running);
            }
            self.look(None);
            return None;
        }
        if next.is_none() && until.is_none() && self.world.watched.is_empty() {
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
        self.look(sleep.map(|ns| self.clocks.warp.real_ns(ns)));
        until
            .filter(|until| self.now() >= *until)
            .map(|_| Progress::Running)
    }

    /// The descriptors that elements wait on to read, or to write.
    pub(in crate::engine) fn watched_to(&self, write: bool) -> Vec<i32> {
        let watched = self.world.watched.iter().filter(|w| w.2 == write);
        watched.map(|w| w.0).collect()
    }

    /// Looks at descriptors and signals, for up to so many nanoseconds.
    pub(in crate::engine) fn look(&mut self, timeout_ns: Option<u64>) {
        self.charge_look();
        let mut ready = std::mem::take(&mut self.driver.ready);
        ready.clear();
        let (mut readable, writable) = (self.watched_to(false), self.watched_to(true));
        let bell = self.doze(timeout_ns);
        let timeout_ns = match bell {
            Dozing::News => Some(0),
            Dozing::Bell(descriptor) => {
                readable.push(descriptor);
                timeout_ns
            }
            Dozing::Alone => timeout_ns,
        };
        // Without descriptors too: the host writes out what was printed. An interrupted wait shows
        // in the signals.
        let _ = self
            .world
            .host
            .wait(&readable, &writable, timeout_ns, &mut ready);
        self.awake(bell, &mut ready);
        for descriptor in ready.drain(..) {
            let of = self.world.watched.iter().filter(|w| w.0 == descriptor);
            let owners: Vec<ElementId> = of.map(|w| w.1).collect();
            for owner in owners {
                self.with(owner, |element, ctx| element.ready(ctx, descriptor));
                if self.watch.observed {
                    self.ready_observed(owner);
                }
                self.deliver();
            }
        }
        self.driver.ready = ready;
        for signal in self.world.host.signals() {
            let elsewhere = self.spread_signal(signal);
            let here = self.tell_signal(signal);
            if !here && !elsewhere && (signal == SIGINT || signal == SIGTERM) {
                self.driver.interrupted = true;
                self.driver.halted = true;
            }
            self.driver.is_to_reload |= !here && !elsewhere && signal == SIGHUP;
        }
    }

    /// Tells the elements that watch a signal; says whether there are any.
    pub(in crate::engine) fn tell_signal(&mut self, signal: i32) -> bool {
        let watchers = self.driver.signals.iter().filter(|(s, _)| *s == signal);
        let watchers: Vec<ElementId> = watchers.map(|(_, element)| *element).collect();
        for element in &watchers {
            let token = -signal;
            self.with(*element, |one, ctx| one.run_timer(ctx, token as u32));
            self.deliver();
        }
        !watchers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;
    use crate::engine::{Ctx, Options};
    use crate::lang;
    use crate::load::{BuiltIn, load};
    use crate::memory::MemoryHost;
    use crate::reason::Reason;
    use trammel_packet::timestamp::Timestamp;

    /// A router of which one turn has a thousand steps, run for ten rounds.
    fn ten_rounds(config: &str) -> (Ctx, MemoryHost, Progress) {
        let host = MemoryHost::new();
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let run = Options {
            most_steps: 1000,
            ..Options::simulated()
        };
        let loaded = load(config, "config", &options, Box::new(host.clone()), run);
        let (mut ctx, _) = loaded.unwrap_or_else(|refused| panic!("{}", refused.said.click()));
        let until = ctx.now() + Timestamp::from_secs(1);
        let progress = ctx.run_rounds(Some(until), 10);
        (ctx, host, progress)
    }

    #[test]
    fn packets_that_go_round_and_round_are_caught() {
        let config = "TimedSource(0.001, LIMIT 3) -> a :: PushNull -> b :: Null -> a";
        let (mut ctx, _, _) = ten_rounds(config);
        assert_eq!(ctx.pool().in_use(), 0);
        let drops = |name| {
            let element = ctx.find(name, None).expect("it is declared");
            ctx.counters(element).drops[Reason::Loop as usize]
        };
        assert_eq!(drops("a") + drops("b"), 3);
    }

    #[test]
    fn a_timer_that_fires_at_the_moment_it_is_set_at_does_not_stop_the_driver() {
        let (_, _, progress) = ten_rounds("TimedSource(0) -> Discard");
        assert_eq!(progress, Progress::Running);
    }

    #[test]
    fn a_source_without_end_is_cut_off_by_rounds() {
        let (_, _, progress) = ten_rounds("InfiniteSource -> Discard");
        assert_eq!(progress, Progress::Running);
    }

    #[test]
    fn scripts_that_write_themselves_come_to_an_end() {
        let (_, host, _) = ten_rounds("s :: Script(write s.run, write s.run, loop)");
        let said = host.memory().said.clone();
        assert!(
            said.contains("without end") || said.contains("too many jumps"),
            "{said}"
        );
    }

    #[test]
    fn what_is_offered_is_delivered_or_ends() {
        let (mut ctx, _, _) = ten_rounds("in :: Null -> d :: Discard; Idle -> in");
        for (name, port) in [("in", 0), ("in", 7)] {
            let mut batch = ctx.batch();
            batch.push(ctx.pool().alloc().expect("room"));
            let element = ctx.find(name, None).expect("it is declared");
            ctx.offer(element, port, batch);
        }
        ctx.run_rounds(None, 1);
        let discard = ctx.find("d", None).expect("it is declared");
        assert_eq!((ctx.counters(discard).packets, ctx.pool().in_use()), (1, 0));
    }
}
