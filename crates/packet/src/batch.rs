//! Batches: up to 32 packets that go through the graph together.

use crate::pool::Handle;
use std::fmt;

/// The most packets a batch holds.
pub const CAPACITY: usize = 32;

/// Packets in order. Who drops a batch without giving its packets away loses their slots: give them
/// to the pool.
pub struct Packets {
    len: usize,
    handles: [Handle; CAPACITY],
}

/// A batch as it is handed on: a pointer.
pub type Batch = Box<Packets>;

impl Packets {
    /// No packets.
    pub const fn new() -> Packets {
        Packets {
            len: 0,
            handles: [Handle::VACANT; CAPACITY],
        }
    }

    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether no further packet fits.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len == CAPACITY
    }

    /// How many more fit.
    #[inline]
    pub fn room(&self) -> usize {
        CAPACITY - self.len
    }

    /// Appends a packet.
    ///
    /// # Panics
    /// Where the batch is full.
    #[inline]
    pub fn push(&mut self, packet: Handle) {
        self.handles[self.len] = packet;
        self.len += 1;
    }

    /// Takes the last packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Handle> {
        self.len = self.len.checked_sub(1)?;
        Some(self.handles[self.len].take())
    }

    /// The packets in order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, Handle> {
        self.handles[..self.len].iter()
    }

    /// Takes all packets out, in order.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = Handle> + '_ {
        let len = std::mem::take(&mut self.len);
        self.handles[..len].iter_mut().map(Handle::take)
    }

    /// Takes the first `count` packets out, in order; the rest move up.
    pub fn drain_front(&mut self, count: usize, mut each: impl FnMut(Handle)) {
        // While they are given away none is here, so that a panic leaves none in two places.
        let len = std::mem::take(&mut self.len);
        let count = count.min(len);
        for handle in &mut self.handles[..count] {
            each(handle.take());
        }
        self.handles[..len].rotate_left(count);
        self.len = len - count;
    }

    /// Moves the packets whose key is `key` into `into`, which is empty, and closes up the others
    /// and their keys; all stay in order. No branch depends on the keys, which are often anyone's
    /// guess.
    #[inline]
    pub fn part(&mut self, keys: &mut [u32; CAPACITY], key: u32, into: &mut Packets) {
        debug_assert!(into.is_empty());
        let (mut taken, mut kept) = (0, 0);
        for at in 0..self.len.min(CAPACITY) {
            let (handle, its) = (self.handles[at].0, keys[at]);
            // Both are written, of which one is beyond the end of its batch.
            into.handles[taken % CAPACITY] = Handle(handle);
            self.handles[kept % CAPACITY] = Handle(handle);
            keys[kept % CAPACITY] = its;
            taken += usize::from(its == key);
            kept += usize::from(its != key);
        }
        (into.len, self.len) = (taken, kept);
    }

    /// Gives each packet to `keep` and keeps those that come back, in order.
    #[inline]
    pub fn filter(&mut self, mut keep: impl FnMut(Handle) -> Option<Handle>) {
        let mut kept = 0;
        // As in `drain_front`.
        for at in 0..std::mem::take(&mut self.len) {
            if let Some(packet) = keep(self.handles[at].take()) {
                self.handles[kept] = packet;
                kept += 1;
            }
        }
        self.len = kept;
    }
}

impl Default for Packets {
    fn default() -> Packets {
        Packets::new()
    }
}

impl<'a> IntoIterator for &'a Packets {
    type Item = &'a Handle;
    type IntoIter = std::slice::Iter<'a, Handle>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
