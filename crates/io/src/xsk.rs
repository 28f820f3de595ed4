//! The four rings of an AF_XDP socket.
//!
//! Each is a circle of entries with a producer's and a consumer's counter; one side is the
//! kernel's. Ours is kept here and published when a batch is done. Source: Linux's `af_xdp.rst`,
//! `linux/if_xdp.h`.

use crate::sys::{Mapping, Plain};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A ring of entries `T`; we are its producer or its consumer.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    flags: usize,
    entries: NonNull<T>,
    size: u32,
    /// Our counter, ahead of what is published.
    ours: u32,
    /// Theirs as we last saw it.
    theirs: u32,
}

// SAFETY: the pointer is into the mapping, which moves with it; the entries are integers.
unsafe impl<T: Plain> Send for Queue<T> {}

impl<T: Plain> Queue<T> {
    /// Maps a ring of `size` entries, a power of two, that the socket has at `page_offset`.
    pub(crate) fn map(
        socket: &OwnedFd,
        size: u32,
        page_offset: i64,
        at: &libc::xdp_ring_offset,
    ) -> io::Result<Queue<T>> {
        assert!(size.is_power_of_two());
        let bytes = at.desc as usize + size as usize * size_of::<T>();
        let memory = Mapping::new(socket, bytes, page_offset)?;
        // Asked for all entries, so that what lies within `size` lies within the mapping.
        memory.at(at.desc as usize, size as usize * size_of::<T>());
        Ok(Queue {
            entries: memory.of::<T>(at.desc as usize),
            producer: at.producer as usize,
            consumer: at.consumer as usize,
            flags: at.flags as usize,
            memory,
            size,
            ours: 0,
            theirs: 0,
        })
    }

    #[inline]
    fn word(&self, offset: usize) -> &AtomicU32 {
        let word = self.memory.of::<u32>(offset);
        // SAFETY: in the mapping, aligned, and only ever reached as an atomic.
        unsafe { AtomicU32::from_ptr(word.as_ptr()) }
    }

    /// The place of the entry that counter `at` is at.
    #[inline]
    fn entry(&self, at: u32) -> *mut T {
        // SAFETY: below `size`, so within the mapping.
        unsafe { self.entries.add((at & (self.size - 1)) as usize).as_ptr() }
    }

    /// As consumer: how many entries there are to read, up to `most`.
    #[inline]
    pub(crate) fn available(&mut self, most: u32) -> u32 {
        if self.theirs.wrapping_sub(self.ours) < most {
            self.theirs = self.word(self.producer).load(Ordering::Acquire);
        }
        self.theirs.wrapping_sub(self.ours).min(most).min(self.size)
    }

    /// As consumer: the next entry, of those that [`Queue::available`] told.
    #[inline]
    pub(crate) fn read(&mut self) -> T {
        debug_assert_ne!(self.ours, self.theirs);
        // SAFETY: an entry of the ring, whose bits are a `T` whatever they are; the kernel has
        // published it and does not write it until we give it back.
        let entry = unsafe { self.entry(self.ours).read() };
        self.ours = self.ours.wrapping_add(1);
        entry
    }

    /// As consumer: gives what was read back.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.word(self.consumer).store(self.ours, Ordering::Release);
    }

    /// As producer: how many entries there is room for, up to `most`.
    #[inline]
    pub(crate) fn room(&mut self, most: u32) -> u32 {
        if self.size - self.ours.wrapping_sub(self.theirs) < most {
            self.theirs = self.consumed();
        }
        (self.size - self.ours.wrapping_sub(self.theirs).min(self.size)).min(most)
    }

    /// As producer: writes the next entry, for which there is room.
    #[inline]
    pub(crate) fn write(&mut self, value: T) {
        debug_assert!(self.ours.wrapping_sub(self.theirs) < self.size);
        // SAFETY: an entry of the ring that the kernel does not read until it is published.
        unsafe { self.entry(self.ours).write(value) };
        self.ours = self.ours.wrapping_add(1);
    }

    /// As producer: publishes what was written.
    #[inline]
    pub(crate) fn publish(&mut self) {
        self.word(self.producer).store(self.ours, Ordering::Release);
    }

    /// As producer: how far the kernel has read.
    #[inline]
    pub(crate) fn consumed(&self) -> u32 {
        self.word(self.consumer).load(Ordering::Acquire)
    }

    /// As producer: how many entries the kernel has yet to read.
    pub(crate) fn waiting(&self) -> u32 {
        self.ours.wrapping_sub(self.consumed())
    }

    /// As producer: whether the kernel has read all.
    #[inline]
    pub(crate) fn is_drained(&self) -> bool {
        self.consumed() == self.ours
    }

    /// As producer: whether the kernel asks to be told that there is something.
    #[inline]
    pub(crate) fn wants_call(&self) -> bool {
        self.word(self.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}
