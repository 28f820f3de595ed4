//! The pool: slots of packets, each with room for a frame, and their owning handles.
//!
//! Slots stand in blocks that never move, so that a block can be shared with the kernel. A slot is
//! 33 cache lines: consecutive packets then lie in different sets of the cache, where a power of
//! two would put the headers of a whole batch into one.
//!
//! A handle is a number. One that is used with another pool finds a wrong packet or none, and never
//! memory that is not the pool's: a packet cannot leave its slot (see [`Packet`]), and what the
//! kernel may write is out of reach while it is lent (see [`Pool::lend`]).

use crate::packet::{Packet, Slot, State};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes a slot has for head-room, frame and tail-room.
pub const SLOT_BYTES: usize = 2112;
/// Bytes before the data of a new packet: room for the headers that encapsulation adds.
pub const HEADROOM: usize = 128;
/// The largest frame that fits a slot without a buffer of its own.
pub const FRAME_BYTES: usize = SLOT_BYTES - HEADROOM;

/// The page size that blocks are aligned to, so that the kernel can map them.
const PAGE: usize = 4096;
/// Slots of a block but the first.
const BLOCK_SLOTS: usize = 4096;

/// The ownership of one packet.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a handle that is dropped loses its slot: give the packet on, or to `Pool::free`"]
pub struct Handle(pub(crate) u32);

impl Handle {
    pub(crate) const VACANT: Handle = Handle(u32::MAX);

    #[inline]
    pub(crate) fn take(&mut self) -> Handle {
        Handle(self.0)
    }

    /// The number of the slot, to tell packets apart in a trace.
    pub fn slot(&self) -> u32 {
        self.0
    }
}

/// Memory for the buffers of many slots. Who shares it with the kernel keeps the [`Arc`], so that
/// the kernel never writes into memory that has become something else.
#[derive(Debug)]
pub struct Block {
    memory: NonNull<u8>,
    layout: Layout,
    slots: usize,
}

// SAFETY: the memory is reached through the pool that owns its packets, or by address by the
// kernel.
#[allow(unsafe_code)]
unsafe impl Send for Block {}
// SAFETY: as above; a block itself gives out nothing but its address.
#[allow(unsafe_code)]
unsafe impl Sync for Block {}

#[allow(unsafe_code)]
impl Block {
    fn new(slots: usize) -> Block {
        let bytes = (slots * SLOT_BYTES).next_multiple_of(PAGE).max(PAGE);
        let layout = Layout::from_size_align(bytes, PAGE).expect("a page is a power of two");
        // SAFETY: the layout is at least a page long.
        let memory = unsafe { alloc_zeroed(layout) };
        match NonNull::new(memory) {
            Some(memory) => Block {
                memory,
                layout,
                slots,
            },
            None => handle_alloc_error(layout),
        }
    }

    /// Where it starts, aligned to a page.
    pub fn address(&self) -> NonNull<u8> {
        self.memory
    }

    /// Its bytes, a multiple of a page.
    pub fn bytes(&self) -> usize {
        self.layout.size()
    }

    /// Its slots; slot `n` of the first block has the bytes from `n * SLOT_BYTES`.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The buffer of slot `index` of this block.
    fn buffer(&self, index: usize) -> NonNull<u8> {
        assert!((index + 1) * SLOT_BYTES <= self.layout.size());
        // SAFETY: the slot lies within the block, by the assertion.
        unsafe { self.memory.add(index * SLOT_BYTES) }
    }
}

#[allow(unsafe_code)]
impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}

/// A pool of packets.
#[derive(Debug)]
pub struct Pool {
    /// Every slot, in use or not.
    packets: Vec<Slot>,
    /// Slots that are free; the last freed is used first, since its lines are still in the cache.
    free: Vec<u32>,
    blocks: Vec<Arc<Block>>,
    /// The most slots there may be.
    limit: usize,
    /// Packets that were asked for and not given since the limit was reached.
    refused: u64,
}

// SAFETY: the buffers belong to the pool alone; a packet's bytes are reached through `&Pool` or
// `&mut Pool` only.
#[allow(unsafe_code)]
unsafe impl Send for Pool {}

impl Pool {
    /// A pool of `slots` slots that grows up to `limit`.
    pub fn new(slots: usize, limit: usize) -> Pool {
        let mut pool = Pool {
            packets: Vec::new(),
            free: Vec::new(),
            blocks: Vec::new(),
            limit: limit.min(u32::MAX as usize - 1).max(slots),
            refused: 0,
        };
        pool.grow(slots);
        pool
    }

    fn grow(&mut self, slots: usize) {
        if slots == 0 {
            return;
        }
        let block = Block::new(slots);
        let first = self.packets.len();
        self.packets.reserve(slots);
        self.free.reserve(first + slots);
        for index in 0..slots {
            self.packets.push(Slot::new(block.buffer(index)));
        }
        self.free
            .extend((first..first + slots).rev().map(|slot| slot as u32));
        self.blocks.push(Arc::new(block));
    }

    /// An empty packet, or nothing where the pool's limit is reached.
    #[inline]
    pub fn alloc(&mut self) -> Option<Handle> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.alloc_new()?,
        };
        self.at(slot).reset();
        Some(Handle(slot))
    }

    #[cold]
    fn alloc_new(&mut self) -> Option<u32> {
        let more = (self.limit - self.packets.len()).min(BLOCK_SLOTS);
        self.grow(more);
        let slot = self.free.pop();
        self.refused += u64::from(slot.is_none());
        slot
    }

    /// A packet with a copy of `data`.
    #[inline]
    pub fn alloc_with(&mut self, data: &[u8]) -> Option<Handle> {
        let packet = self.alloc()?;
        self[&packet].set_data(data);
        Some(packet)
    }

    #[inline]
    fn at(&mut self, slot: u32) -> &mut Packet {
        &mut self.packets[slot as usize]
    }

    /// Gives a packet back.
    ///
    /// # Panics
    /// Where the slot is free already, or lent: the handle is another pool's.
    #[inline]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "giving up the handle is the point"
    )]
    pub fn free(&mut self, packet: Handle) {
        assert!(
            self.at(packet.0).release(),
            "slot {} is not in use: a handle of another pool",
            packet.0
        );
        self.free.push(packet.0);
    }

    /// A copy of a packet: bytes, offsets of headers, annotations, time.
    pub fn duplicate(&mut self, packet: &Handle) -> Option<Handle> {
        let copy = self.alloc()?;
        let (from, to) = self.two(packet.0, copy.0);
        to.copy_from(from);
        Some(copy)
    }

    /// Two different slots, the first to read and the second to write.
    fn two(&mut self, from: u32, to: u32) -> (&Packet, &mut Packet) {
        let (from, to) = (from as usize, to as usize);
        if from < to {
            let (low, high) = self.packets.split_at_mut(to);
            (&low[from], &mut high[0])
        } else {
            let (low, high) = self.packets.split_at_mut(from);
            (&high[0], &mut low[to])
        }
    }

    /// Packets that someone owns.
    pub fn in_use(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Packets that were refused since the pool was full.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The first block, which can be shared with the kernel.
    pub fn first_block(&self) -> Option<&Arc<Block>> {
        self.blocks.first()
    }

    /// Lends a packet's slot to the kernel: gives up the handle for the number of its slot, or
    /// gives the handle back where the packet is not in the first block.
    ///
    /// Nothing of the pool reaches the bytes of a lent slot, whatever is done with handles. Where
    /// it lies, and how long it is, has to be asked before.
    ///
    /// # Panics
    /// Where the slot is free, or lent already: the handle is another pool's.
    pub fn lend(&mut self, packet: Handle) -> Result<u32, Handle> {
        let slots = self.first_block().map_or(0, |block| block.slots());
        let inner = self.at(packet.0);
        match inner.state() {
            State::Moved => return Err(packet),
            State::InUse if packet.0 as usize >= slots => return Err(packet),
            State::InUse => inner.lend(),
            other => panic!("slot {} is {other:?}: a handle of another pool", packet.0),
        }
        Ok(packet.0)
    }

    /// Takes a lent slot back, with data from `offset` of its buffer.
    ///
    /// # Safety
    /// Nobody whom the slot was lent to writes to it any more.
    ///
    /// # Panics
    /// Where the slot was not lent, or the data do not lie within it.
    #[allow(unsafe_code)]
    pub unsafe fn reclaim(&mut self, slot: u32, offset: usize, len: usize) -> Handle {
        let packet = self.at(slot);
        assert!(packet.state() == State::Lent, "slot {slot} was not lent");
        packet.reclaim();
        packet.place(offset, len);
        Handle(slot)
    }
}

impl Index<&Handle> for Pool {
    type Output = Packet;
    #[inline]
    fn index(&self, handle: &Handle) -> &Packet {
        &self.packets[handle.0 as usize]
    }
}

impl IndexMut<&Handle> for Pool {
    #[inline]
    fn index_mut(&mut self, handle: &Handle) -> &mut Packet {
        &mut self.packets[handle.0 as usize]
    }
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_keeps_what_was_written_and_slots_are_used_again() {
        let mut pool = Pool::new(2, 2);
        let a = pool.alloc_with(b"one").expect("the pool has a free slot");
        let b = pool.alloc_with(b"two").expect("the pool has a free slot");
        assert!(pool.alloc().is_none());
        assert_eq!(pool.refused(), 1);
        assert_eq!(pool[&a].data(), b"one");
        pool.free(a);
        let c = pool.duplicate(&b).expect("the pool has a free slot");
        assert_eq!(pool[&c].data(), b"two");
        pool.free(b);
        pool.free(c);
        assert_eq!(pool.in_use(), 0);
    }

    #[test]
    fn grows_to_its_limit() {
        let mut pool = Pool::new(1, 5000);
        let all: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
        assert_eq!(all.len(), 5000);
        for packet in all {
            pool.free(packet);
        }
        assert_eq!(pool.in_use(), 0);
    }

    #[test]
    fn lent_slots_come_back_with_their_data() {
        let mut pool = Pool::new(4, 4);
        let a = pool.alloc_with(b"lent").expect("the pool has a free slot");
        let slot = pool.lend(a).expect("it is in the first block");
        // SAFETY: it was lent to nobody.
        let a = unsafe { pool.reclaim(slot, HEADROOM, 4) };
        assert_eq!(pool[&a].data(), b"lent");
        pool.free(a);
    }

    #[test]
    fn only_slots_of_the_first_block_are_lent() {
        // Two slots leave room for a third in their pages, which is nobody's.
        let mut pool = Pool::new(2, 3);
        let all: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
        let lent: Vec<_> = all.into_iter().map(|packet| pool.lend(packet)).collect();
        assert_eq!(lent.iter().filter(|lent| lent.is_ok()).count(), 2);
        assert!(matches!(&lent[2], Err(packet) if packet.slot() == 2));
    }

    #[test]
    #[should_panic(expected = "was not lent")]
    fn a_slot_that_was_not_lent_is_refused() {
        let mut pool = Pool::new(1, 1);
        // SAFETY: it was lent to nobody.
        let _ = unsafe { pool.reclaim(0, 0, 0) };
    }
}
