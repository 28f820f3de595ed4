//! The way of packets from one thread to a queue of another.
//!
//! In the thread that pushes, a [`Portal`] stands in the queue's place: it copies packets into parcels,
//! which the queue's own thread takes over between two rounds of its tasks. Both hold the lock only to
//! exchange whole lists, and emptied parcels go back to be filled again.

use crate::element::Element;
use crate::engine::notify::{self, NotifierId, Provided};
use crate::engine::{Ctx, ElementId};
use crate::reason::Reason;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use trammel_packet::batch::Batch;
use trammel_packet::parcel::Parcel;

/// Parcels that may be on their way; what comes beyond them finds no room.
const MOST: usize = 4096;
/// Parcels on their way at which who asks is told that there is no room.
const ENOUGH: usize = 1024;

#[derive(Debug, Default)]
struct Lists {
    /// The input that each is for, and what it holds.
    filled: Vec<(u32, Parcel)>,
    emptied: Vec<(u32, Parcel)>,
}

/// What two threads share of a queue.
#[derive(Debug)]
pub(super) struct Crossing {
    /// The queue.
    pub queue: ElementId,
    /// The thread that it runs on.
    pub home: usize,
    lists: Mutex<Lists>,
    waiting: AtomicUsize,
    /// The queue tells that it has no room.
    is_full: AtomicBool,
    /// What it stores.
    stored: AtomicUsize,
    /// A source asks whether there is room: nothing is pushed that finds none.
    pub is_asked: AtomicBool,
}

impl Crossing {
    pub(super) fn new(queue: ElementId, home: usize) -> Crossing {
        Crossing {
            queue,
            home,
            lists: Mutex::default(),
            waiting: AtomicUsize::new(0),
            is_full: AtomicBool::new(false),
            stored: AtomicUsize::new(0),
            is_asked: AtomicBool::new(false),
        }
    }

    fn lists(&self) -> std::sync::MutexGuard<'_, Lists> {
        // Lists stay whole whatever happened to who held them.
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether parcels wait to be taken over.
    pub(super) fn has_some(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Tells the other side how the queue stands; says whether it has room again.
    pub(super) fn tell(&self, is_full: bool, stored: usize) -> bool {
        self.stored.store(stored, Ordering::Relaxed);
        self.is_full.swap(is_full, Ordering::AcqRel) && !is_full
    }

    fn has_room(&self) -> bool {
        !self.is_full.load(Ordering::Acquire) && self.waiting.load(Ordering::Acquire) < ENOUGH
    }

    /// Moves up to `most` waiting parcels to the end of `into`.
    pub(super) fn take(&self, most: usize, into: &mut Vec<(u32, Parcel)>) {
        let mut lists = self.lists();
        if into.is_empty() && lists.filled.len() <= most {
            std::mem::swap(&mut lists.filled, into);
        } else {
            let most = most.min(lists.filled.len());
            into.extend(lists.filled.drain(..most));
        }
        self.waiting.store(lists.filled.len(), Ordering::Release);
    }

    /// Gives emptied parcels back.
    pub(super) fn give_back(&self, emptied: &mut Vec<(u32, Parcel)>) {
        self.lists().emptied.append(emptied);
    }
}

/// Stands for a queue of another thread.
#[derive(Debug)]
pub(super) struct Portal {
    crossing: Arc<Crossing>,
    /// Parcels to fill.
    spare: Vec<(u32, Parcel)>,
    filled: Vec<(u32, Parcel)>,
    full: Option<NotifierId>,
}

impl Portal {
    pub(super) fn new(crossing: Arc<Crossing>) -> Portal {
        Portal {
            crossing,
            spare: Vec::new(),
            filled: Vec::new(),
            full: None,
        }
    }

    /// Tells those who ask in this thread whether there is room.
    pub(super) fn look(&mut self, ctx: &mut Ctx) {
        let Some(full) = self.full else { return };
        if self.crossing.has_room() {
            ctx.wake(full);
        } else {
            ctx.sleep(full);
        }
    }
}

impl Element for Portal {
    fn prepare(&mut self, ctx: &mut Ctx) {
        self.full = Some(ctx.new_notifier("full"));
    }

    fn start(&mut self, ctx: &mut Ctx) {
        let asked = |id| !ctx.notifiers().listeners(id).is_empty();
        let is_asked = self.full.is_some_and(asked);
        self.crossing.is_asked.store(is_asked, Ordering::Relaxed);
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        let waiting = self.crossing.waiting.load(Ordering::Acquire);
        for packet in batch.drain() {
            if waiting + self.filled.len() >= MOST {
                ctx.drop(packet, Reason::Overflow);
                continue;
            }
            let (_, mut parcel) = self.spare.pop().unwrap_or_default();
            parcel.fill(&ctx.pool()[&packet]);
            ctx.pool().free(packet);
            self.filled.push((port as u32, parcel));
        }
        ctx.recycle(batch);
        let mut lists = self.crossing.lists();
        lists.filled.append(&mut self.filled);
        if self.spare.is_empty() {
            std::mem::swap(&mut self.spare, &mut lists.emptied);
        }
        self.crossing
            .waiting
            .store(lists.filled.len(), Ordering::Release);
        drop(lists);
        ctx.notice(self.crossing.home);
        self.look(ctx);
    }

    fn stored(&self) -> Option<usize> {
        let waiting = self.crossing.waiting.load(Ordering::Relaxed);
        Some(self.crossing.stored.load(Ordering::Relaxed) + waiting)
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        match (kind, self.full) {
            (notify::Kind::Full, Some(full)) => Provided::Stop(full),
            _ => Provided::None,
        }
    }
}
