//! Several threads, which share nothing.
//!
//! Each thread has a context of its own: its elements, tasks, timers, notifiers, devices and packets.
//! What they have in common is read-only: the graph, names, and which thread runs which element
//! (`plan`). Packets cross in queues (`crossing`); handlers of elements on other threads are read and
//! written by letters, answered between two rounds of the other's tasks. At rest — before a run, after it, and
//! each time that it is looked at — the first context holds the others, so whoever holds it sees one router.
//!
//! In virtual time one thread runs everything, in an order that is always the same; the plan is made and
//! checked all the same.

mod crossing;
mod letters;
pub mod plan;
mod run;
mod split;
#[cfg(test)]
mod tests;

use super::{Ctx, ElementId};
use crate::element::Handler;
use crate::host::Bell;
use crossing::Crossing;
use letters::Letter;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A thread's letter-box.
#[derive(Debug)]
struct Mailbox {
    letters: Mutex<VecDeque<Letter>>,
    /// There is something to look at: a letter, parcels, the end.
    has_news: AtomicBool,
    /// Its thread sleeps, or is about to.
    sleeps: AtomicBool,
    bell: Box<dyn Bell>,
    /// Signals that its elements watch, a bit each.
    signals: AtomicU64,
}

/// How a thread goes to sleep.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dozing {
    /// No other thread can wake it.
    Alone,
    /// It need not: there is something to look at.
    News,
    /// It waits for this descriptor too.
    Bell(i32),
}

/// No element manages the driver.
const NO_MANAGER: usize = usize::MAX;

/// What all threads see.
#[derive(Debug)]
pub(super) struct Team {
    mailboxes: Vec<Mailbox>,
    /// The element that is asked at stop events.
    manager: AtomicUsize,
    /// The run is over for all.
    is_halted: AtomicBool,
    /// Threads have been started, and letters are answered.
    is_running: AtomicBool,
    /// Threads that have nothing more to do in this run.
    arrived: AtomicUsize,
    /// The handlers of every element, known from the first run on.
    handlers: std::sync::OnceLock<Vec<Vec<Handler>>>,
}

impl Team {
    fn new(bells: Vec<Box<dyn Bell>>) -> Team {
        let mailbox = |bell| Mailbox {
            letters: Mutex::default(),
            has_news: AtomicBool::new(false),
            sleeps: AtomicBool::new(false),
            bell,
            signals: AtomicU64::new(0),
        };
        Team {
            mailboxes: bells.into_iter().map(mailbox).collect(),
            manager: AtomicUsize::new(NO_MANAGER),
            is_halted: AtomicBool::new(false),
            is_running: AtomicBool::new(false),
            arrived: AtomicUsize::new(0),
            handlers: std::sync::OnceLock::new(),
        }
    }

    /// Has a thread look at what is new, and wakes it where it sleeps.
    fn notice(&self, thread: usize) {
        let mailbox = &self.mailboxes[thread];
        // Either this store is seen before the thread sleeps, or its flag is seen here.
        mailbox.has_news.store(true, Ordering::SeqCst);
        if mailbox.sleeps.swap(false, Ordering::SeqCst) {
            mailbox.bell.ring();
        }
    }

    fn send(&self, thread: usize, letter: Letter) {
        let letters = self.mailboxes[thread].letters.lock();
        letters
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(letter);
        self.notice(thread);
    }

    fn halt(&self) {
        self.is_halted.store(true, Ordering::SeqCst);
        for thread in 0..self.mailboxes.len() {
            self.notice(thread);
        }
    }
}

/// A context's place among the threads.
#[derive(Debug)]
pub(super) struct Place {
    thread: usize,
    /// The thread of each element.
    homes: Arc<[usize]>,
    team: Arc<Team>,
    /// Queues here that others push to.
    arrivals: Vec<Arc<Crossing>>,
    /// Queues of others that elements here push to.
    departures: Vec<ElementId>,
    /// The other threads' contexts, by the number of their thread less one, while the first is at rest.
    others: Vec<Ctx>,
}

impl Ctx {
    /// The thread that runs an element.
    pub fn home(&self, element: ElementId) -> usize {
        self.homes.get(element).copied().unwrap_or(0)
    }

    /// The thread of an element that is not this context's.
    pub(super) fn elsewhere(&self, element: ElementId) -> Option<usize> {
        let place = self.place.as_ref()?;
        let home = place.homes[element];
        (home != place.thread).then_some(home)
    }

    /// The context of an element's thread, where that is at rest.
    pub(super) fn at_rest(&self, element: ElementId) -> Option<&Ctx> {
        let home = self.elsewhere(element)?;
        self.place.as_ref()?.others.get(home.checked_sub(1)?)
    }

    /// The same, to change it.
    pub(super) fn at_rest_mut(&mut self, element: ElementId) -> Option<&mut Ctx> {
        let home = self.elsewhere(element)?;
        self.place.as_mut()?.others.get_mut(home.checked_sub(1)?)
    }

    /// The handlers of an element of another thread, as far as they are known.
    pub(super) fn handlers_elsewhere(&self, element: ElementId) -> Option<Vec<Handler>> {
        self.elsewhere(element)?;
        if let Some(ctx) = self.at_rest(element) {
            return Some(ctx.handlers_of(super::handlers::Owner::Element(element)));
        }
        let known = self.place.as_ref()?.team.handlers.get()?;
        known.get(element).cloned()
    }

    /// A thread is about to wait, for up to so long.
    pub(super) fn doze(&self, timeout_ns: Option<u64>) -> Dozing {
        let Some(place) = self.place.as_ref().filter(|_| timeout_ns != Some(0)) else {
            return Dozing::Alone;
        };
        let mailbox = &place.team.mailboxes[place.thread];
        mailbox.sleeps.store(true, Ordering::SeqCst);
        if mailbox.has_news.load(Ordering::SeqCst) {
            mailbox.sleeps.store(false, Ordering::SeqCst);
            return Dozing::News;
        }
        Dozing::Bell(mailbox.bell.descriptor())
    }

    /// It has waited; its bell is none of the descriptors that elements wait on.
    pub(super) fn awake(&self, dozing: Dozing, ready: &mut Vec<i32>) {
        let (Dozing::Bell(bell), Some(place)) = (dozing, &self.place) else {
            return;
        };
        let mailbox = &place.team.mailboxes[place.thread];
        mailbox.sleeps.store(false, Ordering::SeqCst);
        mailbox.bell.silence();
        ready.retain(|descriptor| *descriptor != bell);
    }

    /// Has a thread look at what is new for it.
    pub(in crate::engine) fn notice(&self, thread: usize) {
        if let Some(place) = &self.place {
            place.team.notice(thread);
        }
    }

    /// Whether other threads run elements of this router.
    pub fn is_shared(&self) -> bool {
        self.place.is_some()
    }
}
