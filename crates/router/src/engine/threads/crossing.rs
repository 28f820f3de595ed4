//! The way of packets from one thread to a queue of another.
//!
//! In the thread that pushes, a [`Portal`](super::portal::Portal) stands in the queue's place: it
//! copies packets into parcels, which the queue's own thread takes over between two rounds of its
//! tasks. Both hold the lock only to exchange whole lists, and emptied parcels go back to be filled
//! again.
//!
//! A thread may stand still for long while another runs. What is on its way then is bounded: by the
//! room that the queue had when it was last looked at, so that the way loses nothing that the queue
//! would have held, and by [`MOST`] where that is more. What finds no room is counted, and counts
//! as refused by the queue.

use crate::engine::ids::ElementId;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use trammel_packet::parcel::Parcel;

/// Parcels that may be on their way to a queue, however small it is.
const MOST: usize = 4096;
/// Parcels on their way at which who asks is told that there is no room.
const ENOUGH: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The input that each is for, and what it holds.
    pub(super) filled: Vec<(u32, Parcel)>,
    pub(super) emptied: Vec<(u32, Parcel)>,
}

/// What two threads share of a queue.
#[derive(Debug)]
pub(super) struct Crossing {
    /// The queue.
    pub queue: ElementId,
    /// The thread that it runs on.
    pub home: usize,
    lists: Mutex<Lists>,
    pub(super) waiting: AtomicUsize,
    /// The queue tells that it has no room.
    is_full: AtomicBool,
    /// What it stores.
    pub(super) stored: AtomicUsize,
    /// Parcels that may be on their way.
    pub(super) most: AtomicUsize,
    /// Packets that found no room on the way since the queue was last told.
    pub(super) missed: AtomicU64,
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

    pub(super) fn lists(&self) -> std::sync::MutexGuard<'_, Lists> {
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

    pub(super) fn has_room(&self) -> bool {
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
