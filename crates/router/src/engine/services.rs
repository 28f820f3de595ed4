//! What elements ask of the engine besides moving packets: time, chance, tasks, timers, notifiers,
//! descriptors.

use super::classic_random::{self, ClassicRandom};
use super::clock::Clock;
use super::context::Random;
use super::notify::{Listener, NotifierId, Notifiers, Signal};
use super::task::{self, TaskId};
use super::timer::TimerId;
use super::{Ctx, ElementId};
use crate::host::{DeviceRequest, Host, KernelTables, Refusal, Socket, SocketRequest};
use trammel_core::rng::Rng;
use trammel_packet::device::Device;
use trammel_packet::timestamp::Timestamp;

/// Time, chance, tasks, timers and notifiers.
impl Ctx {
    /// The time of day, real or virtual.
    #[inline]
    pub fn now(&mut self) -> Timestamp {
        match &mut self.clocks.clock {
            Clock::Wall => self.clocks.warp.seen(self.world.host.now()),
            Clock::Virtual(now) => {
                if let Some(core) = &self.clocks.core {
                    return core.time_of_day();
                }
                // Two readings of the clock differ, as they do on a machine.
                now.0 += 1;
                *now
            }
        }
    }

    /// One of 0 … `n` − 1, `n` at least 1: of this element's own stream, or the next of all
    /// elements' once a seed was set.
    pub fn draw(&mut self, n: u64) -> u64 {
        self.random.draws += 1;
        match &mut self.random.classic {
            Some(classic) if n <= classic_random::RANGE => classic.below(n),
            _ => self.rng().below(n),
        }
    }

    /// As [`Ctx::draw`], of as many values as `bits`, at most 31, can tell apart.
    pub fn draw_bits(&mut self, bits: u32) -> u32 {
        let n = 1 << bits;
        self.random.draws += 1;
        match &mut self.random.classic {
            Some(classic) => classic.draw() & (n - 1),
            None => self.rng().below(u64::from(n)) as u32,
        }
    }

    /// Random numbers of this element's own, whose order others do not see.
    pub fn rng(&mut self) -> &mut Rng {
        self.random.draws += 1;
        &mut self.random.streams[self.me]
    }

    /// Whether nothing depends on chance or waits for a time: a number that stays the same while no
    /// random number is asked for; none while a timer is set.
    pub fn steadiness(&mut self) -> Option<u64> {
        let is_waiting = self.schedule.timers.next_at().is_some();
        (!is_waiting).then_some(self.random.draws)
    }

    /// The random numbers of all elements start anew from `seed`.
    pub fn reseed(&mut self, seed: u64) {
        self.options.seed = seed;
        self.random.streams = Random::of(seed, &self.config.flat).streams;
        self.random.classic = Some(ClassicRandom::new(seed as u32));
    }

    /// The machine.
    pub fn host(&mut self) -> &mut dyn Host {
        self.world.host.as_mut()
    }

    /// Opens a device; the text of a refusal says what would mend it.
    pub fn open_device(&mut self, request: &DeviceRequest) -> Result<Box<dyn Device>, String> {
        let mut request = request.clone();
        if request.method.eq_ignore_ascii_case("pcap") {
            let path = self.path_of(&request.name);
            request.name = path.map_err(|why| why.to_string())?.into_owned();
        }
        let device = self.world.host.device(&request, &mut self.path.pool);
        device.map_err(|refusal| self.refused(refusal))
    }

    /// Follows the kernel's tables.
    pub fn follow_kernel(&mut self) -> Result<Box<dyn KernelTables>, String> {
        let tables = self.world.host.follow_kernel();
        tables.map_err(|refusal| self.refused(refusal))
    }

    fn refused(&mut self, refusal: Refusal) -> String {
        self.world.lacks |= refusal.is_lack;
        match refusal.mend {
            Some(mend) => format!("{}; try: {mend}", refusal.text),
            None => refusal.text,
        }
    }

    /// Opens a socket. A refusal of the system is a lack of the machine, unless the wish is wrong.
    pub fn open_socket(&mut self, request: &SocketRequest) -> std::io::Result<Box<dyn Socket>> {
        let mut request = request.clone();
        if request.kind.starts_with("unix") {
            for path in [&mut request.local, &mut request.remote] {
                if !path.is_empty() {
                    *path = self.path_of(path)?.into_owned();
                }
            }
        }
        let socket = self.world.host.socket(&request);
        if let Err(why) = &socket {
            self.world.lacks |= why.kind() != std::io::ErrorKind::InvalidInput;
        }
        socket
    }

    /// The most packets that a source makes in one turn.
    pub fn most_burst(&self) -> usize {
        self.options.most_burst
    }

    /// Whether something was refused since the machine lacks it.
    pub fn lacks(&self) -> bool {
        self.world.lacks
    }

    /// A new task of this element, not scheduled.
    pub fn new_task(&mut self, token: u32) -> TaskId {
        let home = if self.schedule.quiet.contains(&self.me) {
            -1
        } else {
            self.home(self.me) as i32
        };
        self.schedule.tasks.add(self.me, token, home)
    }

    /// Has a task run in its turn.
    pub fn schedule(&mut self, task: TaskId) {
        self.schedule.tasks.schedule(task);
    }

    /// Has a task run no more.
    pub fn unschedule(&mut self, task: TaskId) {
        self.schedule.tasks.unschedule(task);
    }

    /// Whether a task waits for its turn.
    pub fn is_scheduled(&self, task: TaskId) -> bool {
        self.schedule.tasks.get(task).scheduled
    }

    /// Gives a task its share.
    pub fn set_tickets(&mut self, task: TaskId, tickets: u32) {
        self.schedule.tasks.set_tickets(task, tickets);
    }

    /// The tickets of an element's first task.
    pub fn share(&self, element: ElementId) -> u32 {
        let first = self.schedule.tasks.of(element).next();
        first.map_or(task::DEFAULT_TICKETS, |task| {
            self.schedule.tasks.get(task).tickets
        })
    }

    /// Gives all tasks of `element` this share; none keeps them from running.
    pub fn set_share(&mut self, element: ElementId, tickets: u32) {
        let all: Vec<TaskId> = self.schedule.tasks.of(element).collect();
        for task in all {
            if tickets == 0 {
                self.schedule.tasks.unschedule(task);
            } else {
                self.schedule.tasks.set_tickets(task, tickets);
            }
        }
    }

    /// A new timer of this element, not set.
    pub fn new_timer(&mut self, token: u32) -> TimerId {
        self.schedule.timers.add(self.me, token)
    }

    /// Sets a timer to fire at `at`.
    pub fn set_timer(&mut self, timer: TimerId, at: Timestamp) {
        self.schedule.timers.set(timer, at);
    }

    /// Sets a timer to fire `after` from now.
    pub fn set_timer_after(&mut self, timer: TimerId, after: Timestamp) {
        let at = self.now() + after;
        self.schedule.timers.set(timer, at);
    }

    /// Sets a timer to fire `after` from when it fired last: intervals do not drift.
    pub fn set_timer_again(&mut self, timer: TimerId, after: Timestamp) {
        let at = self.schedule.timers.expiry(timer) + after;
        self.schedule.timers.set(timer, at);
    }

    /// Unsets a timer.
    pub fn unset_timer(&mut self, timer: TimerId) {
        self.schedule.timers.unset(timer);
    }

    /// When a timer fires.
    pub fn timer_at(&self, timer: TimerId) -> Option<Timestamp> {
        self.schedule.timers.at(timer)
    }

    /// When a timer fires or fired last.
    pub fn timer_expiry(&self, timer: TimerId) -> Timestamp {
        self.schedule.timers.expiry(timer)
    }

    /// A new notifier, on; `kind` is what it tells: `empty`, `full`.
    pub fn new_notifier(&mut self, kind: &str) -> NotifierId {
        self.schedule.notifiers.add(kind)
    }

    /// Turns a notifier on, and tells who waits for it.
    #[inline]
    pub fn wake(&mut self, id: NotifierId) {
        if self.schedule.notifiers.set(id, true) {
            for at in 0..self.schedule.notifiers.listeners(id).len() {
                match self.schedule.notifiers.listeners(id)[at] {
                    Listener::Task(task) => self.schedule.tasks.schedule(task),
                    Listener::Notifier(other) => {
                        self.schedule.notifiers.set(other, true);
                    }
                }
            }
        }
    }

    /// Turns a notifier on or off without telling anyone.
    #[inline]
    pub fn set_notifier(&mut self, id: NotifierId, on: bool) {
        self.schedule.notifiers.set(id, on);
    }

    /// Turns a notifier off.
    #[inline]
    pub fn sleep(&mut self, id: NotifierId) {
        self.schedule.notifiers.set(id, false);
    }

    /// Whether a notifier is on.
    pub fn is_on(&self, id: NotifierId) -> bool {
        self.schedule.notifiers.is_on(id)
    }

    /// Whether any notifier of a signal is on.
    #[inline]
    pub fn is_active(&self, signal: &Signal) -> bool {
        self.schedule.notifiers.is_active(signal)
    }

    /// The notifiers themselves.
    pub fn notifiers(&mut self) -> &mut Notifiers {
        &mut self.schedule.notifiers
    }

    /// Asks to be told when `descriptor` can be read, or written.
    pub fn watch(&mut self, descriptor: i32, to_write: bool) {
        let entry = (descriptor, self.me, to_write);
        if !self.world.watched.contains(&entry) {
            self.world.watched.push(entry);
        }
    }

    /// Asks no more.
    pub fn unwatch(&mut self, descriptor: i32, to_write: bool) {
        let entry = (descriptor, self.me, to_write);
        self.world.watched.retain(|other| *other != entry);
    }
}
