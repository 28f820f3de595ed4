//! Letters between threads: handlers to read and write, stop events, signals.

use super::portal::Portal;
use super::team::{Letter, NO_MANAGER, Place};
use crate::engine::handlers::HandlerRef;
use crate::engine::{Ctx, Element, ElementId};
use crate::reason::Reason;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use trammel_packet::batch::CAPACITY;
use trammel_packet::parcel::Parcel;

/// How long who waits for an answer leaves its own letters unread.
const PATIENCE: Duration = Duration::from_micros(50);

impl Ctx {
    /// Reads a handler of an element on another thread.
    pub(in crate::engine) fn read_elsewhere(
        &mut self,
        element: ElementId,
        of: &HandlerRef,
        parameter: &str,
    ) -> Result<String, String> {
        if let Some(ctx) = self.at_rest_mut(element) {
            return ctx.read_handler(of, parameter);
        }
        let letter = |reply| Letter::Read(of.clone(), parameter.to_owned(), reply);
        self.ask(element, letter)
    }

    /// Writes a handler of an element on another thread.
    pub(in crate::engine) fn write_elsewhere(
        &mut self,
        element: ElementId,
        of: &HandlerRef,
        value: &str,
    ) -> Result<(), String> {
        if let Some(ctx) = self.at_rest_mut(element) {
            let result = ctx.write_handler(of, value);
            ctx.deliver();
            return result;
        }
        let letter = |reply| Letter::Write(of.clone(), value.to_owned(), reply);
        self.ask(element, letter)
    }

    /// Sends a letter and waits for the answer, answering others meanwhile.
    fn ask<T>(
        &mut self,
        element: ElementId,
        letter: impl FnOnce(Sender<Result<T, String>>) -> Letter,
    ) -> Result<T, String> {
        let unreachable = || format!("the thread of '{}' does not run", self.name(element));
        let Some(place) = &self.threads.place else {
            return Err(unreachable());
        };
        if !place.team.is_running.load(Ordering::SeqCst) {
            return Err(unreachable());
        }
        let (reply, answer) = channel();
        place.team.send(place.homes[element], letter(reply));
        loop {
            match answer.recv_timeout(PATIENCE) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => self.read_letters(),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("the thread of '{}' has ended", self.name(element)));
                }
            }
        }
    }

    /// Looks at what is new: letters, packets, room, the end.
    #[inline]
    pub(in crate::engine) fn look_at_news(&mut self) {
        if let Some(place) = &self.threads.place {
            let mailbox = &place.team.mailboxes[place.thread];
            if mailbox.has_news.load(Ordering::Relaxed) {
                mailbox.has_news.store(false, Ordering::SeqCst);
                self.news();
            }
            self.tell_departures();
        }
    }

    fn news(&mut self) {
        if self.is_team_halted() {
            self.halt();
        }
        self.read_letters();
        self.take_arrivals();
    }

    /// Whether another thread has ended the run of all.
    pub(in crate::engine) fn is_team_halted(&self) -> bool {
        let is_over = |place: &Place| place.team.is_halted.load(Ordering::SeqCst);
        self.threads.place.as_deref().is_some_and(is_over)
    }

    /// Does what letters ask.
    pub(super) fn read_letters(&mut self) {
        loop {
            let Some(place) = &self.threads.place else {
                return;
            };
            let mailbox = &place.team.mailboxes[place.thread];
            let letter = {
                let mut letters = mailbox
                    .letters
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                letters.pop_front()
            };
            match letter {
                None => return,
                Some(Letter::Stop(times)) => (0..times).for_each(|_| self.stop()),
                Some(Letter::Signal(signal)) => {
                    self.tell_signal(signal);
                }
                // Who asked may have given up.
                Some(Letter::Read(of, parameter, reply)) => {
                    let _ = reply.send(self.read_handler(&of, &parameter));
                }
                Some(Letter::Write(of, value, reply)) => {
                    let _ = reply.send(self.write_handler(&of, &value));
                }
            }
        }
    }

    /// Takes packets over that others have sent to queues here.
    pub(super) fn take_arrivals(&mut self) {
        let Some(place) = &mut self.threads.place else {
            return;
        };
        let arrivals = std::mem::take(&mut place.arrivals);
        let mut parcels: Vec<(u32, Parcel)> = Vec::new();
        for crossing in &arrivals {
            if crossing.has_some() {
                let queue = self.slots[crossing.queue].as_deref();
                let room = match queue.and_then(Element::room) {
                    Some(room) if crossing.is_asked.load(Ordering::Relaxed) => room,
                    _ => usize::MAX,
                };
                crossing.take(room, &mut parcels);
                self.unpack(crossing.queue, &parcels);
                crossing.give_back(&mut parcels);
                if crossing.is_asked.load(Ordering::Relaxed) {
                    self.notice_others();
                }
            }
            let missed = crossing.missed();
            if missed > 0 {
                self.path.counters[crossing.queue].drops[Reason::Overflow as usize] += missed;
                self.with(crossing.queue, |queue, ctx| queue.missed(ctx, missed));
            }
        }
        if let Some(place) = &mut self.threads.place {
            place.arrivals = arrivals;
        }
    }

    /// Pushes the contents of parcels into a queue, in order.
    fn unpack(&mut self, queue: ElementId, parcels: &[(u32, Parcel)]) {
        for chunk in parcels.chunk_by(|a, b| a.0 == b.0) {
            for chunk in chunk.chunks(CAPACITY) {
                let mut batch = self.batch();
                for (_, parcel) in chunk {
                    match self.path.pool.alloc() {
                        Some(packet) => {
                            parcel.empty_into(&mut self.path.pool[&packet]);
                            batch.push(packet);
                        }
                        None => {
                            self.path.counters[queue].drops[Reason::PoolFull as usize] += 1;
                        }
                    }
                }
                self.offer(queue, chunk[0].0 as usize, batch);
            }
        }
    }

    /// Tells other threads how their queues here stand, and elements here how others' do.
    fn tell_departures(&mut self) {
        let Some(place) = &self.threads.place else {
            return;
        };
        for at in 0..place.arrivals.len() {
            self.tell_arrival(at);
        }
        let count = self
            .threads
            .place
            .as_ref()
            .map_or(0, |place| place.departures.len());
        for at in 0..count {
            let Some(queue) = self
                .threads
                .place
                .as_ref()
                .map(|place| place.departures[at])
            else {
                return;
            };
            self.with_element(queue, Portal::look);
        }
    }

    fn tell_arrival(&mut self, at: usize) {
        let Some(place) = &self.threads.place else {
            return;
        };
        let crossing = &place.arrivals[at];
        let Some(queue) = self.slots[crossing.queue].as_deref() else {
            return;
        };
        let room = queue.room();
        let is_full = room == Some(0);
        if crossing.tell(room, queue.stored().unwrap_or(0)) {
            self.notice_others();
        }
        if crossing.has_some() && !is_full {
            place.team.notice(place.thread);
        }
    }

    /// Has all other threads look at what is new.
    fn notice_others(&self) {
        let Some(place) = &self.threads.place else {
            return;
        };
        for thread in 0..place.team.mailboxes.len() {
            if thread != place.thread {
                place.team.notice(thread);
            }
        }
    }

    /// Gives stop events to the thread of the element that manages the driver, where that is
    /// another; says whether it did.
    pub(in crate::engine) fn forward_stops(&mut self) -> bool {
        let Some(place) = &self.threads.place else {
            return false;
        };
        let manager = place.team.manager.load(Ordering::SeqCst);
        if manager == NO_MANAGER || place.homes[manager] == place.thread {
            return false;
        }
        place
            .team
            .send(place.homes[manager], Letter::Stop(self.driver.stops));
        self.driver.stops = 0;
        true
    }

    /// Makes `element` the manager of all threads; gives the one that is it already.
    pub(in crate::engine) fn claim_management(&self, element: ElementId) -> Option<ElementId> {
        let manager = &self.threads.place.as_ref()?.team.manager;
        let claimed =
            manager.compare_exchange(NO_MANAGER, element, Ordering::SeqCst, Ordering::SeqCst);
        claimed.err().filter(|other| *other != element)
    }

    /// Tells the other threads of a signal; says whether elements of one of them watch it.
    pub(in crate::engine) fn spread_signal(&self, signal: i32) -> bool {
        let Some(place) = &self.threads.place else {
            return false;
        };
        let mut watched = false;
        for (thread, mailbox) in place.team.mailboxes.iter().enumerate() {
            let watches = mailbox.signals.load(Ordering::SeqCst) >> signal & 1 == 1;
            if thread != place.thread && watches {
                place.team.send(thread, Letter::Signal(signal));
                watched = true;
            }
        }
        watched
    }

    /// Tells the other threads which signals elements here watch; says whether another watches
    /// `signal`.
    pub(in crate::engine) fn publish_signals(&self, signal: i32) -> bool {
        let Some(place) = &self.threads.place else {
            return false;
        };
        let mine = self.driver.watched_signals();
        let all = place.team.mailboxes.iter().enumerate();
        let mut others = all.filter(|(thread, _)| *thread != place.thread);
        let elsewhere =
            others.any(|(_, mailbox)| mailbox.signals.load(Ordering::SeqCst) >> signal & 1 == 1);
        place.team.mailboxes[place.thread]
            .signals
            .store(mine, Ordering::SeqCst);
        elsewhere
    }
}
