//! One packet: its bytes, where its headers are, its annotations and time.
//!
//! ```text
//! buffer  |<- headroom ->|<----- data ----->|<- tailroom ->|
//!         0              off                off+len        capacity
//! ```
//! The words are Click's: `push` and `pull` move the front, `put` and `take` the end. A frame that
//! outgrows its slot moves to a buffer of its own, which is given back with the packet.

use crate::anno::{Anno, SIZE};
use crate::pool::{HEADROOM, SLOT_BYTES};
use crate::timestamp::Timestamp;
use std::fmt;
use std::ptr::NonNull;

/// The header is not marked.
const NONE: u32 = u32::MAX;

/// The places of [`Packet::starts`].
const DATA: usize = 0;
const LINK: usize = 1;
const NETWORK: usize = 2;
const TRANSPORT: usize = 3;

/// To whom a frame is addressed, as Linux tells it (`PACKET_HOST` and so on).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketType {
    /// To this host.
    #[default]
    Host,
    /// To all.
    Broadcast,
    /// To a group.
    Multicast,
    /// To another host.
    OtherHost,
    /// From this host.
    Outgoing,
    /// Looped back.
    Loopback,
    /// Any of Linux's further values.
    FastRoute,
}

/// What a super-packet stands for: many packets of one connection that differ in where their data
/// lie.
///
/// In a router it is one long packet, all of whose lengths and checksums are right, so that
/// whatever is done to packets may be done to it. Only this tells how it is to be cut at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuperPacket {
    /// Bytes of data that each of them has, but the last; 0 for a packet that stands for itself.
    pub data_bytes: u16,
    /// Bytes from the start of the transport header to the end; where a packet has another length
    /// behind it, it is no longer the one that was marked.
    pub transport_bytes: u16,
}

/// What became of a slot's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// Nobody has a handle of it.
    Free,
    /// Somebody has; its bytes are in the slot.
    InUse,
    /// Somebody has; its bytes outgrew the slot and are in a box.
    Moved,
    /// The kernel has the bytes. Nothing here points to them until they come back: a stale handle
    /// finds a packet of no bytes and no room.
    Lent,
}

/// A packet where it stands in its pool. The first cache line has what the common path needs.
///
/// It has a pointer into the memory of its pool, so it must stay there. The slice at its end,
/// always an empty one, is what holds it: the compiler knows no size of the type, and what has no
/// size can be neither moved nor exchanged. A packet reads as it should:
///
/// ```
/// # use trammel_packet::pool::Pool;
/// # let (mut a, mut b) = (Pool::new(1, 1), Pool::new(1, 1));
/// # let ha = a.alloc_with(b"of pool a").expect("room");
/// # let hb = b.alloc_with(b"of pool b").expect("room");
/// let (of_a, of_b) = (&mut a[&ha], &mut b[&hb]);
/// of_a.set_data(of_b.data());
/// # assert_eq!(a[&ha].data(), b"of pool b");
/// # (a.free(ha), b.free(hb));
/// ```
///
/// and does not compile where it would take its pointer to another slot, which may be gone before
/// it:
///
/// ```compile_fail,E0277
/// # use trammel_packet::pool::Pool;
/// # let (mut a, mut b) = (Pool::new(1, 1), Pool::new(1, 1));
/// # let ha = a.alloc_with(b"of pool a").expect("room");
/// # let hb = b.alloc_with(b"of pool b").expect("room");
/// let (of_a, of_b) = (&mut a[&ha], &mut b[&hb]);
/// std::mem::swap(of_a, of_b);
/// # (a.free(ha), b.free(hb));
/// ```
#[repr(C, align(64))]
pub struct Packet<Unsized: ?Sized = [()]> {
    buffer: NonNull<u8>,
    capacity: u32,
    len: u32,
    /// Where in the buffer the data, the link, the network and the transport header start.
    starts: [u32; 4],
    timestamp: Timestamp,
    annotations: [u8; SIZE],
    ptype: PacketType,
    state: State,
    /// A trace number, or 0.
    trace: u16,
    /// Of a super-packet; see [`SuperPacket`].
    segments: SuperPacket,
    /// The slot's own buffer.
    own: NonNull<u8>,
    /// Empty; see above.
    end: Unsized,
}

/// A packet as the pool keeps it, and gives it to nobody.
pub(crate) type Slot = Packet<[(); 0]>;

impl Slot {
    /// A free slot with a buffer of `SLOT_BYTES` that nothing else reaches while the slot is there
    /// and not lent.
    pub(crate) fn new(buffer: NonNull<u8>) -> Slot {
        Packet {
            buffer,
            capacity: SLOT_BYTES as u32,
            len: 0,
            starts: [HEADROOM as u32, NONE, NONE, NONE],
            timestamp: Timestamp::ZERO,
            annotations: [0; SIZE],
            ptype: PacketType::Host,
            state: State::Free,
            trace: 0,
            segments: SuperPacket::default(),
            own: buffer,
            end: [],
        }
    }
}

impl<Unsized: ?Sized> Packet<Unsized> {
    /// Drops the box of a packet that outgrew its slot; the bytes are the slot's again.
    #[cold]
    #[allow(unsafe_code)]
    fn drop_box(&mut self) {
        if self.state == State::Moved {
            let external =
                std::ptr::slice_from_raw_parts_mut(self.buffer.as_ptr(), self.capacity as usize);
            self.take_slot();
            // SAFETY: in this state `buffer` was a boxed slice of `capacity` bytes that `grow`
            // leaked. Nothing has it now.
            drop(unsafe { Box::from_raw(external) });
        }
    }

    /// The bytes are those of the slot.
    fn take_slot(&mut self) {
        self.buffer = self.own;
        self.capacity = SLOT_BYTES as u32;
        self.state = State::InUse;
    }
}

impl Packet {
    /// As new, of a slot that was free.
    #[inline]
    pub(crate) fn reset(&mut self) {
        debug_assert_eq!(self.buffer, self.own);
        self.len = 0;
        self.starts = [HEADROOM as u32, NONE, NONE, NONE];
        self.timestamp = Timestamp::ZERO;
        self.annotations = [0; SIZE];
        self.ptype = PacketType::Host;
        self.state = State::InUse;
        self.trace = 0;
        self.segments = SuperPacket::default();
    }

    /// Nobody has it from here on; false where nobody had it, or the kernel has.
    #[inline]
    pub(crate) fn release(&mut self) -> bool {
        if self.state != State::InUse && !self.release_moved() {
            return false;
        }
        self.state = State::Free;
        true
    }

    #[cold]
    fn release_moved(&mut self) -> bool {
        let is_moved = self.state == State::Moved;
        if is_moved {
            self.drop_box();
            // Where the data were, a slot has no bytes.
            self.reset();
        }
        is_moved
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Nothing here points to the slot's bytes from here on.
    pub(crate) fn lend(&mut self) {
        debug_assert_eq!(self.state, State::InUse);
        self.buffer = NonNull::dangling();
        self.capacity = 0;
        self.len = 0;
        self.starts = [0, NONE, NONE, NONE];
        self.state = State::Lent;
    }

    /// As new, with the bytes that were lent.
    pub(crate) fn reclaim(&mut self) {
        debug_assert_eq!(self.state, State::Lent);
        self.take_slot();
        self.reset();
    }

    /// Says where in the buffer the data lie.
    pub(crate) fn place(&mut self, offset: usize, len: usize) {
        assert!(offset <= self.capacity as usize && len <= self.capacity as usize - offset);
        self.starts[DATA] = offset as u32;
        self.len = len as u32;
    }

    /// The number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it has no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where in its buffer the data start, in bytes.
    pub fn offset(&self) -> usize {
        self.starts[DATA] as usize
    }

    /// Bytes before the data.
    #[inline]
    pub fn headroom(&self) -> usize {
        self.starts[DATA] as usize
    }

    /// Bytes after the data.
    #[inline]
    pub fn tailroom(&self) -> usize {
        (self.capacity - self.starts[DATA] - self.len) as usize
    }

    /// The bytes.
    #[inline]
    #[allow(unsafe_code)]
    pub fn data(&self) -> &[u8] {
        // SAFETY: `offset + len <= capacity` always, and the buffer has `capacity` initialised
        // bytes.
        unsafe {
            std::slice::from_raw_parts(
                self.buffer.add(self.starts[DATA] as usize).as_ptr(),
                self.len as usize,
            )
        }
    }

    /// The bytes, to write.
    #[inline]
    #[allow(unsafe_code)]
    pub fn data_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `data`; a buffer belongs to one packet.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.buffer.add(self.starts[DATA] as usize).as_ptr(),
                self.len as usize,
            )
        }
    }

    /// The whole buffer: the head-room, with what was stripped, the data, and what lies behind
    /// them.
    #[inline]
    #[allow(unsafe_code)]
    pub fn buffer(&self) -> &[u8] {
        // SAFETY: the buffer has `capacity` initialised bytes.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr(), self.capacity as usize) }
    }

    /// Where in [`Packet::buffer`] the data, the link, the network and the transport header start;
    /// `u32::MAX` for one that is not marked.
    #[inline]
    pub fn starts(&self) -> &[u32; 4] {
        &self.starts
    }

    /// Replaces the bytes, with the usual head-room.
    #[inline]
    pub fn set_data(&mut self, data: &[u8]) {
        if HEADROOM + data.len() > self.capacity as usize {
            self.grow(HEADROOM, data.len());
        }
        self.starts[DATA] = HEADROOM as u32;
        self.len = data.len() as u32;
        self.data_mut().copy_from_slice(data);
    }

    /// Adds `n` bytes before the data; what they hold is what stood there last.
    #[inline]
    pub fn push(&mut self, n: usize) -> &mut [u8] {
        if n > self.headroom() {
            self.grow(n.saturating_add(HEADROOM), self.len());
        }
        self.starts[DATA] -= n as u32;
        self.len += n as u32;
        &mut self.data_mut()[..n]
    }

    /// Removes `n` bytes, or all there are, from the front.
    #[inline]
    pub fn pull(&mut self, n: usize) {
        let n = (n as u32).min(self.len);
        self.starts[DATA] += n;
        self.len -= n;
    }

    /// Adds `n` bytes of zero at the end.
    pub fn put(&mut self, n: usize) -> &mut [u8] {
        if n > self.tailroom() {
            self.grow(self.headroom(), self.len().saturating_add(n));
        }
        let old = self.len();
        self.len += n as u32;
        let added = &mut self.data_mut()[old..];
        added.fill(0);
        added
    }

    /// Removes `n` bytes, or all there are, from the end.
    #[inline]
    pub fn take(&mut self, n: usize) {
        self.len -= (n as u32).min(self.len);
    }

    /// Moves the data so that they start `headroom` bytes into the buffer.
    pub fn set_headroom(&mut self, headroom: usize) {
        let len = self.len();
        if headroom.saturating_add(len) > self.capacity as usize {
            self.grow(headroom, len);
            return;
        }
        let (from, to) = (self.starts[DATA] as usize, headroom);
        self.buffer_mut().copy_within(from..from + len, to);
        self.move_marks(from, to);
        self.starts[DATA] = to as u32;
    }

    /// The whole buffer.
    #[allow(unsafe_code)]
    fn buffer_mut(&mut self) -> &mut [u8] {
        // SAFETY: the buffer has `capacity` initialised bytes and belongs to this packet.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.as_ptr(), self.capacity as usize) }
    }

    /// The marks follow data that moved from `from` to `to`.
    fn move_marks(&mut self, from: usize, to: usize) {
        for mark in &mut self.starts[LINK..] {
            if *mark != NONE {
                *mark = (*mark as usize + to)
                    .checked_sub(from)
                    .map_or(NONE, |at| at as u32);
            }
        }
    }

    /// Moves to a box with `headroom` before the data and room for `len` bytes of them.
    #[cold]
    #[allow(unsafe_code)]
    fn grow(&mut self, headroom: usize, len: usize) {
        assert!(
            matches!(self.state, State::InUse | State::Moved),
            "nobody has this packet: it is {:?}",
            self.state
        );
        // A count that were cut to 32 bits would be less than what was allocated.
        let capacity = (headroom.saturating_add(len).saturating_add(HEADROOM))
            .checked_next_multiple_of(256)
            .and_then(|capacity| u32::try_from(capacity).ok())
            .expect("a packet has less than 4 GiB");
        let mut bytes = vec![0_u8; capacity as usize].into_boxed_slice();
        // What was pulled off the front comes along, since `Unstrip` may ask for it again.
        let before = (self.starts[DATA] as usize).min(headroom);
        let kept = self.len().min(len);
        let old = self.starts[DATA] as usize;
        let source = &self.buffer_mut()[old - before..old + kept];
        bytes[headroom - before..headroom + kept].copy_from_slice(source);
        self.move_marks(old, headroom);
        self.drop_box();
        self.state = State::Moved;
        self.capacity = capacity;
        self.starts[DATA] = headroom as u32;
        // SAFETY: a box is never null; `drop_box` makes the box again.
        self.buffer = unsafe { NonNull::new_unchecked(Box::into_raw(bytes).cast()) };
    }

    /// Becomes a copy of `other`.
    pub(crate) fn copy_from(&mut self, other: &Packet) {
        let data = other.data();
        let headroom = other.headroom().min(HEADROOM * 4);
        if headroom + data.len() > self.capacity as usize {
            self.grow(headroom, data.len());
        }
        self.starts[DATA] = headroom as u32;
        self.len = other.len;
        self.data_mut().copy_from_slice(data);
        // The marks and what was stripped stay where they are in relation to the data.
        let before = other.before(headroom);
        let at = headroom - before.len();
        self.buffer_mut()[at..headroom].copy_from_slice(before);
        self.starts[LINK..].copy_from_slice(&other.starts[LINK..]);
        self.move_marks(other.starts[DATA] as usize, headroom);
        self.timestamp = other.timestamp;
        self.annotations = other.annotations;
        self.ptype = other.ptype;
        self.trace = other.trace;
        self.segments = other.segments;
    }

    /// What it stands for, where that is more than itself.
    #[inline]
    pub fn super_packet(&self) -> Option<SuperPacket> {
        (self.segments.data_bytes != 0).then_some(self.segments)
    }

    /// Marks it as one that stands for many.
    pub fn set_super_packet(&mut self, segments: SuperPacket) {
        self.segments = segments;
    }

    /// Up to `n` bytes before the data.
    #[allow(unsafe_code)]
    pub fn before(&self, n: usize) -> &[u8] {
        let n = n.min(self.starts[DATA] as usize);
        // SAFETY: the bytes from `offset - n` to `offset` lie within the buffer.
        unsafe {
            std::slice::from_raw_parts(self.buffer.add(self.starts[DATA] as usize - n).as_ptr(), n)
        }
    }

    /// When it came or was made.
    #[inline]
    pub fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// Sets when it came.
    #[inline]
    pub fn set_timestamp(&mut self, at: Timestamp) {
        self.timestamp = at;
    }

    /// To whom it is addressed.
    pub fn packet_type(&self) -> PacketType {
        self.ptype
    }

    /// Sets to whom it is addressed.
    pub fn set_packet_type(&mut self, ptype: PacketType) {
        self.ptype = ptype;
    }

    /// The number of the trace that follows it, or 0.
    #[inline]
    pub fn trace(&self) -> u16 {
        self.trace
    }

    /// Follows it from here on.
    pub fn set_trace(&mut self, number: u16) {
        self.trace = number;
    }

    /// All annotations.
    #[inline]
    pub fn annotations(&self) -> &[u8; SIZE] {
        &self.annotations
    }

    /// All annotations, to write.
    #[inline]
    pub fn annotations_mut(&mut self) -> &mut [u8; SIZE] {
        &mut self.annotations
    }

    /// A byte of the annotations.
    #[inline]
    pub fn anno_u8(&self, anno: Anno) -> u8 {
        self.annotations[anno.offset as usize]
    }

    /// Sets a byte of the annotations.
    #[inline]
    pub fn set_anno_u8(&mut self, anno: Anno, value: u8) {
        self.annotations[anno.offset as usize] = value;
    }

    /// Two bytes of the annotations.
    #[inline]
    pub fn anno_u16(&self, anno: Anno) -> u16 {
        u16::from_ne_bytes(self.anno_bytes(anno))
    }

    /// Sets two bytes of the annotations.
    #[inline]
    pub fn set_anno_u16(&mut self, anno: Anno, value: u16) {
        self.set_anno_bytes(anno, value.to_ne_bytes());
    }

    /// Four bytes of the annotations.
    #[inline]
    pub fn anno_u32(&self, anno: Anno) -> u32 {
        u32::from_ne_bytes(self.anno_bytes(anno))
    }

    /// Sets four bytes of the annotations.
    #[inline]
    pub fn set_anno_u32(&mut self, anno: Anno, value: u32) {
        self.set_anno_bytes(anno, value.to_ne_bytes());
    }

    /// Bytes of the annotations, as an address is kept.
    #[inline]
    pub fn anno_bytes<const N: usize>(&self, anno: Anno) -> [u8; N] {
        let at = anno.offset as usize;
        self.annotations[at..at + N].try_into().expect("N bytes")
    }

    /// Sets bytes of the annotations.
    #[inline]
    pub fn set_anno_bytes<const N: usize>(&mut self, anno: Anno, value: [u8; N]) {
        let at = anno.offset as usize;
        self.annotations[at..at + N].copy_from_slice(&value);
    }
}

/// A mark of a header: its place in relation to the data, and the bytes from there on.
macro_rules! header {
    ($(
        $mark:ident $has:ident $at:ident $set:ident $clear:ident $bytes:ident $bytes_mut:ident
        $word:literal;
    )*) => {
        impl Packet {
            $(
                #[doc = concat!("Whether the ", $word, " header is marked.")]
                #[inline]
                pub fn $has(&self) -> bool {
                    self.starts[$mark] != NONE
                }

                #[doc = concat!("Where the ", $word, " header is, from the start of the data; \
                                                      negative where it was stripped.")]
                #[inline]
                pub fn $at(&self) -> Option<isize> {
                    (self.starts[$mark] != NONE).then(
                        || self.starts[$mark] as isize - self.starts[DATA] as isize
                    )
                }

                #[doc = concat!("Marks the ", $word, " header at `at` from the start of the data.")]
                #[inline]
                pub fn $set(&mut self, at: isize) {
                    // What wraps is negative: no place of a header.
                    let at = (self.starts[DATA] as isize).wrapping_add(at);
                    self.starts[$mark] = u32::try_from(at).unwrap_or(NONE);
                }

                #[doc = concat!("Forgets the mark of the ", $word, " header.")]
                pub fn $clear(&mut self) {
                    self.starts[$mark] = NONE;
                }

                #[doc = concat!("The data from the ", $word, " header on; empty where it is not \
                    marked or not in the data.")]
                #[inline]
                pub fn $bytes(&self) -> &[u8] {
                    let at = self.starts[$mark].wrapping_sub(self.starts[DATA]) as usize;
                    self.data().get(at..).unwrap_or_default()
                }

                #[doc = concat!("The data from the ", $word, " header on, to write.")]
                #[inline]
                pub fn $bytes_mut(&mut self) -> &mut [u8] {
                    let at = self.starts[$mark].wrapping_sub(self.starts[DATA]) as usize;
                    self.data_mut().get_mut(at..).unwrap_or_default()
                }
            )*
        }
    };
}

header! {
    LINK has_mac_header mac_header_at set_mac_header clear_mac_header mac_header mac_header_mut
        "link";
    NETWORK has_network_header network_header_at set_network_header clear_network_header
        network_header network_header_mut "network";
    TRANSPORT has_transport_header transport_header_at set_transport_header clear_transport_header
        transport_header transport_header_mut "transport";
}

impl<Unsized: ?Sized> Drop for Packet<Unsized> {
    fn drop(&mut self) {
        self.drop_box();
    }
}

impl<Unsized: ?Sized> fmt::Debug for Packet<Unsized> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("len", &self.len)
            .field("timestamp", &self.timestamp)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::anno;
    use crate::pool::{Handle, Pool};

    fn packet(data: &[u8]) -> (Pool, Handle) {
        let mut pool = Pool::new(2, 2);
        let handle = pool.alloc_with(data).expect("the pool has a free slot");
        (pool, handle)
    }

    #[test]
    fn what_is_stripped_comes_back() {
        let (mut pool, h) = packet(b"headdata");
        let p = &mut pool[&h];
        p.set_mac_header(0);
        p.pull(4);
        assert_eq!(p.data(), b"data");
        assert_eq!(p.mac_header_at(), Some(-4));
        assert!(p.mac_header().is_empty());
        p.push(4);
        assert_eq!(p.data(), b"headdata");
        assert_eq!(p.mac_header(), b"headdata");
        pool.free(h);
    }

    #[test]
    fn a_frame_that_outgrows_its_slot_moves_and_keeps_its_marks() {
        let (mut pool, h) = packet(b"headdata");
        let p = &mut pool[&h];
        p.pull(4);
        p.set_network_header(0);
        p.set_anno_u8(anno::PAINT, 7);
        p.put(60_000);
        assert_eq!(p.len(), 60_004);
        assert_eq!(&p.network_header()[..4], b"data");
        p.push(4);
        assert_eq!(&p.data()[..8], b"headdata");
        p.push(5000);
        assert_eq!(p.network_header_at(), Some(5004));
        assert_eq!(&p.network_header()[..4], b"data");
        let copy = pool.duplicate(&h).expect("the pool has a free slot");
        assert_eq!(pool[&copy].data(), pool[&h].data());
        assert_eq!(pool[&copy].network_header_at(), Some(5004));
        assert_eq!(pool[&copy].anno_u8(anno::PAINT), 7);
        pool.free(h);
        pool.free(copy);
        let again = pool.alloc().expect("the pool has a free slot");
        assert!(pool[&again].is_empty());
        assert_eq!(pool[&again].anno_u8(anno::PAINT), 0);
        pool.free(again);
    }

    #[test]
    fn a_copy_remembers_what_was_stripped() {
        let (mut pool, h) = packet(b"headdata");
        pool[&h].set_mac_header(0);
        pool[&h].pull(4);
        let copy = pool.duplicate(&h).expect("the pool has a free slot");
        pool[&copy].push(4);
        assert_eq!(pool[&copy].mac_header(), b"headdata");
        pool.free(h);
        pool.free(copy);
    }

    #[test]
    fn set_headroom_moves_the_data_and_the_marks() {
        let (mut pool, h) = packet(b"abcdef");
        let p = &mut pool[&h];
        p.set_transport_header(2);
        for headroom in [0, 3, 700, 2100, 5000, 2] {
            p.set_headroom(headroom);
            assert_eq!((p.headroom(), p.data()), (headroom, &b"abcdef"[..]));
            assert_eq!(p.transport_header(), b"cdef");
        }
        pool.free(h);
    }
}
