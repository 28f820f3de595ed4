//! What threads share: letter-boxes, the manager, the end of the run; and a context's place among
//! them.

use super::crossing::Crossing;
use crate::engine::handler::Handler;
use crate::engine::handlers::HandlerRef;
use crate::engine::ids::ElementId;
use crate::host::Bell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// What one thread asks of another.
#[derive(Debug)]
pub(in crate::engine) enum Letter {
    /// Stop events for the element that manages the driver.
    Stop(u32),
    /// A signal has come.
    Signal(i32),
    /// Read a handler.
    Read(HandlerRef, String, Sender<Result<String, String>>),
    /// Write a handler.
    Write(HandlerRef, String, Sender<Result<(), String>>),
}

/// A thread's letter-box.
#[derive(Debug)]
pub(in crate::engine) struct Mailbox {
    pub(super) letters: Mutex<VecDeque<Letter>>,
    /// There is something to look at: a letter, parcels, the end.
    pub(super) has_news: AtomicBool,
    /// Its thread sleeps, or is about to.
    pub(super) sleeps: AtomicBool,
    pub(super) bell: Box<dyn Bell>,
    /// Signals that its elements watch, a bit each.
    pub(super) signals: AtomicU64,
}

/// How a thread goes to sleep.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) enum Dozing {
    /// No other thread can wake it.
    Alone,
    /// It need not: there is something to look at.
    News,
    /// It waits for this descriptor too.
    Bell(i32),
}

/// No element manages the driver.
pub(in crate::engine) const NO_MANAGER: usize = usize::MAX;

/// What all threads see.
#[derive(Debug)]
pub(in crate::engine) struct Team {
    pub(super) mailboxes: Vec<Mailbox>,
    /// The element that is asked at stop events.
    pub(super) manager: AtomicUsize,
    /// The run is over for all.
    pub(super) is_halted: AtomicBool,
    /// Threads have been started, and letters are answered.
    pub(super) is_running: AtomicBool,
    /// Threads that have nothing more to do in this run.
    pub(super) arrived: AtomicUsize,
    /// The handlers of every element, known from the first run on.
    pub(super) handlers: std::sync::OnceLock<Vec<Vec<Handler>>>,
}

impl Team {
    pub(super) fn new(bells: Vec<Box<dyn Bell>>) -> Team {
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
    pub(super) fn notice(&self, thread: usize) {
        let mailbox = &self.mailboxes[thread];
        // Either this store is seen before the thread sleeps, or its flag is seen here.
        mailbox.has_news.store(true, Ordering::SeqCst);
        if mailbox.sleeps.swap(false, Ordering::SeqCst) {
            mailbox.bell.ring();
        }
    }

    pub(super) fn send(&self, thread: usize, letter: Letter) {
        let letters = self.mailboxes[thread].letters.lock();
        letters
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(letter);
        self.notice(thread);
    }

    pub(super) fn halt(&self) {
        self.is_halted.store(true, Ordering::SeqCst);
        for thread in 0..self.mailboxes.len() {
            self.notice(thread);
        }
    }
}

/// A context's place among the threads.
#[derive(Debug)]
pub(in crate::engine) struct Place {
    pub(super) thread: usize,
    /// The thread of each element.
    pub(super) homes: Arc<[usize]>,
    pub(super) team: Arc<Team>,
    /// Queues here that others push to.
    pub(super) arrivals: Vec<Arc<Crossing>>,
    /// Queues of others that elements here push to.
    pub(super) departures: Vec<ElementId>,
}
