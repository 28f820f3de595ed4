//! The way of packets from one thread to a queue of another.
//!
//! In the thread that pushes, a [`Portal`] stands in the queue's place: it copies packets into parcels,
//! which the queue's own thread takes over between two rounds of its tasks. Both hold the lock only to
//! exchange whole lists, and emptied parcels go back to be filled again.
//!
//! A thread may stand still for long while another runs. What is on its way then is bounded: by the room that
//! the queue had when it was last looked at, so that the way loses nothing that the queue would have held, and
//! by [`MOST`] where that is more. What finds no room is counted, and counts as refused by the queue.

use crate::element::Element;
use crate::engine::notify::{self, NotifierId, Provided};
use crate::engine::{Ctx, ElementId};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use trammel_packet::batch::Batch;
use trammel_packet::parcel::Parcel;

/// Parcels that may be on their way to a queue, however small it is.
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
    /// Parcels that may be on their way.
    most: AtomicUsize,
    /// Packets that found no room on the way since the queue was last told.
    missed: AtomicU64,
    /// A source asks whether there is room: nothing is pushed that finds none.
    pub is_asked: AtomicBool,
}

impl Crossing {
    /// The way to `queue`, which has `room` if it says so.
    pub(super) fn new(queue: ElementId, home: usize, room: Option<usize>) -> Crossing {
        Crossing {
            queue,
            home,
            lists: Mutex::default(),
            waiting: AtomicUsize::new(0),
            is_full: AtomicBool::new(false),
            stored: AtomicUsize::new(0),
            most: AtomicUsize::new(room.unwrap_or(0).max(MOST)),
            missed: AtomicU64::new(0),
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
    pub(super) fn tell(&self, room: Option<usize>, stored: usize) -> bool {
        let is_full = room == Some(0);
        self.stored.store(stored, Ordering::Relaxed);
        self.most
            .store(room.unwrap_or(0).max(MOST), Ordering::Relaxed);
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

    /// How many packets have found no room on the way since this was asked last.
    pub(super) fn missed(&self) -> u64 {
        match self.missed.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.missed.swap(0, Ordering::Relaxed),
        }
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
        let most = self.crossing.most.load(Ordering::Relaxed);
        let (mut room, mut missed) = (most.saturating_sub(waiting), 0);
        for packet in batch.drain() {
            if room == 0 {
                ctx.pool().free(packet);
                missed += 1;
                continue;
            }
            room -= 1;
            let (_, mut parcel) = self.spare.pop().unwrap_or_default();
            parcel.fill(&ctx.pool()[&packet]);
            ctx.pool().free(packet);
            self.filled.push((port as u32, parcel));
        }
        ctx.recycle(batch);
        if missed > 0 {
            self.crossing.missed.fetch_add(missed, Ordering::Relaxed);
        }
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
